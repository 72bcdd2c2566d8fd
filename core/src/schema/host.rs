//! Records that a host writes; [`inbound`](super::inbound) is their reader.
//!
//! Each is declared once, as those of the agent are. An answer takes what it says
//! from a type of its own: an [`Allow`] is made by [`Decision`] alone, so that no
//! failure of whoever decides can be one (WIRE-PERM-002).

mod calls;

pub use calls::{
    ApplyFlagSettings, BadCall, Call, CancelAsyncMessage, ControlCall, GetContextUsage,
    GetSettings, HookMatcher, Initialize, Interrupt, McpReconnect, McpSend, McpSetServers,
    McpStatus, McpToggle, OnFailure, OtherCall, ReloadPlugins, RewindFiles, SeedReadState,
    SetMaxThinkingTokens, SetModel, SetPermissionMode, StopTask,
};

use super::declare::{record, union};
use super::inbound::{Priority, UserContent};
use super::outbound::UserMessage;
use super::permission::{Classification, PermissionUpdate};
use crate::json::RawJson;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

record! {
    /// A prompt.
    pub struct Prompt {
        "type" = "user",
        /// Its UUID; the session makes one where there is none (DEC-25).
        optional uuid: Option<Arc<str>>,
        /// What the user says.
        required message: UserMessage,
        /// The call this message belongs to.
        nullable parent_tool_use_id: Option<Arc<str>>,
        /// Whether a machine wrote it.
        flag is_synthetic as "isSynthetic": bool,
        /// When it wants to run; `next` where nothing is said.
        optional priority: Option<Priority>,
        /// When it was written, as the host says it.
        optional timestamp: Option<String>,
        /// Where it came from; an agent of the profile `reference` takes it.
        optional origin: Option<RawJson>,
    }
}

impl Prompt {
    /// A prompt that is one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(UserContent::Text(text.into()))
    }

    /// A prompt that says this.
    #[must_use]
    pub const fn of(content: UserContent) -> Self {
        Self {
            uuid: None,
            message: UserMessage { content },
            parent_tool_use_id: None,
            is_synthetic: false,
            priority: None,
            timestamp: None,
            origin: None,
        }
    }

    /// The same under that UUID.
    #[must_use]
    pub fn with_uuid(self, uuid: impl Into<Arc<str>>) -> Self {
        Self {
            uuid: Some(uuid.into()),
            ..self
        }
    }

    /// The same with that priority.
    #[must_use]
    pub fn with_priority(self, priority: Priority) -> Self {
        Self {
            priority: Some(priority),
            ..self
        }
    }
}

record! {
    /// Variables for tools that the agent starts from now on (DEC-22).
    pub struct EnvironmentUpdate {
        "type" = "update_environment_variables",
        /// Values by their names.
        required variables: BTreeMap<Arc<str>, String>,
    }
}

union! {
    /// What a host decides about a call.
    pub enum Decision {
        /// It runs.
        Allow(Allow),
        /// It does not.
        Deny(Deny),
    }
}

record! {
    /// Leave to run one call.
    pub checked struct Allow {
        "behavior" = "allow",
        required updated_input as "updatedInput": RawJson,
        optional updated_permissions as "updatedPermissions": Option<Vec<PermissionUpdate>>,
        optional tool_use_id as "toolUseID": Option<Arc<str>>,
        optional classification as "decisionClassification": Option<Classification>,
    }
}

record! {
    /// A refusal of one call (WIRE-PERM-042).
    pub struct Deny {
        "behavior" = "deny",
        /// What the model is told.
        required message: String,
        /// Whether the turn ends as well.
        flag interrupt: bool,
        /// The call, which the session fills in.
        optional tool_use_id as "toolUseID": Option<Arc<str>>,
        /// How the decision is filed (WIRE-PERM-043).
        optional classification as "decisionClassification": Option<Classification>,
    }
}

/// The input that is to replace another is no object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnInput;

impl fmt::Display for NotAnInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the input of a call must be an object")
    }
}

impl core::error::Error for NotAnInput {}

impl Decision {
    /// The call runs as it was asked about (WIRE-PERM-041).
    #[must_use]
    pub fn allow() -> Self {
        Self::Allow(Allow {
            updated_input: RawJson::empty_object(),
            updated_permissions: None,
            tool_use_id: None,
            classification: None,
        })
    }

    /// The call runs with another input, which replaces the first one whole. An
    /// object without members stands for the first one.
    ///
    /// # Errors
    ///
    /// [`NotAnInput`] for anything but an object.
    pub fn allow_with(input: RawJson) -> Result<Self, NotAnInput> {
        if !input.is_object() {
            return Err(NotAnInput);
        }
        Ok(Self::Allow(Allow {
            updated_input: input,
            updated_permissions: None,
            tool_use_id: None,
            classification: None,
        }))
    }

    /// The call does not run, and the model is told this.
    #[must_use]
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny(Deny {
            message: message.into(),
            interrupt: false,
            tool_use_id: None,
            classification: None,
        })
    }

    /// The same, and the turn ends as well where the call is denied.
    #[must_use]
    pub fn and_interrupt(mut self) -> Self {
        if let Self::Deny(deny) = &mut self {
            deny.interrupt = true;
        }
        self
    }

    /// The same, with updates for calls like it where it is allowed
    /// (WIRE-PERM-030).
    #[must_use]
    pub fn and_update(mut self, updates: Vec<PermissionUpdate>) -> Self {
        if let Self::Allow(allow) = &mut self {
            allow.updated_permissions = Some(updates);
        }
        self
    }

    /// The same, filed as that (WIRE-PERM-043).
    #[must_use]
    pub fn filed(mut self, as_that: Classification) -> Self {
        match &mut self {
            Self::Allow(allow) => allow.classification = Some(as_that),
            Self::Deny(deny) => deny.classification = Some(as_that),
        }
        self
    }

    /// The same about that call.
    #[must_use]
    pub(crate) fn about(mut self, call: Arc<str>) -> Self {
        match &mut self {
            Self::Allow(allow) => allow.tool_use_id = Some(call),
            Self::Deny(deny) => deny.tool_use_id = Some(call),
        }
        self
    }
}

impl Allow {
    fn is_sound(&self) -> bool {
        self.updated_input.is_object()
    }
}
