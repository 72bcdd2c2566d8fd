//! Why a body has no ordinary answer.

use agentx_core::tool::ToolOutcome;
use std::fmt;

/// Why a body has no ordinary answer. Every text is made for the model: it says
/// what is wrong and where, and holds nothing of the environment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The input, or what it names, does not allow it.
    Fault(String),
    /// The call was cancelled.
    Cancelled,
}

impl Stop {
    pub(crate) fn fault(text: impl Into<String>) -> Self {
        Self::Fault(text.into())
    }

    /// A failed operation of the system on what `shown` names.
    pub(crate) fn io(shown: impl fmt::Display, cause: impl fmt::Display) -> Self {
        Self::Fault(format!("{shown}: {cause}"))
    }
}

impl From<Stop> for ToolOutcome {
    fn from(stop: Stop) -> Self {
        Self::error(match stop {
            Stop::Fault(text) => text,
            Stop::Cancelled => CANCELLED.to_owned(),
        })
    }
}

/// What the model is told of a cancelled call.
pub(crate) const CANCELLED: &str = "The call was cancelled before it ended.";
