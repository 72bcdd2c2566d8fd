//! Hooks: programs of the settings, or callbacks of a host, that are told of
//! events and may have a say in some of them (configuration, "hook command").
//!
//! These are leaves: the vocabulary of events, what a hook is asked and answers,
//! and how the answers of several hooks become one. Who is asked when, and what
//! follows, is decided by the session.

mod callback;
mod gather;
mod output;
mod report;
#[cfg(test)]
mod tests;

pub use gather::{Combined, Gather};
pub use output::{Decision, HookFault, HookLeave, HookOutput};
pub use report::{HookEnd, HookReport};

use crate::json::RawJson;
use crate::schema::declare::words;
use crate::tool::Environment;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

words! {
    /// What a hook can be told of.
    pub enum HookEvent {
        /// A call needs permission; races with the question to the host.
        PermissionRequest = "PermissionRequest",
        /// A call is about to be judged.
        PreToolUse = "PreToolUse",
        /// A tool has ended.
        PostToolUse = "PostToolUse",
        /// A prompt is about to start its turn.
        UserPromptSubmit = "UserPromptSubmit",
        /// The model has stopped, and the turn is about to end.
        Stop = "Stop",
        /// The conversation is about to be shortened.
        PreCompact = "PreCompact",
        /// The session begins.
        SessionStart = "SessionStart",
        /// The session is about to end.
        SessionEnd = "SessionEnd",
    }
}

impl HookEvent {
    /// Whether the event is about a tool, so that a matcher can choose by its name.
    #[must_use]
    pub const fn is_about_tool(self) -> bool {
        matches!(
            self,
            Self::PermissionRequest | Self::PreToolUse | Self::PostToolUse
        )
    }

    /// Whether something is refused when a hook of this event fails (DEC-33).
    /// The failure of any other hook is a warning.
    #[must_use]
    pub const fn failure_denies(self) -> bool {
        matches!(
            self,
            Self::PermissionRequest | Self::PreToolUse | Self::UserPromptSubmit
        )
    }
}

/// The tools that a hook is for. A pattern is resolved against the names of the
/// tools where it is read, so that nothing here depends on how it is spelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matcher {
    /// Every tool, and events that are about none.
    All,
    /// These tools.
    Tools(BTreeSet<Arc<str>>),
}

impl Matcher {
    /// Whether the hook is for this tool; `None` is an event about no tool.
    #[must_use]
    pub fn matches(&self, tool: Option<&str>) -> bool {
        match self {
            Self::All => true,
            Self::Tools(names) => tool.is_some_and(|tool| names.contains(tool)),
        }
    }
}

/// A hook of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// What it is told of.
    pub event: HookEvent,
    /// The tools it is for.
    pub matcher: Matcher,
    /// How they are spelled, where that is a pattern: it is resolved again when
    /// other tools come.
    pub pattern: Option<Arc<str>>,
    /// How long one run may take.
    pub timeout: Duration,
    /// The callback of the host that it is; else it is a program of the settings.
    pub callback: Option<Callback>,
}

/// A hook that the host runs when it is asked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    /// The host's name of it.
    pub id: Arc<str>,
    /// Whether its failure about a call that is to be judged is no decision
    /// instead of a denial (DEC-33).
    pub failure_passes: bool,
}

/// Patterns to be held against the names of tools: each is a regular expression
/// that the whole name has to match, on an engine of linear time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matching {
    /// The patterns.
    pub patterns: Vec<Arc<str>>,
    /// The names.
    pub names: Vec<Arc<str>>,
}

/// What one pattern comes to: the names it matches, or why it is none.
pub type Matched = Result<BTreeSet<Arc<str>>, String>;

/// The hooks of a session: those of the settings, and behind them the callbacks
/// of its host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// All hooks, those of lower layers of settings first. A hook is known by
    /// its place here.
    pub list: Arc<[Hook]>,
    /// The file that holds the session, as hooks are told; empty where there is none.
    pub transcript_path: String,
    /// Whether `hook_*` records are written (DEC-43).
    pub records: bool,
}

impl Hooks {
    /// The places of the hooks that are told of this event. Callbacks come first,
    /// as hooks of the lowest layer: where only one input can count, that of the
    /// settings does.
    #[must_use]
    pub fn of(&self, event: HookEvent, tool: Option<&str>) -> Vec<usize> {
        let chosen = |(place, hook): (usize, &Hook)| {
            (hook.event == event && hook.matcher.matches(tool))
                .then_some((hook.callback.is_none(), place))
        };
        let mut places: Vec<_> = self.list.iter().enumerate().filter_map(chosen).collect();
        places.sort_unstable();
        places.into_iter().map(|(_, place)| place).collect()
    }

    /// Whether there is a hook for this event.
    #[must_use]
    pub fn any(&self, event: HookEvent) -> bool {
        self.list.iter().any(|hook| hook.event == event)
    }
}

/// One run of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRequest {
    /// The hook, by its place in [`Hooks::list`].
    pub hook: usize,
    /// What it is told of.
    pub event: HookEvent,
    /// The object it reads.
    pub input: RawJson,
    /// How long it may run.
    pub timeout: Duration,
    /// Where it runs, absolute.
    pub directory: Arc<str>,
    /// Variables set for children by `update_environment_variables` (DEC-22).
    pub environment: Arc<Environment>,
    /// Whether to tell what it has written while it runs.
    pub watched: bool,
}
