//! What goes into a client and what comes out of it: plain enums to print, compare
//! and replay.

use super::{McpQuestion, McpReply};
use crate::guard::Guard;
use crate::json::RawJson;
use crate::limits::Limits;
use crate::tool::ToolOutcome;
use alloc::string::String;
use alloc::sync::Arc;
use core::time::Duration;

/// What a client is made of; fixed for its life.
#[derive(Clone, Debug)]
pub struct McpSettings {
    /// Name of the server, for texts.
    pub name: Arc<str>,
    /// Version of the product, which the server is told.
    pub version: Arc<str>,
    /// How long a request waits for its answer (DEC-48).
    pub request_timeout: Duration,
    /// How long handshake and first list of tools may take (DEC-39).
    pub start_timeout: Duration,
    /// What no word of a server may hold where it is shown, which is looked for
    /// before anything is cut (DEC-30).
    pub guard: Guard,
    /// Bounds.
    pub limits: Limits,
}

/// What a client is fed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpInput {
    /// Time passed.
    Tick,
    /// Begin the handshake. What is connected is disconnected before.
    Connect,
    /// Switch the server off.
    Disable,
    /// The server is gone for good; why.
    Close(String),
    /// What came as the answer to a request.
    Answer {
        /// The request.
        request: u64,
        /// The message, whatever it says.
        message: RawJson,
    },
    /// No answer to a request will come; why.
    Failed {
        /// The request.
        request: u64,
        /// Why.
        why: String,
    },
    /// A message that the server sends by itself.
    Message(RawJson),
    /// Run a tool. Ends by [`McpOutput::Called`].
    Call {
        /// Name of this call, for its end; not used by another open one.
        call: u64,
        /// Name of the tool, at the server.
        tool: Arc<str>,
        /// Its input, an object.
        input: RawJson,
    },
    /// Nobody waits for this call any more; its end is not told.
    Forget {
        /// The call.
        call: u64,
    },
    /// The user answered a question of the server.
    Reply {
        /// The question; one that was taken back changes nothing.
        question: u64,
        /// What the user said.
        reply: McpReply,
    },
}

/// What a client asks for or tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpOutput {
    /// Send this message.
    Send {
        /// The request that it is; `None` for one that nothing answers.
        request: Option<u64>,
        /// The message.
        message: RawJson,
    },
    /// An answer to this request is not waited for any more.
    Abandon {
        /// The request.
        request: u64,
    },
    /// The state changed.
    State(McpState),
    /// The list of tools changed, see [`McpClient::tools`](super::McpClient::tools).
    Tools,
    /// A call ended.
    Called {
        /// The call.
        call: u64,
        /// What the model is told.
        outcome: ToolOutcome,
        /// The structured content, where there is some.
        structured: Option<RawJson>,
    },
    /// The server asks its user. Ends by [`McpInput::Reply`], or is taken back.
    Ask {
        /// Name of this question.
        question: u64,
        /// The question.
        asked: McpQuestion,
    },
    /// A question is taken back.
    Withdraw {
        /// The question.
        question: u64,
    },
    /// A question was answered elsewhere.
    Completed {
        /// The server's id of it.
        id: String,
    },
    /// The server did something that is wrong and did no harm.
    Warning(String),
}

/// How a server stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpState {
    /// Nothing was begun, or it is not ready yet.
    Pending,
    /// Its tools can be called.
    Connected,
    /// It failed; why.
    Failed(String),
    /// It is switched off.
    Disabled,
}
