//! Hooks that the host runs: what it is asked, and what follows from its answer,
//! or from none.

use crate::hooks::user_texts;
use agentx_conformance::session::{Bench, brief, reference, uuid};
use agentx_core::agent::Config;
use agentx_core::guard::Guard;
use agentx_core::tool::Access;
use serde_json::{Value, json};

/// One callback `h` for each of these events, with these members beside it.
pub(crate) fn hooks(events: &[&str], members: Value) -> Value {
    let mut group = json!({"hookCallbackIds": ["h"]});
    if let (Some(group), Value::Object(members)) = (group.as_object_mut(), members) {
        group.extend(members);
    }
    let events = events
        .iter()
        .map(|event| ((*event).to_string(), json!([group])));
    json!({"hooks": Value::Object(events.collect())})
}

/// A session of this configuration with callbacks for these events.
pub(crate) fn with_hooks(config: Config, events: &[&str], members: Value) -> Bench {
    let mut b = Bench::new(config);
    b.initialize(hooks(events, members));
    b.records();
    b
}

/// The same, with a prompt whose one call is `Do`.
fn called(events: &[&str], members: Value) -> Bench {
    let mut b = with_hooks(reference(), events, members);
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", r#"{"a":1}"#)]);
    b
}

/// What is special to an event.
pub(crate) fn special(event: &str, members: Value) -> Value {
    let mut of = json!({"hookEventName": event});
    if let (Some(of), Value::Object(members)) = (of.as_object_mut(), members) {
        of.extend(members);
    }
    json!({"hookSpecificOutput": of})
}

pub(crate) fn decides(word: &str) -> Value {
    let reason = format!("because {word}");
    special(
        "PreToolUse",
        json!({"permissionDecision": word, "permissionDecisionReason": reason}),
    )
}

fn decides_question(decision: Value) -> Value {
    special("PermissionRequest", json!({"decision": decision}))
}

/// The texts of all tool results.
pub(crate) fn result_texts(b: &Bench) -> Vec<String> {
    let records = b.all_records().into_iter();
    let results = records.filter(|record| record["type"] == "user");
    let text = |record: Value| {
        let text = &record["message"]["content"][0]["content"][0]["text"];
        text.as_str().unwrap_or_default().to_string()
    };
    results.map(text).collect()
}

/// The ids of requests that were taken back, in order.
fn cancelled(b: &Bench) -> Vec<String> {
    let records = b.all_records().into_iter();
    let cancels = records.filter(|record| record["type"] == "control_cancel_request");
    let id = |record: Value| {
        record["request_id"]
            .as_str()
            .unwrap_or_default()
            .to_string()
    };
    cancels.map(id).collect()
}

/// Answers the newest callback with an error.
fn errs(b: &mut Bench, text: &str) {
    let (id, _) = b.callbacks().pop().expect("a callback");
    let response = json!({"subtype": "error", "request_id": id, "error": text});
    b.line(&json!({"type": "control_response", "response": response}).to_string());
}

