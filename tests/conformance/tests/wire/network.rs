//! The question whether a tool may connect to a host (WIRE-PERM-080).

use crate::hooks::called;
use agentx_conformance::session::{Bench, config, hooked};
use agentx_core::agent::{Config, Input};
use agentx_core::effect::{Answer, Progress, Reply};
use agentx_core::hook::HookEvent::PermissionRequest;
use agentx_core::schema::permission::PermissionMode;
use agentx_core::tool::ToolOutcome;
use serde_json::json;

/// A tool of `Do` that runs and asks whether it may connect to `example.org`.
fn connecting(config: Config) -> Bench {
    let mut b = called(Config {
        permission_mode: PermissionMode::BypassPermissions,
        ..config
    });
    let (id, _) = b.tool("t1");
    b.feed(Input::Progress(
        id,
        Progress::Network("example.org".to_string()),
    ));
    b
}

fn network(b: &Bench) -> Vec<bool> {
    let replies = b.replies();
    let allowed = replies.iter().map(|(_, reply)| {
        let Reply::Network { host, allowed } = reply;
        assert_eq!(host, "example.org");
        *allowed
    });
    allowed.collect()
}

// covers: WIRE-PERM-004, WIRE-PERM-080, WIRE-PERM-A07
#[test]
fn a_question_about_the_network_takes_the_same_road() {
    let mut b = connecting(config());
    let records = b.records();
    let briefs: Vec<_> = records
        .iter()
        .map(|record| record["type"].clone())
        .collect();
    assert_eq!(briefs, ["system", "control_request"]);
    let request = &records[1]["request"];
    let call = request["tool_use_id"].as_str().expect("an id").to_string();
    assert_ne!(call, "t1", "a fresh id");
    assert_eq!(
        *request,
        json!({"subtype": "can_use_tool", "tool_name": "SandboxNetworkAccess", "input": {"host": "example.org"}, "tool_use_id": call, "description": "Allow network connection to example.org?"})
    );
    assert_eq!(records[0]["requires_action"]["tool_use_id"], *call);
    let id = b.question(&call);
    b.allow(&id);
    assert_eq!(network(&b), [true]);
    assert_eq!(b.briefs(), ["state running"]);
    assert_eq!(b.running(), ["t1"], "the tool goes on");
}

// covers: WIRE-PERM-004, WIRE-PERM-080, WIRE-PERM-A07
#[test]
fn only_an_allow_opens_the_network() {
    for answer in [
        json!({"behavior": "deny", "message": "no"}),
        json!({"behavior": "perhaps"}),
        json!({"behavior": "allow"}),
    ] {
        let mut b = connecting(config());
        let id = b.questions()[0].clone();
        b.respond(&id, &answer);
        assert_eq!(network(&b), [false], "{answer}");
    }
    let mut b = connecting(config());
    b.eof();
    assert_eq!(network(&b), [false]);
    let alone = Config {
        host_answers: false,
        ..config()
    };
    assert_eq!(network(&connecting(alone)), [false]);
    // A tool that has ended needs no answer, and the host none from it.
    let mut b = connecting(config());
    let (id, _) = b.tool("t1");
    b.records();
    b.done(id, Answer::Tool(ToolOutcome::text("done")));
    assert_eq!(b.briefs(), ["cancel", "state running", "tool_result t1"]);
    assert!(network(&b).is_empty());
    assert_eq!(b.session.pending_requests(), 0);
}

// covers: WIRE-PERM-004
#[test]
fn a_mode_that_asks_nobody_denies_the_network() {
    let mut b = called(hooked(&[PermissionRequest]));
    let call = b.question("t1");
    let mode = json!({"type": "setMode", "mode": "dontAsk", "destination": "session"});
    b.respond(
        &call,
        &json!({"behavior": "allow", "updatedInput": {}, "updatedPermissions": [mode]}),
    );
    let (id, _) = b.tool("t1");
    b.records();
    b.feed(Input::Progress(
        id,
        Progress::Network("example.org".to_string()),
    ));
    assert_eq!(network(&b), [false]);
    assert!(b.briefs().is_empty(), "neither host nor hook is asked");
    assert_eq!(b.running(), ["t1"], "the tool goes on");
}

// covers: WIRE-PERM-001, WIRE-PERM-080
#[test]
fn hooks_race_for_the_network_as_well() {
    let mut b = connecting(hooked(&[PermissionRequest]));
    b.records();
    b.hook_says(r#"{"decision":"allow"}"#);
    assert_eq!(network(&b), [true]);
    assert_eq!(
        b.briefs(),
        ["system/hook_response", "cancel", "state running"]
    );
}
