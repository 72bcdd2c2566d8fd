//! User records (WIRE-017, WIRE-021).

use super::{Inbound, ParseContext, Priority, UserContent, UserRecord, UserRejected};
use crate::json::{Array, Object, RawJson, Value};
use crate::schema::grammar::{PROMPT_UUID_VERSIONS, is_import_id, is_sha256, is_uuid};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Why a record is refused.
type Refusal = String;

pub(super) fn parse(record: Object<'_>, context: &ParseContext<'_>, line_bytes: usize) -> Inbound {
    match read(record, context, line_bytes) {
        Ok(user) => Inbound::User(user),
        Err(reason) => Inbound::UserRejected(UserRejected {
            uuid: record.get("uuid").and_then(|uuid| read_uuid(uuid).ok()),
            reason,
        }),
    }
}

fn read(
    record: Object<'_>,
    context: &ParseContext<'_>,
    line_bytes: usize,
) -> Result<UserRecord, Refusal> {
    if record.value().has_unpaired_surrogate() {
        return Err("user record: unpaired surrogate escape".into());
    }
    let weight = line_bytes.saturating_add(context.limits.queue_overhead_bytes);
    if weight > context.limits.queue_bytes {
        let limit = context.limits.queue_bytes;
        return Err(format!(
            "user record: weighs {weight} bytes, at most {limit} can be admitted"
        ));
    }
    let mut content = None;
    let mut session_named = false;
    let mut user = UserRecord {
        uuid: None,
        content: UserContent::Text(String::new()),
        parent_tool_use_id: None,
        is_synthetic: false,
        is_replay: false,
        tool_use_result: None,
        priority: Priority::default(),
        priority_given: false,
        timestamp: None,
        weight,
    };
    for (name, value) in record {
        match &*name.decode_lossy() {
            "type" => {}
            "message" => content = Some(read_message(value, context)?),
            "uuid" => user.uuid = Some(read_uuid(value)?),
            "session_id" => session_named = read_session(value, context.session_id)?,
            "parent_tool_use_id" if value.is_null() => {}
            "parent_tool_use_id" => {
                user.parent_tool_use_id = Some(text(value, "parent_tool_use_id")?);
            }
            "isSynthetic" => user.is_synthetic = flag(value, "isSynthetic")?,
            "isReplay" => user.is_replay = flag(value, "isReplay")?,
            "tool_use_result" => user.tool_use_result = Some(RawJson::from_value(value)),
            "timestamp" => user.timestamp = Some(text(value, "timestamp")?),
            "priority" => {
                user.priority = read_priority(value)?;
                user.priority_given = true;
            }
            other => return Err(unknown_member("user record", other, context)),
        }
    }
    if user.is_replay && !(user.uuid.is_some() && session_named) {
        return Err("user record: isReplay needs uuid and session_id".into());
    }
    user.content = content.ok_or("user record: missing message")?;
    Ok(user)
}

/// DEC-25.
fn read_uuid(value: Value<'_>) -> Result<String, Refusal> {
    text(value, "uuid")
        .ok()
        .filter(|uuid| is_uuid(uuid, PROMPT_UUID_VERSIONS))
        .ok_or_else(|| "user record: uuid is not an RFC 4122 UUID".into())
}

/// DEC-24. Says whether the record named a session at all.
fn read_session(value: Value<'_>, own: &str) -> Result<bool, Refusal> {
    if value.is_null() {
        return Ok(false);
    }
    let named = text(value, "session_id")?;
    if named.is_empty() || named == "default" || named == own {
        Ok(true)
    } else {
        Err("user record: session_id names another session".into())
    }
}

fn read_priority(value: Value<'_>) -> Result<Priority, Refusal> {
    value
        .as_str()
        .and_then(|word| Priority::from_word(&word.decode_lossy()))
        .ok_or_else(|| "user record: priority must be now, next or later".into())
}

/// A string, or an object with `content` and optionally `role` and `content_version`.
fn read_message(message: Value<'_>, context: &ParseContext<'_>) -> Result<UserContent, Refusal> {
    if message.as_str().is_some() {
        return text(message, "message").map(UserContent::Text);
    }
    let Some(message) = message.as_object() else {
        return Err("user record: message must be a string or an object".into());
    };
    let mut content = None;
    let mut versioned = false;
    for (name, value) in message {
        match &*name.decode_lossy() {
            "role" if value.as_str().is_some_and(|role| role == *"user") => {}
            "role" => return Err("user record: role must be user".into()),
            "content" => content = Some(value),
            "content_version" if value.as_u64() == Some(1) => versioned = true,
            "content_version" => return Err("user record: content_version must be 1".into()),
            other => return Err(unknown_member("user message", other, context)),
        }
    }
    let content = content.ok_or("user record: missing content")?;
    if let Some(blocks) = content.as_array() {
        return read_blocks(blocks, versioned, context);
    }
    if versioned {
        return Err("user record: content_version needs an array of blocks".into());
    }
    if content.as_str().is_none() {
        return Err("user record: content must be a string or an array of blocks".into());
    }
    text(content, "content").map(UserContent::Text)
}

