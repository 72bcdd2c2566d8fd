//! Strings, words and numbers of JSON text, as the grammar has them.

use super::super::json::{ONES, zeros};

/// Behind the string that begins at `at`, and whether it has escapes.
pub(super) fn string_end(text: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let mut escapes = false;
    at += 1;
    loop {
        while let Some(eight) = text.get(at..).and_then(<[u8]>::first_chunk) {
            let word = u64::from_le_bytes(*eight);
            // With this bit turned, quotes follow control characters.
            let low = word ^ (ONES * 2);
            let low = low.wrapping_sub(ONES * 0x21) & !low & (ONES << 7);
            let found = low | zeros(word ^ (ONES * u64::from(b'\\')));
            if found != 0 {
                at += found.trailing_zeros() as usize / 8;
                break;
            }
            at += 8;
        }
        match text.get(at)? {
            b'"' => return Some((at + 1, escapes)),
            b'\\' => {
                escapes = true;
                at = escape_end(text, at)?;
            }
            ..0x20 => return None,
            _ => at += 1,
        }
    }
}

/// Behind the escape that begins at `at`.
fn escape_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at + 1)? {
        b'u' => {
            let digits = text.get(at + 2..at + 6)?;
            digits.iter().all(u8::is_ascii_hexdigit).then_some(at + 6)
        }
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 2),
        _ => None,
    }
}

/// Behind the word or the number that begins at `at`. What has to follow there is
/// for others to see.
pub(super) fn scalar_end(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let mut words = ["true", "false", "null"].iter();
    match words.find(|word| rest.starts_with(word.as_bytes())) {
        Some(word) => Some(at + word.len()),
        None => number_end(text, at),
    }
}

/// Behind the number that begins at `at`.
fn number_end(text: &[u8], at: usize) -> Option<usize> {
    let digits = |mut at: usize| {
        let begin = at;
        while text.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        (at > begin).then_some(at)
    };
    let begin = at + usize::from(text.get(at) == Some(&b'-'));
    let mut end = digits(begin)?;
    if end > begin + 1 && text.get(begin) == Some(&b'0') {
        return None;
    }
    if text.get(end) == Some(&b'.') {
        end = digits(end + 1)?;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let signed = matches!(text.get(end + 1), Some(b'+' | b'-'));
        end = digits(end + 1 + usize::from(signed))?;
    }
    Some(end)
}
