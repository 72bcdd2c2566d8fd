//! Replacing literals in text that comes in pieces.

use super::{Guard, Literals};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use core::{fmt, mem};

/// What stands in the place of a literal.
pub const REDACTED: &str = "[redacted]";

impl Literals {
    pub(super) fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.plain.is_match(text) {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        self.replace(text, &mut out);
        Cow::Owned(out)
    }

    /// Appends all of `text` to `out`, literals replaced.
    fn replace(&self, text: &str, out: &mut String) {
        self.plain.replace_all_with(text, out, |_, _, out| {
            out.push_str(REDACTED);
            true
        });
    }

    /// Where the longest tail starts that could grow into a literal; the length
    /// of `text` when there is none.
    fn open_tail(&self, text: &str) -> usize {
        let longest = self.raw.first().map_or(0, String::len);
        let earliest = (text.len() + 1).saturating_sub(longest);
        (earliest..text.len())
            .find(|&at| {
                let tail = text.as_bytes().get(at..).unwrap_or_default();
                let grows = |l: &String| l.len() > tail.len() && l.as_bytes().starts_with(tail);
                self.raw.iter().any(grows)
            })
            .unwrap_or(text.len())
    }

    /// Splits `text` where everything before is decided whatever follows: no
    /// literal that ends later can start in the first part.
    fn decided(&self, text: &str) -> usize {
        let mut from = 0;
        loop {
            let rest = text.get(from..).unwrap_or_default();
            let tail = self.open_tail(rest);
            match self.plain.find(rest) {
                Some(hit) if hit.start() < tail => from += hit.end(),
                _ => return from + tail,
            }
        }
    }
}

/// Replaces literals in a text that arrives in pieces, however it is cut.
///
/// A tail that is a proper prefix of a literal is held back until it is known
/// whether the literal completes (DEC-30). The pieces that come out, joined, are
/// what [`Guard::redact`] makes of the pieces that went in, joined.
#[derive(Clone, Default)]
pub struct Redactor {
    literals: Option<Arc<Literals>>,
    held: String,
}

impl Redactor {
    pub(super) const fn new(literals: Option<Arc<Literals>>) -> Self {
        Self {
            literals,
            held: String::new(),
        }
    }

    /// Takes the next piece and returns what may be shown now, possibly nothing.
    #[must_use]
    pub fn push(&mut self, piece: &str) -> String {
        let Some(literals) = &self.literals else {
            return String::from(piece);
        };
        self.held.push_str(piece);
        let decided = literals.decided(&self.held);
        let tail = self.held.split_off(decided);
        let ready = mem::replace(&mut self.held, tail);
        match literals.redact(&ready) {
            Cow::Borrowed(_) => ready,
            Cow::Owned(redacted) => redacted,
        }
    }

    /// Ends the text: what was held back, literals replaced. The redactor is
    /// ready for another text afterwards.
    #[must_use]
    pub fn finish(&mut self) -> String {
        let held = mem::take(&mut self.held);
        match &self.literals {
            Some(literals) => literals.redact(&held).into_owned(),
            None => held,
        }
    }
}

impl From<&Guard> for Redactor {
    fn from(guard: &Guard) -> Self {
        guard.redactor()
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} bytes held)", self.held.len())
    }
}
