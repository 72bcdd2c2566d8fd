//! The provider that a stored session is bound to (WIRE-025).

use alloc::sync::Arc;
use core::fmt;

/// What must be the same when a session is resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Registry id.
    pub provider: Arc<str>,
    /// Registry type, such as `openai_compatible`.
    pub kind: Arc<str>,
    /// Logical model name.
    pub model: Arc<str>,
    /// SHA-256 of the route, as lower-case hexadecimal digits. Opaque: it
    /// holds no key, and nothing of the route can be read from it.
    pub route: Arc<str>,
}

impl Binding {
    /// Whether a session that is bound to this may go on with `selected`.
    ///
    /// # Errors
    ///
    /// What is not the same.
    pub fn admits(&self, selected: &Self) -> Result<(), Mismatch> {
        if self.provider != selected.provider {
            Err(Mismatch::Provider {
                recorded: Arc::clone(&self.provider),
                selected: Arc::clone(&selected.provider),
            })
        } else if self != selected {
            Err(Mismatch::Route {
                provider: Arc::clone(&self.provider),
                kind: Arc::clone(&self.kind),
                model: Arc::clone(&self.model),
            })
        } else {
            Ok(())
        }
    }
}

/// Why a session cannot go on with the selected provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// Another entry of the registry is selected.
    Provider {
        /// Id of the entry the session is bound to.
        recorded: Arc<str>,
        /// Id of the selected one.
        selected: Arc<str>,
    },
    /// The entry of that id leads somewhere else now.
    Route {
        /// Id of the entry.
        provider: Arc<str>,
        /// Its type when the session was made.
        kind: Arc<str>,
        /// Its model when the session was made.
        model: Arc<str>,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider { recorded, selected } => write!(
                f,
                "it belongs to the provider {recorded:?}, and {selected:?} is selected; \
                 start it with --provider {recorded}"
            ),
            Self::Route {
                provider,
                kind,
                model,
            } => write!(
                f,
                "its provider {provider:?} was of type {kind:?} with model {model:?}, and that entry of \
                 auth.json has changed; restore its type, endpoint, model, deployment and API version"
            ),
        }
    }
}

impl core::error::Error for Mismatch {}
