//! Assistant and system records of an earlier conversation (DEC-44).

use super::{ContextKind, Inbound, ParseContext};
use crate::json::{Object, Value};
use alloc::string::String;
use alloc::vec::Vec;

/// Reads what such a record says, in the profile `reference`. Calls, thinking
/// and whatever else is no text is counted and left out: a call of the past is
/// never made again.
pub(super) fn parse(
    record: Object<'_>,
    kind: ContextKind,
    context: &ParseContext<'_>,
    line_bytes: usize,
) -> Inbound {
    let weight = line_bytes.saturating_add(context.limits.queue_overhead_bytes);
    let (mut texts, mut left_out) = (Vec::new(), 0);
    if context.reference && weight <= context.limits.queue_bytes {
        match content(record) {
            Some(content) if content.as_str().is_some() => texts.extend(text(content)),
            Some(content) => {
                for block in content.as_array().into_iter().flatten() {
                    match block_text(block) {
                        Some(text) => texts.push(text),
                        None => left_out += 1,
                    }
                }
            }
            None => {}
        }
        texts.retain(|text| !text.trim().is_empty());
    }
    Inbound::Context {
        kind,
        texts,
        left_out,
    }
}

/// The content of the message, or of a record that says it without one.
fn content(record: Object<'_>) -> Option<Value<'_>> {
    match record.get("message") {
        Some(message) => match message.as_object() {
            Some(message) => message.get("content"),
            None => Some(message),
        },
        None => record.get("content"),
    }
}

fn block_text(block: Value<'_>) -> Option<String> {
    let block = block.as_object()?;
    let is_text = block.get("type")?.as_str()? == *"text";
    is_text.then(|| block.get("text").and_then(text))?
}

fn text(value: Value<'_>) -> Option<String> {
    Some(value.as_str()?.decode_lossy().into_owned())
}
