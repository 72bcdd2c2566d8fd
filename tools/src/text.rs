//! Bytes of the outside made into bounded text.
//!
//! Whatever is cut here is freed of credentials first: a cut through a literal
//! would leave a part of it that nobody recognises any more (DEC-30).

use crate::cancel::CancelToken;
use crate::limits::{BINARY_PROBE_BYTES, SHOWN_CHARS, STEP_BYTES};
use crate::stop::Stop;
use crate::task::TaskFile;
use agentx_core::guard::{Guard, Redactor};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::sync::Arc;

/// Characters kept for the note about results that do not fit.
const LEFT_OUT_CHARS: usize = 60;

/// Decodes UTF-8 that arrives in pieces. What is not UTF-8 becomes U+FFFD, and
/// where the pieces were cut makes no difference.
#[derive(Debug, Default)]
pub(crate) struct Lossy {
    buffer: Vec<u8>,
    replaced: u64,
}

impl Lossy {
    /// Takes the next piece; hands on all text that is certain.
    pub(crate) fn feed(&mut self, bytes: &[u8], sink: impl FnMut(&str)) {
        self.buffer.extend_from_slice(bytes);
        let ready = self.buffer.len() - unfinished_suffix(&self.buffer);
        self.emit(ready, sink);
    }

    /// Ends the text: an unfinished character is a fault now.
    pub(crate) fn finish(&mut self, sink: impl FnMut(&str)) {
        self.emit(self.buffer.len(), sink);
    }

    /// How many faults were replaced.
    pub(crate) const fn replaced(&self) -> u64 {
        self.replaced
    }

    fn emit(&mut self, ready: usize, mut sink: impl FnMut(&str)) {
        for chunk in self.buffer.get(..ready).unwrap_or_default().utf8_chunks() {
            if !chunk.valid().is_empty() {
                sink(chunk.valid());
            }
            if !chunk.invalid().is_empty() {
                self.replaced += 1;
                sink("\u{FFFD}");
            }
        }
        self.buffer.drain(..ready);
    }
}

/// Length of a trailing piece that more bytes could make a character of.
fn unfinished_suffix(bytes: &[u8]) -> usize {
    (1..=bytes.len().min(3))
        .find(|&n| bytes[bytes.len() - n] >= 0xC0)
        .filter(|&n| {
            std::str::from_utf8(&bytes[bytes.len() - n..])
                .is_err_and(|fault| fault.error_len().is_none())
        })
        .unwrap_or(0)
}

/// Keeps the head and the tail of a stream of any length, in bounded memory,
/// with credentials replaced before anything is cut (DEC-30). Characters are
/// counted after that.
#[derive(Debug)]
pub struct Capture {
    half: usize,
    lossy: Lossy,
    redactor: Redactor,
    kept: Kept,
    /// What also takes the stream, and the number it has there.
    sink: Option<(Arc<TaskFile>, u8)>,
}

#[derive(Debug, Default)]
struct Kept {
    head: String,
    head_chars: usize,
    tail: String,
    tail_chars: usize,
    total_chars: u64,
}

impl Capture {
    /// Keeps at least `chars` characters: half from the start, half from the end.
    #[must_use]
    pub fn new(chars: usize, guard: &Guard) -> Self {
        Self {
            half: chars.div_ceil(2),
            lossy: Lossy::default(),
            redactor: guard.redactor(),
            kept: Kept::default(),
            sink: None,
        }
    }

    /// Lets a file take the whole stream, as the one of this number.
    pub(crate) fn also_into(self, file: Option<&Arc<TaskFile>>, stream: u8) -> Self {
        let sink = file.map(|file| (Arc::clone(file), stream));
        Self { sink, ..self }
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        let Self {
            half,
            lossy,
            redactor,
            kept,
            sink,
        } = self;
        lossy.feed(bytes, |text| {
            keep(&redactor.push(text), kept, *half, sink.as_ref());
        });
    }

    /// Ends the stream.
    pub fn finish(&mut self) {
        self.break_off();
        let rest = self.redactor.finish();
        keep(&rest, &mut self.kept, self.half, self.sink.as_ref());
    }

    /// Ends a stream that may have had more to say. If its last characters are
    /// the beginning of a credential, they are left out.
    pub fn break_off(&mut self) {
        let Self {
            half,
            lossy,
            redactor,
            kept,
            sink,
        } = self;
        lossy.finish(|text| {
            keep(&redactor.push(text), kept, *half, sink.as_ref());
        });
    }

    /// Characters of the stream so far.
    #[must_use]
    pub const fn total_chars(&self) -> u64 {
        self.kept.total_chars
    }

    /// The stream in at most `chars` characters, which must not be more than
    /// are kept. What does not fit is replaced, in the middle, by a note that
    /// tells how much that was.
    #[must_use]
    pub fn text(&self, chars: usize) -> String {
        if let Some(whole) = self.whole(chars) {
            return whole;
        }
        let Kept {
            head,
            tail,
            total_chars,
            ..
        } = &self.kept;
        // The note for the largest possible cut is never shorter than the real one.
        let room = chars.saturating_sub(cut_note(*total_chars).chars().count());
        let first = (room / 2).min(self.half);
        let last = (room - first).min(self.half);
        let cut = total_chars.saturating_sub((first + last) as u64);
        let mut text = String::from(first_chars(head, first));
        text.push_str(&cut_note(cut));
        text.push_str(last_chars(tail, last));
        text
    }

