//! What existing hosts are told in the profile `reference`.

use agentx_conformance::session::{Bench, bare, brief, config, hooked, reference, tool, uuid};
use agentx_core::agent::{Config, Profile, Reference, StateRecords};
use agentx_core::hook::HookEvent;
use agentx_core::model::{Delta, ErrorCategory, ModelFailure, StopReason};
use agentx_core::policy::{Layer, Layers, Settings};
use agentx_core::tool::ToolClass;
use serde_json::{Value, json};

fn with_states(states: StateRecords) -> Config {
    Config {
        profile: Profile::Reference(Reference {
            states,
            ..Reference::default()
        }),
        ..config()
    }
}

fn failed(status: Option<u16>) -> ModelFailure {
    ModelFailure {
        category: status.map_or(ErrorCategory::Unknown, ErrorCategory::of_status),
        status,
        message: "no".to_string(),
    }
}

// covers: DEC-39
#[test]
fn init_is_the_first_record_of_each_turn_and_none_comes_before() {
    let mut b = Bench::with_init(reference());
    assert!(b.records().is_empty(), "nothing at the start");
    b.control("c1", "initialize");
    b.control("c2", "get_context_usage");
    assert!(
        b.records()
            .iter()
            .all(|record| record["type"] == "control_response")
    );
    for n in 1..=2 {
        b.prompt(n, "go");
        b.says("done");
        assert_eq!(
            b.briefs(),
            [
                "system/init",
                "state running",
                "assistant text",
                "result success",
                "state idle"
            ]
        );
    }
    b.user_with("bad", json!({"priority": "soon"}));
    assert_eq!(
        b.briefs(),
        ["result error_during_execution"],
        "no turn, no init"
    );
    let mut b = Bench::with_init(config());
    assert_eq!(b.briefs(), ["system/init"]);
    b.prompt(1, "go");
    assert_eq!(b.briefs(), ["state running"]);
}

// covers: DEC-33, DEC-39
#[test]
fn init_stands_before_the_hooks_that_look_at_a_prompt() {
    let with = |records: bool| {
        let mut config = Config {
            profile: reference().profile,
            ..hooked(&[HookEvent::UserPromptSubmit])
        };
        config.hooks.records = records;
        Bench::with_init(config)
    };
    let mut b = with(true);
    for n in 1..=2 {
        b.prompt(n, "go");
        b.hook_says("");
        b.says("done");
        assert_eq!(
            b.briefs(),
            [
                "system/init",
                "system/hook_started",
                "system/hook_response",
                "state running",
                "assistant text",
                "result success",
                "state idle"
            ]
        );
    }
    let refuses = r#"{"decision":"deny","message":"no"}"#;
    for (records, told) in [
        (
            true,
            &["system/init", "system/hook_started", "system/hook_response"][..],
        ),
        (false, &[]),
    ] {
        let mut b = with(records);
        b.prompt(1, "go");
        b.hook_says(refuses);
        assert_eq!(
            b.briefs(),
            [told, &["result error_during_execution"]].concat()
        );
        b.prompt(2, "go");
        b.hook_says("");
        assert!(b.briefs().contains(&"system/init".to_string()));
    }
}

// covers: DEC-39, DEC-47, WIRE-023
#[test]
fn init_has_what_clients_look_for() {
    let mut b = Bench::with_init(reference());
    b.prompt(1, "go");
    let init = bare(&b.records()[0]);
    assert_eq!(
        init,
        json!({
            "type": "system", "subtype": "init", "apiKeySource": "user",
            "agentx_version": "0.0.0", "claude_code_version": "2.1.0", "cwd": "/repo",
            "tools": ["Look", "Change", "Do"], "mcp_servers": [], "model": "test-model",
            "provider": "main", "provider_type": "scripted",
            "reasoning_capabilities": {"supported": false, "efforts": []},
            "permissionMode": "default", "slash_commands": [], "output_style": "default",
            "skills": [], "plugins": [], "agents": [],
        })
    );
    let mut b = Bench::with_init(config());
    assert_eq!(b.records()[0].get("claude_code_version"), None);
}

