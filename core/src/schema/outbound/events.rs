//! System and lifecycle events.

use crate::json::RawJson;
use crate::schema::Fraction;
use crate::schema::declare::{record, words};
use crate::schema::permission::PermissionMode;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

words! {
    /// What the session is doing.
    pub enum SessionState {
        /// Nothing runs and nothing waits (WIRE-004).
        Idle = "idle",
        /// A turn runs.
        Running = "running",
        /// A turn waits for the host.
        RequiresAction = "requires_action",
    }
}

record! {
    /// The session's state changed (DEC-12). `requires_action` is there exactly
    /// in the state of that name.
    pub checked struct StateChanged {
        "type" = "system",
        "subtype" = "session_state_changed",
        required state: SessionState,
        optional requires_action: Option<RequiresAction>,
        flag sdk_host_only: bool,
    }
}

impl StateChanged {
    /// A turn runs.
    pub const RUNNING: Self = Self::plain(SessionState::Running);
    /// Nothing runs and nothing waits.
    pub const IDLE: Self = Self::plain(SessionState::Idle);

    const fn plain(state: SessionState) -> Self {
        Self {
            state,
            requires_action: None,
            sdk_host_only: false,
        }
    }

    /// A turn waits for the host (WIRE-PERM-023).
    #[must_use]
    pub const fn requires_action(action: RequiresAction) -> Self {
        Self {
            state: SessionState::RequiresAction,
            requires_action: Some(action),
            sdk_host_only: false,
        }
    }

    /// The same, meant for an SDK's host only (DEC-12).
    #[must_use]
    pub fn for_sdk_host(self) -> Self {
        Self {
            sdk_host_only: true,
            ..self
        }
    }

    fn is_sound(&self) -> bool {
        let asks = self.state == SessionState::RequiresAction;
        asks == self.requires_action.is_some()
    }

    /// The question that the session waits for, in the state of that name.
    #[must_use]
    pub const fn question(&self) -> Option<&RequiresAction> {
        self.requires_action.as_ref()
    }

    /// The state.
    #[must_use]
    pub const fn state(&self) -> SessionState {
        self.state
    }
}

record! {
    /// The question that is about to be asked (WIRE-PERM-023).
    pub struct RequiresAction {
        /// Id of the control request that asks it.
        required request_id: Arc<str>,
        /// Name of the tool.
        required tool_name: Arc<str>,
        /// Id of the call.
        required tool_use_id: Arc<str>,
        /// What the call would do, for people.
        required description: String,
        /// Its input, as the model wrote it.
        required input: RawJson,
    }
}

record! {
    /// A tool still runs.
    pub struct ToolProgress {
        "type" = "tool_progress",
        /// Id of the call.
        required tool_use_id: Arc<str>,
        /// Name of the tool.
        required tool_name: Arc<str>,
        /// The call the message of this call belongs to.
        nullable parent_tool_use_id: Option<Arc<str>>,
        /// How long it has run, in seconds.
        required elapsed_time_seconds: u64,
        /// Its background task.
        optional task_id: Option<Arc<str>>,
    }
}

record! {
    /// The process signs in somewhere.
    pub struct AuthStatus {
        "type" = "auth_status",
        /// Whether it is still at it.
        required is_authenticating as "isAuthenticating": bool,
        /// Lines for people.
        required output: Vec<String>,
        /// What went wrong.
        optional error: Option<String>,
    }
}

record! {
    /// The provider's rate limit (DEC-43).
    pub struct RateLimitEvent {
        "type" = "rate_limit_event",
        /// How things stand.
        required rate_limit_info: RateLimitInfo,
    }
}

words! {
    /// Whether requests pass.
    pub enum RateLimitStatus {
        /// They do.
        Allowed = "allowed",
        /// They do, but not for long.
        AllowedWarning = "allowed_warning",
        /// They do not.
        Rejected = "rejected",
    }
}

record! {
    /// How a rate limit stands.
    pub struct RateLimitInfo {
        /// Whether requests pass.
        required status: RateLimitStatus,
        /// When the limit starts anew, in Unix seconds.
        optional resets_at as "resetsAt": Option<u64>,
        /// How much of it is used.
        optional utilization: Option<Fraction>,
        /// Whether use beyond the limit passes.
        optional overage_status as "overageStatus": Option<RateLimitStatus>,
    }
}

