//! Requests of the Chat Completions API.
//!
//! Reasoning is not sent back, since the API has no place for it. An assistant
//! message of which nothing else is left is skipped. `temperature` and its
//! like are never sent: newer models refuse them.

use super::BodyOptions;
use crate::adapter::Encode;
use crate::failure::Failure;
use crate::limits::{ENCODE_STEP_BYTES, REQUEST_BYTES};
use agentx_core::json::Writer;
use agentx_core::model::{Block, ErrorCategory, Message, ModelRequest, ToolChoice, ToolResult};
use agentx_core::tool::{ToolCall, ToolContent};
use std::borrow::Cow;

#[derive(Debug)]
pub(super) struct Encoder {
    request: ModelRequest,
    writer: Writer,
    /// The next entry of the history, and the next of its tool results.
    next: usize,
    next_result: usize,
}

impl Encoder {
    pub(super) fn new(options: &BodyOptions, request: ModelRequest) -> Self {
        let mut writer = Writer::new();
        writer.begin_object();
        head(&mut writer, options, &request);
        writer.key("messages");
        writer.begin_array();
        if let Some(system) = &request.system {
            text_message(&mut writer, "system", system);
        }
        Self {
            request,
            writer,
            next: 0,
            next_result: 0,
        }
    }

    /// Encodes the next message; `false` when there is none.
    fn message(&mut self) -> bool {
        let Some(message) = self.request.history.get(self.next) else {
            return false;
        };
        match &**message {
            Message::User(parts) => user(&mut self.writer, parts),
            Message::Assistant(blocks) => assistant(&mut self.writer, blocks),
            Message::ToolResults(results) => {
                if let Some(result) = results.get(self.next_result) {
                    tool_result(&mut self.writer, result);
                    self.next_result += 1;
                    return true;
                }
                self.next_result = 0;
            }
        }
        self.next += 1;
        true
    }
}

impl Encode for Encoder {
    fn step(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        let until = self.writer.as_bytes().len() + ENCODE_STEP_BYTES;
        while self.writer.as_bytes().len() < until {
            if self.message() {
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
        format!("the request to the model would be over {REQUEST_BYTES} bytes"),
    ))
}

/// All members but the messages.
fn head(writer: &mut Writer, options: &BodyOptions, request: &ModelRequest) {
    writer.member_str("model", &options.model);
    writer.member_bool("stream", true);
    writer.key("stream_options");
    writer.begin_object();
    writer.member_bool("include_usage", true);
    writer.end_object();
    let limit = options.output_limit;
    if limit
        .untold_from
        .is_none_or(|from| request.max_output_tokens < from)
    {
        writer.member_u64(limit.member, request.max_output_tokens);
    }
    writer.member_opt_str("reasoning_effort", request.effort.as_deref());
    if request.tools.is_empty() {
        return;
    }
    writer.key("tools");
    writer.begin_array();
    for tool in request.tools.iter() {
        writer.begin_object();
        writer.member_str("type", "function");
        writer.key("function");
        writer.begin_object();
        writer.member_str("name", &tool.name);
        writer.member_str("description", &tool.description);
        writer.member_raw("parameters", &tool.input_schema);
        writer.end_object();
        writer.end_object();
    }
    writer.end_array();
    match request.tool_choice {
        // The default where there are tools; not every server knows the word.
        ToolChoice::Auto => {}
        ToolChoice::Required => writer.member_str("tool_choice", "required"),
        ToolChoice::None => writer.member_str("tool_choice", "none"),
    }
}

fn text_message(writer: &mut Writer, role: &str, text: &str) {
    writer.begin_object();
    writer.member_str("role", role);
    writer.member_str("content", text);
    writer.end_object();
}

fn user(writer: &mut Writer, parts: &[String]) {
    if let [text] = parts {
        return text_message(writer, "user", text);
    }
    writer.begin_object();
    writer.member_str("role", "user");
    writer.key("content");
    writer.begin_array();
    for text in parts {
        writer.begin_object();
        writer.member_str("type", "text");
        writer.member_str("text", text);
        writer.end_object();
    }
    writer.end_array();
    writer.end_object();
}

fn assistant(writer: &mut Writer, blocks: &[Block]) {
    let text = join(blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::ToolCall(_) => None,
    }));
    let calls: Vec<&ToolCall> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            Block::Text(_) | Block::Thinking { .. } | Block::RedactedThinking { .. } => None,
        })
        .collect();
    if text.is_empty() && calls.is_empty() {
        return;
    }
    writer.begin_object();
    writer.member_str("role", "assistant");
    writer.member_nullable_str("content", (!text.is_empty()).then_some(&*text));
    if !calls.is_empty() {
        writer.key("tool_calls");
        writer.begin_array();
        for call in calls {
            writer.begin_object();
            writer.member_str("id", &call.id);
            writer.member_str("type", "function");
            writer.key("function");
            writer.begin_object();
            writer.member_str("name", &call.name);
            writer.member_str("arguments", call.input.as_str());
            writer.end_object();
            writer.end_object();
        }
        writer.end_array();
    }
    writer.end_object();
}

fn tool_result(writer: &mut Writer, result: &ToolResult) {
    let text = join(result.content.iter().map(|part| match part {
        ToolContent::Text(text) => text.as_str(),
    }));
    writer.begin_object();
    writer.member_str("role", "tool");
    writer.member_str("tool_call_id", &result.tool_use_id);
    writer.member_str("content", &text);
    writer.end_object();
}

/// Parts as one text, a line feed between them.
fn join<'a>(mut parts: impl Iterator<Item = &'a str>) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(parts.next().unwrap_or_default());
    for part in parts {
        let whole = text.to_mut();
        whole.push('\n');
        whole.push_str(part);
    }
    text
}
