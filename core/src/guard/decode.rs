//! Escapes, as our writer makes them and as others may.

use crate::json::{ScanLimits, Scanner, Writer};
use alloc::string::String;

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
