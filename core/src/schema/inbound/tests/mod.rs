mod attachment;
mod control;
mod environment;
mod import;
mod user;

use super::{
    ContextKind, Inbound, Malformed, Operation, ParseContext, RECORDS, ResponseBody,
    UNKNOWN_KIND_CHARS, UserRejected, parse,
};
use crate::guard::Guard;
use crate::json::{ScanLimits, Scanner, Value};
use crate::limits::Limits;
use crate::schema::declare::has_shape;
use alloc::format;

const SESSION: &str = "5b0c5ed4-9a6b-4d5e-8f23-1d9d2a6f1c11";

/// What the parser makes of a line. Every line of these tests is held against
/// the shapes, too, from which schemas are told (DEC-47).
fn read_sized(line: &str, line_bytes: usize, limits: Limits) -> Result<Inbound, Malformed> {
    let mut scanner = Scanner::new();
    let value = scanner.scan(line.as_bytes(), &ScanLimits::DEFAULT).unwrap();
    let context = ParseContext {
        session_id: SESSION,
        limits: &limits,
        guard: &Guard::default(),
        reference: false,
    };
    let parsed = parse(value, &context, line_bytes);
    if let Some(accepted) = verdict(&parsed) {
        let kind = value.as_object().and_then(|record| record.get("type"));
        let kind = kind.and_then(Value::as_str);
        let fits = RECORDS
            .iter()
            .any(|(name, shape)| kind.is_some_and(|kind| kind == *name) && has_shape(shape, value));
        assert_eq!(
            fits, accepted,
            "the shape disagrees with {parsed:?}: {line}"
        );
    }
    parsed
}

/// Whether a line was good; `None` where that was decided by something that is
/// no part of a shape.
fn verdict(parsed: &Result<Inbound, Malformed>) -> Option<bool> {
    const BESIDE_SHAPES: [&str; 8] = [
        "unpaired surrogate escape",
        "session_id names another session",
        "can be admitted",
        "attachments are not available in this session",
        "missing or invalid name",
        "missing or invalid mime_type",
        "may not be set",
        "environment update: more than",
    ];
    let refused = |reason: &str| {
        let beside = BESIDE_SHAPES.iter().any(|text| reason.contains(text));
        (!beside).then_some(false)
    };
    match parsed {
        Err(Malformed { reason, .. }) if reason.contains("too large") => None,
        Err(_) | Ok(Inbound::Unknown { .. }) => Some(false),
        Ok(
            Inbound::UserRejected(UserRejected { reason, .. })
            | Inbound::EnvironmentRefused { reason },
        ) => refused(reason),
        Ok(Inbound::ControlRequest(request)) => match &request.operation {
            Err(reason) => refused(reason),
            Ok(
                Operation::Initialize { extra_fields }
                | Operation::Interrupt { extra_fields }
                | Operation::GetContextUsage { extra_fields }
                | Operation::McpStatus { extra_fields },
            ) => Some(!extra_fields),
            Ok(_) => Some(false),
        },
        Ok(Inbound::ControlResponse(response)) => match &response.body {
            ResponseBody::Invalid { reason } => refused(reason),
            _ => Some(true),
        },
        Ok(_) => Some(true),
    }
}

fn read(line: &str) -> Result<Inbound, Malformed> {
    read_sized(line, line.len(), Limits::DEFAULT)
}

fn malformed(at: usize, reason: &'static str) -> Result<Inbound, Malformed> {
    Err(Malformed { at, reason })
}

// covers: DEC-05
#[test]
fn a_record_that_is_no_object_ends_the_stream() {
    for line in ["[]", "null", "7", "\"user\"", "true"] {
        assert_eq!(read(line), malformed(0, "record is not a JSON object"));
    }
    assert_eq!(
        read("  [1]").unwrap_err(),
        Malformed {
            at: 2,
            reason: "record is not a JSON object"
        }
    );
}

// covers: WIRE-002
#[test]
fn an_unknown_type_is_named_and_no_fault() {
    let unknown = |kind: &str| Ok(Inbound::Unknown { kind: kind.into() });
    assert_eq!(read(r#"{"type":"make_tea","user":1}"#), unknown("make_tea"));
    assert_eq!(read(r#"{"type":7}"#), unknown(""));
    assert_eq!(read("{}"), unknown(""));
    assert_eq!(read(r#"{"type":"\ud800"}"#), unknown("\u{fffd}"));
    let long = "ö".repeat(UNKNOWN_KIND_CHARS + 1);
    assert_eq!(
        read(&format!(r#"{{"type":"{long}"}}"#)),
        unknown(&"ö".repeat(UNKNOWN_KIND_CHARS))
    );
}

// covers: WIRE-014
#[test]
fn a_type_may_be_spelled_with_escapes() {
    let line = r#"{"t\u0079pe":"keep\u005falive"}"#;
    assert_eq!(read(line), Ok(Inbound::KeepAlive));
}

#[test]
fn keep_alive_means_nothing_whatever_it_holds() {
    let line = r#"{"type":"keep_alive","seq":[1,"\udc00"]}"#;
    assert_eq!(read(line), Ok(Inbound::KeepAlive));
}

// covers: DEC-44
#[test]
fn assistant_and_system_records_are_prior_context() {
    let context = |kind| {
        Ok(Inbound::Context {
            kind,
            texts: alloc::vec::Vec::new(),
            left_out: 0,
        })
    };
    let line = r#"{"type":"assistant","message":{"content":[]}}"#;
    assert_eq!(read(line), context(ContextKind::Assistant));
    let line = r#"{"type":"system","subtype":"init"}"#;
    assert_eq!(read(line), context(ContextKind::System));
}

#[test]
fn a_fault_tells_where_and_what() {
    let fault = read("[]").unwrap_err();
    assert_eq!(format!("{fault}"), "record is not a JSON object at byte 1");
}
