//! What a driver needs beside a session: who carries its effects out.

use crate::clock::Clock;
use crate::http1::Limits;
use crate::pump::{News, Post, Streams};
use crate::stdio::READ_BYTES;
use crate::tls::TrustStore;
use agentx_core::agent::{Input, Output};
use agentx_core::schema::permission::PermissionUpdate;
use agentx_core::store::Batch;
use agentx_core::time::{Instant, WallTime};
use agentx_providers::provider::Provider;
use agentx_providers::registry::Secret;
use agentx_tools::Toolbox;
use std::sync::Arc;

/// Everything an [`AgentSession`](agentx_core::agent::AgentSession) asks for.
pub struct World {
    /// The selected provider.
    pub provider: Provider,
    /// Its key, if it has one.
    pub credential: Option<Secret>,
    /// The tools.
    pub toolbox: Arc<Toolbox>,
    /// Roots to trust, loaded when first needed.
    pub trust: Arc<TrustStore>,
    /// Bounds of every exchange with the provider.
    pub http: Limits,
    /// Entropy for the waits between attempts.
    pub seed: u64,
    /// Wall time at the driver's start.
    pub epoch: WallTime,
    /// Streams in the place of those of this process.
    pub streams: Option<Streams>,
    /// What tells the session the time.
    pub clock: Clock,
    /// Sees what the session sees, where somebody does.
    pub watch: Option<Box<dyn Watch>>,
    /// Stores permission updates; without one they hold for the session only.
    pub persist: Option<Persist>,
    /// Stores what the session does, where it is stored.
    pub store: Option<Keep>,
    /// Judges each record before it leaves, where the session vets (WIRE-015).
    pub validator: Option<Validator>,
}

impl World {
    /// A world over the streams and the clock of this process, in which nothing is
    /// stored or judged and which knows no wall time. `seed` is entropy for the
    /// waits between attempts. Every field can be set afterwards.
    #[must_use]
    pub fn new(provider: Provider, toolbox: Toolbox, seed: u64) -> Self {
        Self {
            provider,
            credential: None,
            toolbox: Arc::new(toolbox),
            trust: Arc::new(TrustStore::new()),
            http: Limits::DEFAULT,
            seed,
            epoch: WallTime(0),
            streams: None,
            clock: Clock::Real,
            watch: None,
            persist: None,
            store: None,
            validator: None,
        }
    }
}

/// Stores permission updates; false when that failed (WIRE-PERM-030). Runs on a
/// thread of its own, one call at a time and in order; a panic is a failure.
pub type Persist = Box<dyn Fn(&[PermissionUpdate]) -> bool + Send>;

/// Stores one batch, whole or not at all, and says what went wrong. Called on a
/// thread of its own, in the order of batches; dropped there, too (DEC-32).
pub type Keep = Box<dyn FnMut(&Batch) -> Result<(), String> + Send>;

/// Judges a copy of one whole record, newline included; false refuses it.
///
/// Runs on a thread of its own, one record at a time. It has no way back into
/// the session, may wait as long as it likes, and what it does to the copy shows
/// nowhere. A refusal or a panic closes the output for good, and it is not asked
/// again (WIRE-015).
pub type Validator = Box<dyn FnMut(&mut [u8]) -> bool + Send>;

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}

/// Sees everything that passes between a session and its driver, and may stand
/// in the road of what threads tell it: for recorders, and for tests that choose
/// in which order the world answers. Called on the session's own thread.
pub trait Watch: Send {
    /// The road that news of this session take. `road` leads to the loop.
    fn road(&mut self, road: Post) -> Post {
        road
    }

    /// The session is about to take this.
    fn input(&mut self, now: Instant, input: &Input<'_>) {
        let _ = (now, input);
    }

    /// The session said this.
    fn output(&mut self, output: &Output) {
        let _ = output;
    }

    /// All outputs that followed from the last input were carried out or begun;
    /// `deadline` is when the session wants a tick.
    fn settled(&mut self, deadline: Option<Instant>) {
        let _ = deadline;
    }
}

/// Where records come from and go to.
pub enum Stdio {
    /// NDJSON on stdout, and on stdin where the host speaks too.
    Records {
        /// Prompts to run before anything on stdin.
        prompts: Vec<String>,
        /// Whether stdin is read; else the input ends after the prompts.
        stdin: bool,
    },
    /// These prompts; the text of each turn goes to stdout.
    Text {
        /// Prompts, run in order.
        prompts: Vec<String>,
        /// Whether stdout is a terminal: characters that would steer it are
        /// then shown and not obeyed. Elsewhere the text stays as it is.
        terminal: bool,
    },
    /// These prompts; the `result` record of each turn goes to stdout, and no other.
    Document {
        /// Prompts, run in order.
        prompts: Vec<String>,
    },
    /// A host in this process, such as a demo.
    Host(Box<dyn Host>),
}

impl std::fmt::Debug for Stdio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Records { .. } => "Records",
            Self::Text { .. } => "Text",
            Self::Document { .. } => "Document",
            Self::Host(_) => "Host",
        })
    }
}

/// A host that lives in the same process and speaks the wire.
pub trait Host: Send {
    /// Takes one record, newline included; gives the bytes it sends back. Runs on
    /// the session's own thread: what may wait is for [`Host::takes_later`].
    fn record(&mut self, record: &[u8]) -> HostReply;

    /// The road of a host that speaks when no record came, too. Called once,
    /// before the first record.
    fn connect(&mut self, port: HostPort) {
        drop(port);
    }

    /// Whether the host only notes a record and tells with [`HostPort::took`]
    /// when it is done with it. Until then the record counts as unsent (DEC-36).
    fn takes_later(&self) -> bool {
        false
    }

    /// Takes a line for the operator; false sends it to stderr.
    fn report(&mut self, line: &str) -> bool {
        let _ = line;
        false
    }
}

/// The road from a host in this process to its session, for any thread and any
/// time. What is sent is queued without a bound: it is for a host that speaks at
/// the pace of its user.
#[derive(Clone)]
pub struct HostPort(Post);

impl HostPort {
    pub(crate) fn new(post: &Post) -> Self {
        Self(Arc::clone(post))
    }

    /// Bytes for the session's input, in steps as a reader would take them
    /// (DEC-28).
    pub fn send(&self, bytes: &[u8]) {
        for piece in bytes.chunks(READ_BYTES) {
            (self.0)(News::Input(piece.to_vec()));
        }
    }

    /// The host ends its input.
    pub fn end(&self) {
        (self.0)(News::InputEnd);
    }

    /// The host is done with so many bytes of records.
    pub fn took(&self, bytes: usize) {
        (self.0)(News::Wrote(bytes));
    }

    /// The host cannot take records any more: the output has failed (DEC-11).
    pub fn fail(&self) {
        (self.0)(News::WriteFailed);
    }
}

impl std::fmt::Debug for HostPort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostPort").finish_non_exhaustive()
    }
}

/// What a host does after a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostReply {
    /// Bytes for the session's input.
    pub input: Vec<u8>,
    /// Whether the host ends its input then.
    pub end: bool,
}
