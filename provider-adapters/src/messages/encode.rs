//! Requests of the Messages API.
//!
//! The API wants turns that alternate, so neighbours of one role become one
//! message. It refuses blank text, reasoning without its signature and
//! reasoning at the end of an assistant message, so none of these is sent; an
//! assistant message of which nothing is left is skipped. Signed and secret
//! reasoning goes back unchanged and in its place.
//!
//! Up to three marks ask for a cache: after tools and system prompt, at the end
//! of the request before this one, and at the end of this one. `temperature`
//! and its like are never sent: newer models refuse them.

use super::BodyOptions;
use crate::body::{Encoder, Pieces, tool_name};
use agentx_core::json::Writer;
use agentx_core::model::{Block, Message, ModelRequest, ToolChoice, ToolResult};
use agentx_core::tool::{ToolContent, ToolSpec};
use std::sync::Arc;

/// Stands for a prompt or a failed result without a visible character, which
/// the API refuses.
const NOTHING: &str = "(empty)";

/// The messages of one request.
#[derive(Debug)]
pub(super) struct Messages {
    request: ModelRequest,
    /// The role of the message that is open.
    open: Option<Role>,
    /// Places in the history whose last block carries a cache mark.
    marks: [Option<usize>; 2],
    /// The next entry of the history, and the next of its tool results.
    next: usize,
    next_result: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

pub(super) fn encoder(options: &BodyOptions, request: ModelRequest) -> Encoder<Messages> {
    let mut writer = Writer::new();
    writer.begin_object();
    head(&mut writer, options, &request);
    writer.key("messages");
    writer.begin_array();
    let messages = Messages {
        marks: marks(&request.history),
        request,
        open: None,
        next: 0,
        next_result: 0,
    };
    Encoder::new(writer, messages)
}

impl Pieces for Messages {
    fn next(&mut self, writer: &mut Writer) -> bool {
        let Some(message) = self.request.history.get(self.next).map(Arc::clone) else {
            self.close(writer);
            return false;
        };
        let marked = self.marks.contains(&Some(self.next));
        match &*message {
            Message::User(parts) => {
                self.role(Role::User, writer);
                user(writer, parts, marked);
            }
            Message::Assistant(blocks) => self.assistant(blocks, writer),
            Message::ToolResults(results) => {
                if let Some(result) = results.get(self.next_result) {
                    self.role(Role::User, writer);
                    self.next_result += 1;
                    let marked = marked && self.next_result == results.len();
                    tool_result(writer, result, marked);
                    return true;
                }
                self.next_result = 0;
            }
        }
        self.next += 1;
        true
    }
}

impl Messages {
    fn assistant(&mut self, blocks: &[Block], writer: &mut Writer) {
        let end = blocks.iter().rposition(may_end).map_or(0, |last| last + 1);
        let sent = blocks.iter().take(end).filter(|block| may_stand(block));
        for block in sent {
            self.role(Role::Assistant, writer);
            self::block(writer, block);
        }
    }

    /// Opens a message of this role, unless one is open.
    fn role(&mut self, role: Role, writer: &mut Writer) {
        if self.open == Some(role) {
            return;
        }
        self.close(writer);
        self.open = Some(role);
        writer.begin_object();
        let word = match role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        writer.member_str("role", word);
        writer.key("content");
        writer.begin_array();
    }

