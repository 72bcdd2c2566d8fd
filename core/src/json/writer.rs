//! The writer of compact records.

use super::raw::{Canonical, RawJson};
use super::value::Value;
use alloc::vec::Vec;

/// Appends compact JSON to a buffer. Commas come by themselves; the caller
/// says what is opened, named and closed, in the order of the record.
///
/// Strings are escaped in one way only: `\"`, `\\`, `\n`, `\r`, `\t`, `\b`,
/// `\f`, other control characters and U+2028, U+2029 as `\u` and four small
/// hexadecimal digits, everything else as it is. So a text stands in a record
/// either verbatim or in this one escaped form (WIRE-013).
#[derive(Debug, Default)]
pub struct Writer {
    out: Vec<u8>,
    /// A value has ended at this level, so the next needs a comma.
    comma: bool,
    depth: u32,
}

impl Writer {
    /// A writer with an empty buffer.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            out: Vec::new(),
            comma: false,
            depth: 0,
        }
    }

    /// A writer that reuses the memory of `buffer`; what it held is dropped.
    #[must_use]
    pub fn with_buffer(mut buffer: Vec<u8>) -> Self {
        buffer.clear();
        Self {
            out: buffer,
            ..Self::new()
        }
    }

    /// Opens an object.
    pub fn begin_object(&mut self) {
        self.begin(b'{');
    }

    /// Closes the innermost object.
    pub fn end_object(&mut self) {
        self.end(b'}');
    }

    /// Opens an array.
    pub fn begin_array(&mut self) {
        self.begin(b'[');
    }

    /// Closes the innermost array.
    pub fn end_array(&mut self) {
        self.end(b']');
    }

    /// Names the member whose value comes next.
    pub fn key(&mut self, name: &str) {
        self.string(name);
        self.out.push(b':');
        self.comma = false;
    }

    /// Names the member whose value comes next; `spelled` is how that stands
    /// behind another member: `,"name":`. For declared names, which are known
    /// when this is compiled and need no escape.
    #[inline]
    pub(crate) fn named(&mut self, spelled: &'static str) {
        let first = usize::from(!self.comma);
        let text = spelled.as_bytes().get(first..).unwrap_or_default();
        self.out.extend_from_slice(text);
        self.comma = false;
    }

    /// A declared member that always has the same value: `,"name":value`.
    #[inline]
    pub(crate) fn constant(&mut self, spelled: &'static str) {
        self.named(spelled);
        self.comma = true;
    }

    /// A string.
    pub fn string(&mut self, text: &str) {
        self.separate();
        self.out.push(b'"');
        escape_into(&mut self.out, text);
        self.out.push(b'"');
    }

    /// A whole number.
    pub fn u64(&mut self, number: u64) {
        self.separate();
        let mut digits = [0_u8; 20];
        let mut left = number;
        let mut used = 0;
        for slot in digits.iter_mut().rev() {
            *slot = b'0' + u8::try_from(left % 10).unwrap_or(0);
            left /= 10;
            used += 1;
            if left == 0 {
                break;
            }
        }
        let text = digits
            .len()
            .checked_sub(used)
            .and_then(|at| digits.get(at..));
        self.out.extend_from_slice(text.unwrap_or_default());
    }

    /// A whole number with a sign.
    pub fn i64(&mut self, number: i64) {
        if number < 0 {
            self.separate();
            self.out.push(b'-');
            self.comma = false;
        }
        self.u64(number.unsigned_abs());
    }

    /// `true` or `false`.
    pub fn bool(&mut self, value: bool) {
        self.word(if value { b"true" } else { b"false" });
    }

    /// `null`.
    pub fn null(&mut self) {
        self.word(b"null");
    }

    /// A value that was kept as text.
    pub fn raw(&mut self, value: &RawJson) {
        self.word(value.as_str().as_bytes());
    }

    /// A scanned value, in the form [`RawJson`] would give it.
    pub fn value(&mut self, value: Value<'_>) {
        self.separate();
        for run in Canonical::new(value.raw()) {
            self.out.extend_from_slice(run.as_bytes());
        }
    }

    /// A number given as its exact text, which must follow the JSON grammar.
    pub fn number_text(&mut self, number: &str) {
        self.word(number.as_bytes());
    }

    /// A string member.
    pub fn member_str(&mut self, name: &str, text: &str) {
        self.key(name);
        self.string(text);
    }

    /// A string member that is left out when there is no text.
    pub fn member_opt_str(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.member_str(name, text);
        }
    }

    /// A string member that is `null` when there is no text.
    pub fn member_nullable_str(&mut self, name: &str, text: Option<&str>) {
        match text {
            Some(text) => self.member_str(name, text),
            None => self.member_null(name),
        }
    }

    /// A whole number member.
    pub fn member_u64(&mut self, name: &str, number: u64) {
        self.key(name);
        self.u64(number);
    }

    /// A whole number member that is left out when there is no number.
    pub fn member_opt_u64(&mut self, name: &str, number: Option<u64>) {
        if let Some(number) = number {
            self.member_u64(name, number);
        }
    }

    /// A whole number member with a sign.
    pub fn member_i64(&mut self, name: &str, number: i64) {
        self.key(name);
        self.i64(number);
    }

    /// A `true` or `false` member.
    pub fn member_bool(&mut self, name: &str, value: bool) {
        self.key(name);
        self.bool(value);
    }

    /// A `true` or `false` member that is left out when there is no value.
    pub fn member_opt_bool(&mut self, name: &str, value: Option<bool>) {
        if let Some(value) = value {
            self.member_bool(name, value);
        }
    }

    /// A `null` member.
    pub fn member_null(&mut self, name: &str) {
        self.key(name);
        self.null();
    }

    /// A member that was kept as text.
    pub fn member_raw(&mut self, name: &str, value: &RawJson) {
        self.key(name);
        self.raw(value);
    }

    /// A member that was kept as text, left out when there is none.
    pub fn member_opt_raw(&mut self, name: &str, value: Option<&RawJson>) {
        if let Some(value) = value {
            self.member_raw(name, value);
        }
    }

    /// A member with a scanned value.
    pub fn member_value(&mut self, name: &str, value: Value<'_>) {
        self.key(name);
        self.value(value);
    }

    /// A number member given as its exact text, see [`Writer::number_text`].
    pub fn member_number_text(&mut self, name: &str, number: &str) {
        self.key(name);
        self.number_text(number);
    }

    /// What is written so far.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.out
    }

    /// The finished text. All that was opened must be closed.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        debug_assert_eq!(self.depth, 0, "an array or object is still open");
        self.out
    }

    fn begin(&mut self, bracket: u8) {
        self.separate();
        self.out.push(bracket);
        self.comma = false;
        self.depth = self.depth.saturating_add(1);
    }

    fn end(&mut self, bracket: u8) {
        debug_assert!(self.depth > 0, "nothing is open");
        self.out.push(bracket);
        self.comma = true;
        self.depth = self.depth.saturating_sub(1);
    }

    fn word(&mut self, text: &[u8]) {
        self.separate();
        self.out.extend_from_slice(text);
    }

    fn separate(&mut self) {
        if self.comma {
            self.out.push(b',');
        }
        self.comma = true;
    }
}