words! {
    /// What the session is busy with beside a turn.
    pub enum BusyStatus {
        /// It makes its history shorter.
        Compacting = "compacting",
    }
}

record! {
    /// What the session is busy with, or its permission mode, changed.
    pub struct Status {
        "type" = "system",
        "subtype" = "status",
        /// What it is busy with.
        nullable status: Option<BusyStatus>,
        /// The mode from now on.
        optional permission_mode as "permissionMode": Option<PermissionMode>,
    }
}

record! {
    /// The history before this point was replaced by a summary (WIRE-005).
    pub struct CompactBoundary {
        "type" = "system",
        "subtype" = "compact_boundary",
        /// What happened.
        required compact_metadata: CompactMetadata,
    }
}

words! {
    /// Who wanted a compaction.
    pub enum CompactTrigger {
        /// The user.
        Manual = "manual",
        /// The session.
        Auto = "auto",
    }
}

record! {
    /// What a compaction did.
    pub struct CompactMetadata {
        /// Who wanted it.
        required trigger: CompactTrigger,
        /// Tokens of the history before.
        required pre_tokens: u64,
        /// The part that stays as it was.
        optional preserved_segment: Option<PreservedSegment>,
    }
}

record! {
    /// The part of a history that a compaction keeps (WIRE-005).
    pub struct PreservedSegment {
        /// UUID of its first record.
        required head_uuid: Arc<str>,
        /// UUID of the record it hangs on.
        required anchor_uuid: Arc<str>,
        /// UUID of its last record.
        required tail_uuid: Arc<str>,
    }
}

record! {
    /// What a turn came to, for an overview (DEC-43).
    pub struct PostTurnSummary {
        "type" = "system",
        "subtype" = "post_turn_summary",
        /// UUID of the record it sums up.
        required summarizes_uuid: Arc<str>,
        /// One word for how it went.
        required status_category: String,
        /// A few more.
        required status_detail: String,
        /// Whether somebody should look.
        required is_noteworthy: bool,
        /// A title.
        required title: String,
        /// A description.
        required description: String,
        /// What was done last.
        required recent_action: String,
        /// What is to be done.
        required needs_action: String,
        /// What came out.
        required artifact_urls: Vec<String>,
    }
}

record! {
    /// What a local command printed.
    pub struct LocalCommandOutput {
        "type" = "system",
        "subtype" = "local_command_output",
        /// Its text.
        required content: String,
    }
}

record! {
    /// Files were stored (DEC-43).
    pub struct FilesPersisted {
        "type" = "system",
        "subtype" = "files_persisted",
        /// Those that were.
        required files: Vec<PersistedFile>,
        /// Those that were not.
        required failed: Vec<FailedFile>,
        /// When, in RFC 3339.
        required processed_at: String,
    }
}

record! {
    /// A file that was stored.
    pub struct PersistedFile {
        /// Its name.
        required filename: String,
        /// Its id in the store.
        required file_id: String,
    }
}

record! {
    /// A file that was not stored.
    pub struct FailedFile {
        /// Its name.
        required filename: String,
        /// Why not.
        required error: String,
    }
}

record! {
    /// An elicitation ended outside this connection.
    pub struct ElicitationComplete {
        "type" = "system",
        "subtype" = "elicitation_complete",
        /// Name of the server.
        required mcp_server_name: Arc<str>,
        /// The server's id of the question.
        required elicitation_id: String,
    }
}

record! {
    /// What the user may want to ask next.
    pub struct PromptSuggestion {
        "type" = "prompt_suggestion",
        /// The prompt.
        required suggestion: String,
    }
}

record! {
    /// What a run of calls came to (DEC-43).
    pub struct ToolUseSummary {
        "type" = "tool_use_summary",
        /// The text.
        required summary: String,
        /// The calls.
        required preceding_tool_use_ids: Vec<Arc<str>>,
    }
}

record! {
    /// Assistant text without anything else (DEC-43).
    pub struct StreamlinedText {
        "type" = "streamlined_text",
        /// The text.
        required text: String,
    }
}

record! {
    /// All calls so far in one text (DEC-43).
    pub struct StreamlinedToolUseSummary {
        "type" = "streamlined_tool_use_summary",
        /// The text.
        required tool_summary: String,
    }
}
