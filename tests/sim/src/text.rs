//! Tapes as text, so that one can be kept, read in a change and replayed.
//!
//! ```text
//! # Two questions are open when the host interrupts.
//! # shows: WIRE-011
//! # commit: a43a6fc
//! 000301 ff 0*57 02
//! ```
//!
//! Lines that begin with `#` are for people; of them, `# shows:` names the
//! requirements that the tape is about. Everything else is bytes in hexadecimal,
//! two digits each, with blanks wherever they help; `0*57` is fifty-seven zeros.

use std::fmt;

/// Bytes that are written without a blank between them.
const WORD: usize = 4;

/// Characters of a line.
const WIDTH: usize = 100;

/// So many zeros in a row are counted instead of written.
const FEW: usize = 8;

/// Zeros that one count may stand for.
const ZEROS: usize = 65_536;

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
                let no_tape = |found: &[u8]| NoTape {
                    line,
                    found: String::from_utf8_lossy(found).into_owned(),
                };
                if let Some(count) = word.strip_prefix("0*") {
                    let count = count.parse().ok().filter(|count| *count <= ZEROS);
                    let count = count.ok_or_else(|| no_tape(word.as_bytes()))?;
                    bytes.extend(std::iter::repeat_n(0, count));
                    continue;
                }
                for pair in word.as_bytes().chunks(2) {
                    bytes.push(byte(pair).ok_or_else(|| no_tape(pair))?);
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
        let (mut at, mut column) = (0, 0);
        while at < self.bytes.len() {
            let rest = &self.bytes[at..];
            let zeros = rest.iter().take_while(|byte| **byte == 0).count();
            let zeros = zeros.min(ZEROS);
            let (word, taken) = if zeros >= FEW {
                (format!("0*{zeros}"), zeros)
            } else {
                let mut plain = rest.iter().take(WORD);
                // A word ends where many zeros begin.
                let end = (1..=WORD).find(|end| {
                    let behind = rest.iter().skip(*end).take(FEW);
                    behind.clone().count() == FEW && behind.clone().all(|byte| *byte == 0)
                });
                let taken = end.unwrap_or(WORD).min(rest.len());
                let digits = plain.by_ref().take(taken).map(|byte| format!("{byte:02x}"));
                (digits.collect(), taken)
            };
            let wraps = column + word.len() + 1 > WIDTH;
            let between = match column {
                0 => "",
                _ if wraps => "\n",
                _ => " ",
            };
            write!(f, "{between}{word}")?;
            column = if wraps { 0 } else { column } + word.len() + 1;
            at += taken;
        }
        if column > 0 {
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
        let mut long = vec![0; 70_000];
        long.splice(9..10, [1, 0, 0, 2]);
        let tape = TextTape {
            notes: Vec::new(),
            bytes: long,
        };
        let text = tape.to_string();
        assert!(text.starts_with("0*9 01000002 0*65536 0*"), "{text}");
        assert_eq!(TextTape::parse(&text), Ok(tape));
    }

    #[test]
    fn what_is_no_byte_is_told_with_its_line() {
        let refused = |text: &str| TextTape::parse(text).unwrap_err();
        assert_eq!(refused("00\n0g").line, 2);
        assert_eq!(refused("000").found, "0");
        assert_eq!(refused("0*99999999").found, "0*99999999");
        assert_eq!(TextTape::parse("").map(|tape| tape.bytes), Ok(Vec::new()));
    }
}
