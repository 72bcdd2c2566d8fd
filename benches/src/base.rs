//! What a careful user writes today: a line codec, and serde into owned types
//! that are tagged by their `type` member.

use bytes::BytesMut;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::codec::{Decoder, LinesCodec};

/// One record of any corpus.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the wire's own names")]
pub enum Record {
    StreamEvent {
        event: Event,
        session_id: String,
        parent_tool_use_id: Option<String>,
        uuid: String,
    },
    Assistant {
        message: Message,
        parent_tool_use_id: Option<String>,
        session_id: String,
        uuid: String,
    },
    User {
        message: UserMessage,
        parent_tool_use_id: Option<String>,
        session_id: String,
        uuid: String,
        priority: Option<String>,
        tool_use_result: Option<Value>,
    },
    System {
        subtype: String,
        session_id: String,
        uuid: String,
        tools: Vec<String>,
        model: String,
    },
    Result {
        subtype: String,
        is_error: bool,
        duration_ms: u64,
        num_turns: u64,
        result: Option<String>,
        session_id: String,
        uuid: String,
        usage: Usage,
    },
    KeepAlive,
    ControlRequest {
        request_id: String,
        request: Value,
    },
    ControlResponse {
        response: Response,
    },
    AttachmentImport {
        version: u64,
        operation: String,
        upload_id: String,
        sequence: Option<u64>,
        data: Option<String>,
    },
}

/// An event of a model stream.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the wire's own names")]
pub enum Event {
    MessageStart { message: Message },
    ContentBlockStart { index: u64, content_block: Block },
    ContentBlockDelta { index: u64, delta: Delta },
    ContentBlockStop { index: u64 },
    MessageDelta { delta: Value, usage: Usage },
    MessageStop,
}

/// A piece of a content block.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the wire's own names")]
pub enum Delta {
    TextDelta { text: String },
    ThinkingDelta { thinking: String },
    InputJsonDelta { partial_json: String },
}

/// A content block.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the wire's own names")]
pub enum Block {
    Text {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: Value,
    },
    ToolResult {
        tool_use_id: String,
        content: Value,
        is_error: Option<bool>,
    },
    AttachmentRef {
        attachment_id: String,
        kind: String,
        name: String,
        mime_type: String,
        size_bytes: u64,
        sha256: String,
        storage_id: String,
    },
}

/// A model's message.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "the wire's own names")]
pub struct Message {
    pub id: String,
    pub role: String,
    pub model: String,
    pub content: Vec<Block>,
    pub stop_reason: Option<String>,
    pub usage: Usage,
}

/// Tokens used.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "the wire's own names")]
pub struct Usage {
    #[serde(default)]
    pub input_tokens: u64,
    pub output_tokens: u64,
}

/// A user's message.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "the wire's own names")]
pub struct UserMessage {
    pub role: String,
    pub content: UserContent,
    pub content_version: Option<u64>,
}

/// A text, or blocks.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the wire's own names")]
pub enum UserContent {
    Text(String),
    Blocks(Vec<Block>),
}

/// The answer to a control request.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "the wire's own names")]
pub struct Response {
    pub subtype: String,
    pub request_id: String,
    pub response: Option<Value>,
}

/// Decodes chunks. Returns how many records there were.
///
/// # Panics
///
/// When a record is none.
pub fn decode<'c>(chunks: impl Iterator<Item = &'c [u8]>) -> usize {
    let mut codec = LinesCodec::new();
    let mut buffer = BytesMut::new();
    let mut records = 0;
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        while let Some(line) = codec.decode(&mut buffer).expect("a line") {
            let record: Record = serde_json::from_str(&line).expect("a record");
            std::hint::black_box(&record);
            records += 1;
        }
    }
    records
}