#[test]
fn a_callback_is_told_what_a_hook_is_told() {
    let mut b = called(
        &["PreToolUse", "PermissionRequest", "PostToolUse"],
        json!({}),
    );
    let (_, request) = b.callbacks().pop().expect("a callback");
    let base = |event: &str| {
        json!({"session_id": b.session.session_id(), "transcript_path": "", "cwd": "/repo",
            "permission_mode": "default", "hook_event_name": event, "tool_name": "Do",
            "tool_input": {"a": 1}, "tool_use_id": "t1"})
    };
    let asked = |input: Value| json!({"subtype": "hook_callback", "callback_id": "h", "input": input, "tool_use_id": "t1"});
    assert_eq!(request, asked(base("PreToolUse")));
    let text = String::from_utf8_lossy(&b.bytes).into_owned();
    assert!(text.contains(r#""request":{"subtype":"hook_callback","callback_id":"h","input":{"#));
    b.callback_says(&json!({}));
    let (_, request) = b.callbacks().pop().expect("a callback");
    let base = |event: &str| {
        json!({"session_id": b.session.session_id(), "transcript_path": "", "cwd": "/repo",
            "permission_mode": "default", "hook_event_name": event, "tool_name": "Do",
            "tool_input": {"a": 1}, "tool_use_id": "t1"})
    };
    assert_eq!(request, asked(base("PermissionRequest")));
    b.callback_says(&json!({}));
    b.allow(&b.question("t1"));
    b.tool_says("t1", "did it");
    let (_, request) = b.callbacks().pop().expect("a callback");
    let response = json!({"content": [{"type": "text", "text": "did it"}], "is_error": false});
    assert_eq!(request["input"]["tool_response"], response);
    // What is about no call names none.
    let mut b = with_hooks(reference(), &["UserPromptSubmit", "Stop"], json!({}));
    b.prompt(1, "hello");
    let (_, request) = b.callbacks().pop().expect("a callback");
    assert_eq!(request["input"]["prompt"], "hello");
    assert_eq!(request.get("tool_use_id"), None);
    b.callback_says(&json!({}));
    b.says("done");
    let (_, request) = b.callbacks().pop().expect("a callback");
    assert_eq!(request["input"]["stop_hook_active"], false);
}

// covers: DEC-31
#[test]
fn what_a_callback_says_of_a_call_decides_about_the_question() {
    for answer in [decides("allow"), json!({"decision": "approve"})] {
        let mut b = called(&["PreToolUse"], json!({}));
        assert!(b.questions().is_empty() && b.running().is_empty(), "waits");
        b.callback_says(&answer);
        assert_eq!((b.questions().len(), b.running()), (0, vec!["t1".into()]));
        assert_eq!(b.tool("t1").1.access, Access::Granted);
    }
    for (answer, text) in [
        (decides("deny"), "because deny"),
        (json!({"decision": "block", "reason": "no"}), "no"),
        (json!({"decision": "block"}), "A hook denied this call."),
    ] {
        let mut b = called(&["PreToolUse"], json!({}));
        b.callback_says(&answer);
        assert_eq!(result_texts(&b), [text]);
        assert!(b.running().is_empty() && b.questions().is_empty());
    }
    for answer in [json!({}), json!({"continue": true}), json!({"async": true})] {
        let mut b = called(&["PreToolUse"], json!({}));
        b.callback_says(&answer);
        assert_eq!((b.questions().len(), b.running().len()), (1, 0), "{answer}");
    }
    // Its ask forces a question about a call that would just run.
    let mut b = with_hooks(reference(), &["PreToolUse"], json!({}));
    b.user("go");
    b.calls(&[("t1", "Look", "{}")]);
    b.callback_says(&decides("ask"));
    let record = b.records().pop().expect("a question");
    assert_eq!(record["request"]["decision_reason"], "because ask");
    // Its input is taken, and judged like any other.
    let mut b = called(&["PreToolUse"], json!({}));
    b.callback_says(&special(
        "PreToolUse",
        json!({"permissionDecision": "allow",
        "updatedInput": {"b": 2}, "additionalContext": "careful"}),
    ));
    assert_eq!(b.tool("t1").1.call.input.as_str(), r#"{"b":2}"#);
    b.tool_says("t1", "ok");
    assert_eq!(user_texts(&b), ["go", "careful"]);
}

/// What a host does about the newest callback, or does not.
type Does = Box<dyn Fn(&mut Bench)>;

/// Every way to answer a call's callback that is no answer, and its text.
fn failures() -> Vec<(&'static str, Does)> {
    let says = |payload: Value| -> Does { Box::new(move |b| b.callback_says(&payload)) };
    let raw = |response: &'static str| -> Does {
        Box::new(move |b| {
            let (id, _) = b.callbacks().pop().expect("a callback");
            let response = response.replace("ID", &id);
            b.line(&format!(
                r#"{{"type":"control_response","response":{response}}}"#
            ));
        })
    };
    vec![
        (
            "the host answered with an error: it threw",
            Box::new(|b| errs(b, "it threw")),
        ),
        (
            "its permissionDecision is not one of allow, deny, ask",
            says(decides("Allow")),
        ),
        ("its answer is no JSON object", says(json!("allow"))),
        ("its answer is no JSON object", says(json!([]))),
        (
            "its hookEventName is not that of the event",
            says(special(
                "PostToolUse",
                json!({"permissionDecision": "allow"}),
            )),
        ),
        (
            "its answer is no JSON object",
            raw(r#"{"subtype":"success","request_id":"ID"}"#),
        ),
        (
            "payload of a success must not be null",
            raw(r#"{"subtype":"success","request_id":"ID","response":null}"#),
        ),
        (
            "answer is neither success nor error",
            raw(r#"{"subtype":"fine","request_id":"ID","response":{}}"#),
        ),
        (
            "error answer without an error text",
            raw(r#"{"subtype":"error","request_id":"ID"}"#),
        ),
        (
            "no answer came in time.",
            Box::new(|b| {
                b.wait(60_000);
                b.feed(agentx_core::agent::Input::Tick);
            }),
        ),
        (
            "the permission stream closed before an answer came.",
            Box::new(Bench::eof),
        ),
    ]
}

// covers: DEC-33, DEC-48, WIRE-PERM-002, WIRE-PERM-051, WIRE-009
#[test]
fn a_callback_that_fails_denies_a_call_unless_it_is_to_continue() {
    for (text, fail) in failures() {
        let mut b = called(&["PreToolUse"], json!({}));
        fail(&mut b);
        assert_eq!(
            result_texts(&b),
            [format!("a PreToolUse hook failed: {text}")]
        );
        assert!(b.running().is_empty() && b.questions().is_empty(), "{text}");
        let mut b = called(&["PreToolUse"], json!({"onFailure": "block"}));
        fail(&mut b);
        assert_eq!(result_texts(&b).len(), 1, "{text}");
        // No decision is no allow: the host is asked, where it can be.
        let mut b = called(&["PreToolUse"], json!({"onFailure": "continue"}));
        fail(&mut b);
        let ended = text.contains("closed");
        assert_eq!(b.questions().len(), usize::from(!ended), "{text}");
        assert!(b.running().is_empty(), "{text}");
        let text = text.trim_end_matches('.');
        let told = format!("a PreToolUse hook failed: {text}; it has no say");
        assert!(b.diagnostics().contains(&told.as_str()), "{text}");
    }
}

// covers: DEC-33, WIRE-PERM-002
#[test]
fn a_callback_that_fails_denies_a_question_and_refuses_a_prompt() {
    for on_failure in [json!({}), json!({"onFailure": "continue"})] {
        for (text, fail) in failures() {
            if text.contains("hookEventName") || text.contains("permissionDecision") {
                continue;
            }
            let mut b = called(&["PermissionRequest"], on_failure.clone());
            fail(&mut b);
            assert_eq!(result_texts(&b).len(), 1, "{text}");
            assert!(b.running().is_empty(), "{text}");
            let mut b = with_hooks(reference(), &["UserPromptSubmit"], on_failure.clone());
            b.prompt(1, "go");
            fail(&mut b);
            let records = b.records();
            let result = records.iter().find(|record| record["type"] == "result");
            let result = result.expect("the prompt is refused");
            let told = format!("a UserPromptSubmit hook failed: {text}");
            assert_eq!(result["errors"][0], told.as_str());
            assert_eq!(result["stop_reason"], "input_error");
            assert_eq!(result["prompt_uuid"], uuid(1));
        }
    }
}

// covers: DEC-33
#[test]
fn elsewhere_a_callback_that_fails_is_a_warning() {
    let mut b = called(&["PostToolUse", "Stop"], json!({}));
    b.allow(&b.question("t1"));
    b.tool_says("t1", "did it");
    errs(&mut b, "broken");
    assert_eq!(result_texts(&b), ["did it"]);
    b.says("done");
    errs(&mut b, "broken");
    let records = b.records();
    assert_eq!(brief(&records[records.len() - 2]), "result success");
    for event in ["PostToolUse", "Stop"] {
        let told = format!(
            "a {event} hook failed: the host answered with an error: broken; it has no say"
        );
        assert!(b.diagnostics().contains(&told.as_str()), "{event}");
    }
}

// covers: DEC-48, WIRE-007
#[test]
fn a_callback_has_its_own_time_or_a_minute_and_is_taken_back_once() {
    for (members, millis) in [
        (json!({}), 60_000),
        (json!({"timeout": null}), 60_000),
        (json!({"timeout": 2}), 2_000),
        (json!({"timeout": 0.25}), 250),
    ] {
        let mut b = called(&["PreToolUse"], members);
        let (id, _) = b.callbacks().pop().expect("a callback");
        b.wait(millis - 1);
        b.feed(agentx_core::agent::Input::Tick);
        assert!(result_texts(&b).is_empty());
        b.wait(1);
        b.feed(agentx_core::agent::Input::Tick);
        assert_eq!(result_texts(&b).len(), 1);
        assert_eq!(cancelled(&b), [&*id]);
        // What it says later means nothing.
        let before = b.all_records().len();
        b.respond(&id, &decides("allow"));
        assert_eq!(b.all_records().len(), before);
        assert!(b.running().is_empty() && b.diagnostics().is_empty());
    }
    // An answer that comes with the time counts as late.
    let mut b = called(&["PreToolUse"], json!({"timeout": 1}));
    b.wait(1_000);
    b.callback_says(&decides("allow"));
    assert_eq!((result_texts(&b).len(), b.running().len()), (1, 0));
}

// covers: WIRE-006, WIRE-PERM-010
#[test]
fn an_answer_is_for_the_request_it_names_and_counts_once() {
    let mut b = called(&["PreToolUse"], json!({}));
    b.respond("req_of_nobody", &decides("allow"));
    b.respond("t1", &decides("allow"));
    b.respond("h", &decides("allow"));
    assert!(b.running().is_empty(), "another id");
    b.callback_says(&decides("deny"));
    b.callback_says(&decides("allow"));
    assert!(b.running().is_empty(), "the second answer");
    assert_eq!(result_texts(&b), ["because deny"]);
    // The answers of two operations are not taken for one another.
    let mut b = called(&["PreToolUse"], json!({}));
    b.callback_says(&json!({"behavior": "allow", "updatedInput": {}}));
    assert!(b.running().is_empty(), "it says nothing a hook could say");
    b.respond(&b.question("t1"), &decides("allow"));
    assert!(
        b.running().is_empty(),
        "and that is no answer to a question"
    );
    assert_eq!(result_texts(&b).len(), 1);
    // Answers in any order reach their calls.
    let mut b = with_hooks(reference(), &["PreToolUse"], json!({}));
    b.user("go");
    b.calls(&[("t1", "Look", "{}"), ("t2", "Look", "{}")]);
    let asked = b.callbacks();
    b.respond(&asked[1].0, &decides("deny"));
    b.respond(&asked[0].0, &json!({}));
    assert_eq!(b.running(), ["t1"]);
}

// covers: WIRE-PERM-001, ACC-06
#[test]
fn a_callback_races_with_the_question_to_the_host() {
    let allow = decides_question(json!({"behavior": "allow", "updatedInput": {"b": 2}}));
    let deny = decides_question(json!({"behavior": "deny", "message": "no"}));
    // The callback is first.
    let mut b = called(&["PermissionRequest"], json!({}));
    let question = b.question("t1");
    b.records();
    b.callback_says(&allow);
    assert_eq!(b.briefs(), ["cancel", "state running"]);
    assert_eq!(cancelled(&b), [&*question]);
    b.deny(&question);
    assert_eq!(b.tool("t1").1.call.input.as_str(), r#"{"b":2}"#);
    // The host is first; the callback may still answer, and changes nothing.
    let mut b = called(&["PermissionRequest"], json!({}));
    b.deny(&b.question("t1"));
    b.callback_says(&allow);
    assert_eq!(result_texts(&b), ["no"]);
    assert!(b.running().is_empty() && cancelled(&b).is_empty());
    let mut b = called(&["PermissionRequest"], json!({}));
    b.allow(&b.question("t1"));
    b.callback_says(&deny);
    assert_eq!(b.running(), ["t1"]);
    // It passes.
    let mut b = called(&["PermissionRequest"], json!({}));
    b.callback_says(&json!({}));
    assert!(b.running().is_empty() && result_texts(&b).is_empty());
    b.allow(&b.question("t1"));
    assert_eq!(b.running(), ["t1"]);
    // It ends the turn, as a host may.
    let mut b = called(&["PermissionRequest"], json!({}));
    b.callback_says(&decides_question(
        json!({"behavior": "deny", "message": "stop", "interrupt": true}),
    ));
    assert_eq!(result_texts(&b), ["stop"]);
    let briefs = b.briefs();
    let end = &briefs[briefs.len() - 2..];
    assert_eq!(end, ["result error_during_execution", "state idle"]);
}

// covers: DEC-37, WIRE-011, WIRE-PERM-070
#[test]
fn an_interrupt_takes_back_every_request_in_order_before_it_is_acknowledged() {
    let mut b = with_hooks(
        reference(),
        &["PreToolUse", "PermissionRequest", "PostToolUse"],
        json!({}),
    );
    b.user("go");
    b.calls(&[
        ("t1", "Do", "{}"),
        ("t2", "Look", "{}"),
        ("t3", "Change", r#"{"file_path":"x"}"#),
    ]);
    let first = b.callbacks();
    b.respond(&first[0].0, &json!({}));
    b.respond(&first[1].0, &json!({}));
    b.tool_says("t2", "seen");
    let open: Vec<String> = b
        .all_records()
        .into_iter()
        .filter(|record| record["type"] == "control_request")
        .filter_map(|record| record["request_id"].as_str().map(str::to_string))
        .filter(|id| *id != first[0].0 && *id != first[1].0)
        .collect();
    assert_eq!(
        open.len(),
        4,
        "t3, the question and the hook of t1, the result of t2"
    );
    b.records();
    b.control("r1", "interrupt");
    let briefs = b.briefs();
    assert_eq!(briefs[..4], ["cancel"; 4]);
    assert_eq!(briefs[4..6], ["ack r1", "state running"]);
    assert_eq!(cancelled(&b), open);
    let texts = result_texts(&b);
    assert_eq!(texts.len(), 3);
    assert!(
        texts.contains(&"seen".to_string()),
        "a tool's own result is kept"
    );
    // None of them comes back.
    let before = b.all_records().len();
    for id in open {
        b.respond(&id, &decides("allow"));
    }
    assert_eq!(b.all_records().len(), before);
    assert!(b.running().is_empty());
    b.prompt(2, "next");
    assert_eq!(b.briefs(), ["system/init", "state running"]);
}

// covers: DEC-37
#[test]
fn an_interrupt_ends_a_prompt_that_waits_for_a_callback() {
    let mut b = with_hooks(
        reference(),
        &["UserPromptSubmit", "SessionStart"],
        json!({}),
    );
    b.prompt(1, "go");
    assert!(b.briefs().is_empty(), "the session's own hook comes first");
    b.control("r1", "interrupt");
    assert_eq!(b.briefs(), ["cancel", "ack r1", "callback h"]);
    assert!(b.diagnostics().is_empty());
    b.control("r2", "interrupt");
    let briefs = b.briefs();
    assert_eq!(
        briefs,
        ["cancel", "ack r2", "result error_during_execution"]
    );
    b.eof();
    assert_eq!(b.exit, Some(1));
}

// covers: DEC-37, WIRE-008, ACC-05
#[test]
fn the_end_of_the_input_denies_what_waits_for_callbacks() {
    let mut b = with_hooks(reference(), &["PreToolUse", "PermissionRequest"], json!({}));
    b.user("go");
    b.calls(&[("t1", "Do", "{}"), ("t2", "Do", "{}")]);
    let first = b.callbacks();
    b.respond(&first[0].0, &json!({}));
    b.records();
    b.eof();
    let briefs = b.briefs();
    assert_eq!(briefs[0], "tool_result t2", "its callback stands first");
    assert_eq!(briefs[1..], ["state running", "tool_result t1"]);
    assert!(b.running().is_empty());
    // After it nobody is asked, and each callback fails by its own rule.
    let asked = b.all_records().len();
    b.calls(&[("t3", "Look", "{}")]);
    assert_eq!(result_texts(&b).len(), 3);
    assert!(b.running().is_empty());
    b.says("done");
    assert_eq!(b.exit, Some(0));
    let late = b.all_records().split_off(asked);
    assert!(
        late.iter()
            .all(|record| record["type"] != "control_request")
    );
}

// covers: DEC-14, DEC-33, DEC-37
#[test]
fn callbacks_that_are_due_after_the_end_of_the_input_hang_nothing() {
    let events = [
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "Stop",
        "SessionEnd",
    ];
    // A prompt that was not submitted yet is refused.
    let mut b = with_hooks(reference(), &events, json!({}));
    b.prompt(1, "go");
    b.prompt(2, "go");
    b.eof();
    let briefs = b.briefs();
    assert_eq!(briefs, ["result error_during_execution"; 2]);
    assert_eq!(b.exit, Some(1));
    // One that runs goes on to its end.
    let mut b = with_hooks(reference(), &events[2..], json!({}));
    b.prompt(1, "go");
    b.eof();
    b.calls(&[("t1", "Look", "{}")]);
    b.tool_says("t1", "seen");
    assert_eq!(result_texts(&b), ["seen"]);
    b.says("done");
    assert_eq!(b.exit, Some(0));
    let failed = "hook failed: the input has ended, and nobody can answer; it has no say";
    // That nobody is asked at the end is nothing to warn of.
    let told: Vec<_> = events[2..]
        .iter()
        .filter(|event| **event != "SessionEnd")
        .map(|event| format!("a {event} {failed}"))
        .collect();
    assert_eq!(b.diagnostics(), told);
    // Nor at the end that a signal makes.
    let mut b = called(&["PreToolUse", "SessionEnd"], json!({}));
    b.shutdown(143);
    assert_eq!(b.exit, Some(143));
    assert_eq!(cancelled(&b).len(), 1);
}

#[test]
fn a_hook_may_end_the_turn_behind_the_step_it_is_at() {
    let stop = json!({"continue": false, "stopReason": "enough"});
    // Before a call: the call does not run, those beside it do.
    let mut b = with_hooks(reference(), &["PreToolUse"], json!({}));
    b.prompt(1, "go");
    b.calls(&[("t1", "Look", "{}"), ("t2", "Look", "{}")]);
    let asked = b.callbacks();
    b.respond(&asked[0].0, &stop);
    b.respond(&asked[1].0, &json!({}));
    assert_eq!(result_texts(&b), ["enough"]);
    b.records();
    b.tool_says("t2", "seen");
    let records = b.records();
    let briefs: Vec<_> = records.iter().map(brief).collect();
    assert_eq!(briefs, ["tool_result t2", "result success", "state idle"]);
    assert_eq!(
        (&records[1]["result"], &records[1]["num_turns"]),
        (&json!("enough"), &json!(1))
    );
    assert!(
        b.diagnostics()
            .contains(&"a PreToolUse hook ends the turn: enough")
    );
    // The next prompt is not concerned, and knows what was.
    b.prompt(2, "more");
    b.says("fine");
    assert_eq!(
        b.briefs()[..4],
        [
            "system/init",
            "state running",
            "assistant text",
            "result success"
        ]
    );
    // Behind a call: its result stands.
    let mut b = called(&["PostToolUse"], json!({}));
    b.allow(&b.question("t1"));
    b.tool_says("t1", "did it");
    b.callback_says(&json!({"continue": false}));
    assert_eq!(result_texts(&b), ["did it"]);
    let records = b.records();
    let result = &records[records.len() - 2];
    assert_eq!(result["result"], "A hook ended this turn.");
    // A question: the call is denied.
    let mut b = called(&["PermissionRequest"], json!({}));
    b.callback_says(&stop);
    assert_eq!(result_texts(&b), ["enough"]);
    let records = b.records();
    assert_eq!(records[records.len() - 2]["result"], "enough");
    // A prompt does not begin.
    let mut b = with_hooks(reference(), &["UserPromptSubmit"], json!({}));
    b.prompt(1, "go");
    b.callback_says(&stop);
    assert_eq!(b.records().pop().expect("a result")["errors"][0], "enough");
    // At the end it beats those that want to go on.
    let group = json!([{"hookCallbackIds": ["a", "b"]}]);
    let mut b = Bench::new(reference());
    b.initialize(json!({"hooks": {"Stop": group}}));
    b.prompt(1, "go");
    b.says("done");
    let asked = b.callbacks();
    b.respond(
        &asked[asked.len() - 2].0,
        &json!({"decision": "block", "reason": "go on"}),
    );
    b.respond(&asked[asked.len() - 1].0, &stop);
    assert_eq!(
        b.records().pop().map(|record| brief(&record)).as_deref(),
        Some("state idle")
    );
}

#[test]
fn what_callbacks_say_at_other_events() {
    // A prompt is refused, or gets a context.
    let mut b = with_hooks(reference(), &["UserPromptSubmit"], json!({}));
    b.prompt(1, "go");
    b.callback_says(&json!({"decision": "block", "reason": "not today"}));
    assert_eq!(
        b.records().pop().expect("a result")["errors"][0],
        "not today"
    );
    b.prompt(2, "go");
    b.callback_says(&special(
        "UserPromptSubmit",
        json!({"additionalContext": "it rains"}),
    ));
    assert_eq!(user_texts(&b), ["it rains", "go"]);
    // A result gets another text, a context, and a reason.
    let mut b = called(&["PostToolUse"], json!({}));
    b.allow(&b.question("t1"));
    b.tool_says("t1", "did it");
    let mut answer = special(
        "PostToolUse",
        json!({"additionalContext": "look", "updatedToolOutput": "did \"that\""}),
    );
    answer["decision"] = json!("block");
    answer["reason"] = json!("wrong");
    answer["systemMessage"] = json!("mind the step");
    b.callback_says(&answer);
    assert_eq!(result_texts(&b), ["did \"that\""]);
    assert_eq!(user_texts(&b), ["go", "look\nwrong"]);
    assert!(
        b.diagnostics()
            .contains(&"a PostToolUse hook says: mind the step")
    );
    // A turn goes on.
    for answer in [
        json!({"decision": "block", "reason": "not yet"}),
        special("Stop", json!({"additionalContext": "not yet"})),
    ] {
        let mut b = with_hooks(reference(), &["Stop"], json!({}));
        b.prompt(1, "go");
        b.says("done");
        b.callback_says(&answer);
        assert_eq!(user_texts(&b), ["go", "not yet"]);
    }
}

#[test]
fn a_result_that_a_hook_wrote_has_the_bound_of_any_other() {
    let mut config = reference();
    config.limits.tool_output_chars = 4;
    let mut b = with_hooks(config, &["PostToolUse"], json!({}));
    b.user("go");
    b.calls(&[("t1", "Look", "{}")]);
    b.tool_says("t1", "x");
    b.callback_says(&special(
        "PostToolUse",
        json!({"updatedToolOutput": {"a": ["é"]}}),
    ));
    assert_eq!(result_texts(&b), ["{\"a\"\n[… 8 bytes cut]"]);
}

// covers: DEC-34
#[test]
fn a_callback_that_would_be_told_too_much_fails_and_sees_no_part() {
    let mut config = reference();
    config.limits.reference_record_bytes = 2_000;
    let mut b = with_hooks(config, &["UserPromptSubmit", "PreToolUse"], json!({}));
    b.prompt(1, &"x".repeat(1_000));
    let told = "a UserPromptSubmit hook failed: what it would be told does not fit one record";
    assert_eq!(b.records().pop().expect("a result")["errors"][0], told);
    b.prompt(2, "go");
    b.callback_says(&json!({}));
    let input = json!({"a": "y".repeat(800)}).to_string();
    b.calls(&[("t1", "Look", &input), ("t2", "Look", "{}")]);
    assert_eq!(b.callbacks().len(), 2, "the prompt's, and that of t2");
    let told = "a PreToolUse hook failed: what it would be told does not fit one record";
    assert_eq!(result_texts(&b), [told]);
    assert!(b.running().is_empty());
}

// covers: DEC-30, DEC-50
#[test]
fn an_answer_that_holds_a_credential_is_not_echoed() {
    let key = "key-of-the-host";
    let mut config = Config {
        credentials: Guard::new([key.to_string()]).expect("a guard"),
        ..reference()
    };
    config.replay_user_messages = true;
    let mut b = with_hooks(config, &["UserPromptSubmit"], json!({}));
    b.prompt(1, "go");
    b.callback_says(&special(
        "UserPromptSubmit",
        json!({"additionalContext": key}),
    ));
    assert_eq!(b.exit, None, "the output is open");
    let echoes = b.all_records().into_iter();
    let echoes = echoes.filter(|record| record["type"] == "control_response");
    assert_eq!(echoes.count(), 1, "the answer to initialize alone");
    b.says("done");
    assert_eq!(b.briefs().pop().as_deref(), Some("state idle"));
}

// covers: DEC-30
#[test]
fn words_of_a_callback_carry_no_credential_and_no_part_of_one() {
    let key = "key-of-the-host";
    let mut config = Config {
        credentials: Guard::new([key.to_string()]).expect("a guard"),
        ..reference()
    };
    config.hooks.records = true;
    // Every cut goes through it.
    config.limits.hook_output_chars = 60;
    config.limits.tool_output_chars = 54;
    let before = |count: usize| "x".repeat(count) + key;
    let mut b = Bench::new(config);
    let mut events = hooks(&["PreToolUse", "PostToolUse", &before(120)], json!({}));
    events["hooks"]["PreToolUse"][0]["matcher"] = json!(format!("{key}("));
    b.initialize(events);
    b.patterns_match(&[None]);
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", "{}"), ("t2", "Look", "{}")]);
    let mut answer = decides("deny");
    answer["a"] = json!(before(50));
    answer["continue"] = json!(false);
    answer["stopReason"] = json!(key);
    answer["reason"] = json!(key);
    answer["systemMessage"] = json!(key);
    answer["hookSpecificOutput"]["permissionDecisionReason"] = json!(key);
    let asked = b.callbacks();
    b.respond(&asked[0].0, &answer);
    b.respond(&asked[1].0, &json!({}));
    b.tool_says("t2", "seen");
    b.callback_says(&special(
        "PostToolUse",
        json!({"updatedToolOutput": before(50)}),
    ));
    assert!(!String::from_utf8_lossy(&b.bytes).contains("key-"));
    assert_eq!(b.diagnostics().len(), 4, "{:?}", b.diagnostics());
    assert!(b.diagnostics().iter().all(|told| !told.contains("key-")));
    let records = b.records();
    assert_eq!(records[records.len() - 2]["result"], "[redacted]");
}
