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

/// `initialize` with a callback for every question; `timeout` in seconds.
fn register(agent: &mut Agent, timeout: u32) {
    let group = json!({"matcher": "Bash", "hookCallbackIds": ["cb"], "timeout": timeout});
    let request = json!({"subtype": "initialize", "hooks": {"PermissionRequest": [group]}});
    let record = json!({"type": "control_request", "request_id": "init", "request": request});
    agent.send(&record.to_string());
    let answer = agent.until_type("control_response");
    assert_eq!(answer["response"]["subtype"], "success", "{answer}");
}

/// What a callback says in the form of its event.
fn says(decision: &Value) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})
}

/// An error in the place of an answer.
fn error(question: &Value) -> String {
    let response =
        json!({"subtype": "error", "request_id": question["request_id"], "error": "it is gone"});
    json!({"type": "control_response", "response": response}).to_string()
}

/// Lines of the host about a question and the callback beside it.
type Answers = fn(&Value, &Value) -> Vec<String>;

// covers: WIRE-PERM-001, WIRE-PERM-002, WIRE-007, DEC-33, DEC-37
#[test]
fn a_host_that_answers_its_callbacks_badly_allows_nothing() {
    let failed = "Tool permission request failed: a PermissionRequest hook failed: ";
    let late = json!({"behavior": "allow", "updatedInput": {}});
    let cases: [(&str, Answers, &str); 7] = [
        (
            "twice",
            |_, callback| {
                let no = says(&json!({"behavior": "deny", "message": "no"}));
                let yes = says(&json!({"behavior": "allow"}));
                vec![decide(callback, &no), decide(callback, &yes)]
            },
            "no",
        ),
        (
            "late",
            |question, callback| {
                let yes = says(&json!({"behavior": "allow"}));
                vec![decide(question, &deny()), decide(callback, &yes)]
            },
            "no",
        ),
        (
            "under a wrong id",
            |question, callback| {
                let yes = says(&json!({"behavior": "allow"}));
                let wrong = json!({"request_id": "req_0"});
                vec![
                    decide(&wrong, &yes),
                    decide(&json!({"request_id": "cb"}), &yes),
                    decide(callback, &json!({})),
                    decide(question, &deny()),
                ]
            },
            "no",
        ),
        (
            "with the payload of a question",
            |question, callback| vec![decide(callback, &allow()), decide(question, &deny())],
            "no",
        ),
        (
            "a question with the payload of a callback",
            |question, _| vec![decide(question, &says(&json!({"behavior": "allow"})))],
            "Tool permission request failed: the answer has no behavior",
        ),
        (
            "with a decision that is none",
            |_, callback| vec![decide(callback, &says(&json!("allow")))],
            failed,
        ),
        ("with an error", |_, callback| vec![error(callback)], failed),
    ];
    let world = World::scripted();
    let mut agent = world.duplex(&["--profile", "reference"]);
    register(&mut agent, 600);
    for (what, answers, _) in &cases {
        let question = asked(&mut agent, "made");
        assert_eq!(question["request"]["subtype"], "can_use_tool", "{what}");
        let callback = agent.until_type("control_request");
        assert_eq!(callback["request"]["subtype"], "hook_callback", "{what}");
        for line in answers(&question, &callback) {
            agent.send(&line);
        }
        agent.until_type("result");
        // Whatever is said now is too late.
        agent.send(&decide(&question, &late));
        agent.send(&decide(&callback, &says(&json!({"behavior": "allow"}))));
    }
    // The end of the input fails what was asked, and denies.
    asked(&mut agent, "made");
    let (results, files) = end(&world, agent);
    assert!(files.is_empty(), "{files:?}");
    for ((what, _, expected), result) in cases.iter().zip(&results) {
        assert!(result.starts_with(expected), "{what}: {result}");
    }
    assert_eq!(results.len(), cases.len() + 1);
    assert!(results[cases.len()].starts_with("Tool permission request failed: "));
}

// covers: WIRE-PERM-002, DEC-33, DEC-48
#[test]
fn a_callback_that_is_never_answered_denies_when_its_time_is_over() {
    let world = World::scripted();
    let mut agent = world.duplex(&["--profile", "reference"]);
    register(&mut agent, 1);
    let question = asked(&mut agent, "made");
    let callback = agent.until_type("control_request");
    let mut cancelled = || agent.until_type("control_cancel_request")["request_id"].clone();
    assert_eq!(cancelled(), callback["request_id"], "given up");
    assert_eq!(cancelled(), question["request_id"], "and so decided");
    agent.until_type("result");
    let (results, files) = end(&world, agent);
    let late = "Tool permission request failed: a PermissionRequest hook failed: ";
    assert!(results[0].starts_with(late), "{results:?}");
    assert_eq!((results.len(), files.len()), (1, 0));
}
