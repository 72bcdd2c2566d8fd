//! Tapes as text, so that one can be kept, read in a change and replayed.
//!
//! ```text
//! # Two questions are open when the host interrupts.
//! # shows: WIRE-011
//! # commit: a43a6fc
//! 000301 ff 00
//! ```
//!
//! Lines that begin with `#` are for people; of them, `# shows:` names the
//! requirements that the tape is about. Everything else is bytes in hexadecimal,
//! two digits each, with blanks wherever they help.

use std::fmt;

/// Bytes on one line of text.
const BYTES: usize = 32;

/// A tape with what people are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextTape {
    /// Lines for people, without their `#`.
    pub notes: Vec<String>,
    /// The tape.
    pub bytes: Vec<u8>,
}

/// Why a text is no tape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoTape {
    /// The line, counted from 1.
    pub line: usize,
    /// What stands there instead of two hexadecimal digits.
    pub found: String,
}

impl fmt::Display for NoTape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, found } = self;
        write!(
            f,
            "line {line}: {found:?} is no byte of two hexadecimal digits"
        )
    }
}

impl std::error::Error for NoTape {}

impl TextTape {
    /// Reads a text.
    ///
    /// # Errors
    ///
    /// Where it is neither a note nor bytes.
    pub fn parse(text: &str) -> Result<Self, NoTape> {
        let (mut notes, mut bytes) = (Vec::new(), Vec::new());
        for (line, text) in (1..).zip(text.lines()) {
            if let Some(note) = text.trim_start().strip_prefix('#') {
                notes.push(note.trim().to_string());
                continue;
            }
            for word in text.split_whitespace() {
                for pair in word.as_bytes().chunks(2) {
                    bytes.push(byte(pair).ok_or_else(|| NoTape {
                        line,
                        found: String::from_utf8_lossy(pair).into_owned(),
                    })?);
                }
            }
        }
        Ok(Self { notes, bytes })
    }

    /// The requirements that the notes name.
    #[must_use]
    pub fn shows(&self) -> Vec<&str> {
        let named = self
            .notes
            .iter()
            .filter_map(|note| note.strip_prefix("shows:"));
        named
            .flat_map(|ids| ids.split([',', ' ']))
            .filter(|id| !id.is_empty())
            .collect()
    }
}

impl fmt::Display for TextTape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for note in &self.notes {
            writeln!(f, "# {note}")?;
        }
        for line in self.bytes.chunks(BYTES) {
            for (place, byte) in line.iter().enumerate() {
                let blank = if place > 0 && place % 4 == 0 { " " } else { "" };
                write!(f, "{blank}{byte:02x}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

fn byte(pair: &[u8]) -> Option<u8> {
    let digit = |digit: &u8| char::from(*digit).to_digit(16);
    let [high, low] = pair else { return None };
    u8::try_from(digit(high)? << 4 | digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tape_is_read_as_it_was_written() {
        let tape = TextTape {
            notes: vec!["What it is.".into(), "shows: WIRE-010, WIRE-011".into()],
            bytes: (0..=255).collect(),
        };
        let text = tape.to_string();
        assert_eq!(TextTape::parse(&text), Ok(tape.clone()));
        assert_eq!(tape.shows(), ["WIRE-010", "WIRE-011"]);
        assert!(text.starts_with("# What it is.\n# shows"));
    }

    #[test]
    fn what_is_no_byte_is_told_with_its_line() {
        let refused = |text: &str| TextTape::parse(text).unwrap_err();
        assert_eq!(refused("00\n0g").line, 2);
        assert_eq!(refused("000").found, "0");
        assert_eq!(TextTape::parse("").map(|tape| tape.bytes), Ok(Vec::new()));
    }
}
