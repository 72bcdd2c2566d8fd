//! Answers to the operations that read and change settings.

use super::{AgentDescriptor, Command, McpServerStatus};
use crate::json::RawJson;
use crate::schema::declare::{record, words};
use crate::schema::outbound::Plugin;
use crate::schema::permission::PermissionMode;
use alloc::sync::Arc;
use alloc::vec::Vec;

words! {
    /// Where settings come from, low to high.
    pub enum Layer {
        /// The user's file in the home folder.
        User = "userSettings",
        /// The project's file.
        Project = "projectSettings",
        /// The project's file of this machine.
        Local = "localSettings",
        /// The command line's `--settings`.
        Flag = "flagSettings",
        /// The machine's policy.
        Policy = "policySettings",
    }
}

record! {
    /// One layer of settings, as it was written.
    pub struct SettingsSource {
        /// The layer.
        required source: Layer,
        /// What it says.
        required settings: RawJson,
    }
}

record! {
    /// What the session runs with, whatever the settings say.
    pub struct AppliedSettings {
        /// The model.
        required model: Arc<str>,
        /// The reasoning effort, if the process chose one.
        nullable effort: Option<Arc<str>>,
    }
}

record! {
    /// The answer to `get_settings`.
    pub struct SettingsPayload {
        /// What all layers say together, as one file would say it.
        required effective: RawJson,
        /// The layers that there are, low to high.
        required sources: Vec<SettingsSource>,
        /// What is in force.
        optional applied: Option<AppliedSettings>,
    }
}

record! {
    /// The answer to `set_permission_mode`.
    pub struct ModePayload {
        /// The mode from now on.
        required mode: PermissionMode,
    }
}

record! {
    /// The answer to `cancel_async_message`.
    pub struct CancelledPayload {
        /// Whether the prompt was waiting, and is not any more.
        required cancelled: bool,
    }
}

record! {
    /// The answer to `reload_plugins`.
    pub struct ReloadPluginsPayload {
        /// The slash commands.
        required commands: Vec<Command>,
        /// The agents.
        required agents: Vec<AgentDescriptor>,
        /// The plugins.
        required plugins: Vec<Plugin>,
        /// How the MCP servers stand.
        required mcp_servers as "mcpServers": Vec<McpServerStatus>,
        /// Plugins that could not be loaded.
        required error_count: u64,
    }
}
