//! What can be wrong with a text that claims to be JSON.

use core::fmt;

/// The first fault found in a JSON text, and where it stands. It never holds
/// any of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanError {
    /// Byte offset of the fault, counted from 0. A text that ends too early
    /// has its fault at its length.
    pub at: usize,
    /// What is wrong there.
    pub reason: Reason,
}

impl ScanError {
    pub(super) const fn new(at: usize, reason: Reason) -> Self {
        Self { at, reason }
    }
}

impl fmt::Display for ScanError {
    /// Counts bytes from 1, as people do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.reason, self.at.saturating_add(1))
    }
}

impl core::error::Error for ScanError {}

/// Why a text is no JSON value that this project accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Nothing but whitespace.
    Empty,
    /// The text starts with U+FEFF (DEC-01).
    ByteOrderMark,
    /// Bytes that are not UTF-8 (DEC-04).
    InvalidUtf8,
    /// The text ends inside a value.
    UnexpectedEnd,
    /// A byte that cannot stand at this place.
    UnexpectedByte,
    /// Something other than whitespace after the value.
    TrailingData,
    /// A number outside the grammar: leading zero, plus sign, bare dot.
    InvalidNumber,
    /// A backslash followed by something that is no escape.
    InvalidEscape,
    /// A byte below 0x20 inside a string.
    ControlCharacter,
    /// Two members of one object have the same decoded name (WIRE-014, WIRE-021, DEC-03).
    DuplicateName,
    /// More open arrays and objects than the limit allows (DEC-06).
    TooDeep,
    /// Longer than positions can count, 4 GiB.
    TooLong,
}

impl Reason {
    /// The text shown to people; part of the wire's error result (DEC-10).
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "no JSON value",
            Self::ByteOrderMark => "byte order mark before the JSON value",
            Self::InvalidUtf8 => "invalid UTF-8",
            Self::UnexpectedEnd => "unexpected end of JSON",
            Self::UnexpectedByte => "unexpected character in JSON",
            Self::TrailingData => "unexpected data after the JSON value",
            Self::InvalidNumber => "invalid JSON number",
            Self::InvalidEscape => "invalid escape in a JSON string",
            Self::ControlCharacter => "unescaped control character in a JSON string",
            Self::DuplicateName => "ambiguous JSON: duplicate member name",
            Self::TooDeep => "JSON nested too deep",
            Self::TooLong => "JSON text too long",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A string holds half of a surrogate pair, so it has no text (DEC-04).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnpairedSurrogate;

impl fmt::Display for UnpairedSurrogate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unpaired surrogate escape in a JSON string")
    }
}

impl core::error::Error for UnpairedSurrogate {}