    /// The end of the stream in at most `chars` characters, which must not be
    /// more than half of those that are kept; what was cut before it is told.
    #[must_use]
    pub fn tail(&self, chars: usize) -> String {
        if let Some(whole) = self.whole(chars) {
            return whole;
        }
        let Kept {
            head,
            tail,
            total_chars,
            ..
        } = &self.kept;
        let room = chars.saturating_sub(cut_note(*total_chars).chars().count());
        let last = last_chars(tail, room);
        // A tail that is shorter was never trimmed, so the head stands before it.
        let before = last_chars(head, room - last.chars().count());
        let cut = total_chars.saturating_sub(room as u64);
        format!("{}{before}{last}", cut_note(cut).trim_start())
    }

    /// All of it, if it has at most `chars` characters.
    fn whole(&self, chars: usize) -> Option<String> {
        let fits = u64::try_from(chars).is_ok_and(|chars| self.kept.total_chars <= chars);
        fits.then(|| format!("{}{}", self.kept.head, self.kept.tail))
    }
}

fn keep(text: &str, kept: &mut Kept, half: usize, sink: Option<&(Arc<TaskFile>, u8)>) {
    if let Some((file, stream)) = sink {
        file.write(*stream, text);
    }
    kept.push(text, half);
}

impl Kept {
    fn push(&mut self, text: &str, half: usize) {
        let chars = text.chars().count();
        self.total_chars += chars as u64;
        let mut rest = text;
        if self.head_chars < half {
            let into_head = first_chars(text, half - self.head_chars);
            self.head.push_str(into_head);
            let taken = into_head.chars().count();
            self.head_chars += taken;
            self.tail_chars += chars - taken;
            rest = &text[into_head.len()..];
        } else {
            self.tail_chars += chars;
        }
        self.tail.push_str(rest);
        // Trimmed only when twice too long, so the copying stays linear.
        if self.tail_chars > 2 * half {
            let keep = last_chars(&self.tail, half).len();
            self.tail.drain(..self.tail.len() - keep);
            self.tail_chars = half;
        }
    }
}

fn cut_note(chars: u64) -> String {
    format!("\n[… {chars} characters cut …]\n")
}

/// The longest prefix of at most `count` characters.
pub(crate) fn first_chars(text: &str, count: usize) -> &str {
    text.char_indices()
        .nth(count)
        .map_or(text, |(end, _)| &text[..end])
}

/// The longest suffix of at most `count` characters.
fn last_chars(text: &str, count: usize) -> &str {
    match count.checked_sub(1) {
        None => "",
        Some(back) => text
            .char_indices()
            .nth_back(back)
            .map_or(text, |(start, _)| &text[start..]),
    }
}

/// Cuts a finished result at `chars` characters and tells so (DEC-34), with
/// credentials replaced first (DEC-30).
pub(crate) fn cut_result(text: String, chars: usize, guard: &Guard) -> String {
    let text = match guard.redact(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(redacted) => redacted,
    };
    let total = text.chars().count();
    if total <= chars {
        return text;
    }
    let note = |cut: usize| format!("\n[… {cut} characters cut]");
    let room = chars.saturating_sub(note(total).chars().count());
    let mut kept = String::from(first_chars(&text, room));
    kept.push_str(&note(total - room));
    kept
}

/// Whether a file that starts with these bytes is binary: it has a NUL early.
pub(crate) fn is_binary(start: &[u8]) -> bool {
    let probe = start.get(..BINARY_PROBE_BYTES).unwrap_or(start);
    memchr::memchr(0, probe).is_some()
}

/// Joins result lines and the notes after them. Lines that do not fit into
/// `chars` are left out and told.
pub(crate) fn join_results(lines: &[String], notes: &[String], chars: usize) -> String {
    let length = |text: &String| text.chars().count() + 1;
    let reserve = notes.iter().map(length).sum::<usize>() + LEFT_OUT_CHARS;
    let mut room = chars.saturating_sub(reserve);
    let fitting = lines.iter().take_while(|line| {
        let fits = length(line) <= room;
        room = room.saturating_sub(length(line));
        fits
    });
    let shown = fitting.count();
    let mut all: Vec<String> = lines.iter().take(shown).cloned().collect();
    if shown < lines.len() {
        let left = lines.len() - shown;
        all.push(format!("[… {left} more results left out]"));
    }
    all.extend_from_slice(notes);
    all.join("\n")
}

/// All of a file; `None` when it has more than `limit` bytes.
pub(crate) fn read_bounded(
    cancel: &CancelToken,
    mut file: File,
    shown: &str,
    limit: u64,
) -> Result<Option<Vec<u8>>, Stop> {
    let mut content = Vec::new();
    let mut step = vec![0; STEP_BYTES];
    loop {
        cancel.check()?;
        match file.read(&mut step) {
            Ok(0) => return Ok(Some(content)),
            Ok(n) => content.extend_from_slice(&step[..n]),
            Err(fault) if fault.kind() == ErrorKind::Interrupted => {}
            Err(fault) => return Err(Stop::io(format_args!("`{shown}`"), fault)),
        }
        if content.len() as u64 > limit {
            return Ok(None);
        }
    }
}

/// A path or an input as a message shows it: on one line and bounded, with
/// credentials replaced before it is either.
pub(crate) fn shown(text: &str, guard: &Guard) -> String {
    let mut out = String::new();
    let text = guard.redact(text);
    let mut chars = text.chars();
    for c in chars.by_ref().take(SHOWN_CHARS) {
        if c.is_control() {
            let _ = write!(out, "{}", c.escape_default());
        } else {
            out.push(c);
        }
    }
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests;