fn read_blocks(
    blocks: Array<'_>,
    versioned: bool,
    context: &ParseContext<'_>,
) -> Result<UserContent, Refusal> {
    let mut texts = Vec::new();
    let mut attachments = false;
    for block in blocks {
        let Some(block) = block.as_object() else {
            return Err("content block: must be an object".into());
        };
        match &*word(block, "type") {
            "text" | "input_text" => texts.push(read_text_block(block, context)?),
            "attachment_ref" => {
                check_manifest(block, context)?;
                attachments = true;
            }
            "" => return Err("content block: missing type".into()),
            other => {
                let kind = context.shown(other);
                return Err(format!("content block: unsupported type \"{kind}\""));
            }
        }
    }
    match (attachments, versioned) {
        (true, false) => Err("content block: attachment_ref needs content_version 1".into()),
        (true, true) => Err("attachments are not available in this session".into()),
        (false, _) if texts.is_empty() => Err("user record: content has no blocks".into()),
        (false, _) => Ok(UserContent::Blocks(texts)),
    }
}

fn read_text_block(block: Object<'_>, context: &ParseContext<'_>) -> Result<String, Refusal> {
    let mut found = None;
    for (name, value) in block {
        match &*name.decode_lossy() {
            "type" => {}
            "text" => found = Some(text(value, "text")?),
            other => return Err(unknown_member("content block", other, context)),
        }
    }
    found.ok_or_else(|| "content block: missing text".into())
}

/// The closed manifest of a committed attachment (WIRE-017).
fn check_manifest(block: Object<'_>, context: &ParseContext<'_>) -> Result<(), Refusal> {
    const MEMBERS: [&str; 8] = [
        "type",
        "attachment_id",
        "kind",
        "name",
        "mime_type",
        "size_bytes",
        "sha256",
        "storage_id",
    ];
    for (name, _) in block {
        let name = name.decode_lossy();
        if !MEMBERS.contains(&&*name) {
            return Err(unknown_member("attachment_ref", &name, context));
        }
    }
    let upload = &context.limits.upload;
    let sha256 = word(block, "sha256");
    let storage_id = word(block, "storage_id");
    let checks = [
        (
            "attachment_id",
            is_import_id(&word(block, "attachment_id"), "att_"),
        ),
        (
            "kind",
            matches!(&*word(block, "kind"), "image" | "document"),
        ),
        (
            "name",
            (1..=upload.name_bytes).contains(&word(block, "name").len()),
        ),
        (
            "mime_type",
            (1..=upload.mime_bytes).contains(&word(block, "mime_type").len()),
        ),
        (
            "size_bytes",
            block.get("size_bytes").and_then(Value::as_u64) > Some(0),
        ),
        ("sha256", is_sha256(&sha256)),
        (
            "storage_id",
            storage_id.strip_prefix("blob_sha256_") == Some(&*sha256),
        ),
    ];
    match checks.iter().find(|(_, valid)| !valid) {
        Some((member, _)) => Err(format!("attachment_ref: missing or invalid {member}")),
        None => Ok(()),
    }
}

/// A string member decoded; empty when it is absent or no string.
fn word<'a>(object: Object<'a>, name: &str) -> Cow<'a, str> {
    object
        .get(name)
        .and_then(Value::as_str)
        .map(|text| text.decode_lossy())
        .unwrap_or_default()
}

fn text(value: Value<'_>, name: &str) -> Result<String, Refusal> {
    let decoded = value.as_str().and_then(|text| text.decode().ok());
    decoded
        .map(Cow::into_owned)
        .ok_or_else(|| format!("user record: {name} must be a string"))
}

fn flag(value: Value<'_>, name: &str) -> Result<bool, Refusal> {
    value
        .as_bool()
        .ok_or_else(|| format!("user record: {name} must be true or false"))
}

fn unknown_member(place: &str, name: &str, context: &ParseContext<'_>) -> Refusal {
    format!("{place}: unknown member \"{}\"", context.shown(name))
}
