//! The session store on a thread of its own: one batch after another, in order,
//! and none of them on the way of anything else (DEC-28, DEC-32).

use crate::contain::contained;
use crate::pump::{News, Post};
use crate::world::Keep;
use agentx_core::effect::EffectId;
use agentx_core::store::Batch;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

#[cfg(test)]
mod tests;

/// Stores batches as they come. The thread starts with the first one.
pub(crate) struct Keeper {
    post: Post,
    idle: Option<Keep>,
    thread: Option<Thread>,
}

/// The thread, as long as batches may come.
struct Thread {
    batches: Sender<(EffectId, Batch)>,
    /// Closed by the thread's end, after the store is closed.
    over: Receiver<()>,
}

impl Keeper {
    /// A keeper at rest; without a store it stores nothing, and says so.
    pub(crate) const fn new(keep: Option<Keep>, post: Post) -> Self {
        Self {
            post,
            idle: keep,
            thread: None,
        }
    }

    /// Stores a batch after all that came before.
    pub(crate) fn store(&mut self, id: EffectId, batch: Batch) {
        if let Err(why) = self.try_store(id, batch) {
            (self.post)(News::Stored(id, Err(why.into())));
        }
    }

    fn try_store(&mut self, id: EffectId, batch: Batch) -> Result<(), &'static str> {
        let thread = match self.thread.take() {
            Some(thread) => thread,
            None => {
                let keep = self.idle.take().ok_or("there is none")?;
                start(keep, self.post.clone()).map_err(|_| "no thread")?
            }
        };
        let thread = self.thread.insert(thread);
        let sent = thread.batches.send((id, batch));
        sent.map_err(|_| "it is closed")
    }

    /// Closes the store behind its last batch; false when that takes longer than `grace`.
    #[must_use]
    pub(crate) fn close(&mut self, grace: Duration) -> bool {
        let Some(Thread { batches, over }) = self.thread.take() else {
            return true;
        };
        drop(batches);
        over.recv_timeout(grace) != Err(RecvTimeoutError::Timeout)
    }
}

fn start(mut keep: Keep, post: Post) -> std::io::Result<Thread> {
    let (batches, taken) = channel::<(EffectId, Batch)>();
    let (open, over) = channel();
    let body = move || {
        for (id, batch) in taken {
            let kept = contained(|| keep(&batch));
            let kept = kept.unwrap_or_else(|| Err("it failed inside".into()));
            post(News::Stored(id, kept));
        }
        let _ = contained(|| drop(keep));
        drop::<Sender<()>>(open);
    };
    thread::Builder::new().name("store".into()).spawn(body)?;
    Ok(Thread { batches, over })
}
