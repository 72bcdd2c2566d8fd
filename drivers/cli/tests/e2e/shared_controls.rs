//! The control operations of the profile `reference` through the binary: real
//! settings files, tools and processes.

use crate::support::{Agent, World, runs, script, until_gone, user};
use serde_json::{Value, json};
use std::fs;

/// A session of the profile.
fn host(world: &World, further: &[&str]) -> Agent {
    let all = [&["--profile", "reference"], further].concat();
    world.duplex(&all)
}

/// Asks for something; gives what stands in the answer.
fn ask(agent: &mut Agent, request: Value) -> Value {
    let record = json!({"type": "control_request", "request_id": "c", "request": request});
    agent.send(&record.to_string());
    agent.until_type("control_response")["response"].take()
}

fn wrote(name: &str) -> String {
    let input = json!({"file_path": name, "content": "x"});
    let calls = json!([{"name": "Write", "input": input}]);
    user(&script(
        &json!([{"tool_calls": calls}, {"text": "{results}"}]),
    ))
}

// covers: ACC-10, DEC-47
#[test]
fn settings_files_are_shown_as_they_stand() {
    let world = World::scripted();
    let mine = json!({"permissions": {"allow": ["Bash(ls:*)"]}});
    world.write_private("settings.json", &mine.to_string());
    fs::create_dir(world.work().join(".agentx")).unwrap();
    let local = json!({"permissions": {"ask": ["Read"]}});
    fs::write(
        world.work().join(".agentx/settings.local.json"),
        local.to_string(),
    )
    .unwrap();
    let flag = json!({"permissions": {"deny": ["Write"]}});
    let flags = ["--trust-workspace", "--settings", &flag.to_string()];
    let mut agent = host(&world, &flags);
    let answer = ask(&mut agent, json!({"subtype": "get_settings"}));
    let sources = &answer["response"]["sources"];
    assert_eq!(
        sources,
        &json!([
            {"source": "userSettings", "settings": mine},
            {"source": "localSettings", "settings": local},
            {"source": "flagSettings", "settings": flag},
        ])
    );
    assert_eq!(
        answer["response"]["effective"],
        json!({"permissions": {"allow": ["Bash(ls:*)"], "ask": ["Read"], "deny": ["Write"]}})
    );
    let applied = &answer["response"]["applied"];
    assert_eq!(applied["effort"], Value::Null);
    assert!(applied["model"].is_string());
    assert_eq!(agent.end().status, Some(0));
}

// covers: DEC-47
#[test]
fn a_mode_and_rules_that_change_hold_for_real_tools() {
    let world = World::scripted();
    let mut agent = host(&world, &[]);
    let mode = json!({"subtype": "set_permission_mode", "mode": "acceptEdits"});
    assert_eq!(
        ask(&mut agent, mode)["response"],
        json!({"mode": "acceptEdits"})
    );
    agent.send(&wrote("first"));
    assert_eq!(agent.until_type("result")["subtype"], "success");
    assert!(world.work().join("first").exists());
    let settings = json!({"permissions": {"deny": ["Write"]}});
    let apply = json!({"subtype": "apply_flag_settings", "settings": settings});
    assert_eq!(ask(&mut agent, apply)["subtype"], "success");
    agent.send(&wrote("second"));
    let result = agent.until_type("result");
    assert_eq!(result["permission_denials"][0]["tool_name"], "Write");
    assert!(!world.work().join("second").exists());
    let bypass = json!({"subtype": "set_permission_mode", "mode": "bypassPermissions"});
    assert_eq!(ask(&mut agent, bypass.clone())["subtype"], "error");
    assert_eq!(agent.end().status, Some(0));
    let mut agent = host(&world, &["--allow-dangerously-skip-permissions"]);
    assert_eq!(ask(&mut agent, bypass)["subtype"], "success");
    assert_eq!(agent.end().status, Some(0));
}

