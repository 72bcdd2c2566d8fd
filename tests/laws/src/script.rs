//! What is fed to a machine, and when; also as text.
//!
//! A recorded log has one line for each `handle`: the time in microseconds, a
//! word for the kind of input, and its content, escaped so that it is printable
//! ASCII: `\\`, `\n`, `\r`, `\t`, and `\xNN` for every other byte. Empty lines
//! and lines that start with `#` are comments.
//!
//! ```text
//! # a prompt in two reads, then its answer
//! 0 bytes {"type":"user","mess
//! 1500 bytes age":{"role":"user","content":"caf\xc3\xa9"}}\n
//! 20000 other done 1 ok
//! 20000 eof
//! 50000 tick
//! ```

use agentx_core::time::Instant;
use std::fmt::{self, Write as _};

/// One input, in a form that can be kept. `T` are the inputs that are neither
/// bytes of the stream, its end nor a tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feed<T> {
    /// Bytes of the input stream; the suite splits them at will.
    Bytes(Vec<u8>),
    /// The end of the input stream.
    Eof,
    /// Time has passed.
    Tick,
    /// Any other input: a command, an answer, a progress report.
    Other(T),
}

/// Inputs that can stand in a log.
pub trait Recorded: Sized {
    /// Appends this input as text, without the time. Any text will do, it is
    /// escaped for the log.
    fn write(&self, out: &mut String);

    /// Reads what [`Recorded::write`] wrote.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    fn parse(text: &str) -> Result<Self, String>;
}

/// For machines whose inputs are bytes, the end and ticks alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nothing {}

impl Recorded for Nothing {
    fn write(&self, _: &mut String) {
        match *self {}
    }

    fn parse(text: &str) -> Result<Self, String> {
        Err(format!("this machine has no input `{text}`"))
    }
}

/// Inputs with their times, which never go back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script<T> {
    steps: Vec<(Instant, Feed<T>)>,
    now: Instant,
}

impl<T> Default for Script<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Script<T> {
    /// An empty script at time zero.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            steps: Vec::new(),
            now: Instant::ZERO,
        }
    }

    /// Sets the time of the steps added next, in microseconds. Machines refuse
    /// a time before that of the last step.
    #[must_use]
    pub const fn at(mut self, micros: u64) -> Self {
        self.now = Instant::from_micros(micros);
        self
    }

    /// Adds bytes of the stream.
    #[must_use]
    pub fn bytes(self, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref().to_vec();
        self.step(Feed::Bytes(bytes))
    }

    /// Adds the end of the stream.
    #[must_use]
    pub fn eof(self) -> Self {
        self.step(Feed::Eof)
    }

    /// Adds a tick. Due ticks need no step: the suite ticks at each deadline.
    #[must_use]
    pub fn tick(self) -> Self {
        self.step(Feed::Tick)
    }

    /// Adds any other input.
    #[must_use]
    pub fn other(self, input: T) -> Self {
        self.step(Feed::Other(input))
    }

    /// Adds an input.
    #[must_use]
    pub fn step(mut self, feed: Feed<T>) -> Self {
        self.push(self.now, feed);
        self
    }

    /// Adds an input with its time, as a recorder does.
    pub fn push(&mut self, now: Instant, feed: Feed<T>) {
        self.now = now;
        self.steps.push((now, feed));
    }

    /// The steps in order.
    #[must_use]
    pub fn steps(&self) -> &[(Instant, Feed<T>)] {
        &self.steps
    }
}

impl<T: Clone> Script<T> {
    /// The same script with the bytes of one instant in one step, where no
    /// other input stands between them.
    #[must_use]
    pub fn coalesced(&self) -> Self {
        let mut whole = Self::new();
        for (now, feed) in &self.steps {
            match (whole.steps.last_mut(), feed) {
                (Some((last, Feed::Bytes(bytes))), Feed::Bytes(more)) if last == now => {
                    bytes.extend_from_slice(more);
                }
                _ => whole.push(*now, feed.clone()),
            }
        }
        whole
    }
}

impl<T: Recorded> Script<T> {
    /// Reads a recorded log.
    ///
    /// # Errors
    ///
    /// The first line that is none, and why.
    pub fn parse(log: &str) -> Result<Self, LogError> {
        let mut script = Self::new();
        for (index, line) in log.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (now, feed) = parse_line(line).map_err(|reason| LogError {
                line: index + 1,
                reason,
            })?;
            script.push(now, feed);
        }
        Ok(script)
    }

    /// The script as a recorded log.
    #[must_use]
    pub fn to_log(&self) -> String {
        let mut log = String::new();
        for (now, feed) in &self.steps {
            record(&mut log, *now, feed);
        }
        log
    }
}

