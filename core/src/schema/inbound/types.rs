//! The input records as types.

use super::environment::Environment;
use super::shared::SharedOperation;
use crate::guard::Guard;
use crate::json::RawJson;
use crate::limits::Limits;
use crate::schema::declare::{Member, Shape, words};
use crate::schema::grammar;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// One input record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inbound {
    /// A user message that may be queued.
    User(UserRecord),
    /// A user message that is refused; the rest of the stream goes on (WIRE-021).
    UserRejected(UserRejected),
    /// The host asks for an operation.
    ControlRequest(ControlRequest),
    /// The host answers one of our requests.
    ControlResponse(ControlResponse),
    /// Means nothing, keeps the pipe warm.
    KeepAlive,
    /// Variables for later tool children, all of them acceptable (DEC-22).
    UpdateEnvironment(Environment),
    /// An environment update of which nothing is applied (DEC-22).
    EnvironmentRefused {
        /// What was wrong, for a warning on stderr.
        reason: String,
    },
    /// A step of an attachment upload, right in shape (WIRE-018).
    Import(Import),
    /// Prior context from a compatible transport (DEC-44).
    Context {
        /// Whose record it is.
        kind: ContextKind,
        /// What it says, in the profile `reference`.
        texts: Vec<String>,
        /// Blocks that are no text.
        left_out: usize,
    },
    /// A type that is not known here: warn and ignore (WIRE-002).
    Unknown {
        /// The type as it was sent, cut to [`UNKNOWN_KIND_CHARS`]; empty where
        /// there is none.
        kind: String,
    },
}

/// Longest name of the peer that is repeated in a warning or an error text, in characters.
pub const UNKNOWN_KIND_CHARS: usize = 128;

/// Whose prior context an inbound record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextKind {
    /// `type: "assistant"`.
    Assistant,
    /// `type: "system"`.
    System,
}

/// A user message that passed every check of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRecord {
    /// The prompt's UUID as it was sent; `None` when the agent has to make one (DEC-25).
    pub uuid: Option<String>,
    /// What the user said.
    pub content: UserContent,
    /// The tool call this message belongs to.
    pub parent_tool_use_id: Option<String>,
    /// Whether a machine wrote it on the user's side.
    pub is_synthetic: bool,
    /// Whether it is context only and starts no turn (DEC-44).
    pub is_replay: bool,
    /// Structured tool result that came along, kept as it is.
    pub tool_use_result: Option<RawJson>,
    /// When it wants to run.
    pub priority: Priority,
    /// Whether the record named its priority; an echo repeats it only then.
    pub priority_given: bool,
    /// When the message was written, as the host says it.
    pub timestamp: Option<String>,
    /// Where it came from, as the host says it; kept in the profile `reference`.
    pub origin: Option<RawJson>,
    /// Admission weight in bytes: the raw line plus [`Limits::queue_overhead_bytes`] (DEC-45).
    pub weight: usize,
}

words! {
    /// When a prompt wants to run (DEC-15).
    #[derive(Default)]
    pub enum Priority {
        /// Interrupts the running turn.
        Now = "now",
        /// After what runs.
        #[default]
        Next = "next",
        /// When nothing else waits.
        Later = "later",
    }
}

/// The text of a user message (WIRE-017).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserContent {
    /// A message, or its `content`, that was one string.
    Text(String),
    /// An array of text blocks, in order and never empty.
    Blocks(Vec<String>),
}

impl UserContent {
    /// The texts, one for each block.
    #[must_use]
    pub fn parts(&self) -> Vec<String> {
        match self {
            Self::Text(text) => alloc::vec![text.clone()],
            Self::Blocks(blocks) => blocks.clone(),
        }
    }

    /// All texts as one, blocks parted by a newline.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => blocks.join("\n"),
        }
    }
}

/// A user record that is refused with an input error (WIRE-021).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRejected {
    /// The prompt's UUID where it could be read.
    pub uuid: Option<String>,
    /// Where it came from, as [`UserRecord::origin`].
    pub origin: Option<RawJson>,
    /// What was wrong; may name a member of the record, never its content.
    pub reason: String,
}

/// An operation the host asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlRequest {
    /// The host's request id; the answer repeats it.
    pub id: String,
    /// The operation, or the exact error text to answer with (DEC-07).
    pub operation: Result<Operation, String>,
}

