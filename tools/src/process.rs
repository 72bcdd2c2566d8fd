//! Running one child to its end: Bash, and every tool that is a command.
//!
//! The child leads its own process group. One thread polls its pipes, the
//! cancel token and the clock; a second one only waits for the child and reaps
//! it when it is told to. That gives the order that makes ending safe:
//!
//! ```text
//! leader ends -> it stays a zombie, so its id cannot be given away
//!             -> SIGKILL to the group named by that id
//!             -> the leader is reaped
//! ```
//!
//! Time-out and cancel send SIGTERM to the group, and SIGKILL after a grace.
//! [`CancelToken::kill`] sends SIGKILL at once, for a process that ends itself.
//! A process that leaves the group (`setsid`) escapes; it can hold the pipes
//! open, so reading after the end has a limit of its own.

use crate::cancel::CancelToken;
use crate::limits::{EndingLimits, STEP_BYTES};
use crate::task::TaskHooks;
use crate::text::Capture;
use agentx_core::guard::Guard;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// A child to run.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The program: a path, or a name looked up in the `PATH` of `environment`.
    pub program: &'a Path,
    /// Its arguments, passed as they are; no shell reads them.
    pub arguments: &'a [OsString],
    /// Its working directory.
    pub directory: &'a Path,
    /// Its whole environment.
    pub environment: &'a BTreeMap<OsString, OsString>,
    /// What it reads on stdin, then end of file; `None` is `/dev/null`.
    pub stdin: Option<&'a [u8]>,
    /// Where its stderr goes.
    pub stderr: Stderr,
    /// Characters kept of each stream, half from its start and half from its end.
    pub keep_chars: usize,
    /// Bytes up to which stdout is also kept as it is.
    pub keep_bytes: usize,
    /// Credentials that are replaced in what is kept (DEC-30).
    pub guard: &'a Guard,
    /// How long it may run.
    pub timeout: Duration,
    /// How it is ended when it may not run on.
    pub ending: &'a EndingLimits,
    /// For a background task: where its output goes too, and who is told that
    /// it runs.
    pub task: Option<TaskHooks<'a>>,
    /// Who is told what it has written while it runs.
    pub watch: Option<Watch<'a>>,
}

/// Somebody who is told what a child has written so far.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// How long apart, at least; told only where something was written since.
    pub every: Duration,
    /// Called with stdout and stderr as the result would show them.
    pub told: &'a dyn Fn(String, String),
}

/// Without the arguments, the environment and the input, which may hold secrets.
impl fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("program", &self.program)
            .field("directory", &self.directory)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Where a child's stderr goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stderr {
    /// Into the same pipe as stdout, so both stand in the order they were written.
    Merged,
    /// Kept apart.
    Apart,
}

/// How a child that was started came to its end.
pub struct Finished {
    /// Why it ended.
    pub end: End,
    /// What it wrote to stdout (and stderr, where merged).
    pub stdout: Capture,
    /// What it wrote to stderr where kept apart, else empty.
    pub stderr: Capture,
    /// Stdout as it is, credentials included; `None` when it is longer than was
    /// to be kept.
    pub raw: Option<Vec<u8>>,
}

/// Without what the child wrote, which may hold secrets.
impl fmt::Debug for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finished")
            .field("end", &self.end)
            .field("stdout_chars", &self.stdout.total_chars())
            .field("stderr_chars", &self.stderr.total_chars())
            .finish_non_exhaustive()
    }
}

/// Why a child ended.
#[derive(Debug)]
pub enum End {
    /// By itself; the status is an error when the system could not tell it.
    Exited(io::Result<ExitStatus>),
    /// It was ended because its time was up.
    TimedOut,
    /// It was ended because the call was cancelled.
    Cancelled,
    /// It was to be ended, but outlived SIGKILL (an uninterruptible wait in the
    /// kernel). It is reaped whenever it ends.
    Stuck,
}

/// Why a child could not be started. Nothing runs then.
#[derive(Debug)]
pub struct StartError {
    what: &'static str,
    cause: io::Error,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.cause)
    }
}

impl std::error::Error for StartError {}

