//! Hooks of the settings in a real session: programs that decide, lose, fail.

use crate::support::{World, kinds, script, tool_results, user};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

/// Settings with one hook of an event: a shell script.
fn hook(event: &str, shell: &str) -> String {
    hooks(&[(event, json!({}), shell)])
}

/// Settings with hooks, each with further members of its group.
fn hooks(all: &[(&str, Value, &str)]) -> String {
    let mut settings = json!({"hooks": {}});
    for (event, group, shell) in all {
        let mut group = group.clone();
        group["hooks"] = json!([{"type": "command", "command": ["/bin/sh", "-c", shell]}]);
        let groups = &mut settings["hooks"][*event];
        if groups.is_null() {
            *groups = json!([]);
        }
        groups.as_array_mut().unwrap().push(group);
    }
    settings.to_string()
}

fn world(settings: &str) -> World {
    let world = World::scripted();
    world.write_private("settings.json", settings);
    world
}

/// A prompt whose model runs a command and says what came back.
fn bash(command: &str) -> String {
    let calls = json!([{"id": "t1", "name": "Bash", "input": {"command": command}}]);
    script(&json!([{"tool_calls": calls}, {"text": "{results}"}]))
}

fn print(world: &World, prompt: &str) -> (Option<i32>, String, String) {
    let outcome = world.run(&["-p", prompt], "");
    (outcome.status, outcome.stdout, outcome.stderr)
}

fn said(text: &str) -> (Option<i32>, String, String) {
    (Some(0), text.to_owned(), String::new())
}

const ALLOW: &str = r#"echo '{"decision":"allow"}'"#;

// covers: DEC-31, DEC-33
#[test]
fn a_hook_before_a_tool_allows_denies_or_fails() {
    let run = |shell: &str| print(&world(&hook("PreToolUse", shell)), &bash("echo ran"));
    assert_eq!(run(ALLOW), said("ran\n\n"));
    assert_eq!(
        run("echo too late today >&2; exit 2"),
        said("too late today\n")
    );
    let failed = "a PreToolUse hook failed: it ended with status 1\n";
    assert_eq!(run("exit 1"), said(failed));
    let garbage = "a PreToolUse hook failed: it printed something else than one JSON object\n";
    assert_eq!(run("echo allow"), said(garbage));
    assert_eq!(
        run(":"),
        said("This call needs permission, and nobody can be asked.\n"),
        "passing leaves it to the rules"
    );
    let rewrite = r#"echo '{"decision":"allow","updatedInput":{"command":"echo other"}}'"#;
    assert_eq!(run(rewrite), said("other\n\n"));
}

#[test]
fn a_hook_reads_the_call_and_its_matcher_is_anchored() {
    let read = r#"cat > "$PWD/read"; echo '{"decision":"allow"}'"#;
    let world = world(&hooks(&[
        ("PreToolUse", json!({"matcher": "Bash|Edit"}), read),
        ("PreToolUse", json!({"matcher": "Bas|ash"}), "exit 2"),
    ]));
    let outcome = world.run(&["-p", &bash("echo ran")], "");
    assert_eq!(outcome.stdout, "ran\n\n");
    let path = world.home().join("settings.json");
    assert_eq!(
        outcome.stderr,
        format!(
            "agentx: warning: {}: hooks.PreToolUse[1].matcher: no tool has such a name\n",
            path.display()
        )
    );
    let read = fs::read_to_string(world.work().join("read")).unwrap();
    let read: Value = serde_json::from_str(&read).unwrap();
    let cwd = world.work().canonicalize().unwrap();
    assert_eq!(read["cwd"], cwd.to_str().unwrap());
    assert_eq!(
        (
            &read["hook_event_name"],
            &read["tool_name"],
            &read["tool_input"],
            &read["tool_use_id"]
        ),
        (
            &json!("PreToolUse"),
            &json!("Bash"),
            &json!({"command": "echo ran"}),
            &json!("t1")
        )
    );
    assert_eq!(read["transcript_path"], "");
}

// covers: WIRE-PERM-001, WIRE-PERM-070, ACC-06, DEC-43
#[test]
fn a_hook_that_denies_before_a_slow_host_withdraws_the_question() {
    let world = world(&hook("PermissionRequest", "echo not here >&2; exit 2"));
    let mut agent = world.duplex(&[]);
    agent.send(&user(&bash("echo ran")));
    let question = agent.until_type("control_request");
    let cancel = agent.until_type("control_cancel_request");
    assert_eq!(cancel["request_id"], question["request_id"]);
    agent.until_type("result");
    let outcome = agent.end();
    assert_eq!((outcome.status, &*outcome.stderr), (Some(0), ""));
    let records = outcome.records();
    assert_eq!(tool_results(&records), ["not here"]);
    let kinds = kinds(&records);
    let from = kinds.iter().position(|kind| kind == "requires_action");
    assert_eq!(
        kinds[from.unwrap()..][..6],
        [
            "requires_action",
            "control_request",
            "hook_started",
            "hook_response",
            "control_cancel_request",
            "running"
        ]
    );
    let response = records.iter().find(|r| r["subtype"] == "hook_response");
    let response = response.unwrap();
    assert_eq!(
        (
            &response["stderr"],
            &response["exit_code"],
            &response["outcome"]
        ),
        (&json!("not here\n"), &json!(2), &json!("success"))
    );
}

