//! Credential literals that must never leave the process (WIRE-013, DEC-30).
//!
//! Two nets. A [`Redactor`] replaces literals in text of providers and tools
//! before a record is built from it. A [`Guard`] looks at the final bytes of
//! every record before the first of them is written; when it finds a literal,
//! the record stays here and the writer latches. The guard is the last line,
//! so it looks at what a reader would see, not at how we meant to write it.

mod decode;
mod redact;
#[cfg(test)]
mod tests;

pub use redact::{JsonRedactor, REDACTED, Redactor};

use aho_corasick::{AhoCorasick, MatchKind};
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use memchr::memmem::Finder;

/// An immutable set of credential literals. Cloning shares it.
///
/// A guard without literals checks nothing and changes no byte.
#[derive(Clone, Default)]
pub struct Guard(Option<Arc<Literals>>);

/// What a guard with literals holds.
struct Literals {
    /// The literals, longest first, so that a prefix test meets the longest one first.
    raw: Vec<String>,
    /// Every literal as it is and as our writer escapes it inside a string.
    written: Written,
    /// Every literal as it is; finds the leftmost, then the longest.
    plain: AhoCorasick,
}

/// So many patterns are looked for one after another. A search for one of them reads
/// a record by vectors, and is quicker than one for all of them at once.
const FEW: usize = 4;

/// Looks for patterns in the bytes of records.
enum Written {
    Few(Vec<Finder<'static>>),
    Many(AhoCorasick),
}

impl Written {
    fn of(patterns: &[String]) -> Result<Self, TooManyLiterals> {
        if patterns.len() <= FEW {
            let finder = |pattern: &String| Finder::new(pattern).into_owned();
            return Ok(Self::Few(patterns.iter().map(finder).collect()));
        }
        // Of the kinds of matches only the leftmost ones have a search by vectors.
        AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .build(patterns)
            .map(Self::Many)
            .map_err(|_| TooManyLiterals)
    }

    fn is_match(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Few(finders) => finders.iter().any(|finder| finder.find(bytes).is_some()),
            Self::Many(all) => all.is_match(bytes),
        }
    }
}

/// A record would have carried a credential. Says nothing about which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leak;

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record was withheld: it contained credential material")
    }
}

impl core::error::Error for Leak {}

/// The literals are too many or too large to be searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyLiterals;

impl fmt::Display for TooManyLiterals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the credential literals exceed what the guard can hold")
    }
}

impl core::error::Error for TooManyLiterals {}

impl Guard {
    /// A guard without literals.
    pub const NONE: Self = Self(None);

    /// A guard over `literals`; empty ones are left out.
    ///
    /// # Errors
    ///
    /// [`TooManyLiterals`] when the search automaton cannot be built. The caller
    /// must not go on without a guard then.
    pub fn new<I>(literals: I) -> Result<Self, TooManyLiterals>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let mut raw: Vec<String> = literals
            .into_iter()
            .map(|literal| literal.as_ref().to_string())
            .filter(|literal| !literal.is_empty())
            .collect();
        raw.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        raw.dedup();
        if raw.is_empty() {
            return Ok(Self(None));
        }
        let mut written = raw.clone();
        written.extend(raw.iter().map(|literal| decode::escaped(literal)));
        written.sort_unstable();
        written.dedup();
        let written = Written::of(&written);
        let plain = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&raw);
        let written = written?;
        let plain = plain.map_err(|_| TooManyLiterals)?;
        Ok(Self(Some(Arc::new(Literals {
            raw,
            written,
            plain,
        }))))
    }

    /// Whether there is nothing to look for.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Judges the exact bytes that would be written, separators and the final
    /// newline included. Finds a literal in the bytes as they stand, across
    /// members and the line end too, and in every string as a reader would
    /// decode it, repeated members included (WIRE-013).
    ///
    /// # Errors
    ///
    /// [`Leak`] when a literal was found; not a byte may be written then.
    pub fn check(&self, bytes: &[u8]) -> Result<(), Leak> {
        let Some(literals) = &self.0 else {
            return Ok(());
        };
        if literals.written.is_match(bytes) {
            return Err(Leak);
        }
        // Escapes our writer makes itself are among the patterns; only strings
        // with a spelling it would not choose have to be decoded.
        let mut found = false;
        decode::foreign_strings(bytes, |text| found |= literals.plain.is_match(text));
        if found { Err(Leak) } else { Ok(()) }
    }

    /// Whether `text` holds a literal, as it is or with escapes of JSON, wherever
    /// in it they stand. For text that need not be JSON.
    #[must_use]
    pub fn is_spelled_in(&self, text: &str) -> bool {
        let Some(literals) = &self.0 else {
            return false;
        };
        literals.plain.is_match(text) || literals.plain.is_match(&decode::View::of(text).text)
    }

    /// `text` with every literal replaced by [`REDACTED`], leftmost and longest first.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.0 {
            Some(literals) => literals.redact(text),
            None => Cow::Borrowed(text),
        }
    }

    /// A redactor for one stream of text.
    #[must_use]
    pub fn redactor(&self) -> Redactor {
        Redactor::new(self.0.clone())
    }

    /// A redactor for one stream of JSON text.
    #[must_use]
    pub fn json_redactor(&self) -> JsonRedactor {
        JsonRedactor::new(self.0.clone())
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.as_ref().map_or(0, |literals| literals.raw.len());
        write!(f, "Guard({count} literals)")
    }
}
