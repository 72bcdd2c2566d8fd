//! Hosts that answer questions badly: nothing is allowed by accident and nothing
//! hangs.

use crate::support::{Agent, World, control, decide, script, tool_results, user};
use serde_json::{Value, json};

/// A prompt whose model makes one file.
fn touch(file: &str) -> String {
    let calls = json!([{"name": "Bash", "input": {"command": format!("touch {file}; echo ran")}}]);
    user(&script(&json!([{"tool_calls": calls}, {"text": "on"}])))
}

/// The question that follows from this prompt.
fn asked(agent: &mut Agent, file: &str) -> Value {
    agent.send(&touch(file));
    agent.until_type("control_request")
}

fn allow() -> Value {
    json!({"behavior": "allow", "updatedInput": {}})
}

fn deny() -> Value {
    json!({"behavior": "deny", "message": "no"})
}

/// The session ends; results of all its calls and files that were made.
fn end(world: &World, agent: Agent) -> (Vec<String>, Vec<String>) {
    let outcome = agent.end();
    assert!(outcome.status.is_some(), "{}", outcome.stderr);
    let files = std::fs::read_dir(world.work()).unwrap();
    let mut files: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    (tool_results(&outcome.records()), files)
}

// covers: WIRE-PERM-060, WIRE-PERM-071, ACC-07
#[test]
fn a_host_that_answers_twice_has_answered_once() {
    let world = World::scripted();
    let mut agent = world.duplex(&[]);
    for (file, first, second) in [
        ("allowed", allow(), deny()),
        ("denied", deny(), allow()),
        ("again", allow(), allow()),
    ] {
        let question = asked(&mut agent, file);
        agent.send(&decide(&question, &first));
        agent.send(&decide(&question, &second));
        agent.until_type("result");
        agent.send(&decide(&question, &second));
    }
    let (results, files) = end(&world, agent);
    assert_eq!(results, ["ran\n", "no", "ran\n"]);
    assert_eq!(files, ["again", "allowed"]);
}

// covers: WIRE-PERM-010, WIRE-PERM-072, DEC-49
#[test]
fn an_answer_under_a_wrong_id_answers_nothing() {
    let world = World::scripted();
    let mut agent = world.duplex(&[]);
    let question = asked(&mut agent, "wrong");
    let mut payload = allow();
    payload["toolUseID"] = question["request"]["tool_use_id"].clone();
    for id in ["", "req_0", "REQ"] {
        agent.send(&decide(&json!({ "request_id": id }), &payload));
    }
    // The call's id selects nothing, and the first question's id no other one.
    let call = json!({"request_id": question["request"]["tool_use_id"]});
    agent.send(&decide(&call, &payload));
    agent.send(&decide(&question, &deny()));
    agent.until_type("result");
    let other = asked(&mut agent, "other");
    agent.send(&decide(&question, &allow()));
    agent.send(&decide(&other, &deny()));
    agent.until_type("result");
    let (results, files) = end(&world, agent);
    assert_eq!((results, files.len()), (vec!["no".to_owned(); 2], 0));
}

// covers: WIRE-009, WIRE-PERM-002, WIRE-PERM-044, WIRE-PERM-051
#[test]
fn the_payload_of_another_operation_denies() {
    let world = World::scripted();
    let mut agent = world.duplex(&[]);
    let payloads = [
        json!({}),
        json!({"decision": "allow"}),
        json!({"continue": true}),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}),
        json!({"mcp_response": {"jsonrpc": "2.0", "id": 1, "result": {"behavior": "allow"}}}),
        json!({"action": "accept", "content": {"behavior": "allow", "updatedInput": {}}}),
        json!({"commands": [], "models": []}),
        json!([{"behavior": "allow", "updatedInput": {}}]),
        json!(null),
    ];
    for payload in &payloads {
        let question = asked(&mut agent, "other");
        agent.send(&decide(&question, payload));
        agent.until_type("result");
    }
    let (results, files) = end(&world, agent);
    assert_eq!((results.len(), files.len()), (payloads.len(), 0));
    for result in results {
        assert!(
            result.starts_with("Tool permission request failed: "),
            "{result}"
        );
    }
}

// covers: WIRE-007, WIRE-008, WIRE-PERM-070, DEC-37
#[test]
fn an_answer_that_is_late_or_never_comes_allows_nothing() {
    let world = World::scripted();
    let mut agent = world.duplex(&[]);
    let question = asked(&mut agent, "late");
    agent.send(&control("i", "interrupt"));
    let cancel = agent.until_type("control_cancel_request");
    assert_eq!(cancel["request_id"], question["request_id"]);
    agent.send(&decide(&question, &allow()));
    agent.until_type("result");
    agent.send(&decide(&question, &allow()));
    asked(&mut agent, "never");
    let (results, files) = end(&world, agent);
    assert_eq!(
        results,
        [
            "Cancelled: the turn was interrupted before this call finished.",
            "Tool permission request failed: the permission stream closed before an answer came."
        ]
    );
    assert!(files.is_empty(), "{files:?}");
}
