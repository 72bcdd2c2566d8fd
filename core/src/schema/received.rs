//! Records that a host reads: those of an agent.
//!
//! Session records come as the types that wrote them ([`Outbound`]). A record of a
//! type that is not known, or with a value that no type of ours has, is passed on
//! as text: a host goes on when its agent is newer (WIRE-002). Control records are
//! acted on, so they have to be readable.

use super::declare::FromJson;
use super::inbound::{self, ControlResponse, Malformed, ParseContext};
use super::outbound::{ContentBlock, HostRequest, Outbound, ResultRecord};
use crate::json::{Object, RawJson, Value};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;

/// One record of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// Something it tells.
    Record(AgentRecord),
    /// It asks for something.
    Request(AgentRequest),
    /// It answers one of our requests, or repeats an answer of ours.
    Response(ControlResponse),
    /// It takes a request back.
    Cancel(Arc<str>),
    /// Means nothing, keeps the pipe warm.
    KeepAlive,
}

/// Something an agent tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRecord {
    /// UUID of the record; that of the prompt for an echo. Control and import
    /// records have none.
    pub uuid: Option<Arc<str>>,
    /// The session it belongs to.
    pub session_id: Option<Arc<str>>,
    /// UUID of the prompt that it ends, where it is a result, known or not.
    pub ends: Option<Arc<str>>,
    /// What it says.
    pub body: Body,
}

/// What a record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A record that is known, without members that are not.
    Known(Box<Outbound>),
    /// Any other.
    Unknown {
        /// Its type; empty where there is none.
        kind: String,
        /// The whole record.
        raw: RawJson,
    },
}

impl Body {
    /// The record, if it is a known one.
    #[must_use]
    pub fn known(&self) -> Option<&Outbound> {
        match self {
            Self::Known(record) => Some(record),
            Self::Unknown { .. } => None,
        }
    }
}

impl AgentRecord {
    /// The record, if it is a known one.
    #[must_use]
    pub fn known(&self) -> Option<&Outbound> {
        self.body.known()
    }

    /// The end of a prompt, if it is one.
    #[must_use]
    pub fn result(&self) -> Option<&ResultRecord> {
        let Some(Outbound::Result(result)) = self.known() else {
            return None;
        };
        Some(result)
    }

    /// Whether it is the end of the prompt of that UUID, also in a form that is not
    /// known.
    #[must_use]
    pub fn is_end_of(&self, prompt: &str) -> bool {
        self.ends.as_deref() == Some(prompt)
    }

    /// The end of the prompt of that UUID, if it is one and known.
    #[must_use]
    pub fn result_of(&self, prompt: &str) -> Option<&ResultRecord> {
        self.result().filter(|_| self.is_end_of(prompt))
    }

    /// What the model says in it, if that is text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        let Some(Outbound::Assistant(answer)) = self.known() else {
            return None;
        };
        let blocks = &answer.message.content;
        blocks.iter().find_map(|block| {
            if let ContentBlock::Text(text) = block {
                Some(&*text.text)
            } else {
                None
            }
        })
    }
}

/// An agent asks for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRequest {
    /// Its id; the answer repeats it.
    pub id: Arc<str>,
    /// What is asked, or the text of the error it is answered with.
    pub request: Result<Box<HostRequest>, String>,
}

/// Reads one scanned record of an agent.
///
/// # Errors
///
/// [`Malformed`] when the stream cannot be trusted any more: the record is no
/// object (DEC-05), or a control record without a readable request id of bounded
/// length (DEC-07).
pub fn parse(value: Value<'_>, context: &ParseContext<'_>) -> Result<Received, Malformed> {
    let Some(record) = value.as_object() else {
        return Err(Malformed {
            at: value.start(),
            reason: "record is not a JSON object",
        });
    };
    let kind = record.get("type").and_then(Value::as_str);
    let kind = kind.map(|kind| kind.decode_lossy()).unwrap_or_default();
    Ok(match &*kind {
        "control_request" => Received::Request(request(record, context)?),
        "control_response" => Received::Response(inbound::read_response(record)?),
        "control_cancel_request" => Received::Cancel(request_id(record, context)?),
        "keep_alive" => Received::KeepAlive,
        _ => Received::Record(AgentRecord {
            uuid: id(record, "uuid"),
            session_id: id(record, "session_id"),
            ends: if kind == "result" {
                id(record, "prompt_uuid")
            } else {
                None
            },
            body: match Outbound::read(record) {
                Some(record) => Body::Known(Box::new(record)),
                None => Body::Unknown {
                    raw: RawJson::from_value(value),
                    kind: kind.into_owned(),
                },
            },
        }),
    })
}

fn id(record: Object<'_>, name: &str) -> Option<Arc<str>> {
    record.get(name).and_then(Arc::read)
}

fn request(record: Object<'_>, context: &ParseContext<'_>) -> Result<AgentRequest, Malformed> {
    let id = request_id(record, context)?;
    let request = record.get("request");
    let Some(read) = request.and_then(HostRequest::read) else {
        return Ok(AgentRequest {
            id,
            request: Err(unreadable(request, context)),
        });
    };
    Ok(AgentRequest {
        id,
        request: Ok(Box::new(read)),
    })
}

/// What an agent is told of a request that cannot be read.
fn unreadable(request: Option<Value<'_>>, context: &ParseContext<'_>) -> String {
    let Some(request) = request.and_then(Value::as_object) else {
        return "missing request".into();
    };
    let subtype = request.get("subtype").and_then(Value::as_str);
    let Some(subtype) = subtype else {
        return "missing subtype".into();
    };
    let subtype = context.shown(&subtype.decode_lossy());
    match &*subtype {
        "can_use_tool" | "hook_callback" | "mcp_message" | "elicitation" => {
            alloc::format!("{subtype}: a member is missing or has another shape")
        }
        _ => alloc::format!("unsupported control request {subtype:?}"),
    }
}

fn request_id(record: Object<'_>, context: &ParseContext<'_>) -> Result<Arc<str>, Malformed> {
    let Some(id) = record.get("request_id") else {
        return Err(Malformed {
            at: record.value().start(),
            reason: "control record without request_id",
        });
    };
    let at = id.start();
    let id: Arc<str> = Arc::read(id).ok_or(Malformed {
        at,
        reason: "request_id is no readable string",
    })?;
    if id.len() > context.limits.host_id_bytes {
        return Err(Malformed {
            at,
            reason: "request_id is too long",
        });
    }
    Ok(id)
}
