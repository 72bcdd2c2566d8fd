//! Records that leave on stdout.
//!
//! Every record is declared once, in the order of its members; the declaration
//! gives the type, the writer and the shape. An optional member is left out,
//! never `null`. Session records end with `uuid` and `session_id`; control and
//! import records have neither.

mod assistant;
mod capabilities;
mod control;
mod events;
mod import;
mod init;
mod result;
mod stream;
#[cfg(test)]
mod tests;
mod user;
mod work;

pub use assistant::{
    AssistantMessage, AssistantRecord, ContentBlock, MessageStop, RedactedThinkingBlock, TextBlock,
    ThinkingBlock, ToolUseBlock,
};
pub use capabilities::{
    AttachmentCapabilities, AttachmentLimits, AttachmentSource, InputCapabilities, MediaType,
    ProviderLimits, SourceName, SourceScope, TransformPolicy,
};
pub use control::{
    Answer, CanUseTool, ControlCancelRequest, ControlRequest, ControlResponse, Elicitation,
    ErrorAnswer, HookCallback, HostRequest, KeepAlive, McpMessage, SuccessAnswer,
};
pub use events::{
    AuthStatus, BusyStatus, CompactBoundary, CompactMetadata, CompactTrigger, ElicitationComplete,
    FailedFile, FilesPersisted, LocalCommandOutput, PersistedFile, PostTurnSummary,
    PreservedSegment, PromptSuggestion, RateLimitEvent, RateLimitInfo, RateLimitStatus,
    RequiresAction, SessionState, StateChanged, Status, StreamlinedText, StreamlinedToolUseSummary,
    ToolProgress, ToolUseSummary,
};
pub use import::{
    AttachmentImportRejected, AttachmentImportResult, AttachmentKind, AttachmentManifest,
    RejectReason, UploadIds, UploadReason, UploadStatus,
};
pub use init::{
    ApiKeySource, McpServer, McpStatus, Plugin, ReasoningCapabilities, SystemInit,
    UndeclaredDefault,
};
pub use result::{
    Accounting, ErrorSubtype, ModelUsage, PermissionDenial, ResultError, ResultRecord, ResultStop,
    ResultSuccess, Timing,
};
pub use stream::{
    BlockDelta, ContentBlockDelta, ContentBlockStart, ContentBlockStop, InputJsonDelta,
    MessageChange, MessageDelta, MessageEnd, MessageEvent, MessageStart, SignatureDelta,
    StreamEvent, TextDelta, ThinkingDelta,
};
pub use user::{
    ToolResultBlock, ToolResultMessage, ToolResultRecord, UserEcho, UserMessage, UserReplay,
};
pub use work::{
    HookIdentity, HookOutcome, HookProgress, HookResponse, HookStarted, TaskNotification,
    TaskProgress, TaskStarted, TaskStatus, TaskType, TaskUsage,
};

use super::declare::{Discriminant, Fields, FromMembers, Json, Record, Shape};
use crate::json::{Object, Writer};

/// The two ids at the end of a session record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordIds<'a> {
    /// The record's own UUID.
    pub uuid: &'a str,
    /// The session.
    pub session_id: &'a str,
}

