//! What the agent says: one record of its output, as far as oracles look at it.

use super::tree::Node;
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
    Stream(Node<'a>),
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
    /// What is no JSON, or names a member twice.
    Unsound,
}

impl<'a> Said<'a> {
    /// Reads one record, if it could be read as JSON.
    pub(crate) fn read(record: Option<Node<'a>>) -> Self {
        record.map_or(Self::Unsound, |record| {
            Self::find(record).unwrap_or(Self::Unreadable)
        })
    }

    fn find(record: Node<'a>) -> Option<Self> {
        let kind = record.get("type")?.raw();
        Some(match kind {
            b"\"assistant\"" => assistant(record)?,
            b"\"user\"" => user(record)?,
            b"\"result\"" => Self::Result(result(record)?),
            b"\"system\"" => system(record)?,
            b"\"control_request\"" => request(record)?,
            b"\"control_response\"" => response(record)?,
            b"\"control_cancel_request\"" => Self::Withdrawn {
                id: record.text_of("request_id")?,
            },
            b"\"stream_event\"" => Self::Stream(record.get("event")?),
            b"\"prompt_suggestion\"" => Self::Suggestion,
            _ if kind.first() == Some(&b'"') => Self::Other,
            _ => return None,
        })
    }
}

fn assistant(record: Node<'_>) -> Option<Said<'_>> {
    let content = record.get("message")?.get("content")?;
    let call = |block: &Node<'_>| block.get("type").map(Node::raw) == Some(b"\"tool_use\"");
    let Some(block) = content.items().find(call) else {
        return Some(Said::Text);
    };
    Some(Said::Call(ShownCall {
        id: block.text_of("id")?,
        name: block.text_of("name")?,
        input: block.get("input")?.raw(),
    }))
}

fn user(record: Node<'_>) -> Option<Said<'_>> {
    if record.get("isReplay").map(Node::raw) == Some(b"true") {
        return Some(Said::Echo {
            uuid: record.text_of("uuid")?,
        });
    }
    let content = record.get("message")?.get("content")?;
    let block = content.items().next()?;
    Some(Said::ToolResult {
        call: block.text_of("tool_use_id")?,
        is_error: block.get("is_error")?.raw() == b"true",
        content: block.get("content")?.raw(),
    })
}

fn result(record: Node<'_>) -> Option<Ending<'_>> {
    let mut ending = Ending {
        success: false,
        is_error: false,
        stop: Cow::Borrowed(""),
        prompt: None,
        turns: 0,
        cost: b"",
        errors: b"",
    };
    for (name, value) in record.members() {
        let raw = value.raw();
        match name {
            b"subtype" => ending.success = raw == b"\"success\"",
            b"is_error" => ending.is_error = raw == b"true",
            b"stop_reason" => ending.stop = value.text().unwrap_or_default(),
            b"prompt_uuid" => ending.prompt = Some(value.text()?),
            b"num_turns" => ending.turns = std::str::from_utf8(raw).ok()?.parse().ok()?,
            b"total_cost_usd" => ending.cost = raw,
            b"errors" => ending.errors = raw,
            _ => {}
        }
    }
    Some(ending)
}

fn system(record: Node<'_>) -> Option<Said<'_>> {
    let task = || record.text_of("task_id");
    Some(match record.get("subtype")?.raw() {
        b"\"init\"" => Said::Init,
        b"\"session_state_changed\"" => match record.get("state")?.raw() {
            b"\"idle\"" => Said::Idle,
            b"\"running\"" => Said::Running,
            b"\"requires_action\"" => {
                let about = record.get("requires_action")?;
                Said::RequiresAction(asked(about, about.text_of("request_id")?)?)
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

fn asked<'a>(about: Node<'a>, request: Cow<'a, str>) -> Option<Asked<'a>> {
    Some(Asked {
        request,
        tool_name: about.text_of("tool_name")?,
        tool_use_id: about.text_of("tool_use_id")?,
        input: about.get("input")?.raw(),
    })
}

fn request(record: Node<'_>) -> Option<Said<'_>> {
    let id = record.text_of("request_id")?;
    let request = record.get("request")?;
    Some(match request.get("subtype")?.raw() {
        b"\"can_use_tool\"" => Said::Question(asked(request, id)?),
        subtype => Said::Request {
            id,
            hook: subtype == b"\"hook_callback\"",
            races: callback(request),
        },
    })
}

fn callback(request: Node<'_>) -> Option<Cow<'_, str>> {
    let event = request.get("input")?.get("hook_event_name")?.raw();
    (event == b"\"PermissionRequest\"").then(|| request.text_of("tool_use_id"))?
}

fn response(record: Node<'_>) -> Option<Said<'_>> {
    let response = record.get("response")?;
    Some(Said::Response {
        id: response.text_of("request_id")?,
        success: match response.get("subtype")?.raw() {
            b"\"success\"" => true,
            b"\"error\"" => false,
            _ => return None,
        },
        payload: response.get("response").map(Node::raw),
        error: response.text_of("error"),
        pending: response.get("pending_permission_requests").map(Node::raw),
    })
}
