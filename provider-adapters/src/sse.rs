//! Server-sent events: bytes in, events out.
//!
//! Lines end at CR, LF or CRLF and nowhere else: NEL, U+2028 and their like
//! are text. UTF-8 is decoded over whole lines, so a character may be cut
//! anywhere. Work is linear in the bytes, whatever their pieces.

#[cfg(test)]
mod tests;

use crate::limits::{SSE_EVENT_BYTES, SSE_LINE_BYTES};
use std::fmt;
use std::ops::ControlFlow;

/// One event, complete with its blank line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// Value of the last `event` field; empty when there was none.
    pub event: &'a str,
    /// The `data` lines, joined by a line feed.
    pub data: &'a str,
}

/// A stream that breaks a limit. The decoder is of no use afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A line over [`SSE_LINE_BYTES`].
    LineTooLong,
    /// An event over [`SSE_EVENT_BYTES`].
    EventTooLong,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LineTooLong => write!(f, "an event stream line over {SSE_LINE_BYTES} bytes"),
            Self::EventTooLong => write!(f, "an event over {SSE_EVENT_BYTES} bytes"),
        }
    }
}

impl std::error::Error for Fault {}

/// Decoder of one event stream.
///
/// At the end of the stream an event without its blank line is dropped by
/// simply not asking any more.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The cut line.
    line: Vec<u8>,
    /// A CR ended the last line: an LF that follows belongs to it.
    after_cr: bool,
    /// The first line is through, and with it a byte order mark.
    past_first: bool,
    event: String,
    data: String,
    has_data: bool,
    last_id: String,
    retry: Option<u64>,
    fault: Option<Fault>,
}

impl Decoder {
    /// A decoder at the start of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes and hands each event that they complete to `on`,
    /// until that breaks. What stands behind a break is dropped.
    ///
    /// # Errors
    ///
    /// A limit was broken; the events before that have been handed over.
    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        mut on: impl FnMut(Event<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Fault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        while let Some((&first, rest)) = bytes.split_first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = rest;
                continue;
            }
            let (piece, end, rest) = cut(bytes);
            if self.line.len() + piece.len() > SSE_LINE_BYTES {
                return Err(self.fail(Fault::LineTooLong));
            }
            let Some(end) = end else {
                self.line.extend_from_slice(piece);
                break;
            };
            bytes = rest;
            self.after_cr = end == b'\r';
            if self.end_line(piece)? && self.dispatch(&mut on).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The last `id` field, which stands for all later events too.
    #[must_use]
    pub fn last_id(&self) -> &str {
        &self.last_id
    }

    /// The last `retry` field, in milliseconds.
    #[must_use]
    pub const fn retry(&self) -> Option<u64> {
        self.retry
    }

    fn fail(&mut self, fault: Fault) -> Fault {
        self.fault = Some(fault);
        fault
    }

    /// Takes the line that `piece` completes. Says whether an event is due.
    fn end_line(&mut self, piece: &[u8]) -> Result<bool, Fault> {
        let mut stored = std::mem::take(&mut self.line);
        let line = if stored.is_empty() {
            piece
        } else {
            stored.extend_from_slice(piece);
            &stored
        };
        let first = !std::mem::replace(&mut self.past_first, true);
        let line = match line.strip_prefix(b"\xEF\xBB\xBF") {
            Some(rest) if first => rest,
            _ => line,
        };
        let due = line.is_empty();
        let outcome = if due { Ok(()) } else { self.field(line) };
        stored.clear();
        self.line = stored;
        outcome.map(|()| due)
    }

    fn field(&mut self, line: &[u8]) -> Result<(), Fault> {
        let (name, value) = match memchr::memchr(b':', line) {
            Some(at) => {
                let (name, value) = line.split_at(at);
                let value = value.get(1..).unwrap_or_default();
                (name, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match name {
            b"data" => return self.add_data(&String::from_utf8_lossy(value)),
            b"event" => {
                self.event.clear();
                self.event.push_str(&String::from_utf8_lossy(value));
            }
            b"id" if !value.contains(&0) => {
                self.last_id.clear();
                self.last_id.push_str(&String::from_utf8_lossy(value));
            }
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.retry = std::str::from_utf8(value)
                    .ok()
                    .and_then(|digits| digits.parse().ok());
            }
            // A comment, whose name is empty, or a field of no meaning.
            _ => {}
        }
        Ok(())
    }

    fn add_data(&mut self, value: &str) -> Result<(), Fault> {
        if self.data.len() + value.len() >= SSE_EVENT_BYTES {
            return Err(self.fail(Fault::EventTooLong));
        }
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push('\n');
        }
        self.data.push_str(value);
        Ok(())
    }

    fn dispatch(&mut self, on: &mut impl FnMut(Event<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        let flow = if std::mem::take(&mut self.has_data) {
            on(Event {
                event: &self.event,
                data: &self.data,
            })
        } else {
            ControlFlow::Continue(())
        };
        self.event.clear();
        self.data.clear();
        flow
    }
}

/// Splits at the first line end: what stands before it, its byte, the rest.
fn cut(bytes: &[u8]) -> (&[u8], Option<u8>, &[u8]) {
    let Some(at) = memchr::memchr2(b'\r', b'\n', bytes) else {
        return (bytes, None, &[]);
    };
    let (piece, tail) = bytes.split_at(at);
    match tail.split_first() {
        Some((&end, rest)) => (piece, Some(end), rest),
        None => (piece, None, &[]),
    }
}
