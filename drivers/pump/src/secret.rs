//! A value that no log, error or dump may show.

use std::fmt;
use std::sync::Arc;

/// A credential. `Debug` shows that there is one, never what it is; there is
/// no `Display`. Clones share the text. The memory is not wiped on drop: the
/// encoded request head holds a copy until it is written.
#[derive(Clone)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Guards `text`.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that sends it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(redacted)")
    }
}
