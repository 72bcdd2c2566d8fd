//! What is async-std's own. The rest of this crate is written on the traits of
//! `futures-io`, so another runtime that has them replaces this file.

pub(crate) use async_std::net::TcpStream;
pub(crate) use async_std::task::block_on;

use async_channel::{Sender, bounded};
use futures_lite::future::{or, poll_once};
use std::future::{Future, pending};
use std::io;
use std::sync::OnceLock;
use std::time::Duration;

/// Begins what the runtime has for the whole process, once. The runtime would do so
/// when it first waits, and panic where descriptors have run out.
///
/// # Errors
///
/// When the system has no descriptors for it.
pub(crate) fn start() -> io::Result<()> {
    static STARTED: OnceLock<()> = OnceLock::new();
    if STARTED.get().is_none() {
        // What the runtime is about to open. Given back, then taken by it.
        drop(polling::Poller::new()?);
        // A timer that is set is enough; nobody waits for it.
        block_on(poll_once(after(Some(Duration::from_secs(3_600)))));
        let _ = STARTED.set(());
    }
    Ok(())
}

/// A task that ends early when this is dropped.
pub(crate) struct Task(Sender<()>);

impl Task {
    pub(crate) fn is_over(&self) -> bool {
        self.0.is_closed()
    }
}

/// Runs a task on a thread of the runtime, beside the one that calls
/// [`block_on`], which runs nothing but its own future.
pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static) -> Task {
    let (alive, dropped) = bounded(1);
    let dropped = async move {
        let _ = dropped.recv().await;
    };
    drop(async_std::task::spawn(or(dropped, task)));
    Task(alive)
}

/// Sleeps that long, for ever without a length.
pub(crate) async fn after(wait: Option<Duration>) {
    match wait {
        Some(Duration::ZERO) => {}
        Some(wait) => async_std::task::sleep(wait).await,
        None => pending().await,
    }
}
