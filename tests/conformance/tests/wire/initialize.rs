//! `initialize` of the profile `reference`: what it brings and when it counts.

use agentx_conformance::session::{Bench, brief, reference, uuid};
use agentx_core::agent::{Config, Profile, Reference};
use agentx_core::guard::Guard;
use serde_json::{Value, json};

/// A session that was sent this `initialize`.
fn initialized(members: Value) -> Bench {
    let mut b = Bench::new(reference());
    b.initialize(members);
    b
}

/// The text of the newest record's error.
fn error(b: &mut Bench) -> String {
    let record = b.records().pop().expect("an answer");
    let error = record["response"]["error"].as_str();
    error.unwrap_or("no error").to_string()
}

fn awaiting() -> Config {
    Config {
        profile: Profile::Reference(Reference {
            await_initialize: true,
            ..Reference::default()
        }),
        ..reference()
    }
}

// covers: DEC-47
#[test]
fn both_clients_are_answered_with_what_they_look_for() {
    let python = json!({"hooks": null, "agents": {"a": {"description": "d", "prompt": "p"}}});
    let npm = json!({"systemPrompt": [""], "sdkMcpServerManifests": {}, "newer": [1]});
    for (members, agents) in [
        (python, json!([{"name": "a", "description": "d"}])),
        (npm, json!([])),
    ] {
        let mut b = initialized(members);
        let record = b.records().pop().expect("an answer");
        assert_eq!(brief(&record), "ack init");
        let payload = &record["response"]["response"];
        assert_eq!(payload["agents"], agents);
        let names: Vec<_> = payload.as_object().expect("members").keys().collect();
        let last = [
            "hooks_applied",
            "hook_on_failure_supported",
            "mcp_servers_applied",
            "plugins_applied",
            "claude_code_version",
        ];
        assert!(
            last.iter()
                .all(|name| names.contains(&&(*name).to_string()))
        );
        for flag in &last[..4] {
            assert_eq!(payload[*flag], true, "{flag}");
        }
        assert_eq!(payload["claude_code_version"], "2.1.0");
        assert_eq!(payload["pid"], 4242);
        let text = String::from_utf8_lossy(&b.bytes).into_owned();
        assert!(text.contains(concat!(
            r#""pid":4242,"hooks_applied":true,"hook_on_failure_supported":true,"#,
            r#""mcp_servers_applied":true,"plugins_applied":true,"claude_code_version":"2.1.0"}"#
        )));
    }
}

// covers: DEC-19
#[test]
fn a_second_one_is_refused_while_the_first_is_applied_and_after_it() {
    let schema = json!({"jsonSchema": {"type": "object"}});
    let mut b = initialized(schema);
    assert!(b.records().is_empty(), "not answered yet");
    b.initialize(json!({}));
    assert_eq!(error(&mut b), "already initialized");
    b.schema_is(Ok(()));
    assert_eq!(b.briefs(), ["ack init"]);
    b.initialize(json!({}));
    assert_eq!(error(&mut b), "already initialized");
    // What is open is told with it.
    let mut b = initialized(json!({}));
    b.user("go");
    b.calls(&[("t1", "Do", "{}")]);
    b.initialize(json!({}));
    let record = b.records().pop().expect("an answer");
    let pending = &record["response"]["pending_permission_requests"];
    assert_eq!(pending[0]["request"]["tool_use_id"], "t1");
}

// covers: DEC-38
#[test]
fn one_that_cannot_be_applied_is_refused_with_every_prompt_behind_it() {
    let mut b = initialized(json!({"hooks": {"Stop": [{"hookCallbackIds": 7}]}}));
    let fault = "initialize: hooks.Stop[0].hookCallbackIds: expected a list of texts";
    assert_eq!(error(&mut b), fault);
    b.prompt(1, "go");
    let records = b.records();
    assert_eq!(records[0]["stop_reason"], "input_error");
    assert_eq!(records[0]["prompt_uuid"], uuid(1));
    let told = "initialize was refused; send one that can be applied first";
    assert_eq!(records[0]["errors"][0], told);
    b.initialize(json!({"hooks": {}}));
    b.prompt(2, "go");
    assert_eq!(b.briefs(), ["ack init", "system/init", "state running"]);
    // More callbacks than there may be.
    let mut config = reference();
    config.limits.hook_callbacks = 2;
    let mut b = Bench::new(config);
    b.initialize(json!({"hooks": {"Stop": [{"hookCallbackIds": ["a", "b", "c"]}]}}));
    let fault = "initialize: hooks: expected at most 2 callbacks";
    assert_eq!(error(&mut b), fault);
}

