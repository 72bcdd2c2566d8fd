//! What the last event of an answer tells.

use crate::stream::token_count;
use agentx_core::json::{Object, Value};
use agentx_core::model::Usage;

/// Ends that an answer can come to, but for failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Whole,
    Length,
    ContentFilter,
}

/// Why an answer is incomplete, where that is no failure.
pub(super) fn why_incomplete(response: Object<'_>) -> Option<End> {
    let details = response.get("incomplete_details")?.as_object()?;
    let reason = details.get("reason")?.as_str()?;
    match &*reason.decode_lossy() {
        "max_output_tokens" | "max_tokens" => Some(End::Length),
        "content_filter" => Some(End::ContentFilter),
        _ => None,
    }
}

/// The prompt's total holds what was read from and written to a cache.
pub(super) fn read_usage(usage: Object<'_>) -> Usage {
    let count = |of: Object<'_>, name: &str| of.get(name).and_then(token_count).unwrap_or(0);
    let detail = |group: &str, name: &str| {
        let group = usage.get(group).and_then(Value::as_object);
        group.map_or(0, |group| count(group, name))
    };
    let prompt = count(usage, "input_tokens");
    let read = detail("input_tokens_details", "cached_tokens").min(prompt);
    let written = detail("input_tokens_details", "cache_write_tokens").min(prompt - read);
    Usage {
        input_tokens: prompt - read - written,
        output_tokens: count(usage, "output_tokens"),
        cache_creation_input_tokens: written,
        cache_read_input_tokens: read,
        reasoning_output_tokens: detail("output_tokens_details", "reasoning_tokens"),
    }
}
