//! Keys and routes in what the process says of itself without a session (DEC-30).
//!
//! A command line may hold anything, a key in the wrong place too, and errors
//! quote it. What must not be seen stands in `auth.json`; where that cannot be
//! read nobody can tell.

use crate::home::Home;
use crate::session;
use agentx_core::guard::Guard;
use agentx_providers::registry::Registry;
use std::ffi::OsString;

/// What no error may show.
#[derive(Debug, Default)]
pub(crate) struct Secrets(Guard);

impl Secrets {
    /// Those of the registry of this process; none where it cannot be read.
    pub(crate) fn known() -> Self {
        let registry = || {
            let home = Home::open(&session::home_path().ok()?).ok()?;
            let (bytes, facts) = home.registry().ok()?;
            Registry::parse(&bytes, &facts).ok()
        };
        Self(
            registry()
                .and_then(|registry| guard(&registry))
                .unwrap_or_default(),
        )
    }

    /// `text` without any of them.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.0.redact(text).into_owned()
    }

    /// The arguments without any of them; none when there was nothing to replace.
    pub(crate) fn redact_all(&self, arguments: &[OsString]) -> Option<Vec<OsString>> {
        let redacted = arguments.iter().map(|argument| {
            let text = argument.to_string_lossy();
            OsString::from(self.redact(&text))
        });
        let redacted: Vec<_> = redacted.collect();
        (redacted != arguments).then_some(redacted)
    }
}

/// Keys and routing values as they are and as a quoted argument spells them.
fn guard(registry: &Registry) -> Option<Guard> {
    let routes = registry.routing_values().map(str::to_owned);
    let literals = registry.key_spellings().chain(routes);
    let quoted = |literal: String| [literal.escape_debug().to_string(), literal];
    Guard::new(literals.flat_map(quoted)).ok()
}
