//! How a run of a hook ended, as whoever ran it tells.

use super::{HookEvent, HookFault, HookOutput};
use alloc::string::{String, ToString as _};

/// The exit status that denies, with stderr as the reason.
const DENIES: u8 = 2;

/// What came of one run of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookReport {
    /// How it ended.
    pub end: HookEnd,
    /// Its answer: all of stdout as it is. Nobody shows it.
    pub answer: String,
    /// Its stdout to be shown: without credentials, and cut.
    pub stdout: String,
    /// Its stderr to be shown: without credentials, and cut.
    pub stderr: String,
}

/// How a run of a hook ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookEnd {
    /// By itself, with this status.
    Exited(u8),
    /// In any other way, or with an answer that cannot be taken; the text says
    /// which: `it did not end within 5000 ms`.
    Failed(String),
}

impl HookReport {
    /// A run that came to nothing.
    #[must_use]
    pub fn failed(why: impl Into<String>) -> Self {
        Self {
            end: HookEnd::Failed(why.into()),
            answer: String::new(),
            stdout: String::new(),
            stderr: String::new(),
        }
    }

    /// The exit status, if it had one.
    #[must_use]
    pub const fn status(&self) -> Option<u8> {
        match self.end {
            HookEnd::Exited(status) => Some(status),
            HookEnd::Failed(_) => None,
        }
    }

    /// What the hook says.
    ///
    /// # Errors
    ///
    /// Why the run counts as a failure (DEC-33).
    pub fn output(&self, event: HookEvent) -> Result<HookOutput, HookFault> {
        match &self.end {
            HookEnd::Exited(0) => HookOutput::parse(event, &self.answer),
            HookEnd::Exited(DENIES) => Ok(HookOutput::denial(self.stderr.trim().to_string())),
            HookEnd::Exited(status) => Err(HookFault::Status(*status)),
            HookEnd::Failed(why) => Err(HookFault::Run(why.clone())),
        }
    }
}
