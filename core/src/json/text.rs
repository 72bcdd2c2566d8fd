//! The inside of JSON strings: escapes in, text out.

use super::error::{Reason, ScanError, UnpairedSurrogate};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec;
use core::fmt;

/// One string as it stands in a scanned text.
#[derive(Clone, Copy)]
pub struct Str<'a> {
    raw: &'a str,
    escaped: bool,
}

impl<'a> Str<'a> {
    /// `raw` must be the inside of a valid JSON string.
    pub(super) const fn new(raw: &'a str, escaped: bool) -> Self {
        Self { raw, escaped }
    }

    /// The text between the quotes, escapes as they came.
    #[must_use]
    #[inline]
    pub const fn raw(self) -> &'a str {
        self.raw
    }

    /// The text; borrowed when nothing was escaped.
    ///
    /// # Errors
    ///
    /// [`UnpairedSurrogate`] when an escape names half of a pair: such a
    /// string is valid grammar but has no text (DEC-04).
    pub fn decode(self) -> Result<Cow<'a, str>, UnpairedSurrogate> {
        if !self.escaped {
            return Ok(Cow::Borrowed(self.raw));
        }
        match unescaped(self.raw) {
            (text, false) => Ok(Cow::Owned(text)),
            (_, true) => Err(UnpairedSurrogate),
        }
    }

    /// The text with U+FFFD in the place of each unpaired surrogate.
    #[must_use]
    pub fn decode_lossy(self) -> Cow<'a, str> {
        if self.escaped {
            Cow::Owned(unescaped(self.raw).0)
        } else {
            Cow::Borrowed(self.raw)
        }
    }

    /// Whether an escape names half of a surrogate pair (DEC-04).
    #[must_use]
    pub fn has_unpaired_surrogate(self) -> bool {
        self.escaped && Pieces::new(self.raw).any(|piece| matches!(piece, Piece::Unpaired(_)))
    }

    /// The decoded bytes, an unpaired surrogate as its three bytes of
    /// generalised UTF-8, so that two names are the same exactly when their
    /// decoded forms are.
    pub(super) fn bytes(self) -> impl Iterator<Item = u8> + 'a {
        Pieces::new(self.raw).flat_map(PieceBytes::new)
    }

    fn eq_decoded(self, other: &str) -> bool {
        let mut rest = other;
        for piece in Pieces::new(self.raw) {
            let left = match piece {
                Piece::Plain(plain) => rest.strip_prefix(plain),
                Piece::Char(c) => rest.strip_prefix(c),
                Piece::Unpaired(_) => None,
            };
            match left {
                Some(left) => rest = left,
                None => return false,
            }
        }
        rest.is_empty()
    }

    /// Orders names by their decoded bytes.
    pub(super) fn cmp_decoded(self, other: Self) -> core::cmp::Ordering {
        if self.escaped || other.escaped {
            self.bytes().cmp(other.bytes())
        } else {
            self.raw.cmp(other.raw)
        }
    }
}

/// Compares the decoded text. Does not allocate.
impl PartialEq<str> for Str<'_> {
    #[inline]
    fn eq(&self, other: &str) -> bool {
        if !self.escaped {
            return self.raw == other;
        }
        self.eq_decoded(other)
    }
}

impl PartialEq<&str> for Str<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl fmt::Debug for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.raw)
    }
}

/// A JSON text with U+FFFD, as an escape, in the place of each unpaired
/// surrogate (DEC-04). No byte moves: both escapes take six.
///
/// `text` must be valid; backslashes stand in its strings only.
#[must_use]
pub fn without_unpaired(text: &str) -> String {
    let from = text.as_bytes();
    let (mut repaired, mut done) = (String::with_capacity(text.len()), 0);
    let mut at = memchr::memchr(b'\\', from);
    while let Some(start) = at {
        let next = match escape(from, start) {
            Ok(Escape::Char { end, .. }) => end,
            Ok(Escape::Unpaired { end, .. }) => {
                repaired.push_str(text.get(done..start).unwrap_or_default());
                repaired.push_str("\\ufffd");
                done = end;
                end
            }
            Err(_) => break,
        };
        let left = from.get(next..).unwrap_or_default();
        at = memchr::memchr(b'\\', left).map(|more| next + more);
    }
    repaired.push_str(text.get(done..).unwrap_or_default());
    repaired
}

