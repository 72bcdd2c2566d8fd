//! What goes into the loop and what comes out of it: plain enums to print,
//! compare and replay.

use super::{Streamed, TurnEnd};
use crate::json::RawJson;
use crate::model::ToolResult;
use crate::model::{
    Block, Delta, ErrorCategory, Message, ModelFailure, ModelOutcome, ModelRequest, StopReason,
    Usage,
};
use crate::structured::Validity;
use crate::tool::{Access, ToolCall, ToolOutcome};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What the loop is fed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopInput {
    /// Time passed; nothing here waits for it.
    Tick,
    /// A prompt, as text parts. Only while idle.
    Prompt(Vec<String>),
    /// Prior context; it reaches the model with the next request.
    Context(Vec<String>),
    /// An answer of an earlier conversation, as texts; it joins the history
    /// before the next prompt.
    PriorAnswer(Vec<String>),
    /// The streamed answer goes on.
    Delta(Delta),
    /// The model request ended.
    ModelDone(ModelOutcome),
    /// The call at this place of the batch may run, with another input where one is given.
    Allow {
        /// Place of the call in its batch.
        place: usize,
        /// How far the decision reaches for paths.
        access: Access,
        /// Replaces the call's input whole.
        input: Option<RawJson>,
    },
    /// The call at this place ended: it ran, was denied or failed.
    Settle {
        /// Place of the call in its batch.
        place: usize,
        /// What the model is told.
        outcome: ToolOutcome,
    },
    /// The call at this place ended, and its result is held back until
    /// [`LoopInput::Release`]; a second one replaces it. A turn that is cancelled before has it all the same.
    Ended {
        /// Place of the call in its batch.
        place: usize,
        /// What the model will be told.
        outcome: ToolOutcome,
    },
    /// Settles a call whose result was held back.
    Release {
        /// Place of the call in its batch.
        place: usize,
    },
    /// The turn ends once every call of this answer has settled, for this
    /// reason, and no further request is made.
    Halt {
        /// What the turn's result says; may be empty.
        reason: String,
    },
    /// Answers [`Step::Stopping`]: the turn ends.
    Stop,
    /// Answers [`Step::Stopping`]: the model is asked once more, with the
    /// context that waits.
    GoOn,
    /// A background task of this turn runs; it holds the turn's end.
    TaskBegan,
    /// A background task ended.
    TaskEnded {
        /// What the model is told.
        notice: String,
    },
    /// A background task was stopped, and [`LoopInput::Cancel`] comes next.
    TaskStopped {
        /// What the model is told.
        notice: String,
    },
    /// The submission at this place was held against the schema of the output.
    Validated {
        /// Place of the call in its batch.
        place: usize,
        /// What came out.
        validity: Validity,
    },
    /// Ends the turn: the stream is dropped, open calls settle.
    Cancel {
        /// A call that ends in its own way before the others, and its outcome.
        first: Option<(usize, ToolOutcome)>,
        /// What the results of the other open calls say.
        reason: &'static str,
    },
}

/// What the loop asks for or tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Ask the model.
    Request(Box<ModelRequest>),
    /// The answer as it streams, for those who want to watch.
    Streamed(Streamed),
    /// A block is complete.
    Block(FinishedBlock),
    /// Decide about the call at this place: `Allow` or `Settle` it, now or later.
    Decide {
        /// Place of the call in its batch.
        place: usize,
        /// The call.
        call: ToolCall,
    },
    /// Hold this submission of structured output against its schema, and tell
    /// [`LoopInput::Validated`]. Nobody is asked for permission.
    Validate {
        /// Place of the call in its batch.
        place: usize,
        /// What was submitted.
        value: RawJson,
    },
    /// Run this call.
    Run {
        /// Place of the call in its batch.
        place: usize,
        /// The call, with the input that was decided on.
        call: ToolCall,
        /// How far the decision reaches for paths.
        access: Access,
    },
    /// A call settled.
    Settled(ToolResult),
    /// The history grew by this. Results of calls join it too, once all are
    /// settled; each was told by [`Step::Settled`] before.
    Kept(Kept),
    /// The model request failed; the turn's end follows.
    Failed(ModelFailure),
    /// The model has stopped. The turn waits for `Stop` or `GoOn`.
    Stopping,
    /// The turn is over and the loop idle.
    End(TurnEnd),
}

/// A message that joined the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Prior context.
    Context(Arc<Message>),
    /// The prompt that is being answered.
    Prompt(Arc<Message>),
    /// What became of background tasks, one part each.
    Notices(Arc<Message>),
    /// The model was told that its output is still missing.
    Reminder(Arc<Message>),
    /// An answer, or what is left of one that was cut.
    Answer {
        /// Its blocks.
        message: Arc<Message>,
        /// Its tokens, unless it was cut.
        usage: Option<Usage>,
    },
}

/// A block that is complete, as the host is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedBlock {
    /// The provider's id of the message, where it gave one.
    pub message_id: Option<String>,
    /// The block.
    pub block: Block,
    /// Set on calls and on the last block of an answer (DEC-42).
    pub stop: Option<StopReason>,
    /// Set on the last block of an answer that hit the output limit (DEC-41).
    pub error: Option<ErrorCategory>,
    /// Tokens of the answer as known so far.
    pub usage: Usage,
}
