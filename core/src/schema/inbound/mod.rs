//! Records that arrive on stdin.
//!
//! A line that scanned as JSON ends in one of three ways: a record to act on, a
//! record that is refused alone while the stream goes on ([`Inbound::UserRejected`],
//! an `Err` operation, [`ResponseBody::Invalid`], [`Inbound::EnvironmentRefused`]),
//! or [`Malformed`], which ends the stream (DEC-10).

mod context;
mod control;
mod environment;
mod import;
mod initialize;
mod shared;
#[cfg(test)]
mod tests;
mod types;
mod user;

pub(crate) use control::response as read_response;
pub use environment::Environment;
pub use initialize::{HookRegistration, Initialize, UnknownEvent};
pub use shared::SharedOperation;
pub use types::{
    ContextKind, ControlRequest, ControlResponse, Import, Inbound, Malformed, Operation,
    ParseContext, Priority, ResponseBody, UNKNOWN_KIND_CHARS, UserContent, UserRecord,
    UserRejected,
};

use super::declare::{Member, Shape};
use crate::json::Value;

/// A record of which only the type is read.
macro_rules! of_type {
    ($json:literal) => {
        Shape::Open(&Shape::Object(&[Member::constant("type", $json)]))
    };
}

/// Every record a host may send, by its type.
pub const RECORDS: [(&str, Shape); 8] = [
    ("user", user::SHAPE),
    ("control_request", control::REQUEST),
    ("control_response", control::RESPONSE),
    ("keep_alive", of_type!("\"keep_alive\"")),
    ("update_environment_variables", environment::SHAPE),
    ("attachment_import", import::SHAPE),
    ("assistant", of_type!("\"assistant\"")),
    ("system", of_type!("\"system\"")),
];

/// Records whose form is another in the profile `reference`, by their types.
pub const REFERENCE_RECORDS: [(&str, Shape); 2] = [
    ("user", user::REFERENCE),
    ("control_request", shared::REQUEST),
];

/// Reads one scanned record. `line_bytes` is the size of its raw line, without
/// the newline.
///
/// # Errors
///
/// [`Malformed`] when the fault ends the stream: the record is no object
/// (DEC-05), a control record without a readable request id (DEC-07), an import
/// record of the wrong shape or size (DEC-06, DEC-08).
pub fn parse(
    value: Value<'_>,
    context: &ParseContext<'_>,
    line_bytes: usize,
) -> Result<Inbound, Malformed> {
    let Some(record) = value.as_object() else {
        return Err(Malformed {
            at: value.start(),
            reason: "record is not a JSON object",
        });
    };
    let kind = record.get("type").and_then(Value::as_str);
    let kind = kind.map(|kind| kind.decode_lossy()).unwrap_or_default();
    Ok(match &*kind {
        "user" => user::parse(record, context, line_bytes),
        "control_request" => Inbound::ControlRequest(control::request(record, context)?),
        "control_response" => Inbound::ControlResponse(control::response(record)?),
        "keep_alive" => Inbound::KeepAlive,
        "update_environment_variables" => environment::parse(record, context),
        "attachment_import" if line_bytes > context.limits.import_record_bytes => {
            return Err(Malformed {
                at: value.start(),
                reason: "attachment_import: record too large",
            });
        }
        "attachment_import" => Inbound::Import(import::parse(record)?),
        "assistant" => context::parse(record, ContextKind::Assistant, context, line_bytes),
        "system" => context::parse(record, ContextKind::System, context, line_bytes),
        other => Inbound::Unknown {
            kind: context.shown(other),
        },
    })
}
