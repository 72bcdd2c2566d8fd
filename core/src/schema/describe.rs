//! JSON Schema (draft 2020-12) of declared records.

use super::declare::{Member, Presence, Shape};
use super::outbound::Outbound;
use crate::json::Writer;
use alloc::vec::Vec;

/// The draft the schemas are written in.
pub const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of the record that [`Outbound::RECORDS`] lists under `name`, as
/// one document; `None` when there is no such record.
#[must_use]
pub fn record_schema(name: &str) -> Option<Vec<u8>> {
    let (name, shape, session) = Outbound::RECORDS
        .iter()
        .find(|(listed, ..)| *listed == name)?;
    let mut w = Writer::new();
    w.begin_object();
    w.member_str("$schema", DIALECT);
    w.member_str("title", name);
    if *session {
        with_ids(shape, &mut w);
    } else {
        keywords(shape, &mut w);
    }
    w.end_object();
    Some(w.finish())
}

/// The ids at the end of every session record.
const IDS: [Member; 2] = [id("uuid"), id("session_id")];

const fn id(name: &'static str) -> Member {
    Member {
        name,
        presence: Presence::Required,
        shape: Shape::String,
    }
}

/// The keywords of a session record, whose shape is told without its ids.
fn with_ids(shape: &Shape, w: &mut Writer) {
    if let Shape::OneOf(shapes) = shape {
        w.key("anyOf");
        w.begin_array();
        for shape in *shapes {
            w.begin_object();
            with_ids(shape, w);
            w.end_object();
        }
        w.end_array();
    } else {
        let mut members = members_of(shape);
        members.extend(IDS);
        object(&members, w);
    }
}

fn schema(shape: &Shape, w: &mut Writer) {
    w.begin_object();
    keywords(shape, w);
    w.end_object();
}

fn keywords(shape: &Shape, w: &mut Writer) {
    match shape {
        Shape::String => w.member_str("type", "string"),
        Shape::Integer => {
            w.member_str("type", "integer");
            w.member_u64("minimum", 0);
        }
        Shape::Number => w.member_str("type", "number"),
        Shape::Bool => w.member_str("type", "boolean"),
        Shape::Any => {}
        Shape::Words(words) => {
            w.key("enum");
            w.begin_array();
            words.iter().for_each(|word| w.string(word));
            w.end_array();
        }
        Shape::Constant(json) => w.member_number_text("const", json),
        Shape::List(item) => {
            w.member_str("type", "array");
            w.key("items");
            schema(item, w);
        }
        Shape::Map(item) => {
            w.member_str("type", "object");
            w.key("additionalProperties");
            schema(item, w);
        }
        Shape::Object(_) => object(&members_of(shape), w),
        Shape::OneOf(shapes) => {
            w.key("anyOf");
            w.begin_array();
            shapes.iter().for_each(|shape| schema(shape, w));
            w.end_array();
        }
    }
}

/// Members in order, flattened records replaced by theirs.
fn members_of(shape: &Shape) -> Vec<Member> {
    let Shape::Object(declared) = shape else {
        return Vec::new();
    };
    let mut members = Vec::new();
    for member in *declared {
        if member.presence == Presence::Flattened {
            members.extend(members_of(&member.shape));
        } else {
            members.push(*member);
        }
    }
    members
}

fn object(members: &[Member], w: &mut Writer) {
    w.member_str("type", "object");
    w.key("properties");
    w.begin_object();
    for member in members {
        w.key(member.name);
        if member.presence == Presence::Nullable {
            w.begin_object();
            w.key("anyOf");
            w.begin_array();
            schema(&member.shape, w);
            schema(&Shape::Constant("null"), w);
            w.end_array();
            w.end_object();
        } else {
            schema(&member.shape, w);
        }
    }
    w.end_object();
    w.key("required");
    w.begin_array();
    let required = members.iter().filter(|m| m.presence != Presence::Optional);
    required.for_each(|member| w.string(member.name));
    w.end_array();
    w.member_bool("additionalProperties", false);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::RawJson;
    use alloc::string::String;

    fn text(name: &str) -> String {
        String::from_utf8(record_schema(name).unwrap()).unwrap()
    }

    // covers: DEC-47
    #[test]
    fn every_record_has_a_schema() {
        for (name, ..) in Outbound::RECORDS {
            let schema = text(name);
            assert_eq!(RawJson::parse(&schema).unwrap().as_str(), schema, "{name}");
        }
        assert_eq!(record_schema("Nothing"), None);
    }

    // covers: DEC-47
    #[test]
    fn a_record_without_ids() {
        assert_eq!(
            text("ControlCancelRequest"),
            r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"ControlCancelRequest","type":"object","properties":{"type":{"const":"control_cancel_request"},"request_id":{"type":"string"}},"required":["type","request_id"],"additionalProperties":false}"#
        );
    }

    // covers: DEC-47
    #[test]
    fn presence_and_ids_of_a_session_record() {
        assert_eq!(
            text("Status"),
            r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Status","type":"object","properties":{"type":{"const":"system"},"subtype":{"const":"status"},"status":{"anyOf":[{"enum":["compacting"]},{"const":null}]},"permissionMode":{"enum":["default","acceptEdits","plan","dontAsk","bypassPermissions"]},"uuid":{"type":"string"},"session_id":{"type":"string"}},"required":["type","subtype","status","uuid","session_id"],"additionalProperties":false}"#
        );
    }

    // covers: DEC-47
    #[test]
    fn flattened_members_and_choices() {
        let hook = text("HookStarted");
        assert!(hook.contains(r#""subtype":{"const":"hook_started"},"hook_id":{"type":"string"}"#));
        let result = text("Result");
        assert!(result.contains(r#""title":"Result","anyOf":[{"type":"object""#));
        assert!(result.contains(r#""num_turns":{"type":"integer","minimum":0},"result":"#));
        assert!(result.contains(r#""modelUsage":{"type":"object","additionalProperties":{"#));
        assert_eq!(
            result.matches(r#""session_id":{"type":"string"}"#).count(),
            2
        );
        let input = text("ControlRequest");
        assert!(input.contains(r#""input":{}"#));
    }
}
