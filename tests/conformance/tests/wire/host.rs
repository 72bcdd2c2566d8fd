//! The host's end of the wire: what it reads, what it is asked, what it writes.

use agentx_conformance::host::HostBench;
use agentx_conformance::session::uuid;
use agentx_core::host::{Answer, Command, Config, End, Event, Input, Request, Unsent};
use agentx_core::ids::Seed;
use agentx_core::json::RawJson;
use agentx_core::limits::Limits;
use agentx_core::machine::Misuse;
use agentx_core::mcp::McpReply;
use agentx_core::schema::host::{Decision, EnvironmentUpdate, Prompt};
use agentx_core::schema::inbound::{Priority, UserContent};
use agentx_core::schema::outbound::Outbound;
use agentx_core::schema::permission::{
    Behavior, Classification, Destination, PermissionRule, PermissionUpdate, RulesAction,
    RulesUpdate,
};
use agentx_core::schema::received::Body;
use serde_json::{Value, json};

fn raw(value: &Value) -> RawJson {
    RawJson::parse(&value.to_string()).expect("JSON")
}

fn with_limits(change: impl FnOnce(&mut Limits)) -> HostBench {
    let mut config = Config::new(Seed::from_u64(1));
    change(&mut config.limits);
    HostBench::with(config)
}

/// The only record that was written since the last look.
fn only(h: &mut HostBench) -> Value {
    let mut written = h.written();
    assert_eq!(written.len(), 1, "{written:?}");
    written.remove(0)
}

/// The payload or error of the only answer since the last look.
fn answer(h: &mut HostBench) -> Value {
    let mut record = only(h);
    assert_eq!(record["type"], "control_response");
    record["response"].take()
}

// ---- what it reads ------------------------------------------------------------------

