//! Telling a blocking body that it is no longer wanted.

use crate::stop::Stop;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Cancels one tool call. Clones share one state, and cancelling is final.
///
/// A body that computes looks at [`is_cancelled`](Self::is_cancelled) between
/// bounded steps. A body that waits does so in `poll`, with the token's wake
/// descriptor among the others, so that cancelling ends the wait at once.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    cancelled: AtomicBool,
    wake: Mutex<Wake>,
    groups: Mutex<Groups>,
}

/// The process groups of the call, each named by a leader that is not reaped.
#[derive(Debug, Default)]
struct Groups {
    /// No further one may begin.
    closed: bool,
    leaders: Vec<Pid>,
}

/// The pipe that turns readable on cancel. It is made for the first waiter
/// only, since most calls never wait.
#[derive(Debug, Default)]
struct Wake {
    reader: Option<Arc<PipeReader>>,
    writer: Option<PipeWriter>,
}

impl CancelToken {
    /// A token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the call and wakes whoever waits. Further calls do nothing.
    pub fn cancel(&self) {
        let mut wake = self
            .inner
            .wake
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.inner.cancelled.store(true, Ordering::Release);
        if let Some(mut writer) = wake.writer.take() {
            // One byte always fits into an empty pipe. Should it fail, closing
            // the only writer makes the reader readable just the same.
            let _ = writer.write(&[1]);
        }
    }

    /// Whether the call was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.inner.cancelled.load(Ordering::Acquire)
    }

    /// Stops what was cancelled. Bodies ask between bounded steps.
    pub(crate) fn check(&self) -> Result<(), Stop> {
        if self.is_cancelled() {
            Err(Stop::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Cancels the call and sends SIGKILL to the processes it has, from this very
    /// thread; none can begin afterwards. For a process that ends now: whoever
    /// runs the call learns of it as of any cancellation, if there is time.
    pub fn kill(&self) {
        self.cancel();
        let mut groups = self.groups();
        groups.closed = true;
        for leader in &groups.leaders {
            // The group may be empty, which is no fault.
            let _ = kill_process_group(*leader, Signal::KILL);
        }
    }

    /// Starts a child that leads a process group, and keeps the group within
    /// reach of [`kill`](Self::kill) until it is [let go](Self::let_go).
    pub(crate) fn enrol(&self, spawn: impl FnOnce() -> io::Result<Child>) -> io::Result<Child> {
        // Held across the start, so that no child slips past a kill.
        let mut groups = self.groups();
        if groups.closed {
            return Err(io::Error::other("the process is ending"));
        }
        let child = spawn()?;
        groups.leaders.push(Pid::from_child(&child));
        Ok(child)
    }

    /// Forgets a group. Comes before its leader is reaped: afterwards the id may
    /// be that of somebody else.
    pub(crate) fn let_go(&self, leader: Pid) {
        self.groups().leaders.retain(|known| *known != leader);
    }

    fn groups(&self) -> MutexGuard<'_, Groups> {
        let groups = &self.inner.groups;
        groups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A descriptor that is readable, for good, once the call is cancelled.
    /// Nobody may read from it.
    ///
    /// # Errors
    ///
    /// When the system gives no pipe.
    pub(crate) fn wake_descriptor(&self) -> io::Result<Arc<PipeReader>> {
        let mut wake = self
            .inner
            .wake
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(reader) = &wake.reader {
            return Ok(Arc::clone(reader));
        }
        let (reader, writer) = io::pipe()?;
        let reader = Arc::new(reader);
        wake.reader = Some(Arc::clone(&reader));
        if !self.is_cancelled() {
            wake.writer = Some(writer);
        }
        Ok(reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    fn readable(reader: &PipeReader, wait: bool) -> bool {
        let none = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let mut fds = [PollFd::new(reader, PollFlags::IN)];
        poll(&mut fds, (!wait).then_some(&none)).unwrap() == 1
    }

    #[test]
    fn a_clone_cancels_and_wakes_a_blocked_wait() {
        let token = CancelToken::new();
        let reader = token.wake_descriptor().unwrap();
        assert!(!readable(&reader, false));
        let other = token.clone();
        let canceller = std::thread::spawn(move || other.cancel());
        assert!(readable(&reader, true));
        canceller.join().unwrap();
        assert!(token.is_cancelled());
        assert!(readable(&reader, false), "it stays readable");
    }

    #[test]
    fn a_wait_that_begins_after_the_cancel_does_not_block() {
        let token = CancelToken::new();
        token.cancel();
        token.cancel();
        assert!(readable(&token.wake_descriptor().unwrap(), true));
        assert!(readable(&token.wake_descriptor().unwrap(), true));
    }

    #[test]
    fn no_child_begins_after_a_kill() {
        let token = CancelToken::new();
        token.kill();
        assert!(token.is_cancelled());
        let begun = token.enrol(|| unreachable!("nothing may be started"));
        assert_eq!(begun.unwrap_err().to_string(), "the process is ending");
    }
}
