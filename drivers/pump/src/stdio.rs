//! stdin, stdout and stderr on threads of their own.
//!
//! Plain threads work for pipes, files, terminals and sockets alike, and never
//! set a flag on a descriptor that the parent shares.

use crate::contain::contained;
use crate::pump::{News, Post};
use crate::queue::WriteQueue;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, channel, sync_channel,
};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of stdin taken at once; below the step of DEC-28.
pub const READ_BYTES: usize = 64 * 1024;

/// How long to wait for a descriptor that others made non-blocking, before it
/// is tried again.
const RETRY: Duration = Duration::from_millis(5);

/// Records in one vectored write.
const WRITE_SLICES: usize = 64;

/// Lines that wait for a slow stderr before further ones are dropped.
const STDERR_LINES: usize = 1_024;

/// How long the last lines on stderr may take.
const STDERR_GRACE: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests;

/// Lets the reader go on once its last piece was taken.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// The last piece was taken; read on.
    pub fn open(&self) {
        let (open, changed) = &*self.0;
        *open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_one();
    }

    fn pass(&self) {
        let (open, changed) = &*self.0;
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        while !*open {
            open = changed.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
        *open = false;
    }
}

/// Reads `input` to its end. Each piece waits for the gate, so no more than one
/// is on its way. The thread is never joined: a read cannot be cancelled.
///
/// # Errors
///
/// When the thread cannot be started.
pub fn read(input: impl Read + Send + 'static, post: Post) -> io::Result<Gate> {
    let gate = Gate::default();
    let passed = gate.clone();
    thread::Builder::new().name("stdin".into()).spawn(move || {
        let mut input = input;
        loop {
            let mut piece = vec![0; READ_BYTES];
            let read = contained(|| again(|| input.read(&mut piece)));
            let count = match read {
                Some(Ok(0)) => return post(News::InputEnd),
                Some(Ok(count)) => count,
                Some(Err(error)) => return post(News::InputFailed(cause(&error))),
                None => return post(News::InputFailed("the reader failed inside".to_owned())),
            };
            piece.truncate(count);
            post(News::Input(piece));
            passed.pass();
        }
    })?;
    Ok(gate)
}

/// An error in the system's own words; those of an embedder's stream may hold anything.
fn cause(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code).to_string(),
        None => error.kind().to_string(),
    }
}

/// Does `io` until it is neither interrupted nor asked to come back. The latter
/// happens where a process that shares the descriptor made it non-blocking.
fn again(mut io: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match io() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(RETRY),
            other => return other,
        }
    }
}

/// A stream that is waited for where others made its descriptor non-blocking.
#[derive(Debug)]
pub struct Patient<S>(pub S);

impl<S: Read> Read for Patient<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        again(|| self.0.read(buffer))
    }
}

impl<S: Write> Write for Patient<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        again(|| self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        again(|| self.0.flush().map(|()| 0)).map(drop)
    }
}

/// Writes records whole and in order; tells how far it got.
#[derive(Debug)]
pub struct Writer {
    records: Option<Sender<Vec<u8>>>,
    done: Receiver<Flushed>,
}

/// What became of the last records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flushed {
    /// All were written.
    Whole,
    /// The output failed (DEC-11).
    Failed,
    /// Time ran out.
    Late,
}

impl Writer {
    /// Starts writing to `output`.
    ///
    /// # Errors
    ///
    /// When the thread cannot be started.
    pub fn start(output: impl Write + Send + 'static, post: Post) -> io::Result<Self> {
        let (records, waiting) = channel();
        let (ended, done) = channel();
        thread::Builder::new()
            .name("stdout".into())
            .spawn(move || {
                // A writer that panics has failed like one that says so (WIRE-015).
                let flushed = contained(|| write_all(output, &waiting, &post));
                let flushed = flushed.unwrap_or(Flushed::Failed);
                if flushed == Flushed::Failed {
                    post(News::WriteFailed);
                }
                let _ = ended.send(flushed);
            })?;
        Ok(Self {
            records: Some(records),
            done,
        })
    }

    /// Queues one record.
    pub fn send(&self, record: Vec<u8>) {
        if let Some(records) = &self.records {
            // After a failed write the thread is gone, and the failure was told.
            let _ = records.send(record);
        }
    }

