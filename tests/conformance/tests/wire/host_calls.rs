//! Calls of a host: each is written once and ends once.

use agentx_conformance::host::HostBench;
use agentx_core::host::{CallError, CallId, Command, Config, Input, Unsent};
use agentx_core::ids::Seed;
use agentx_core::json::RawJson;
use agentx_core::machine::{Machine as _, Misuse};
use agentx_core::schema::host::{
    ApplyFlagSettings, Call, CancelAsyncMessage, GetContextUsage, GetSettings, HookMatcher,
    Initialize, Interrupt, McpReconnect, McpSend, McpSetServers, McpStatus, McpToggle, OnFailure,
    OtherCall, ReloadPlugins, RewindFiles, SeedReadState, SetMaxThinkingTokens, SetModel,
    SetPermissionMode, StopTask,
};
use agentx_core::schema::inbound::{self, Inbound, ParseContext};
use agentx_core::schema::permission::PermissionMode;
use agentx_core::time::Instant;
use core::time::Duration;
use serde_json::{Value, json};

fn raw(value: &Value) -> RawJson {
    RawJson::parse(&value.to_string()).expect("JSON")
}

/// One call of each operation, and its members beside the subtype.
fn calls() -> Vec<(Call, Value)> {
    let group = HookMatcher {
        matcher: Some("Do".to_string()),
        callbacks: vec!["h".into()],
        timeout: Some(5),
        on_failure: Some(OnFailure::Continue),
    };
    let initialize = Initialize {
        hooks: Some([("Stop".into(), vec![group])].into()),
        sdk_servers: Some(vec!["calc".into()]),
        prompt_suggestions: true,
        ..Initialize::default()
    };
    let groups =
        json!([{"matcher": "Do", "hookCallbackIds": ["h"], "timeout": 5, "onFailure": "continue"}]);
    let server = || "calc".into();
    vec![
        (Initialize::default().into(), json!({})),
        (
            initialize.into(),
            json!({"hooks": {"Stop": groups}, "sdkMcpServers": ["calc"], "promptSuggestions": true}),
        ),
        (Interrupt.into(), json!({})),
        (GetContextUsage.into(), json!({})),
        (McpStatus.into(), json!({})),
        (
            SetPermissionMode {
                mode: PermissionMode::Plan,
            }
            .into(),
            json!({"mode": "plan"}),
        ),
        (SetModel { model: None }.into(), json!({})),
        (
            SetModel {
                model: Some("m".to_string()),
            }
            .into(),
            json!({"model": "m"}),
        ),
        (
            SetMaxThinkingTokens {
                max_thinking_tokens: None,
            }
            .into(),
            json!({"max_thinking_tokens": null}),
        ),
        (GetSettings.into(), json!({})),
        (
            ApplyFlagSettings {
                settings: raw(&json!({"model": "m"})),
            }
            .into(),
            json!({"settings": {"model": "m"}}),
        ),
        (ReloadPlugins.into(), json!({})),
        (
            RewindFiles {
                user_message_id: "u".into(),
                dry_run: true,
            }
            .into(),
            json!({"user_message_id": "u", "dry_run": true}),
        ),
        (
            CancelAsyncMessage {
                message_uuid: "u".into(),
            }
            .into(),
            json!({"message_uuid": "u"}),
        ),
        (
            StopTask {
                task_id: "t".into(),
            }
            .into(),
            json!({"task_id": "t"}),
        ),
        (
            SeedReadState {
                path: "/a".to_string(),
                mtime: 7,
            }
            .into(),
            json!({"path": "/a", "mtime": 7}),
        ),
        (
            McpReconnect {
                server_name: server(),
            }
            .into(),
            json!({"serverName": "calc"}),
        ),
        (
            McpToggle {
                server_name: server(),
                enabled: false,
            }
            .into(),
            json!({"serverName": "calc", "enabled": false}),
        ),
        (
            McpSetServers {
                servers: raw(&json!({"calc": {}})),
            }
            .into(),
            json!({"servers": {"calc": {}}}),
        ),
        (
            McpSend {
                server_name: server(),
                message: raw(&json!({"method": "x"})),
            }
            .into(),
            json!({"server_name": "calc", "message": {"method": "x"}}),
        ),
        (
            Call::Other(OtherCall::new("sing", raw(&json!({"song": [1]}))).expect("members")),
            json!({"song": [1]}),
        ),
    ]
}

