//! Blocking jobs on threads: one each, a bounded number at a time, each with a
//! way to cancel it. Tool bodies, the storing of permission updates and a
//! record validator run here.

use crate::contain::contained;
use crate::pump::{News, Post};
use agentx_core::effect::{Answer, EffectId};
use agentx_tools::CancelToken;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(test)]
mod tests;

/// Tool bodies that run at once; others wait for their turn.
pub const THREADS: usize = 16;

/// Does a job: blocks until it is done or the token was cancelled.
pub type Body<J> = Box<dyn Fn(J, &CancelToken) -> Answer + Send + Sync>;

/// Why a job has no answer of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Its body panicked.
    Panicked,
    /// There was no thread for it.
    NoThread,
}

/// Runs jobs and answers their effects.
pub struct Pool<J> {
    shared: Arc<Shared<J>>,
}

struct Shared<J> {
    /// Jobs that run at once; with one they run in the order they came.
    threads: usize,
    /// Stack of each; the system's own measure without one.
    stack: Option<usize>,
    body: Body<J>,
    lost: fn(Lost) -> Answer,
    post: Post,
    state: Mutex<State<J>>,
    changed: Condvar,
}

struct State<J> {
    waiting: VecDeque<(EffectId, J)>,
    /// Those that run, cancelled ones too.
    running: BTreeMap<EffectId, CancelToken>,
    closed: bool,
}

impl<J> Clone for Pool<J> {
    fn clone(&self) -> Self {
        let shared = Arc::clone(&self.shared);
        Self { shared }
    }
}

impl<J> std::fmt::Debug for Pool<J> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl<J: Send + 'static> Pool<J> {
    /// An idle pool of `threads` that does every job with `body`, and answers
    /// with `lost` for one that has no answer.
    #[must_use]
    pub fn new(threads: usize, body: Body<J>, lost: fn(Lost) -> Answer, post: Post) -> Self {
        Self::with_stack(threads, None, body, lost, post)
    }

    /// The same, with a stack of so many bytes for each job.
    #[must_use]
    pub fn with_stack(
        threads: usize,
        stack: Option<usize>,
        body: Body<J>,
        lost: fn(Lost) -> Answer,
        post: Post,
    ) -> Self {
        let state = Mutex::new(State {
            waiting: VecDeque::new(),
            running: BTreeMap::new(),
            closed: false,
        });
        Self {
            shared: Arc::new(Shared {
                threads,
                stack,
                body,
                lost,
                post,
                state,
                changed: Condvar::new(),
            }),
        }
    }

    /// Does a job now, or when a thread is free. After [`Pool::abandon`] it is
    /// dropped without an answer.
    pub fn start(&self, id: EffectId, job: J) {
        let mut state = self.shared.lock();
        if !state.closed {
            state.waiting.push_back((id, job));
            self.shared.fill(&mut state);
        }
    }

    /// Cancels a job. One that waits never runs and never answers; the late
    /// answer of one that runs means nothing to the session.
    pub fn cancel(&self, id: EffectId) {
        let mut state = self.shared.lock();
        state.waiting.retain(|(waiting, _)| *waiting != id);
        if let Some(token) = state.running.get(&id) {
            token.cancel();
        }
    }

    /// Waits until every job has ended and its processes are reaped; false
    /// when that takes longer than `grace`.
    #[must_use]
    pub fn join(&self, grace: Duration) -> bool {
        let end = Instant::now() + grace;
        let mut state = self.shared.lock();
        while !state.running.is_empty() {
            let Some(left) = end.checked_duration_since(Instant::now()) else {
                return false;
            };
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Ends everything for good: what waits never runs, the processes of what
    /// runs are killed, and `grace` is left to reap them.
    pub fn abandon(&self, grace: Duration) {
        self.kill();
        let _ = self.join(grace);
    }

    /// Ends everything for good as [`Pool::abandon`] does, and waits for nothing.
    pub fn kill(&self) {
        let mut state = self.shared.lock();
        state.closed = true;
        state.waiting.clear();
        state.running.values().for_each(CancelToken::kill);
    }
}

impl<J: Send + 'static> Shared<J> {
    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fill(self: &Arc<Self>, state: &mut State<J>) {
        while state.running.len() < self.threads
            && let Some((id, job)) = state.waiting.pop_front()
        {
            let shared = Arc::clone(self);
            let token = CancelToken::new();
            state.running.insert(id, token.clone());
            let body = move || shared.run(id, job, &token);
            let mut builder = thread::Builder::new().name("job".into());
            if let Some(stack) = self.stack {
                builder = builder.stack_size(stack);
            }
            if builder.spawn(body).is_err() {
                state.running.remove(&id);
                (self.post)(News::Answer(id, (self.lost)(Lost::NoThread)));
            }
        }
    }

    fn run(self: Arc<Self>, id: EffectId, job: J, token: &CancelToken) {
        let answer = contained(|| (self.body)(job, token));
        let answer = answer.unwrap_or_else(|| (self.lost)(Lost::Panicked));
        let mut state = self.lock();
        state.running.remove(&id);
        self.fill(&mut state);
        self.changed.notify_all();
        drop(state);
        (self.post)(News::Answer(id, answer));
    }
}
