//! Hooks that a host runs, through the binary in the profile `reference`.

use crate::support::{Agent, World, decide, kinds, script, tool_results, user};
use serde_json::{Value, json};

/// A session that is sent `initialize` with these hooks, and a prompt right behind
/// it whose model runs `echo ran` and says what came back.
fn begun(hooks: &Value, further: &[&str]) -> (World, Agent) {
    let world = World::scripted();
    let options = [&["--profile", "reference"], further].concat();
    let mut agent = world.duplex(&options);
    let request = json!({"subtype": "initialize", "hooks": hooks, "systemPrompt": [""]});
    let initialize = json!({"type": "control_request", "request_id": "i", "request": request});
    agent.send(&initialize.to_string());
    let call = json!({"id": "t1", "name": "Bash", "input": {"command": "echo ran"}});
    agent.send(&user(&script(
        &json!([{"tool_calls": [call]}, {"text": "{results}"}]),
    )));
    (world, agent)
}

fn until_callback(agent: &mut Agent) -> Value {
    agent.until(|record| record["request"]["subtype"] == "hook_callback")
}

fn decides(word: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": word,
        "permissionDecisionReason": "not here"}})
}

fn pre(members: Value) -> Value {
    let mut group = json!({"matcher": "Ba.h|Write", "hookCallbackIds": ["h"]});
    if let (Some(group), Value::Object(members)) = (group.as_object_mut(), members) {
        group.extend(members);
    }
    json!({"PreToolUse": [group]})
}

/// The text of the result, and the exit status.
fn result(mut agent: Agent) -> (String, Option<i32>) {
    let result = agent.until_type("result")["result"].clone();
    let outcome = agent.end();
    assert_eq!(outcome.stderr, "");
    (
        result.as_str().unwrap_or_default().to_owned(),
        outcome.status,
    )
}

// covers: DEC-31
#[test]
fn a_callback_allows_a_call_or_denies_it() {
    let (_world, mut agent) = begun(&pre(json!({})), &[]);
    let asked = until_callback(&mut agent);
    assert_eq!(
        asked["request"]["input"]["tool_input"]["command"],
        "echo ran"
    );
    agent.send(&decide(&asked, &decides("allow")));
    assert_eq!(result(agent), ("ran\n".to_owned(), Some(0)));
    let (_world, mut agent) = begun(&pre(json!({})), &[]);
    let asked = until_callback(&mut agent);
    agent.send(&decide(&asked, &decides("deny")));
    assert_eq!(result(agent), ("not here".to_owned(), Some(0)));
}

// covers: DEC-33, DEC-48
#[test]
fn a_host_that_never_answers_a_callback_hangs_nothing() {
    let (_world, mut agent) = begun(&pre(json!({"timeout": 0.05})), &[]);
    let asked = until_callback(&mut agent);
    let cancel = agent.until_type("control_cancel_request");
    assert_eq!(cancel["request_id"], asked["request_id"]);
    let denied = "a PreToolUse hook failed: no answer came in time.".to_owned();
    agent.until_type("result");
    assert_eq!(tool_results(&agent.seen), [denied]);
    // Too late, and of another operation.
    agent.send(&decide(&asked, &decides("allow")));
    let outcome = agent.end();
    assert_eq!((outcome.status, &*outcome.stderr), (Some(0), ""));
}

// covers: DEC-37, ACC-05
#[test]
fn the_end_of_the_input_denies_a_call_that_waits_for_a_callback() {
    let (_world, mut agent) = begun(&pre(json!({})), &[]);
    until_callback(&mut agent);
    let outcome = agent.end();
    let records = outcome.records();
    let denied = "a PreToolUse hook failed: the permission stream closed before an answer came.";
    assert_eq!(tool_results(&records), [denied]);
    assert_eq!(kinds(&records).last().map(String::as_str), Some("idle"));
    assert_eq!(outcome.status, Some(0));
}

// covers: DEC-43
#[test]
fn records_of_callbacks_are_written_where_the_host_wants_them() {
    for (further, count) in [(&[][..], 0), (&["--include-hook-events"][..], 2)] {
        let (_world, mut agent) = begun(&pre(json!({})), further);
        let asked = until_callback(&mut agent);
        agent.send(&decide(&asked, &decides("deny")));
        agent.until_type("result");
        let told = agent.seen.iter().filter(|record| {
            let subtype = record["subtype"].as_str().unwrap_or_default();
            subtype.starts_with("hook_")
        });
        assert_eq!(told.count(), count);
        assert_eq!(agent.end().status, Some(0));
    }
}

#[test]
fn an_initialize_that_cannot_be_applied_runs_nothing() {
    let (_world, mut agent) = begun(&json!({"PreToolUse": 7}), &[]);
    let answer = agent.until_type("control_response");
    let told = "initialize: hooks.PreToolUse: expected a list";
    assert_eq!(answer["response"]["error"], told);
    assert_eq!(agent.until_type("result")["stop_reason"], "input_error");
    let outcome = agent.end();
    assert!(tool_results(&outcome.records()).is_empty());
    assert_eq!(outcome.status, Some(1));
}
