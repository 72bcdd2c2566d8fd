//! What the agent says: one record of its output, as far as oracles look at it.

use super::json::{find, inside, items, member, members, text, text_member};
use std::borrow::Cow;

/// A call as the host is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShownCall<'a> {
    pub(crate) id: Cow<'a, str>,
    pub(crate) name: Cow<'a, str>,
    pub(crate) input: &'a [u8],
}

/// A question, in its request or in `requires_action`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked<'a> {
    pub(crate) request: Cow<'a, str>,
    pub(crate) tool_name: Cow<'a, str>,
    pub(crate) tool_use_id: Cow<'a, str>,
    pub(crate) input: &'a [u8],
}

/// The end of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ending<'a> {
    pub(crate) success: bool,
    pub(crate) is_error: bool,
    pub(crate) stop: Cow<'a, str>,
    pub(crate) prompt: Option<Cow<'a, str>>,
    pub(crate) turns: u64,
    /// The raw cost.
    pub(crate) cost: &'a [u8],
    /// The raw list of error texts.
    pub(crate) errors: &'a [u8],
}

impl Ending<'_> {
    /// Whether its errors have these words.
    pub(crate) fn says(&self, words: &str) -> bool {
        let mut places = self.errors.windows(words.len());
        places.any(|at| at == words.as_bytes())
    }

    /// Whether it is of a prompt that never ran, or of no prompt at all.
    pub(crate) fn never_ran(&self) -> bool {
        self.turns == 0
            && match &*self.stop {
                "input_error" => true,
                "cancelled" => self.says("before it ran") || self.says("before this prompt ran"),
                _ => false,
            }
    }

    /// Whether it says that the input cannot be read on (DEC-10).
    pub(crate) fn is_fatal(&self) -> bool {
        self.stop == "input_error"
            && self.prompt.is_none()
            && self.errors.starts_with(b"[\"malformed NDJSON input")
    }
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said<'a> {
    Init,
    Call(ShownCall<'a>),
    Text,
    Stream(&'a [u8]),
    ToolResult {
        call: Cow<'a, str>,
        is_error: bool,
        content: &'a [u8],
    },
    Echo {
        uuid: Cow<'a, str>,
    },
    Result(Ending<'a>),
    Idle,
    Running,
    RequiresAction(Asked<'a>),
    TaskStarted {
        task: Cow<'a, str>,
    },
    TaskProgress {
        task: Cow<'a, str>,
    },
    TaskOver {
        task: Cow<'a, str>,
    },
    HookStarted,
    HookProgress,
    HookOver,
    Suggestion,
    Question(Asked<'a>),
    /// A request of another kind.
    Request {
        id: Cow<'a, str>,
        /// Whether a hook of the host is to run.
        hook: bool,
        /// The call of a `PermissionRequest` that a hook of the host is told of.
        races: Option<Cow<'a, str>>,
    },
    Response {
        id: Cow<'a, str>,
        success: bool,
        payload: Option<&'a [u8]>,
        error: Option<Cow<'a, str>>,
        pending: Option<&'a [u8]>,
    },
    Withdrawn {
        id: Cow<'a, str>,
    },
    /// A record that no oracle looks at.
    Other,
    /// What is no record of the wire.
    Unreadable,
}

impl<'a> Said<'a> {
    /// Reads one record.
    pub(crate) fn read(line: &'a [u8]) -> Self {
        Self::find(line).unwrap_or(Self::Unreadable)
    }

    fn find(line: &'a [u8]) -> Option<Self> {
        let kind = member(line, "type")?;
        Some(match kind {
            b"\"assistant\"" => assistant(line)?,
            b"\"user\"" => user(line)?,
            b"\"result\"" => Self::Result(result(line)?),
            b"\"system\"" => system(line)?,
            b"\"control_request\"" => request(line)?,
            b"\"control_response\"" => response(line)?,
            b"\"control_cancel_request\"" => Self::Withdrawn {
                id: text_member(line, "request_id")?,
            },
            b"\"stream_event\"" => Self::Stream(member(line, "event")?),
            b"\"prompt_suggestion\"" => Self::Suggestion,
            _ if kind.first() == Some(&b'"') => Self::Other,
            _ => return None,
        })
    }
}

fn assistant(line: &[u8]) -> Option<Said<'_>> {
    let content = inside(inside(line, "message")?, "content")?;
    let Some(block) = items(content).find(|block| member(block, "type") == Some(b"\"tool_use\""))
    else {
        return Some(Said::Text);
    };
    let [id, name, input] = find(block, ["id", "name", "input"]);
    Some(Said::Call(ShownCall {
        id: text(id?)?,
        name: text(name?)?,
        input: input?,
    }))
}

fn user(line: &[u8]) -> Option<Said<'_>> {
    let [replay, uuid, message] = find(line, ["isReplay", "uuid", "message"]);
    if replay == Some(b"true") {
        return Some(Said::Echo { uuid: text(uuid?)? });
    }
    let content = inside(message?, "content")?;
    let block = items(content).next()?;
    let [call, is_error, content] = find(block, ["tool_use_id", "is_error", "content"]);
    Some(Said::ToolResult {
        call: text(call?)?,
        is_error: is_error? == b"true",
        content: content?,
    })
}

fn result(line: &[u8]) -> Option<Ending<'_>> {
    let mut ending = Ending {
        success: false,
        is_error: false,
        stop: Cow::Borrowed(""),
        prompt: None,
        turns: 0,
        cost: b"",
        errors: b"",
    };
    for (name, value) in members(line) {
        match name {
            b"subtype" => ending.success = value == b"\"success\"",
            b"is_error" => ending.is_error = value == b"true",
            b"stop_reason" => ending.stop = text(value).unwrap_or_default(),
            b"prompt_uuid" => ending.prompt = Some(text(value)?),
            b"num_turns" => ending.turns = std::str::from_utf8(value).ok()?.parse().ok()?,
            b"total_cost_usd" => ending.cost = value,
            b"errors" => ending.errors = value,
            _ => {}
        }
    }
    Some(ending)
}

fn system(line: &[u8]) -> Option<Said<'_>> {
    let task = || text_member(line, "task_id");
    Some(match member(line, "subtype")? {
        b"\"init\"" => Said::Init,
        b"\"session_state_changed\"" => match member(line, "state")? {
            b"\"idle\"" => Said::Idle,
            b"\"running\"" => Said::Running,
            b"\"requires_action\"" => {
                let about = inside(line, "requires_action")?;
                Said::RequiresAction(asked(about, text_member(about, "request_id")?)?)
            }
            _ => return None,
        },
        b"\"task_started\"" => Said::TaskStarted { task: task()? },
        b"\"task_progress\"" => Said::TaskProgress { task: task()? },
        b"\"task_notification\"" => Said::TaskOver { task: task()? },
        b"\"hook_started\"" => Said::HookStarted,
        b"\"hook_progress\"" => Said::HookProgress,
        b"\"hook_response\"" => Said::HookOver,
        _ => Said::Other,
    })
}

