use super::*;
use crate::json::RawJson;
use alloc::string::String;

fn text(name: &str) -> String {
    String::from_utf8(record_schema(name).unwrap()).unwrap()
}

// covers: DEC-47
#[test]
fn every_record_has_a_schema_under_a_name_of_its_own() {
    let names = names();
    for (at, name) in names.iter().enumerate() {
        let schema = text(name);
        assert_eq!(RawJson::parse(&schema).unwrap().as_str(), schema, "{name}");
        assert!(!names.iter().take(at).any(|other| other == name), "{name}");
    }
    assert_eq!(
        names.len(),
        inbound::RECORDS.len()
            + inbound::REFERENCE_RECORDS.len()
            + Outbound::RECORDS.len()
            + ANSWERS.len()
    );
    for name in [
        "host.user",
        "host.keep_alive",
        "agent.keep_alive",
        "agent.system_init",
        "agent.system_session_state_changed",
        "agent.tool_result",
        "agent.user_replay",
        "agent.rate_limit_event",
        "answer.can_use_tool",
    ] {
        assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
    }
}

// covers: DEC-47
#[test]
fn the_direction_may_be_left_out_where_that_leaves_no_doubt() {
    assert_eq!(text("user"), text("host.user"));
    assert_eq!(text("system_init"), text("agent.system_init"));
    for unknown in ["control_request", "nothing", "host.result", "", "agent."] {
        assert_eq!(record_schema(unknown), None, "{unknown}");
    }
}

// covers: DEC-47
#[test]
fn a_record_without_ids() {
    assert_eq!(
        text("agent.control_cancel_request"),
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"agent.control_cancel_request","type":"object","properties":{"type":{"const":"control_cancel_request"},"request_id":{"type":"string"}},"required":["type","request_id"],"additionalProperties":false}"#
    );
}

// covers: DEC-47
#[test]
fn presence_and_ids_of_a_session_record() {
    assert_eq!(
        text("agent.system_status"),
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"agent.system_status","type":"object","properties":{"type":{"const":"system"},"subtype":{"const":"status"},"status":{"anyOf":[{"enum":["compacting"]},{"const":null}]},"permissionMode":{"enum":["default","acceptEdits","plan","dontAsk","bypassPermissions"]},"uuid":{"type":"string"},"session_id":{"type":"string"}},"required":["type","subtype","status","uuid","session_id"],"additionalProperties":false}"#
    );
}

// covers: DEC-47
#[test]
fn flattened_members_and_choices() {
    let hook = text("system_hook_started");
    assert!(hook.contains(r#""subtype":{"const":"hook_started"},"hook_id":{"type":"string"}"#));
    let result = text("result");
    assert!(result.contains(r#""title":"agent.result","anyOf":[{"type":"object""#));
    assert!(result.contains(
        r#""num_turns":{"type":"integer","minimum":0,"maximum":18446744073709551615},"result":"#
    ));
    assert!(result.contains(r#""modelUsage":{"type":"object","additionalProperties":{"#));
    let ids = r#""session_id":{"type":"string"}"#;
    assert_eq!(result.matches(ids).count(), 2);
    let input = text("agent.control_request");
    assert!(input.contains(r#""input":{"not":{"const":null}}"#));
}

// covers: DEC-47, WIRE-021, WIRE-PERM-012, WIRE-PERM-013
#[test]
fn what_is_dropped_and_what_is_refused() {
    let request = text("host.control_request");
    assert!(request.contains(
        r#""properties":{"type":{"const":"control_request"},"request_id":{"type":"string"},"requestId":true,"request":{"anyOf":[{"type":"object","properties":{"subtype":{"const":"initialize"}},"required":["subtype"],"additionalProperties":false},"#
    ), "{request}");
    assert!(request.ends_with(
        r#""required":["type","request"],"allOf":[{"anyOf":[{"required":["request_id"]},{"properties":{"requestId":{"type":"string"}},"required":["requestId"]}]}],"additionalProperties":true}"#
    ), "{request}");
    let environment = text("update_environment_variables");
    assert!(environment.contains(
        r#""variables":{"type":"object","additionalProperties":{"type":"string","pattern":"^[^\\u0000]*$"},"propertyNames":{"pattern":"^[A-Za-z_][A-Za-z0-9_]*$"}},"environment_variables":true"#
    ), "{environment}");
    for closed in ["host.user", "host.attachment_import", "agent.result"] {
        assert!(!text(closed).contains(r#""additionalProperties":true"#));
    }
    let answer = text("answer.can_use_tool");
    assert!(!answer.contains(r#""additionalProperties":false"#));
}

// covers: DEC-47
#[test]
fn one_document_refers_to_every_record_of_both_directions() {
    let schema = String::from_utf8(schema()).unwrap();
    assert_eq!(RawJson::parse(&schema).unwrap().as_str(), schema);
    assert!(schema.starts_with(
        r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"AgentX wire records","anyOf":[{"$ref":"#/$defs/host_to_agent"},{"$ref":"#/$defs/agent_to_host"}],"$defs":{"host_to_agent":{"anyOf":[{"$ref":"#/$defs/host.user"},"##
    ), "{schema}");
    for name in names() {
        let referred = schema.contains(&format!(r##"{{"$ref":"#/$defs/{name}"}}"##));
        let beside = ["answer.", "reference."];
        let beside = beside.iter().any(|side| name.starts_with(side));
        assert_eq!(referred, !beside, "{name}");
        assert!(
            schema.contains(&format!(r#""{name}":{{"#)),
            "{name} has no definition"
        );
    }
}
