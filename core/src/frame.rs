//! Lines out of a byte stream.
//!
//! [`Framer`] takes chunks of any size and gives the records in them, one line
//! each. A line that is complete in its chunk is borrowed from it; only a tail
//! without its newline is copied, and no byte of it is looked at twice. At a
//! record boundary the framer holds no memory at all.
//!
//! ```
//! use agentx_core::frame::Framer;
//! use agentx_core::limits::Limits;
//!
//! let mut framer = Framer::new(&Limits::DEFAULT);
//! let mut lines = Vec::new();
//! for mut chunk in [&b"{\"a\":1}\n\n{\"b\""[..], b":2}\n{}"] {
//!     while let Some(line) = framer.next(&mut chunk) {
//!         let line = line.map_err(|error| error.to_string())?;
//!         lines.push((line.number, line.bytes.to_vec()));
//!     }
//! }
//! if let Some(line) = framer.end() {
//!     let line = line.map_err(|error| error.to_string())?;
//!     assert!(line.from_end && line.bytes == b"{}");
//! }
//! assert_eq!(lines, [(1, b"{\"a\":1}".to_vec()), (3, b"{\"b\":2}".to_vec())]);
//! # Ok::<(), String>(())
//! ```

use crate::json::{Reason, ScanError};
use crate::limits::Limits;
use alloc::vec::Vec;
use core::fmt;

/// A tail buffer above this is not kept for the next tail.
const KEEP: usize = 256 * 1024;
/// The least that is set aside for a tail; most records fit.
const FIRST: usize = 1024;

/// Splits a byte stream into records (WIRE-001, WIRE-EOF-001, DEC-01, DEC-02,
/// DEC-06). After an error, and after the end, it gives nothing more.
#[derive(Debug)]
pub struct Framer {
    /// The start of a line whose newline has not come, or the line given last.
    tail: Vec<u8>,
    /// The kind that the start of the tail shows.
    leading: Leading,
    /// The tail is a line that was given; it is dropped at the next call.
    given: bool,
    ended: bool,
    /// Lines begun, blank ones included.
    lines: u64,
    record_bytes: usize,
    import_record_bytes: usize,
}

/// One record: a line that is not blank, without its newline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Counted from 1, blank lines included.
    pub number: u64,
    /// The bytes before the newline. A carriage return there is JSON
    /// whitespace (DEC-02).
    pub bytes: &'a [u8],
    /// The stream ended before a newline came (WIRE-EOF-001).
    pub from_end: bool,
}

impl<'a> Line<'a> {
    /// The error of a fault found inside this line.
    #[must_use]
    pub const fn fault(&self, fault: ScanError) -> FrameError<'a> {
        self.malformed(fault.at, fault.reason.as_str())
    }

    /// The error of something wrong at `at`, a byte offset counted from 0.
    #[must_use]
    pub const fn malformed(&self, at: usize, reason: &'static str) -> FrameError<'a> {
        FrameError {
            line: self.number,
            byte: at.saturating_add(1),
            reason,
            source: self.bytes,
        }
    }

    /// The error of an import record above its ceiling of `limit` bytes. The
    /// framer finds it by itself when `type` leads; whoever learns the kind
    /// later asks here (WIRE-018, DEC-06).
    #[must_use]
    pub const fn import_too_long(&self, limit: usize) -> Option<FrameError<'a>> {
        if self.bytes.len() > limit {
            Some(self.malformed(limit, IMPORT_TOO_LONG))
        } else {
            None
        }
    }
}

/// Why the stream cannot go on. The text is that of the wire's last result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FrameError<'a> {
    /// The line, counted from 1, blank lines included.
    pub line: u64,
    /// The byte in that line, counted from 1.
    pub byte: usize,
    /// What is wrong there; fixed text, never of the peer.
    pub reason: &'static str,
    /// The offending line, as far as it was read. Peer text: an excerpt of it
    /// is guarded before it is cut, and shown nowhere but on stderr (DEC-10).
    pub source: &'a [u8],
}

