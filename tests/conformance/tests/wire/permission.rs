//! The permission question, from its request to what its answer does.

use agentx_conformance::session::{Bench, bare, brief, config};
use agentx_core::agent::{Config, Event, Output};
use agentx_core::correlate::OrphanPolicy;
use agentx_core::effect::{Answer, EffectId, Request, Verdict};
use agentx_core::schema::permission::{Destination, PermissionMode, PermissionUpdate};
use agentx_core::tool::{Access, ToolOutcome};
use serde_json::{Value, json};

/// A running turn whose one call is asked about; nothing is left to take.
pub(crate) fn asked(config: Config, name: &str, arguments: &str) -> (Bench, String) {
    let mut b = Bench::new(config);
    b.prompt(1, "go");
    b.calls(&[("t1", name, arguments)]);
    b.records();
    let id = b.question("t1");
    (b, id)
}

fn persisted(b: &Bench) -> Option<(EffectId, &[PermissionUpdate])> {
    b.open.iter().find_map(|(id, request)| match request {
        Request::Persist(updates) => Some((*id, updates.as_slice())),
        _ => None,
    })
}

/// The text and the error flag of the one tool result among `records`.
fn tool_result(records: &[Value]) -> (String, bool) {
    let mut found = records.iter().filter(|record| record["type"] == "user");
    let block = &found.next().expect("a tool result")["message"]["content"][0];
    assert!(found.next().is_none(), "one result");
    let text = block["content"][0]["text"].as_str().expect("a text");
    (text.to_string(), block["is_error"] == true)
}

/// Answers with `payload`; whether the call runs, else what its result says.
fn outcome(payload: &Value) -> Result<(), String> {
    let (mut b, id) = asked(config(), "Do", "{}");
    b.respond(&id, payload);
    assert_eq!(b.session.pending_requests(), 0, "{payload}");
    if b.find_tool("t1").is_some() {
        return Ok(());
    }
    let records = b.records();
    let briefs: Vec<_> = records.iter().map(brief).collect();
    assert_eq!(briefs, ["state running", "tool_result t1"], "{payload}");
    let (text, is_error) = tool_result(&records);
    assert!(is_error);
    b.says("ok");
    let denials = &b.records()[1]["permission_denials"];
    assert_eq!(
        *denials,
        json!([{"tool_name": "Do", "tool_use_id": "t1", "tool_input": {}}])
    );
    Err(text)
}

// covers: WIRE-PERM-010, WIRE-PERM-020, WIRE-PERM-021, WIRE-PERM-023, WIRE-PERM-060, DEC-31, DEC-12
#[test]
fn the_question_follows_its_state_and_shares_its_names() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    let input = r#"{"command":"ls  -l","n":1.50,"x":null}"#;
    b.calls(&[("t1", "Do", input)]);
    let records = b.records();
    let id = b.question("t1");
    assert!(id.starts_with("req_") && id.len() == 36, "{id}");
    let shown: Value = serde_json::from_str(input).expect("JSON");
    assert_eq!(
        records[2..].iter().map(bare).collect::<Vec<_>>(),
        [
            json!({"type": "system", "subtype": "session_state_changed", "state": "requires_action", "requires_action": {"request_id": id, "tool_name": "Do", "tool_use_id": "t1", "description": "Run: ls  -l", "input": shown}}),
            json!({"type": "control_request", "request_id": id, "request": {"subtype": "can_use_tool", "tool_name": "Do", "input": shown, "tool_use_id": "t1", "description": "Run: ls  -l"}}),
        ]
    );
    let bytes = String::from_utf8_lossy(&b.bytes).into_owned();
    assert!(
        bytes.contains(&format!(
            r#""tool_name":"Do","input":{input},"tool_use_id":"t1""#
        )),
        "the input stands as the model wrote it"
    );
}

