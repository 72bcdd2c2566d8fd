use super::{malformed, read};
use crate::json::RawJson;
use crate::schema::inbound::{
    ControlRequest, ControlResponse, Inbound, Operation, ResponseBody, UNKNOWN_KIND_CHARS,
};
use alloc::format;
use alloc::string::String;
use alloc::vec;

fn request(line: &str) -> ControlRequest {
    match read(line) {
        Ok(Inbound::ControlRequest(request)) => request,
        other => panic!("{line}: {other:?}"),
    }
}

fn operation(request_object: &str) -> Result<Operation, String> {
    let line =
        format!(r#"{{"type":"control_request","request_id":"r1","request":{request_object}}}"#);
    request(&line).operation
}

fn response(response_object: &str) -> ControlResponse {
    let line = format!(r#"{{"type":"control_response","response":{response_object}}}"#);
    match read(&line) {
        Ok(Inbound::ControlResponse(response)) => response,
        other => panic!("{line}: {other:?}"),
    }
}

fn body(members: &str) -> ResponseBody {
    response(&format!(r#"{{"request_id":"r1",{members}}}"#)).body
}

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

// covers: DEC-38
#[test]
fn fieldless_operations_tell_whether_they_came_with_fields() {
    let cases = |extra_fields| {
        [
            ("initialize", Operation::Initialize { extra_fields }),
            ("interrupt", Operation::Interrupt { extra_fields }),
            (
                "get_context_usage",
                Operation::GetContextUsage { extra_fields },
            ),
            ("mcp_status", Operation::McpStatus { extra_fields }),
        ]
    };
    for (subtype, expected) in cases(false) {
        let plain = operation(&format!(r#"{{"subtype":"{subtype}"}}"#));
        assert_eq!(plain, Ok(expected));
    }
    for (subtype, expected) in cases(true) {
        let more = operation(&format!(r#"{{"hooks":null,"subtype":"{subtype}"}}"#));
        assert_eq!(more, Ok(expected));
    }
}

// covers: WIRE-025
#[test]
fn other_operations_are_known_by_name() {
    let cases = [
        (
            r#"{"subtype":"set_model","model":"x"}"#,
            Operation::SetModel,
        ),
        (
            r#"{"subtype":"set_permission_mode"}"#,
            Operation::SetPermissionMode,
        ),
        (
            r#"{"subtype":"set_max_thinking_tokens","max_thinking_tokens":null}"#,
            Operation::SetMaxThinkingTokens,
        ),
        (
            r#"{"subtype":"set_provider","provider":"x"}"#,
            Operation::Other("set_provider".into()),
        ),
        (r#"{"subtype":""}"#, Operation::Other(String::new())),
    ];
    for (object, expected) in cases {
        assert_eq!(operation(object), Ok(expected));
    }
    let long = "x".repeat(300);
    assert_eq!(
        operation(&format!(r#"{{"subtype":"{long}"}}"#)),
        Ok(Operation::Other("x".repeat(UNKNOWN_KIND_CHARS)))
    );
}

// covers: DEC-07, DEC-04
#[test]
fn a_request_with_an_id_gets_an_error_of_its_own() {
    let line = r#"{"type":"control_request","request_id":"r1"}"#;
    assert_eq!(
        request(line),
        ControlRequest {
            id: "r1".into(),
            operation: Err("missing request".into())
        }
    );
    let cases = [
        ("null", "missing request"),
        ("[]", "request must be an object"),
        (r#""interrupt""#, "request must be an object"),
        ("{}", "missing subtype"),
        (r#"{"subtype":null}"#, "subtype must be a string"),
        (r#"{"subtype":1}"#, "subtype must be a string"),
        (
            r#"{"subtype":"set_model","model":"\ud800"}"#,
            "unpaired surrogate escape",
        ),
    ];
    for (object, expected) in cases {
        assert_eq!(operation(object), Err(expected.into()));
    }
}

// covers: DEC-07, WIRE-PERM-052
#[test]
fn a_control_record_without_a_readable_id_ends_the_stream() {
    let missing = "control record without request_id";
    let unreadable = "request_id is no readable string";
    let cases = [
        (r#"{"type":"control_request","request":{}}"#, "{", missing),
        (
            r#"{"type":"control_request","request_id":null}"#,
            "null",
            unreadable,
        ),
        (
            r#"{"type":"control_request","request_id":7}"#,
            "7",
            unreadable,
        ),
        (
            r#"{"type":"control_request","request_id":"\udfff"}"#,
            r#""\udfff"#,
            unreadable,
        ),
        (
            r#"{"type":"control_request","requestId":"a","request_id":null}"#,
            "null",
            unreadable,
        ),
        (
            r#"{"type":"control_response","request_id":"r1","response":{"subtype":"success"}}"#,
            r#"{"subtype"#,
            missing,
        ),
        (
            r#"{"type":"control_response","response":{"request_id":[],"subtype":"success"}}"#,
            "[]",
            unreadable,
        ),
        (
            r#"{"type":"control_response","request_id":"r1"}"#,
            "{",
            "control_response without a response object",
        ),
        (
            r#"{"type":"control_response","response":null}"#,
            "{",
            "control_response without a response object",
        ),
    ];
    for (line, place, reason) in cases {
        let at = line.find(place).unwrap();
        assert_eq!(read(line), malformed(at, reason), "{line}");
    }
}

// covers: WIRE-PERM-012, WIRE-PERM-013
#[test]
fn the_one_alias_yields_to_the_canonical_name() {
    let line =
        r#"{"type":"control_request","requestId":"a","request":{"subtype":"interrupt"},"x":1}"#;
    assert_eq!(request(line).id, "a");
    let line = r#"{"type":"control_request","requestId":7,"request_id":"b","request":{}}"#;
    assert_eq!(request(line).id, "b");
    assert_eq!(response(r#"{"requestId":"c","subtype":"success"}"#).id, "c");
    let both = response(r#"{"requestId":"c","request_id":"d","subtype":"success"}"#);
    assert_eq!(both.id, "d");
}

// covers: WIRE-PERM-010, WIRE-PERM-011, WIRE-PERM-072
#[test]
fn a_success_with_and_without_a_payload() {
    assert_eq!(
        body(r#""subtype":"success","note":null"#),
        ResponseBody::Success {
            payload: None,
            tool_use_id: None
        }
    );
    assert_eq!(
        body(r#""subtype":"success","response":{ "toolUseID": "t\u0031", "x": [1] }"#),
        ResponseBody::Success {
            payload: Some(raw(r#"{"toolUseID":"t\u0031","x":[1]}"#)),
            tool_use_id: Some("t1".into())
        }
    );
    for payload in [r#"{"toolUseID":7}"#, r#"{"toolUseId":"t"}"#, "[]", "true"] {
        assert_eq!(
            body(&format!(r#""subtype":"success","response":{payload}"#)),
            ResponseBody::Success {
                payload: Some(raw(payload)),
                tool_use_id: None
            }
        );
    }
}

// covers: WIRE-PERM-010
#[test]
fn an_error_with_and_without_open_requests() {
    assert_eq!(
        body(r#""subtype":"error","error":"no","response":{}"#),
        ResponseBody::Error {
            message: "no".into(),
            pending_permission_requests: None
        }
    );
    let open =
        r#"{"type":"control_request","request_id":"p","request":{"subtype":"can_use_tool"}}"#;
    assert_eq!(
        body(&format!(
            r#""subtype":"error","error":"no","pending_permission_requests":[{open}]"#
        )),
        ResponseBody::Error {
            message: "no".into(),
            pending_permission_requests: Some(vec![raw(open)])
        }
    );
}

// covers: DEC-13, WIRE-PERM-053, WIRE-PERM-A04
#[test]
fn an_answer_that_breaks_the_schema_is_invalid() {
    let neither = "answer is neither success nor error";
    let no_text = "error answer without an error text";
    let open = "pending_permission_requests must be a list of control requests";
    let cases = [
        (
            r#""response":{"behavior":"allow"}"#,
            "answer without a subtype",
        ),
        (
            r#""subtype":"ok","response":{"behavior":"allow","updatedInput":{}}"#,
            neither,
        ),
        (r#""subtype":null"#, neither),
        (r#""subtype":"Success""#, neither),
        (
            r#""subtype":"success","response":null"#,
            "payload of a success must not be null",
        ),
        (r#""subtype":"error""#, no_text),
        (r#""subtype":"error","error":null"#, no_text),
        (r#""subtype":"error","error":{}"#, no_text),
        (
            r#""subtype":"error","error":"x","pending_permission_requests":null"#,
            open,
        ),
        (
            r#""subtype":"error","error":"x","pending_permission_requests":[{}]"#,
            open,
        ),
        (
            r#""subtype":"error","error":"x","pending_permission_requests":[{"type":"control_request","request_id":"a"}]"#,
            open,
        ),
        (
            r#""subtype":"error","error":"x","pending_permission_requests":[{"type":"control_request","request":{}}]"#,
            open,
        ),
        (
            r#""subtype":"error","error":"x","pending_permission_requests":[{"type":"user","request_id":"a","request":{}}]"#,
            open,
        ),
        (
            r#""subtype":"success","response":{"behavior":"allow","x":"\ud800"}"#,
            "unpaired surrogate escape",
        ),
    ];
    for (members, reason) in cases {
        let expected = ResponseBody::Invalid {
            reason: reason.into(),
        };
        assert_eq!(body(members), expected, "{members}");
    }
}

// covers: WIRE-PERM-073
#[test]
fn a_uuid_of_the_transport_is_kept_when_it_is_a_string() {
    let uuid = |member: &str| {
        let line = format!(
            r#"{{"type":"control_response",{member}"response":{{"request_id":"r","subtype":"success"}}}}"#
        );
        match read(&line) {
            Ok(Inbound::ControlResponse(response)) => response.uuid,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(uuid(r#""uuid":"u1","#), Some("u1".into()));
    assert_eq!(uuid(r#""uuid":null,"#), None);
    assert_eq!(uuid(""), None);
}
