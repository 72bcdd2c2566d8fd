//! Requests of the Chat Completions API.
//!
//! Reasoning is not sent back, since the API has no place for it. An assistant
//! message of which nothing else is left is skipped. `temperature` and its
//! like are never sent: newer models refuse them.

use super::BodyOptions;
use crate::body::{Encoder, Pieces, join, result_text, tool_choice, tool_name, user_message};
use agentx_core::json::Writer;
use agentx_core::model::{Block, Message, ModelRequest, ToolResult};
use agentx_core::tool::ToolCall;

/// The messages of one request.
#[derive(Debug)]
pub(super) struct Messages {
    request: ModelRequest,
    /// The next entry of the history, and the next of its tool results.
    next: usize,
    next_result: usize,
}

pub(super) fn encoder(options: &BodyOptions, request: ModelRequest) -> Encoder<Messages> {
    let mut writer = Writer::new();
    writer.begin_object();
    head(&mut writer, options, &request);
    writer.key("messages");
    writer.begin_array();
    if let Some(system) = &request.system {
        text_message(&mut writer, "system", system);
    }
    let messages = Messages {
        request,
        next: 0,
        next_result: 0,
    };
    Encoder::new(writer, messages)
}

impl Pieces for Messages {
    fn next(&mut self, writer: &mut Writer) -> bool {
        let Some(message) = self.request.history.get(self.next) else {
            return false;
        };
        match &**message {
            Message::User(parts) => user_message(writer, parts, "text"),
            Message::Assistant(blocks) => assistant(writer, blocks),
            Message::ToolResults(results) => {
                if let Some(result) = results.get(self.next_result) {
                    tool_result(writer, result);
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

/// All members but the messages.
fn head(writer: &mut Writer, options: &BodyOptions, request: &ModelRequest) {
    writer.member_str("model", &options.model);
    writer.member_bool("stream", true);
    writer.key("stream_options");
    writer.begin_object();
    writer.member_bool("include_usage", true);
    writer.end_object();
    options
        .output_limit
        .write(writer, request.max_output_tokens);
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
    tool_choice(writer, &request.tool_choice);
}

fn text_message(writer: &mut Writer, role: &str, text: &str) {
    writer.begin_object();
    writer.member_str("role", role);
    writer.member_str("content", text);
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
            writer.member_str("name", &tool_name(&call.name));
            writer.member_str("arguments", call.input.as_str());
            writer.end_object();
            writer.end_object();
        }
        writer.end_array();
    }
    writer.end_object();
}

fn tool_result(writer: &mut Writer, result: &ToolResult) {
    writer.begin_object();
    writer.member_str("role", "tool");
    writer.member_str("tool_call_id", &result.tool_use_id);
    writer.member_str("content", &result_text(result));
    writer.end_object();
}
