//! The profile `reference`: mode, model, tasks, and prompts that are taken back.

use crate::shared::refusal;
use agentx_conformance::session::{Bench, bare, brief, config, hooked, reference, uuid};
use agentx_core::agent::{Config, Profile, Provider, Reference};
use agentx_core::guard::Guard;
use agentx_core::hook::HookEvent;
use agentx_core::schema::outbound::ReasoningCapabilities;
use agentx_core::schema::permission::PermissionMode;
use agentx_core::tool::ToolOutcome;
use serde_json::{Value, json};

/// Input of a call that becomes a task.
const BACK: &str = r#"{"command":"make","description":"build","run_in_background":true}"#;

/// What one request is answered with, and what follows it.
fn asked(b: &mut Bench, request: Value) -> (Value, Vec<Value>) {
    let record = json!({"type": "control_request", "request_id": "c", "request": request});
    b.line(&record.to_string());
    let mut records = b.records();
    let answer = records.remove(0);
    assert_eq!(answer["response"]["request_id"], "c");
    (answer["response"].clone(), records)
}

/// The payload of a success that nothing follows.
fn payload(b: &mut Bench, request: Value) -> Value {
    let (response, rest) = asked(b, request);
    assert_eq!(
        (&response["subtype"], rest.len()),
        (&json!("success"), 0),
        "{response}"
    );
    response
        .get("response")
        .cloned()
        .unwrap_or_else(|| json!("none"))
}

fn mode(mode: &str) -> Value {
    json!({"subtype": "set_permission_mode", "mode": mode})
}

fn status(mode: &str) -> Value {
    json!({"type": "system", "subtype": "status", "status": null, "permissionMode": mode})
}

