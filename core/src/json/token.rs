//! Single tokens: where they end, and whether they follow the grammar.

use super::error::{Reason, ScanError};
use super::text::{Escape, escape};

/// The byte at `at`; zero past the end, which no token may contain.
#[inline(always)]
pub(super) fn byte(text: &[u8], at: usize) -> u8 {
    match text.get(at) {
        Some(byte) => *byte,
        None => 0,
    }
}

/// The fault of a byte that fits nowhere, or of the end of the text.
#[cold]
pub(super) fn unexpected(text: &[u8], at: usize) -> ScanError {
    if at < text.len() {
        ScanError::new(at, Reason::UnexpectedByte)
    } else {
        ScanError::new(text.len(), Reason::UnexpectedEnd)
    }
}

/// Whether a byte is JSON whitespace.
#[inline(always)]
pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The first byte from `at` on that is no JSON whitespace.
pub(super) fn skip_space(text: &[u8], mut at: usize) -> usize {
    while is_space(byte(text, at)) {
        at += 1;
    }
    at
}

/// A string's end and what it holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct StringEnd {
    /// Where the closing quote stands.
    pub(super) quote: usize,
    pub(super) escaped: bool,
    pub(super) unpaired: bool,
}

/// Reads a string whose opening quote is just before `at`.
pub(super) fn string(text: &[u8], mut at: usize) -> Result<StringEnd, ScanError> {
    let mut end = StringEnd {
        quote: 0,
        escaped: false,
        unpaired: false,
    };
    loop {
        at = stop(text, at);
        match byte(text, at) {
            b'"' => {
                end.quote = at;
                return Ok(end);
            }
            b'\\' => {
                end.escaped = true;
                at = match escape(text, at)? {
                    Escape::Char { end, .. } => end,
                    Escape::Unpaired { end: after, .. } => {
                        end.unpaired = true;
                        after
                    }
                };
            }
            _ if at < text.len() => return Err(ScanError::new(at, Reason::ControlCharacter)),
            _ => return Err(ScanError::new(at, Reason::UnexpectedEnd)),
        }
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The first quote, backslash or control character from `at` on, or the end.
fn stop(text: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*chunk);
        let quote = word ^ (ONES * 0x22);
        let slash = word ^ (ONES * 0x5C);
        let found = (quote.wrapping_sub(ONES) & !quote)
            | (slash.wrapping_sub(ONES) & !slash)
            | (word.wrapping_sub(ONES * 0x20) & !word);
        let found = found & HIGHS;
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while at < text.len() && !matches!(byte(text, at), b'"' | b'\\' | 0..=0x1F) {
        at += 1;
    }
    at
}

/// Reads a number; `at` is its minus sign or first digit. Returns its end.
pub(super) fn number(text: &[u8], mut at: usize) -> Result<usize, ScanError> {
    if byte(text, at) == b'-' {
        at += 1;
    }
    match byte(text, at) {
        b'0' => at += 1,
        b'1'..=b'9' => at = digits(text, at),
        _ => return Err(bad_number(text, at)),
    }
    if byte(text, at).is_ascii_digit() {
        return Err(bad_number(text, at));
    }
    if byte(text, at) == b'.' {
        at = some_digits(text, at + 1)?;
    }
    if matches!(byte(text, at), b'e' | b'E') {
        at += 1;
        if matches!(byte(text, at), b'+' | b'-') {
            at += 1;
        }
        at = some_digits(text, at)?;
    }
    Ok(at)
}

fn digits(text: &[u8], mut at: usize) -> usize {
    while byte(text, at).is_ascii_digit() {
        at += 1;
    }
    at
}

fn some_digits(text: &[u8], at: usize) -> Result<usize, ScanError> {
    let end = digits(text, at);
    if end == at {
        return Err(bad_number(text, at));
    }
    Ok(end)
}

#[cold]
fn bad_number(text: &[u8], at: usize) -> ScanError {
    if at < text.len() {
        ScanError::new(at, Reason::InvalidNumber)
    } else {
        ScanError::new(text.len(), Reason::UnexpectedEnd)
    }
}

/// Reads `true`, `false` or `null`. Returns its end.
pub(super) fn literal(text: &[u8], at: usize, word: &[u8]) -> Result<usize, ScanError> {
    let found = text.get(at..).unwrap_or_default();
    if found.starts_with(word) {
        return Ok(at + word.len());
    }
    let same = found.iter().zip(word).take_while(|(a, b)| a == b).count();
    Err(unexpected(text, at + same))
}

/// The end of the value that starts at `at` of a text already scanned.
pub(super) fn skip(text: &[u8], mut at: usize) -> Result<usize, ScanError> {
    let mut depth = 0_usize;
    loop {
        match byte(text, at) {
            b'"' => at = string(text, at + 1)?.quote + 1,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            b't' => at = literal(text, at, b"true")?,
            b'f' => at = literal(text, at, b"false")?,
            b'n' => at = literal(text, at, b"null")?,
            b'-' | b'0'..=b'9' => at = number(text, at)?,
            b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            _ => return Err(unexpected(text, at)),
        }
        if depth == 0 {
            return Ok(at);
        }
    }
}