fn asked<'a>(about: &'a [u8], request: Cow<'a, str>) -> Option<Asked<'a>> {
    let [name, call, input] = find(about, ["tool_name", "tool_use_id", "input"]);
    Some(Asked {
        request,
        tool_name: text(name?)?,
        tool_use_id: text(call?)?,
        input: input?,
    })
}

fn request(line: &[u8]) -> Option<Said<'_>> {
    let id = text_member(line, "request_id")?;
    let request = inside(line, "request")?;
    Some(match member(request, "subtype")? {
        b"\"can_use_tool\"" => Said::Question(asked(request, id)?),
        subtype => Said::Request {
            id,
            hook: subtype == b"\"hook_callback\"",
            races: callback(request),
        },
    })
}

fn callback(request: &[u8]) -> Option<Cow<'_, str>> {
    let input = member(request, "input")?;
    let event = member(input, "hook_event_name")?;
    (event == b"\"PermissionRequest\"").then(|| text_member(request, "tool_use_id"))?
}

fn response(line: &[u8]) -> Option<Said<'_>> {
    let response = inside(line, "response")?;
    let [id, subtype, payload, error, pending] = find(
        response,
        [
            "request_id",
            "subtype",
            "response",
            "error",
            "pending_permission_requests",
        ],
    );
    Some(Said::Response {
        id: text(id?)?,
        success: match subtype? {
            b"\"success\"" => true,
            b"\"error\"" => false,
            _ => return None,
        },
        payload,
        error: error.and_then(text),
        pending,
    })
}
