//! The profile `reference`: which operations are installed, and how they are read.

use agentx_conformance::session::{Bench, config, reference};
use serde_json::{Value, json};

/// The error text of the answer; a success is none.
pub(crate) fn refusal(b: &mut Bench, request: Value) -> Option<String> {
    let record = json!({"type": "control_request", "request_id": "c", "request": request});
    b.line(&record.to_string());
    let response = b.records().pop().expect("an answer")["response"].take();
    response["error"].as_str().map(str::to_string)
}

#[test]
fn shared_operations_drop_what_they_do_not_know() {
    let mut b = Bench::new(reference());
    assert_eq!(
        refusal(&mut b, json!({"subtype": "interrupt", "cancel_queued": 1})),
        None
    );
    assert_eq!(
        refusal(&mut b, json!({"subtype": "mcp_status", "x": {}})),
        None
    );
    let mut b = Bench::new(config());
    assert_eq!(
        refusal(&mut b, json!({"subtype": "mcp_status", "x": {}})).as_deref(),
        Some("mcp_status does not accept operation fields")
    );
}

#[test]
fn shared_operations_need_their_members() {
    let mut b = Bench::new(reference());
    for (request, expected) in [
        (
            json!({"subtype": "mcp_toggle", "enabled": true}),
            "mcp_toggle: missing serverName",
        ),
        (
            json!({"subtype": "mcp_toggle", "serverName": "s", "enabled": "yes"}),
            "mcp_toggle: invalid enabled",
        ),
        (
            json!({"subtype": "seed_read_state", "path": "/x", "mtime": -1}),
            "seed_read_state: mtime is out of range: expected a whole number, 0 or more",
        ),
        (
            json!({"subtype": "mcp_set_servers", "servers": []}),
            "mcp_set_servers: invalid servers",
        ),
    ] {
        assert_eq!(refusal(&mut b, request).as_deref(), Some(expected));
    }
}

#[test]
fn other_profiles_and_other_words_are_unsupported() {
    let unsupported = |name: &str| format!("unsupported control request \"{name}\"");
    let mut b = Bench::new(config());
    assert_eq!(
        refusal(&mut b, json!({"subtype": "get_settings"})),
        Some(unsupported("get_settings"))
    );
    let mut b = Bench::new(reference());
    assert_eq!(
        refusal(&mut b, json!({"subtype": "read_file", "path": "/x"})),
        Some(unsupported("read_file"))
    );
}
