//! Answers of the host as records of their own: lifecycles that they close, and
//! their echo in replay mode.

use crate::permission::asked;
use agentx_conformance::session::{Bench, brief, config};
use agentx_core::agent::{Config, Event, Output};
use serde_json::json;

// covers: WIRE-PERM-073
#[test]
fn every_response_with_a_uuid_closes_its_lifecycle() {
    let (mut b, id) = asked(config(), "Do", "{}");
    let send = |b: &mut Bench, uuid: &str, id: &str| {
        let payload = json!({"behavior": "allow", "updatedInput": {}});
        let record = json!({"type": "control_response", "uuid": uuid, "response": {"subtype": "success", "request_id": id, "response": payload}});
        b.line(&record.to_string());
    };
    send(&mut b, "first", &id);
    send(&mut b, "duplicate", &id);
    send(&mut b, "orphan", "req_x");
    let closed: Vec<_> = b
        .outputs
        .iter()
        .filter_map(|output| match output {
            Output::Event(Event::CommandClosed { uuid }) => Some(uuid.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(closed, ["first", "duplicate", "orphan"]);
    assert_eq!(
        b.briefs(),
        ["state running"],
        "nothing of it is on the wire"
    );
}

// covers: WIRE-PERM-073, DEC-50
#[test]
fn a_matched_response_is_echoed_in_replay_mode_before_what_it_causes() {
    let (mut b, id) = asked(
        Config {
            replay_user_messages: true,
            ..config()
        },
        "Do",
        "{}",
    );
    b.line(&format!(
        r#" {{ "response" : {{ "response" : {{ "message" : "no", "behavior" : "deny" }}, "requestId" : "{id}", "x" : 1, "subtype" : "success" }}, "uuid" : "u", "type" : "control_response" }} "#
    ));
    b.allow(&id);
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        [&format!("ack {id}"), "state running", "tool_result t1"],
        "a duplicate is not echoed"
    );
    let canonical = format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{{"message":"no","behavior":"deny"}}}}}}"#
    );
    let bytes = String::from_utf8_lossy(&b.bytes).into_owned();
    assert!(bytes.contains(&format!("\n{canonical}\n")), "{bytes}");
}
