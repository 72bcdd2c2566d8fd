//! What happens in a world, and who watches it.
//!
//! A world tells everything at the moment it happens, by reference: a watcher that
//! needs more than a moment keeps a copy. Watchers never change a world; they can
//! only stop it.

use crate::fault::Fault;
use agentx_core::agent::{AgentSession, Config, Input, Output};
use agentx_core::host::{self, HostSession};
use agentx_core::machine::Misuse;
use agentx_core::store::Entry;
use agentx_core::time::Instant;

/// One thing that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// An agent process began; the host that talks to it is new, too.
    Began {
        /// How it is set up.
        config: &'a Config,
        /// The session, before anything was taken from it.
        agent: &'a AgentSession,
    },
    /// The agent is about to be fed.
    AgentInput(&'a Input<'a>),
    /// It refused what it was fed: a bug of the world or of the agent.
    AgentRefused(Misuse),
    /// The agent said something.
    AgentOutput(&'a Output),
    /// All its outputs of one input are taken.
    AgentDrained(&'a AgentSession),
    /// The host is about to be fed.
    HostInput(&'a host::Input<'a>),
    /// It refused what it was fed: a bug of the world or of the host.
    HostRefused(Misuse),
    /// The host said something.
    HostOutput(&'a host::Output),
    /// All its outputs of one input are taken.
    HostDrained(&'a HostSession),
    /// Bytes of the agent went into the pipe to the host.
    Written(usize),
    /// The host took bytes of the agent.
    HostRead(&'a [u8]),
    /// A whole record went towards the agent: the host's own, or an injected one.
    Sent {
        /// The line, newline included.
        line: &'a [u8],
        /// Whether the host's own machine wrote it.
        own: bool,
    },
    /// The store has these entries now, and has said so or is about to.
    Stored(&'a [Entry]),
    /// Something went wrong on purpose.
    Fault(Fault),
    /// The agent process was killed. Of what it stored this many entries are left.
    Crashed {
        /// Entries that a new process finds.
        kept: u64,
    },
    /// No fault happens from here on, and the host begins nothing new; everything
    /// has to settle.
    Calm,
    /// Everything came to rest with the input still open.
    Rested(&'a AgentSession),
    /// The host ends its side.
    Closing,
    /// The agent process is gone after its exit, and so is the host.
    Over {
        /// The exit status that the agent told.
        status: u8,
    },
}

/// What a watcher has against a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule that was broken, in a word.
    pub rule: &'static str,
    /// The requirement that asks for it.
    pub requirement: &'static str,
    /// What is wrong.
    pub what: String,
}

impl Violation {
    /// A rule that was broken, who asks for it, and how it was broken.
    #[must_use]
    pub fn new(rule: &'static str, requirement: &'static str, what: impl Into<String>) -> Self {
        Self {
            rule,
            requirement,
            what: what.into(),
        }
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}): {}", self.rule, self.requirement, self.what)
    }
}

/// Sees everything that happens in a world.
pub trait Watch {
    /// One thing happened at this time.
    ///
    /// # Errors
    ///
    /// What is wrong with it; the world stops there.
    fn see(&mut self, now: Instant, event: &Event<'_>) -> Result<(), Violation>;
}

impl<A: Watch, B: Watch> Watch for (A, B) {
    fn see(&mut self, now: Instant, event: &Event<'_>) -> Result<(), Violation> {
        self.0.see(now, event)?;
        self.1.see(now, event)
    }
}

impl Watch for () {
    fn see(&mut self, _now: Instant, _event: &Event<'_>) -> Result<(), Violation> {
        Ok(())
    }
}