    /// No more records; waits for the last ones until `deadline`, without one
    /// as long as the reader takes.
    pub fn finish(&mut self, deadline: Option<Instant>) -> Flushed {
        self.records = None;
        match deadline {
            // A thread that is gone without a word has failed.
            None => self.done.recv().unwrap_or(Flushed::Failed),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                match self.done.recv_timeout(left) {
                    Ok(flushed) => flushed,
                    Err(RecvTimeoutError::Timeout) => Flushed::Late,
                    Err(RecvTimeoutError::Disconnected) => Flushed::Failed,
                }
            }
        }
    }
}

fn write_all(mut output: impl Write, waiting: &Receiver<Vec<u8>>, post: &Post) -> Flushed {
    let mut queue = WriteQueue::new();
    while let Ok(record) = waiting.recv() {
        queue.push(record);
        while let Ok(record) = waiting.try_recv() {
            queue.push(record);
        }
        while !queue.is_empty() {
            let mut slices = [IoSlice::new(&[]); WRITE_SLICES];
            let filled = queue.slices(&mut slices);
            let slices = slices.get(..filled).unwrap_or_default();
            match again(|| output.write_vectored(slices)) {
                Ok(count @ 1..) if queue.wrote(count).is_ok() => post(News::Wrote(count)),
                // A write that takes nothing, or fails, closes the output (DEC-11).
                _ => return Flushed::Failed,
            }
        }
    }
    match output.flush() {
        Ok(()) => Flushed::Whole,
        Err(_) => Flushed::Failed,
    }
}

/// Lines for the operator. A stderr that nobody reads loses lines, never time.
#[derive(Debug)]
pub struct Log {
    lines: Option<SyncSender<String>>,
    done: Receiver<()>,
    /// Lines dropped and not told of yet; the thread tells of the last ones.
    lost: Arc<AtomicUsize>,
}

impl Log {
    /// Starts writing to `output`.
    ///
    /// # Errors
    ///
    /// When the thread cannot be started.
    pub fn start(output: impl Write + Send + 'static) -> io::Result<Self> {
        let (lines, waiting) = sync_channel::<String>(STDERR_LINES);
        let (ended, done) = channel();
        let lost = Arc::<AtomicUsize>::default();
        let untold = Arc::clone(&lost);
        thread::Builder::new()
            .name("stderr".into())
            .spawn(move || {
                // Nobody can be told when stderr itself fails.
                let _ = contained(|| write_lines(output, &waiting, &untold));
                let _ = ended.send(());
            })?;
        Ok(Self {
            lines: Some(lines),
            done,
            lost,
        })
    }

    /// Queues one line; the newline is added. Never waits: where there is no
    /// room the line is lost, and the next one that finds room says how many were.
    pub fn line(&mut self, text: &str) {
        let Some(lines) = &self.lines else { return };
        let lost = self.lost.load(Ordering::Relaxed);
        if lost > 0 && lines.try_send(dropped(lost)).is_ok() {
            self.lost.store(0, Ordering::Relaxed);
        }
        if let Err(TrySendError::Full(_)) = lines.try_send(format!("{text}\n")) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// No more lines; waits a moment for the last ones.
    pub fn finish(&mut self) {
        self.lines = None;
        let _ = self.done.recv_timeout(STDERR_GRACE);
    }
}

fn write_lines(
    mut output: impl Write,
    waiting: &Receiver<String>,
    lost: &AtomicUsize,
) -> io::Result<()> {
    while let Ok(line) = waiting.recv() {
        write_whole(&mut output, &line)?;
    }
    // The sender is gone, so the count is final.
    match lost.load(Ordering::Relaxed) {
        0 => {}
        lost => write_whole(&mut output, &dropped(lost))?,
    }
    output.flush()
}

/// Writes a text to its end, also where others made the descriptor non-blocking.
///
/// # Errors
///
/// As the output says.
pub fn write_whole(output: &mut impl Write, text: &str) -> io::Result<()> {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let count = again(|| output.write(rest))?;
        rest = rest.get(count..).unwrap_or_default();
        if count == 0 {
            return Err(ErrorKind::WriteZero.into());
        }
    }
    Ok(())
}

fn dropped(lines: usize) -> String {
    match lines {
        1 => "agentx: 1 line was dropped here\n".to_owned(),
        lines => format!("agentx: {lines} lines were dropped here\n"),
    }
}
