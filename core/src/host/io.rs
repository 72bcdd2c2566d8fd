//! Inputs and outputs of a host session: plain enums to print, compare and replay.

use crate::diagnostic::Diagnostic;
use crate::effect::EffectId;
use crate::json::RawJson;
use crate::link::Record;
use crate::mcp::McpReply;
use crate::schema::host::{Call, Decision, EnvironmentUpdate, Prompt};
use crate::schema::outbound::{CanUseTool, Elicitation, HookCallback, McpMessage};
use crate::schema::received::AgentRecord;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

/// What a host session is fed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// Bytes that the agent wrote, cut anywhere.
    Bytes(&'a [u8]),
    /// The agent writes no more.
    Eof,
    /// Time passed.
    Tick,
    /// The embedder wants something.
    Command(Command),
    /// An effect ended.
    Done(EffectId, Answer),
    /// So many bytes of transmitted records were written.
    Sent(usize),
    /// The agent can be written to no more.
    WriteFailed,
}

/// Names one call of an embedder. It may be used again once its call is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// What an embedder wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A prompt. Told by one [`Event::Prompted`] or one [`Event::Unsent`].
    Prompt(Box<Prompt>),
    /// A call of an operation. Told by one [`Event::Answered`].
    Call {
        /// Its name; [`Misuse::WrongState`](crate::machine::Misuse) while a call of
        /// that name waits.
        id: CallId,
        /// What is called.
        call: Box<Call>,
        /// How long it may wait; `None` is `Limits::host_call_timeout`.
        timeout: Option<Duration>,
    },
    /// Nobody waits for that call any more. Nothing happens to one that does not
    /// wait.
    Forget(CallId),
    /// Variables for tools that the agent starts from now on.
    Environment(EnvironmentUpdate),
    /// Write a record that means nothing.
    KeepAlive,
    /// End the agent's input behind what was said before, and read on until it ends.
    Close,
    /// End at once: what is open is lost.
    Abandon,
}

/// What an agent asks for; settled by one answer of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Whether a call may run. Answer: [`Answer::Permit`].
    Permit(Box<CanUseTool>),
    /// To run a hook that was registered. Answer: [`Answer::Hook`].
    Hook(Box<HookCallback>),
    /// To ask the user something for an MCP server. Answer: [`Answer::Elicit`].
    Elicit(Box<Elicitation>),
    /// To pass a message to an MCP server of this host. Answer: [`Answer::Mcp`].
    Mcp(Box<McpMessage>),
}

/// The kinds of requests, without what they carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whether a call may run.
    Permit,
    /// A hook.
    Hook,
    /// A question to the user.
    Elicit,
    /// A message to a server.
    Mcp,
}

impl Request {
    pub(super) const fn kind(&self) -> Kind {
        match self {
            Self::Permit(_) => Kind::Permit,
            Self::Hook(_) => Kind::Hook,
            Self::Elicit(_) => Kind::Elicit,
            Self::Mcp(_) => Kind::Mcp,
        }
    }
}

/// How an effect ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Somebody decided. Only a [`Decision`] can be leave (WIRE-PERM-002).
    Permit(Decision),
    /// What the hook says: an object. Anything else counts as a failure.
    Hook(RawJson),
    /// What the user says.
    Elicit(McpReply),
    /// What the server answers; `None` to a message that asks nothing.
    Mcp(Option<RawJson>),
    /// It failed, whatever it was. The agent is told so in an error answer, from
    /// which no leave can come. The words are shown to it without credentials.
    Failed(String),
}

impl Answer {
    pub(super) const fn kind(&self) -> Option<Kind> {
        match self {
            Self::Permit(_) => Some(Kind::Permit),
            Self::Hook(_) => Some(Kind::Hook),
            Self::Elicit(_) => Some(Kind::Elicit),
            Self::Mcp(_) => Some(Kind::Mcp),
            Self::Failed(_) => None,
        }
    }
}

/// What a host session produces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Write these bytes to the agent, whole and in order.
    Transmit(Record),
    /// The agent asks for something; settle it by one `Done`.
    Start(EffectId, Request),
    /// Nobody waits for this effect any more; it is settled.
    Cancel(EffectId),
    /// Tell the embedder.
    Event(Event),
    /// Tell the operator.
    Diagnostic(Diagnostic),
    /// End the agent's input once everything before is written. Told once.
    CloseInput,
    /// The session is over.
    Exit(Exit),
}

/// News for the embedder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The agent tells something.
    Record(AgentRecord),
    /// A call is over.
    Answered(CallId, Result<Option<RawJson>, CallError>),
    /// A prompt was queued for the agent under this UUID, which its result repeats.
    Prompted(Arc<str>),
    /// A prompt or an environment update does not go to the agent.
    Unsent {
        /// UUID of the prompt, if it was one and has one.
        uuid: Option<Arc<str>>,
        /// Why not.
        why: Unsent,
    },
}

/// Why a call has no success to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The agent answers with an error.
    Refused {
        /// Its words.
        message: String,
        /// Requests of its own that it lists as open, each a whole envelope.
        pending_permission_requests: Vec<RawJson>,
    },
    /// The agent's answer breaks the form of answers.
    Invalid(String),
    /// No answer came in time. One that comes later means nothing.
    TimedOut,
    /// The embedder has forgotten the call.
    Forgotten,
    /// The agent reads or writes no more (WIRE-008).
    Closed,
    /// It was not sent.
    Unsent(Unsent),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { message, .. } => f.write_str(message),
            Self::Invalid(reason) => write!(f, "the agent's answer cannot be read: {reason}"),
            Self::TimedOut => f.write_str("the agent did not answer in time"),
            Self::Forgotten => f.write_str("the call was forgotten"),
            Self::Closed => f.write_str("the connection to the agent is closed"),
            Self::Unsent(why) => why.fmt(f),
        }
    }
}

impl core::error::Error for CallError {}

/// Why something does not go to the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsent {
    /// The agent's input is closed.
    Closed,
    /// It takes more bytes than a record may, or nests deeper.
    TooLarge,
    /// It holds a credential.
    Credential,
    /// As many wait as may.
    TooMany,
    /// Its UUID is none, or that of a prompt that waits.
    BadUuid,
}

impl fmt::Display for Unsent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "the agent's input is closed",
            Self::TooLarge => "it does not fit a record",
            Self::Credential => "it holds a credential",
            Self::TooMany => "as many wait as may",
            Self::BadUuid => "its UUID cannot be used",
        })
    }
}

impl core::error::Error for Unsent {}

/// How a session ended, and what was lost with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// What ended it.
    pub end: End,
    /// Calls that had no answer; each was told as closed.
    pub calls: usize,
    /// Requests of the agent that had no answer; each was cancelled.
    pub requests: usize,
    /// Prompts that have no result, in the order in which they were sent.
    pub prompts: Vec<Arc<str>>,
    /// Bytes that were handed out and not reported as written.
    pub unsent: usize,
}

/// What ended a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The agent's stream ended.
    Stream,
    /// The agent wrote what cannot be read (DEC-10).
    Fault {
        /// Line, counted from 1, blank ones included.
        line: u64,
        /// Byte within the line, counted from 1.
        byte: u64,
        /// What is wrong; a fixed text.
        reason: &'static str,
    },
    /// The embedder wanted it.
    Abandoned,
}
