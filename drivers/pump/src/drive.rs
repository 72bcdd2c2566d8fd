//! A model run beside its socket: all that a driver does for it but the waiting.
//!
//! ```text
//! loop {
//!     match drive.poll() {
//!         Dial(target) => begin to resolve and connect
//!         Close        => write `unwritten` once without waiting; close; `closed`
//!         Tell(news)   => pass it on; where nobody takes it: `pause`, wait, `resume`
//!         Wait         => wait for `dialled`, `read`, `wrote`, or `due` after `wait`
//!         Over         => end
//!     }
//! }
//! ```
//!
//! One step may decode an event of megabytes, so a drive belongs on a thread
//! beside the session's loop (DEC-28).
//!
//! A run that panics has failed, with a fixed text, and so has one whose driver
//! is dropped before the run said how it ended: a turn never waits for nobody.

use crate::contain::contained;
use crate::dial::DialFailure;
use crate::model::{Input, ModelRun, Output, Target};
use crate::pump::{ModelNews, News, Post};
use agentx_core::effect::EffectId;
use agentx_core::machine::Machine;
use agentx_core::model::{ErrorCategory, ModelFailure, ModelOutcome};
use agentx_core::time::Instant;
use rustls::ClientConfig;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

#[cfg(test)]
mod tests;

/// Bytes of an answer taken at once; below the step of DEC-28.
pub const READ_BYTES: usize = 64 * 1024;

/// News of runs that wait for the session before the runs pause.
pub const MODEL_NEWS: usize = 64;

/// What the driver has to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Resolve this, connect, and say so with [`Drive::dialled`].
    Dial(Target),
    /// Stop dialling; try once to write what is unwritten, which may be a TLS
    /// alert; close, and say so with [`Drive::closed`].
    Close,
    /// Pass this on to the session.
    Tell(ModelNews),
    /// Wait.
    Wait,
    /// The run is over.
    Over,
}

/// A model run, its clock and what it has to write.
#[derive(Debug)]
pub struct Drive<M = ModelRun> {
    run: M,
    books: Books,
    unwritten: VecDeque<u8>,
    /// The session's time when this began, and that moment. It goes on in real
    /// time, whatever the session's clock is: what it bounds is a socket.
    start: (Instant, std::time::Instant),
    panicked: bool,
}

/// Tells of the end where the run itself no longer can.
struct Books {
    id: EffectId,
    post: Post,
    settled: bool,
}

impl Drop for Books {
    fn drop(&mut self) {
        if !self.settled {
            (self.post)(News::ModelLost(self.id));
        }
    }
}

impl std::fmt::Debug for Books {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Books")
            .field("id", &self.id)
            .field("settled", &self.settled)
            .finish_non_exhaustive()
    }
}