// covers: DEC-47, WIRE-PERM-031
#[test]
fn a_mode_holds_for_later_calls_and_is_told() {
    let mut b = Bench::new(reference());
    b.prompt(1, "go");
    b.calls(&[("t1", "Change", r#"{"file_path":"a"}"#)]);
    let question = b.question("t1");
    b.records();
    let (response, rest) = asked(&mut b, mode("acceptEdits"));
    assert_eq!(
        response,
        json!({"subtype": "success", "request_id": "c", "response": {"mode": "acceptEdits"}})
    );
    assert_eq!(
        rest.iter().map(bare).collect::<Vec<_>>(),
        [status("acceptEdits")]
    );
    // A question that is open stays one.
    assert!(b.running().is_empty());
    b.allow(&question);
    b.tool_says("t1", "done");
    b.calls(&[("t2", "Change", r#"{"file_path":"a"}"#)]);
    assert_eq!(b.running(), ["t2"]);
    b.tool_says("t2", "done");
    b.records();
    assert_eq!(
        payload(&mut b, mode("acceptEdits")),
        json!({"mode": "acceptEdits"})
    );
    let (_, rest) = asked(&mut b, mode("plan"));
    assert_eq!(rest.iter().map(bare).collect::<Vec<_>>(), [status("plan")]);
    b.calls(&[("t3", "Change", r#"{"file_path":"a"}"#)]);
    assert!(b.briefs().contains(&"tool_result t3".to_string()));
    assert_eq!(b.diagnostics(), Vec::<&str>::new());
}

// covers: DEC-47
#[test]
fn auto_is_default_with_a_warning_and_other_words_are_no_mode() {
    let mut b = Bench::new(Config {
        permission_mode: PermissionMode::Plan,
        ..reference()
    });
    let (response, rest) = asked(&mut b, mode("auto"));
    assert_eq!(response["response"], json!({"mode": "default"}));
    assert_eq!(
        rest.iter().map(bare).collect::<Vec<_>>(),
        [status("default")]
    );
    assert_eq!(
        b.diagnostics(),
        ["the permission mode auto is taken as default"]
    );
    for word in ["Plan", "", "yolo"] {
        let error = format!(
            "set_permission_mode: {word:?} is no permission mode; expected one of default, \
             acceptEdits, plan, dontAsk, bypassPermissions, auto"
        );
        assert_eq!(refusal(&mut b, mode(word)), Some(error));
    }
    assert_eq!(b.session.policy().mode(), PermissionMode::Default);
}

// covers: DEC-47
#[test]
fn asking_nothing_needs_a_permission_of_the_start() {
    let bypass = "bypassPermissions";
    let refused = "set_permission_mode: bypassPermissions is not permitted in this session; start \
                   it with --allow-dangerously-skip-permissions";
    let mut b = Bench::new(reference());
    assert_eq!(refusal(&mut b, mode(bypass)).as_deref(), Some(refused));
    assert_eq!(b.session.policy().mode(), PermissionMode::Default);
    let mut b = Bench::new(Config {
        profile: Profile::Reference(Reference {
            may_bypass_permissions: true,
            ..Reference::default()
        }),
        ..config()
    });
    let (response, _) = asked(&mut b, mode(bypass));
    assert_eq!(response["response"], json!({ "mode": bypass }));
    // A session that began so may come back to it.
    let mut b = Bench::new(Config {
        permission_mode: PermissionMode::BypassPermissions,
        ..reference()
    });
    asked(&mut b, mode("plan"));
    let (response, rest) = asked(&mut b, mode(bypass));
    assert_eq!(response["response"], json!({ "mode": bypass }));
    assert_eq!(rest.iter().map(bare).collect::<Vec<_>>(), [status(bypass)]);
}

// covers: WIRE-PERM-031
#[test]
fn a_mode_that_an_answer_sets_is_told_to_existing_hosts_alone() {
    for (profile, told) in [(reference().profile, 1), (Profile::Standalone, 0)] {
        let mut b = Bench::new(Config {
            profile,
            ..config()
        });
        b.prompt(1, "go");
        b.calls(&[("t1", "Do", "{}")]);
        let question = b.question("t1");
        b.records();
        b.respond(
            &question,
            &json!({"behavior": "allow", "updatedInput": {}, "updatedPermissions": [
                {"type": "setMode", "mode": "acceptEdits", "destination": "session"}]}),
        );
        let records = b.records();
        let statuses = records
            .iter()
            .filter(|record| record["subtype"] == "status");
        assert_eq!(statuses.count(), told);
    }
}

// covers: DEC-52
#[test]
fn a_model_is_known_by_its_names_and_no_other() {
    let mut b = Bench::new(Config {
        provider: Provider {
            id: "sol-east".into(),
            model: "gpt-5.6-sol".into(),
            ..config().provider
        },
        ..reference()
    });
    for request in [
        json!({"subtype": "set_model"}),
        json!({"subtype": "set_model", "model": null}),
        json!({"subtype": "set_model", "model": "default"}),
        json!({"subtype": "set_model", "model": "gpt-5.6-sol"}),
        json!({"subtype": "set_model", "model": "sol-east"}),
    ] {
        assert_eq!(payload(&mut b, request), "none");
    }
    for name in ["gpt-5.6", "Default", "", "main"] {
        let error = format!(
            "set_model: {name:?} is no model of this process, whose model is \"gpt-5.6-sol\"; \
             restart with --provider <id> for another"
        );
        let request = json!({"subtype": "set_model", "model": name});
        assert_eq!(refusal(&mut b, request), Some(error));
    }
    let request = json!({"subtype": "set_model", "model": 7});
    assert_eq!(
        refusal(&mut b, request).as_deref(),
        Some("set_model: invalid model")
    );
}

// covers: DEC-47
#[test]
fn thinking_tokens_are_no_budget() {
    let mut b = Bench::new(reference());
    let request = |tokens: Value| json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": tokens, "thinking_display": "x"});
    assert_eq!(payload(&mut b, request(Value::Null)), "none");
    for number in [json!(1), json!(32_000)] {
        let error = refusal(&mut b, request(number)).expect("an error");
        assert!(error.contains("--effort"), "{error}");
    }
    // No number that is taken for null.
    for number in ["-1", "1e400", "18446744073709551616"] {
        b.line(&format!(r#"{{"type":"control_request","request_id":"c","request":{{"subtype":"set_max_thinking_tokens","max_thinking_tokens":{number}}}}}"#));
        let answer = b.records().pop().expect("an answer");
        assert_eq!(answer["response"]["subtype"], "error", "{number}");
    }
}

// covers: DEC-47
#[test]
fn no_thinking_is_an_effort_where_the_entry_declares_it() {
    let request = |tokens: Value| json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": tokens});
    let provider = |efforts: &[&str]| Provider {
        reasoning: ReasoningCapabilities::new(
            efforts.iter().map(|effort| (*effort).into()).collect(),
            "high".into(),
        )
        .expect("declared"),
        effort: Some("high".into()),
        ..config().provider
    };
    let mut b = Bench::new(Config {
        provider: provider(&["none", "high"]),
        ..reference()
    });
    for (n, tokens, effort) in [
        (1, Value::Null, "high"),
        (2, json!(0), "none"),
        (3, Value::Null, "high"),
    ] {
        assert_eq!(payload(&mut b, request(tokens)), "none");
        let shown = payload(&mut b, json!({"subtype": "get_settings"}));
        assert_eq!(shown["applied"]["effort"], effort);
        b.prompt(n, "go");
        assert_eq!(b.model().1.effort.as_deref(), Some(effort));
        b.says("done");
        b.records();
    }
    let mut b = Bench::new(Config {
        provider: provider(&["low", "high"]),
        ..reference()
    });
    assert_eq!(
        refusal(&mut b, request(json!(0))).as_deref(),
        Some("set_max_thinking_tokens: the provider entry declares no effort `none`")
    );
}

// covers: DEC-21, DEC-15
#[test]
fn a_prompt_that_waits_is_taken_back_with_its_one_result() {
    let mut b = Bench::new(reference());
    b.prompt(1, "go");
    b.prompt(2, "two");
    b.prompt(3, "three");
    b.records();
    let cancel = |n| json!({"subtype": "cancel_async_message", "message_uuid": uuid(n)});
    let (response, rest) = asked(&mut b, cancel(2));
    assert_eq!(response["response"], json!({"cancelled": true}));
    assert_eq!(
        rest.iter().map(brief).collect::<Vec<_>>(),
        ["result error_during_execution"]
    );
    let result = &rest[0];
    assert_eq!(
        json!([
            result["stop_reason"],
            result["num_turns"],
            result["prompt_uuid"],
            result["errors"]
        ]),
        json!([
            "cancelled",
            0,
            uuid(2),
            ["the prompt was cancelled before it ran"]
        ])
    );
    // Taken back, running, never seen, over: there is nothing to take back.
    for n in [2, 1, 9] {
        assert_eq!(payload(&mut b, cancel(n)), json!({"cancelled": false}));
    }
    b.says("done");
    b.says("done, too");
    let results = b.records();
    let results = results.iter().filter(|record| record["type"] == "result");
    let of: Vec<_> = results
        .map(|result| result["prompt_uuid"].clone())
        .collect();
    assert_eq!(of, [uuid(1), uuid(3)]);
    assert_eq!(payload(&mut b, cancel(3)), json!({"cancelled": false}));
    // What was taken back makes room, and its uuid stays used.
    b.prompt(2, "two");
    assert!(b.briefs().is_empty());
    b.eof();
    assert_eq!(b.exit, Some(0));
}

// covers: DEC-20, DEC-21
#[test]
fn a_prompt_whose_hooks_still_run_is_taken_back_with_them() {
    let mut b = Bench::new(Config {
        profile: reference().profile,
        ..hooked(&[HookEvent::UserPromptSubmit])
    });
    b.prompt(1, "go");
    b.records();
    let request = json!({"subtype": "cancel_async_message", "message_uuid": uuid(1)});
    let (response, rest) = asked(&mut b, request);
    assert_eq!(response["response"], json!({"cancelled": true}));
    assert_eq!(
        rest.iter().map(brief).collect::<Vec<_>>(),
        ["system/hook_response", "result error_during_execution"]
    );
    assert!(b.open.is_empty());
    b.eof();
    assert_eq!(b.exit, Some(1));
}

// covers: DEC-47, WIRE-004
#[test]
fn a_task_is_stopped_behind_the_answer_and_an_unknown_one_named() {
    let mut b = Bench::new(Config {
        permission_mode: PermissionMode::BypassPermissions,
        ..reference()
    });
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", BACK), ("t2", "Do", BACK)]);
    let stop = |task: &str| json!({"subtype": "stop_task", "task_id": task});
    let starting = b.task("t1").1.task_id.to_string();
    b.records();
    assert_eq!(
        refusal(&mut b, stop(&starting)),
        Some(format!("stop_task: no task {starting:?} runs"))
    );
    let first = b.task_begins("t1");
    let second = b.task_begins("t2");
    b.records();
    let (response, rest) = asked(&mut b, stop(&first));
    assert_eq!(response, json!({"subtype": "success", "request_id": "c"}));
    assert_eq!(
        rest.iter().map(brief).collect::<Vec<_>>(),
        ["system/task_notification"]
    );
    assert_eq!(
        (&rest[0]["task_id"], &rest[0]["status"]),
        (&json!(first), &json!("stopped"))
    );
    for (task, shown) in [
        (first.as_str(), first.clone()),
        ("", String::new()),
        ("task_\u{7}nobody", "task_\\\\u{7}nobody".to_string()),
        (&"x".repeat(100), format!("{}…", "x".repeat(64))),
    ] {
        let error = format!("stop_task: no task \"{shown}\" runs");
        assert_eq!(refusal(&mut b, stop(task)), Some(error));
    }
    b.task_ends("t2", ToolOutcome::text("built"));
    assert_eq!(
        refusal(&mut b, stop(&second)),
        Some(format!("stop_task: no task {second:?} runs"))
    );
}

// covers: DEC-30
#[test]
fn an_error_repeats_no_credential() {
    let mut b = Bench::new(Config {
        credentials: Guard::new(["sk-secret-key"]).expect("few literals"),
        ..reference()
    });
    // Behind 60 characters its second half is cut off.
    for before in ["", &"x".repeat(60)] {
        let word = format!("{before}sk-secret-key");
        for request in [
            mode(&word),
            json!({"subtype": "set_model", "model": word}),
            json!({"subtype": "stop_task", "task_id": word}),
        ] {
            let error = refusal(&mut b, request).expect("an error");
            assert!(error.contains("[red") && !error.contains("sk-"), "{error}");
        }
    }
}

/// What clients that are there require of the records of tasks.
const REQUIRED: [(&str, &[&str]); 3] = [
    (
        "task_started",
        &["task_id", "description", "uuid", "session_id"],
    ),
    (
        "task_progress",
        &["task_id", "description", "usage", "uuid", "session_id"],
    ),
    (
        "task_notification",
        &[
            "task_id",
            "status",
            "output_file",
            "summary",
            "uuid",
            "session_id",
        ],
    ),
];

// covers: ACC-12, WIRE-004, WIRE-010, WIRE-011
#[test]
fn tasks_and_an_interrupt_are_as_in_every_profile() {
    let mut b = Bench::new(reference());
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", BACK), ("t2", "Do", "{}"), ("t3", "Do", "{}")]);
    let question = b.question("t1");
    b.allow(&question);
    b.task_begins("t1");
    b.wait(5_000);
    b.feed(agentx_core::agent::Input::Tick);
    b.control("i1", "interrupt");
    let records = b.records();
    for (subtype, members) in REQUIRED {
        let of = records.iter().find(|record| record["subtype"] == subtype);
        let of = of.unwrap_or_else(|| panic!("no {subtype}"));
        for member in members {
            assert!(!of[member].is_null(), "{subtype}: {member}");
        }
    }
    let briefs: Vec<_> = records.iter().map(brief).collect();
    let from = briefs.iter().position(|brief| brief == "cancel");
    assert_eq!(
        briefs[from.expect("a cancellation")..],
        [
            "cancel",
            "cancel",
            "ack i1",
            "state running",
            "tool_result t2",
            "tool_result t3",
            "system/task_notification",
            "result error_during_execution",
            "state idle"
        ]
    );
}

// covers: DEC-47
#[test]
fn reloading_plugins_tells_what_there_is() {
    let mut b = Bench::new(reference());
    assert_eq!(
        payload(&mut b, json!({"subtype": "reload_plugins"})),
        json!({"commands": [], "agents": [], "plugins": [], "mcpServers": [], "error_count": 0})
    );
}

#[test]
fn operations_that_nobody_builds_are_unsupported() {
    for name in [
        "background_tasks",
        "update_settings",
        "reload_skills",
        "read_file",
    ] {
        let mut b = Bench::new(reference());
        assert_eq!(
            refusal(&mut b, json!({ "subtype": name })),
            Some(format!("unsupported control request {name:?}"))
        );
    }
}
