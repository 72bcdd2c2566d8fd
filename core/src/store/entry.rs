//! The entries of a stored session, each declared once.

use crate::json::{RawJson, Writer};
use crate::model::{Block, Message, Usage};
use crate::schema::declare::{Json as _, record, union};
use crate::schema::outbound::{RedactedThinkingBlock, ResultStop, TextBlock};
use crate::tool::{ToolCall, ToolContent};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

record! {
    /// A prompt, when its turn began.
    pub struct PromptEntry {
        "type" = "prompt",
        /// Milliseconds since the Unix epoch.
        required time_ms: u64,
        /// Its uuid (DEC-25).
        required uuid: Arc<str>,
        /// Its text, in parts.
        required content: Vec<String>,
    }
}

record! {
    /// Replayed context, when it joined the history (DEC-44).
    pub struct ContextEntry {
        "type" = "context",
        /// Milliseconds since the Unix epoch.
        required time_ms: u64,
        /// Its uuid.
        required uuid: Arc<str>,
        /// Its text, in parts.
        required content: Vec<String>,
    }
}

record! {
    /// What the history keeps of an answer (DEC-41).
    pub struct AnswerEntry {
        "type" = "answer",
        /// Milliseconds since the Unix epoch.
        required time_ms: u64,
        /// Its blocks.
        required content: Vec<EntryBlock>,
        /// Its tokens, unless it was cut.
        optional usage: Option<Usage>,
    }
}

record! {
    /// Reasoning.
    pub struct ThinkingEntry {
        "type" = "thinking",
        /// The text.
        required thinking: String,
        /// The provider's signature, which is sent back unchanged.
        optional signature: Option<String>,
    }
}

record! {
    /// A tool call under its session-wide id (DEC-35).
    pub struct CallEntry {
        "type" = "tool_use",
        /// Its id.
        required id: Arc<str>,
        /// Name of the tool.
        required name: Arc<str>,
        /// Its input as the model wrote it.
        required input: RawJson,
    }
}

union! {
    /// A block of an answer.
    pub enum EntryBlock {
        /// Text.
        Text(TextBlock),
        /// Reasoning.
        Thinking(ThinkingEntry),
        /// Reasoning that the provider keeps secret.
        RedactedThinking(RedactedThinkingBlock),
        /// A call.
        Call(CallEntry),
    }
}

record! {
    /// The result of one call, when it settled.
    pub struct ResultEntry {
        "type" = "tool_result",
        /// Milliseconds since the Unix epoch.
        required time_ms: u64,
        /// Id of the call.
        required tool_use_id: Arc<str>,
        /// What the tool said.
        required content: Vec<TextBlock>,
        /// Whether it failed, was denied or was cancelled.
        required is_error: bool,
    }
}

record! {
    /// The end of a turn.
    pub struct TurnEntry {
        "type" = "turn",
        /// Milliseconds since the Unix epoch.
        required time_ms: u64,
        /// Uuid of its prompt.
        required prompt_uuid: Arc<str>,
        /// Why it stopped, as its result record says.
        required stop_reason: ResultStop,
        /// Whether its result record says error.
        required is_error: bool,
        /// Model requests.
        required num_turns: u64,
        /// Tokens of all of them.
        required usage: Usage,
        /// Ids of calls that were cut off and never asked for a result; they
        /// are used up all the same (DEC-35).
        required dropped_calls: Vec<Arc<str>>,
    }
}

union! {
    /// One entry of a stored session.
    pub enum Entry {
        /// A prompt.
        Prompt(PromptEntry),
        /// Replayed context.
        Context(ContextEntry),
        /// An answer.
        Answer(AnswerEntry),
        /// The result of a call.
        Result(ResultEntry),
        /// The end of a turn.
        Turn(TurnEntry),
    }
}

impl Entry {
    /// The entry as compact JSON, on one line and without a newline.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        self.write(&mut writer);
        writer.finish()
    }

    /// When it was made, in milliseconds since the Unix epoch.
    #[must_use]
    pub const fn time_ms(&self) -> u64 {
        match self {
            Self::Prompt(entry) => entry.time_ms,
            Self::Context(entry) => entry.time_ms,
            Self::Answer(entry) => entry.time_ms,
            Self::Result(entry) => entry.time_ms,
            Self::Turn(entry) => entry.time_ms,
        }
    }
}

impl From<&Block> for EntryBlock {
    fn from(block: &Block) -> Self {
        match block {
            Block::Text(text) => Self::Text(TextBlock { text: text.clone() }),
            Block::Thinking { text, signature } => Self::Thinking(ThinkingEntry {
                thinking: text.clone(),
                signature: signature.clone(),
            }),
            Block::RedactedThinking { data } => {
                Self::RedactedThinking(RedactedThinkingBlock { data: data.clone() })
            }
            Block::ToolCall(ToolCall { id, name, input }) => Self::Call(CallEntry {
                id: Arc::clone(id),
                name: Arc::clone(name),
                input: input.clone(),
            }),
        }
    }
}

impl From<EntryBlock> for Block {
    fn from(block: EntryBlock) -> Self {
        match block {
            EntryBlock::Text(TextBlock { text }) => Self::Text(text),
            EntryBlock::Thinking(ThinkingEntry {
                thinking,
                signature,
            }) => Self::Thinking {
                text: thinking,
                signature,
            },
            EntryBlock::RedactedThinking(RedactedThinkingBlock { data }) => {
                Self::RedactedThinking { data }
            }
            EntryBlock::Call(CallEntry { id, name, input }) => {
                Self::ToolCall(ToolCall { id, name, input })
            }
        }
    }
}

/// The blocks of an answer, or none for a message of another kind.
pub(crate) fn blocks(message: &Message) -> Vec<EntryBlock> {
    match message {
        Message::Assistant(blocks) => blocks.iter().map(EntryBlock::from).collect(),
        Message::User(_) | Message::ToolResults(_) => Vec::new(),
    }
}

/// The parts of a result.
pub(crate) fn result_content(content: &[ToolContent]) -> Vec<TextBlock> {
    let part = |ToolContent::Text(text): &ToolContent| TextBlock { text: text.clone() };
    content.iter().map(part).collect()
}
