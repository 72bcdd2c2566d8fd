//! Replacing literals in text that comes in pieces.

use super::decode::View;
use super::{Guard, Literals};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use core::{fmt, mem};

/// What stands in the place of a literal.
pub const REDACTED: &str = "[redacted]";

/// Bytes of the beginning of a literal that tell too much of it; the shortest
/// one has no more.
const TELLING_BYTES: usize = 8;

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

    /// What `source` says up to the byte `end` of its view, literals replaced.
    fn redact_view(&self, source: &str, view: &View, end: usize) -> String {
        let part = |from: usize, to: usize| source.get(from..to).unwrap_or_default();
        let mut out = String::new();
        let mut from = 0;
        for hit in self
            .plain
            .find_iter(view.text.get(..end).unwrap_or_default())
        {
            out.push_str(part(from, view.source(hit.start())));
            out.push_str(REDACTED);
            from = view.source(hit.end());
        }
        out.push_str(part(from, view.source(end)));
        out
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

    /// Ends a text that broke off and may have had more to say: as
    /// [`Redactor::finish`], but so much of the beginning of a literal as would
    /// tell it is replaced, too.
    #[must_use]
    pub fn break_off(&mut self) -> String {
        let mut text = self.finish();
        let tail = self
            .literals
            .as_ref()
            .map(|literals| literals.open_tail(&text));
        if let Some(tail) = tail
            && text.len() - tail >= TELLING_BYTES
        {
            text.truncate(tail);
            text.push_str(REDACTED);
        }
        text
    }
}

/// Replaces literals in JSON text that arrives in pieces, such as the arguments
/// of a call: as they are, and as JSON can spell them.
///
/// A model may write `\u002d` for a hyphen, and a host that shows the arguments
/// while they come would put the literal together. Where nothing is replaced the
/// text stays as it was written.
#[derive(Clone, Debug, Default)]
pub struct JsonRedactor {
    /// What may still become a literal in some spelling.
    held: String,
    plain: Redactor,
}

impl JsonRedactor {
    pub(super) const fn new(literals: Option<Arc<Literals>>) -> Self {
        Self {
            held: String::new(),
            plain: Redactor::new(literals),
        }
    }

    /// Takes the next piece and returns what may be shown now, possibly nothing.
    #[must_use]
    pub fn push(&mut self, piece: &str) -> String {
        let Some(literals) = &self.plain.literals else {
            return String::from(piece);
        };
        self.held.push_str(piece);
        let view = View::of(&self.held);
        let decided = literals.decided(&view.text);
        let ready = literals.redact_view(&self.held, &view, decided);
        self.held = self.held.split_off(view.source(decided));
        self.plain.push(&ready)
    }

    /// Ends the text: what was held back, literals replaced. The redactor is
    /// ready for another text afterwards.
    #[must_use]
    pub fn finish(&mut self) -> String {
        let held = mem::take(&mut self.held);
        let Some(literals) = &self.plain.literals else {
            return held;
        };
        let view = View::of(&held);
        let mut ready = literals.redact_view(&held, &view, view.text.len());
        // An escape that nothing completes.
        ready.push_str(held.get(view.source(view.text.len())..).unwrap_or_default());
        let mut safe = self.plain.push(&ready);
        safe.push_str(&self.plain.finish());
        safe
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
