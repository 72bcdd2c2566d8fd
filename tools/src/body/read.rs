//! `Read`.
//!
//! The file is streamed, so its size costs time but no memory. A file with a
//! NUL among its first bytes is binary and refused; elsewhere, what is not
//! UTF-8 is shown as U+FFFD and told. Lines end with LF; the CR of a CRLF is
//! not shown but told, since Edit must be given it.

use crate::input::ReadInput;
use crate::limits::STEP_BYTES;
use crate::stop::Stop;
use crate::text::{Lossy, first_chars, is_binary, shown};
use crate::toolbox::Call;
use agentx_core::guard::{Guard, Redactor};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Read as _};

/// Characters of the result kept for the notes after the lines.
const NOTE_CHARS: usize = 500;

pub(crate) fn run(call: &Call<'_>) -> Result<String, Stop> {
    let input = ReadInput::parse(&call.request.call.input, call.guard())?;
    let shown = shown(&input.file_path, call.guard());
    let fence = call.fence()?;
    let place = fence.enter(&input.file_path)?;
    let (file, stat) = place.open_file().map_err(|fault| fault.told(&shown))?;
    fence.judge_file(&stat, &shown)?;
    let limits = call.limits();
    let first = input.offset.unwrap_or(1);
    let lines = input.limit.unwrap_or(limits.read_lines);
    let mut page = Page {
        first,
        end: first.saturating_add(lines.min(limits.read_lines)),
        line: 1,
        room: limits.output_chars.saturating_sub(NOTE_CHARS),
        line_chars: limits.read_line_chars,
        current: Line::new(call.guard()),
        guard: call.guard(),
        text: String::new(),
        crlf: 0,
        replaced: 0,
        more: false,
    };
    let scanned = scan(call, file, &shown, &mut page)?;
    let answer = page.answer(&shown, scanned)?;
    if call.request.bookkeeping.reads {
        call.seen.note(&place.path(), &stat);
    }
    Ok(answer)
}

/// How far a file was read.
enum Scanned {
    /// To its end, or as far as the page goes.
    Enough,
    /// Up to the bound, in bytes.
    Bounded(u64),
}

fn scan(
    call: &Call<'_>,
    mut file: File,
    shown: &str,
    page: &mut Page<'_>,
) -> Result<Scanned, Stop> {
    let mut buffer = vec![0; STEP_BYTES];
    let mut scanned: u64 = 0;
    while !page.more {
        call.check()?;
        if scanned >= call.limits().read_bytes {
            return Ok(Scanned::Bounded(scanned));
        }
        let n = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(fault) if fault.kind() == ErrorKind::Interrupted => continue,
            Err(fault) => return Err(Stop::io(format_args!("`{shown}`"), fault)),
        };
        let bytes = &buffer[..n];
        if scanned == 0 && is_binary(bytes) {
            return Err(Stop::fault(format!("`{shown}` is a binary file.")));
        }
        scanned += n as u64;
        page.feed(bytes);
    }
    Ok(Scanned::Enough)
}

/// The lines that were asked for, as they are found.
struct Page<'a> {
    /// Number of the first line to show, from 1.
    first: u64,
    /// Number after the last line to show.
    end: u64,
    /// Number of the line that `current` is part of.
    line: u64,
    /// Characters that may still be shown.
    room: usize,
    /// Characters shown of one line.
    line_chars: usize,
    current: Line,
    guard: &'a Guard,
    text: String,
    crlf: u64,
    replaced: u64,
    /// Something stands after what is shown.
    more: bool,
}

/// What a line ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineEnd {
    /// A line end.
    Newline,
    /// The end of the file.
    File,
    /// The bound on what is read of a file; the line may go on.
    Bound,
}

/// One line, kept up to what is shown of it.
struct Line {
    lossy: Lossy,
    redactor: Redactor,
    text: String,
    chars: usize,
    /// Bytes came, so the line exists even if it is empty of text.
    begun: bool,
}