// covers: WIRE-004, DEC-47
#[test]
fn a_task_that_the_host_stops_leaves_no_process() {
    let world = World::scripted();
    let mut agent = host(&world, &["--permission-mode", "bypassPermissions"]);
    let input = json!({"command": "echo $$ > pid.part; mv pid.part pid; sleep 600", "run_in_background": true});
    let steps = json!([{"tool_calls": [{"name": "Bash", "input": input}]}, {"text": "waiting"}, {"text": "done"}]);
    agent.send(&user(&script(&steps)));
    let task = agent.until_type("task_started")["task_id"].take();
    let pid = loop {
        match fs::read_to_string(world.work().join("pid")) {
            Ok(pid) => break pid.trim().to_string(),
            Err(_) => std::thread::yield_now(),
        }
    };
    assert!(runs(&pid));
    let stop = json!({"subtype": "stop_task", "task_id": task});
    assert_eq!(ask(&mut agent, stop.clone())["subtype"], "success");
    assert_eq!(agent.until_type("task_notification")["status"], "stopped");
    until_gone(&pid);
    assert_eq!(agent.until_type("result")["result"], "done");
    let error = ask(&mut agent, stop)["error"].take();
    assert!(error.as_str().unwrap().contains(task.as_str().unwrap()));
    assert_eq!(agent.end().status, Some(0));
}

// covers: DEC-43, WIRE-004
#[test]
fn a_suggestion_comes_before_idle_and_nobody_waits_for_it_at_the_end() {
    let world = World::scripted();
    let wish = json!({"subtype": "initialize", "promptSuggestions": true});
    let mut agent = host(&world, &[]);
    assert_eq!(ask(&mut agent, wish.clone())["subtype"], "success");
    agent.send(&user(&script(
        &json!([{"text": "built"}, {"text": "Now test it."}]),
    )));
    assert_eq!(agent.until_type("result")["num_turns"], 1);
    let next = agent.until(|record| record["type"] != "result");
    assert_eq!(next["suggestion"], "Now test it.");
    assert_eq!(agent.until_type("session_state_changed")["state"], "idle");
    assert_eq!(agent.end().status, Some(0));
    let mut agent = host(&world, &[]);
    assert_eq!(ask(&mut agent, wish)["subtype"], "success");
    agent.send(&user(&script(&json!([{"text": "built"}, {"hold": true}]))));
    agent.until_type("result");
    let outcome = agent.end();
    assert_eq!(outcome.status, Some(0));
    let records = outcome.records();
    assert_eq!(records.last().unwrap()["state"], "idle");
}

// covers: DEC-47
#[test]
fn rules_of_the_command_line_stay_when_a_host_replaces_the_others() {
    let world = World::scripted();
    let flags = [
        "--allowedTools=Bash(ls:*)",
        "--disallowedTools=Bash(rm:*)",
        r#"--settings={"permissions":{"deny":["Read"]}}"#,
    ];
    let mut agent = host(&world, &flags);
    for (settings, deny) in [
        (
            json!({"permissions": {"deny": ["Glob"]}}),
            json!(["Glob", "Bash(rm:*)"]),
        ),
        (
            json!({"permissions": {"allow": ["Bash"]}}),
            json!(["Bash(rm:*)"]),
        ),
        (json!({"permissions": null}), json!(["Bash(rm:*)"])),
    ] {
        let apply = json!({"subtype": "apply_flag_settings", "settings": settings});
        assert_eq!(ask(&mut agent, apply)["subtype"], "success");
        let told = ask(&mut agent, json!({"subtype": "get_settings"}));
        let permissions = &told["response"]["effective"]["permissions"];
        assert_eq!(permissions["deny"], deny, "{settings}");
        let allow = permissions["allow"].as_array().unwrap();
        assert!(allow.contains(&json!("Bash(ls:*)")), "{permissions}");
    }
    let kept = world.work().join("kept");
    fs::write(&kept, "").unwrap();
    let calls = json!([{"name": "Bash", "input": {"command": "rm kept"}}]);
    agent.send(&user(&script(
        &json!([{"tool_calls": calls}, {"text": "{results}"}]),
    )));
    let result = agent.until_type("result");
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
    assert!(kept.exists());
    assert_eq!(agent.end().status, Some(0));
}