#[test]
fn a_record_of_an_unknown_type_is_passed_on_as_text() {
    let mut h = HostBench::new();
    h.line(r#"{ "type" : "hologram", "x":[1,2.50],"uuid":"u1","session_id":"s1"}"#);
    // A known type with a word that is new is not half a record.
    let state = r#"{"type":"system","subtype":"session_state_changed","state":"asleep"}"#;
    h.line(state);
    h.line(r#"{"no":"type"}"#);
    let records: Vec<_> = h
        .events()
        .map(|event| match event {
            Event::Record(record) => record.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(records[0].uuid.as_deref(), Some("u1"));
    assert_eq!(records[0].session_id.as_deref(), Some("s1"));
    let told: Vec<_> = records
        .iter()
        .map(|record| match &record.body {
            Body::Unknown { kind, raw } => (kind.as_str(), raw.as_str()),
            Body::Known(known) => panic!("{known:?}"),
        })
        .collect();
    assert_eq!(
        told,
        [
            (
                "hologram",
                r#"{"type":"hologram","x":[1,2.50],"uuid":"u1","session_id":"s1"}"#
            ),
            ("system", state),
            ("", r#"{"no":"type"}"#),
        ]
    );
    assert_eq!(h.exit, None);
}

#[test]
fn a_result_of_a_newer_agent_ends_its_prompt() {
    let mut h = HostBench::new();
    let prompt = uuid(1);
    h.prompt(Prompt::text("one").with_uuid(&*prompt));
    h.record(&json!({"type": "result", "subtype": "postponed", "prompt_uuid": prompt}));
    // Only a result does.
    h.record(&json!({"type": "hologram", "prompt_uuid": prompt}));
    let ends: Vec<_> = h
        .events()
        .filter_map(|event| match event {
            Event::Record(record) => Some((record.is_end_of(&prompt), record.result().is_some())),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [(true, false), (false, false)]);
    assert_eq!(h.session.waiting_prompts(), 0);
}

#[test]
fn members_that_are_not_known_are_dropped() {
    let mut h = HostBench::new();
    h.record(&json!({"newer": {"a": 1}, "type": "prompt_suggestion", "suggestion": "go on", "uuid": "u", "session_id": "s"}));
    let told: Vec<_> = h.told().collect();
    assert!(matches!(told[0], Outbound::PromptSuggestion(of) if of.suggestion == "go on"));
}

// covers: WIRE-001
#[test]
fn input_that_cannot_be_read_ends_the_session_with_a_fixed_text() {
    let text = "the record stands here: secret-words";
    let long = "i".repeat(Limits::DEFAULT.host_id_bytes + 1);
    let cases = [
        (format!("\n{{\"type\":\"{text}\""), 2, "unexpected end"),
        (format!("[\"{text}\"]\n"), 1, "record is not a JSON object"),
        (
            format!("{{\"type\":\"control_request\",\"request\":\"{text}\"}}\n"),
            1,
            "control record without request_id",
        ),
        (
            format!("{{\"type\":\"control_cancel_request\",\"request_id\":[\"{text}\"]}}\n"),
            1,
            "request_id is no readable string",
        ),
        (
            format!("{{\"type\":\"control_request\",\"request_id\":\"{long}\"}}\n"),
            1,
            "request_id is too long",
        ),
        (
            format!("{{\"type\":\"control_cancel_request\",\"request_id\":\"{long}\"}}\n"),
            1,
            "request_id is too long",
        ),
        (
            format!("{{\"type\":\"{text}\",\"type\":\"x\"}}\n"),
            1,
            "duplicate member name",
        ),
    ];
    for (bytes, at, why) in cases {
        let mut h = HostBench::new();
        h.asks_leave("r1", "t1");
        h.prompt(Prompt::text("go").with_uuid(uuid(1)));
        let lines = 1;
        h.feed(Input::Bytes(bytes.as_bytes()));
        if h.exit.is_none() {
            h.feed(Input::Eof);
        }
        let exit = h.exit.clone().expect("an end");
        let End::Fault { line, reason, .. } = exit.end else {
            panic!("{exit:?}");
        };
        assert_eq!(line, lines + at, "{bytes}");
        let told = h.diagnostics().concat();
        assert!(told.contains(reason) && !told.contains("secret"), "{told}");
        assert!(why == "unexpected end" || reason.contains(why), "{reason}");
        assert_eq!((exit.requests, exit.prompts.len()), (1, 1));
        assert!(h.closed && h.open.is_empty());
        assert_eq!(h.try_feed(Input::Tick), Err(Misuse::InputAfterExit));
    }
}

// covers: WIRE-EOF-001
#[test]
fn the_last_record_needs_no_newline() {
    let mut h = HostBench::new();
    let call = h.call(agentx_core::schema::host::Interrupt);
    let id = h.request_id();
    let answer =
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": id}});
    h.feed(Input::Bytes(answer.to_string().as_bytes()));
    assert_eq!(h.answers_to(call).len(), 0);
    h.feed(Input::Eof);
    assert_eq!(h.answers_to(call), [&Ok(None)]);
    let exit = h.exit.clone().expect("an end");
    assert_eq!((exit.end, exit.calls), (End::Stream, 0));
}

#[test]
fn an_escape_of_half_a_character_is_repaired() {
    let mut h = HostBench::new();
    h.line(r#"{"type":"prompt_suggestion","suggestion":"\ud800!","uuid":"u","session_id":"s"}"#);
    let told: Vec<_> = h.told().collect();
    assert!(matches!(told[0], Outbound::PromptSuggestion(of) if of.suggestion == "\u{FFFD}!"));
}

// ---- what it is asked ---------------------------------------------------------------

fn permit(h: &HostBench) -> &str {
    match &h.open[0].1 {
        Request::Permit(asked) => &asked.tool_use_id,
        other => panic!("{other:?}"),
    }
}

// covers: WIRE-PERM-010, WIRE-PERM-040, WIRE-PERM-041, WIRE-PERM-042
#[test]
fn a_question_is_an_effect_and_its_decision_an_answer() {
    let mut h = HostBench::new();
    let rule = PermissionUpdate::Rules(RulesUpdate {
        action: RulesAction::Add,
        rules: vec![PermissionRule {
            tool_name: "Do".to_string(),
            rule_content: None,
        }],
        behavior: Behavior::Allow,
        destination: Destination::Session,
    });
    let other_input = Decision::allow_with(raw(&json!({"a": 2}))).expect("an object");
    let cases = [
        (
            Decision::allow(),
            json!({"behavior": "allow", "updatedInput": {}, "toolUseID": "t1"}),
        ),
        (
            other_input
                .and_update(vec![rule])
                .filed(Classification::UserPermanent),
            json!({"behavior": "allow", "updatedInput": {"a": 2},
                "updatedPermissions": [{"type": "addRules", "rules": [{"toolName": "Do"}], "behavior": "allow", "destination": "session"}],
                "toolUseID": "t1", "decisionClassification": "user_permanent"}),
        ),
        (
            Decision::deny("no"),
            json!({"behavior": "deny", "message": "no", "toolUseID": "t1"}),
        ),
        (
            Decision::deny("stop").and_interrupt(),
            json!({"behavior": "deny", "message": "stop", "interrupt": true, "toolUseID": "t1"}),
        ),
    ];
    for (decision, payload) in cases {
        h.asks_leave("r1", "t1");
        assert_eq!(permit(&h), "t1");
        h.settle(Answer::Permit(decision));
        let expected = json!({"subtype": "success", "request_id": "r1", "response": payload});
        assert_eq!(answer(&mut h), expected);
    }
    assert!(Decision::allow_with(raw(&json!([1]))).is_err());
}

#[test]
fn hooks_servers_and_users_are_asked_as_effects() {
    let mut h = HostBench::new();
    let hook = json!({"subtype": "hook_callback", "callback_id": "h", "input": {"x": 1}, "tool_use_id": "t"});
    let server = json!({"subtype": "mcp_message", "server_name": "calc", "message": {"id": 1}});
    let user = json!({"subtype": "elicitation", "mcp_server_name": "calc", "message": "How many?", "requested_schema": {}});
    let cases = [
        (
            &hook,
            Answer::Hook(raw(&json!({"continue": true}))),
            json!({"continue": true}),
        ),
        (
            &server,
            Answer::Mcp(Some(raw(&json!({"result": 1})))),
            json!({"mcp_response": {"result": 1}}),
        ),
        (&server, Answer::Mcp(None), Value::Null),
        (
            &user,
            Answer::Elicit(McpReply::Accept(Some(raw(&json!({"n": 3}))))),
            json!({"action": "accept", "content": {"n": 3}}),
        ),
        (
            &user,
            Answer::Elicit(McpReply::Decline),
            json!({"action": "decline"}),
        ),
        (
            &user,
            Answer::Elicit(McpReply::Cancel),
            json!({"action": "cancel"}),
        ),
    ];
    for (request, answered, payload) in cases {
        h.asks("r1", request);
        h.settle(answered);
        let told = answer(&mut h);
        assert_eq!(
            (&told["subtype"], &told["response"]),
            (&json!("success"), &payload)
        );
        assert_eq!(told.get("response").is_none(), payload.is_null());
    }
    assert_eq!(h.open.len(), 0);
}

/// Whatever goes wrong with a question on this side is an error answer.
// covers: WIRE-PERM-002
#[test]
fn no_failure_of_an_embedder_is_leave() {
    let mut h = HostBench::new();
    h.asks_leave("r1", "t1");
    h.settle(Answer::Failed("the window is gone".to_string()));
    let expected = json!({"subtype": "error", "request_id": "r1", "error": "the window is gone"});
    assert_eq!(answer(&mut h), expected);
    h.asks(
        "r2",
        &json!({"subtype": "hook_callback", "callback_id": "h", "input": {}}),
    );
    h.settle(Answer::Hook(raw(&json!("text"))));
    let told = answer(&mut h);
    assert_eq!(told["error"], "the answer of the hook is no object");
    // An answer of another kind is a bug, and settles nothing.
    h.replays = false;
    h.asks_leave("r3", "t3");
    let (id, _) = h.open[0].clone();
    let wrong = Input::Done(id, Answer::Hook(RawJson::empty_object()));
    assert_eq!(h.try_feed(wrong), Err(Misuse::WrongAnswer));
    h.settle(Answer::Permit(Decision::allow()));
    assert_eq!(answer(&mut h)["subtype"], "success");
    let again = Input::Done(id, Answer::Permit(Decision::allow()));
    assert_eq!(h.try_feed(again), Err(Misuse::EffectSettledTwice));
    assert_eq!(h.written(), Vec::<Value>::new());
}

// covers: WIRE-PERM-070
#[test]
fn what_the_agent_takes_back_is_cancelled_and_a_late_answer_means_nothing() {
    let mut h = HostBench::new();
    h.asks_leave("r1", "t1");
    h.asks_leave("r2", "t2");
    let (id, _) = h.open[0].clone();
    let cancel = json!({"type": "control_cancel_request", "request_id": "r1"});
    h.record(&cancel);
    assert_eq!(permit(&h), "t2");
    h.done(id, Answer::Permit(Decision::allow()));
    assert_eq!(h.written(), Vec::<Value>::new());
    // It crosses our answer, or is about nothing.
    h.settle(Answer::Permit(Decision::deny("no")));
    h.written();
    h.record(&json!({"type": "control_cancel_request", "request_id": "r2"}));
    h.record(&cancel);
    assert_eq!((h.written(), h.diagnostics()), (Vec::new(), Vec::new()));
}

#[test]
fn a_request_that_cannot_be_put_to_anybody_is_an_error_to_the_agent() {
    let mut h = with_limits(|limits| limits.host_requests = 1);
    h.asks("r1", &json!({"subtype": "sing", "song": 1}));
    assert_eq!(
        answer(&mut h)["error"],
        "unsupported control request \"sing\""
    );
    h.asks("r2", &json!({"subtype": "can_use_tool", "tool_name": "Do"}));
    assert_eq!(
        answer(&mut h)["error"],
        "can_use_tool: a member is missing or has another shape"
    );
    h.record(&json!({"type": "control_request", "request_id": "r3"}));
    assert_eq!(answer(&mut h)["error"], "missing request");
    h.asks("r3", &json!({}));
    assert_eq!(answer(&mut h)["error"], "missing subtype");
    h.asks_leave("r4", "t4");
    // The id of an open request: an answer to it would be one to the first.
    h.asks_leave("r4", "t5");
    assert_eq!(
        h.diagnostics(),
        ["the agent uses the id of an open request again"]
    );
    h.asks_leave("r5", "t5");
    assert_eq!(answer(&mut h)["error"], "too many requests are open");
    assert_eq!(permit(&h), "t4");
}

// ---- what it writes -----------------------------------------------------------------

#[test]
fn prompts_have_a_uuid_and_say_what_they_were_given() {
    let mut h = HostBench::new();
    h.prompt(Prompt::text("one"));
    let record = only(&mut h);
    let own = record["uuid"].as_str().expect("a uuid").to_string();
    assert_eq!((own.len(), &own[14..15]), (36, "4"));
    h.prompt(
        Prompt::of(UserContent::Blocks(vec!["a".to_string(), "b".to_string()]))
            .with_uuid(uuid(2))
            .with_priority(Priority::Now),
    );
    let blocks = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
    let expected = json!({"type": "user", "uuid": uuid(2), "message": {"role": "user", "content": blocks},
        "parent_tool_use_id": null, "priority": "now"});
    assert_eq!(only(&mut h), expected);
    let prompted: Vec<_> = h
        .events()
        .map(|event| match event {
            Event::Prompted(uuid) => uuid.to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(prompted, [own, uuid(2)]);
}

/// The UUIDs that were not sent, with their reasons.
fn unsent(h: &HostBench) -> Vec<(Option<String>, Unsent)> {
    let events = h.events().filter_map(|event| match event {
        Event::Unsent { uuid, why } => Some((uuid.as_deref().map(str::to_string), *why)),
        _ => None,
    });
    events.collect()
}

#[test]
fn what_cannot_be_sent_is_told_and_the_rest_goes_on() {
    let mut config = Config::new(Seed::from_u64(1));
    config.limits.record_bytes = 400;
    config.limits.host_prompts = 2;
    config.credentials = agentx_core::guard::Guard::new(["hunter2"]).expect("a guard");
    let mut h = HostBench::with(config);
    h.prompt(Prompt::text("mine is hunter2").with_uuid(uuid(1)));
    h.prompt(Prompt::text("x".repeat(400)).with_uuid(uuid(2)));
    h.prompt(Prompt::text("go").with_uuid("no uuid"));
    h.prompt(Prompt::text("go").with_uuid(uuid(3)));
    h.prompt(Prompt::text("go again").with_uuid(uuid(3)));
    h.prompt(Prompt::text("go").with_uuid(uuid(4)));
    h.prompt(Prompt::text("go").with_uuid(uuid(5)));
    let variables = [("KEY".into(), "hunter2".to_string())].into();
    h.command(Command::Environment(EnvironmentUpdate { variables }));
    assert_eq!(
        unsent(&h),
        [
            (Some(uuid(1)), Unsent::Credential),
            (Some(uuid(2)), Unsent::TooLarge),
            (Some("no uuid".to_string()), Unsent::BadUuid),
            (Some(uuid(3)), Unsent::BadUuid),
            (Some(uuid(5)), Unsent::TooMany),
            (None, Unsent::Credential),
        ]
    );
    assert_eq!(h.written().len(), 2);
    // A credential in an answer withholds it, and the agent is told so.
    h.asks_leave("r1", "t1");
    h.settle(Answer::Permit(Decision::deny("hunter2")));
    let told = answer(&mut h);
    assert_eq!(
        told["error"],
        "the answer was withheld: it holds a credential"
    );
    h.asks_leave("r2", "t1");
    h.settle(Answer::Failed("no hunter2 here".to_string()));
    assert_eq!(answer(&mut h)["error"], "no [redacted] here");
    h.asks(
        "r3",
        &json!({"subtype": "hook_callback", "callback_id": "h", "input": {}}),
    );
    h.settle(Answer::Hook(raw(&json!({"reason": "y".repeat(400)}))));
    assert_eq!(
        answer(&mut h)["error"],
        "the answer was withheld: it does not fit a record"
    );
}

// covers: DEC-22
#[test]
fn variables_and_keep_alives_are_records_of_their_own() {
    let mut h = HostBench::new();
    let variables = [("A".into(), "1".to_string())].into();
    h.command(Command::Environment(EnvironmentUpdate { variables }));
    h.command(Command::KeepAlive);
    assert_eq!(
        h.written(),
        [
            json!({"type": "update_environment_variables", "variables": {"A": "1"}}),
            json!({"type": "keep_alive"}),
        ]
    );
}

#[test]
fn unsent_output_makes_commands_unwelcome_and_too_much_of_it_ends_the_output() {
    use agentx_core::machine::Machine as _;
    let mut h = with_limits(|limits| {
        limits.progress_pause_bytes = 200;
        limits.host_output_bytes = 600;
    });
    assert!(h.session.wants().progress);
    h.prompt(Prompt::text("x".repeat(200)).with_uuid(uuid(1)));
    assert!(!h.session.wants().progress && h.session.wants().bytes);
    let written = h.bytes.len();
    h.feed(Input::Sent(written));
    assert!(h.session.wants().progress);
    let call = h.call(agentx_core::schema::host::Interrupt);
    h.prompt(Prompt::text("x".repeat(600)).with_uuid(uuid(2)));
    assert!(h.closed);
    assert_eq!(h.diagnostics(), ["the agent does not read what it is told"]);
    assert_eq!(
        h.answers_to(call),
        [&Err(agentx_core::host::CallError::Closed)]
    );
    assert!(h.session.wants().bytes && !h.session.wants().progress);
}

// ---- how it ends --------------------------------------------------------------------

fn result(prompt: u32) -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "duration_ms": 1, "duration_api_ms": 1,
        "num_turns": 1, "result": "done", "stop_reason": "end_turn", "total_cost_usd": null,
        "usage": {"input_tokens": 1, "output_tokens": 1, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0, "reasoning_output_tokens": 0, "total_tokens": 2},
        "modelUsage": {}, "permission_denials": [], "prompt_uuid": uuid(prompt), "uuid": "u", "session_id": "s"})
}

// covers: WIRE-008
#[test]
fn the_agent_may_end_first() {
    let mut h = HostBench::new();
    h.prompt(Prompt::text("one").with_uuid(uuid(1)));
    h.prompt(Prompt::text("two").with_uuid(uuid(2)));
    let call = h.call(agentx_core::schema::host::McpStatus);
    h.asks_leave("r1", "t1");
    h.record(&result(1));
    h.feed(Input::Eof);
    assert_eq!(
        h.answers_to(call),
        [&Err(agentx_core::host::CallError::Closed)]
    );
    assert!(h.closed && h.open.is_empty());
    let exit = h.exit.clone().expect("an end");
    assert_eq!((exit.end, exit.calls, exit.requests), (End::Stream, 1, 1));
    assert_eq!(exit.prompts, [uuid(2).into()]);
    assert_eq!(exit.unsent, h.bytes.len());
}

#[test]
fn the_host_may_end_first_and_reads_on() {
    use agentx_core::machine::Machine as _;
    let mut h = HostBench::new();
    h.prompt(Prompt::text("one").with_uuid(uuid(1)));
    let call = h.call(agentx_core::schema::host::McpStatus);
    let id = h.request_id();
    h.asks_leave("r1", "t1");
    h.command(Command::Close);
    h.command(Command::Close);
    assert!(h.closed && h.open.is_empty(), "nobody can be answered");
    h.written();
    // What comes now is not for us to answer.
    h.asks_leave("r2", "t2");
    h.prompt(Prompt::text("late").with_uuid(uuid(2)));
    let late = h.call(agentx_core::schema::host::Interrupt);
    h.command(Command::KeepAlive);
    assert_eq!(unsent(&h), [(Some(uuid(2)), Unsent::Closed)]);
    assert_eq!(
        h.answers_to(late),
        [&Err(agentx_core::host::CallError::Closed)]
    );
    assert!(h.session.wants().bytes && h.open.is_empty());
    h.answers(&id, &json!({"mcpServers": []}));
    assert!(h.answers_to(call)[0].is_ok());
    h.record(&result(1));
    h.feed(Input::Eof);
    let exit = h.exit.clone().expect("an end");
    assert_eq!(
        (exit.end, exit.calls, exit.requests, exit.prompts.len()),
        (End::Stream, 0, 0, 0)
    );
    assert_eq!(h.written(), Vec::<Value>::new());
}

#[test]
fn an_agent_that_cannot_be_written_to_is_still_read() {
    let mut h = HostBench::new();
    h.prompt(Prompt::text("one").with_uuid(uuid(1)));
    let call = h.call(agentx_core::schema::host::McpStatus);
    h.asks_leave("r1", "t1");
    h.feed(Input::WriteFailed);
    h.feed(Input::WriteFailed);
    assert_eq!(h.diagnostics(), ["the agent's input cannot be written"]);
    assert_eq!(
        h.answers_to(call),
        [&Err(agentx_core::host::CallError::Closed)]
    );
    assert!(h.closed && h.open.is_empty() && h.exit.is_none());
    h.record(&result(1));
    assert_eq!(h.told().count(), 1);
    h.feed(Input::Eof);
    assert_eq!(h.exit.clone().expect("an end").prompts.len(), 0);
}

#[test]
fn an_embedder_may_abandon_everything() {
    let mut h = HostBench::new();
    let call = h.call(agentx_core::schema::host::McpStatus);
    h.asks_leave("r1", "t1");
    h.command(Command::Abandon);
    assert_eq!(h.answers_to(call).len(), 1);
    let exit = h.exit.clone().expect("an end");
    assert_eq!(
        (exit.end, exit.calls, exit.requests),
        (End::Abandoned, 1, 1)
    );
    assert_eq!(h.try_feed(Input::Eof), Err(Misuse::InputAfterExit));
}
