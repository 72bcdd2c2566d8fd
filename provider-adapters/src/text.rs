//! Strings of a provider's JSON as exact text.

use agentx_core::json::{ScanLimits, Scanner, Str};

/// The text of one channel, such as the content of an answer.
///
/// Servers that cut text by UTF-16 units write the halves of a character
/// beyond U+FFFF as two escapes in two events. A first half at the end of a
/// piece is kept back until its second half comes.
#[derive(Debug, Default)]
pub(crate) struct Channel {
    /// The escape of a first half, as it stood.
    held: String,
}

impl Channel {
    /// The text that this piece adds; empty when all of it is kept back.
    pub(crate) fn add(&mut self, piece: Str<'_>) -> String {
        if self.held.is_empty()
            && let Ok(text) = piece.decode()
        {
            return text.into_owned();
        }
        let mut raw = std::mem::take(&mut self.held);
        raw.push_str(piece.raw());
        self.held = raw.split_off(before_first_half(&raw));
        decode(&raw)
    }

    /// What was kept back for ever: U+FFFD, or nothing.
    pub(crate) fn finish(&mut self) -> &'static str {
        if std::mem::take(&mut self.held).is_empty() {
            ""
        } else {
            "\u{FFFD}"
        }
    }
}

/// Where an escape of a first half begins that ends the string, else its end.
fn before_first_half(raw: &str) -> usize {
    const ESCAPE: usize = r"\uD800".len();
    let Some((head, tail)) = raw
        .len()
        .checked_sub(ESCAPE)
        .and_then(|at| raw.split_at_checked(at))
    else {
        return raw.len();
    };
    let first_half = matches!(
        tail.as_bytes(),
        [
            b'\\',
            b'u',
            b'd' | b'D',
            b'8' | b'9' | b'a' | b'b' | b'A' | b'B',
            ..
        ]
    );
    let backslashes = head.bytes().rev().take_while(|b| *b == b'\\').count();
    if first_half && backslashes % 2 == 0 {
        head.len()
    } else {
        raw.len()
    }
}

/// Decodes the inside of a JSON string, halves that stand alone as U+FFFD.
fn decode(raw: &str) -> String {
    let quoted = format!("\"{raw}\"");
    let mut scanner = Scanner::new();
    let value = scanner.scan(quoted.as_bytes(), &ScanLimits::DEFAULT).ok();
    value
        .and_then(|value| value.as_str())
        .map(|text| text.decode_lossy().into_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(pieces: &[&str]) -> Vec<String> {
        let mut channel = Channel::default();
        let mut out: Vec<String> = pieces
            .iter()
            .map(|piece| {
                let quoted = format!("\"{piece}\"");
                let mut scanner = Scanner::new();
                let value = scanner
                    .scan(quoted.as_bytes(), &ScanLimits::DEFAULT)
                    .unwrap();
                channel.add(value.as_str().unwrap())
            })
            .collect();
        out.push(channel.finish().to_owned());
        out
    }

    #[test]
    fn halves_of_a_character_in_two_pieces_are_joined() {
        assert_eq!(join(&[r"a\ud83d", r"\uDE80b"]), ["a", "🚀b", ""]);
        assert_eq!(
            join(&[r"\ud83d", "", r"\ude80\ud83d", r"\ude80"]),
            ["", "", "🚀", "🚀", ""]
        );
        assert_eq!(join(&[r"\ud83d\ude80"]), ["🚀", ""]);
    }

    #[test]
    fn halves_that_stand_alone_are_replaced() {
        assert_eq!(join(&[r"a\ud83d", "b"]), ["a", "\u{FFFD}b", ""]);
        assert_eq!(join(&[r"\ude80"]), ["\u{FFFD}", ""]);
        assert_eq!(join(&[r"a\ud83d"]), ["a", "\u{FFFD}"]);
    }

    #[test]
    fn what_only_looks_like_an_escape_is_not_kept_back() {
        assert_eq!(join(&[r"\\ud83d"]), [r"\ud83d", ""]);
        assert_eq!(
            join(&[r"\ude80\\\ud83d", r"\ude80"]),
            ["\u{FFFD}\\", "🚀", ""]
        );
        assert_eq!(join(&[r"\ude80é12345"]), ["\u{FFFD}é12345", ""]);
    }
}
