//! The stderr of an agent: line by line to whoever wants it, the last lines kept.

use crate::contain::contained;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lines that are kept.
pub const STDERR_LINES: usize = 64;

/// Bytes of one line that are kept and told; what is longer is cut there.
pub const STDERR_LINE_BYTES: usize = 4_096;

/// Takes each line, without its newline.
pub(super) type Told = Box<dyn FnMut(&str) + Send>;

/// The last lines; clones share them.
#[derive(Clone, Default)]
pub(super) struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    pub(super) fn lines(&self) -> Arc<[String]> {
        self.lock().iter().cloned().collect()
    }

    fn keep(&self, line: String) {
        let mut lines = self.lock();
        if lines.len() >= STDERR_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads `errors` to its end. A listener that panics hears no more.
    pub(super) fn follow(&self, errors: impl Read, mut told: Option<Told>) {
        let mut errors = BufReader::new(errors);
        while let Ok(Some(line)) = line(&mut errors) {
            let heard = told
                .as_mut()
                .map(|told| contained(|| told(&line)).is_some());
            if heard == Some(false) {
                // Dropping it may panic as well.
                contained(|| told = None);
            }
            self.keep(line);
        }
    }
}

/// The next line up to its limit; the rest of a longer one is read and dropped.
fn line(errors: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let mut begun = false;
    loop {
        let piece = match errors.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            piece => piece?,
        };
        if piece.is_empty() {
            return Ok(begun.then(|| text(&line)));
        }
        begun = true;
        let end = memchr::memchr(b'\n', piece);
        let taken = piece.get(..end.unwrap_or(piece.len())).unwrap_or_default();
        let room = STDERR_LINE_BYTES.saturating_sub(line.len());
        line.extend_from_slice(taken.get(..room).unwrap_or(taken));
        let read = taken.len() + usize::from(end.is_some());
        errors.consume(read);
        if end.is_some() {
            return Ok(Some(text(&line)));
        }
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn lines_are_told_and_the_last_ones_kept() {
        let tail = Tail::default();
        let (heard, lines) = channel();
        let told = move |line: &str| heard.send(line.to_owned()).unwrap();
        let text = (0..100)
            .map(|n| format!("line {n}\r\n"))
            .collect::<String>();
        tail.follow(format!("{text}the end").as_bytes(), Some(Box::new(told)));
        assert_eq!(lines.iter().count(), 101);
        let kept = tail.lines();
        assert_eq!(kept.len(), STDERR_LINES);
        assert_eq!(kept.first().map(String::as_str), Some("line 37"));
        assert_eq!(kept.last().map(String::as_str), Some("the end"));
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_one_whole() {
        let tail = Tail::default();
        let long = "x".repeat(3 * STDERR_LINE_BYTES);
        tail.follow(format!("{long}\n\nshort\n").as_bytes(), None);
        let cut = &long[..STDERR_LINE_BYTES];
        assert_eq!(*tail.lines(), [cut, "", "short"]);
    }

    // covers: WIRE-015
    #[test]
    fn a_listener_that_panics_is_not_called_again_and_the_reading_goes_on() {
        let tail = Tail::default();
        let (heard, lines) = channel();
        let told = move |line: &str| {
            heard.send(line.to_owned()).unwrap();
            panic!("a listener");
        };
        tail.follow(&b"one\ntwo\n"[..], Some(Box::new(told)));
        assert_eq!(lines.iter().collect::<Vec<_>>(), ["one"]);
        assert_eq!(*tail.lines(), ["one", "two"]);
    }
}