// covers: DEC-12
#[test]
fn states_are_told_to_whom_they_are_for() {
    let states = |config: Config| -> Vec<Value> {
        let mut b = Bench::new(config);
        b.prompt(1, "go");
        b.calls(&[("t1", "Do", "{}")]);
        let id = b.question("t1");
        b.allow(&id);
        b.tool_says("t1", "done");
        b.says("done");
        let records = b.all_records().into_iter();
        let states = records.filter(|record| record["subtype"] == "session_state_changed");
        states.map(|record| bare(&record)).collect()
    };
    let words = |states: &[Value]| -> Vec<Value> {
        states
            .iter()
            .map(|record| record["state"].clone())
            .collect()
    };
    let all = ["running", "requires_action", "running", "idle"];
    for plain in [states(config()), states(with_states(StateRecords::Plain))] {
        assert_eq!(words(&plain), all);
        assert!(
            plain
                .iter()
                .all(|record| record.get("sdk_host_only").is_none())
        );
    }
    let marked = states(with_states(StateRecords::HostOnly));
    assert_eq!(words(&marked), all);
    assert!(marked.iter().all(|record| record["sdk_host_only"] == true));
    assert_eq!(marked[1]["requires_action"]["tool_use_id"], "t1");
    assert!(states(with_states(StateRecords::Off)).is_empty());
}

// covers: DEC-12, WIRE-PERM-023
#[test]
fn a_session_without_state_records_asks_and_ends_all_the_same() {
    let mut b = Bench::with_init(with_states(StateRecords::Off));
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", "{}")]);
    b.control("i1", "interrupt");
    assert_eq!(
        b.briefs(),
        [
            "system/init",
            "assistant tool_use",
            "ask t1",
            "cancel",
            "ack i1",
            "tool_result t1",
            "result error_during_execution"
        ]
    );
    b.eof();
    assert_eq!(b.exit, Some(1));
}

// covers: DEC-43
#[test]
fn a_rate_limit_is_told_before_the_failure_that_it_causes() {
    let mut b = Bench::new(reference());
    b.prompt(1, "go");
    b.records();
    b.fails(failed(Some(429)));
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        [
            "rate_limit_event",
            "assistant text",
            "result error_during_execution",
            "state idle"
        ]
    );
    assert_eq!(
        bare(&records[0]),
        json!({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}})
    );
    for other in [Some(500), Some(400), None] {
        b.prompt(u32::from(other.unwrap_or(7)), "go");
        b.fails(failed(other));
        assert!(
            !b.briefs().contains(&"rate_limit_event".to_string()),
            "{other:?}"
        );
    }
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.fails(failed(Some(429)));
    assert!(!b.briefs().contains(&"rate_limit_event".to_string()));
}

// covers: DEC-43
#[test]
fn each_rate_limit_of_a_request_that_is_sent_again_is_told() {
    let limited = |resets_at| Delta::RateLimited { resets_at };
    let mut b = Bench::new(Config {
        include_partial_messages: true,
        ..reference()
    });
    b.prompt(1, "go");
    b.records();
    b.delta(limited(Some(1_764_000_000)));
    b.delta(limited(None));
    let records = b.records();
    assert_eq!(
        records
            .iter()
            .map(|record| record["rate_limit_info"].clone())
            .collect::<Vec<_>>(),
        [
            json!({"status": "rejected", "resetsAt": 1_764_000_000}),
            json!({"status": "rejected"})
        ],
        "and no answer has begun"
    );
    b.fails(failed(Some(429)));
    assert!(
        !b.briefs().contains(&"rate_limit_event".to_string()),
        "once is enough"
    );
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.records();
    b.delta(limited(None));
    assert!(b.records().is_empty());
    b.says("done");
    assert_eq!(
        b.briefs(),
        ["assistant text", "result success", "state idle"]
    );
}

/// What the host is offered to answer with for a call of each tool.
fn suggestions(config: Config, tools: &[&str]) -> Vec<Value> {
    let mut b = Bench::new(config);
    b.prompt(1, "go");
    let ids: Vec<String> = (0..tools.len()).map(|n| format!("t{n}")).collect();
    let arguments = r#"{"file_path":"/other/a","command":"ls"}"#;
    let calls: Vec<_> = ids
        .iter()
        .zip(tools)
        .map(|(id, name)| (id.as_str(), *name, arguments))
        .collect();
    b.calls(&calls);
    let asked = b
        .all_records()
        .into_iter()
        .filter(|r| r["type"] == "control_request");
    asked
        .map(|r| {
            r["request"]
                .get("permission_suggestions")
                .cloned()
                .unwrap_or_default()
        })
        .collect()
}

