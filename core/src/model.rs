//! Neutral model vocabulary: what the agent loop and every provider adapter
//! share. Nothing here knows the wire or a provider's dialect.

use crate::json::RawJson;
use crate::tool::{ToolCall, ToolContent, ToolSpec};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// One request to a model: the whole history, since no provider state is used.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// The system prompt, if any.
    pub system: Option<Arc<str>>,
    /// The conversation, oldest first. Every tool call is followed by its result.
    pub history: Vec<Arc<Message>>,
    /// Place in `history` of the prompt that is being answered.
    pub prompt: usize,
    /// How many requests that prompt has had before this one.
    pub round: u32,
    /// Tools offered to the model, in a stable order.
    pub tools: Arc<[ToolSpec]>,
    /// Whether and which tool the model must call.
    pub tool_choice: ToolChoice,
    /// Upper bound for the answer, in tokens.
    pub max_output_tokens: u64,
    /// Reasoning effort chosen for the process, one of the entry's declared names.
    pub effort: Option<Arc<str>>,
}

/// How free the model is to call tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model must call some tool.
    Required,
    /// The model must not call a tool.
    None,
}

/// One entry of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// What the user (or a synthetic note on the user's side) said, as text parts.
    User(Vec<String>),
    /// What the model answered.
    Assistant(Vec<Block>),
    /// Results of all calls of the assistant message before, in call order.
    ToolResults(Vec<ToolResult>),
}

/// One finished block of an assistant message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Plain text.
    Text(String),
    /// Reasoning text, with the provider's signature where it gave one.
    Thinking {
        /// The reasoning text.
        text: String,
        /// Opaque signature that must be sent back unchanged.
        signature: Option<String>,
    },
    /// Reasoning that the provider keeps secret and wants back unchanged.
    RedactedThinking {
        /// Opaque text of the provider.
        data: String,
    },
    /// A call of a tool.
    ToolCall(ToolCall),
}

/// The result of one call, as the model is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// Id of the call this answers.
    pub tool_use_id: Arc<str>,
    /// What the tool said.
    pub content: Vec<ToolContent>,
    /// Whether it failed, was denied or was cancelled.
    pub is_error: bool,
}

/// One step of a streamed answer.
///
/// Text, thinking and calls may interleave only by closing what was open: a
/// text delta after a call starts a new text block. Calls may interleave among
/// themselves by `index`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// The provider's id of the message; the agent makes one when none comes.
    MessageId(String),
    /// More text.
    Text(String),
    /// More reasoning text.
    Thinking(String),
    /// The signature of the reasoning block that is open, whole; ends that block.
    /// Without an open one it belongs to a block without text.
    Signature(String),
    /// A whole block of reasoning that the provider keeps secret: its opaque text.
    RedactedThinking(String),
    /// A call begins. The id is the provider's, possibly empty or repeated;
    /// the agent maps it (DEC-35).
    CallStart {
        /// Key of this call within the answer, unique among its calls (DEC-51).
        index: u32,
        /// The provider's call id; may be empty.
        id: String,
        /// Name of the tool.
        name: String,
    },
    /// More of the JSON text of a call's arguments.
    CallArguments {
        /// Key of the call, from its `CallStart`.
        index: u32,
        /// A piece of the argument text.
        text: String,
    },
    /// The provider's report of tokens; replaces earlier reports of this answer.
    Usage(Usage),
    /// What the provider reported of tokens is no full account of this answer,
    /// or cannot be read; takes earlier reports back (WIRE-012).
    UsageUnknown,
    /// Why the answer stopped. Comes once, before a successful end.
    Stop(StopReason),
    /// The provider takes no more requests for now (429). No part of an answer:
    /// the request may be sent again, and an answer follow.
    RateLimited {
        /// Until when, in Unix seconds, where it said so.
        resets_at: Option<u64>,
    },
}

/// Why a model stopped (DEC-42, DEC-51).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It was done.
    EndTurn,
    /// It wants its tool calls answered.
    ToolUse,
    /// The output limit was reached.
    MaxTokens,
    /// A stop sequence was met.
    StopSequence,
    /// The model refused.
    Refusal,
    /// The provider's content filter ended the answer.
    ContentFilter,
}

