//! The process of an agent and everything in its group.
//!
//! The agent leads a process group. One thread waits for its end and keeps the
//! order that makes ending a group safe:
//!
//! ```text
//! agent ends -> it stays a zombie, so its id cannot be given away
//!            -> SIGKILL to what is left of its group
//!            -> the agent is reaped
//! ```
//!
//! Tools of an agent lead groups of their own, which only the agent knows. That
//! is why it is asked to end first (SIGTERM, and once more for one that settles
//! too long), and killed last.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long an agent may take to settle after the first SIGTERM.
const TERM_GRACE: Duration = Duration::from_secs(2);

/// How long it may take after the second one, which ends it and its tools at once.
const AGAIN_GRACE: Duration = Duration::from_secs(1);

/// How long the system may take to end a process that was sent SIGKILL.
const KILL_GRACE: Duration = Duration::from_secs(2);

/// A handle on a process that was started; clones name the same one.
#[derive(Clone)]
pub(super) struct Process(Arc<Shared>);

struct Shared {
    leader: Pid,
    ended: Mutex<bool>,
    changed: Condvar,
}

impl Process {
    /// Watches over a child that leads a process group. `ended` is told how it
    /// ended once it is reaped and its group is gone; `None` where the system
    /// does not know.
    ///
    /// # Errors
    ///
    /// When there is no thread for it; the group is ended then.
    pub(super) fn watch(
        child: Child,
        ended: impl FnOnce(Option<ExitStatus>) + Send + 'static,
    ) -> io::Result<Self> {
        let leader = Pid::from_child(&child);
        let process = Self(Arc::new(Shared {
            leader,
            ended: Mutex::new(false),
            changed: Condvar::new(),
        }));
        let watched = process.clone();
        // The child is kept here too, for the case that there is no thread.
        let child = Arc::new(Mutex::new(child));
        let kept = Arc::clone(&child);
        let started = thread::Builder::new().name("agent".into()).spawn(move || {
            watched.until_ended();
            ended(watched.reap(&kept));
        });
        if let Err(error) = started {
            let _ = kill_process_group(leader, Signal::KILL);
            let _ = process.reap(&child);
            return Err(error);
        }
        Ok(process)
    }

    /// Its process id, also that of its group.
    pub(super) fn id(&self) -> u32 {
        self.0.leader.as_raw_nonzero().get().unsigned_abs()
    }

    /// Asks the group to end, then makes it; back once it is gone. For a system
    /// that does not end what was killed, back after a while.
    pub(super) fn stop(&self) {
        for grace in [TERM_GRACE, AGAIN_GRACE] {
            self.signal(Signal::TERM);
            // A stopped process takes SIGTERM only once it goes on.
            self.signal(Signal::CONT);
            if self.ends_within(grace) {
                return;
            }
        }
        self.signal(Signal::KILL);
        let _ = self.ends_within(KILL_GRACE);
    }

    /// The same on a thread of its own; here where there is none.
    pub(super) fn stop_beside(&self) {
        let process = self.clone();
        let thread = thread::Builder::new().name("stop".into());
        if thread.spawn(move || process.stop()).is_err() {
            self.stop();
        }
    }

    /// Signals the group while its id is its own.
    fn signal(&self, signal: Signal) {
        let ended = self.lock();
        if !*ended {
            // The group may be empty, which is no fault.
            let _ = kill_process_group(self.0.leader, signal);
        }
    }

    fn ends_within(&self, grace: Duration) -> bool {
        let until = Instant::now() + grace;
        let mut ended = self.lock();
        while !*ended {
            let Some(left) = until.checked_duration_since(Instant::now()) else {
                return false;
            };
            let waited = self.0.changed.wait_timeout(ended, left);
            ended = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    fn until_ended(&self) {
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        // Any other error means that there is nothing to wait for.
        while let Err(Errno::INTR) = waitid(WaitId::Pid(self.0.leader), ended) {}
    }

    fn reap(&self, child: &Mutex<Child>) -> Option<ExitStatus> {
        let mut ended = self.lock();
        let _ = kill_process_group(self.0.leader, Signal::KILL);
        let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
        let status = child.wait().ok();
        *ended = true;
        self.0.changed.notify_all();
        status
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.0.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
