//! Name lookups and the loading of root stores, which block: threads of their own.

use crate::dial::{DialFailure, Place, resolve};
use crate::http1::ConnectFailure;
use crate::model::Target;
use crate::tls::TrustStore;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Lookups at once; others wait for their turn.
const THREADS: usize = 16;

/// What a lookup found.
pub type Found = Result<Place, DialFailure>;

/// Takes what was found, on the thread that found it.
pub type Answer = Box<dyn FnOnce(Found) + Send>;

/// Threads that look up. A thread ends when nothing waits, and nobody waits for it:
/// a lookup cannot be cancelled.
#[derive(Clone)]
pub struct Lookups(Arc<Shared>);

impl std::fmt::Debug for Lookups {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lookups").finish_non_exhaustive()
    }
}

struct Shared {
    trust: Arc<TrustStore>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(Target, Answer)>,
    threads: usize,
}

impl Lookups {
    /// Nothing is looked up yet; `trust` loads the root stores.
    #[must_use]
    pub fn new(trust: Arc<TrustStore>) -> Self {
        Self(Arc::new(Shared {
            trust,
            state: Mutex::default(),
        }))
    }

    /// Looks `target` up; `answer` is told once. Without a thread for it the
    /// connection has failed.
    pub fn start(&self, target: Target, answer: Answer) {
        let mut state = self.0.lock();
        state.waiting.push_back((target, answer));
        if state.threads >= THREADS {
            return;
        }
        let shared = Arc::clone(&self.0);
        let started = thread::Builder::new()
            .name("lookup".into())
            .spawn(move || shared.work());
        match started {
            Ok(_) => state.threads += 1,
            // Another thread will come to it.
            Err(_) if state.threads > 0 => {}
            Err(_) => {
                let last = state.waiting.pop_back();
                drop(state);
                if let Some((_, answer)) = last {
                    answer(Err(DialFailure::Connect(ConnectFailure::Other)));
                }
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        while let Some((target, answer)) = self.next() {
            answer(resolve(&target, &self.trust));
        }
    }

    /// The next job, or the thread is no longer counted.
    fn next(&self) -> Option<(Target, Answer)> {
        let mut state = self.lock();
        let next = state.waiting.pop_front();
        if next.is_none() {
            state.threads -= 1;
        }
        next
    }
}

#[cfg(test)]
mod tests;
