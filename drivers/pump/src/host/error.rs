//! What can go wrong between a host and its agent.

use std::fmt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

/// Why a client could not do what it was asked to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// There is no such program.
    NotFound {
        /// The program, as it was named.
        program: String,
    },
    /// The program could not be started.
    NotStarted {
        /// The program, as it was named.
        program: String,
        /// Why, in the system's words.
        cause: String,
    },
    /// The agent ended, or closed its stdin or stdout, before it answered.
    Ended(Ended),
    /// The agent did not answer in time.
    TimedOut {
        /// What was asked: the subtype of a control request.
        operation: String,
        /// How long it was waited.
        after: Duration,
    },
    /// The agent refused what was asked.
    Refused {
        /// What was asked: the subtype of a control request.
        operation: String,
        /// Why, in the agent's words.
        message: String,
    },
    /// The agent wrote what is no record; it was ended.
    Protocol {
        /// What was wrong, and where.
        message: String,
    },
    /// What was to be sent is none that an agent takes; nothing was sent.
    Invalid {
        /// What was wrong.
        message: String,
    },
    /// The agent does not read what it is sent: too much waits. Nothing was sent.
    Stalled,
    /// As many calls wait for an answer, or prompts for a result, as may. Nothing
    /// was sent.
    TooMany,
    /// The input was closed before by this client; nothing was sent.
    Closed,
}

/// How an agent ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Its exit status, or the signal that ended it; `None` while it still runs
    /// without a stdin or stdout, and where the system does not know.
    pub status: Option<ExitStatus>,
    /// The last lines that it wrote on stderr, oldest first, long ones cut.
    pub stderr: Arc<[String]>,
}

impl Ended {
    /// Whether it ended by itself and well.
    #[must_use]
    pub fn success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// The exit status; `None` for an end by a signal and one that is not known.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            None => f.write_str("the agent closed its end of a pipe")?,
            Some(status) => match status.code() {
                Some(code) => write!(f, "the agent ended with status {code}")?,
                None => write!(f, "the agent was ended by a {status}")?,
            },
        }
        if self.stderr.is_empty() {
            return Ok(());
        }
        f.write_str("; it said last:")?;
        for line in self.stderr.iter() {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { program } => write!(f, "the agent {program:?} was not found"),
            Self::NotStarted { program, cause } => {
                write!(f, "the agent {program:?} cannot be started: {cause}")
            }
            Self::Ended(ended) => ended.fmt(f),
            Self::TimedOut { operation, after } => {
                write!(f, "{operation}: no answer within {after:?}")
            }
            Self::Refused { operation, message } => {
                write!(f, "{operation}: the agent refused: {message}")
            }
            Self::Protocol { message } => write!(f, "the agent broke the protocol: {message}"),
            Self::Invalid { message } => write!(f, "not sent: {message}"),
            Self::Stalled => f.write_str("not sent: the agent does not read its input"),
            Self::TooMany => f.write_str("not sent: as many wait for their end as may"),
            Self::Closed => f.write_str("not sent: the input of the agent was closed"),
        }
    }
}

impl std::error::Error for Error {}