/// Appends the line of one input to a log.
pub fn record<T: Recorded>(log: &mut String, now: Instant, feed: &Feed<T>) {
    let mut text = String::new();
    let (word, content) = match feed {
        Feed::Bytes(bytes) => ("bytes", bytes.as_slice()),
        Feed::Eof => ("eof", &[][..]),
        Feed::Tick => ("tick", &[][..]),
        Feed::Other(input) => {
            input.write(&mut text);
            ("other", text.as_bytes())
        }
    };
    let _ = write!(log, "{} {word}", now.as_micros());
    if !content.is_empty() {
        log.push(' ');
        escape(log, content);
    }
    log.push('\n');
}

fn escape(log: &mut String, content: &[u8]) {
    for byte in content {
        match byte {
            b'\\' => log.push_str("\\\\"),
            b'\n' => log.push_str("\\n"),
            b'\r' => log.push_str("\\r"),
            b'\t' => log.push_str("\\t"),
            b' '..=b'~' => log.push(char::from(*byte)),
            _ => {
                let _ = write!(log, "\\x{byte:02x}");
            }
        }
    }
}

fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut content = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            content.push(byte);
            continue;
        }
        content.push(match bytes.next() {
            Some(b'\\') => b'\\',
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'x') => {
                let digits = [bytes.next(), bytes.next()].map(|digit| {
                    let digit = char::from(digit?).to_digit(16)?;
                    u8::try_from(digit).ok()
                });
                match digits {
                    [Some(high), Some(low)] => high << 4 | low,
                    _ => return Err("`\\x` without two hexadecimal digits".into()),
                }
            }
            _ => return Err("a backslash that begins no escape".into()),
        });
    }
    Ok(content)
}

fn parse_line<T: Recorded>(line: &str) -> Result<(Instant, Feed<T>), String> {
    let (micros, rest) = line.split_once(' ').ok_or("no input after the time")?;
    let micros = micros.parse().map_err(|_| "the time is no number")?;
    let (word, content) = rest.split_once(' ').unwrap_or((rest, ""));
    let content = unescape(content)?;
    let feed = match (word, content.as_slice()) {
        ("bytes", _) => Feed::Bytes(content),
        ("eof", []) => Feed::Eof,
        ("tick", []) => Feed::Tick,
        ("other", _) => {
            let text = String::from_utf8(content).map_err(|_| "an input that is no text")?;
            Feed::Other(T::parse(&text)?)
        }
        ("eof" | "tick", _) => return Err(format!("`{word}` with content")),
        _ => return Err(format!("unknown kind of input `{word}`")),
    };
    Ok((Instant::from_micros(micros), feed))
}

/// A log that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub reason: String,
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "recorded log, line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for LogError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Eq)]
    struct Word(String);

    impl Recorded for Word {
        fn write(&self, out: &mut String) {
            out.push_str(&self.0);
        }

        fn parse(text: &str) -> Result<Self, String> {
            if text == "bad" {
                return Err("bad word".into());
            }
            Ok(Self(text.into()))
        }
    }

    #[test]
    fn a_log_reads_back_as_it_was_written() {
        let all: Vec<u8> = (0..=255).collect();
        let script = Script::new()
            .bytes("")
            .bytes(all)
            .at(7)
            .other(Word("two words\n\u{2028}é \\".into()))
            .tick()
            .at(u64::MAX)
            .eof();
        let log = script.to_log();
        assert_eq!(log.lines().count(), 5);
        assert!(
            log.bytes()
                .all(|b| b == b'\n' || (b' '..=b'~').contains(&b))
        );
        assert_eq!(Script::parse(&log), Ok(script.clone()));
        let commented = format!("# why\n\n{log}");
        assert_eq!(Script::parse(&commented), Ok(script));
    }

    #[test]
    fn a_bad_line_is_told_by_number() {
        for (line, reason) in [
            ("12", "no input after the time"),
            ("x eof", "the time is no number"),
            ("1 eof now", "`eof` with content"),
            ("1 nap", "unknown kind of input `nap`"),
            ("1 bytes \\q", "a backslash that begins no escape"),
            ("1 bytes \\", "a backslash that begins no escape"),
            ("1 bytes \\x4", "`\\x` without two hexadecimal digits"),
            ("1 other \\xff", "an input that is no text"),
            ("1 other bad", "bad word"),
        ] {
            let error = Script::<Word>::parse(&format!("0 tick\n{line}\n")).unwrap_err();
            assert_eq!((error.line, error.reason.as_str()), (2, reason));
        }
    }
}
