//! The first record of a session, and what of it the initialize answer repeats.

use crate::schema::declare::{record, words};
use crate::schema::outbound::capabilities::InputCapabilities;
use crate::schema::permission::PermissionMode;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

record! {
    /// What the session is made of (WIRE-023).
    pub struct SystemInit {
        "type" = "system",
        "subtype" = "init",
        /// Where the key came from (WIRE-016).
        required api_key_source as "apiKeySource": ApiKeySource,
        /// Our version.
        required agentx_version: String,
        /// The version that official clients look for.
        optional claude_code_version: Option<String>,
        /// Working directory.
        required cwd: String,
        /// Names of the tools.
        required tools: Vec<Arc<str>>,
        /// The MCP servers.
        required mcp_servers: Vec<McpServer>,
        /// The logical model.
        required model: Arc<str>,
        /// Registry id of the selected provider.
        required provider: Arc<str>,
        /// Its type.
        required provider_type: Arc<str>,
        /// The reasoning efforts it declares.
        required reasoning_capabilities: ReasoningCapabilities,
        /// How calls are judged where no rule decides.
        required permission_mode as "permissionMode": PermissionMode,
        /// Names of the slash commands.
        required slash_commands: Vec<String>,
        /// The output style.
        required output_style: String,
        /// Names of the skills.
        required skills: Vec<String>,
        /// The plugins.
        required plugins: Vec<Plugin>,
        /// Names of the agents.
        required agents: Vec<String>,
        /// What may be attached; absent in a text-only session.
        optional input_capabilities: Option<Box<InputCapabilities>>,
    }
}

words! {
    /// Where an API key came from (WIRE-016).
    pub enum ApiKeySource {
        /// A file of the user's.
        User = "user",
        /// The process or a flag.
        Temporary = "temporary",
    }
}

record! {
    /// An MCP server and how it stands.
    pub struct McpServer {
        /// Its name.
        required name: Arc<str>,
        /// How it stands.
        required status: McpStatus,
    }
}

words! {
    /// How an MCP server stands.
    pub enum McpStatus {
        /// It answers.
        Connected = "connected",
        /// It failed.
        Failed = "failed",
        /// It wants somebody to sign in.
        NeedsAuth = "needs-auth",
        /// It is not ready yet.
        Pending = "pending",
        /// It is switched off.
        Disabled = "disabled",
    }
}

record! {
    /// A plugin.
    pub struct Plugin {
        /// Its name.
        required name: String,
        /// Where it lies.
        required path: String,
        /// Where it came from.
        required source: String,
    }
}

record! {
    /// The reasoning efforts a provider entry declares, in its order. There is a
    /// default exactly when there are any, and it is one of them (WIRE-023, DEC-46).
    pub checked struct ReasoningCapabilities {
        required supported: bool,
        required efforts: Vec<Arc<str>>,
        optional default_effort as "defaultEffort": Option<Arc<str>>,
    }
}

/// The default effort is not among the declared ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndeclaredDefault;

impl fmt::Display for UndeclaredDefault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the default reasoning effort is not one of the declared efforts")
    }
}

impl core::error::Error for UndeclaredDefault {}

impl ReasoningCapabilities {
    fn is_sound(&self) -> bool {
        let default = self.default_effort.as_ref();
        self.supported != self.efforts.is_empty()
            && default.is_none_or(|default| self.efforts.contains(default))
    }

    /// Declared efforts with their default.
    ///
    /// # Errors
    ///
    /// [`UndeclaredDefault`] when `default` is not in `efforts`; so an empty list
    /// has no default, see [`ReasoningCapabilities::none`].
    pub fn new(efforts: Vec<Arc<str>>, default: Arc<str>) -> Result<Self, UndeclaredDefault> {
        if !efforts.contains(&default) {
            return Err(UndeclaredDefault);
        }
        Ok(Self {
            supported: true,
            efforts,
            default_effort: Some(default),
        })
    }

    /// No reasoning control (DEC-46).
    #[must_use]
    pub const fn none() -> Self {
        Self {
            supported: false,
            efforts: Vec::new(),
            default_effort: None,
        }
    }

    /// Whether there are any.
    #[must_use]
    pub const fn supported(&self) -> bool {
        self.supported
    }

    /// The efforts, in declared order.
    #[must_use]
    pub fn efforts(&self) -> &[Arc<str>] {
        &self.efforts
    }

    /// The default among them.
    #[must_use]
    pub const fn default_effort(&self) -> Option<&Arc<str>> {
        self.default_effort.as_ref()
    }
}
