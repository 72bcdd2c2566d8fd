//! What a server asks of its user, and what it is told.

use super::rpc;
use crate::json::{Object, RawJson, Value, Writer};
use alloc::borrow::Cow;
use alloc::string::{String, ToString};

/// A question of a server to its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpQuestion {
    /// The question.
    pub message: String,
    /// How it is to be answered.
    pub form: McpForm,
}

/// How a question of a server is to be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpForm {
    /// With values.
    Form {
        /// JSON Schema of the answer.
        schema: RawJson,
    },
    /// Somewhere else.
    Url {
        /// Where.
        url: String,
        /// The server's id of the question.
        id: String,
    },
}

/// What the user said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpReply {
    /// The user agrees, with values where a form was to be filled in.
    Accept(Option<RawJson>),
    /// The user refuses.
    Decline,
    /// The user said nothing, or could not be asked.
    Cancel,
}

impl McpReply {
    /// Reads the payload of a host's answer. What cannot be read is a cancel.
    #[must_use]
    pub fn of(payload: Option<&RawJson>) -> Self {
        let Some(payload) = payload.filter(|payload| !payload.has_unpaired_surrogate()) else {
            return Self::Cancel;
        };
        let read = |value: Value<'_>| {
            let answer = value.as_object().ok_or("no object")?;
            let action = answer.get("action").and_then(Value::as_str);
            let content = answer.get("content").filter(|content| !content.is_null());
            Ok(match action {
                Some(action) if action == *"accept" => match content {
                    Some(content) if content.as_object().is_none() => Self::Cancel,
                    content => Self::Accept(content.map(RawJson::from_value)),
                },
                Some(action) if action == *"decline" => Self::Decline,
                _ => Self::Cancel,
            })
        };
        rpc::with(payload, read).unwrap_or(Self::Cancel)
    }

    /// The answer to the server's request.
    pub(super) fn message(&self, id: &RawJson) -> RawJson {
        rpc::reply(id, |w| self.write_members(w))
    }

    /// Writes its members into an object that is open.
    pub(crate) fn write_members(&self, w: &mut Writer) {
        match self {
            Self::Accept(content) => {
                w.member_str("action", "accept");
                w.member_opt_raw("content", content.as_ref());
            }
            Self::Decline => w.member_str("action", "decline"),
            Self::Cancel => w.member_str("action", "cancel"),
        }
    }
}

/// Reads the parameters of `elicitation/create`.
///
/// # Errors
///
/// What is wrong with them.
pub(super) fn question(params: Option<Object<'_>>) -> Result<McpQuestion, String> {
    let params = params.ok_or("elicitation/create needs params")?;
    let message = string(params, "message")?.into_owned();
    let mode = match params.get("mode") {
        None => Cow::Borrowed("form"),
        Some(_) => string(params, "mode")?,
    };
    let form = match mode.as_ref() {
        "form" => {
            let schema = params.get("requestedSchema");
            let schema = schema.filter(|schema| schema.as_object().is_some());
            let schema = schema.ok_or("requestedSchema must be an object")?;
            if schema.has_unpaired_surrogate() {
                return Err("requestedSchema holds an unpaired surrogate escape".to_string());
            }
            McpForm::Form {
                schema: RawJson::from_value(schema),
            }
        }
        "url" => McpForm::Url {
            url: string(params, "url")?.into_owned(),
            id: string(params, "elicitationId")?.into_owned(),
        },
        _ => return Err("mode must be form or url".to_string()),
    };
    Ok(McpQuestion { message, form })
}

/// A member that has to be a text.
pub(super) fn string<'a>(object: Object<'a>, name: &str) -> Result<Cow<'a, str>, String> {
    let text = object.get(name).and_then(Value::as_str);
    text.and_then(|text| text.decode().ok())
        .ok_or_else(|| alloc::format!("{name} must be a text"))
}
