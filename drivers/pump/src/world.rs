//! What a driver needs beside a session: who carries its effects out.

use crate::http1::Limits;
use crate::tls::TrustStore;
use agentx_core::schema::permission::PermissionUpdate;
use agentx_core::store::Batch;
use agentx_core::time::WallTime;
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
    /// Stores permission updates; without one they hold for the session only.
    pub persist: Option<Persist>,
    /// Stores what the session does, where it is stored.
    pub store: Option<Keep>,
    /// Judges each record before it leaves, where the session vets (WIRE-015).
    pub validator: Option<Validator>,
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
    /// Takes one record, newline included; gives the bytes it sends back.
    fn record(&mut self, record: &[u8]) -> HostReply;
}

/// What a host does after a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostReply {
    /// Bytes for the session's input.
    pub input: Vec<u8>,
    /// Whether the host ends its input then.
    pub end: bool,
}