// covers: WIRE-PERM-003, WIRE-PERM-023
#[test]
fn a_question_describes_itself_or_names_its_tool() {
    let long = "x".repeat(300);
    for (tool, input, description) in [
        (
            "Do",
            json!({"description": "Count files", "command": "ls"}),
            "Count files",
        ),
        ("Do", json!({"command": "ls"}), "Run: ls"),
        ("Do", json!({"command": " ", "description": 7}), "Do"),
        ("Do", json!({}), "Do"),
        ("Change", json!({"file_path": "/repo/a"}), "Change /repo/a"),
        ("Change", json!({"file_path": ["/repo/a"]}), "Change"),
        (
            "Do",
            json!({"description": long}),
            &format!("{}…", &long[..200]),
        ),
    ] {
        let mut b = Bench::new(config());
        b.user("go");
        b.calls(&[("t1", tool, &input.to_string())]);
        let records = b.records();
        let state = &records[2]["requires_action"]["description"];
        assert_eq!(
            (state, &records[3]["request"]["description"]),
            (&json!(description), &json!(description))
        );
    }
}

// covers: WIRE-PERM-022
#[test]
fn only_reasons_that_explain_are_sent() {
    let (b, _) = asked(config(), "Look", r#"{"file_path":"../etc/passwd"}"#);
    let text = String::from_utf8_lossy(&b.bytes).into_owned();
    let request: Value = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .find(|record: &Value| record["type"] == "control_request")
        .expect("a question");
    assert_eq!(request["request"]["blocked_path"], "/etc/passwd");
    assert_eq!(
        request["request"]["decision_reason"],
        "The path is outside the working directories."
    );

    // A rule asks about what would pass, and says nothing.
    let (mut b, id) = asked(config(), "Do", "{}");
    let rule = json!({"type": "addRules", "rules": [{"toolName": "Look"}], "behavior": "ask", "destination": "session"});
    b.respond(
        &id,
        &json!({"behavior": "allow", "updatedInput": {}, "updatedPermissions": [rule]}),
    );
    b.tool_says("t1", "done");
    b.calls(&[("t2", "Look", r#"{"file_path":"a"}"#)]);
    let records = b.records();
    let request = &records.last().expect("a question")["request"];
    assert_eq!(request["tool_use_id"], "t2");
    assert_eq!(
        (request.get("decision_reason"), request.get("blocked_path")),
        (None, None)
    );
}

// covers: WIRE-PERM-060
#[test]
fn what_is_decided_here_is_not_asked() {
    for (mode, name, input, runs) in [
        (
            PermissionMode::Default,
            "Look",
            r#"{"file_path":"a"}"#,
            true,
        ),
        (
            PermissionMode::Plan,
            "Change",
            r#"{"file_path":"a"}"#,
            false,
        ),
        (PermissionMode::DontAsk, "Do", "{}", false),
        (
            PermissionMode::AcceptEdits,
            "Change",
            r#"{"file_path":"a"}"#,
            true,
        ),
        (PermissionMode::BypassPermissions, "Do", "{}", true),
    ] {
        let mut b = Bench::new(Config {
            permission_mode: mode,
            ..config()
        });
        b.user("go");
        b.calls(&[("t1", name, input)]);
        let briefs = b.briefs();
        assert!(!briefs.iter().any(|b| b.starts_with("ask")), "{briefs:?}");
        assert_eq!(b.find_tool("t1").is_some(), runs, "{mode:?} {name}");
        assert_eq!(briefs.contains(&"tool_result t1".to_string()), !runs);
    }
    let mut b = Bench::new(Config {
        host_answers: false,
        ..config()
    });
    b.user("go");
    b.calls(&[("t1", "Do", "{}")]);
    let (text, is_error) = tool_result(&b.records());
    assert_eq!(
        (text.as_str(), is_error),
        ("This call needs permission, and nobody can be asked.", true)
    );
}

// covers: WIRE-PERM-A01, WIRE-PERM-030, WIRE-PERM-041, WIRE-PERM-043, DEC-18
#[test]
fn an_allow_replaces_the_input_whole_and_applies_updates_in_order() {
    let (mut b, id) = asked(config(), "Do", r#"{"command":"rm a","force":true}"#);
    let deny_do = json!({"type": "addRules", "rules": [{"toolName": "Do"}], "behavior": "deny", "destination": "session"});
    let add = json!({"type": "addDirectories", "directories": ["/data", "sub/.."], "destination": "userSettings"});
    b.respond(
        &id,
        &json!({"behavior": "allow", "updatedInput": {"command": "ls"}, "updatedPermissions": [deny_do, add], "decisionClassification": "user_permanent"}),
    );
    let (_, request) = b.tool("t1");
    assert_eq!(request.call.input.as_str(), r#"{"command":"ls"}"#);
    assert_eq!(request.access, Access::Granted);
    assert_eq!(*request.directories, ["/repo", "/data"]);
    let (persist, updates) = persisted(&b).expect("one update is kept in a file");
    assert_eq!(
        updates.len(),
        1,
        "the session's rule is kept in memory only"
    );
    assert_eq!(updates[0].destination(), Destination::UserSettings);
    assert_eq!(b.briefs(), ["state running"], "nothing is asked again");
    b.done(persist, Answer::Persisted(Verdict::Passed));
    b.tool_says("t1", "ok");
    b.calls(&[
        ("t2", "Do", r#"{"command":"ls"}"#),
        ("t3", "Look", r#"{"file_path":"/data/a"}"#),
    ]);
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        [
            "tool_result t1",
            "assistant tool_use",
            "assistant tool_use",
            "tool_result t2"
        ]
    );
    assert_eq!(
        records[3]["message"]["content"][0]["content"][0]["text"],
        "A permission rule denies this call."
    );
    assert!(
        b.find_tool("t3").is_some(),
        "the new directory is a working directory"
    );
}

// covers: WIRE-PERM-A01, WIRE-PERM-030
#[test]
fn later_updates_see_earlier_ones() {
    let rule = |kind: &str, behavior: &str| json!({"type": kind, "rules": [{"toolName": "Do"}], "behavior": behavior, "destination": "session"});
    let mode = |mode: &str| json!({"type": "setMode", "mode": mode, "destination": "session"});
    for (updates, next) in [
        (
            json!([
                rule("addRules", "deny"),
                rule("removeRules", "deny"),
                rule("addRules", "allow")
            ]),
            true,
        ),
        (
            json!([rule("removeRules", "deny"), rule("addRules", "deny")]),
            false,
        ),
        (json!([mode("plan"), mode("bypassPermissions")]), true),
        (json!([mode("bypassPermissions"), mode("plan")]), false),
    ] {
        let (mut b, id) = asked(config(), "Do", "{}");
        b.respond(
            &id,
            &json!({"behavior": "allow", "updatedInput": {}, "updatedPermissions": updates}),
        );
        b.tool_says("t1", "ok");
        b.calls(&[("t2", "Do", "{}")]);
        assert_eq!(b.find_tool("t2").is_some(), next, "{updates}");
        assert_eq!(b.session.pending_requests(), 0, "{updates}");
    }
}

// covers: WIRE-PERM-030
#[test]
fn updates_that_cannot_be_stored_hold_for_the_session() {
    let (mut b, id) = asked(config(), "Do", "{}");
    let rule = json!({"type": "addRules", "rules": [{"toolName": "Do"}], "behavior": "allow", "destination": "localSettings"});
    b.respond(
        &id,
        &json!({"behavior": "allow", "updatedInput": {}, "updatedPermissions": [rule]}),
    );
    let (persist, _) = persisted(&b).expect("a file");
    b.done(persist, Answer::Persisted(Verdict::Failed));
    assert_eq!(
        b.diagnostics(),
        ["permission updates could not be stored; they hold for this session only"]
    );
    b.tool_says("t1", "ok");
    b.calls(&[("t2", "Do", "{}")]);
    assert!(b.find_tool("t2").is_some());
}

// covers: WIRE-PERM-A02, WIRE-PERM-040, WIRE-PERM-041
#[test]
fn an_empty_input_is_the_original_and_a_missing_one_denies() {
    let (mut b, id) = asked(config(), "Do", r#"{"command":"ls"}"#);
    b.allow(&id);
    assert_eq!(b.tool("t1").1.call.input.as_str(), r#"{"command":"ls"}"#);
    assert_eq!(
        outcome(&json!({"behavior": "allow"})),
        Err("Tool permission request failed: the answer has no updatedInput".to_string())
    );
}

// covers: WIRE-PERM-A03, WIRE-PERM-043, WIRE-PERM-044
#[test]
fn one_malformed_update_drops_the_list_and_the_allow_stands() {
    let good =
        json!({"type": "setMode", "mode": "bypassPermissions", "destination": "userSettings"});
    for bad in [
        json!({"type": "setMode", "mode": "auto", "destination": "session"}),
        json!({"type": "addRules", "rules": null, "behavior": "allow", "destination": "session"}),
        json!(null),
    ] {
        let (mut b, id) = asked(config(), "Do", "{}");
        b.respond(
            &id,
            &json!({"behavior": "allow", "updatedInput": {}, "updatedPermissions": [good, bad], "decisionClassification": "user_whatever"}),
        );
        assert!(
            b.find_tool("t1").is_some() && persisted(&b).is_none(),
            "{bad}"
        );
        assert_eq!(b.session.policy().mode(), PermissionMode::Default);
        assert_eq!(
            b.diagnostics(),
            ["updatedPermissions of a permission answer are invalid; none of them was applied"]
        );
    }
}

// covers: WIRE-PERM-A04, WIRE-PERM-011, WIRE-PERM-053, WIRE-009, DEC-13
#[test]
fn the_hardened_reader_takes_success_and_error_alone() {
    assert_eq!(
        outcome(&json!({"behavior": "maybe", "updatedInput": {}})),
        Err("Tool permission request failed: behavior must be allow or deny".to_string())
    );
    let allow = r#""response":{"behavior":"allow","updatedInput":{}}"#;
    for (body, text) in [
        (
            format!(r#""subtype":"done",{allow}"#),
            "answer is neither success nor error",
        ),
        (
            format!(r#""subtype":null,{allow}"#),
            "answer is neither success nor error",
        ),
        (allow.to_string(), "answer without a subtype"),
        (
            r#""subtype":"success""#.to_string(),
            "the answer has no payload",
        ),
        (
            r#""subtype":"success","response":null"#.to_string(),
            "payload of a success must not be null",
        ),
        (
            format!(r#""subtype":"error",{allow}"#),
            "error answer without an error text",
        ),
        (
            format!(r#""subtype":"error","error":null,{allow}"#),
            "error answer without an error text",
        ),
        (
            r#""subtype":"error","error":"x","pending_permission_requests":null"#.to_string(),
            "pending_permission_requests must be a list of control requests",
        ),
        (
            r#""subtype":"error","error":"host is busy""#.to_string(),
            "host is busy",
        ),
    ] {
        let (mut b, id) = asked(config(), "Do", "{}");
        b.line(&format!(
            r#"{{"type":"control_response","response":{{"request_id":"{id}",{body}}}}}"#
        ));
        assert!(b.find_tool("t1").is_none(), "{body}");
        let (said, is_error) = tool_result(&b.records());
        assert_eq!(
            (said, is_error),
            (format!("Tool permission request failed: {text}"), true)
        );
    }
}

// covers: WIRE-PERM-002, WIRE-PERM-042, WIRE-PERM-044, WIRE-PERM-051
#[test]
fn everything_doubtful_denies() {
    let failed = |text: &str| Err(format!("Tool permission request failed: {text}"));
    assert_eq!(
        outcome(&json!({"behavior": "deny", "message": "not today"})),
        Err("not today".to_string())
    );
    for (payload, text) in [
        (json!("allow"), "the answer's payload is not an object"),
        (json!({}), "the answer has no behavior"),
        (
            json!({"behavior": ["allow"]}),
            "behavior must be allow or deny",
        ),
        (
            json!({"behavior": "allow", "updatedInput": null}),
            "the answer's updatedInput has the wrong type",
        ),
        (
            json!({"behavior": "allow", "updatedInput": []}),
            "the answer's updatedInput has the wrong type",
        ),
        (
            json!({"behavior": "allow", "updatedInput": {}, "toolUseID": null}),
            "the answer's toolUseID has the wrong type",
        ),
        (json!({"behavior": "deny"}), "the answer has no message"),
        (
            json!({"behavior": "deny", "message": 7}),
            "the answer's message has the wrong type",
        ),
        (
            json!({"behavior": "deny", "message": "x", "interrupt": null}),
            "the answer's interrupt has the wrong type",
        ),
    ] {
        assert_eq!(outcome(&payload), failed(text), "{payload}");
    }
}

// covers: WIRE-PERM-013, WIRE-PERM-043, DEC-13
#[test]
fn unknown_members_and_odd_classifications_change_nothing() {
    let (mut b, id) = asked(config(), "Do", "{}");
    b.line(&format!(
        r#"{{"type":"control_response","x":1,"response":{{"subtype":"success","y":2,"request_id":"{id}","response":{{"behavior":"allow","updatedInput":{{"open":{{"z":[null]}}}},"decisionClassification":7,"message":"m"}}}}}}"#
    ));
    assert_eq!(
        b.tool("t1").1.call.input.as_str(),
        r#"{"open":{"z":[null]}}"#
    );
}

// covers: WIRE-PERM-012
#[test]
fn the_alias_selects_and_the_canonical_name_wins() {
    let allow = r#""subtype":"success","response":{"behavior":"allow","updatedInput":{}}"#;
    for (names, runs) in [
        (r#""requestId":"ID""#, true),
        (r#""requestId":"other","request_id":"ID""#, true),
        (r#""request_id":"other","requestId":"ID""#, false),
    ] {
        let (mut b, id) = asked(config(), "Do", "{}");
        let names = names.replace("ID", &id);
        b.line(&format!(
            r#"{{"type":"control_response","response":{{{names},{allow}}}}}"#
        ));
        assert_eq!(b.find_tool("t1").is_some(), runs, "{names}");
    }
    let mut b = Bench::new(config());
    b.line(r#"{"type":"control_request","requestId":"a","request":{"subtype":"interrupt"}}"#);
    b.line(r#"{"type":"control_request","requestId":"b","request_id":"c","request":{"subtype":"interrupt"}}"#);
    assert_eq!(b.briefs(), ["ack a", "ack c"]);
}

// covers: WIRE-PERM-A05, WIRE-PERM-010, WIRE-PERM-072, DEC-49
#[test]
fn another_tool_id_still_selects_and_an_orphan_is_admitted_once() {
    let allow = |tool: &str| json!({"behavior": "allow", "updatedInput": {}, "toolUseID": tool});
    let orphans = |b: &Bench| {
        let is_orphan =
            |output: &&Output| matches!(output, Output::Event(Event::OrphanAnswer { .. }));
        b.outputs
            .iter()
            .filter(is_orphan)
            .cloned()
            .collect::<Vec<_>>()
    };
    let (mut b, id) = asked(
        Config {
            orphans: OrphanPolicy::AdmitOnce,
            ..config()
        },
        "Do",
        "{}",
    );
    b.respond(&id, &allow("toolu_other"));
    assert!(b.find_tool("t1").is_some());
    assert!(orphans(&b).is_empty());

    // As after a restart: nobody waits, and the call is not resolved.
    b.respond("req_of_another_life", &allow("toolu_old"));
    let admitted = orphans(&b);
    let [
        Output::Event(Event::OrphanAnswer {
            tool_use_id,
            payload,
        }),
    ] = admitted.as_slice()
    else {
        panic!("not one orphan answer but {admitted:?}")
    };
    assert_eq!(tool_use_id, "toolu_old");
    assert_eq!(payload.as_str(), allow("toolu_old").to_string());
    b.respond("req_of_another_life", &allow("toolu_old"));
    b.respond(
        "req_3",
        &json!({"behavior": "allow", "updatedInput": {}, "toolUseID": 7}),
    );
    b.respond("req_4", &json!({"behavior": "allow", "updatedInput": {}}));
    assert_eq!(orphans(&b).len(), 1);

    let mut b = Bench::new(config());
    b.respond("req_of_another_life", &allow("toolu_old"));
    assert!(orphans(&b).is_empty(), "the default ignores them");
    assert_eq!(
        b.diagnostics(),
        ["a control response matches no open request and was ignored"]
    );
}

// covers: ACC-04, WIRE-PERM-A06, WIRE-PERM-070, WIRE-PERM-071, WIRE-007, WIRE-011
#[test]
fn an_abort_cancels_once_and_a_late_answer_is_void() {
    let (mut b, id) = asked(config(), "Do", "{}");
    b.control("i1", "interrupt");
    let records = b.records();
    assert_eq!(
        records[0],
        json!({"type": "control_cancel_request", "request_id": id})
    );
    assert_eq!(
        records[1],
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": "i1"}})
    );
    let cancels = records
        .iter()
        .filter(|r| r["type"] == "control_cancel_request");
    assert_eq!((cancels.count(), b.session.pending_requests()), (1, 0));
    let (text, is_error) = tool_result(&records);
    assert!(is_error && text.starts_with("Cancelled:"), "{text}");

    // Late under its own id, and as an orphan that names the resolved call.
    let warned = b.diagnostics().len();
    b.allow(&id);
    b.respond(
        "req_x",
        &json!({"behavior": "allow", "updatedInput": {}, "toolUseID": "t1"}),
    );
    assert_eq!((b.briefs(), b.open.len()), (vec![], 0));
    assert_eq!(b.diagnostics().len(), warned, "known to be late");
}

// covers: ACC-07, WIRE-006, WIRE-PERM-060, WIRE-PERM-071
#[test]
fn the_same_answer_again_changes_nothing() {
    let (mut b, id) = asked(config(), "Do", "{}");
    let allow = json!({"behavior": "allow", "updatedInput": {}, "toolUseID": "t1"});
    b.respond(&id, &allow);
    b.respond(&id, &allow);
    b.deny(&id);
    b.tool_says("t1", "once");
    b.respond(&id, &allow);
    b.respond("req_x", &allow);
    b.says("done");
    b.respond(&id, &allow);
    assert_eq!(
        b.briefs(),
        [
            "state running",
            "tool_result t1",
            "assistant text",
            "result success",
            "state idle"
        ]
    );
    let starts = b
        .outputs
        .iter()
        .filter(|o| matches!(o, Output::Start(_, Request::Tool(_))));
    assert_eq!(starts.count(), 1);
    assert!(b.diagnostics().is_empty());
}

// covers: ACC-07, WIRE-007, WIRE-PERM-070, WIRE-PERM-071, WIRE-PERM-072
#[test]
fn a_late_answer_that_comes_twice_makes_no_second_result() {
    // The embedder takes orphans, so that only the memory of what was resolved
    // keeps a late answer from a second life.
    let orphans = OrphanPolicy::AdmitOnce;
    for interrupted in [false, true] {
        let (mut b, id) = asked(
            Config {
                orphans,
                ..config()
            },
            "Do",
            "{}",
        );
        if interrupted {
            b.control("i1", "interrupt");
        } else {
            b.allow(&id);
            b.tool_says("t1", "once");
            b.says("done");
        }
        b.records();
        let starts = b.outputs.len();
        let late = json!({"behavior": "allow", "updatedInput": {}, "toolUseID": "t1"});
        for id in [&*id, "req_of_another_life"] {
            b.respond(id, &late);
            b.respond(id, &late);
        }
        assert_eq!(b.briefs(), Vec::<String>::new());
        assert_eq!(
            b.outputs.len(),
            starts,
            "no run, no event, no word: {:?}",
            b.outputs.last()
        );
        let results = b.all_records().into_iter().map(|record| brief(&record));
        let results = results.filter(|brief| brief == "tool_result t1");
        assert_eq!(results.count(), 1);
    }
}

// covers: WIRE-PERM-042
#[test]
fn a_denial_may_end_the_turn() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.calls(&[
        ("t1", "Look", r#"{"file_path":"a"}"#),
        ("t2", "Do", "{}"),
        ("t3", "Do", "{}"),
    ]);
    b.records();
    let id = b.question("t2");
    b.respond(
        &id,
        &json!({"behavior": "deny", "message": "stop it", "interrupt": true}),
    );
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        [
            "cancel",
            "state running",
            "tool_result t2",
            "tool_result t1",
            "tool_result t3",
            "result error_during_execution",
            "state idle"
        ]
    );
    assert_eq!(records[0]["request_id"], json!(b.question("t3")));
    assert_eq!(
        records[2]["message"]["content"][0]["content"][0]["text"],
        "stop it"
    );
    assert_eq!(records[5]["stop_reason"], "cancelled");
    assert_eq!(
        records[5]["permission_denials"].as_array().map(Vec::len),
        Some(1)
    );
    assert!(b.open.is_empty(), "the running tool was stopped");
    let stopped = b.outputs.iter().filter(|o| matches!(o, Output::Cancel(_)));
    assert_eq!(stopped.count(), 1);
}

// covers: WIRE-PERM-060, DEC-12
#[test]
fn running_returns_with_the_last_answer() {
    let mut b = Bench::new(config());
    b.user("go");
    b.calls(&[("t1", "Do", "{}"), ("t2", "Do", "{}")]);
    b.records();
    let (one, two) = (b.question("t1"), b.question("t2"));
    b.deny(&two);
    assert_eq!(b.briefs(), ["tool_result t2"]);
    b.allow(&one);
    assert_eq!(b.briefs(), ["state running"]);
}

// covers: ACC-05, WIRE-008, DEC-14, DEC-37
#[test]
fn the_end_of_input_denies_open_and_later_questions() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", "{}"), ("t2", "Do", "{}")]);
    b.records();
    b.eof();
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        ["state running", "tool_result t1", "tool_result t2"]
    );
    for record in &records[1..] {
        let block = &record["message"]["content"][0];
        assert_eq!(
            (&block["content"][0]["text"], &block["is_error"]),
            (
                &json!(
                    "Tool permission request failed: the permission stream closed before an answer came."
                ),
                &json!(true)
            )
        );
    }
    assert_eq!(b.session.pending_requests(), 0);
    b.calls(&[("t3", "Do", "{}")]);
    assert_eq!(
        b.briefs(),
        ["assistant tool_use", "tool_result t3"],
        "nobody is asked any more"
    );
    b.says("end");
    let records = b.records();
    assert_eq!(
        records[1]["permission_denials"].as_array().map(Vec::len),
        Some(3)
    );
    assert_eq!(
        (brief(&records[2]), b.exit),
        ("state idle".to_string(), Some(0))
    );
}

// covers: WIRE-PERM-030, DEC-30
#[test]
fn what_a_host_writes_into_a_call_stays_between_it_and_the_tool() {
    let (mut b, id) = asked(config(), "Do", r#"{"command":"a"}"#);
    b.respond(
        &id,
        &json!({"behavior": "allow", "updatedInput": {"command": "b"}}),
    );
    let (effect, _) = b.tool("t1");
    b.done(effect, Answer::Tool(ToolOutcome::text("ok")));
    assert!(!String::from_utf8_lossy(&b.bytes).contains(r#""command":"b""#));
}