/// Appends the inside of a string.
pub(super) fn escape_into(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    out.reserve(rest.len() + 2);
    loop {
        let plain = first_special(rest);
        let (run, after) = rest.split_at_checked(plain).unwrap_or((rest, &[]));
        out.extend_from_slice(run);
        let used = match after {
            [] => return,
            [0xE2, 0x80, last @ (0xA8 | 0xA9), ..] => {
                out.extend_from_slice(if *last == 0xA8 {
                    b"\\u2028"
                } else {
                    b"\\u2029"
                });
                3
            }
            [0xE2, ..] => {
                out.push(0xE2);
                1
            }
            [byte, ..] => {
                escape_byte(out, *byte);
                1
            }
        };
        rest = after.get(used..).unwrap_or_default();
    }
}

/// Bytes that a character takes inside a string of ours.
#[must_use]
pub const fn escaped_len(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' | '\u{2028}' | '\u{2029}' => 6,
        _ => c.len_utf8(),
    }
}

/// Bytes that a text takes inside a string of ours.
#[must_use]
pub fn escaped_bytes(text: &str) -> usize {
    text.chars().map(escaped_len).sum()
}

/// Where the first byte is that needs a closer look: quote, backslash, control,
/// or the first of U+2028 and U+2029. The length of the text if there is none.
#[inline]
fn first_special(text: &[u8]) -> usize {
    const STEP: usize = size_of::<u64>();
    const ONES: u64 = u64::MAX / 0xFF;
    const HIGHS: u64 = ONES << 7;
    // Sets the high bit of each zero byte, and maybe of bytes above it.
    const fn zeros(word: u64) -> u64 {
        word.wrapping_sub(ONES) & !word
    }
    let (words, rest) = text.as_chunks::<STEP>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = zeros(word ^ (ONES * 0x22))
            | zeros(word ^ (ONES * 0x5C))
            | zeros(word ^ (ONES * 0xE2))
            | (word.wrapping_sub(ONES * 0x20) & !word);
        let found = found & HIGHS;
        if found != 0 {
            return index * STEP + (found.trailing_zeros() / 8) as usize;
        }
    }
    let special = |byte: &u8| matches!(byte, 0..=0x1F | b'"' | b'\\' | 0xE2);
    words.len() * STEP + rest.iter().position(special).unwrap_or(rest.len())
}

fn escape_byte(out: &mut Vec<u8>, byte: u8) {
    let short: &[u8] = match byte {
        b'"' => b"\\\"",
        b'\\' => b"\\\\",
        b'\n' => b"\\n",
        b'\r' => b"\\r",
        b'\t' => b"\\t",
        0x08 => b"\\b",
        0x0C => b"\\f",
        _ => {
            let digit = |nibble: u8| b"0123456789abcdef".get(usize::from(nibble)).copied();
            out.extend_from_slice(b"\\u00");
            out.extend(digit(byte >> 4));
            out.extend(digit(byte & 0x0F));
            return;
        }
    };
    out.extend_from_slice(short);
}
