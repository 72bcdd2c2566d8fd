//! Hooks of a session: when each is told, what it is told, and what follows.

use agentx_conformance::session::{Bench, brief, hooked, printed_by_hook, stored, tool, uuid};
use agentx_core::agent::{Config, Output};
use agentx_core::guard::Guard;
use agentx_core::hook::{HookEnd, HookEvent, HookReport, Matcher};
use agentx_core::model::Message;
use agentx_core::policy::{Layer, Settings};
use agentx_core::schema::permission::PermissionMode;
use agentx_core::store::Beginning;
use agentx_core::tool::{Access, ToolClass};
use serde_json::{Value, json};
use std::time::Duration;

use HookEvent::{
    PermissionRequest, PostToolUse, PreToolUse, SessionEnd, SessionStart, Stop, UserPromptSubmit,
};

/// A prompt whose one call is `Do`, with these hooks, which wait.
pub(crate) fn called(config: Config) -> Bench {
    let mut b = Bench::new(config);
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", r#"{"a":1}"#)]);
    b.records();
    b
}

fn denied(status: u8, stderr: &str) -> HookReport {
    HookReport {
        end: HookEnd::Exited(status),
        answer: "not read".to_string(),
        stdout: String::new(),
        stderr: stderr.to_string(),
    }
}

fn end_hook(b: &mut Bench, report: HookReport) {
    let id = b.hooks()[0].0;
    b.hook_ends(id, report);
}

/// The texts of the tool results among these records.
fn result_texts(records: &[Value]) -> Vec<String> {
    let results = records.iter().filter(|record| record["type"] == "user");
    let text = |record: &Value| record["message"]["content"][0]["content"][0]["text"].clone();
    results
        .map(|record| text(record).as_str().unwrap_or_default().to_string())
        .collect()
}

/// The user messages of the open model request.
pub(crate) fn user_texts(b: &Bench) -> Vec<String> {
    let history = b.model().1.history.iter();
    let texts = history.filter_map(|message| match &**message {
        Message::User(parts) => Some(parts.join("\n")),
        _ => None,
    });
    texts.collect()
}

fn with_rule(mut config: Config, kind: &str, rule: &str) -> Config {
    let text = json!({"permissions": {kind: [rule]}}).to_string();
    let settings = Settings::read(text.as_bytes()).expect("settings");
    config.settings.set(Layer::User, settings);
    config
}