/// Tokens of one model answer, or summed over several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Prompt tokens that were neither read from nor written to a cache.
    pub input_tokens: u64,
    /// Tokens of the answer, reasoning included.
    pub output_tokens: u64,
    /// Prompt tokens written to a cache.
    pub cache_creation_input_tokens: u64,
    /// Prompt tokens read from a cache.
    pub cache_read_input_tokens: u64,
    /// The part of `output_tokens` that was reasoning.
    pub reasoning_output_tokens: u64,
}

impl Usage {
    /// No tokens.
    pub const ZERO: Self = Self {
        input_tokens: 0,
        output_tokens: 0,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        reasoning_output_tokens: 0,
    };

    /// All tokens of the request and the answer.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.output_tokens)
            .saturating_add(self.cache_creation_input_tokens)
            .saturating_add(self.cache_read_input_tokens)
    }

    /// Adds another answer's tokens.
    pub const fn add(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_creation_input_tokens = self
            .cache_creation_input_tokens
            .saturating_add(other.cache_creation_input_tokens);
        self.cache_read_input_tokens = self
            .cache_read_input_tokens
            .saturating_add(other.cache_read_input_tokens);
        self.reasoning_output_tokens = self
            .reasoning_output_tokens
            .saturating_add(other.reasoning_output_tokens);
    }
}

/// How one model request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelOutcome {
    /// The stream ended as its dialect says; a `Delta::Stop` came before.
    Finished,
    /// It failed, before or after deltas were seen.
    Failed(ModelFailure),
}

/// A failed model request (DEC-21, DEC-41). Carries no secret of ours; text of
/// the provider is redacted by the agent before it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFailure {
    /// The category shown on the wire.
    pub category: ErrorCategory,
    /// HTTP status, where an answer came.
    pub status: Option<u16>,
    /// What happened, in our words; may hold a bounded excerpt of the provider's message.
    pub message: String,
}

impl ModelFailure {
    /// Whether a model may have worked, although nothing of an answer came: a
    /// provider that refuses a request with a status has used no tokens, and
    /// neither has one that was never sent.
    #[must_use]
    pub const fn may_have_run(&self) -> bool {
        self.status.is_none()
            && matches!(
                self.category,
                ErrorCategory::ServerError | ErrorCategory::Unknown
            )
    }
}

/// The closed vocabulary of `assistant.error` (WIRE, Core output records).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCategory {
    /// 401 or 403.
    AuthenticationFailed,
    /// 402.
    BillingError,
    /// 429.
    RateLimit,
    /// Another 4xx, or a content filter.
    InvalidRequest,
    /// 5xx or a stream that was cut.
    ServerError,
    /// Anything else, such as no connection.
    Unknown,
    /// The output limit was reached.
    MaxOutputTokens,
}

impl ErrorCategory {
    /// Every category.
    pub const ALL: [Self; 7] = [
        Self::AuthenticationFailed,
        Self::BillingError,
        Self::RateLimit,
        Self::InvalidRequest,
        Self::ServerError,
        Self::Unknown,
        Self::MaxOutputTokens,
    ];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AuthenticationFailed => "authentication_failed",
            Self::BillingError => "billing_error",
            Self::RateLimit => "rate_limit",
            Self::InvalidRequest => "invalid_request",
            Self::ServerError => "server_error",
            Self::Unknown => "unknown",
            Self::MaxOutputTokens => "max_output_tokens",
        }
    }

    /// The category of an HTTP status that is no success (DEC-41).
    #[must_use]
    pub const fn of_status(status: u16) -> Self {
        match status {
            401 | 403 => Self::AuthenticationFailed,
            402 => Self::BillingError,
            429 => Self::RateLimit,
            400..=499 => Self::InvalidRequest,
            500..=599 => Self::ServerError,
            _ => Self::Unknown,
        }
    }
}

/// A tool's input as the model wrote it, if it is a JSON object.
pub type ToolInput = RawJson;
