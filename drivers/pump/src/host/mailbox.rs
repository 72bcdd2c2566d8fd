//! Values from a thread to whoever waits for them, in any runtime or in none.
//!
//! A future of a mailbox needs a [`Waker`] and nothing else, so the same one is
//! awaited under tokio and async-std, and [`wait`] parks a thread on it.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// A FIFO with any number of readers. What a reader that is dropped did not take
/// is the next one's.
pub(super) struct Mailbox<T>(Arc<Mutex<State<T>>>);

struct State<T> {
    items: VecDeque<T>,
    closed: bool,
    wakers: Vec<Waker>,
}

impl<T> Clone for Mailbox<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Mailbox<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State {
            items: VecDeque::new(),
            closed: false,
            wakers: Vec::new(),
        })))
    }
}

impl<T> Mailbox<T> {
    /// Adds one value; drops it where nobody will read.
    pub(super) fn put(&self, item: T) {
        let mut state = self.lock();
        if !state.closed {
            state.items.push_back(item);
        }
        wake(state);
    }

    /// No more values come. Those that wait can still be taken.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        wake(state);
    }

    /// No more values are read: those that wait are dropped.
    pub(super) fn discard(&self) {
        let mut state = self.lock();
        state.closed = true;
        let items = std::mem::take(&mut state.items);
        wake(state);
        // Outside of the lock.
        drop(items);
    }

    /// The next value; `None` once the mailbox is closed and empty.
    pub(super) fn poll(&self, context: &Context<'_>) -> Poll<Option<T>> {
        self.look(context, VecDeque::pop_front)
    }

    fn look(
        &self,
        context: &Context<'_>,
        take: impl FnOnce(&mut VecDeque<T>) -> Option<T>,
    ) -> Poll<Option<T>> {
        let mut state = self.lock();
        if let Some(item) = take(&mut state.items) {
            return Poll::Ready(Some(item));
        }
        if state.closed {
            return Poll::Ready(None);
        }
        let waker = context.waker();
        if !state.wakers.iter().any(|known| known.will_wake(waker)) {
            state.wakers.push(waker.clone());
        }
        Poll::Pending
    }

    /// Waits for the next value. Dropping the future loses nothing.
    pub(super) async fn next(&self) -> Option<T> {
        poll_fn(|context| self.poll(context)).await
    }

    /// Waits for the first value and leaves it for others.
    pub(super) async fn first(&self) -> Option<T>
    where
        T: Clone,
    {
        poll_fn(|context| self.look(context, |items| items.front().cloned())).await
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes every reader, without the lock.
fn wake<T>(mut state: MutexGuard<'_, State<T>>) {
    let wakers = std::mem::take(&mut state.wakers);
    drop(state);
    wakers.into_iter().for_each(Waker::wake);
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Drives a future to its end on this thread, which sleeps in between.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_reaches_one_of_several_readers() {
        let mailbox = Mailbox::default();
        let readers: Vec<_> = (0..3)
            .map(|_| {
                let mailbox = mailbox.clone();
                thread::spawn(move || {
                    let mut taken = Vec::new();
                    while let Some(value) = wait(mailbox.next()) {
                        taken.push(value);
                    }
                    taken
                })
            })
            .collect();
        (0..1_000).for_each(|value| mailbox.put(value));
        mailbox.close();
        let taken = readers.into_iter().map(|reader| reader.join().unwrap());
        let mut taken: Vec<i32> = taken.flatten().collect();
        taken.sort_unstable();
        assert!(taken.into_iter().eq(0..1_000));
    }

    #[test]
    fn what_was_put_before_the_end_is_read_and_what_is_discarded_is_not() {
        let mailbox = Mailbox::default();
        mailbox.put(1);
        mailbox.close();
        mailbox.put(2);
        assert_eq!(wait(mailbox.next()), Some(1));
        assert_eq!(wait(mailbox.next()), None);
        let mailbox = Mailbox::default();
        mailbox.put(1);
        mailbox.discard();
        assert_eq!(wait(mailbox.next()), None);
    }
}
