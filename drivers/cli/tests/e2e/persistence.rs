//! Sessions that are stored, resumed, forked or refused.

use crate::support::{
    Agent, DUPLEX, Outcome, Signal, World, auth, from_prompt, script, tool_results, user,
};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

/// The id that a run told of itself.
fn session_id(outcome: &Outcome) -> String {
    outcome.records()[0]["session_id"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Runs one prompt in a duplex session; gives its id and outcome.
fn run(world: &World, options: &[&str], prompt: &str) -> Outcome {
    let arguments = [&DUPLEX[..], options].concat();
    world.run(&arguments, &format!("{}\n", user(prompt)))
}

/// The stored entries of a session, as `sessions show` tells them.
fn entries(world: &World, id: &str) -> Vec<Value> {
    let shown = world.run(&["sessions", "show", id, "--output-format", "json"], "");
    assert_eq!(shown.status, Some(0), "{}", shown.stderr);
    let document: Value = serde_json::from_str(&shown.stdout).unwrap();
    document["entries"].as_array().unwrap().clone()
}

fn types(entries: &[Value]) -> Vec<&str> {
    entries
        .iter()
        .map(|e| e["type"].as_str().unwrap())
        .collect()
}

/// What the last record but `idle` says.
fn result(outcome: &Outcome) -> Value {
    let records = outcome.records();
    let result = records.iter().rfind(|record| record["type"] == "result");
    result.unwrap().clone()
}

// covers: DEC-32, WIRE-025
#[test]
fn a_session_is_resumed_under_its_id_with_all_that_was_said() {
    let world = World::scripted();
    let first = run(&world, &[], "one");
    let id = session_id(&first);
    let second = run(&world, &["--resume", &id], "two");
    assert_eq!((session_id(&second), second.status), (id.clone(), Some(0)));
    let newest = run(&world, &["--continue"], "three");
    assert_eq!(session_id(&newest), id);
    let entries = entries(&world, &id);
    let turn = ["prompt", "answer", "turn"];
    assert_eq!(types(&entries), [turn, turn, turn].concat());
    let said: Vec<_> = entries.iter().filter(|e| e["type"] == "prompt").collect();
    assert_eq!(said[2]["content"], json!(["three"]));
    let listed = world.run(&["sessions", "list"], "").stdout;
    assert!(
        listed.starts_with(&id) && listed.contains("3 prompts  one"),
        "{listed}"
    );
    assert_eq!(listed.lines().count(), 1);
}

// covers: DEC-20, WIRE-025
#[test]
fn what_is_not_stored_is_not_resumed_and_nothing_is_said() {
    let world = World::scripted();
    let missing = "5b0d3c9e-1f8a-4c55-8a8e-7f6d1c2b3a49";
    for _ in 0..2 {
        let refused = run(&world, &["--resume", missing], "hi");
        refused.failed(&format!(
            "--resume: no stored session has the id {missing:?}"
        ));
        run(&world, &["--continue"], "hi")
            .failed("--continue: no session is stored for the folder");
        let refused = run(&world, &["--resume", "../../auth.json"], "hi");
        refused.failed("no stored session");
        let shown = world.run(&["sessions", "show", missing], "");
        shown.failed("no stored session has the id");
        assert_eq!(world.run(&["sessions", "list"], "").stdout, "");
        // And again where there is a store.
        let elsewhere = world.temporary();
        let told = ["--cwd", elsewhere.to_str().unwrap()];
        run(&world, &told, "elsewhere");
        fs::remove_file(world.home().join("auth.json")).unwrap();
        world.write_private(
            "auth.json",
            &auth(&json!([from_prompt("main", &json!({}))])),
        );
        fs::remove_dir_all(world.home().join("sessions")).unwrap();
    }
}

// covers: ACC-28
#[test]
fn no_operation_changes_the_selection_and_a_resume_with_another_one_is_refused() {
    let entries = json!([
        from_prompt("main", &json!({"default": true})),
        from_prompt("other", &json!({}))
    ]);
    let world = World::with(&entries);
    let mut agent = world.duplex(&["--provider", "other"]);
    let id = agent.until_type("init")["session_id"].clone();
    let mut ask = |request: Value| {
        let record = json!({"type": "control_request", "request_id": "r", "request": request});
        agent.send(&record.to_string());
        agent.until_type("control_response")["response"].clone()
    };
    let catalogue = ask(json!({"subtype": "initialize"}))["response"]["providers"].clone();
    for model in [&json!("fixture-model"), &catalogue[0]["value"]] {
        let refused = ask(json!({"subtype": "set_model", "model": model}));
        assert!(
            refused["error"]
                .as_str()
                .unwrap()
                .contains("restart with --provider")
        );
    }
    let refused = ask(json!({"subtype": "set_provider", "provider": "main"}));
    assert_eq!(
        refused["error"],
        "unsupported control request \"set_provider\""
    );
    // The live selection is what it was, and the session goes on.
    agent.send(&user("one"));
    agent.until_type("result");
    let answer = agent
        .seen
        .iter()
        .rfind(|record| record["type"] == "assistant");
    assert_eq!(answer.unwrap()["message"]["model"], "fixture-model");
    assert_eq!(agent.end().status, Some(0));
    let id = id.as_str().unwrap();
    let stored = self::entries(&world, id);
    let refused = run(&world, &["--resume", id], "two");
    refused.failed("it belongs to the provider \"other\", and \"main\" is selected");
    assert_eq!(
        self::entries(&world, id),
        stored,
        "nothing was replayed or asked"
    );
}

// covers: WIRE-025
#[test]
fn a_session_is_bound_to_its_provider() {
    let east = || from_prompt("east", &json!({"default": true}));
    let west = || from_prompt("west", &json!({}));
    let world = World::with(&json!([east(), west()]));
    let id = session_id(&run(&world, &["--provider", "west"], "one"));
    for which in [&["--resume", &id][..], &["--continue"]] {
        let refused = run(&world, which, "two");
        refused.failed("it belongs to the provider \"west\", and \"east\" is selected");
        assert!(refused.stderr.contains("start it with --provider west"));
        let forked = [which, &["--fork-session"]].concat();
        run(&world, &forked, "two").failed("belongs to the provider");
    }
    assert_eq!(entries(&world, &id).len(), 3, "nothing changed");
    // Another model behind the same id is another route; another key is not.
    let moved = |entry: Value| {
        fs::remove_file(world.home().join("auth.json")).unwrap();
        world.write_private("auth.json", &auth(&json!([east(), entry])));
        run(&world, &["--provider", "west", "--resume", &id], "two")
    };
    let mut other = west();
    other["scripted"]["model"] = json!("other-model");
    moved(other).failed("that entry of auth.json has changed");
    let resumed = moved(west());
    assert_eq!((resumed.status, session_id(&resumed)), (Some(0), id));
}

// covers: DEC-32
#[test]
fn a_fork_has_an_id_of_its_own_and_leaves_its_origin_alone() {
    let world = World::scripted();
    let id = session_id(&run(&world, &[], "one"));
    let told = "5b0d3c9e-1f8a-4c55-8a8e-7f6d1c2b3a49";
    let fork = run(
        &world,
        &["--resume", &id, "--fork-session", "--session-id", told],
        "two",
    );
    assert_eq!(session_id(&fork), told);
    let other = run(&world, &["--resume", &id, "--fork-session"], "three");
    assert_ne!(session_id(&other), id);
    assert_eq!(
        (entries(&world, &id).len(), entries(&world, told).len()),
        (3, 6)
    );
    let listed = world.run(&["sessions", "list", "--output-format", "json"], "");
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let of = |id: &str| {
        let sessions = listed["sessions"].as_array().unwrap();
        sessions
            .iter()
            .find(|s| s["session_id"] == id)
            .unwrap()
            .clone()
    };
    assert_eq!(
        (&of(told)["forked_from"], &of(told)["prompts"]),
        (&json!(id), &json!(2))
    );
    assert!(of(&id).get("forked_from").is_none());
    let taken = run(&world, &["--session-id", told], "x");
    taken.refused(&format!(
        "--session-id {told}: a session of that id is stored already; --resume goes on with it"
    ));
}

// covers: DEC-32
#[test]
fn a_session_that_is_not_to_be_stored_leaves_nothing() {
    let world = World::scripted();
    let told = "5b0d3c9e-1f8a-4c55-8a8e-7f6d1c2b3a49";
    let run = run(
        &world,
        &["--no-session-persistence", "--session-id", told],
        "one",
    );
    assert_eq!((session_id(&run).as_str(), run.status), (told, Some(0)));
    assert!(!world.home().join("sessions").exists());
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let world = World::scripted();
    let id = "5b0d3c9e-1f8a-4c55-8a8e-7f6d1c2b3a49";
    for options in [
        &["--resume", id, "--continue"][..],
        &["--fork-session"],
        &["--resume", id, "--session-id", id],
        &["--continue", "--no-session-persistence"],
        &["--session-id", "mine"],
    ] {
        let refused = run(&world, options, "x");
        assert_eq!(
            (refused.status, refused.stdout.as_str()),
            (Some(2), ""),
            "{options:?}"
        );
    }
}

/// Starts a session whose tool hangs; gives it once the tool runs.
fn hanging(world: &World, options: &[&str]) -> (Agent, String) {
    let mut agent = world.duplex(options);
    let id = agent.until_type("init")["session_id"].clone();
    let steps = json!([
        {"tool_calls": [{"id": "t1", "name": "Bash", "input": {"command": "echo ran >> runs; sleep 600"}}]},
        {"text": "never"}
    ]);
    agent.send(&user(&script(&steps)));
    while !world.work().join("runs").exists() {
        std::thread::yield_now();
    }
    (agent, id.as_str().unwrap().to_owned())
}

// covers: DEC-32
#[test]
fn a_call_that_a_kill_left_open_is_not_run_again_and_is_told_as_unconfirmed() {
    let world = World::scripted();
    let free = ["--permission-mode", "bypassPermissions"];
    let (agent, id) = hanging(&world, &free);
    agent.signal(Signal::KILL);
    assert_eq!(agent.wait().status, None);
    assert_eq!(types(&entries(&world, &id)), ["prompt", "answer"]);
    let on = json!([{"text": "the model saw: {results}"}]);
    let resumed = run(
        &world,
        &[&["--resume", &id][..], &free].concat(),
        &script(&on),
    );
    assert_eq!(resumed.status, Some(0));
    assert_eq!(session_id(&resumed), id);
    let runs = fs::read_to_string(world.work().join("runs")).unwrap();
    assert_eq!(runs, "ran\n");
    assert!(tool_results(&resumed.records()).is_empty());
    let text = result(&resumed)["result"].as_str().unwrap().to_owned();
    assert!(
        text.contains("Unconfirmed: the session ended before"),
        "{text}"
    );
}

// covers: DEC-32
#[test]
fn a_session_that_is_open_elsewhere_is_not_resumed() {
    let world = World::scripted();
    let (agent, id) = hanging(&world, &["--permission-mode", "bypassPermissions"]);
    let refused = run(&world, &["--resume", &id], "x");
    refused.failed(&format!(
        "session {id} cannot be resumed: it is open in another process"
    ));
    agent.signal(Signal::TERM);
    assert_eq!(agent.wait().status, Some(143));
    let resumed = run(&world, &["--resume", &id], "x");
    assert_eq!(resumed.status, Some(0));
}

/// The database of a home folder, to be damaged.
fn damage(world: &World, sql: &str) {
    let database = Connection::open(world.home().join("sessions/store.db")).unwrap();
    database.execute_batch(sql).unwrap();
}

// covers: DEC-20
#[test]
fn a_store_that_cannot_be_used_is_told_before_anything_else() {
    let world = World::scripted();
    let id = session_id(&run(&world, &[], "one"));
    damage(
        &world,
        "UPDATE entry SET body = '{}' WHERE body LIKE '%\"answer\"%'",
    );
    let refused = run(&world, &["--resume", &id], "x");
    refused.failed("entry 1 is damaged: an entry lacks one of its members");
    damage(&world, "PRAGMA user_version = 99");
    let newer = "made by a newer version of agentx (layout 99, known here up to 1)";
    run(&world, &["--resume", &id], "x").failed(newer);
    world.run(&["sessions", "list"], "").failed(newer);
    run(&world, &[], "x").refused(&format!(
        "the session store: {newer}; --no-session-persistence runs without it"
    ));
    assert_eq!(
        run(&world, &["--no-session-persistence"], "x").status,
        Some(0)
    );
    let sessions = world.home().join("sessions");
    fs::set_permissions(&sessions, Permissions::from_mode(0o755)).unwrap();
    run(&world, &["--resume", &id], "x").failed("mode 0755, expected 0700");
}

// covers: DEC-32, DEC-20
#[test]
fn a_turn_whose_store_fails_ends_with_an_error_and_the_reason_on_stderr() {
    let world = World::scripted();
    let mut agent = world.duplex(&[]);
    let id = agent.until_type("init")["session_id"].clone();
    let other = Connection::open(world.home().join("sessions/store.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    agent.send(&user("one"));
    let result = agent.until_type("result");
    assert_eq!(result["subtype"], "error_during_execution");
    let errors = result["errors"][0].as_str().unwrap();
    assert!(
        errors.starts_with("the session could not be stored"),
        "{errors}"
    );
    // What could not be stored is not lost while the process lives.
    other.execute_batch("ROLLBACK").unwrap();
    agent.send(&user("two"));
    assert_eq!(agent.until_type("result")["result"], "echo: two");
    let outcome = agent.end();
    let told = "agentx: error: the session store: other processes keep the database locked\n";
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), told));
    let entries = entries(&world, id.as_str().unwrap());
    assert_eq!(
        types(&entries),
        ["prompt", "turn", "prompt", "answer", "turn"]
    );
}

// covers: DEC-30
#[test]
fn no_key_is_in_the_store() {
    let key = "sk-very-secret-0123456789";
    let mut other = json!({"id": "other", "type": "openai_compatible"});
    other["openai_compatible"] = json!({
        "base_url": "http://127.0.0.1:1/v1", "model": "m", "api_key": key, "api": "chat_completions"
    });
    let world = World::with(&json!([
        from_prompt("main", &json!({"default": true})),
        other
    ]));
    let steps = json!([
        {"thinking": [format!("hm {key}")], "tool_calls": [
            {"id": "t1", "name": "Bash", "input": {"command": format!("echo {key}; printf 'sk-very-%s' secret-0123456789")}},
        ]},
        {"text": format!("it is {key}")}
    ]);
    let outcome = run(
        &world,
        &["--permission-mode", "bypassPermissions"],
        &script(&steps),
    );
    assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
    let folder = fs::read_dir(world.home().join("sessions")).unwrap();
    for file in folder {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        let found = bytes
            .windows(key.len())
            .any(|window| window == key.as_bytes());
        assert!(!found);
    }
    assert_eq!(entries(&world, &session_id(&outcome)).len(), 5);
}
