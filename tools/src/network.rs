//! A running tool asks whether it may connect to a host (WIRE-PERM-004,
//! WIRE-PERM-080).
//!
//! ```text
//! program -> socket: {"host":"example.com"}   -> Network: ask   -> host, hooks
//!         <- {"allowed":true}                 <- NetworkAnswers: answer
//! ```
//!
//! The socket grants nothing and holds nobody back: it tells what was said, and
//! whoever confines the tool acts on it. Only an allow is told as one.

mod counter;
mod question;

pub(crate) use counter::Counter;

use std::fmt;
use std::io::{self, PipeWriter, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Takes the host of a question to whoever answers it.
type Ask = Arc<dyn Fn(String) + Send + Sync>;

/// Where one call may ask whether it may connect to a host.
pub struct Network {
    /// Else why nobody can be asked.
    ask: Result<Ask, &'static str>,
    mail: Arc<Mailbox>,
}

/// What a program is told that nobody can be asked for.
const NOBODY: &str = "nobody can be asked";

/// The same for one that is a background task.
const TASK: &str = "a background task cannot ask";

impl Network {
    /// A road for the questions of one call, and where their answers go. `ask` is
    /// called with the host of each question, on a thread of the call, before the
    /// call ends and not after; it must not wait. It serves one call. A host that is asked about
    /// already is not asked about again until the answer is there.
    #[must_use]
    pub fn new(ask: impl Fn(String) + Send + Sync + 'static) -> (Self, NetworkAnswers) {
        let mail = Arc::new(Mailbox::default());
        let answers = NetworkAnswers {
            mail: Arc::clone(&mail),
        };
        let ask: Result<Ask, _> = Ok(Arc::new(ask));
        (Self { ask, mail }, answers)
    }

    fn refused(why: &'static str) -> Self {
        Self {
            ask: Err(why),
            mail: Arc::default(),
        }
    }

    /// That of a background task: every question is denied at once.
    pub(crate) fn of_a_task() -> Self {
        Self::refused(TASK)
    }
}

/// One on which nobody can be asked: every question is denied at once.
impl Default for Network {
    fn default() -> Self {
        Self::refused(NOBODY)
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").finish_non_exhaustive()
    }
}

/// Answers the questions of one call. Dropping it denies what is open and
/// whatever is asked later.
#[derive(Debug)]
pub struct NetworkAnswers {
    mail: Arc<Mailbox>,
}

impl NetworkAnswers {
    /// Answers the question about this host. An answer to a question that is not
    /// open means nothing.
    pub fn answer(&self, host: String, allowed: bool) {
        self.mail.put(Letter::Answer { host, allowed });
    }
}

impl Drop for NetworkAnswers {
    fn drop(&mut self) {
        self.mail.put(Letter::Gone);
    }
}

/// What the counter of a call is told.
#[derive(Debug)]
enum Letter {
    Answer {
        host: String,
        allowed: bool,
    },
    /// Nobody answers any more.
    Gone,
    /// The call ends.
    Close,
}

/// Letters for the counter, and the pipe that wakes it.
#[derive(Debug, Default)]
struct Mailbox {
    state: Mutex<Letters>,
}

#[derive(Debug, Default)]
struct Letters {
    waiting: Vec<Letter>,
    /// Without one nobody has opened the box yet, or it is closed for good.
    waker: Option<PipeWriter>,
    closed: bool,
}

impl Mailbox {
    fn state(&self) -> MutexGuard<'_, Letters> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, letter: Letter) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        state.closed = matches!(letter, Letter::Close);
        state.waiting.push(letter);
        if state.closed {
            // A pipe that nobody can write to wakes its reader, too.
            state.waker = None;
        }
        // One byte stands for all letters, so the pipe never fills. Should the
        // writing fail, nobody reads any more.
        if state.waiting.len() == 1
            && let Some(waker) = &mut state.waker
        {
            let _ = waker.write(&[1]);
        }
    }

    /// Lets `waker` wake whoever takes the letters; there is one such, once.
    fn open(&self, mut waker: PipeWriter) -> io::Result<()> {
        let mut state = self.state();
        if state.closed || state.waker.is_some() {
            return Err(io::Error::other("this is the road of another call"));
        }
        if !state.waiting.is_empty() {
            let _ = waker.write(&[1]);
        }
        state.waker = Some(waker);
        Ok(())
    }

    fn take(&self) -> Vec<Letter> {
        std::mem::take(&mut self.state().waiting)
    }
}