/// The agent's own reader knows each, in the profile that has them all.
#[test]
fn every_call_is_written_as_the_agent_reads_it() {
    let mut h = HostBench::new();
    for (call, members) in calls() {
        let subtype = call.subtype().to_string();
        h.call(call);
        let written = h.written().pop().expect("a record");
        let mut request = json!({"subtype": subtype});
        if let (Some(request), Value::Object(members)) = (request.as_object_mut(), members) {
            request.extend(members);
        }
        let expected =
            json!({"type": "control_request", "request_id": h.request_id(), "request": request});
        assert_eq!(written, expected);
        let record = raw(&written);
        let mut scanner = agentx_core::json::Scanner::new();
        let value = scanner.scan(record.as_str().as_bytes(), &Default::default());
        let context = ParseContext {
            session_id: "s",
            limits: &agentx_core::limits::Limits::DEFAULT,
            guard: &agentx_core::guard::Guard::default(),
            reference: true,
        };
        let read = inbound::parse(value.expect("JSON"), &context, 1).expect("a record");
        let Inbound::ControlRequest(read) = read else {
            panic!("{read:?}");
        };
        match read.operation.expect("an operation that fits") {
            inbound::Operation::Shared(shared) => assert_eq!(shared.name(), subtype),
            other => assert_eq!(other, inbound::Operation::Other("sing".to_string())),
        }
    }
}

