//! Spelling rules of identifiers on the wire.

use core::ops::RangeInclusive;

/// UUID versions a prompt may have: all that RFC 4122 and its successor define (DEC-25).
pub(crate) const PROMPT_UUID_VERSIONS: RangeInclusive<u32> = 1..=8;

/// UUID versions an upload's `prompt_uuid` may have (WIRE-018).
pub(super) const IMPORT_UUID_VERSIONS: RangeInclusive<u32> = 1..=5;

/// Whether `text` is a UUID in its canonical form, either case, of one of
/// `versions` and of the RFC 4122 variant.
pub(crate) fn is_uuid(text: &str, versions: RangeInclusive<u32>) -> bool {
    text.len() == 36
        && text.chars().enumerate().all(|(at, c)| match at {
            8 | 13 | 18 | 23 => c == '-',
            14 => c.to_digit(16).is_some_and(|v| versions.contains(&v)),
            19 => matches!(c, '8' | '9' | 'a' | 'b' | 'A' | 'B'),
            _ => c.is_ascii_hexdigit(),
        })
}

/// Whether `text` is `prefix`, one letter or digit, then up to 62 of
/// letters, digits, `_` and `-` (WIRE-018).
pub(super) fn is_import_id(text: &str, prefix: &str) -> bool {
    let Some(name) = text.strip_prefix(prefix) else {
        return false;
    };
    (1..=63).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// Whether `text` is a SHA-256 in lower-case hexadecimal.
pub(super) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// The first `limit` characters of `text`.
pub(super) fn cut(text: &str, limit: usize) -> &str {
    text.char_indices()
        .nth(limit)
        .and_then(|(end, _)| text.get(..end))
        .unwrap_or(text)
}
