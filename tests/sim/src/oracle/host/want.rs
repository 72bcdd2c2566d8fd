//! What a host has to say next, and whether it does.

use super::super::json::{member, text_member};
use super::super::way::Line;
use super::super::{Judged, broken};
use super::{Call, Hosts};
use agentx_core::host::{CallError, CallId, End, Event, Output, Request};
use agentx_core::json::RawJson;
use agentx_core::schema::received::{AgentRecord, Body};
use agentx_core::time::Instant;

/// How a call has to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Payload(Option<Vec<u8>>),
    /// With these words, where they can be read.
    Refused(Option<String>),
    Invalid,
    TimedOut,
    Forgotten,
    Closed,
    Unsent,
}

/// How a session has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    Stream,
    Fault,
    Abandoned,
}

impl Closing {
    const fn of(end: End) -> Self {
        match end {
            End::Stream => Self::Stream,
            End::Fault { .. } => Self::Fault,
            End::Abandoned => Self::Abandoned,
        }
    }
}

/// One output that is due.
#[derive(Clone, Debug)]
pub(super) enum Want {
    /// A record of the agent that is passed on.
    Record {
        line: Line,
        /// Whether no newline ended it.
        tail: bool,
    },
    Answered(CallId, Outcome),
    /// The record of a call; it waits until then.
    Call(CallId, Instant),
    /// The record of a prompt, by its uuid if it brought one.
    Prompt(Option<String>),
    /// The newest prompt was sent.
    Prompted,
    /// It was not; an empty uuid is any. Without one it is an environment update.
    Unsent(Option<String>),
    /// A record of this type.
    Sent(&'static str),
    /// An effect for the request of this number.
    Start {
        number: usize,
        subtype: String,
        tool_use_id: Option<String>,
    },
    Cancel(usize),
    /// The answer to a request.
    Reply {
        request: String,
        fails: bool,
        /// The call that an answer to its question names.
        tool_use_id: Option<String>,
    },
    CloseInput,
    Exit {
        end: Closing,
        calls: usize,
        requests: usize,
        prompts: Vec<String>,
    },
}

impl Want {
    /// The rule that is broken where it does not come, and who asks for it.
    pub(super) fn held_by(&self) -> (&'static str, &'static str) {
        match self {
            Self::Record { tail: true, .. } => {
                ("the last record is one like any other", "WIRE-EOF-001")
            }
            Self::Record { .. } => ("records are told in their order", "WIRE-003"),
            Self::Answered(_, Outcome::TimedOut | Outcome::Forgotten) => {
                ("a call is answered once", "WIRE-007")
            }
            Self::Answered(_, Outcome::Closed | Outcome::Unsent) => {
                ("the end closes every call", "WIRE-008")
            }
            Self::Answered(..) => ("an answer goes to its call", "WIRE-PERM-010"),
            Self::Call(..) => ("a call is written once it waits", "WIRE-006"),
            Self::Prompt(_) | Self::Prompted | Self::Unsent(_) => {
                ("a prompt is sent or told as unsent", "DEC-21")
            }
            Self::Sent(_) => ("what an embedder says is sent", "WIRE-003"),
            Self::Start { .. } => ("a request of the agent starts an effect", "law 5"),
            Self::Cancel(_) => ("a request that is taken back is cancelled", "WIRE-PERM-070"),
            Self::Reply { fails: true, .. } => ("what failed is no leave", "WIRE-PERM-002"),
            Self::Reply { .. } => ("a request is answered under its id", "WIRE-PERM-010"),
            Self::CloseInput => ("the agent's input ends once", "WIRE-015"),
            Self::Exit {
                end: Closing::Fault,
                ..
            } => ("what cannot be read ends the session", "DEC-10"),
            Self::Exit { .. } => ("the exit says what was lost", "DEC-21"),
        }
    }
}

/// An output that nothing asks for.
pub(super) fn unwanted(output: &Output) -> Judged {
    let (rule, requirement) = match output {
        Output::Transmit(record) => {
            let kind = text_member(record.as_bytes(), "type");
            if kind.as_deref() == Some("control_response") {
                ("a request is answered once", "WIRE-PERM-070")
            } else {
                ("nothing is sent unasked", "WIRE-003")
            }
        }
        Output::Start(..) | Output::Cancel(_) => ("an effect ends once", "law 5"),
        Output::Event(Event::Answered(..)) => ("a call is answered once", "WIRE-007"),
        Output::Event(Event::Record(_)) => ("a record is told once", "WIRE-003"),
        Output::Event(Event::Prompted(_) | Event::Unsent { .. }) => {
            ("a prompt is told once", "DEC-21")
        }
        Output::CloseInput => ("the agent's input ends once", "WIRE-015"),
        Output::Exit(_) | Output::Diagnostic(_) => ("a session ends for a reason", "law 5"),
    };
    broken(rule, requirement, format!("unasked for: {output:?}"))
}

impl Hosts {
    /// Whether the output is the one that is due; it is taken note of.
    pub(super) fn meets(&mut self, want: &Want, output: &Output) -> bool {
        match (want, output) {
            (Want::Record { line, .. }, Output::Event(Event::Record(told))) => {
                is_record(line, told)
            }
            (Want::Answered(due, outcome), Output::Event(Event::Answered(call, answer))) => {
                due == call && is_outcome(outcome, answer)
            }
            (Want::Prompted, Output::Event(Event::Prompted(uuid))) => {
                self.prompts.last().is_some_and(|newest| **newest == **uuid)
            }
            (Want::Unsent(due), Output::Event(Event::Unsent { uuid, .. })) => match (due, uuid) {
                (Some(due), Some(uuid)) => due.is_empty() || **due == **uuid,
                (due, uuid) => due.is_none() && uuid.is_none(),
            },
            (
                Want::Start {
                    number,
                    subtype,
                    tool_use_id,
                },
                Output::Start(id, request),
            ) => {
                let newest = self.effects.last_key_value();
                let new = newest.is_none_or(|(_, newest)| newest < id);
                self.effects.insert(*number, *id);
                new && is_request(request, subtype, tool_use_id.as_deref())
            }
            (Want::Cancel(number), Output::Cancel(id)) => self.effects.get(number) == Some(id),
            (_, Output::Transmit(record)) => self.sends(want, record.as_bytes()),
            (Want::CloseInput, Output::CloseInput) => {
                self.told_closed = true;
                true
            }
            (
                Want::Exit {
                    end,
                    calls,
                    requests,
                    prompts,
                },
                Output::Exit(exit),
            ) => {
                self.exited = true;
                let lost = exit.prompts.iter().map(|uuid| &**uuid);
                Closing::of(exit.end) == *end
                    && exit.calls == *calls
                    && exit.requests == *requests
                    && exit.unsent == self.unsent
                    && lost.eq(prompts.iter().map(String::as_str))
            }
            _ => false,
        }
    }

