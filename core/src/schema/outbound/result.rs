//! Results: one for each accepted prompt.

use crate::json::RawJson;
use crate::model::{self, Usage};
use crate::schema::Money;
use crate::schema::declare::{record, union, words};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

union! {
    /// How a prompt ended.
    pub enum ResultRecord {
        /// Its answer is there.
        Success(ResultSuccess),
        /// It failed or was interrupted.
        Error(ResultError),
    }
}

impl ResultRecord {
    /// UUID of the prompt that ended; a result about the stream has none.
    #[must_use]
    pub const fn prompt_uuid(&self) -> Option<&Arc<str>> {
        match self {
            Self::Success(result) => result.prompt_uuid.as_ref(),
            Self::Error(result) => result.prompt_uuid.as_ref(),
        }
    }
}

record! {
    /// A prompt that was answered.
    pub struct ResultSuccess {
        "type" = "result",
        "subtype" = "success",
        "is_error" = false,
        /// Times and turns.
        flatten timing: Timing,
        /// Text of the answer.
        required result: String,
        /// What it took.
        flatten accounting: Accounting,
        /// The answer as the run's JSON Schema asks for it.
        optional structured_output: Option<RawJson>,
        /// UUID of the prompt.
        optional prompt_uuid: Option<Arc<str>>,
        /// Where the prompt came from, as the host said.
        optional origin: Option<RawJson>,
    }
}

record! {
    /// A prompt that failed, was interrupted or was refused.
    pub struct ResultError {
        "type" = "result",
        /// The kind of failure.
        required subtype: ErrorSubtype,
        "is_error" = true,
        /// Times and turns.
        flatten timing: Timing,
        /// What it took.
        flatten accounting: Accounting,
        /// What went wrong, for people.
        required errors: Vec<String>,
        /// UUID of the prompt.
        optional prompt_uuid: Option<Arc<str>>,
        /// Where the prompt came from, as the host said.
        optional origin: Option<RawJson>,
    }
}

words! {
    /// The closed set of failures. Cancellation has none of its own.
    pub enum ErrorSubtype {
        /// Anything but a limit; cancellation and refused input too.
        DuringExecution = "error_during_execution",
        /// Too many model requests (DEC-40).
        MaxTurns = "error_max_turns",
        /// The budget is spent (DEC-40).
        MaxBudgetUsd = "error_max_budget_usd",
        /// The answer never fitted the run's JSON Schema.
        MaxStructuredOutputRetries = "error_max_structured_output_retries",
    }
}

words! {
    /// Why a turn stopped (DEC-42).
    pub enum ResultStop {
        /// The model was done.
        EndTurn = "end_turn",
        /// The output limit was reached.
        MaxTokens = "max_tokens",
        /// A stop sequence was met.
        StopSequence = "stop_sequence",
        /// The model refused.
        Refusal = "refusal",
        /// Somebody interrupted it.
        Cancelled = "cancelled",
        /// The provider failed.
        ProviderError = "provider_error",
        /// Too many model requests.
        MaxTurns = "max_turns",
        /// The budget is spent.
        MaxBudget = "max_budget",
        /// The input was refused.
        InputError = "input_error",
        /// The answer never fitted the run's JSON Schema.
        MaxStructuredOutputRetries = "max_structured_output_retries",
    }
}

impl ResultStop {
    /// The word for the stop of a turn's last answer. A tool stop without a
    /// call ends the turn (DEC-51); a content filter is the provider's error.
    #[must_use]
    pub const fn of(stop: model::StopReason) -> Self {
        match stop {
            model::StopReason::EndTurn | model::StopReason::ToolUse => Self::EndTurn,
            model::StopReason::MaxTokens => Self::MaxTokens,
            model::StopReason::StopSequence => Self::StopSequence,
            model::StopReason::Refusal => Self::Refusal,
            model::StopReason::ContentFilter => Self::ProviderError,
        }
    }
}

record! {
    /// Times and turns of one prompt.
    pub struct Timing {
        /// From start to end, in milliseconds.
        required duration_ms: u64,
        /// Of that in model requests, in milliseconds.
        required duration_api_ms: u64,
        /// Model requests (DEC-27).
        required num_turns: u64,
    }
}

record! {
    /// What one prompt took (DEC-27).
    pub struct Accounting {
        /// Why it stopped.
        nullable stop_reason: Option<ResultStop>,
        /// Its cost; `None` when no price is known (WIRE-012).
        nullable total_cost_usd: Option<Money>,
        /// Tokens of all its model requests.
        required usage: Usage,
        /// The same by model.
        required model_usage as "modelUsage": BTreeMap<Arc<str>, ModelUsage>,
        /// Calls that were not permitted.
        required permission_denials: Vec<PermissionDenial>,
    }
}

record! {
    /// What one model took.
    pub struct ModelUsage {
        /// Prompt tokens outside any cache.
        required input_tokens as "inputTokens": u64,
        /// Answer tokens.
        required output_tokens as "outputTokens": u64,
        /// Prompt tokens read from a cache.
        required cache_read_input_tokens as "cacheReadInputTokens": u64,
        /// Prompt tokens written to a cache.
        required cache_creation_input_tokens as "cacheCreationInputTokens": u64,
        /// Searches the provider made.
        required web_search_requests as "webSearchRequests": u64,
        /// Cost; `None` when no price is known (WIRE-012).
        nullable cost_usd as "costUSD": Option<Money>,
        /// Context window, in tokens.
        required context_window as "contextWindow": u64,
        /// Largest answer, in tokens.
        required max_output_tokens as "maxOutputTokens": u64,
    }
}

impl ModelUsage {
    /// Tokens, cost and limits of one model.
    #[must_use]
    pub const fn new(
        usage: &Usage,
        cost_usd: Option<Money>,
        context_window: u64,
        max_output_tokens: u64,
    ) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_input_tokens: usage.cache_read_input_tokens,
            cache_creation_input_tokens: usage.cache_creation_input_tokens,
            web_search_requests: 0,
            cost_usd,
            context_window,
            max_output_tokens,
        }
    }
}

record! {
    /// A call that was not permitted.
    pub struct PermissionDenial {
        /// Name of the tool.
        required tool_name: Arc<str>,
        /// Id of the call.
        required tool_use_id: Arc<str>,
        /// The input it would have run with.
        required tool_input: RawJson,
    }
}
