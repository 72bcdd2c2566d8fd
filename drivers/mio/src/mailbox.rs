//! What the session's loop waits for: news of threads and of model requests, and
//! the clock. One lock and one condition, so one wait sees all of them.

use agentx_core::effect::EffectId;
use agentx_pump::drive::MODEL_NEWS;
use agentx_pump::pump::{ModelNews, News, Post};
use mio::Waker;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One piece for the loop.
#[derive(Debug, PartialEq)]
pub(crate) enum Mail {
    /// Of a thread.
    News(News),
    /// Of a model request.
    Model(EffectId, ModelNews),
}

/// The loop takes, everybody else puts in.
#[derive(Debug)]
pub(crate) struct Mailbox {
    state: Mutex<State>,
    changed: Condvar,
    /// Wakes the requests, which pause while there is no room for their news.
    requests: Arc<Waker>,
}

#[derive(Debug, Default)]
struct State {
    news: VecDeque<News>,
    /// At most [`MODEL_NEWS`].
    model: VecDeque<(EffectId, ModelNews)>,
    /// A request waits for room.
    full: bool,
}

impl Mailbox {
    pub(crate) fn new(requests: Arc<Waker>) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            requests,
        })
    }

    /// The road for threads. It has no bound of its own: each kind of news is
    /// bounded where it comes from, and none may wait.
    pub(crate) fn post(self: &Arc<Self>) -> Post {
        let mailbox = Arc::clone(self);
        Arc::new(move |item| mailbox.put(item))
    }

    pub(crate) fn put(&self, item: News) {
        self.lock().news.push_back(item);
        self.changed.notify_one();
    }

    /// News of a request; given back where [`MODEL_NEWS`] wait already. Who gets
    /// them back is woken when there is room.
    pub(crate) fn offer(&self, id: EffectId, item: ModelNews) -> Result<(), ModelNews> {
        let mut state = self.lock();
        if state.model.len() >= MODEL_NEWS {
            state.full = true;
            return Err(item);
        }
        state.model.push_back((id, item));
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// The next piece, threads first; nothing once `wait` is over. News of
    /// requests stay where they are unless `progress`.
    pub(crate) fn wait(&self, progress: bool, wait: Option<Duration>) -> Option<Mail> {
        let mut end = None;
        let mut state = self.lock();
        loop {
            if let Some(item) = state.news.pop_front() {
                return Some(Mail::News(item));
            }
            if progress && let Some((id, item)) = self.take_model(&mut state) {
                return Some(Mail::Model(id, item));
            }
            // The clock is read where there is something to wait for. A wait that
            // ends beyond what it can tell has no end.
            let now = Instant::now();
            let end = *end.get_or_insert_with(|| wait.and_then(|wait| now.checked_add(wait)));
            state = match end.map(|end| end.saturating_duration_since(now)) {
                Some(Duration::ZERO) => return None,
                Some(left) => {
                    let waited = self.changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let waited = self.changed.wait(state);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }

    /// News of a request, where some wait.
    pub(crate) fn model(&self) -> Option<(EffectId, ModelNews)> {
        self.take_model(&mut self.lock())
    }

    fn take_model(&self, state: &mut State) -> Option<(EffectId, ModelNews)> {
        let item = state.model.pop_front()?;
        // Half of the room at once, so that both sides do not wake each other for
        // every piece.
        if state.full && state.model.len() <= MODEL_NEWS / 2 {
            state.full = false;
            wake(&self.requests);
        }
        Some(item)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes a poll. It fails only where the system has no room for one more event,
/// and then there is one already.
pub(crate) fn wake(waker: &Waker) {
    let _ = waker.wake();
}

#[cfg(test)]
mod tests;
