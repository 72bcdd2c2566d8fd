//! Requests of the Responses API.
//!
//! Messages of the model are written in the form in which the API gave them,
//! since not every server takes the short one. That form wants ids; ours are
//! places in the history, so that equal histories make equal bodies.
//!
//! A reasoning item goes back as it came, but only where it is encrypted, for
//! nothing is stored behind its id, and only before something it led to, for
//! the API refuses one that nothing follows.

use super::BodyOptions;
use crate::body::{Encoder, Pieces, result_text, tool_choice, tool_name, user_message};
use agentx_core::json::{ScanLimits, Scanner, Value, Writer};
use agentx_core::model::{Block, Message, ModelRequest, ToolResult};
use agentx_core::tool::ToolCall;

/// The items of one request.
#[derive(Debug)]
pub(super) struct Items {
    request: ModelRequest,
    /// The next entry of the history, and the next block or result in it.
    next: usize,
    part: usize,
}

pub(super) fn encoder(options: &BodyOptions, request: ModelRequest) -> Encoder<Items> {
    let mut writer = Writer::new();
    writer.begin_object();
    head(&mut writer, options, &request);
    writer.key("input");
    writer.begin_array();
    let items = Items {
        request,
        next: 0,
        part: 0,
    };
    Encoder::new(writer, items)
}

impl Pieces for Items {
    fn next(&mut self, writer: &mut Writer) -> bool {
        let Some(message) = self.request.history.get(self.next) else {
            return false;
        };
        let more = match &**message {
            Message::User(parts) => {
                user_message(writer, parts, "input_text");
                false
            }
            Message::Assistant(blocks) => match blocks.get(self.part..) {
                Some([block, after @ ..]) => {
                    assistant(writer, (self.next, self.part), block, after);
                    true
                }
                _ => false,
            },
            Message::ToolResults(results) => results
                .get(self.part)
                .inspect(|result| tool_result(writer, result))
                .is_some(),
        };
        if more {
            self.part += 1;
        } else {
            self.next += 1;
            self.part = 0;
        }
        true
    }
}

/// All members but the conversation.
fn head(writer: &mut Writer, options: &BodyOptions, request: &ModelRequest) {
    writer.member_str("model", &options.model);
    writer.member_bool("stream", true);
    writer.member_bool("store", false);
    options
        .output_limit
        .write(writer, request.max_output_tokens);
    if let Some(effort) = &request.effort {
        writer.key("reasoning");
        writer.begin_object();
        writer.member_str("effort", effort);
        writer.end_object();
        // Models that do not reason refuse this one.
        writer.key("include");
        writer.begin_array();
        writer.string("reasoning.encrypted_content");
        writer.end_array();
    }
    tools(writer, request);
    writer.member_opt_str("instructions", request.system.as_deref());
}

fn tools(writer: &mut Writer, request: &ModelRequest) {
    if request.tools.is_empty() {
        return;
    }
    writer.key("tools");
    writer.begin_array();
    for tool in request.tools.iter() {
        writer.begin_object();
        writer.member_str("type", "function");
        writer.member_str("name", &tool.name);
        writer.member_str("description", &tool.description);
        writer.member_raw("parameters", &tool.input_schema);
        // The default is true, which takes a part of JSON Schema only.
        writer.member_bool("strict", false);
        writer.end_object();
    }
    writer.end_array();
    tool_choice(writer, &request.tool_choice);
}

fn assistant(writer: &mut Writer, place: (usize, usize), block: &Block, after: &[Block]) {
    match block {
        Block::Text(text) => said(writer, place, text),
        Block::ToolCall(call) => called(writer, call),
        Block::Thinking { signature, .. } => {
            let led_to_something = after.iter().any(|block| match block {
                Block::Text(text) => !text.is_empty(),
                Block::ToolCall(_) => true,
                Block::Thinking { .. } | Block::RedactedThinking { .. } => false,
            });
            if let Some(signature) = signature
                && led_to_something
            {
                thought(writer, signature);
            }
        }
        // Of another dialect.
        Block::RedactedThinking { .. } => {}
    }
}

fn said(writer: &mut Writer, (message, block): (usize, usize), text: &str) {
    if text.is_empty() {
        return;
    }
    writer.begin_object();
    writer.member_str("type", "message");
    writer.member_str("id", &format!("msg_{message}_{block}"));
    writer.member_str("role", "assistant");
    writer.member_str("status", "completed");
    writer.key("content");
    writer.begin_array();
    writer.begin_object();
    writer.member_str("type", "output_text");
    writer.member_str("text", text);
    writer.key("annotations");
    writer.begin_array();
    writer.end_array();
    writer.end_object();
    writer.end_array();
    writer.end_object();
}

fn called(writer: &mut Writer, call: &ToolCall) {
    writer.begin_object();
    writer.member_str("type", "function_call");
    writer.member_str("call_id", &call.id);
    writer.member_str("name", &tool_name(&call.name));
    writer.member_str("arguments", call.input.as_str());
    writer.end_object();
}

/// Writes a reasoning item that [`parts`](super::parts) kept as a signature.
/// A signature of another dialect is none of ours.
fn thought(writer: &mut Writer, signature: &str) {
    let mut scanner = Scanner::new();
    let item = scanner.scan(signature.as_bytes(), &ScanLimits::DEFAULT);
    if let Some(item) = item.ok().and_then(Value::as_object)
        && item
            .get("type")
            .and_then(Value::as_str)
            .is_some_and(|kind| kind.eq("reasoning"))
    {
        writer.value(item.value());
    }
}

fn tool_result(writer: &mut Writer, result: &ToolResult) {
    writer.begin_object();
    writer.member_str("type", "function_call_output");
    writer.member_str("call_id", &result.tool_use_id);
    writer.member_str("output", &result_text(result));
    writer.end_object();
}
