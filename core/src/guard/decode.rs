//! Escapes, as our writer makes them and as others may.

use crate::json::{ScanLimits, Scanner, Writer};
use alloc::string::String;
use alloc::vec::Vec;

/// A text as a reader of JSON would take it, and where it came from.
#[derive(Debug, Default)]
pub(super) struct View {
    /// The text without its escapes.
    pub(super) text: String,
    /// Where each byte of `text` began in the source; last, where the view ends.
    from: Vec<usize>,
}

impl View {
    /// Reads every escape of `source`, wherever it stands: a line that is no
    /// JSON, or a piece of one, has no strings to tell. What is no escape stands
    /// for itself. An escape that the end of `source` cuts is left out.
    pub(super) fn of(source: &str) -> Self {
        let mut view = Self::default();
        let mut at = 0;
        while let Some(rest) = source.get(at..)
            && let Some(first) = rest.chars().next()
        {
            let (character, length) = if first == '\\' {
                match escape(rest.as_bytes()) {
                    Some(read) => read,
                    None => break,
                }
            } else {
                (first, first.len_utf8())
            };
            view.text.push(character);
            view.from.resize(view.text.len(), at);
            at += length;
        }
        view.from.push(at);
        view
    }

    /// Where in the source the byte at `at` of the view began.
    pub(super) fn source(&self, at: usize) -> usize {
        let end = self.from.last().copied().unwrap_or_default();
        self.from.get(at).copied().unwrap_or(end)
    }
}

/// The character of the escape at the start of `bytes` and its length; `None`
/// where more bytes have to tell. Halves of a character become U+FFFD each: no
/// credential holds one.
fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    let simple = |character| Some((character, 2));
    match bytes.get(1)? {
        b'"' => simple('"'),
        b'/' => simple('/'),
        b'b' => simple('\u{8}'),
        b'f' => simple('\u{c}'),
        b'n' => simple('\n'),
        b'r' => simple('\r'),
        b't' => simple('\t'),
        b'\\' => simple('\\'),
        b'u' => {
            let digits = bytes.get(2..).unwrap_or_default();
            let digits = digits.get(..4).unwrap_or(digits);
            if !digits.iter().all(u8::is_ascii_hexdigit) {
                return Some(('\\', 1));
            }
            let [_, _, _, _] = digits else { return None };
            let digit = |d: &u8| char::from(*d).to_digit(16).unwrap_or_default();
            let code = digits.iter().fold(0, |code, d| code * 16 + digit(d));
            Some((
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                6,
            ))
        }
        _ => Some(('\\', 1)),
    }
}

/// `literal` as our writer spells it inside a string.
pub(super) fn escaped(literal: &str) -> String {
    let mut writer = Writer::new();
    writer.string(literal);
    let quoted = String::from_utf8(writer.finish()).unwrap_or_default();
    let inside = quoted
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inside.unwrap_or(literal).into()
}

/// Shows `see` the decoded text of every string in `record` that holds an
/// escape our writer would not have made: of `\u....` and `\/` there are others.
/// All other escapes say one thing in one way.
pub(super) fn foreign_strings(record: &[u8], mut see: impl FnMut(&str)) {
    // Most records have none, and a search for backslashes is all they cost.
    if !is_foreign(record) {
        return;
    }
    let mut scanner = Scanner::new();
    let mut at = 0;
    while let Some(quoted) = next_string(record, &mut at) {
        if !is_foreign(quoted) {
            continue;
        }
        if let Ok(value) = scanner.scan(quoted, &ScanLimits::DEFAULT)
            && let Some(text) = value.as_str()
        {
            see(&text.decode_lossy());
        }
    }
}

/// The next string from `at` on, with its quotes; moves `at` past it.
fn next_string<'r>(record: &'r [u8], at: &mut usize) -> Option<&'r [u8]> {
    let start = *at + memchr::memchr(b'"', record.get(*at..)?)?;
    let mut end = start + 1;
    loop {
        end += memchr::memchr2(b'"', b'\\', record.get(end..)?)?;
        if record.get(end) == Some(&b'"') {
            *at = end + 1;
            return record.get(start..*at);
        }
        end += 2;
    }
}

/// Whether the four digits after a `\u` are those that our writer would take
/// for the character: of controls without a short escape, and of the two
/// separators.
const fn is_ours(digits: &[u8]) -> bool {
    match digits {
        [b'0', b'0', b'0', b'8' | b'9' | b'a' | b'c' | b'd', ..] => false,
        [b'0', b'0', b'0' | b'1', b'0'..=b'9' | b'a'..=b'f', ..]
        | [b'2', b'0', b'2', b'8' | b'9', ..] => true,
        _ => false,
    }
}

fn is_foreign(quoted: &[u8]) -> bool {
    let mut rest = quoted;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        match rest.get(at + 1) {
            Some(b'/') => return true,
            Some(b'u') if !is_ours(rest.get(at + 2..).unwrap_or_default()) => return true,
            _ => rest = rest.get(at + 2..).unwrap_or_default(),
        }
    }
    false
}