/// Declares the operations: those that take nothing beside `subtype`, and those
/// that are answered with an error whatever they bring.
macro_rules! operations {
    (
        fieldless { $($(#[$doc:meta])* $served:ident = $word:literal,)+ }
        refused { $($(#[$refused_doc:meta])* $refused:ident = $refused_word:literal,)+ }
    ) => {
        /// The operations of the standalone dispatcher, and the shared ones.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Operation {
            $($(#[$doc])* $served {
                /// Whether members beside `subtype` came along.
                extra_fields: bool,
            },)+
            $($(#[$refused_doc])* $refused,)+
            /// One of those that the profile `reference` installs, and no other has.
            Shared(SharedOperation),
            /// Another subtype, cut to [`UNKNOWN_KIND_CHARS`].
            Other(String),
        }

        impl Operation {
            /// What a host may ask: the operations that are served, without
            /// other members.
            pub(super) const SHAPE: Shape = Shape::Closed(&Shape::OneOf(&[
                $(Shape::Object(&[Member::constant("subtype", concat!("\"", $word, "\""))]),)+
            ]));

            /// The operation with this subtype.
            pub(super) fn named(subtype: &str, extra_fields: bool, context: &ParseContext<'_>) -> Self {
                match subtype {
                    $($word => Self::$served { extra_fields },)+
                    $($refused_word => Self::$refused,)+
                    other => Self::Other(context.shown(other)),
                }
            }
        }
    };
}

operations! {
    fieldless {
        /// `initialize`.
        Initialize = "initialize",
        /// `interrupt`.
        Interrupt = "interrupt",
        /// `get_context_usage`.
        GetContextUsage = "get_context_usage",
        /// `mcp_status`.
        McpStatus = "mcp_status",
    }
    refused {
        /// `set_model`, any payload.
        SetModel = "set_model",
        /// `set_permission_mode`, any payload.
        SetPermissionMode = "set_permission_mode",
        /// `set_max_thinking_tokens`, any payload.
        SetMaxThinkingTokens = "set_max_thinking_tokens",
    }
}

/// The host's answer to one of our requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlResponse {
    /// The request it answers (WIRE-PERM-010).
    pub id: String,
    /// The UUID a transport put on the record (WIRE-PERM-073).
    pub uuid: Option<String>,
    /// What it says.
    pub body: ResponseBody,
}

/// The closed union of answers, read the hardened way (DEC-13).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResponseBody {
    /// The operation succeeded.
    Success {
        /// Its payload; never JSON `null`.
        payload: Option<RawJson>,
        /// The payload's `toolUseID` where that is a string (WIRE-PERM-072).
        tool_use_id: Option<String>,
    },
    /// The operation failed.
    Error {
        /// The host's text.
        message: String,
        /// Complete `control_request` envelopes the host still has open.
        pending_permission_requests: Option<Vec<RawJson>>,
    },
    /// The answer breaks the schema: the waiter fails closed.
    Invalid {
        /// What was wrong.
        reason: String,
    },
}

/// One step of an attachment upload (WIRE-018). Ids and UUIDs keep their
/// grammar; whether the content is acceptable is judged by the upload (DEC-09).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Import {
    /// Announces an upload.
    Begin {
        /// The prompt that will use it.
        prompt_uuid: String,
        /// Id of the upload.
        upload_id: String,
        /// Id the attachment will have.
        attachment_id: String,
        /// Display name.
        name: String,
        /// Decoded size, in bytes.
        size_bytes: u64,
        /// What the host says it is.
        mime_type: String,
        /// Digest of the raw bytes, as sent.
        sha256: String,
    },
    /// The next piece of the bytes.
    Chunk {
        /// Id of the upload.
        upload_id: String,
        /// Number of the piece, from zero.
        sequence: u64,
        /// The bytes in base64, not yet checked.
        data: String,
    },
    /// All pieces were sent.
    Commit {
        /// Id of the upload.
        upload_id: String,
    },
    /// The host gave up.
    Abort {
        /// Id of the upload.
        upload_id: String,
    },
}

impl Import {
    /// Id of the upload this step belongs to.
    #[must_use]
    pub fn upload_id(&self) -> &str {
        match self {
            Self::Begin { upload_id, .. }
            | Self::Chunk { upload_id, .. }
            | Self::Commit { upload_id }
            | Self::Abort { upload_id } => upload_id,
        }
    }
}

/// What the parser has to know about the session.
#[derive(Clone, Copy, Debug)]
pub struct ParseContext<'a> {
    /// The session's own id (DEC-24).
    pub session_id: &'a str,
    /// Ceilings of one record.
    pub limits: &'a Limits,
    /// What is replaced in words of the peer before they are cut (DEC-30).
    pub guard: &'a Guard,
    /// Whether records are read as the profile `reference` takes them.
    pub reference: bool,
}

impl ParseContext<'_> {
    /// The beginning of a word of the peer that a refusal shows.
    pub(crate) fn shown(&self, word: &str) -> String {
        grammar::cut(&self.guard.redact(word), UNKNOWN_KIND_CHARS).into()
    }
}

/// A fault that ends the input stream (DEC-03, DEC-05, DEC-07, DEC-08).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Byte offset of the fault in the scanned text, counted from 0.
    pub at: usize,
    /// What was wrong; a fixed text.
    pub reason: &'static str,
}

impl fmt::Display for Malformed {
    /// Counts bytes from 1, as people do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.reason, self.at.saturating_add(1))
    }
}

impl core::error::Error for Malformed {}
