//! Why a run does not begin: an exit status and one line on stderr.

use std::fmt;

/// Exit status of a usage, configuration or registry error (configuration,
/// "Exit status").
const STATUS: u8 = 2;

/// A run that does not begin. The text names what is wrong and what was
/// expected; it holds no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    text: String,
    status: u8,
}

impl Refusal {
    /// A refusal with this text. Arguments and paths may hold anything, and it
    /// is shown on one line of a terminal: control characters are escaped.
    pub(crate) fn new(text: impl fmt::Display) -> Self {
        let text = text.to_string();
        let mut shown = String::with_capacity(text.len());
        for character in text.chars() {
            if character.is_control() {
                shown.extend(character.escape_default());
            } else {
                shown.push(character);
            }
        }
        Self {
            text: shown,
            status: STATUS,
        }
    }

    /// A refusal that is no matter of usage, such as a session that cannot be
    /// resumed (DEC-20).
    pub(crate) fn failed(text: impl fmt::Display) -> Self {
        Self {
            status: crate::FAILED,
            ..Self::new(text)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_one_line_that_moves_no_cursor() {
        let refusal = Refusal::new("--cwd /a\u{1b}[31m\nb\u{85}: é is no folder");
        let shown = "--cwd /a\\u{1b}[31m\\nb\\u{85}: é is no folder";
        assert_eq!(refusal.to_string(), shown);
    }
}
