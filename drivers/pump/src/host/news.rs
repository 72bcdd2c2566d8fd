//! What the parts of a client tell each other.

use super::error::{Ended, Error};
use super::mailbox::Mailbox;
use super::slot::Slot;
use agentx_core::effect::EffectId;
use agentx_core::host::{Answer, CallId};
use agentx_core::json::RawJson;
use agentx_core::schema::host::{Call, EnvironmentUpdate, Prompt};
use agentx_core::schema::received::AgentRecord;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

/// Weight of the records that nobody took yet, above which the agent is not read.
pub const UNREAD_BYTES: usize = 32 * 1024 * 1024;

/// Weight of a record above its bytes on the wire.
pub const UNREAD_OVERHEAD_BYTES: usize = 512;

/// What the loop is told.
pub(super) enum News {
    /// The agent wrote this on stdout.
    Piece(Vec<u8>),
    /// Its stdout ended.
    OutputEnd,
    /// Its stderr ended.
    ErrorsEnd,
    /// So many bytes were written to its stdin.
    Wrote(usize),
    /// Its stdin takes no more.
    WriteFailed,
    /// It ended and is reaped.
    Exited(Option<ExitStatus>),
    /// A callback has an answer.
    Answer(EffectId, Answer),
    /// There is room for records again.
    Room,
    /// The client wants something.
    Ask(Ask),
}

/// What a client wants.
pub(super) enum Ask {
    /// To send a prompt.
    Prompt(Box<Prompt>, Slot<Arc<str>>),
    /// To call an operation.
    Call(CallId, Box<Call>, Option<Duration>, Slot<Option<RawJson>>),
    /// To forget that it did.
    Forget(CallId),
    /// To set variables.
    Environment(EnvironmentUpdate, Slot<()>),
    /// To end the agent's input.
    Close,
    /// To end the agent.
    Kill,
    /// Nothing any more.
    Leave,
}

/// Records on their way to the embedder, each with its weight.
#[derive(Clone, Default)]
pub(super) struct Shelf {
    pub(super) records: Mailbox<(usize, Result<AgentRecord, Error>)>,
    pub(super) weight: Arc<AtomicUsize>,
}

/// What is known once all is over.
#[derive(Clone)]
pub(super) struct Over {
    pub(super) ended: Ended,
    /// Why nothing can be sent any more.
    pub(super) why: Error,
}