impl fmt::Display for FrameError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "malformed NDJSON input: line {}, byte {}: {}",
            self.line, self.byte, self.reason
        )
    }
}

impl fmt::Debug for FrameError<'_> {
    /// Leaves the peer's text out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameError")
            .field("line", &self.line)
            .field("byte", &self.byte)
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

impl core::error::Error for FrameError<'_> {}

const TOO_LONG: &str = "record too long";
const IMPORT_TOO_LONG: &str = "attachment import record too long";

impl Framer {
    /// A framer at the start of a stream.
    #[must_use]
    pub const fn new(limits: &Limits) -> Self {
        Self {
            tail: Vec::new(),
            leading: Leading::START,
            given: false,
            ended: false,
            lines: 0,
            record_bytes: limits.record_bytes,
            import_record_bytes: limits.import_record_bytes,
        }
    }

    /// The next record of `chunk`, which shrinks to what follows it. `None`
    /// when the chunk is used up: go on with the next one, or with
    /// [`Framer::end`].
    ///
    /// # Errors
    ///
    /// A line above its ceiling, as soon as it passes it (DEC-06), or a byte
    /// order mark (DEC-01). The rest of the stream is then dropped.
    pub fn next<'a, 'c: 'a>(
        &'a mut self,
        chunk: &mut &'c [u8],
    ) -> Option<Result<Line<'a>, FrameError<'a>>> {
        self.forget_given();
        while !self.ended {
            let (line, after) = match memchr::memchr(b'\n', chunk) {
                Some(newline) => chunk.split_at_checked(newline)?,
                None => break,
            };
            *chunk = after.get(1..).unwrap_or_default();
            self.lines += 1;
            if !self.tail.is_empty() {
                let length = self.append(line);
                self.given = true;
                if self.is_blank_tail(length) {
                    self.forget_given();
                    continue;
                }
                return Some(self.give_tail(length, false));
            }
            let leading = if line.len() > self.import_record_bytes {
                Leading::START.after(line.get(..self.record_bytes).unwrap_or(line))
            } else {
                Leading::START
            };
            return Some(match self.judge(line, line.len(), leading) {
                Judgement::Blank => continue,
                Judgement::Record => Ok(self.line(line, false)),
                Judgement::Fault(at, reason) => {
                    self.ended = true;
                    Err(self.error(line, at, reason))
                }
            });
        }
        self.keep(core::mem::take(chunk))
    }

    /// Ends the stream: its last record, if it had no newline (WIRE-EOF-001).
    ///
    /// # Errors
    ///
    /// As [`Framer::next`].
    pub fn end(&mut self) -> Option<Result<Line<'_>, FrameError<'_>>> {
        self.forget_given();
        let length = self.tail.len();
        if self.ended || length == 0 {
            self.ended = true;
            return None;
        }
        self.lines += 1;
        self.ended = true;
        self.given = true;
        if self.is_blank_tail(length) {
            self.forget_given();
            return None;
        }
        Some(self.give_tail(length, true))
    }

    /// Lines read so far, blank ones included, a tail not.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// Bytes of memory held: nothing at a record boundary, never more than the
    /// ceiling of a record.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.tail.capacity()
    }

    /// Keeps the start of a line whose newline is in no chunk yet.
    fn keep(&mut self, part: &[u8]) -> Option<Result<Line<'_>, FrameError<'_>>> {
        if self.ended {
            return None;
        }
        if part.is_empty() {
            if self.tail.is_empty() {
                self.tail = Vec::new();
            }
            return None;
        }
        let length = self.append(part);
        self.over(length, self.leading)?;
        self.lines += 1;
        self.given = true;
        Some(self.give_tail(length, false))
    }

    /// Copies to the tail what a record may have. Returns the length that the
    /// line has so far.
    fn append(&mut self, part: &[u8]) -> usize {
        let room = self.record_bytes.saturating_sub(self.tail.len());
        let kept = part.get(..room).unwrap_or(part);
        let length = self.tail.len() + kept.len();
        if length > self.tail.capacity() {
            let more = self.tail.capacity().saturating_mul(2).max(FIRST);
            let target = length.max(more.min(self.record_bytes));
            self.tail.reserve_exact(target - self.tail.len());
        }
        self.tail.extend_from_slice(kept);
        self.leading = self.leading.after(kept);
        length + (part.len() - kept.len())
    }

    /// Drops the line that was given, and its memory when that is much.
    fn forget_given(&mut self) {
        if self.given {
            self.given = false;
            self.leading = Leading::START;
            self.tail.clear();
            if self.tail.capacity() > KEEP {
                self.tail = Vec::new();
            }
        }
    }

    fn is_blank_tail(&self, length: usize) -> bool {
        matches!(
            self.judge(&self.tail, length, self.leading),
            Judgement::Blank
        )
    }

    fn give_tail(&mut self, length: usize, end: bool) -> Result<Line<'_>, FrameError<'_>> {
        match self.judge(&self.tail, length, self.leading) {
            Judgement::Fault(at, reason) => {
                self.ended = true;
                Err(self.error(&self.tail, at, reason))
            }
            Judgement::Record | Judgement::Blank => Ok(self.line(&self.tail, end)),
        }
    }

    /// What a line is. It has `length` bytes, of which `bytes` are at hand.
    fn judge(&self, bytes: &[u8], length: usize, leading: Leading) -> Judgement {
        if let Some((at, reason)) = self.over(length, leading) {
            Judgement::Fault(at, reason)
        } else if bytes.starts_with(b"\xEF\xBB\xBF") {
            Judgement::Fault(0, Reason::ByteOrderMark.as_str())
        } else if bytes.iter().all(is_space) {
            Judgement::Blank
        } else {
            Judgement::Record
        }
    }

    /// The ceiling that a line of `length` bytes has passed.
    fn over(&self, length: usize, leading: Leading) -> Option<(usize, &'static str)> {
        if length > self.import_record_bytes && leading.is_import() {
            Some((self.import_record_bytes, IMPORT_TOO_LONG))
        } else if length > self.record_bytes {
            Some((self.record_bytes, TOO_LONG))
        } else {
            None
        }
    }

    const fn line<'a>(&self, bytes: &'a [u8], from_end: bool) -> Line<'a> {
        Line {
            number: self.lines,
            bytes,
            from_end,
        }
    }

    /// The same for any split of the stream: what is past a ceiling is not shown.
    fn error<'a>(&self, bytes: &'a [u8], at: usize, reason: &'static str) -> FrameError<'a> {
        let shown = if at == 0 { bytes.len() } else { at };
        FrameError {
            line: self.lines,
            byte: at.saturating_add(1),
            reason,
            source: bytes.get(..shown).unwrap_or(bytes),
        }
    }
}

