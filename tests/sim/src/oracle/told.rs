//! What the agent is told: lines out of the bytes it is fed, each read as far as
//! oracles look at it.

use super::tree::{Node, Tree};

/// When a prompt wants to run; what is smaller runs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Priority {
    Now,
    Next,
    Later,
}

/// What is certain of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// It has the form that the wire wants.
    Right,
    /// It may have it, or not.
    Unsure,
}

/// A user record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) uuid: Option<String>,
    pub(crate) priority: Priority,
    pub(crate) form: Form,
    /// Whether it says that it is context.
    pub(crate) replay: bool,
    /// Its line without the newline, in bytes.
    pub(crate) bytes: usize,
}

impl Prompt {
    /// Whether it interrupts what runs.
    pub(crate) fn is_urgent(&self) -> bool {
        self.priority == Priority::Now && !self.replay
    }
}

/// What an answer says, before anybody reads its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Success(Option<String>),
    Error(String),
    Invalid,
}

/// An answer of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) id: String,
    pub(crate) body: Body,
    /// The tool call that the payload of a success names.
    pub(crate) tool_use_id: Option<String>,
}

/// One record towards the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Prompt(Prompt),
    Interrupt {
        id: String,
    },
    Initialize {
        id: String,
        bare: bool,
    },
    Control {
        id: String,
        subtype: String,
    },
    Answer(Answer),
    /// Something that no oracle looks at.
    Other,
    /// Nobody can read on behind it (DEC-10).
    Fatal,
}

/// The members of a user record.
const PROMPT: [&[u8]; 10] = [
    b"type",
    b"uuid",
    b"session_id",
    b"message",
    b"parent_tool_use_id",
    b"isSynthetic",
    b"isReplay",
    b"tool_use_result",
    b"priority",
    b"timestamp",
];

/// Nesting that is surely allowed.
const SURE_DEPTH: usize = 100;

/// Cuts a stream of bytes into lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    tail: Vec<u8>,
}

impl Lines {
    /// Takes bytes and gives each line that they end to `line`, until that says
    /// to stop. A line that is longer than `limit` bytes is given before its end.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        limit: usize,
        mut line: impl FnMut(&[u8]) -> std::ops::ControlFlow<()>,
    ) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (head, tail) = rest.split_at(end);
            rest = &tail[1..];
            let stop = if self.tail.is_empty() {
                line(head)
            } else {
                self.tail.extend_from_slice(head);
                let stop = line(&self.tail);
                self.tail.clear();
                stop
            };
            if stop.is_break() {
                return;
            }
        }
        self.tail.extend_from_slice(rest);
        if self.tail.len() > limit {
            let _ = line(&self.tail);
            self.tail.clear();
        }
    }

    /// The line that has no end.
    pub(crate) fn end(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.tail)
    }
}

impl Told {
    /// Reads one line; `None` for a blank one. `limit`: the bytes that a line may
    /// have. `reference`: whether the agent has that profile.
    pub(crate) fn read(
        line: &[u8],
        limit: usize,
        reference: bool,
        tree: &mut Tree,
    ) -> Option<Self> {
        if line.len() > limit {
            return Some(Self::Fatal);
        }
        let raw = line.len();
        let text = line.trim_ascii();
        if text.is_empty() {
            return None;
        }
        let record = tree.read(text).filter(|record| record.is_object());
        let Some(record) = record else {
            return Some(Self::Fatal);
        };
        Some(match record.text_of("type").as_deref() {
            Some("user") => {
                let mut prompt = prompt(record, raw, reference);
                if spells_out(text) {
                    prompt.form = Form::Unsure;
                }
                Self::Prompt(prompt)
            }
            Some("control_request") => control(record, reference),
            Some("control_response") => answer(record).map_or(Self::Fatal, Self::Answer),
            _ => Self::Other,
        })
    }
}