/// How much is copied at once.
const STEP: usize = 16;

/// Takes the escapes out of the inside of a valid string. Tells whether there
/// were unpaired surrogates; each becomes U+FFFD.
///
/// Text is copied in steps of one size, whatever is in them, and the copy goes
/// on from the first backslash: cheaper than a search and a copy for each run.
fn unescaped(raw: &str) -> (String, bool) {
    let from = raw.as_bytes();
    // No escape is shorter than what it means; a step may write past the end.
    let mut text = vec![0; from.len() + STEP];
    let (mut read, mut written, mut unpaired) = (0, 0, false);
    while read < from.len() {
        let plain = copy_plain(from, read, &mut text, written);
        read += plain;
        written += plain;
        if from.get(read) != Some(&b'\\') {
            continue;
        }
        let (c, end) = match escape(from, read) {
            Ok(Escape::Char { c, end }) => (c, end),
            Ok(Escape::Unpaired { end, .. }) => {
                unpaired = true;
                (char::REPLACEMENT_CHARACTER, end)
            }
            Err(_) => break,
        };
        read = end;
        if c.is_ascii() {
            if let Some(to) = text.get_mut(written) {
                *to = c as u8;
            }
            written += 1;
        } else if let Some(to) = text.get_mut(written..written + 4) {
            written += c.encode_utf8(to).len();
        }
    }
    text.truncate(written);
    (String::from_utf8(text).unwrap_or_default(), unpaired)
}

/// Copies up to one step of what has no escape. Returns how much it was.
#[inline(always)]
fn copy_plain(from: &[u8], read: usize, text: &mut [u8], written: usize) -> usize {
    let rest = from.get(read..).unwrap_or_default();
    if let Some(step) = rest.first_chunk::<STEP>()
        && let Some(to) = text.get_mut(written..written + STEP)
    {
        to.copy_from_slice(step);
        return first_backslash(step);
    }
    let plain = rest.iter().take_while(|byte| **byte != b'\\');
    let room = text.get_mut(written..).unwrap_or_default();
    room.iter_mut()
        .zip(plain)
        .map(|(to, byte)| *to = *byte)
        .count()
}

/// Where the first backslash of a step is, or the length of the step.
#[inline(always)]
fn first_backslash(step: &[u8; STEP]) -> usize {
    const ONES: u128 = u128::MAX / 0xFF;
    const HIGHS: u128 = ONES << 7;
    let zeroed = u128::from_le_bytes(*step) ^ (ONES * b'\\' as u128);
    let found = zeroed.wrapping_sub(ONES) & !zeroed & HIGHS;
    (found.trailing_zeros() / 8) as usize
}

/// A decoded part of a string.
#[derive(Clone, Copy, Debug)]
enum Piece<'a> {
    Plain(&'a str),
    Char(char),
    Unpaired(u16),
}

/// Splits the inside of a valid string into plain runs and escapes.
struct Pieces<'a> {
    rest: &'a str,
}

impl<'a> Pieces<'a> {
    const fn new(rest: &'a str) -> Self {
        Self { rest }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let plain = memchr::memchr(b'\\', self.rest.as_bytes()).unwrap_or(self.rest.len());
        if plain > 0 {
            let (run, rest) = self.rest.split_at_checked(plain)?;
            self.rest = rest;
            return Some(Piece::Plain(run));
        }
        let (piece, used) = match escape(self.rest.as_bytes(), 0) {
            Ok(Escape::Char { c, end }) => (Piece::Char(c), end),
            Ok(Escape::Unpaired { unit, end }) => (Piece::Unpaired(unit), end),
            Err(_) => return None,
        };
        self.rest = self.rest.get(used..)?;
        Some(piece)
    }
}

