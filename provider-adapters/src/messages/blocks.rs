//! The blocks of one answer, which arrive in pieces.

use crate::failure::Failure;
use crate::limits::{ANSWER_CALLS, ID_BYTES};
use crate::stream::Room;
use crate::text::Channel;
use agentx_core::json::{Object, RawJson, Value};
use agentx_core::model::Delta;
use std::collections::BTreeMap;

/// The blocks that are open, by their index.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    open: BTreeMap<u64, Open>,
    calls: u32,
    room: Room,
}

#[derive(Debug)]
enum Open {
    Text(Channel),
    /// A signature is given whole when its block is done, so that a cut answer
    /// leaves none that is half.
    Thinking {
        text: Channel,
        signature: String,
    },
    Call {
        key: u32,
        arguments: Channel,
        /// The input that came with the start, as long as no piece did.
        whole: Option<String>,
    },
    /// A block of the server's own tools, or of a kind that nobody knows.
    Ignored,
}

impl Open {
    fn thinking() -> Self {
        Self::Thinking {
            text: Channel::default(),
            signature: String::new(),
        }
    }
}

impl Blocks {
    /// Whether the answer holds a tool call.
    pub(super) const fn has_calls(&self) -> bool {
        self.calls > 0
    }

    /// Begins a block. A second start under an index begins another block there
    /// (DEC-51).
    pub(super) fn start(
        &mut self,
        index: u64,
        block: Object<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<(), Failure> {
        self.close_texts(out);
        self.stop(index, out);
        if self.open.len() >= ANSWER_CALLS {
            return Err(Failure::broken_stream(format!(
                "more than {ANSWER_CALLS} blocks of one answer are open"
            )));
        }
        let open = match block.get("type").and_then(word).as_deref() {
            Some("text") => Open::Text(Channel::default()),
            Some("thinking") => Open::thinking(),
            Some("redacted_thinking") => {
                let data = block.get("data").and_then(word).unwrap_or_default();
                self.room.take(data.len())?;
                if !data.is_empty() {
                    out.push(Delta::RedactedThinking(data));
                }
                Open::Ignored
            }
            Some("tool_use") => self.call(block, out)?,
            _ => Open::Ignored,
        };
        self.open.insert(index, open);
        // Text and reasoning may begin with their start.
        for name in ["text", "thinking", "signature"] {
            if let Some(text) = block.get(name) {
                self.append(index, name, text, out)?;
            }
        }
        Ok(())
    }

    fn call(&mut self, block: Object<'_>, out: &mut Vec<Delta>) -> Result<Open, Failure> {
        let id = short(block, "id")?;
        let name = short(block, "name")?;
        if name.is_empty() {
            return Err(Failure::broken_stream("a tool call without a name"));
        }
        let key = self.calls;
        if usize::try_from(key).is_ok_and(|calls| calls >= ANSWER_CALLS) {
            return Err(Failure::broken_stream(format!(
                "more than {ANSWER_CALLS} tool calls in one answer"
            )));
        }
        self.calls += 1;
        out.push(Delta::CallStart {
            index: key,
            id,
            name,
        });
        let input = block.get("input").filter(|input| !input.is_null());
        let whole = input
            .map(|input| RawJson::from_value(input).as_str().to_owned())
            .filter(|input| input != "{}");
        self.room.take(whole.as_ref().map_or(0, String::len))?;
        Ok(Open::Call {
            key,
            arguments: Channel::default(),
            whole,
        })
    }

    /// Takes a piece of a block, which begins one where none was started.
    pub(super) fn delta(
        &mut self,
        index: u64,
        delta: Object<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<(), Failure> {
        let name = match delta.get("type").and_then(word).as_deref() {
            Some("text_delta") => "text",
            Some("thinking_delta") => "thinking",
            Some("signature_delta") => "signature",
            Some("input_json_delta") => "partial_json",
            _ => return Ok(()),
        };
        if !self.open.contains_key(&index) {
            let open = match name {
                "text" => Open::Text(Channel::default()),
                "partial_json" => {
                    return Err(Failure::broken_stream(
                        "a piece of a tool call that never began",
                    ));
                }
                _ => Open::thinking(),
            };
            self.close_texts(out);
            self.open.insert(index, open);
        }
        match delta.get(name) {
            Some(text) => self.append(index, name, text, out),
            None => Ok(()),
        }
    }

    fn append(
        &mut self,
        index: u64,
        name: &str,
        piece: Value<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<(), Failure> {
        if piece.is_null() {
            return Ok(());
        }
        let Some(open) = self.open.get_mut(&index) else {
            return Ok(());
        };
        if matches!(open, Open::Ignored) {
            return Ok(());
        }
        let Some(piece) = piece.as_str() else {
            return Err(Failure::broken_stream(match name {
                "partial_json" => "the arguments of a tool call are no text",
                _ => "the content of an answer is no text",
            }));
        };
        let delta = match (open, name) {
            (Open::Text(channel), "text") => Delta::Text(channel.add(piece)),
            (Open::Thinking { text, .. }, "thinking") => Delta::Thinking(text.add(piece)),
            (Open::Thinking { signature, .. }, "signature") => {
                let piece = piece.decode_lossy();
                self.room.take(piece.len())?;
                signature.push_str(&piece);
                return Ok(());
            }
            (
                Open::Call {
                    key,
                    arguments,
                    whole,
                },
                "partial_json",
            ) => {
                let text = arguments.add(piece);
                if !piece.raw().is_empty() {
                    *whole = None;
                }
                Delta::CallArguments { index: *key, text }
            }
            _ => return Ok(()),
        };
        let bytes = push(delta, out);
        self.room.take(bytes)
    }

    /// Ends a block, if it is open.
    pub(super) fn stop(&mut self, index: u64, out: &mut Vec<Delta>) {
        let Some(open) = self.open.remove(&index) else {
            return;
        };
        match open {
            Open::Text(mut channel) => {
                push(Delta::Text(channel.finish().to_owned()), out);
            }
            Open::Thinking {
                mut text,
                signature,
            } => {
                push(Delta::Thinking(text.finish().to_owned()), out);
                push(Delta::Signature(signature), out);
            }
            Open::Call {
                key,
                mut arguments,
                whole,
            } => {
                let text = whole.unwrap_or_else(|| arguments.finish().to_owned());
                push(Delta::CallArguments { index: key, text }, out);
            }
            Open::Ignored => {}
        }
    }

    /// Ends every block.
    pub(super) fn finish(&mut self, out: &mut Vec<Delta>) {
        while let Some(index) = self.open.keys().next().copied() {
            self.stop(index, out);
        }
    }

    /// Ends text and reasoning, which do not go on once another block begins.
    fn close_texts(&mut self, out: &mut Vec<Delta>) {
        let texts = |(index, open): (&u64, &Open)| {
            let text = matches!(open, Open::Text(_) | Open::Thinking { .. });
            text.then_some(*index)
        };
        let texts: Vec<u64> = self.open.iter().filter_map(texts).collect();
        for index in texts {
            self.stop(index, out);
        }
    }
}

/// Adds a delta that says something. Returns its bytes.
fn push(delta: Delta, out: &mut Vec<Delta>) -> usize {
    let (Delta::Text(text)
    | Delta::Thinking(text)
    | Delta::Signature(text)
    | Delta::CallArguments { text, .. }) = &delta
    else {
        return 0;
    };
    let bytes = text.len();
    if bytes > 0 {
        out.push(delta);
    }
    bytes
}

/// The text of a string.
pub(super) fn word(value: Value<'_>) -> Option<String> {
    value.as_str().map(|text| text.decode_lossy().into_owned())
}

/// A short word; empty when it is absent or null.
fn short(block: Object<'_>, name: &str) -> Result<String, Failure> {
    let text = block.get(name).and_then(word).unwrap_or_default();
    if text.len() > ID_BYTES {
        return Err(Failure::broken_stream(format!(
            "the {name} of a tool call is over {ID_BYTES} bytes"
        )));
    }
    Ok(text)
}