/// Declares the sum of all records, the session records apart from those
/// without ids.
macro_rules! outbound {
    (
        session { $($(#[$doc:meta])* $variant:ident($type:ty),)+ }
        bare { $($(#[$bare_doc:meta])* $bare:ident($bare_type:ty),)+ }
    ) => {
        /// Any record we send.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Outbound {
            $($(#[$doc])* $variant($type),)+
            $($(#[$bare_doc])* $bare($bare_type),)+
        }

        impl Outbound {
            /// Every record: its name here, its shape without ids, and whether
            /// it is a session record.
            pub const RECORDS: &'static [(&'static str, Shape, bool)] = &[
                $((stringify!($variant), <$type as Json>::SHAPE, true),)+
                $((stringify!($bare), <$bare_type as Json>::SHAPE, false),)+
            ];

            /// Whether the record ends with `uuid` and `session_id`.
            #[must_use]
            pub const fn is_session_record(&self) -> bool {
                match self {
                    $(Self::$variant(_) => true,)+
                    $(Self::$bare(_) => false,)+
                }
            }

            /// Reads what [`Outbound::write`] wrote, its ids left out. `None` for a
            /// record that is none of these: of another type, or with members
            /// that have other values than any of ours.
            #[must_use]
            pub fn read(object: Object<'_>) -> Option<Self> {
                let kind = Discriminant::of(object);
                $(
                    if kind.opens(&<$type as Json>::SHAPE)
                        && let Some(record) = <$type>::read_members(&mut Fields::of(object))
                    {
                        return Some(Self::$variant(record));
                    }
                )+
                $(
                    if kind.opens(&<$bare_type as Json>::SHAPE)
                        && let Some(record) = <$bare_type>::read_members(&mut Fields::of(object))
                    {
                        return Some(Self::$bare(record));
                    }
                )+
                None
            }

            fn write_members(&self, w: &mut Writer) {
                match self {
                    $(Self::$variant(record) => record.write_members(w),)+
                    $(Self::$bare(record) => record.write_members(w),)+
                }
            }
        }

        $(impl From<$type> for Outbound {
            fn from(record: $type) -> Self {
                Self::$variant(record)
            }
        })+

        $(impl From<$bare_type> for Outbound {
            fn from(record: $bare_type) -> Self {
                Self::$bare(record)
            }
        })+
    };
}

outbound! {
    session {
        /// What the session is made of.
        SystemInit(SystemInit),
        /// A finished block of an answer.
        Assistant(AssistantRecord),
        /// The result of a call.
        ToolResult(ToolResultRecord),
        /// An echo of a user record.
        UserReplay(UserReplay),
        /// An event of a streamed answer.
        StreamEvent(StreamEvent),
        /// A tool still runs.
        ToolProgress(ToolProgress),
        /// A prompt ended.
        Result(ResultRecord),
        /// The session's state changed.
        StateChanged(StateChanged),
        /// The process signs in.
        AuthStatus(AuthStatus),
        /// The provider's rate limit.
        RateLimit(RateLimitEvent),
        /// The session compacts, or its mode changed.
        Status(Status),
        /// History was replaced by a summary.
        CompactBoundary(CompactBoundary),
        /// What a turn came to.
        PostTurnSummary(PostTurnSummary),
        /// What a local command printed.
        LocalCommandOutput(LocalCommandOutput),
        /// A hook starts.
        HookStarted(HookStarted),
        /// A hook says something.
        HookProgress(HookProgress),
        /// A hook is done.
        HookResponse(HookResponse),
        /// Files were stored.
        FilesPersisted(FilesPersisted),
        /// A background task starts.
        TaskStarted(TaskStarted),
        /// A background task goes on.
        TaskProgress(TaskProgress),
        /// A background task is done.
        TaskNotification(TaskNotification),
        /// What a run of calls came to.
        ToolUseSummary(ToolUseSummary),
        /// An elicitation ended elsewhere.
        ElicitationComplete(ElicitationComplete),
        /// What to ask next.
        PromptSuggestion(PromptSuggestion),
        /// Assistant text alone.
        StreamlinedText(StreamlinedText),
        /// All calls in one text.
        StreamlinedToolUseSummary(StreamlinedToolUseSummary),
    }
    bare {
        /// Keeps the pipe warm.
        KeepAlive(KeepAlive),
        /// We ask the host.
        ControlRequest(ControlRequest),
        /// We answer the host.
        ControlResponse(ControlResponse),
        /// We withdraw a request.
        ControlCancelRequest(ControlCancelRequest),
        /// What became of an upload.
        AttachmentImportResult(AttachmentImportResult),
        /// An import operation that joins no upload.
        AttachmentImportRejected(AttachmentImportRejected),
    }
}

impl Outbound {
    /// Writes the record as one object. An echo stands under its prompt's UUID
    /// instead of `ids.uuid`; records without ids take neither.
    pub fn write(&self, ids: RecordIds<'_>, w: &mut Writer) {
        w.begin_object();
        self.write_members(w);
        if self.is_session_record() {
            w.named(",\"uuid\":");
            w.string(self.own_uuid().unwrap_or(ids.uuid));
            w.named(",\"session_id\":");
            w.string(ids.session_id);
        }
        w.end_object();
    }

    /// The UUID a record brings along, so that it needs no fresh one.
    #[must_use]
    pub fn own_uuid(&self) -> Option<&str> {
        if let Self::UserReplay(replay) = self {
            Some(&replay.uuid)
        } else {
            None
        }
    }
}