#[test]
fn members_of_another_call_cannot_rename_it() {
    use agentx_core::schema::host::BadCall;
    let of = |members: Value| OtherCall::new("sing", raw(&members)).map(|_| ());
    assert_eq!(of(json!([])), Err(BadCall::NotAnObject));
    assert_eq!(
        of(json!({"subtype": "interrupt"})),
        Err(BadCall::NamesSubtype)
    );
    let spelled = RawJson::parse(r#"{"\u0073ubtype":1}"#).expect("JSON");
    assert_eq!(OtherCall::new("sing", spelled), Err(BadCall::NamesSubtype));
    assert_eq!(of(json!({})), Ok(()));
}

// covers: WIRE-006, WIRE-009
#[test]
fn answers_come_in_any_order_and_once() {
    let mut h = HostBench::new();
    let one = h.call(McpStatus);
    let first = h.request_id();
    let two = h.call(GetContextUsage);
    let second = h.request_id();
    assert_ne!(first, second);
    h.answers(&second, &json!({"n": 2}));
    h.answers(&second, &json!({"n": 3}));
    let refused = json!({"subtype": "error", "request_id": first, "error": "not now",
        "pending_permission_requests": [{"type": "control_request", "request_id": "r", "request": {}}]});
    h.record(&json!({"type": "control_response", "response": refused}));
    assert_eq!(h.answers_to(two), [&Ok(Some(raw(&json!({"n": 2}))))]);
    let [
        Err(CallError::Refused {
            message,
            pending_permission_requests,
        }),
    ] = h.answers_to(one)[..]
    else {
        panic!("{:?}", h.answers_to(one));
    };
    assert_eq!(
        (message.as_str(), pending_permission_requests.len()),
        ("not now", 1)
    );
    assert_eq!(h.session.waiting_calls(), 0);
    assert_eq!(
        h.diagnostics(),
        Vec::<&str>::new(),
        "a known answer is late"
    );
    h.answers("call_of_nobody", &Value::Null);
    assert_eq!(
        h.diagnostics(),
        ["the agent answers a call that nobody made"]
    );
}

#[test]
fn an_answer_that_breaks_its_form_is_told_as_one() {
    for response in [
        json!({"subtype": "success", "response": null}),
        json!({"subtype": "maybe"}),
        json!({"subtype": "error"}),
    ] {
        let mut h = HostBench::new();
        let call = h.call(McpStatus);
        let mut response = response;
        response["request_id"] = json!(h.request_id());
        h.record(&json!({"type": "control_response", "response": response}));
        let answers = h.answers_to(call);
        assert!(
            matches!(answers[..], [Err(CallError::Invalid(_))]),
            "{answers:?}"
        );
    }
}

// covers: WIRE-007
#[test]
fn a_call_that_is_not_answered_in_time_has_ended() {
    let mut h = HostBench::new();
    let usual = h.call(McpStatus);
    let late = h.request_id();
    let quick = h.call_within(McpStatus, Some(Duration::from_millis(10)));
    assert_eq!(h.session.deadline(), Some(Instant::from_micros(10_000)));
    h.wait(10);
    assert_eq!(h.answers_to(quick), [&Err(CallError::TimedOut)]);
    assert_eq!(h.session.deadline(), Some(Instant::from_micros(60_000_000)));
    h.wait(59_989);
    assert_eq!(h.answers_to(usual).len(), 0);
    h.wait(1);
    assert_eq!(h.answers_to(usual), [&Err(CallError::TimedOut)]);
    assert_eq!(h.session.deadline(), None);
    let written = h.written().len();
    h.answers(&late, &Value::Null);
    assert_eq!((h.answers_to(usual).len(), h.diagnostics().len()), (1, 0));
    assert_eq!(
        (written, h.written().len()),
        (2, 0),
        "there is no record to take a call back"
    );
}

/// What is due when its answer comes was due before it.
#[test]
fn an_answer_at_the_last_moment_is_too_late() {
    let mut h = HostBench::new();
    let call = h.call_within(McpStatus, Some(Duration::from_millis(10)));
    let id = h.request_id();
    h.now = Instant::from_micros(10_000);
    h.answers(&id, &Value::Null);
    assert_eq!(h.answers_to(call), [&Err(CallError::TimedOut)]);
}

#[test]
fn a_forgotten_call_has_ended() {
    let mut h = HostBench::new();
    let call = h.call(McpStatus);
    let id = h.request_id();
    h.command(Command::Forget(call));
    h.command(Command::Forget(call));
    h.answers(&id, &Value::Null);
    assert_eq!(h.answers_to(call), [&Err(CallError::Forgotten)]);
    assert_eq!(h.diagnostics(), Vec::<&str>::new());
}

#[test]
fn a_name_is_used_by_one_call_at_a_time() {
    let mut h = HostBench::new();
    let call = |name| {
        Input::Command(Command::Call {
            id: CallId(name),
            call: Box::new(McpStatus.into()),
            timeout: None,
        })
    };
    h.feed(call(7));
    assert_eq!(h.try_feed(call(7)), Err(Misuse::WrongState));
    assert_eq!(h.written().len(), 1, "nothing has happened");
    let id = h.request_id();
    h.answers(&id, &Value::Null);
    h.feed(call(7));
    assert_eq!(h.answers_to(CallId(7)).len(), 1);
    assert_eq!(h.session.waiting_calls(), 1);
}

#[test]
fn a_call_that_cannot_be_sent_fails_at_once() {
    let mut config = Config::new(Seed::from_u64(1));
    config.limits.host_calls = 1;
    config.limits.depth = 8;
    config.limits.node_depth = 8;
    config.credentials = agentx_core::guard::Guard::new(["hunter2"]).expect("a guard");
    let mut h = HostBench::with(config);
    let deep = raw(&json!([[[[[[[1]]]]]]]));
    let deep = h.call(ApplyFlagSettings { settings: deep });
    assert_eq!(
        h.answers_to(deep),
        [&Err(CallError::Unsent(Unsent::TooLarge))]
    );
    let leaks = h.call(SetModel {
        model: Some("hunter2".to_string()),
    });
    assert_eq!(
        h.answers_to(leaks),
        [&Err(CallError::Unsent(Unsent::Credential))]
    );
    let fits = h.call(Interrupt);
    let more = h.call(Interrupt);
    assert_eq!(
        h.answers_to(more),
        [&Err(CallError::Unsent(Unsent::TooMany))]
    );
    assert_eq!((h.answers_to(fits).len(), h.written().len()), (0, 1));
}

/// In replay mode an agent repeats our answers; they answer no call.
// covers: WIRE-PERM-073
#[test]
fn an_answer_of_ours_may_come_back() {
    let mut h = HostBench::new();
    h.asks_leave("r1", "t1");
    h.settle(agentx_core::host::Answer::Failed("no".to_string()));
    let echo = h.written().pop().expect("an answer");
    h.record(&echo);
    assert_eq!((h.diagnostics().len(), h.written().len()), (0, 0));
}
