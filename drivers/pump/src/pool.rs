//! Tool bodies on threads: one each, a bounded number at a time, each with a
//! way to cancel it.

use crate::pump::{News, Post};
use agentx_core::effect::{Answer, EffectId};
use agentx_core::tool::{ToolOutcome, ToolRequest};
use agentx_tools::{CancelToken, Toolbox};
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(test)]
mod tests;

/// Tool bodies that run at once; others wait for their turn.
pub const THREADS: usize = 16;

/// What runs a tool: blocks until it is done or the token was cancelled.
pub type Body = Arc<dyn Fn(&ToolRequest, &CancelToken) -> ToolOutcome + Send + Sync>;

/// Runs tools and answers their effects.
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    body: Body,
    post: Post,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    running: usize,
    waiting: VecDeque<(EffectId, Box<ToolRequest>, CancelToken)>,
    tokens: BTreeMap<EffectId, CancelToken>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl Pool {
    /// An idle pool that runs the tools of `toolbox`.
    #[must_use]
    pub fn new(toolbox: Arc<Toolbox>, post: Post) -> Self {
        let body = move |request: &ToolRequest, cancel: &CancelToken| toolbox.run(request, cancel);
        Self::with_body(Arc::new(body), post)
    }

    /// An idle pool that runs `body` for every request.
    #[must_use]
    pub fn with_body(body: Body, post: Post) -> Self {
        let (state, changed) = (Mutex::default(), Condvar::new());
        Self {
            shared: Arc::new(Shared {
                body,
                post,
                state,
                changed,
            }),
        }
    }

    /// Runs a tool now, or when a thread is free.
    pub fn start(&self, id: EffectId, request: Box<ToolRequest>) {
        let token = CancelToken::new();
        let mut state = self.shared.lock();
        state.tokens.insert(id, token.clone());
        state.waiting.push_back((id, request, token));
        self.shared.fill(&mut state);
    }

    /// Cancels a tool. One that waits never runs and never answers; the late
    /// answer of one that runs means nothing to the session.
    pub fn cancel(&self, id: EffectId) {
        let mut state = self.shared.lock();
        state.waiting.retain(|(waiting, ..)| *waiting != id);
        if let Some(token) = state.tokens.remove(&id) {
            token.cancel();
        }
    }

    /// Waits until every body has ended and its processes are reaped; false
    /// when that takes longer than `grace`.
    #[must_use]
    pub fn join(&self, grace: Duration) -> bool {
        let end = Instant::now() + grace;
        let mut state = self.shared.lock();
        while state.running > 0 {
            let Some(left) = end.checked_duration_since(Instant::now()) else {
                return false;
            };
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fill(self: &Arc<Self>, state: &mut State) {
        while state.running < THREADS
            && let Some((id, request, token)) = state.waiting.pop_front()
        {
            let shared = Arc::clone(self);
            let body = move || shared.run(id, &request, &token);
            match thread::Builder::new().name("tool".into()).spawn(body) {
                Ok(_) => state.running += 1,
                Err(_) => {
                    state.tokens.remove(&id);
                    let outcome = ToolOutcome::error("The tool could not be started: no thread.");
                    (self.post)(answer(id, outcome));
                }
            }
        }
    }

    fn run(self: Arc<Self>, id: EffectId, request: &ToolRequest, token: &CancelToken) {
        let ran = catch_unwind(AssertUnwindSafe(|| (self.body)(request, token)));
        let outcome = ran.unwrap_or_else(|_| {
            ToolOutcome::error("The tool failed inside; this is a fault of AgentX.")
        });
        let mut state = self.lock();
        state.running -= 1;
        state.tokens.remove(&id);
        self.fill(&mut state);
        self.changed.notify_all();
        drop(state);
        (self.post)(answer(id, outcome));
    }
}

fn answer(id: EffectId, outcome: ToolOutcome) -> News {
    News::Answer(id, Answer::Tool(outcome))
}
