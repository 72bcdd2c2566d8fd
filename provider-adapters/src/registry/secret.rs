//! A value that must not be seen.

use std::fmt;

/// An API key. `Debug` does not show it and there is no `Display`.
#[derive(Clone)]
pub struct Secret(Box<str>);

impl Secret {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The key, for the header of a request and for the guard only.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret([redacted])")
    }
}