// covers: WIRE-PERM-020, WIRE-PERM-030
#[test]
fn tools_that_can_be_let_pass_suggest_a_rule() {
    let declared = r#"{"tools":[{"name":"lookup","description":"d","input_schema":{"type":"object"},"command":["/bin/x"]}]}"#;
    let with = |profile: Config| {
        let mut settings = Layers::new();
        settings.set(
            Layer::User,
            Settings::read(declared.as_bytes()).expect("settings"),
        );
        Config {
            settings,
            tools: [
                tool("Read", ToolClass::ReadOnly),
                tool("Write", ToolClass::Edit),
                tool("Bash", ToolClass::Execute),
                tool("lookup", ToolClass::Execute),
            ]
            .into(),
            ..profile
        }
    };
    let rule = |name: &str| json!([{"type": "addRules", "rules": [{"toolName": name}], "behavior": "allow", "destination": "localSettings"}]);
    let names = ["Read", "Write", "Bash", "lookup"];
    assert_eq!(
        suggestions(with(reference()), &names),
        [Value::Null, rule("Write"), Value::Null, rule("lookup")]
    );
    assert!(
        suggestions(with(config()), &names)
            .iter()
            .all(Value::is_null)
    );
    // What is suggested can be answered with.
    let mut b = Bench::new(with(reference()));
    b.prompt(1, "go");
    b.calls(&[("t1", "Write", "{}")]);
    let id = b.question("t1");
    b.respond(
        &id,
        &json!({"behavior": "allow", "updatedPermissions": rule("Write")}),
    );
    b.tool_says("t1", "written");
    b.calls(&[("t2", "Write", "{}")]);
    assert!(b.find_tool("t2").is_some(), "the rule holds");
}

// covers: DEC-47
#[test]
fn records_have_what_the_python_client_needs() {
    let mut b = Bench::with_init(Config {
        include_partial_messages: true,
        ..reference()
    });
    b.prompt(1, "go");
    b.delta(Delta::Thinking("hm".to_string()));
    b.delta(Delta::Text("I look".to_string()));
    b.calls(&[("t1", "Look", r#"{"file_path":"a"}"#)]);
    b.tool_says("t1", "seen");
    b.says("done");
    let needs = |record: &Value, pointers: &[&str]| {
        for pointer in pointers {
            assert!(
                record.pointer(pointer).is_some(),
                "{record} lacks {pointer}"
            );
        }
    };
    let mut events = Vec::new();
    for record in b.all_records() {
        match record["type"].as_str().expect("a type") {
            "system" => needs(&record, &["/subtype", "/uuid", "/session_id"]),
            "user" => needs(
                &record,
                &[
                    "/message/content/0/tool_use_id",
                    "/message/content/0/is_error",
                ],
            ),
            "stream_event" => {
                needs(&record, &["/uuid", "/session_id", "/event/type"]);
                events.push(
                    record["event"]["type"]
                        .as_str()
                        .unwrap_or_default()
                        .to_string(),
                );
            }
            "assistant" => {
                needs(
                    &record,
                    &["/message/content", "/message/model", "/message/id"],
                );
                let block = &record["message"]["content"][0];
                match block["type"].as_str() {
                    Some("text") => needs(block, &["/text"]),
                    Some("thinking") => needs(block, &["/thinking", "/signature"]),
                    Some("tool_use") => needs(block, &["/id", "/name", "/input"]),
                    other => panic!("{other:?}"),
                }
            }
            "result" => needs(
                &record,
                &[
                    "/subtype",
                    "/duration_ms",
                    "/duration_api_ms",
                    "/is_error",
                    "/num_turns",
                    "/session_id",
                    "/uuid",
                    "/usage",
                    "/modelUsage",
                    "/result",
                    "/permission_denials",
                ],
            ),
            other => panic!("{other}"),
        }
    }
    for kind in [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ] {
        assert!(events.iter().any(|event| event == kind), "{kind}");
    }
}

// covers: DEC-14, DEC-20
#[test]
fn prompts_before_the_end_of_input_still_run() {
    let mut b = Bench::new(reference());
    b.user_with("first", json!({"session_id": "", "uuid": uuid(1)}));
    b.user_with("second", json!({"session_id": "default"}));
    b.eof();
    b.calls(&[("t1", "Do", "{}")]);
    assert!(b.questions().is_empty(), "nobody could answer");
    b.says("done");
    b.delta(Delta::Text("more".to_string()));
    b.finish(StopReason::EndTurn);
    assert_eq!(b.exit, Some(0));
}