impl Page<'_> {
    fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.line >= self.end {
                self.more = true;
                return;
            }
            let newline = memchr::memchr(b'\n', bytes);
            let (part, rest) = bytes.split_at(newline.map_or(bytes.len(), |at| at + 1));
            let part = part.strip_suffix(b"\n").unwrap_or(part);
            self.current.begun = true;
            if self.line >= self.first {
                self.current.push(part, self.line_chars);
            }
            if newline.is_some() && !self.end_line(LineEnd::Newline) {
                return;
            }
            bytes = rest;
        }
    }

    /// Ends the current line; false when it does not fit any more.
    fn end_line(&mut self, end: LineEnd) -> bool {
        let mut line = std::mem::replace(&mut self.current, Line::new(self.guard));
        if self.line >= self.first {
            let shown = line.finish(self.line_chars, end != LineEnd::Bound);
            self.replaced += line.lossy.replaced();
            let stripped = shown.strip_suffix('\r').filter(|_| end == LineEnd::Newline);
            self.crlf += u64::from(stripped.is_some());
            let row = format!("{:>6}\t{}\n", self.line, stripped.unwrap_or(&shown));
            let chars = row.chars().count();
            if chars > self.room {
                self.end = self.line;
                self.more = true;
                return false;
            }
            self.room -= chars;
            self.text.push_str(&row);
        }
        self.line += 1;
        true
    }

    fn answer(mut self, shown: &str, scanned: Scanned) -> Result<String, Stop> {
        let unfinished = self.current.begun && !self.more;
        if unfinished {
            let bounded = matches!(scanned, Scanned::Bounded(_));
            self.end_line(if bounded {
                LineEnd::Bound
            } else {
                LineEnd::File
            });
        }
        if self.line <= self.first && self.text.is_empty() && !self.more {
            return self.nothing(shown, scanned);
        }
        let mut notes = String::new();
        if self.more {
            let _ = write!(
                notes,
                "\n[More lines follow; go on with offset {}.]",
                self.line
            );
        } else if let Scanned::Bounded(bytes) = scanned {
            let _ = write!(notes, "\n[Stopped here after {bytes} bytes of the file.]");
        } else if unfinished {
            notes.push_str("\n[The last line has no line end.]");
        }
        if self.crlf > 0 {
            let _ = write!(
                notes,
                "\n[{} of these lines end with CRLF, shown without the CR.]",
                self.crlf
            );
        }
        if self.replaced > 0 {
            let _ = write!(
                notes,
                "\n[{} byte sequences that are not UTF-8 are shown as U+FFFD.]",
                self.replaced
            );
        }
        Ok(self.text.trim_end_matches('\n').to_owned() + &notes)
    }

    /// The answer when no line was found.
    fn nothing(&self, shown: &str, scanned: Scanned) -> Result<String, Stop> {
        let count = self.line - 1;
        match scanned {
            Scanned::Bounded(bytes) => Err(Stop::fault(format!(
                "Line {} of `{shown}` lies beyond the {bytes} bytes that are read of a file.",
                self.first
            ))),
            Scanned::Enough if count == 0 && self.first == 1 => {
                Ok("[The file is empty.]".to_owned())
            }
            Scanned::Enough => Err(Stop::fault(format!(
                "`offset` {} is past the end: `{shown}` has {count} lines.",
                self.first
            ))),
        }
    }
}

impl Line {
    fn new(guard: &Guard) -> Self {
        Self {
            lossy: Lossy::default(),
            redactor: guard.redactor(),
            text: String::new(),
            chars: 0,
            begun: false,
        }
    }

    fn push(&mut self, bytes: &[u8], keep: usize) {
        let Self {
            lossy,
            redactor,
            text,
            chars,
            ..
        } = self;
        lossy.feed(bytes, |piece| {
            keep_start(text, chars, &redactor.push(piece), keep);
        });
    }

    /// The text of the line, cut and told where it is too long. Where the line
    /// is not `whole`, what may begin a credential at its end is left out.
    fn finish(&mut self, keep: usize, whole: bool) -> String {
        let Self {
            lossy,
            redactor,
            text,
            chars,
            ..
        } = self;
        lossy.finish(|piece| keep_start(text, chars, &redactor.push(piece), keep));
        if whole {
            keep_start(text, chars, &redactor.finish(), keep);
        }
        let mut text = std::mem::take(text);
        if *chars > keep {
            let _ = write!(text, " [… {} characters cut]", *chars - keep);
        }
        text
    }
}

/// Appends a piece as far as the first `keep` characters go; counts all of it.
fn keep_start(text: &mut String, chars: &mut usize, piece: &str, keep: usize) {
    if *chars < keep {
        text.push_str(first_chars(piece, keep - *chars));
    }
    *chars += piece.chars().count();
}
