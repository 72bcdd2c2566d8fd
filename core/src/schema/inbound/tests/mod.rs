mod attachment;
mod control;
mod environment;
mod import;
mod user;

use super::{ContextKind, Inbound, Malformed, ParseContext, UNKNOWN_KIND_CHARS, parse};
use crate::guard::Guard;
use crate::json::{ScanLimits, Scanner};
use crate::limits::Limits;
use alloc::format;

const SESSION: &str = "5b0c5ed4-9a6b-4d5e-8f23-1d9d2a6f1c11";

fn read_sized(line: &str, line_bytes: usize, limits: Limits) -> Result<Inbound, Malformed> {
    let mut scanner = Scanner::new();
    let value = scanner.scan(line.as_bytes(), &ScanLimits::DEFAULT).unwrap();
    let context = ParseContext {
        session_id: SESSION,
        limits: &limits,
        guard: &Guard::default(),
    };
    parse(value, &context, line_bytes)
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
    let context = |kind| Ok(Inbound::Context { kind });
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
