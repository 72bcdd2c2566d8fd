//! What the encoders of all dialects share: a body whose last member is the
//! conversation, written in steps.

use crate::adapter::Encode;
use crate::failure::Failure;
use crate::limits::{ENCODE_STEP_BYTES, REQUEST_BYTES, TOOL_NAME_CHARS};
use agentx_core::json::Writer;
use agentx_core::model::{ErrorCategory, ToolChoice, ToolResult};
use agentx_core::tool::ToolContent;
use std::borrow::Cow;
use std::fmt;

/// The elements of a conversation, in one dialect.
pub(crate) trait Pieces: fmt::Debug + Send {
    /// Writes the next one; `false` when there is none.
    fn next(&mut self, writer: &mut Writer) -> bool;
}

/// Writes one body. Inside its object the array of the conversation is open
/// from the start.
#[derive(Debug)]
pub(crate) struct Encoder<P> {
    writer: Writer,
    pieces: P,
}

impl<P> Encoder<P> {
    pub(crate) const fn new(writer: Writer, pieces: P) -> Self {
        Self { writer, pieces }
    }
}

impl<P: Pieces> Encode for Encoder<P> {
    fn step(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        let until = self.writer.as_bytes().len() + ENCODE_STEP_BYTES;
        while self.writer.as_bytes().len() < until {
            if self.pieces.next(&mut self.writer) {
                continue;
            }
            let mut writer = std::mem::take(&mut self.writer);
            writer.end_array();
            writer.end_object();
            let body = writer.finish();
            check_size(body.len())?;
            return Ok(Some(body));
        }
        check_size(self.writer.as_bytes().len())?;
        Ok(None)
    }
}

fn check_size(bytes: usize) -> Result<(), Failure> {
    if bytes <= REQUEST_BYTES {
        return Ok(());
    }
    Err(Failure::new(
        ErrorCategory::InvalidRequest,
        format!(
            "the conversation is too long: the request to the model would be over \
             {REQUEST_BYTES} bytes; start a new session"
        ),
    ))
}

/// How the upper bound of an answer is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputLimit {
    /// Name of the member. In Chat Completions `OpenAI` has replaced
    /// `max_tokens`, which its newer models refuse, by `max_completion_tokens`;
    /// other servers know the old name only.
    pub(crate) member: &'static str,
    /// Bounds from here on are not told. They are defaults that nobody has
    /// declared, and servers refuse a bound above their own.
    pub(crate) untold_from: Option<u64>,
}

impl OutputLimit {
    /// Writes the member, if the bound is to be told.
    pub(crate) fn write(self, writer: &mut Writer, tokens: u64) {
        if self.untold_from.is_none_or(|from| tokens < from) {
            writer.member_u64(self.member, tokens);
        }
    }
}

/// The name of a call as it goes back to a provider. A model may make up a name
/// that its own API refuses, and each later request would fail for it. Host and
/// history keep what the model said.
pub(crate) fn tool_name(name: &str) -> Cow<'_, str> {
    let taken = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() {
        return Cow::Borrowed("unnamed");
    }
    if name.len() <= TOOL_NAME_CHARS && name.chars().all(taken) {
        return Cow::Borrowed(name);
    }
    let mapped = name.chars().map(|c| if taken(c) { c } else { '_' });
    Cow::Owned(mapped.take(TOOL_NAME_CHARS).collect())
}

/// Parts as one text, a line feed between them.
pub(crate) fn join<'a>(mut parts: impl Iterator<Item = &'a str>) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(parts.next().unwrap_or_default());
    for part in parts {
        let whole = text.to_mut();
        whole.push('\n');
        whole.push_str(part);
    }
    text
}

/// What a tool said, as one text.
pub(crate) fn result_text(result: &ToolResult) -> Cow<'_, str> {
    join(result.content.iter().map(|part| match part {
        ToolContent::Text(text) => text.as_str(),
    }))
}

/// Whether a tool has to be called, in the words of `OpenAI`. Nothing is said of
/// the default, a word that not every server knows.
pub(crate) fn tool_choice(writer: &mut Writer, choice: &ToolChoice) {
    match choice {
        ToolChoice::Auto => {}
        ToolChoice::Required => writer.member_str("tool_choice", "required"),
        ToolChoice::None => writer.member_str("tool_choice", "none"),
    }
}

/// A user message in the form of `OpenAI`: one text, or parts of this type.
pub(crate) fn user_message(writer: &mut Writer, parts: &[String], part_type: &str) {
    writer.begin_object();
    writer.member_str("role", "user");
    if let [text] = parts {
        writer.member_str("content", text);
    } else {
        writer.key("content");
        writer.begin_array();
        for text in parts {
            writer.begin_object();
            writer.member_str("type", part_type);
            writer.member_str("text", text);
            writer.end_object();
        }
        writer.end_array();
    }
    writer.end_object();
}