    fn close(&mut self, writer: &mut Writer) {
        if self.open.take().is_some() {
            writer.end_array();
            writer.end_object();
        }
    }
}

/// The last entry of the user's side, and the last one before the newest
/// answer: there the request before this one ended.
fn marks(history: &[Arc<Message>]) -> [Option<usize>; 2] {
    let answers = |message: &Arc<Message>| matches!(**message, Message::Assistant(_));
    let last_of_user = |until: usize| {
        let before = history.get(..until).unwrap_or_default();
        before.iter().rposition(|message| !answers(message))
    };
    let answer = history.iter().rposition(answers);
    [last_of_user(history.len()), answer.and_then(last_of_user)]
}

/// All members but the messages.
fn head(writer: &mut Writer, options: &BodyOptions, request: &ModelRequest) {
    writer.member_str("model", &options.model);
    let bound = options.bound.of(request.max_output_tokens);
    writer.member_u64("max_tokens", bound);
    writer.member_bool("stream", true);
    if let Some(effort) = &request.effort {
        reasoning(writer, effort);
    }
    let system = request.system.as_deref().filter(|text| is_visible(text));
    if !request.tools.is_empty() {
        tools(writer, &request.tools, system.is_none());
        let choice = match request.tool_choice {
            // The default where there are tools.
            ToolChoice::Auto => None,
            ToolChoice::Required => Some("any"),
            ToolChoice::None => Some("none"),
        };
        if let Some(choice) = choice {
            typed(writer, "tool_choice", choice);
        }
    }
    if let Some(system) = system {
        writer.key("system");
        writer.begin_array();
        text_block(writer, system, true);
        writer.end_array();
    }
}

/// An effort in the API's own terms: the model decides how much it thinks, and
/// the effort leads it. `none` is the absence of thinking, and `minimal`, which
/// the API does not know, is its lowest.
fn reasoning(writer: &mut Writer, effort: &str) {
    if effort == "none" {
        return typed(writer, "thinking", "disabled");
    }
    writer.key("thinking");
    writer.begin_object();
    writer.member_str("type", "adaptive");
    // Newer models keep their reasoning to themselves unless they are asked.
    writer.member_str("display", "summarized");
    writer.end_object();
    writer.key("output_config");
    writer.begin_object();
    let effort = if effort == "minimal" { "low" } else { effort };
    writer.member_str("effort", effort);
    writer.end_object();
}

fn tools(writer: &mut Writer, tools: &[ToolSpec], mark_last: bool) {
    writer.key("tools");
    writer.begin_array();
    for (n, tool) in tools.iter().enumerate() {
        writer.begin_object();
        writer.member_str("name", &tool.name);
        writer.member_str("description", &tool.description);
        writer.member_raw("input_schema", &tool.input_schema);
        cache_mark(writer, mark_last && n + 1 == tools.len());
        writer.end_object();
    }
    writer.end_array();
}

fn user(writer: &mut Writer, parts: &[String], marked: bool) {
    let visible: Vec<&str> = parts
        .iter()
        .map(String::as_str)
        .filter(|text| is_visible(text))
        .collect();
    let Some((last, before)) = visible.split_last() else {
        return text_block(writer, NOTHING, marked);
    };
    for text in before {
        text_block(writer, text, false);
    }
    text_block(writer, last, marked);
}

/// Whether a block can be sent at all.
fn may_stand(block: &Block) -> bool {
    match block {
        Block::Text(text) => is_visible(text),
        Block::Thinking { signature, .. } => signature.is_some(),
        Block::RedactedThinking { .. } | Block::ToolCall(_) => true,
    }
}

/// Whether a block can be the last of an assistant message.
fn may_end(block: &Block) -> bool {
    match block {
        Block::Text(text) => is_visible(text),
        Block::Thinking { .. } | Block::RedactedThinking { .. } => false,
        Block::ToolCall(_) => true,
    }
}

fn block(writer: &mut Writer, block: &Block) {
    match block {
        Block::Text(text) => return text_block(writer, text, false),
        Block::Thinking { text, signature } => {
            writer.begin_object();
            writer.member_str("type", "thinking");
            writer.member_str("thinking", text);
            writer.member_opt_str("signature", signature.as_deref());
        }
        Block::RedactedThinking { data } => {
            writer.begin_object();
            writer.member_str("type", "redacted_thinking");
            writer.member_str("data", data);
        }
        Block::ToolCall(call) => {
            writer.begin_object();
            writer.member_str("type", "tool_use");
            writer.member_str("id", &call.id);
            writer.member_str("name", &tool_name(&call.name));
            writer.member_raw("input", &call.input);
        }
    }
    writer.end_object();
}

fn tool_result(writer: &mut Writer, result: &ToolResult, marked: bool) {
    writer.begin_object();
    writer.member_str("type", "tool_result");
    writer.member_str("tool_use_id", &result.tool_use_id);
    let texts: Vec<&str> = result
        .content
        .iter()
        .map(|ToolContent::Text(text)| text.as_str())
        .filter(|text| is_visible(text))
        .collect();
    if !texts.is_empty() || result.is_error {
        writer.key("content");
        writer.begin_array();
        for text in &texts {
            text_block(writer, text, false);
        }
        if texts.is_empty() {
            text_block(writer, NOTHING, false);
        }
        writer.end_array();
    }
    if result.is_error {
        writer.member_bool("is_error", true);
    }
    cache_mark(writer, marked);
    writer.end_object();
}

fn text_block(writer: &mut Writer, text: &str, marked: bool) {
    writer.begin_object();
    writer.member_str("type", "text");
    writer.member_str("text", text);
    cache_mark(writer, marked);
    writer.end_object();
}

/// Asks for a cache of everything up to the end of this block.
fn cache_mark(writer: &mut Writer, marked: bool) {
    if marked {
        typed(writer, "cache_control", "ephemeral");
    }
}

/// A member whose object says its type and nothing else.
fn typed(writer: &mut Writer, name: &str, word: &str) {
    writer.key(name);
    writer.begin_object();
    writer.member_str("type", word);
    writer.end_object();
}

fn is_visible(text: &str) -> bool {
    !text.trim().is_empty()
}
