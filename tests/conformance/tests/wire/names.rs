//! Duplicate member names, inbound at every level and outbound as raw text.

use agentx_conformance::session::{Bench, config};
use agentx_core::agent::Input;
use agentx_core::guard::Guard;
use agentx_core::limits::Limits;
use agentx_core::link::{Link, Refused};

const AMBIGUOUS: &str = "ambiguous JSON: duplicate member name";

// covers: ACC-20, WIRE-014, WIRE-021, DEC-03
#[test]
fn a_repeated_name_is_fatal_at_every_level() {
    for (level, line) in [
        (
            "outer",
            r#"{"type":"control_request","request_id":"a","request":{"subtype":"interrupt"},"type":"keep_alive"}"#,
        ),
        (
            "outer, escaped",
            r#"{"type":"control_request","request_id":"a","request":{"subtype":"interrupt"},"request\u005fid":"b"}"#,
        ),
        (
            "request",
            r#"{"type":"control_request","request_id":"a","request":{"subtype":"interrupt","subtype":"initialize"}}"#,
        ),
        (
            "request, escaped",
            r#"{"type":"control_request","request_id":"a","request":{"subtype":"interrupt","\u0073ubtype":"initialize"}}"#,
        ),
        (
            "operation payload",
            r#"{"type":"control_request","request_id":"a","request":{"subtype":"set_model","model":{"x":{"y":1,"y":2}}}}"#,
        ),
        (
            "response",
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"a","request_id":"b"}}"#,
        ),
        (
            "alias twice",
            r#"{"type":"control_response","response":{"subtype":"success","requestId":"a","requestId":"b"}}"#,
        ),
        (
            "payload",
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"a","response":{"behavior":"deny","behavior":"allow"}}}"#,
        ),
        (
            "payload, deep and escaped",
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"a","response":{"behavior":"allow","updatedInput":{"a":[{"b":1,"\u0062":2}]}}}}"#,
        ),
        (
            "pending control",
            r#"{"type":"control_response","response":{"subtype":"error","request_id":"a","error":"x","pending_permission_requests":[{"type":"control_request","request_id":"p","request":{"subtype":"can_use_tool","input":{"k":1,"k":1}}}]}}"#,
        ),
        (
            "user",
            r#"{"type":"user","message":{"content":[{"type":"text","text":"a","text":"b"}]}}"#,
        ),
        (
            "import",
            r#"{"type":"attachment_import","version":1,"operation":"commit","upload_id":"upl_a","upload_id":"upl_b"}"#,
        ),
        (
            "unknown type",
            r#"{"type":"weather","deep":[[{"a":0,"a":0}]]}"#,
        ),
        ("ignored type", r#"{"type":"keep_alive","a":0,"a":0}"#),
    ] {
        let mut b = Bench::new(config());
        b.prompt(1, "go");
        b.calls(&[("t1", "Do", "{}")]);
        let id = b.question("t1");
        b.feed(Input::Bytes(
            line.replace(r#""request_id":"a""#, &format!(r#""request_id":"{id}""#))
                .as_bytes(),
        ));
        b.feed(Input::Bytes(b"\n"));
        let records = b.records();
        let text = records.last().expect("a result")["errors"][0].to_string();
        assert!(text.contains(AMBIGUOUS), "{level}: {text}");
        assert!(
            b.diagnostics()
                .last()
                .is_some_and(|told| told.contains(AMBIGUOUS))
        );
        assert!(b.find_tool("t1").is_none(), "{level}");
        assert_eq!(b.exit, Some(1), "{level}");
    }
}

// covers: ACC-20, WIRE-014, WIRE-PERM-012
#[test]
fn a_canonical_name_and_its_alias_are_two_names() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", "{}")]);
    let id = b.question("t1");
    b.line(&format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","requestId":"x","request_id":"{id}","response":{{"behavior":"allow","updatedInput":{{}}}}}}}}"#
    ));
    assert!(b.find_tool("t1").is_some());
    b.line(r#"{"type":"update_environment_variables","variables":{"A":"1"},"environment_variables":{"A":"2"}}"#);
    assert_eq!(b.exit, None);
}

// covers: ACC-20, WIRE-014, DEC-03
#[test]
fn a_raw_record_with_a_repeated_name_never_leaves() {
    let mut link = Link::new(&Limits::DEFAULT, String::new(), false);
    let guard = Guard::default();
    for text in [
        r#"{"type":"a","type":"b"}"#,
        r#"{"type":"a","\u0074ype":"b"}"#,
        r#"{"request":{"subtype":"a","subtype":"b"}}"#,
        r#"{"response":{"response":{"a":[{"b":1,"b":2}]}}}"#,
        r#"{"response":{"pending_permission_requests":[{"request":{"x":1,"x":2}}]}}"#,
    ] {
        assert_eq!(
            link.send_raw(&guard, text),
            Err(Refused::Ambiguous),
            "{text}"
        );
    }
    assert_eq!(Refused::Ambiguous.as_str(), AMBIGUOUS);
    assert_eq!(link.send_raw(&guard, "[1]"), Err(Refused::Malformed));
    assert_eq!(link.send_raw(&guard, "{} {}"), Err(Refused::Malformed));
    let half = r#"{"type":"a","b":["\ud800"]}"#;
    assert_eq!(link.send_raw(&guard, half), Err(Refused::Malformed));
    assert_eq!(link.poll(), None, "none of them left a byte");
    assert_eq!(
        link.send_raw(&guard, r#"{ "request_id": 1, "requestId": 2 }"#),
        Ok(())
    );
    assert!(link.poll().is_some(), "and the link is as good as before");
}

// covers: WIRE-014, WIRE-021
#[test]
fn a_model_that_repeats_a_name_gets_an_error_result() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", r#"{"command":"ls","comm\u0061nd":"rm"}"#)]);
    let records = b.records();
    let text = records[2]["message"]["content"][0]["content"][0]["text"].to_string();
    assert!(text.contains(AMBIGUOUS), "{text}");
    assert_eq!(
        records[1]["message"]["content"][0]["input"],
        serde_json::json!({})
    );
}