/// The bytes of one piece.
struct PieceBytes<'a> {
    run: &'a [u8],
    short: [u8; 4],
    at: usize,
    len: usize,
}

impl<'a> PieceBytes<'a> {
    fn new(piece: Piece<'a>) -> Self {
        let mut short = [0; 4];
        let (run, len): (&[u8], usize) = match piece {
            Piece::Plain(run) => (run.as_bytes(), 0),
            Piece::Char(c) => (&[], c.encode_utf8(&mut short).len()),
            Piece::Unpaired(unit) => {
                let [high, low] = unit.to_be_bytes();
                short = [
                    0xE0 | (high >> 4),
                    0x80 | ((high & 0x0F) << 2) | (low >> 6),
                    0x80 | (low & 0x3F),
                    0,
                ];
                (&[], 3)
            }
        };
        Self {
            run,
            short,
            at: 0,
            len,
        }
    }
}

impl Iterator for PieceBytes<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        if let Some((first, rest)) = self.run.split_first() {
            self.run = rest;
            return Some(*first);
        }
        if self.at == self.len {
            return None;
        }
        let byte = self.short.get(self.at).copied();
        self.at += 1;
        byte
    }
}

/// What one escape means and where the text goes on after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escape {
    /// A character; a surrogate pair is one escape of twelve bytes.
    Char { c: char, end: usize },
    /// Half of a pair.
    Unpaired { unit: u16, end: usize },
}

/// Reads the escape whose backslash is at `at`.
pub(super) fn escape(text: &[u8], at: usize) -> Result<Escape, ScanError> {
    let Some(&kind) = text.get(at + 1) else {
        return Err(ScanError::new(text.len(), Reason::UnexpectedEnd));
    };
    let c = match kind {
        b'"' | b'\\' | b'/' => char::from(kind),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode_escape(text, at),
        _ => return Err(ScanError::new(at, Reason::InvalidEscape)),
    };
    Ok(Escape::Char { c, end: at + 2 })
}

fn unicode_escape(text: &[u8], at: usize) -> Result<Escape, ScanError> {
    let Some(unit) = hex_unit(text, at + 2) else {
        let reason = if text.len() < at + 6 && ends_in_hex(text, at + 2) {
            return Err(ScanError::new(text.len(), Reason::UnexpectedEnd));
        } else {
            Reason::InvalidEscape
        };
        return Err(ScanError::new(at, reason));
    };
    let end = at + 6;
    if let Some(c) = char::from_u32(u32::from(unit)) {
        return Ok(Escape::Char { c, end });
    }
    let second = match text.get(end..end + 2) {
        Some(b"\\u") => hex_unit(text, end + 2),
        _ => None,
    };
    if let (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) = (unit, second) {
        let code = 0x1_0000 + ((u32::from(unit) & 0x3FF) << 10) + (u32::from(low) & 0x3FF);
        if let Some(c) = char::from_u32(code) {
            return Ok(Escape::Char { c, end: end + 6 });
        }
    }
    Ok(Escape::Unpaired { unit, end })
}

/// The four hexadecimal digits at `at` as a UTF-16 code unit.
fn hex_unit(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..)?.first_chunk::<4>()?;
    let mut unit = 0;
    for digit in digits {
        unit = unit << 4 | u16::try_from(char::from(*digit).to_digit(16)?).ok()?;
    }
    Some(unit)
}

/// Whether all that is left is the start of four hexadecimal digits.
fn ends_in_hex(text: &[u8], at: usize) -> bool {
    text.get(at..)
        .is_some_and(|rest| rest.iter().all(u8::is_ascii_hexdigit))
}