fn prompt(record: Node<'_>, raw: usize, reference: bool) -> Prompt {
    let mut prompt = Prompt {
        uuid: None,
        priority: Priority::Next,
        form: Form::Right,
        replay: false,
        bytes: raw,
    };
    let mut said = false;
    for (name, value) in record.members() {
        let right = match name {
            b"uuid" => {
                prompt.uuid = value.text().map(Into::into);
                prompt.uuid.as_deref().is_some_and(is_uuid)
            }
            b"priority" => match value.raw() {
                b"\"now\"" => {
                    prompt.priority = Priority::Now;
                    true
                }
                b"\"next\"" => true,
                b"\"later\"" => {
                    prompt.priority = Priority::Later;
                    true
                }
                _ => false,
            },
            b"isReplay" => {
                prompt.replay = value.raw() == b"true";
                matches!(value.raw(), b"true" | b"false")
            }
            b"message" => {
                said = true;
                is_plain_message(value)
            }
            b"parent_tool_use_id" => value.raw() == b"null",
            b"type" => true,
            _ => PROMPT.contains(&name) && name != b"session_id" || reference,
        };
        if !right {
            prompt.form = Form::Unsure;
        }
    }
    if !said || record.depth() > SURE_DEPTH {
        prompt.form = Form::Unsure;
    }
    prompt
}

/// Whether a character may be spelled by its number.
fn spells_out(line: &[u8]) -> bool {
    memchr::memchr_iter(b'\\', line).any(|at| line.get(at + 1) == Some(&b'u'))
}

fn is_uuid(text: &str) -> bool {
    let shape = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        14 => matches!(byte, b'1'..=b'8'),
        19 => matches!(byte, b'8' | b'9' | b'a' | b'b' | b'A' | b'B'),
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(shape)
}

/// A message with a text that is not empty, in its simplest forms.
fn is_plain_message(message: Node<'_>) -> bool {
    let mut content = None;
    for (name, value) in message.members() {
        match name {
            b"role" if value.raw() == b"\"user\"" => {}
            b"content" => content = Some(value),
            _ => return false,
        }
    }
    let plain = |block: Node<'_>| {
        let known = |name: &[u8]| matches!(name, b"type" | b"text");
        block.get("type").map(Node::raw) == Some(b"\"text\"")
            && block.text_of("text").is_some()
            && block.members().all(|(name, _)| known(name))
    };
    content.is_some_and(|content| {
        content.text().is_some() || (content.items().next().is_some() && content.items().all(plain))
    })
}

/// The id of a control record; its alias counts where the id itself is missing.
fn request_id(object: Node<'_>) -> Option<String> {
    let id = object
        .get("request_id")
        .or_else(|| object.get("requestId"))?;
    id.text().map(Into::into)
}

fn control(record: Node<'_>, reference: bool) -> Told {
    let Some(id) = request_id(record) else {
        return Told::Fatal;
    };
    let request = record.get("request");
    let subtype = request.and_then(|request| request.text_of("subtype"));
    let subtype = subtype.unwrap_or_default();
    let bare = request.is_some_and(|request| request.members().count() == 1);
    match &*subtype {
        "interrupt" if bare || reference => Told::Interrupt { id },
        "initialize" => Told::Initialize { id, bare },
        _ => Told::Control {
            id,
            subtype: subtype.into_owned(),
        },
    }
}

fn answer(record: Node<'_>) -> Option<Answer> {
    let response = record.get("response").filter(|value| value.is_object())?;
    let id = request_id(response)?;
    let payload = response.get("response");
    let body = match response.text_of("subtype").as_deref() {
        Some("success") if payload.map(Node::raw) == Some(b"null") => Body::Invalid,
        Some("success") => Body::Success(
            payload.map(|payload| String::from_utf8_lossy(payload.raw()).into_owned()),
        ),
        Some("error") => error(response),
        _ => Body::Invalid,
    };
    let named = payload.filter(|_| matches!(body, Body::Success(_)));
    let tool_use_id = named.and_then(|payload| payload.text_of("toolUseID"));
    Some(Answer {
        id,
        body,
        tool_use_id: tool_use_id.map(Into::into),
    })
}

