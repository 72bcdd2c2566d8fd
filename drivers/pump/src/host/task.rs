//! Callbacks as tasks: run beside the reading, contained, answered once.

use super::mailbox::wait;
use crate::contain::contained;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

/// A future of any type, for any thread.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Runs a task beside the caller, on whatever the runtime has for it. What is
/// returned ends the task where that is possible.
pub type Spawn = Arc<dyn Fn(BoxFuture<()>) -> Stop + Send + Sync>;

/// Ends a task that is not wanted any more.
pub type Stop = Box<dyn FnOnce() + Send>;

/// Why a callback has no answer, in words for the agent.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What the agent is told of a callback that panicked, or never ended.
pub(super) const FAILED: &str = "the callback of the host failed";

/// Runs a callback to its end. A panic, wherever it is, gives [`FAILED`]; so does
/// a failure that cannot be put into words (WIRE-PERM-002).
pub(super) async fn answered<T>(
    begin: impl FnOnce() -> BoxFuture<Result<T, Failure>>,
) -> Result<T, String> {
    let failed = || Err(FAILED.to_owned());
    let Some(mut future) = contained(begin) else {
        return failed();
    };
    let ended = poll_fn(|context| {
        let polled = contained(|| future.as_mut().poll(context));
        match polled {
            Some(Poll::Pending) => Poll::Pending,
            Some(Poll::Ready(answer)) => Poll::Ready(Some(answer)),
            None => Poll::Ready(None),
        }
    });
    let answer = ended.await;
    contained(move || drop(future));
    match answer {
        Some(Ok(answer)) => Ok(answer),
        Some(Err(failure)) => {
            let words = contained(|| failure.to_string());
            contained(move || drop(failure));
            Err(words.unwrap_or_else(|| FAILED.to_owned()))
        }
        None => failed(),
    }
}

/// A thread for each task, which ends with it. Where there is none the task is
/// dropped, which refuses what was asked. A callback that blocks cannot be ended:
/// it runs on, and its answer goes nowhere.
#[must_use]
pub fn threads() -> Spawn {
    Arc::new(|task| {
        let thread = std::thread::Builder::new().name("callback".into());
        drop(thread.spawn(move || wait(task)));
        Box::new(|| {})
    })
}