    /// Whether the record is the one that is due.
    fn sends(&mut self, want: &Want, line: &[u8]) -> bool {
        let kind = text_member(line, "type").unwrap_or_default();
        match want {
            Want::Sent(due) => *kind == **due,
            Want::Call(id, due) => {
                let Some(wire) = text_member(line, "request_id").map(String::from) else {
                    return false;
                };
                let new = !self.calls.iter().any(|call| call.wire == wire);
                self.calls.push(Call {
                    id: *id,
                    wire,
                    due: *due,
                });
                kind == "control_request" && new
            }
            Want::Prompt(due) => {
                let Some(uuid) = text_member(line, "uuid").map(String::from) else {
                    return false;
                };
                let right = due.as_ref().is_none_or(|due| *due == uuid);
                let right = right && kind == "user" && !self.prompts.contains(&uuid);
                self.prompts.push(uuid);
                right
            }
            Want::Reply {
                request,
                fails,
                tool_use_id,
            } => kind == "control_response" && is_reply(line, request, *fails, tool_use_id),
            _ => false,
        }
    }
}

fn is_request(request: &Request, subtype: &str, tool_use_id: Option<&str>) -> bool {
    match request {
        Request::Permit(asked) => {
            subtype == "can_use_tool" && tool_use_id == Some(&*asked.tool_use_id)
        }
        Request::Hook(_) => subtype == "hook_callback",
        Request::Elicit(_) => subtype == "elicitation",
        Request::Mcp(_) => subtype == "mcp_message",
    }
}

fn is_reply(line: &[u8], request: &str, fails: bool, tool_use_id: &Option<String>) -> bool {
    let response = member(line, "response").unwrap_or_default();
    let subtype = text_member(response, "subtype");
    if text_member(response, "request_id").as_deref() != Some(request) {
        return false;
    }
    let payload = member(response, "response");
    if fails {
        return subtype.as_deref() == Some("error") && payload.is_none();
    }
    let about = |call: &String| {
        let payload = payload.unwrap_or_default();
        text_member(payload, "toolUseID").as_deref() == Some(call)
            && text_member(payload, "behavior").is_some()
    };
    subtype.as_deref() == Some("success") && tool_use_id.as_ref().is_none_or(about)
}

fn is_record(due: &Line, told: &AgentRecord) -> bool {
    let whole = match &told.body {
        Body::Known(_) => true,
        Body::Unknown { raw, .. } => same_json(due.bytes(), raw),
    };
    let Some(due) = due.node() else {
        return false;
    };
    let (mut uuid, mut session, mut ends, mut result) = (None, None, None, false);
    for (name, value) in due.members() {
        match name {
            b"type" => result = value.raw() == b"\"result\"",
            b"uuid" => uuid = value.text(),
            b"session_id" => session = value.text(),
            b"prompt_uuid" => ends = value.text(),
            _ => {}
        }
    }
    whole
        && uuid.as_deref() == told.uuid.as_deref()
        && session.as_deref() == told.session_id.as_deref()
        && ends.as_deref().filter(|_| result) == told.ends.as_deref()
}

fn is_outcome(due: &Outcome, answer: &Result<Option<RawJson>, CallError>) -> bool {
    match (due, answer) {
        (Outcome::Payload(None), Ok(None))
        | (Outcome::Refused(None), Err(CallError::Refused { .. }))
        | (Outcome::Invalid, Err(CallError::Invalid(_)))
        | (Outcome::TimedOut, Err(CallError::TimedOut))
        | (Outcome::Forgotten, Err(CallError::Forgotten))
        | (Outcome::Closed, Err(CallError::Closed))
        | (Outcome::Unsent, Err(CallError::Unsent(_))) => true,
        (Outcome::Payload(Some(due)), Ok(Some(payload))) => same_json(due, payload),
        (Outcome::Refused(Some(due)), Err(CallError::Refused { message, .. })) => due == message,
        _ => false,
    }
}

fn same_json(due: &[u8], told: &RawJson) -> bool {
    let value = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).ok();
    due == told.as_str().as_bytes() || value(due) == value(told.as_str().as_bytes())
}