/// A list of pending requests decides nothing, but makes an answer invalid where
/// it is not one.
fn error(response: Node<'_>) -> Body {
    let pending = response.get("pending_permission_requests");
    let envelope = |item: Node<'_>| {
        item.get("type").map(Node::raw) == Some(b"\"control_request\"")
            && request_id(item).is_some()
            && item.get("request").is_some_and(Node::is_object)
    };
    let listed = |list: Node<'_>| list.is_list() && list.items().all(envelope);
    if !pending.is_none_or(listed) {
        return Body::Invalid;
    }
    match response.text_of("error") {
        Some(text) => Body::Error(text.into_owned()),
        None => Body::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<Told> {
        Told::read(line.as_bytes(), 1_000, false, &mut Tree::default())
    }

    #[test]
    fn lines_are_whole_wherever_the_bytes_are_cut() {
        let mut lines = Lines::default();
        let mut seen: Vec<Vec<u8>> = Vec::new();
        for bytes in [&b"ab"[..], b"c\nd\n", b"\ne"] {
            lines.feed(bytes, 10, |line| {
                seen.push(line.to_vec());
                std::ops::ControlFlow::Continue(())
            });
        }
        assert_eq!(seen, [&b"abc"[..], b"d", b""]);
        assert_eq!(lines.end(), b"e");
        let mut long = Vec::new();
        lines.feed(b"0123456789ab", 10, |line| {
            long.push(line.len());
            std::ops::ControlFlow::Continue(())
        });
        assert_eq!(
            long,
            [12],
            "a line that is too long is given before its end"
        );
    }

    #[test]
    fn what_ends_a_stream_is_fatal() {
        for line in [
            "{",
            "[]",
            "\u{feff}{}",
            r#"{"type":"keep_alive","type":"user"}"#,
            r#"{"type":"control_request","request":{}}"#,
            r#"{"type":"control_response","response":{"subtype":"success"}}"#,
            r#"{"type":"control_response","response":1}"#,
        ] {
            assert_eq!(read(line), Some(Told::Fatal), "{line}");
        }
        let long = Told::read(b"{} ", 2, false, &mut Tree::default());
        assert_eq!(long, Some(Told::Fatal));
        assert_eq!(read(" \r"), None);
        assert_eq!(read(r#"{"type":"other"}"#), Some(Told::Other));
    }

    #[test]
    fn prompts_and_answers_are_read() {
        let prompt = r#"{"type":"user","uuid":"3f1e7948-5c1f-4c1f-8e2c-88bc9839ec27","priority":"now","message":{"role":"user","content":"go"}}"#;
        let Some(Told::Prompt(prompt)) = read(prompt) else {
            panic!("a prompt")
        };
        assert_eq!((prompt.form, prompt.priority), (Form::Right, Priority::Now));
        let unsure = read(r#"{"type":"user","message":{"role":"user","content":[]}}"#);
        let Some(Told::Prompt(unsure)) = unsure else {
            panic!("a prompt")
        };
        assert_eq!((unsure.form, unsure.uuid), (Form::Unsure, None));
        let answer = r#"{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"allow","toolUseID":"t"}}}"#;
        let Some(Told::Answer(answer)) = read(answer) else {
            panic!("an answer")
        };
        assert_eq!(
            (&*answer.id, answer.tool_use_id.as_deref()),
            ("r", Some("t"))
        );
        for (body, expected) in [
            (r#""subtype":"success","response":null"#, Body::Invalid),
            (r#""subtype":"fine","response":{}"#, Body::Invalid),
            (r#""subtype":"error""#, Body::Invalid),
            (
                r#""subtype":"error","error":"no""#,
                Body::Error("no".into()),
            ),
        ] {
            let line =
                format!(r#"{{"type":"control_response","response":{{"requestId":"r",{body}}}}}"#);
            let Some(Told::Answer(answer)) = read(&line) else {
                panic!("an answer")
            };
            assert_eq!(answer.body, expected);
        }
    }
}
