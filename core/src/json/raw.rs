//! JSON kept as text.

use super::error::ScanError;
use super::scan::{ScanLimits, Scanner};
use super::value::{Value, inside};
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

/// One JSON value as canonical text: no whitespace outside strings, and inside
/// them U+2028 and U+2029 only escaped. All else stands as it came: order of
/// members, text of numbers, other escapes. Free of duplicate names.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson(Arc<str>);

impl RawJson {
    /// Reads one JSON value and makes its canonical text.
    ///
    /// # Errors
    ///
    /// The first fault and where it stands, see [`Scanner::scan`].
    pub fn parse(text: &str) -> Result<Self, ScanError> {
        Self::parse_bytes(text.as_bytes())
    }

    /// Reads one JSON value and makes its canonical text.
    ///
    /// # Errors
    ///
    /// The first fault and where it stands, see [`Scanner::scan`].
    pub fn parse_bytes(text: &[u8]) -> Result<Self, ScanError> {
        let limits = ScanLimits {
            node_depth: 0,
            ..ScanLimits::DEFAULT
        };
        Ok(Self::from_value(Scanner::new().scan(text, &limits)?))
    }

    /// The canonical text of a scanned value. One allocation when the text is
    /// canonical already.
    #[must_use]
    pub fn from_value(value: Value<'_>) -> Self {
        let raw = value.raw();
        let mut runs = Canonical::new(raw);
        match runs.next() {
            Some(first) if first.len() == raw.len() => Self(raw.into()),
            first => {
                let mut text = String::with_capacity(raw.len());
                first
                    .into_iter()
                    .chain(runs)
                    .for_each(|run| text.push_str(run));
                Self(text.into())
            }
        }
    }

    /// The text of a [`Writer`](super::Writer), which is canonical as it stands.
    ///
    /// # Errors
    ///
    /// When kept text inside it, nested into it, passes the depth limit.
    pub(crate) fn of_writer(text: &[u8]) -> Result<Self, ScanError> {
        let limits = ScanLimits {
            node_depth: 0,
            ..ScanLimits::DEFAULT
        };
        let mut scanner = Scanner::new();
        let value = scanner.scan(text, &limits)?;
        debug_assert_eq!(Canonical::new(value.raw()).next(), Some(value.raw()));
        Ok(Self(value.raw().into()))
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

    /// Whether a string or name in it has an escape for half of a surrogate pair
    /// (DEC-04).
    #[must_use]
    pub fn has_unpaired_surrogate(&self) -> bool {
        inside(&self.0).has_unpaired_surrogate()
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

/// The canonical text of a valid value, as runs of its text and of escapes.
pub(super) struct Canonical<'a> {
    rest: &'a str,
    inside: bool,
}

impl<'a> Canonical<'a> {
    pub(super) const fn new(valid: &'a str) -> Self {
        Self {
            rest: valid,
            inside: false,
        }
    }

    /// How many bytes from the start may be kept as they are.
    fn keep(&mut self) -> usize {
        let bytes = self.rest.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.inside {
                let left = bytes.get(at..).unwrap_or_default();
                let Some(stop) = memchr::memchr3(b'"', b'\\', 0xE2, left) else {
                    return bytes.len();
                };
                at += stop;
                match left.get(stop..) {
                    Some([0xE2, 0x80, 0xA8 | 0xA9, ..]) => return at,
                    Some([b'\\', ..]) => at += 2,
                    Some([b'"', ..]) => {
                        self.inside = false;
                        at += 1;
                    }
                    _ => at += 1,
                }
            } else {
                match byte {
                    b' ' | b'\t' | b'\n' | b'\r' => return at,
                    b'"' => self.inside = true,
                    _ => {}
                }
                at += 1;
            }
        }
        bytes.len()
    }
}

impl<'a> Iterator for Canonical<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if !self.inside {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
        }
        if self.rest.is_empty() {
            return None;
        }
        let kept = self.keep();
        if kept > 0 {
            let (run, rest) = self.rest.split_at_checked(kept)?;
            self.rest = rest;
            return Some(run);
        }
        let mut chars = self.rest.chars();
        let escape = match chars.next()? {
            '\u{2028}' => "\\u2028",
            _ => "\\u2029",
        };
        self.rest = chars.as_str();
        Some(escape)
    }
}
