//! Logs on stderr, for those who ask for them (configuration, "Environment").

use crate::refusal::Refusal;
use std::io::IsTerminal as _;
use tracing_subscriber::EnvFilter;

/// Writes logs that pass `filter` to stderr; a blank one means none.
///
/// # Errors
///
/// A text that is no filter.
pub(crate) fn start(filter: &str) -> Result<(), Refusal> {
    if filter.trim().is_empty() {
        return Ok(());
    }
    let filter = EnvFilter::try_new(filter)
        .map_err(|error| Refusal::new(format_args!("AGENTX_LOG: {error}")))?;
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        // The report of a failed write would go the same way, and panic there.
        .log_internal_errors(false)
        .try_init();
    started.map_err(|error| Refusal::new(format_args!("AGENTX_LOG: {error}")))
}