// covers: DEC-31
#[test]
fn what_a_pre_tool_use_hook_says_decides_about_the_question() {
    // Its allow settles the call without a question.
    let mut b = called(hooked(&[PreToolUse]));
    assert!(b.questions().is_empty() && b.running().is_empty(), "waits");
    b.hook_says(r#"{"decision":"allow"}"#);
    assert_eq!((b.questions().len(), b.running()), (0, vec!["t1".into()]));
    assert_eq!(b.tool("t1").1.access, Access::Granted);
    // Its ask forces a question about a call that would just run.
    let mut b = Bench::new(hooked(&[PreToolUse]));
    b.user("go");
    b.calls(&[("t1", "Look", "{}")]);
    b.records();
    b.hook_says(r#"{"decision":"ask","message":"look closer"}"#);
    let records = b.records();
    let briefs: Vec<_> = records.iter().map(brief).collect();
    assert_eq!(
        briefs,
        ["system/hook_response", "state requires_action", "ask t1"]
    );
    assert_eq!(records[2]["request"]["decision_reason"], "look closer");
    // Passing leaves it to rules and mode.
    let mut b = called(hooked(&[PreToolUse]));
    b.hook_says("");
    assert_eq!(b.questions().len(), 1);
}

// covers: DEC-31, DEC-33, WIRE-PERM-002, RT-HOOK-001
#[test]
fn a_pre_tool_use_hook_denies_by_its_word_its_status_or_its_failure() {
    let failed = "a PreToolUse hook failed: ";
    for (report, text) in [
        (
            printed_by_hook(r#"{"decision":"deny","message":"not here"}"#),
            "not here".to_string(),
        ),
        (
            printed_by_hook(r#"{"decision":"deny"}"#),
            "A hook denied this call.".to_string(),
        ),
        (denied(2, " on stderr\n"), "on stderr".to_string()),
        (denied(1, "x"), format!("{failed}it ended with status 1")),
        (
            HookReport::failed("it is gone"),
            format!("{failed}it is gone"),
        ),
        (
            printed_by_hook("yes"),
            format!("{failed}it printed something else than one JSON object"),
        ),
        (
            printed_by_hook(r#"{"decison":"allow"}"#),
            format!("{failed}its answer has the unknown member \"decison\""),
        ),
        (
            printed_by_hook(r#"{"decision":"approve"}"#),
            format!("{failed}its decision is not one of allow, ask, deny, pass"),
        ),
    ] {
        let mut b = called(hooked(&[PreToolUse]));
        end_hook(&mut b, report);
        let records = b.records();
        assert_eq!(result_texts(&records), [text]);
        assert!(b.running().is_empty() && b.questions().is_empty());
        b.says("ok");
        let denials = &b.records()[1]["permission_denials"];
        assert_eq!(denials[0]["tool_use_id"], "t1");
    }
}

// covers: DEC-31
#[test]
fn a_rule_that_denies_beats_the_hook_that_allows() {
    for event in [PreToolUse, PermissionRequest] {
        let mut b = called(with_rule(hooked(&[event]), "deny", "Do"));
        if event == PreToolUse {
            b.hook_says(r#"{"decision":"allow"}"#);
        }
        assert!(b.hooks().is_empty());
        assert_eq!(
            result_texts(&b.all_records()),
            ["A permission rule denies this call."]
        );
    }
    let plan = Config {
        permission_mode: PermissionMode::Plan,
        ..hooked(&[PreToolUse])
    };
    let mut b = called(plan);
    b.hook_says(r#"{"decision":"allow"}"#);
    assert_eq!(
        result_texts(&b.records()),
        ["Plan mode refuses tools that are not read-only."]
    );
    // Where a mode only avoids questions, there is none to avoid.
    let quiet = Config {
        permission_mode: PermissionMode::DontAsk,
        ..hooked(&[PreToolUse])
    };
    let mut b = called(quiet.clone());
    b.hook_says(r#"{"decision":"allow"}"#);
    assert_eq!(b.running(), ["t1"]);
    let mut b = called(quiet);
    b.hook_says(r#"{"decision":"ask"}"#);
    assert!(b.questions().is_empty() && b.running().is_empty());
}

// covers: DEC-31
#[test]
fn where_a_rule_may_deny_a_hook_s_allow_is_not_enough() {
    let mut config = with_rule(hooked(&[PreToolUse]), "deny", "Bash(rm:*)");
    config.tools = [tool("Bash", ToolClass::Execute)].into();
    let asked = |command: &str| {
        let mut b = Bench::new(config.clone());
        b.user("go");
        b.calls(&[("t1", "Bash", &json!({"command": command}).to_string())]);
        b.hook_says(r#"{"decision":"allow"}"#);
        (b.questions().len(), b.running().len())
    };
    assert_eq!(asked("ls"), (0, 1));
    assert_eq!(asked("rm -r x"), (0, 0));
    assert_eq!(asked("eval \"$x\""), (1, 0), "nobody can tell");
}

// covers: DEC-18
#[test]
fn an_input_that_a_hook_wrote_is_checked_and_judged_again() {
    let allow = |input: &str| format!(r#"{{"decision":"allow","updatedInput":{input}}}"#);
    for event in [PreToolUse, PermissionRequest] {
        // It replaces the input whole.
        let mut b = called(hooked(&[event]));
        b.hook_says(&allow(r#"{"b":2}"#));
        assert_eq!(
            b.tool("t1").1.call.input.as_str(),
            r#"{"b":2}"#,
            "{event:?}"
        );
        // What no call of a model may hold is refused, and is no denial.
        let guarded = Config {
            credentials: Guard::new(["sk-secret-key"]).expect("one key"),
            ..hooked(&[event])
        };
        let mut b = called(guarded);
        b.hook_says(&allow(r#"{"b":"sk-secret-key"}"#));
        let text = format!(
            "A {} hook rewrote the input of this call: The arguments of this call hold a credential.",
            event.as_str()
        );
        assert_eq!(result_texts(&b.records()), [text]);
        assert!(b.running().is_empty());
        // A rule that denies the new input denies it.
        let mut config = with_rule(hooked(&[event]), "deny", "Change(/repo/secret/**)");
        config.permission_mode = PermissionMode::Default;
        let mut b = Bench::new(config);
        b.user("go");
        b.calls(&[("t1", "Change", r#"{"file_path":"/repo/a"}"#)]);
        b.records();
        b.hook_says(&allow(r#"{"file_path":"/repo/secret/a"}"#));
        assert_eq!(
            result_texts(&b.records()),
            ["A permission rule denies this call."],
            "{event:?}"
        );
    }
    // The host is asked about the new input, and may keep it.
    let mut b = called(hooked(&[PreToolUse]));
    b.hook_says(r#"{"updatedInput":{"b":2}}"#);
    let id = b.question("t1");
    let asked = b.records();
    assert_eq!(asked[2]["request"]["input"], json!({"b": 2}));
    b.allow(&id);
    assert_eq!(b.tool("t1").1.call.input.as_str(), r#"{"b":2}"#);
}

// covers: WIRE-PERM-001, WIRE-PERM-023, WIRE-PERM-070, DEC-43, ACC-06
#[test]
fn a_hook_that_wins_withdraws_the_question() {
    let mut b = called(hooked(&[PermissionRequest]));
    let id = b.question("t1");
    let mut b2 = Bench::new(hooked(&[PermissionRequest]));
    b2.prompt(1, "go");
    b2.calls(&[("t1", "Do", r#"{"a":1}"#)]);
    assert_eq!(
        b2.briefs()[2..],
        ["state requires_action", "ask t1", "system/hook_started"]
    );
    b.hook_says(r#"{"decision":"deny","message":"no"}"#);
    let records = b.records();
    let briefs: Vec<_> = records.iter().map(brief).collect();
    assert_eq!(
        briefs,
        [
            "system/hook_response",
            "cancel",
            "state running",
            "tool_result t1"
        ]
    );
    let response = &records[0];
    assert_eq!(response["hook_name"], "PermissionRequest:Do");
    assert_eq!(response["hook_event"], "PermissionRequest");
    assert_eq!(
        (&response["exit_code"], &response["outcome"]),
        (&json!(0), &json!("success"))
    );
    assert_eq!(records[1]["request_id"], id);
    // The host's late answer means nothing.
    b.allow(&id);
    assert!(b.records().is_empty() && b.running().is_empty());
}

// covers: WIRE-PERM-001, WIRE-PERM-060
#[test]
fn a_hook_that_loses_ends_in_peace_and_changes_nothing() {
    let mut b = called(hooked(&[PermissionRequest]));
    let id = b.question("t1");
    b.allow(&id);
    assert_eq!(b.briefs(), ["state running"]);
    assert_eq!(b.hooks().len(), 1, "it runs on");
    b.tool_says("t1", "done");
    b.says("ok");
    b.records();
    b.prompt(2, "more");
    b.control("i", "interrupt");
    assert_eq!(b.hooks().len(), 1, "and is not stopped with another turn");
    b.records();
    b.hook_says(r#"{"decision":"deny"}"#);
    assert_eq!(b.briefs(), ["system/hook_response"]);
    b.eof();
    assert_eq!(b.exit, Some(1));
}

// covers: DEC-37, WIRE-PERM-070
#[test]
fn an_interrupt_stops_the_hooks_of_the_turn_before_its_results() {
    let mut b = called(hooked(&[PermissionRequest]));
    b.control("i", "interrupt");
    assert_eq!(
        b.briefs(),
        [
            "cancel",
            "ack i",
            "state running",
            "system/hook_response",
            "tool_result t1",
            "result error_during_execution",
            "state idle"
        ]
    );
    assert!(b.open.is_empty());
    let cancelled = b.all_records();
    let response = cancelled.iter().find(|r| r["subtype"] == "hook_response");
    assert_eq!(response.expect("a record")["outcome"], "cancelled");
}

// covers: WIRE-PERM-030, DEC-31
#[test]
fn updates_of_a_hook_that_allows_are_applied() {
    let rule = json!({"type": "addRules", "rules": [{"toolName": "Do"}], "behavior": "allow", "destination": "session"});
    let answer = json!({"decision": "allow", "updatedPermissions": [rule]}).to_string();
    let mut b = called(hooked(&[PermissionRequest]));
    b.hook_says(&answer);
    b.tool_says("t1", "done");
    b.calls(&[("t2", "Do", "{}")]);
    assert_eq!(b.running(), ["t2"], "the rule holds");
}

#[test]
fn without_a_host_the_hooks_decide_or_nobody_does() {
    let alone = Config {
        host_answers: false,
        ..hooked(&[PermissionRequest])
    };
    let mut b = called(alone.clone());
    b.hook_says(r#"{"decision":"allow"}"#);
    assert_eq!(b.running(), ["t1"]);
    let mut b = called(alone);
    b.hook_says("");
    let records = b.records();
    assert_eq!(
        result_texts(&records),
        ["This call needs permission, and nobody can be asked."]
    );
    let states = records
        .iter()
        .map(brief)
        .any(|brief| brief.starts_with("state"));
    assert!(!states, "no question, no state");
}

// covers: DEC-14, WIRE-008
#[test]
fn after_the_end_of_input_a_question_is_denied_without_hooks() {
    let mut b = Bench::new(hooked(&[PermissionRequest]));
    b.user("go");
    b.eof();
    b.calls(&[("t1", "Do", "{}")]);
    assert!(b.hooks().is_empty());
    assert_eq!(
        result_texts(&b.records()),
        ["Tool permission request failed: the permission stream is closed."]
    );
}

#[test]
fn a_hook_reads_what_its_event_is_about() {
    let all = [PreToolUse, PostToolUse, UserPromptSubmit, Stop];
    let mut b = Bench::new(hooked(&all));
    b.prompt(1, "go");
    let id = b.session.session_id().to_string();
    let base = |event: &str, more: Value| {
        let mut base = json!({"session_id": id, "transcript_path": "/home/sessions.db", "cwd": "/repo", "permission_mode": "default", "hook_event_name": event});
        if let (Some(base), Value::Object(more)) = (base.as_object_mut(), more) {
            base.extend(more);
        }
        base
    };
    let read = |b: &Bench| -> Value {
        let request = b.hooks()[0].1;
        assert_eq!(
            (&*request.directory, request.timeout),
            ("/repo", Duration::from_secs(60))
        );
        serde_json::from_str(request.input.as_str()).expect("JSON")
    };
    assert_eq!(read(&b), base("UserPromptSubmit", json!({"prompt": "go"})));
    b.hook_says("");
    b.calls(&[("t1", "Look", r#"{"n":1.50}"#)]);
    let tool = json!({"tool_name": "Look", "tool_input": {"n": 1.50}, "tool_use_id": "t1"});
    assert_eq!(read(&b), base("PreToolUse", tool.clone()));
    let text = b.hooks()[0].1.input.as_str().to_string();
    assert!(text.contains(r#""tool_input":{"n":1.50}"#), "{text}");
    b.hook_says("");
    b.tool_says("t1", "seen");
    let mut after = tool;
    after["tool_response"] =
        json!({"content": [{"type": "text", "text": "seen"}], "is_error": false});
    assert_eq!(read(&b), base("PostToolUse", after));
    b.hook_says("");
    b.says("ok");
    assert_eq!(read(&b), base("Stop", json!({"stop_hook_active": false})));
    b.hook_says(r#"{"continue":true}"#);
    b.says("ok");
    assert_eq!(read(&b), base("Stop", json!({"stop_hook_active": true})));
}

#[test]
fn a_matcher_chooses_by_the_name_of_the_tool() {
    let mut config = hooked(&[PreToolUse, PreToolUse]);
    let mut hooks = config.hooks.list.to_vec();
    hooks[0].matcher = Matcher::Tools(["Look".into()].into());
    config.hooks.list = hooks.into();
    let b = called(config);
    let places: Vec<_> = b.hooks().iter().map(|(_, hook)| hook.hook).collect();
    assert_eq!(places, [1]);
}

// covers: DEC-26
#[test]
fn a_result_waits_for_the_hooks_behind_its_tool_and_is_never_lost() {
    let mut b = called(hooked(&[PostToolUse]));
    let id = b.question("t1");
    b.allow(&id);
    b.tool_says("t1", "done");
    assert_eq!(b.briefs(), ["state running", "system/hook_started"]);
    b.hook_says(r#"{"additionalContext":"and formatted"}"#);
    assert_eq!(b.briefs(), ["system/hook_response", "tool_result t1"]);
    assert_eq!(user_texts(&b), ["go", "and formatted"]);
    // Interrupted while a hook looks at it, the result is what it was.
    b.calls(&[("t2", "Do", "{}")]);
    let id = b.question("t2");
    b.allow(&id);
    b.tool_says("t2", "done, too");
    b.records();
    b.control("i", "interrupt");
    assert_eq!(result_texts(&b.records()), ["done, too"]);
    assert!(b.open.is_empty());
}

#[test]
fn a_denial_behind_a_tool_is_news_for_the_model() {
    let mut b = called(hooked(&[PostToolUse]));
    let id = b.question("t1");
    b.allow(&id);
    b.tool_says("t1", "done");
    end_hook(&mut b, denied(2, "lint: unused variable"));
    let records = b.records();
    assert_eq!(result_texts(&records), ["done"]);
    assert_eq!(user_texts(&b), ["go", "lint: unused variable"]);
}

// covers: DEC-33
#[test]
fn a_failure_where_nothing_is_decided_is_a_warning() {
    let mut b = called(hooked(&[PostToolUse]));
    let id = b.question("t1");
    b.allow(&id);
    b.tool_says("t1", "done");
    b.hook_fails("it is gone");
    assert_eq!(result_texts(&b.records()), ["done"]);
    assert_eq!(
        b.diagnostics(),
        ["a PostToolUse hook failed: it is gone; it has no say"]
    );
}

// covers: DEC-33, DEC-20
#[test]
fn a_hook_can_refuse_a_prompt() {
    for (report, text) in [
        (
            printed_by_hook(r#"{"decision":"deny","message":"not today"}"#),
            "not today",
        ),
        (
            printed_by_hook(r#"{"decision":"deny"}"#),
            "a hook refused this prompt",
        ),
        (
            HookReport::failed("it is gone"),
            "a UserPromptSubmit hook failed: it is gone",
        ),
    ] {
        let mut b = Bench::new(hooked(&[UserPromptSubmit]));
        b.prompt(1, "go");
        b.prompt(2, "then");
        assert_eq!(b.briefs(), ["system/hook_started"], "the other one waits");
        end_hook(&mut b, report);
        let records = b.records();
        let briefs: Vec<_> = records.iter().map(brief).collect();
        assert_eq!(
            briefs,
            [
                "system/hook_response",
                "result error_during_execution",
                "system/hook_started"
            ],
            "no state"
        );
        let result = &records[1];
        assert_eq!(
            (
                &result["stop_reason"],
                &result["num_turns"],
                &result["errors"]
            ),
            (&json!("input_error"), &json!(0), &json!([text]))
        );
        assert_eq!(result["prompt_uuid"], uuid(1));
        b.hook_fails("gone");
        b.eof();
        assert_eq!(b.exit, Some(1), "only refused prompts");
    }
}

#[test]
fn what_a_hook_adds_to_a_prompt_stands_before_it() {
    let mut b = Bench::new(hooked(&[UserPromptSubmit]));
    b.prompt(1, "go");
    b.hook_says(r#"{"additionalContext":"It is Monday."}"#);
    assert_eq!(
        b.briefs(),
        [
            "system/hook_started",
            "system/hook_response",
            "state running"
        ]
    );
    assert_eq!(user_texts(&b), ["It is Monday.", "go"]);
}

// covers: DEC-15
#[test]
fn a_prompt_that_waits_for_its_hooks_can_be_interrupted() {
    let mut b = Bench::new(hooked(&[UserPromptSubmit]));
    b.prompt(1, "go");
    b.records();
    b.control("i", "interrupt");
    let records = b.records();
    let briefs: Vec<_> = records.iter().map(brief).collect();
    assert_eq!(
        briefs,
        [
            "ack i",
            "system/hook_response",
            "result error_during_execution"
        ]
    );
    assert_eq!(records[2]["stop_reason"], "cancelled");
    b.prompt(2, "wait");
    b.user_with("now", json!({"uuid": uuid(3), "priority": "now"}));
    assert_eq!(b.hooks().len(), 1, "the urgent one is asked about");
    b.hook_says("");
    assert_eq!(user_texts(&b), ["now"]);
}

#[test]
fn a_stop_hook_keeps_a_turn_going_three_times_at_most() {
    let mut b = Bench::new(hooked(&[Stop]));
    b.user("go");
    for round in 0..3 {
        b.says("done");
        end_hook(
            &mut b,
            if round == 1 {
                denied(2, "tests fail")
            } else {
                printed_by_hook(r#"{"continue":true}"#)
            },
        );
        assert!(b.hooks().is_empty());
    }
    let goes_on = "A Stop hook asks to go on.";
    assert_eq!(user_texts(&b), ["go", goes_on, "tests fail", goes_on]);
    b.says("done");
    b.hook_says(r#"{"continue":true}"#);
    let last = b.briefs();
    assert_eq!(last[last.len() - 2..], ["result success", "state idle"]);
    assert_eq!(
        b.diagnostics(),
        ["a Stop hook wants more than 3 further model requests; the turn ends"]
    );
    // The limit of requests holds here, too.
    let mut b = Bench::new(Config {
        max_turns: Some(1),
        ..hooked(&[Stop])
    });
    b.user("go");
    b.says("done");
    b.hook_says(r#"{"continue":true}"#);
    let last = b.briefs();
    assert_eq!(
        last[last.len() - 2..],
        ["result error_max_turns", "state idle"]
    );
}

#[test]
fn a_session_tells_its_beginning_and_its_end() {
    let mut b = Bench::new(hooked(&[SessionStart, SessionEnd]));
    b.user("go");
    assert!(b.briefs().is_empty(), "the first turn waits");
    b.hook_says(r#"{"additionalContext":"Be brief."}"#);
    assert_eq!(user_texts(&b), ["Be brief.", "go"]);
    b.says("ok");
    b.eof();
    assert_eq!(b.exit, None);
    let last = b.briefs();
    assert_eq!(
        last[last.len() - 2..],
        ["state idle", "system/hook_started"]
    );
    b.hook_fails("it is gone");
    assert_eq!(b.briefs(), ["system/hook_response"]);
    assert_eq!(b.exit, Some(0));
}

// covers: DEC-10
#[test]
fn a_session_that_is_told_to_end_gives_its_hooks_little_time_and_no_record() {
    let mut b = Bench::new(hooked(&[SessionEnd]));
    b.line("{");
    let last = b.briefs();
    assert_eq!(
        last,
        ["result error_during_execution"],
        "the fatal one is last"
    );
    assert_eq!(b.hooks()[0].1.timeout, Duration::from_secs(1));
    b.hook_says("");
    assert!(b.records().is_empty());
    assert_eq!(b.exit, Some(1));
}

// covers: DEC-20
#[test]
fn a_signal_cuts_the_hooks_of_the_end_short() {
    let mut b = Bench::new(hooked(&[SessionEnd]));
    b.user("go");
    b.says("ok");
    b.eof();
    b.records();
    let hook = b.hooks()[0].0;
    b.shutdown(143);
    assert!(b.outputs.contains(&Output::Cancel(hook)));
    assert_eq!(b.briefs(), ["system/hook_response"]);
    assert_eq!(b.exit, Some(143));
}

// covers: DEC-10, DEC-20
#[test]
fn what_ends_a_session_first_tells_how_it_ended() {
    let mut b = Bench::new(hooked(&[SessionEnd]));
    b.line("{");
    b.records();
    b.shutdown(130);
    assert!(b.records().is_empty(), "the fatal one is last");
    b.hook_says("");
    assert_eq!(b.exit, Some(1));
}

// covers: DEC-32
#[test]
fn what_hooks_tell_the_model_is_stored() {
    let config = Config {
        hooks: hooked(&[UserPromptSubmit]).hooks,
        ..stored(Beginning::New)
    };
    let mut b = Bench::new(config);
    b.prompt(1, "go");
    b.hook_says(r#"{"additionalContext":"It is Monday."}"#);
    let entries = b.store_all();
    let kinds = agentx_conformance::session::brief_entries(&entries);
    assert_eq!(kinds, "context prompt");
    b.says("ok");
    b.store_all();
}

// covers: DEC-30
#[test]
fn words_of_hooks_lose_their_credentials() {
    let guarded = Config {
        credentials: Guard::new(["sk-secret-key"]).expect("one key"),
        ..hooked(&[UserPromptSubmit])
    };
    let mut b = Bench::new(guarded);
    b.prompt(1, "go");
    let report = HookReport {
        answer: r#"{"decision":"deny","message":"sk-secret-key"}"#.to_string(),
        ..printed_by_hook("")
    };
    end_hook(&mut b, report);
    let records = b.records();
    assert_eq!(records[2]["errors"], json!(["[redacted]"]));
}