enum Judgement {
    Blank,
    Record,
    Fault(usize, &'static str),
}

/// JSON whitespace that a line can hold.
const fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

/// Follows the start of a line for as long as it may be that of an import
/// record: `{"type":"attachment_import"`, whitespace between the tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Leading {
    /// Tokens seen; one more than there are when the line is something else.
    token: usize,
    /// Bytes seen of the next token.
    byte: usize,
}

impl Leading {
    const TOKENS: [&'static [u8]; 4] = [b"{", b"\"type\"", b":", b"\"attachment_import\""];
    const START: Self = Self { token: 0, byte: 0 };
    const OTHER: Self = Self {
        token: Self::TOKENS.len() + 1,
        byte: 0,
    };

    fn after(mut self, bytes: &[u8]) -> Self {
        for byte in bytes {
            let Some(token) = Self::TOKENS.get(self.token) else {
                break;
            };
            if self.byte == 0 && is_space(byte) {
                continue;
            }
            if token.get(self.byte) != Some(byte) {
                return Self::OTHER;
            }
            self.byte += 1;
            if self.byte == token.len() {
                self = Self {
                    token: self.token + 1,
                    byte: 0,
                };
            }
        }
        self
    }

    const fn is_import(self) -> bool {
        self.token == Self::TOKENS.len()
    }
}

#[cfg(test)]
mod tests;
