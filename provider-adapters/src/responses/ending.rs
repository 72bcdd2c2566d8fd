//! What the last event of an answer tells.

use agentx_core::json::Object;

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