// covers: WIRE-PERM-002, DEC-33
#[test]
fn a_hook_that_crashes_denies_whatever_the_host_would_say() {
    let world = world(&hook("PermissionRequest", "kill -9 $$"));
    let mut agent = world.duplex(&[]);
    agent.send(&user(&bash("echo ran")));
    agent.until_type("control_cancel_request");
    agent.until_type("result");
    let records = agent.end().records();
    assert_eq!(
        tool_results(&records),
        [
            "Tool permission request failed: a PermissionRequest hook failed: it was ended by signal 9"
        ]
    );
}

/// A session in which one hook of `PermissionRequest`, with a time of its own,
/// decides about a call, and which then goes on; the result of the call.
fn decided_by(shell: &str, timeout_ms: u64) -> (World, String) {
    let command =
        json!({"type": "command", "command": ["/bin/sh", "-c", shell], "timeout_ms": timeout_ms});
    let settings = json!({"hooks": {"PermissionRequest": [{"hooks": [command]}]}});
    let world = world(&settings.to_string());
    let mut agent = world.duplex(&[]);
    agent.send(&user(&bash("echo ran")));
    agent.until_type("control_cancel_request");
    agent.until_type("result");
    agent.send(&user("hello"));
    agent.until(|record| record["result"] == "echo: hello");
    let outcome = agent.end();
    assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
    let [result] = tool_results(&outcome.records()).try_into().unwrap();
    (world, result)
}

