//! Inputs and outputs of an agent session: plain enums to print, compare and replay.

use crate::diagnostic::Diagnostic;
use crate::effect::{Answer, EffectId, Progress, Reply, Request};
use crate::json::RawJson;
use crate::link::Record;
use alloc::string::String;
use alloc::vec::Vec;

/// What a session is fed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// Bytes of the input stream, cut anywhere.
    Bytes(&'a [u8]),
    /// The input stream ended.
    Eof,
    /// Time passed.
    Tick,
    /// The embedder or the operating system wants something.
    Command(Command),
    /// News of a running effect.
    Progress(EffectId, Progress),
    /// An effect ended.
    Done(EffectId, Answer),
    /// So many bytes of transmitted records were written.
    Sent(usize),
    /// The output stream failed; nothing more can be written (DEC-11). After the
    /// exit that is a matter of [`exit_status`](super::exit_status) alone.
    WriteFailed,
}

/// What the world around the streams wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A prompt that does not come over the input stream.
    Prompt(String),
    /// Stop a background task, as the operation `stop_task` asks. One that does
    /// not run is a warning.
    StopTask {
        /// Its id.
        task_id: String,
    },
    /// Settle everything and exit with this status (signals).
    Shutdown {
        /// Exit status, 128 plus the signal's number.
        status: u8,
    },
}

/// What a session produces.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Write these bytes, whole and in order.
    Transmit(Record),
    /// Ask the world for something; settle it by one `Done`.
    Start(EffectId, Request),
    /// Tell a running effect what it asked for.
    Reply(EffectId, Reply),
    /// Stop this effect; it is settled.
    Cancel(EffectId),
    /// Tell the embedder.
    Event(Event),
    /// Tell the operator, on stderr.
    Diagnostic(Diagnostic),
    /// The session is over; write what is left and end with this status, or what
    /// [`exit_status`](super::exit_status) makes of it.
    Exit(u8),
}

/// News for the embedder; nothing on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A turn ended, or a prompt was refused.
    TurnEnded(TurnReport),
    /// A control response closed this command lifecycle (WIRE-PERM-073).
    CommandClosed {
        /// UUID the transport put on the response.
        uuid: String,
    },
    /// An orphan answer that the embedder may act on, once (WIRE-PERM-072).
    OrphanAnswer {
        /// The tool call it names.
        tool_use_id: String,
        /// The answer's payload.
        payload: RawJson,
    },
}

/// How a prompt ended, without its accounting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnReport {
    /// The text of the last answer; empty after an error.
    pub text: String,
    /// The output that was accepted, where the run asked for one.
    pub structured_output: Option<RawJson>,
    /// What went wrong; empty after a success.
    pub errors: Vec<String>,
    /// Whether the result record says error.
    pub is_error: bool,
    /// Whether `text` ends where the output limit was reached (DEC-41).
    pub at_limit: bool,
}
