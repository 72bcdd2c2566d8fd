//! How the end of a child is told to the model.

use crate::process::End;
use crate::stop::CANCELLED;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

/// Why a child counts as failed, in brackets; `None` when it ended well.
pub(crate) fn note(end: &End, timeout: Duration) -> Option<String> {
    let why = match end {
        End::Exited(Ok(status)) if status.success() => return None,
        End::Exited(Ok(status)) => told(*status),
        End::Exited(Err(fault)) => format!("It is not known how it ended: {fault}."),
        End::TimedOut => format!(
            "It was ended after its time of {} ms was up.",
            timeout.as_millis()
        ),
        End::Cancelled => CANCELLED.to_owned(),
        End::Stuck => "It could not be ended, not even by SIGKILL.".to_owned(),
    };
    Some(format!("[{why}]"))
}

fn told(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("Exit status {code}."),
        (None, Some(signal)) => format!("Ended by signal {signal}."),
        (None, None) => format!("Ended: {status}."),
    }
}

/// Puts a text on a line of its own after another.
pub(crate) fn add_line(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}