// covers: WIRE-PERM-001, WIRE-PERM-002, WIRE-PERM-060, DEC-33
#[test]
fn whatever_a_hook_does_wrong_denies_and_the_session_goes_on() {
    let failed = |why: &str| {
        format!("Tool permission request failed: a PermissionRequest hook failed: {why}")
    };
    let odd = "it printed something else than one JSON object";
    for (shell, why) in [
        ("printf 'allow \\001'", odd),
        (r#"echo '{"decision":"allow"} {"decision":"allow"}'"#, odd),
        (r#"echo '{"decision":"allow"'"#, odd),
        (r#"echo '{"decision":"allow","decision":"deny"}'"#, odd),
        (
            r#"echo '{"decision":"allow"}'; printf '\377'"#,
            "it printed something that is no UTF-8",
        ),
        (
            r#"echo '{"decision":"allow"}'; exit 3"#,
            "it ended with status 3",
        ),
        (
            r#"echo '{"decision":"allow"}'; kill -9 $$"#,
            "it was ended by signal 9",
        ),
        ("exec 0<&-; exit 1", "it ended with status 1"),
        (
            "head -c 104857600 /dev/zero | tr '\\0' x",
            "it printed more than 1048576 bytes",
        ),
    ] {
        assert_eq!(decided_by(shell, 60_000).1, failed(why), "{shell}");
    }
    // One that hangs, with a child that does not want to go.
    let shell = r#"(trap '' TERM; echo > began; sleep 1000) & echo $! > child
        while ! [ -e began ]; do :; done; echo '{"decision":"allow"}'; exec sleep 1000"#;
    let (world, result) = decided_by(shell, 3_000);
    assert_eq!(
        result,
        failed("it was ended after its time of 3000 ms was up")
    );
    // It may have been ended before it had begun.
    if let Ok(child) = fs::read_to_string(world.work().join("child")) {
        crate::support::until_gone(child.trim());
    }
}

// covers: WIRE-PERM-001, DEC-33
#[test]
fn a_hook_that_reads_nothing_and_leaves_children_behind_may_allow() {
    let shell = r#"exec 0<&-; (trap '' TERM; echo > began; sleep 1000) & echo $! > child
        while ! [ -e began ]; do :; done; echo '{"decision":"allow"}'"#;
    let (world, result) = decided_by(shell, 60_000);
    assert_eq!(result, "ran\n");
    let child = fs::read_to_string(world.work().join("child")).unwrap();
    crate::support::until_gone(child.trim());
}

// covers: DEC-33
#[test]
fn hooks_that_decide_nothing_may_fail_in_every_way() {
    let ways = [
        (
            "SessionStart",
            "exec sleep 1000",
            "it was ended after its time of 500 ms was up",
        ),
        ("PostToolUse", "kill -9 $$", "it was ended by signal 9"),
        (
            "Stop",
            "echo garbage",
            "it printed something else than one JSON object",
        ),
        ("SessionEnd", "exec 0<&-; exit 1", "it ended with status 1"),
    ];
    let mut settings = json!({"hooks": {}});
    for (event, shell, _) in ways {
        let timeout = if event == "SessionStart" { 500 } else { 60_000 };
        let command =
            json!({"type": "command", "command": ["/bin/sh", "-c", shell], "timeout_ms": timeout});
        settings["hooks"][event] = json!([{ "hooks": [command] }]);
    }
    let prompt = script(&json!([
        {"tool_calls": [{"name": "CurrentTime", "input": {}}]}, {"text": "done"}
    ]));
    let (status, stdout, stderr) = print(&world(&settings.to_string()), &prompt);
    assert_eq!((status, &*stdout), (Some(0), "done\n"));
    let told = |(event, _, why): &(&str, _, &str)| {
        format!("agentx: warning: a {event} hook failed: {why}; it has no say\n")
    };
    assert_eq!(stderr, ways.iter().map(told).collect::<String>());
}

// covers: WIRE-PERM-001, DEC-37
#[test]
fn an_interrupt_ends_a_hook_that_hangs() {
    let shell = r#"echo $$ > pid; exec sleep 1000"#;
    let world = world(&hook("PreToolUse", shell));
    let mut agent = world.duplex(&[]);
    agent.send(&user(&bash("echo ran")));
    agent.until_type("hook_started");
    agent.send(&crate::support::control("i", "interrupt"));
    agent.until_type("result");
    let outcome = agent.end();
    assert_eq!(outcome.status, Some(1));
    if let Ok(pid) = fs::read_to_string(world.work().join("pid")) {
        crate::support::until_gone(pid.trim());
    }
}

// covers: DEC-33, DEC-20
#[test]
fn a_hook_refuses_a_prompt() {
    let world = world(&hook(
        "UserPromptSubmit",
        "echo 'no secrets, please' >&2; exit 2",
    ));
    let outcome = world.run(&["-p", "x"], "");
    assert_eq!((outcome.status, &*outcome.stdout), (Some(1), ""));
    assert_eq!(
        outcome.stderr,
        "agentx: warning: a user record was refused: no secrets, please\nagentx: error: no secrets, please\n"
    );
}

#[test]
fn hooks_see_a_session_from_its_beginning_to_its_end() {
    let note = |event: &str| format!("echo {event} >> \"$PWD/seen\"");
    let events = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "SessionEnd",
    ];
    let shells: Vec<String> = events.iter().map(|event| note(event)).collect();
    let all: Vec<_> = events
        .iter()
        .zip(&shells)
        .map(|(event, shell)| (*event, json!({}), shell.as_str()))
        .collect();
    let world = world(&hooks(&all));
    let prompt = script(&json!([
        {"tool_calls": [{"name": "CurrentTime", "input": {}}]}, {"text": "done"}
    ]));
    assert_eq!(print(&world, &prompt), said("done\n"));
    let seen = fs::read_to_string(world.work().join("seen")).unwrap();
    assert_eq!(seen.lines().collect::<Vec<_>>(), events);
}

#[test]
fn a_hook_keeps_a_turn_going_until_it_is_content() {
    let shell = r#"[ -e done ] || { touch done; echo '{"continue":true,"additionalContext":"once more"}'; }"#;
    let world = world(&hook("Stop", shell));
    let prompt = script(&json!([{"text": "first"}, {"text": "second"}]));
    assert_eq!(print(&world, &prompt), said("second\n"));
}

#[test]
fn hooks_of_a_project_run_in_a_trusted_workspace_alone() {
    let world = World::scripted();
    let folder = world.work().join(".agentx");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("settings.json"), hook("PreToolUse", ALLOW)).unwrap();
    let run = |further: &[&str]| {
        let prompt = bash("echo ran");
        let arguments = [&["-p"], further, &[&*prompt]].concat();
        world.run(&arguments, "").stdout
    };
    assert_eq!(run(&["--trust-workspace"]), "ran\n\n");
    assert_ne!(run(&[]), "ran\n\n");
}

// covers: DEC-43
#[test]
fn a_host_sees_what_a_slow_hook_writes() {
    let world = world(&hook(
        "PreToolUse",
        "echo looking >&2; read line < go; exit 2",
    ));
    let go = world.work().join("go");
    let made = Command::new("mkfifo").arg(&go).status().unwrap();
    assert!(made.success());
    let mut agent = world.duplex(&[]);
    agent.send(&user(&bash("echo ran")));
    let progress = loop {
        let record = agent.until_type("system");
        if record["subtype"] == "hook_progress" {
            break record;
        }
    };
    assert_eq!(
        (
            &progress["stderr"],
            &progress["output"],
            &progress["stdout"]
        ),
        (&json!("looking\n"), &json!("looking\n"), &json!(""))
    );
    fs::write(&go, "\n").unwrap();
    let result = agent.until_type("result");
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
    assert_eq!(agent.end().status, Some(0));
}