/// Runs a child and waits until it and its process group are gone.
///
/// # Errors
///
/// When the child cannot be started.
pub fn run(job: &Job<'_>, cancel: &CancelToken) -> Result<Finished, StartError> {
    let failed = |what| move |cause| StartError { what, cause };
    let wake = cancel.wake_descriptor().map_err(failed("no pipe"))?;
    if !job.directory.is_dir() {
        let cause = io::Error::from(io::ErrorKind::NotADirectory);
        return Err(failed("the working directory cannot be used")(cause));
    }
    // Before the child, since a child without its reaper could not be settled.
    let (hand_over, take) = channel();
    let (over, notice) = io::pipe().map_err(failed("no pipe"))?;
    let reaper = Builder::new()
        .name("agentx-reaper".into())
        .spawn(move || reap(&take, notice))
        .map_err(failed("no thread"))?;
    let (child, pipes) = spawn(job, cancel).map_err(failed("the program cannot be started"))?;
    let leader = Pid::from_child(&child);
    // The reaper waits for it and cannot have gone.
    let _ = hand_over.send(child);
    if let Some(task) = &job.task {
        (task.began)();
    }
    let file = job.task.map(|task| task.file);
    let now = Instant::now();
    let running = Running {
        job,
        cancel,
        wake,
        over,
        leader,
        pipes,
        stdout: Capture::new(job.keep_chars, job.guard).also_into(file, 1),
        stderr: Capture::new(job.keep_chars, job.guard).also_into(file, 2),
        raw: Some(Vec::new()),
        phase: Phase::Running,
        until: now.checked_add(job.timeout),
        why: None,
        tell_at: job.watch.and_then(|watch| now.checked_add(watch.every)),
        told_chars: 0,
    };
    Ok(running.drive(hand_over, reaper))
}

/// Waits for the child it is handed, tells so by closing `notice`, and reaps it
/// once the other end of `take` is gone.
fn reap(take: &Receiver<Child>, notice: PipeWriter) -> Option<io::Result<ExitStatus>> {
    let mut child = take.recv().ok()?;
    let id = WaitId::Pid(Pid::from_child(&child));
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    // Any other error means that there is nothing to wait for.
    while let Err(Errno::INTR) = waitid(id.clone(), ended) {}
    drop(notice);
    let _ = take.recv();
    Some(child.wait())
}

#[derive(Default)]
struct Pipes<'a> {
    stdin: Option<(PipeWriter, &'a [u8])>,
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
}

fn spawn<'a>(job: &Job<'a>, cancel: &CancelToken) -> io::Result<(Child, Pipes<'a>)> {
    let mut pipes = Pipes::default();
    let mut command = Command::new(job.program);
    command
        .args(job.arguments)
        .current_dir(job.directory)
        .env_clear()
        .envs(job.environment)
        .process_group(0);
    match job.stdin {
        None => {
            command.stdin(Stdio::null());
        }
        Some(bytes) => {
            let (reader, writer) = io::pipe()?;
            ioctl_fionbio(&writer, true)?;
            command.stdin(reader);
            pipes.stdin = Some((writer, bytes));
        }
    }
    let (stdout, writer) = io::pipe()?;
    ioctl_fionbio(&stdout, true)?;
    pipes.stdout = Some(stdout);
    match job.stderr {
        Stderr::Merged => {
            command.stderr(writer.try_clone()?);
        }
        Stderr::Apart => {
            let (stderr, writer) = io::pipe()?;
            ioctl_fionbio(&stderr, true)?;
            pipes.stderr = Some(stderr);
            command.stderr(writer);
        }
    }
    command.stdout(writer);
    // `command` goes out of scope here, and with it our copies of the child's
    // ends; else the pipes would never reach their end.
    Ok((cancel.enrol(|| command.spawn())?, pipes))
}

/// Where a child stands. Every phase but the first has begun to end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It may run.
    Running,
    /// It was sent SIGTERM.
    Terminating,
    /// It was sent SIGKILL.
    Killing,
    /// It has ended; what is left in the pipes is read.
    Draining,
    /// Nothing more is to be done.
    Over,
}

