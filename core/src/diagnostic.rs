//! Lines for whoever operates a machine.

use crate::guard::Guard;
use crate::text::{cut, one_line};
use alloc::string::String;

/// A line for people, which may repeat words of any length.
const DIAGNOSTIC_CHARS: usize = 4_096;

/// A line for the operator, safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What happened; one line, without secrets, bounded.
    pub text: String,
}

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Worth a look; the session goes on.
    Warning,
    /// The session ends.
    Error,
}

impl Diagnostic {
    /// A line that says this, without what these guards know, in one line and cut.
    pub(crate) fn of(severity: Severity, text: &str, guards: &[&Guard]) -> Self {
        let mut safe = String::from(text);
        for guard in guards {
            safe = guard.redact(&safe).into_owned();
        }
        let text = cut(&one_line(&safe), DIAGNOSTIC_CHARS).into_owned();
        Self { severity, text }
    }
}
