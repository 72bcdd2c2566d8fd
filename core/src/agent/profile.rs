//! Which control operations are installed, and what goes with them.

use crate::schema::declare::words;
use crate::schema::permission::PermissionUpdate;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Which control operations a session has installed (configuration, "Profiles").
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Exactly those of the wire protocol's own dispatcher.
    #[default]
    Standalone,
    /// The shared operations too, as existing hosts ask for them.
    Reference(Reference),
}

impl Profile {
    /// What goes with the shared operations, where they are installed.
    #[must_use]
    pub const fn reference(&self) -> Option<&Reference> {
        match self {
            Self::Standalone => None,
            Self::Reference(reference) => Some(reference),
        }
    }

    /// Whether the shared operations are installed.
    #[must_use]
    pub const fn is_reference(&self) -> bool {
        self.reference().is_some()
    }
}

/// What goes with the shared operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The version that existing hosts look for, `N.N.N`.
    pub claude_code_version: String,
    /// Which state records are written (DEC-12).
    pub states: StateRecords,
    /// Whether a host may switch to the mode that asks nothing.
    pub may_bypass_permissions: bool,
    /// Whether the first turn waits for `initialize`.
    pub await_initialize: bool,
    /// MCP servers that the host owns, by name, as the command line lists them.
    pub sdk_servers: Vec<Arc<str>>,
    /// Rules of the command line. They stand in the flag layer, and stay there when
    /// a host replaces the permissions of that layer.
    pub rules: Vec<PermissionUpdate>,
    /// Whether what tools change is kept, so that a host can have it put back.
    pub file_checkpoints: bool,
}

impl Default for Reference {
    /// A host that names no version of its own.
    fn default() -> Self {
        Self {
            claude_code_version: "2.1.0".into(),
            states: StateRecords::Plain,
            may_bypass_permissions: false,
            await_initialize: false,
            sdk_servers: Vec::new(),
            rules: Vec::new(),
            file_checkpoints: true,
        }
    }
}

words! {
    /// Which `session_state_changed` records are written (DEC-12).
    #[derive(Default)]
    pub enum StateRecords {
        /// All, for everybody.
        #[default]
        Plain = "plain",
        /// All, marked for the host alone.
        HostOnly = "host_only",
        /// None.
        Off = "off",
    }
}
