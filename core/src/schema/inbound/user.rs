//! User records (WIRE-017, WIRE-021).

use super::{Inbound, ParseContext, Priority, UserContent, UserRecord, UserRejected};
use crate::json::{Array, Object, RawJson, Value};
use crate::schema::declare::{Fault, Json as _, Member, Shape, Spelling, fault, open_faults};
use crate::schema::outbound::AttachmentKind;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Why a record is refused.
type Refusal = String;

/// A user record, as schemas tell it.
pub(super) const SHAPE: Shape = Shape::OneOf(&[Shape::Object(&PROMPT), Shape::Object(&REPLAY)]);

/// The same in the profile `reference`: any session is a hint, and members that
/// are not known are dropped.
pub(super) const REFERENCE: Shape = Shape::Open(&Shape::OneOf(&[
    Shape::Object(&form(
        Member::optional("uuid", UUID),
        Member::optional("session_id", Shape::Any),
        Member::optional("isReplay", Shape::Constant("false")),
    )),
    Shape::Object(&form(
        Member::required("uuid", UUID),
        Member::required("session_id", Shape::Any),
        Member::constant("isReplay", "true"),
    )),
]));

const NULL: Shape = Shape::Constant("null");
const STRING_OR_NULL: Shape = Shape::OneOf(&[Shape::String, NULL]);
const UUID: Shape = Shape::Spelled(Spelling::PromptUuid);

const PROMPT: [Member; 10] = form(
    Member::optional("uuid", UUID),
    Member::optional("session_id", STRING_OR_NULL),
    Member::optional("isReplay", Shape::Constant("false")),
);

/// Prior context (DEC-44).
const REPLAY: [Member; 10] = form(
    Member::required("uuid", UUID),
    Member::required("session_id", Shape::String),
    Member::constant("isReplay", "true"),
);

const fn form(uuid: Member, session_id: Member, is_replay: Member) -> [Member; 10] {
    [
        Member::constant("type", "\"user\""),
        uuid,
        session_id,
        Member::optional("parent_tool_use_id", STRING_OR_NULL),
        Member::optional("isSynthetic", Shape::Bool),
        is_replay,
        Member::optional("tool_use_result", Shape::Any),
        Member::optional("timestamp", Shape::String),
        Member::optional("priority", Priority::SHAPE),
        Member::required("message", MESSAGE),
    ]
}

/// The forms of a message (WIRE-017): what a string or text blocks say, and what
/// attachments need.
const MESSAGE: Shape = Shape::OneOf(&[
    Shape::String,
    Shape::Object(&[ROLE, Member::required("content", Shape::String)]),
    Shape::Object(&[
        ROLE,
        Member::optional("content_version", Shape::Constant("1")),
        Member::required("content", Shape::NonEmpty(&Shape::Object(&TEXT_BLOCK))),
    ]),
    Shape::Object(&[
        ROLE,
        Member::constant("content_version", "1"),
        Member::required(
            "content",
            Shape::NonEmpty(&Shape::OneOf(&[
                Shape::Object(&TEXT_BLOCK),
                Shape::Closed(&Shape::Object(&MANIFEST)),
            ])),
        ),
    ]),
]);

const ROLE: Member = Member::optional("role", Shape::Constant("\"user\""));

const TEXT_BLOCK: [Member; 2] = [
    Member::required("type", Shape::Words(&["text", "input_text"])),
    Member::required("text", Shape::String),
];

/// The closed manifest of a committed attachment (WIRE-017).
const MANIFEST: [Member; 8] = [
    Member::constant("type", "\"attachment_ref\""),
    Member::required("attachment_id", Shape::Spelled(Spelling::AttachmentId)),
    Member::required("kind", AttachmentKind::SHAPE),
    Member::required("name", Shape::Spelled(Spelling::NotEmpty)),
    Member::required("mime_type", Shape::Spelled(Spelling::NotEmpty)),
    Member::required("size_bytes", Shape::Positive),
    Member::required("sha256", Shape::Spelled(Spelling::Sha256)),
    Member::required("storage_id", Shape::Spelled(Spelling::StorageId)),
];

