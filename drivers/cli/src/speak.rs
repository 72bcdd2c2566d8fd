//! What hosts in this process say over the wire, and how they read records.

use agentx_core::json::{Array, Object, RawJson, Value, Writer};

/// A prompt.
pub(crate) fn user(prompt: &str) -> Vec<u8> {
    let mut line = Writer::new();
    line.begin_object();
    line.member_str("type", "user");
    line.key("message");
    line.begin_object();
    line.member_str("role", "user");
    line.member_str("content", prompt);
    line.end_object();
    line.member_null("parent_tool_use_id");
    line.end_object();
    ended(line)
}

/// Asks for the end of the turn.
pub(crate) fn interrupt(request_id: &str) -> Vec<u8> {
    let mut line = Writer::new();
    line.begin_object();
    line.member_str("type", "control_request");
    line.member_str("request_id", request_id);
    line.key("request");
    line.begin_object();
    line.member_str("subtype", "interrupt");
    line.end_object();
    line.end_object();
    ended(line)
}

/// Lets a tool run as it stands: an empty `updatedInput` keeps the input
/// (WIRE-PERM-041). `updates` is a list of permission updates.
pub(crate) fn allow(request_id: &str, updates: Option<&RawJson>) -> Vec<u8> {
    answer(request_id, |line| {
        line.member_str("behavior", "allow");
        line.member_raw("updatedInput", &RawJson::empty_object());
        line.member_opt_raw("updatedPermissions", updates);
        let lasts = updates.is_some();
        let class = if lasts {
            "user_permanent"
        } else {
            "user_temporary"
        };
        line.member_str("decisionClassification", class);
    })
}

/// Refuses a call; the model is told the message (WIRE-PERM-042).
pub(crate) fn deny(request_id: &str, message: &str) -> Vec<u8> {
    answer(request_id, |line| {
        line.member_str("behavior", "deny");
        line.member_str("message", message);
        line.member_str("decisionClassification", "user_reject");
    })
}

fn answer(request_id: &str, members: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut line = Writer::new();
    line.begin_object();
    line.member_str("type", "control_response");
    line.key("response");
    line.begin_object();
    line.member_str("subtype", "success");
    line.member_str("request_id", request_id);
    line.key("response");
    line.begin_object();
    members(&mut line);
    line.end_object();
    line.end_object();
    line.end_object();
    ended(line)
}

fn ended(line: Writer) -> Vec<u8> {
    let mut bytes = line.finish();
    bytes.push(b'\n');
    bytes
}

/// The text of a member that is a string. Tool inputs may hold what is no text;
/// that is shown as U+FFFD.
pub(crate) fn text(object: Object<'_>, member: &str) -> Option<String> {
    let value = object.get(member)?.as_str()?;
    Some(value.decode_lossy().into_owned())
}

/// The content blocks of a record's message.
pub(crate) fn content<'a>(record: Object<'a>) -> impl Iterator<Item = Object<'a>> {
    let message = record.get("message").and_then(Value::as_object);
    let content = message.and_then(|message| message.get("content"));
    let blocks = content.and_then(Value::as_array).map(Array::iter);
    blocks.into_iter().flatten().filter_map(Value::as_object)
}

/// The text parts of a block's own content.
pub(crate) fn parts(block: Object<'_>) -> impl Iterator<Item = String> {
    let parts = block.get("content").and_then(Value::as_array);
    let parts = parts.into_iter().flatten().filter_map(Value::as_object);
    parts.map(|part| text(part, "text").unwrap_or_default())
}