struct Running<'a> {
    job: &'a Job<'a>,
    cancel: &'a CancelToken,
    wake: Arc<PipeReader>,
    over: PipeReader,
    leader: Pid,
    pipes: Pipes<'a>,
    stdout: Capture,
    stderr: Capture,
    /// Stdout as it is, while it is short enough.
    raw: Option<Vec<u8>>,
    phase: Phase,
    /// When the phase ends by itself; `None` is never.
    until: Option<Instant>,
    why: Option<End>,
    /// When somebody may be told next what was written.
    tell_at: Option<Instant>,
    /// Characters of both streams that were told.
    told_chars: u64,
}

/// A group within reach of the token. A panic leaves nobody to end it, so it is
/// ended here then.
struct Enrolled<'a> {
    cancel: &'a CancelToken,
    leader: Pid,
}

impl Drop for Enrolled<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = kill_process_group(self.leader, Signal::KILL);
        }
        self.cancel.let_go(self.leader);
    }
}

/// Which of the waited-for things are ready.
#[derive(Default)]
struct Ready {
    over: bool,
    stdin: bool,
    stdout: bool,
    stderr: bool,
}

impl Running<'_> {
    fn drive(
        mut self,
        permit: Sender<Child>,
        reaper: JoinHandle<Option<io::Result<ExitStatus>>>,
    ) -> Finished {
        // Declared here, so that an unwinding drops it before the permit, too.
        let group = Enrolled {
            cancel: self.cancel,
            leader: self.leader,
        };
        let mut buffer = vec![0; STEP_BYTES];
        while self.phase != Phase::Over {
            let ready = self.wait();
            if ready.stdin {
                self.write_stdin();
            }
            if ready.stdout {
                let read = drain(&mut self.pipes.stdout, &mut self.stdout, &mut buffer);
                self.keep_raw(read);
            }
            if ready.stderr {
                drain(&mut self.pipes.stderr, &mut self.stderr, &mut buffer);
            }
            let now = Instant::now();
            self.step(&ready, now);
            self.tell(now);
        }
        drop(group);
        drop(permit);
        self.end_output();
        let end = match self.why {
            Some(End::Stuck) => End::Stuck,
            why => {
                let status = reaper.join().ok().flatten();
                let unknown = || Err(io::Error::other("the status was not told"));
                why.unwrap_or_else(|| End::Exited(status.unwrap_or_else(unknown)))
            }
        };
        Finished {
            end,
            stdout: self.stdout,
            stderr: self.stderr,
            raw: self.raw,
        }
    }

    fn keep_raw(&mut self, bytes: &[u8]) {
        let fits = |raw: &Vec<u8>| raw.len() + bytes.len() <= self.job.keep_bytes;
        self.raw = self.raw.take().filter(fits);
        if let Some(raw) = &mut self.raw {
            raw.extend_from_slice(bytes);
        }
    }

    /// Ends what was captured. A child that was ended may have been in the
    /// middle of a word, and a pipe that is still open may have had more in it.
    fn end_output(&mut self) {
        let ended = self.why.is_some();
        for (capture, pipe) in [
            (&mut self.stdout, &self.pipes.stdout),
            (&mut self.stderr, &self.pipes.stderr),
        ] {
            if ended || pipe.is_some() {
                capture.break_off();
            } else {
                capture.finish();
            }
        }
    }

    /// Blocks until something is ready or the phase is due.
    fn wait(&self) -> Ready {
        let mut ready = Ready::default();
        let mut slots: Vec<&mut bool> = Vec::with_capacity(5);
        let mut fds = Vec::with_capacity(5);
        let mut cancelled = false;
        if self.phase == Phase::Running {
            fds.push(PollFd::new(&*self.wake, PollFlags::IN));
            slots.push(&mut cancelled);
        }
        if self.phase != Phase::Draining {
            fds.push(PollFd::new(&self.over, PollFlags::IN));
            slots.push(&mut ready.over);
        }
        if let Some((stdin, _)) = &self.pipes.stdin {
            fds.push(PollFd::new(stdin, PollFlags::OUT));
            slots.push(&mut ready.stdin);
        }
        if let Some(stdout) = &self.pipes.stdout {
            fds.push(PollFd::new(stdout, PollFlags::IN));
            slots.push(&mut ready.stdout);
        }
        if let Some(stderr) = &self.pipes.stderr {
            fds.push(PollFd::new(stderr, PollFlags::IN));
            slots.push(&mut ready.stderr);
        }
        let tell_at = self.tell_at.filter(|_| self.may_tell());
        let until = [self.until, tell_at].into_iter().flatten().min();
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        // An interrupted or failed poll reports nothing ready; the loop looks
        // at the clock and comes back.
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        if poll(&mut fds, timeout.as_ref()).is_ok() {
            for (slot, fd) in slots.into_iter().zip(&fds) {
                *slot = !fd.revents().is_empty();
            }
        }
        ready
    }

    /// Moves to the next phase when it is time.
    fn step(&mut self, ready: &Ready, now: Instant) {
        if ready.over {
            if self.phase == Phase::Running && self.cancel.is_cancelled() {
                // It was killed before this thread could look.
                self.why = Some(End::Cancelled);
            }
            // The leader is a zombie: its id still names its group.
            self.signal(Signal::KILL);
            self.enter(Phase::Draining, self.job.ending.aftermath, now);
        }
        let due = self.until.is_some_and(|until| until <= now);
        match self.phase {
            Phase::Running if self.cancel.is_cancelled() => self.terminate(End::Cancelled, now),
            Phase::Running if due => self.terminate(End::TimedOut, now),
            Phase::Terminating if due => {
                self.signal(Signal::KILL);
                self.enter(Phase::Killing, self.job.ending.kill_wait, now);
            }
            Phase::Killing if due => {
                self.why = Some(End::Stuck);
                self.phase = Phase::Over;
            }
            Phase::Draining if due || self.pipes.all_read() => self.phase = Phase::Over,
            Phase::Running
            | Phase::Terminating
            | Phase::Killing
            | Phase::Draining
            | Phase::Over => {}
        }
    }

    const fn chars(&self) -> u64 {
        self.stdout.total_chars() + self.stderr.total_chars()
    }

    /// Whether it runs, and has written something that nobody was told.
    const fn may_tell(&self) -> bool {
        self.chars() > self.told_chars && matches!(self.phase, Phase::Running)
    }

    /// Tells what was written, when it is time.
    fn tell(&mut self, now: Instant) {
        let (Some(watch), Some(at)) = (self.job.watch, self.tell_at) else {
            return;
        };
        if at <= now && self.may_tell() {
            let chars = self.job.keep_chars;
            (watch.told)(self.stdout.text(chars), self.stderr.text(chars));
            self.told_chars = self.chars();
            self.tell_at = now.checked_add(watch.every);
        }
    }

    fn terminate(&mut self, why: End, now: Instant) {
        self.why = Some(why);
        self.signal(Signal::TERM);
        // A stopped process takes SIGTERM only once it goes on.
        self.signal(Signal::CONT);
        self.enter(Phase::Terminating, self.job.ending.term_grace, now);
    }

    fn enter(&mut self, phase: Phase, limit: Duration, now: Instant) {
        self.phase = phase;
        self.until = now.checked_add(limit);
    }

    /// Signals the group. It may be empty, which is no fault.
    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.leader, signal);
    }

    fn write_stdin(&mut self) {
        let Some((pipe, rest)) = &mut self.pipes.stdin else {
            return;
        };
        let step = rest.get(..STEP_BYTES).unwrap_or(rest);
        let written = if step.is_empty() {
            Ok(0)
        } else {
            pipe.write(step)
        };
        match written {
            Ok(n) if n > 0 && n < rest.len() => *rest = &rest[n..],
            Err(fault) if is_transient(&fault) => {}
            // All is written, or the child does not read: that is its right.
            Ok(_) | Err(_) => self.pipes.stdin = None,
        }
    }
}

impl Pipes<'_> {
    const fn all_read(&self) -> bool {
        self.stdout.is_none() && self.stderr.is_none()
    }
}

/// Reads once and gives what it read; closes the pipe at its end.
fn drain<'b>(pipe: &mut Option<PipeReader>, into: &mut Capture, buffer: &'b mut [u8]) -> &'b [u8] {
    let Some(reader) = pipe else { return &[] };
    match reader.read(buffer) {
        Ok(n) if n > 0 => {
            let read = &buffer[..n];
            into.push(read);
            return read;
        }
        Err(fault) if is_transient(&fault) => {}
        Ok(_) | Err(_) => *pipe = None,
    }
    &[]
}

fn is_transient(fault: &io::Error) -> bool {
    matches!(
        fault.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
