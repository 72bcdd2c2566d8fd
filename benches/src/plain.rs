//! Output records as a careful user writes them today: owned enums with derived
//! serialization, free-form JSON kept as its text. Member for member what the
//! core writes.

use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// One output record.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the wire's own names")]
pub enum Record {
    StreamEvent {
        event: Event,
        parent_tool_use_id: Option<String>,
        uuid: String,
        session_id: String,
    },
    Assistant {
        message: Message,
        parent_tool_use_id: Option<String>,
        uuid: String,
        session_id: String,
    },
    User {
        message: UserMessage,
        parent_tool_use_id: Option<String>,
        #[serde(rename = "isSynthetic")]
        is_synthetic: bool,
        tool_use_result: Box<RawValue>,
        uuid: String,
        session_id: String,
    },
    Result {
        subtype: String,
        is_error: bool,
        duration_ms: u64,
        duration_api_ms: u64,
        num_turns: u64,
        result: String,
        stop_reason: Option<String>,
        total_cost_usd: Option<f64>,
        usage: Usage,
        #[serde(rename = "modelUsage")]
        model_usage: BTreeMap<String, ModelUsage>,
        permission_denials: Vec<Box<RawValue>>,
        uuid: String,
        session_id: String,
    },
}

/// An event of a streamed answer.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the wire's own names")]
pub enum Event {
    MessageStart { message: Message },
    ContentBlockStart { index: u64, content_block: Block },
    ContentBlockDelta { index: u64, delta: Delta },
    ContentBlockStop { index: u64 },
    MessageDelta { delta: Change, usage: Usage },
    MessageStop,
}

/// A piece of a content block.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the wire's own names")]
pub enum Delta {
    TextDelta { text: String },
    InputJsonDelta { partial_json: String },
}

/// Why a message stopped.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the wire's own names")]
pub struct Change {
    pub stop_reason: Option<String>,
    pub stop_sequence: Option<String>,
}

/// A content block.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the wire's own names")]
pub enum Block {
    Text {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: Box<RawValue>,
    },
    ToolResult {
        tool_use_id: String,
        content: Vec<Self>,
        is_error: bool,
    },
}

/// A model's message.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the wire's own names")]
pub struct Message {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub role: &'static str,
    pub model: String,
    pub content: Vec<Block>,
    pub stop_reason: Option<String>,
    pub stop_sequence: Option<String>,
    pub usage: Usage,
}

/// A message on the user's side.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the wire's own names")]
pub struct UserMessage {
    pub role: &'static str,
    pub content: Vec<Block>,
}

/// Tokens used.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the wire's own names")]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_creation_input_tokens: u64,
    pub cache_read_input_tokens: u64,
    pub reasoning_output_tokens: u64,
    pub total_tokens: u64,
}

/// What one model took.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the wire's own names")]
pub struct ModelUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_input_tokens: u64,
    pub cache_creation_input_tokens: u64,
    pub web_search_requests: u64,
    #[serde(rename = "costUSD")]
    pub cost_usd: Option<f64>,
    pub context_window: u64,
    pub max_output_tokens: u64,
}