pub(super) fn parse(record: Object<'_>, context: &ParseContext<'_>, line_bytes: usize) -> Inbound {
    match read(record, context, line_bytes) {
        Ok(user) => Inbound::User(user),
        Err(reason) => Inbound::UserRejected(UserRejected {
            uuid: record
                .get("uuid")
                .and_then(decoded)
                .filter(|uuid| Spelling::PromptUuid.fits(uuid)),
            origin: origin(record, context),
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
    let is_replay = record.get("isReplay").and_then(Value::as_bool) == Some(true);
    let form = if is_replay { &REPLAY } else { &PROMPT };
    let fault = if context.reference {
        // Members that are not known are dropped, and any session is a hint.
        let hint = |fault: &Fault<'_>| matches!(fault, Fault::Wrong("session_id", _));
        open_faults(record, form).find(|fault| !hint(fault))
    } else {
        fault(record, form)
    };
    if let Some(fault) = fault {
        return Err(refusal(&fault, is_replay, context));
    }
    if !context.reference {
        check_session(record, context.session_id)?;
    }
    let message = record
        .get("message")
        .ok_or("user record: missing message")?;
    let optional = |name| record.get(name).and_then(decoded);
    let priority = optional("priority").and_then(|word| Priority::from_word(&word));
    Ok(UserRecord {
        uuid: optional("uuid"),
        content: read_message(message, context)?,
        parent_tool_use_id: optional("parent_tool_use_id"),
        is_synthetic: record.get("isSynthetic").and_then(Value::as_bool) == Some(true),
        is_replay,
        tool_use_result: record.get("tool_use_result").map(RawJson::from_value),
        priority: priority.unwrap_or_default(),
        priority_given: priority.is_some(),
        timestamp: optional("timestamp"),
        origin: origin(record, context),
        weight,
    })
}

/// Where a record comes from, as its host says it: any JSON but null, kept in
/// the profile `reference`. What would spell a credential is not repeated.
fn origin(record: Object<'_>, context: &ParseContext<'_>) -> Option<RawJson> {
    let origin = record.get("origin").filter(|_| context.reference)?;
    let origin = (!origin.is_null()).then(|| RawJson::from_value(origin))?;
    let safe = context.guard.check(origin.as_str().as_bytes()).is_ok();
    safe.then_some(origin)
}

/// What is told of a record that has neither form.
fn refusal(fault: &Fault<'_>, is_replay: bool, context: &ParseContext<'_>) -> Refusal {
    let expected = match fault {
        Fault::Unknown(name, _) => return unknown_member("user record", name, context),
        Fault::Missing("message") => return "user record: missing message".into(),
        Fault::Missing(_) => return "user record: isReplay needs uuid and session_id".into(),
        Fault::Wrong("message", message) => {
            let told = read_message(*message, context).err();
            return told.unwrap_or_else(|| "user record: message has no known form".into());
        }
        Fault::Wrong("session_id", id) if is_replay && id.is_null() => {
            return "user record: isReplay needs uuid and session_id".into();
        }
        Fault::Wrong("uuid", _) => "is not an RFC 4122 UUID",
        Fault::Wrong("priority", _) => "must be now, next or later",
        Fault::Wrong("isSynthetic" | "isReplay", _) => "must be true or false",
        Fault::Wrong(..) => "must be a string",
    };
    let (Fault::Wrong(name, _) | Fault::Missing(name)) = fault else {
        return Refusal::new();
    };
    format!("user record: {name} {expected}")
}

/// DEC-24.
fn check_session(record: Object<'_>, own: &str) -> Result<(), Refusal> {
    match record.get("session_id").and_then(Value::as_str) {
        Some(id) if id != *"" && id != *"default" && id != *own => {
            Err("user record: session_id names another session".into())
        }
        _ => Ok(()),
    }
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
            _ if context.reference => {}
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
    let fault = if context.reference {
        open_faults(block, &TEXT_BLOCK).next()
    } else {
        fault(block, &TEXT_BLOCK)
    };
    match fault {
        Some(Fault::Unknown(name, _)) => Err(unknown_member("content block", &name, context)),
        Some(Fault::Missing(name)) => Err(format!("content block: missing {name}")),
        Some(Fault::Wrong(name, _)) => Err(format!("user record: {name} must be a string")),
        None => Ok(word(block, "text").into_owned()),
    }
}

fn check_manifest(block: Object<'_>, context: &ParseContext<'_>) -> Result<(), Refusal> {
    let upload = &context.limits.upload;
    let beyond = |name, limit| (word(block, name).len() > limit).then_some(name);
    let wrong = match fault(block, &MANIFEST) {
        Some(Fault::Unknown(name, _)) => {
            return Err(unknown_member("attachment_ref", &name, context));
        }
        Some(Fault::Missing(name) | Fault::Wrong(name, _)) => Some(name),
        None => beyond("name", upload.name_bytes)
            .or_else(|| beyond("mime_type", upload.mime_bytes))
            .or_else(|| {
                let of_digest = word(block, "storage_id").ends_with(&*word(block, "sha256"));
                (!of_digest).then_some("storage_id")
            }),
    };
    wrong.map_or(Ok(()), |member| {
        Err(format!("attachment_ref: missing or invalid {member}"))
    })
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
    decoded(value).ok_or_else(|| format!("user record: {name} must be a string"))
}

fn decoded(value: Value<'_>) -> Option<String> {
    value.as_str()?.decode().ok().map(Cow::into_owned)
}

fn unknown_member(place: &str, name: &str, context: &ParseContext<'_>) -> Refusal {
    format!("{place}: unknown member \"{}\"", context.shown(name))
}
