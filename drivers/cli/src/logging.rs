//! Logs for those who ask for them (configuration, "Environment").

use crate::options::Debugging;
use crate::refusal::Refusal;
use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::io::IsTerminal as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Mutex;
use tracing_subscriber::EnvFilter;

/// The filter of logs that a host asks for without naming one.
const DEBUG: &str = "debug";

/// Writes logs that pass `filter` to stderr; a blank one means none. What the
/// command line asks for is a file, and a filter where there is none.
///
/// # Errors
///
/// A text that is no filter; a file that cannot be written.
pub(crate) fn start(filter: Option<&str>, asked: &Debugging) -> Result<(), Refusal> {
    let filter = filter.filter(|filter| !filter.trim().is_empty());
    let Some(filter) = filter.or_else(|| asked.on.then_some(DEBUG)) else {
        return Ok(());
    };
    let filter = EnvFilter::try_new(filter)
        .map_err(|error| Refusal::new(format_args!("AGENTX_LOG: {error}")))?;
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // The report of a failed write would go the same way, and panic there.
        .log_internal_errors(false);
    let started = match &asked.file {
        None => logs
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal())
            .try_init(),
        Some(path) => {
            let mut file = OpenOptions::new();
            // Not to wait for the other end, should it be a FIFO.
            let flags = OFlags::NONBLOCK.bits().cast_signed();
            let file = file.append(true).create(true).mode(0o600);
            let file = file.custom_flags(flags).open(path);
            let file = file.map_err(|error| {
                Refusal::new(format_args!("--debug-file {}: {error}", path.display()))
            })?;
            logs.with_writer(Mutex::new(file))
                .with_ansi(false)
                .try_init()
        }
    };
    started.map_err(|error| Refusal::new(format_args!("AGENTX_LOG: {error}")))
}
