//! Why a run does not begin: an exit status and one line on stderr.

use std::fmt;

/// Exit status of a usage, configuration or registry error (configuration,
/// "Exit status").
const USAGE: u8 = 2;

/// A run that does not begin. The text names what is wrong and what was
/// expected; it holds no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    text: String,
    status: u8,
}

impl Refusal {
    /// A refusal with this text.
    pub(crate) fn new(text: impl fmt::Display) -> Self {
        Self {
            text: text.to_string(),
            status: USAGE,
        }
    }

    /// A refusal that is no matter of usage, such as a session that cannot be
    /// resumed (DEC-20).
    pub(crate) fn failed(text: impl fmt::Display) -> Self {
        Self {
            text: text.to_string(),
            status: crate::FAILED,
        }
    }

    /// The exit status.
    pub(crate) const fn status(&self) -> u8 {
        self.status
    }

    /// Something of the contract that this version does not do.
    pub(crate) fn not_yet(what: impl fmt::Display) -> Self {
        Self::new(format_args!("{what} is not available yet"))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Refusal {}

impl From<agentx_providers::registry::RegistryError> for Refusal {
    fn from(error: agentx_providers::registry::RegistryError) -> Self {
        Self::new(error)
    }
}