#[test]
fn a_prompt_right_behind_it_runs_once_it_is_applied() {
    let hooks = json!({"PreToolUse": [{"matcher": "D.", "hookCallbackIds": ["h"]}]});
    let mut b = initialized(json!({"hooks": hooks, "jsonSchema": {"type": "object"}}));
    b.prompt(1, "go");
    assert!(b.records().is_empty());
    b.schema_is(Ok(()));
    assert!(b.records().is_empty(), "its patterns are resolved first");
    assert_eq!(b.matching().expect("patterns").1, ["D."]);
    b.patterns_match(&[Some(&["Do"])]);
    assert_eq!(b.briefs(), ["ack init", "system/init", "state running"]);
    let offered = b.model().1.tools.iter().map(|tool| tool.name.to_string());
    assert!(
        offered
            .collect::<Vec<_>>()
            .contains(&"StructuredOutput".to_string())
    );
    b.calls(&[("t1", "Do", "{}"), ("t2", "Change", r#"{"file_path":"a"}"#)]);
    let briefs = b.briefs();
    assert!(briefs.contains(&"callback h".to_string()), "{briefs:?}");
    assert!(briefs.contains(&"ask t2".to_string()), "{briefs:?}");
    assert_eq!((b.callbacks().len(), b.questions().len()), (1, 1));
}

#[test]
fn a_schema_that_cannot_be_used_refuses_it() {
    let mut b = initialized(json!({"jsonSchema": {"type": "array"}}));
    let told = error(&mut b);
    assert!(
        told.starts_with("initialize: jsonSchema: at /type:"),
        "{told}"
    );
    let schema = json!({"properties": {"a": {"type": "strin"}}});
    let hooks = json!({"PreToolUse": [{"hookCallbackIds": ["h"]}]});
    let mut b = initialized(json!({"jsonSchema": schema, "hooks": hooks}));
    b.prompt(1, "go");
    b.schema_is(Err("at /properties/a/type: unknown"));
    let records = b.records();
    let briefs: Vec<_> = records.iter().map(brief).collect();
    assert_eq!(briefs, ["error init", "result error_during_execution"]);
    let fault = "initialize: jsonSchema: at /properties/a/type: unknown";
    assert_eq!(records[0]["response"]["error"], fault);
    assert_eq!(records[1]["prompt_uuid"], uuid(1));
    // Nothing of it was applied.
    b.initialize(json!({}));
    b.prompt(2, "go");
    b.calls(&[("t1", "Do", "{}")]);
    assert!(b.callbacks().is_empty());
    assert_eq!(b.questions().len(), 1);
}

#[test]
fn hooks_of_unknown_events_are_told_and_count_where_they_are_to_block() {
    let hook = |on_failure: &str| json!([{"hookCallbackIds": ["h"], "onFailure": on_failure}]);
    for (events, applied) in [
        (
            json!({"Notification": hook("continue"), "Stop": hook("block")}),
            true,
        ),
        (json!({"Notification": hook("block")}), false),
    ] {
        let mut b = initialized(json!({"hooks": events}));
        let record = b.records().pop().expect("an answer");
        assert_eq!(record["response"]["response"]["hooks_applied"], applied);
        let told = "initialize: hooks: the unknown event \"Notification\" was ignored";
        assert!(b.diagnostics().contains(&told), "{:?}", b.diagnostics());
    }
}

#[test]
fn servers_and_plugins_that_cannot_be_had_are_told() {
    let mut b = initialized(json!({"plugins": [{"path": "/p"}], "mcpServers": {"x": {}}}));
    let payload = b.records().pop().expect("an answer")["response"]["response"].take();
    assert_eq!(payload["plugins_applied"], false);
    assert_eq!(payload["mcp_servers_applied"], false);
    assert_eq!(payload["hooks_applied"], true);
    assert_eq!(b.diagnostics().len(), 2);
    let mut b = initialized(json!({"plugins": [], "mcpServers": {}}));
    let payload = b.records().pop().expect("an answer")["response"]["response"].take();
    assert_eq!(payload["plugins_applied"], true);
    assert_eq!(payload["mcp_servers_applied"], true);
}

#[test]
fn a_system_prompt_replaces_the_default_and_what_is_appended_stands_behind() {
    for (members, expected) in [
        (json!({}), Some("the default")),
        (json!({"systemPrompt": null}), Some("the default")),
        (json!({"systemPrompt": [""]}), None),
        (json!({"systemPrompt": []}), None),
        (json!({"systemPrompt": "mine"}), Some("mine")),
        (json!({"systemPrompt": ["a", "", "b"]}), Some("a\n\nb")),
        (
            json!({"appendSystemPrompt": "more"}),
            Some("the default\n\nmore"),
        ),
        (
            json!({"systemPrompt": [""], "appendSystemPrompt": "more"}),
            Some("more"),
        ),
    ] {
        let mut b = Bench::new(Config {
            system: Some("the default".into()),
            ..reference()
        });
        b.initialize(members.clone());
        b.user("go");
        assert_eq!(b.model().1.system.as_deref(), expected, "{members}");
    }
}

#[test]
fn a_session_may_wait_for_it() {
    let mut b = Bench::new(awaiting());
    b.prompt(1, "go");
    assert!(b.briefs().is_empty());
    b.control("r1", "interrupt");
    assert_eq!(b.briefs(), ["ack r1"], "the input is read all the same");
    b.initialize(json!({}));
    assert_eq!(b.briefs(), ["ack init", "system/init", "state running"]);
    b.says("done");
    b.eof();
    assert_eq!(b.exit, Some(0));
    // It never comes.
    let mut b = Bench::new(awaiting());
    b.prompt(1, "go");
    b.eof();
    let records = b.records();
    let told = "the input ended before initialize, which this session waits for";
    assert_eq!(records[0]["errors"][0], told);
    assert_eq!((records.len(), b.exit), (1, Some(1)));
    // It comes last.
    let mut b = Bench::new(awaiting());
    b.prompt(1, "go");
    b.initialize(json!({"jsonSchema": {}}));
    b.eof();
    b.schema_is(Ok(()));
    assert_eq!(b.briefs(), ["ack init", "system/init", "state running"]);
}

#[test]
fn a_session_that_ends_meanwhile_answers_it_first() {
    for patterns in [false, true] {
        let hooks = json!({"PreToolUse": [{"matcher": "D.", "hookCallbackIds": ["h"]}]});
        let mut b = if patterns {
            initialized(json!({"hooks": hooks}))
        } else {
            initialized(json!({"jsonSchema": {}}))
        };
        b.prompt(1, "go");
        b.shutdown(143);
        assert_eq!(b.exit, Some(143));
        let records = b.records();
        let told = "initialize: the session ended before this was done";
        assert_eq!(records[0]["response"]["request_id"], "init");
        assert_eq!(records[0]["response"]["error"], told);
        assert_eq!(records[1]["subtype"], "error_during_execution");
        assert_eq!(records.len(), 2);
    }
}

// covers: DEC-30
#[test]
fn what_a_host_calls_its_agents_cannot_spell_a_route() {
    let guard = |secret: &str| Guard::new([secret.to_string()]).expect("a guard");
    let mut b = Bench::new(Config {
        credentials: guard("key-key-key"),
        metadata: guard("route.example"),
        ..reference()
    });
    b.initialize(
        json!({"agents": {"key-key-key": {"description": "at route.example"}},
        "systemPrompt": "say key-key-key"}),
    );
    let record = b.records().pop().expect("an answer");
    let agents = &record["response"]["response"]["agents"];
    assert_eq!(
        agents,
        &json!([{"name": "[redacted]", "description": "at [redacted]"}])
    );
    b.user("go");
    assert_eq!(b.model().1.system.as_deref(), Some("say [redacted]"));
}

/// Nothing of it is applied: no hook is registered, and prompts are refused.
#[test]
fn one_whose_answer_fits_no_record_is_refused_whole() {
    let agents: serde_json::Map<_, _> = (0..100)
        .map(|n| {
            (
                format!("a{n}"),
                json!({"description": "\u{1}".repeat(2_000)}),
            )
        })
        .collect();
    let hooks = json!({"Stop": [{"hookCallbackIds": ["h"]}]});
    let mut b = initialized(json!({"agents": agents, "hooks": hooks}));
    assert_eq!(
        error(&mut b),
        "initialize: agents: their names and descriptions do not fit the answer, which has \
         1000000 bytes at most"
    );
    b.prompt(1, "go");
    assert_eq!(b.briefs(), ["result error_during_execution"]);
    b.initialize(json!({}));
    let payload = b.records().pop().expect("an answer")["response"]["response"].take();
    assert_eq!(payload["agents"], json!([]));
    b.prompt(2, "go");
    b.says("done");
    assert_eq!(b.briefs().last().expect("records"), "state idle");
}

#[test]
fn servers_beyond_the_bound_are_not_applied_and_told_once() {
    let names: Vec<String> = (0..70).map(|n| format!("s{n}")).collect();
    let entries: serde_json::Map<_, _> = names
        .iter()
        .map(|name| (name.clone(), json!({"type": "sdk", "name": name})))
        .collect();
    for members in [
        json!({"sdkMcpServers": names}),
        json!({"mcpServers": entries}),
    ] {
        let mut b = initialized(members);
        let answer = b
            .records()
            .into_iter()
            .find(|record| brief(record) == "ack init");
        let payload = answer.expect("an answer")["response"]["response"].take();
        assert_eq!(payload["mcp_servers_applied"], false);
        assert_eq!(
            b.diagnostics(),
            ["6 MCP servers were left out; the first: a session has 64 MCP servers at most"]
        );
    }
    // One that can never be connected is none that was applied.
    let mut b = initialized(json!({"sdkMcpServers": ["a__b"]}));
    let payload = b.records().pop().expect("an answer")["response"]["response"].take();
    assert_eq!(payload["mcp_servers_applied"], false);
    assert_eq!(b.diagnostics().len(), 1);
}

#[test]
fn what_people_are_told_has_an_end() {
    let event = "e".repeat(100_000);
    let pattern = "(".repeat(100_000);
    let hooks = json!({event: [], "PreToolUse": [{"matcher": pattern, "hookCallbackIds": ["h"]}]});
    let mut b = initialized(json!({"hooks": hooks}));
    b.patterns_match(&[None]);
    assert_eq!(b.diagnostics().len(), 2);
    for told in b.diagnostics() {
        assert!(told.chars().count() <= 4_097, "{}", told.len());
    }
}
