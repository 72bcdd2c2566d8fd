//! Assistant records and the message inside.

use crate::json::{RawJson, Value, Writer};
use crate::model::{self, Block, ErrorCategory, Usage};
use crate::schema::declare::{
    Fields, FromJson, FromMembers, Json, Member, Presence, Record, Shape, object, readable, record,
    union, words,
};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

record! {
    /// One finished block of an assistant message. Records of one message share
    /// its `id`.
    pub struct AssistantRecord {
        "type" = "assistant",
        /// The message with this block.
        required message: AssistantMessage,
        /// The call this message belongs to.
        nullable parent_tool_use_id: Option<Arc<str>>,
        /// What went wrong (DEC-41).
        optional error: Option<ErrorCategory>,
    }
}

record! {
    /// An assistant message, or the part of it that is done.
    pub struct AssistantMessage {
        /// The provider's id of the message, or one we made.
        required id: Arc<str>,
        "type" = "message",
        "role" = "assistant",
        /// The logical model.
        required model: Arc<str>,
        /// Its blocks.
        required content: Vec<ContentBlock>,
        /// Why it stopped; `None` until its last record (DEC-42).
        nullable stop_reason: Option<MessageStop>,
        /// The stop sequence that was met.
        nullable stop_sequence: Option<String>,
        /// Tokens so far.
        required usage: Usage,
    }
}

words! {
    /// Why an assistant message stopped (DEC-42).
    pub enum MessageStop {
        /// It was done.
        EndTurn = "end_turn",
        /// It wants its calls answered.
        ToolUse = "tool_use",
        /// The output limit was reached.
        MaxTokens = "max_tokens",
        /// A stop sequence was met.
        StopSequence = "stop_sequence",
        /// The model refused.
        Refusal = "refusal",
    }
}

impl MessageStop {
    /// The word for a model's stop; none for a content filter, which is an error.
    #[must_use]
    pub const fn of(stop: model::StopReason) -> Option<Self> {
        match stop {
            model::StopReason::EndTurn => Some(Self::EndTurn),
            model::StopReason::ToolUse => Some(Self::ToolUse),
            model::StopReason::MaxTokens => Some(Self::MaxTokens),
            model::StopReason::StopSequence => Some(Self::StopSequence),
            model::StopReason::Refusal => Some(Self::Refusal),
            model::StopReason::ContentFilter => None,
        }
    }
}

union! {
    /// A block of an assistant message.
    pub enum ContentBlock {
        /// Text.
        Text(TextBlock),
        /// Reasoning text.
        Thinking(ThinkingBlock),
        /// Reasoning that nobody but the provider can read.
        RedactedThinking(RedactedThinkingBlock),
        /// A call.
        ToolUse(ToolUseBlock),
    }
}

record! {
    /// Text.
    pub struct TextBlock {
        "type" = "text",
        /// The text.
        required text: String,
    }
}

record! {
    /// Reasoning text.
    pub struct ThinkingBlock {
        "type" = "thinking",
        /// The text.
        required thinking: String,
        /// The provider's signature; empty where it gave none.
        required signature: String,
    }
}

record! {
    /// Reasoning that nobody but the provider can read.
    pub struct RedactedThinkingBlock {
        "type" = "redacted_thinking",
        /// Opaque text of the provider.
        required data: String,
    }
}

record! {
    /// A call of a tool.
    pub struct ToolUseBlock {
        "type" = "tool_use",
        /// Id, unique in the session (DEC-35).
        required id: Arc<str>,
        /// Name of the tool.
        required name: Arc<str>,
        /// Input object.
        required input: RawJson,
    }
}

impl From<Block> for ContentBlock {
    fn from(block: Block) -> Self {
        match block {
            Block::Text(text) => Self::Text(TextBlock { text }),
            Block::Thinking { text, signature } => Self::Thinking(ThinkingBlock {
                thinking: text,
                signature: signature.unwrap_or_default(),
            }),
            Block::RedactedThinking { data } => {
                Self::RedactedThinking(RedactedThinkingBlock { data })
            }
            Block::ToolCall(call) => Self::ToolUse(ToolUseBlock {
                id: call.id,
                name: call.name,
                input: call.input,
            }),
        }
    }
}

impl Json for ErrorCategory {
    const SHAPE: Shape = Shape::Words(&[
        Self::AuthenticationFailed.as_str(),
        Self::BillingError.as_str(),
        Self::RateLimit.as_str(),
        Self::InvalidRequest.as_str(),
        Self::ServerError.as_str(),
        Self::Unknown.as_str(),
        Self::MaxOutputTokens.as_str(),
    ]);

    fn write(&self, w: &mut Writer) {
        w.string(self.as_str());
    }
}

impl FromJson for ErrorCategory {
    fn read(value: Value<'_>) -> Option<Self> {
        let word = value.as_str()?;
        Self::ALL.into_iter().find(|known| word == known.as_str())
    }
}

object!(
    Usage = [
        count("input_tokens"),
        count("output_tokens"),
        count("cache_creation_input_tokens"),
        count("cache_read_input_tokens"),
        count("reasoning_output_tokens"),
        count("total_tokens"),
    ]
);

impl Record for Usage {
    fn write_members(&self, w: &mut Writer) {
        w.member_u64("input_tokens", self.input_tokens);
        w.member_u64("output_tokens", self.output_tokens);
        w.member_u64(
            "cache_creation_input_tokens",
            self.cache_creation_input_tokens,
        );
        w.member_u64("cache_read_input_tokens", self.cache_read_input_tokens);
        w.member_u64("reasoning_output_tokens", self.reasoning_output_tokens);
        w.member_u64("total_tokens", self.total());
    }
}

readable!(Usage);

impl FromMembers for Usage {
    /// The total is made of the others, so what it says is not read.
    fn read_members(fields: &mut Fields<'_>) -> Option<Self> {
        let mut count = |name| u64::read(fields.take(name)?);
        Some(Self {
            input_tokens: count("input_tokens")?,
            output_tokens: count("output_tokens")?,
            cache_creation_input_tokens: count("cache_creation_input_tokens")?,
            cache_read_input_tokens: count("cache_read_input_tokens")?,
            reasoning_output_tokens: count("reasoning_output_tokens")?,
        })
    }
}

const fn count(name: &'static str) -> Member {
    Member {
        name,
        presence: Presence::Required,
        shape: Shape::Integer,
    }
}