impl<M: for<'a> Machine<Input<'a> = Input<'a>, Output = Output>> Drive<M> {
    /// Begins a run. `now` is the session's time.
    #[must_use]
    pub fn begin(run: M, id: EffectId, post: Post, now: Instant) -> Self {
        let settled = false;
        let mut drive = Self {
            run,
            books: Books { id, post, settled },
            unwritten: VecDeque::new(),
            start: (now, std::time::Instant::now()),
            panicked: false,
        };
        drive.feed(Input::Begin);
        drive
    }

    /// The effect that the run settles.
    #[must_use]
    pub const fn id(&self) -> EffectId {
        self.books.id
    }

    /// What is to be done next; asked until it says [`Act::Wait`] or [`Act::Over`].
    pub fn poll(&mut self) -> Act {
        while !self.books.settled {
            let output = if self.panicked {
                Some(Output::Done(lost()))
            } else {
                self.run.poll()
            };
            match output {
                Some(Output::Connect(target)) => return Act::Dial(target),
                Some(Output::Write(bytes)) => self.unwritten.extend(bytes),
                Some(Output::Close) => return Act::Close,
                Some(Output::Delta(delta)) => return Act::Tell(ModelNews::Delta(delta)),
                Some(Output::Warn(text)) => return Act::Tell(ModelNews::Warn(text)),
                Some(Output::Done(outcome)) => {
                    self.books.settled = true;
                    return Act::Tell(ModelNews::Done(outcome));
                }
                None => return Act::Wait,
            }
        }
        Act::Over
    }

    /// How long until the run is [`due`](Self::due); for ever without a deadline.
    #[must_use]
    pub fn wait(&self) -> Option<Duration> {
        wait(self.now(), self.run.deadline())
    }

    /// What is to be written, in order.
    pub fn unwritten(&mut self) -> &[u8] {
        self.unwritten.make_contiguous()
    }

    /// The dial ended.
    pub fn dialled(&mut self, dialled: Result<Option<Arc<ClientConfig>>, DialFailure>) {
        self.feed(match dialled {
            Ok(tls) => Input::Connected(tls),
            Err(DialFailure::Connect(failure)) => Input::ConnectFailed(failure),
            Err(DialFailure::Tls(fault)) => Input::TlsFailed(fault),
        });
    }

    /// The socket is closed.
    pub fn closed(&mut self) {
        self.unwritten.clear();
    }

    /// A read of the socket gave this; nothing at its end.
    pub fn read(&mut self, read: io::Result<&[u8]>) {
        self.feed(match read {
            Ok([]) => Input::Eof,
            Ok(bytes) => Input::Bytes(bytes),
            Err(_) => Input::ReadFailed,
        });
    }

    /// A write of what is unwritten took so much. Nothing, although there was
    /// room, is a failure.
    pub fn wrote(&mut self, wrote: io::Result<usize>) {
        if let Ok(count @ 1..) = wrote {
            self.unwritten.drain(..count.min(self.unwritten.len()));
            self.feed(Input::Wrote(count));
        } else {
            self.unwritten.clear();
            self.feed(Input::WriteFailed);
        }
    }

    /// The wait is over.
    pub fn due(&mut self) {
        self.feed(Input::Tick);
    }

    /// Nobody takes news: the peer's silence does not count (DEC-36).
    pub fn pause(&mut self) {
        self.feed(Input::Pause);
    }

    /// News are taken again.
    pub fn resume(&mut self) {
        self.feed(Input::Resume);
    }

    fn now(&self) -> Instant {
        let (start, since) = self.start;
        start.after(since.elapsed())
    }

    fn feed(&mut self, input: Input<'_>) {
        if self.panicked || self.books.settled {
            return;
        }
        let now = self.now();
        let _span = tracing::debug_span!("request", effect = self.books.id.0).entered();
        // The run refuses what a socket still says after its end: it means nothing.
        self.panicked = contained(|| self.run.handle(now, input)).is_none();
    }
}

/// Who is told of a request that belongs to no session. Dropped before the end
/// came, it tells that the request is lost.
#[derive(Debug)]
pub struct Listener<F: FnMut(ModelNews)> {
    each: F,
    settled: bool,
}

impl<F: FnMut(ModelNews)> Listener<F> {
    /// Every piece of news goes to `each`.
    pub const fn new(each: F) -> Self {
        let settled = false;
        Self { each, settled }
    }

    /// Passes news on.
    pub fn take(&mut self, news: ModelNews) {
        self.settled |= matches!(news, ModelNews::Done(_));
        (self.each)(news);
    }
}

impl<F: FnMut(ModelNews)> Drop for Listener<F> {
    fn drop(&mut self) {
        if !self.settled && !std::thread::panicking() {
            (self.each)(ModelNews::Done(lost()));
        }
    }
}

/// How long to wait so that the clock has passed `deadline` for sure.
#[must_use]
pub fn wait(now: Instant, deadline: Option<Instant>) -> Option<Duration> {
    deadline.map(|due| match due.since(now) {
        Duration::ZERO => Duration::ZERO,
        left => left + Duration::from_micros(1),
    })
}

/// The outcome of a run that cannot say how it ended.
#[must_use]
pub fn lost() -> ModelOutcome {
    ModelOutcome::Failed(ModelFailure {
        category: ErrorCategory::Unknown,
        status: None,
        message: "the request failed inside; this is a fault of AgentX".to_owned(),
    })
}
