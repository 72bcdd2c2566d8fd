//! Why a run does not begin: exit status 2 and one line on stderr.

use std::fmt;

/// Exit status of a usage, configuration or registry error (configuration,
/// "Exit status").
pub(crate) const STATUS: u8 = 2;

/// A run that does not begin. The text names what is wrong and what was
/// expected; it holds no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(String);

impl Refusal {
    /// A refusal with this text.
    pub(crate) fn new(text: impl fmt::Display) -> Self {
        Self(text.to_string())
    }

    /// Something of the contract that this version does not do.
    pub(crate) fn not_yet(what: impl fmt::Display) -> Self {
        Self(format!("{what} is not available yet"))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

impl From<agentx_providers::registry::RegistryError> for Refusal {
    fn from(error: agentx_providers::registry::RegistryError) -> Self {
        Self::new(error)
    }
}
