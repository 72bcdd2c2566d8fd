//! Values from a thread to whoever waits for them, in any runtime or in none.
//!
//! A future of a mailbox needs a [`Waker`] and nothing else, so the same one is
//! awaited under tokio and async-std, and [`wait`] parks a thread on it.

use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// A FIFO with any number of readers. What a reader that is dropped did not take
/// is the next one's.
pub(super) struct Mailbox<T>(Arc<Mutex<State<T>>>);

struct State<T> {
    items: VecDeque<T>,
    closed: bool,
    /// Of readers that wait, by their tickets.
    wakers: BTreeMap<u64, Waker>,
    /// Tickets given so far.
    tickets: u64,
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
            wakers: BTreeMap::new(),
            tickets: 0,
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

    /// Waits for the next value. Dropping the future loses nothing.
    pub(super) async fn next(&self) -> Option<T> {
        let mut reader = Reader::new(self);
        poll_fn(|context| reader.poll(context)).await
    }

    /// Waits for the first value and leaves it for others.
    pub(super) async fn first(&self) -> Option<T>
    where
        T: Clone,
    {
        let mut reader = Reader::new(self);
        poll_fn(|context| reader.look(context, |items| items.front().cloned())).await
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who reads. Dropped while it waits, it leaves no waker behind: others may
/// come and go for as long as the mailbox is empty.
pub(super) struct Reader<'a, T> {
    mailbox: &'a Mailbox<T>,
    /// Its place among those that wait, once it had to.
    ticket: Option<u64>,
}

impl<'a, T> Reader<'a, T> {
    pub(super) const fn new(mailbox: &'a Mailbox<T>) -> Self {
        let ticket = None;
        Self { mailbox, ticket }
    }

    /// The next value; `None` once the mailbox is closed and empty.
    pub(super) fn poll(&mut self, context: &Context<'_>) -> Poll<Option<T>> {
        self.look(context, VecDeque::pop_front)
    }

    fn look(
        &mut self,
        context: &Context<'_>,
        take: impl FnOnce(&mut VecDeque<T>) -> Option<T>,
    ) -> Poll<Option<T>> {
        let mut state = self.mailbox.lock();
        if let Some(item) = take(&mut state.items) {
            return Poll::Ready(Some(item));
        }
        if state.closed {
            return Poll::Ready(None);
        }
        let ticket = *self.ticket.get_or_insert_with(|| {
            state.tickets += 1;
            state.tickets
        });
        let before = state.wakers.insert(ticket, context.waker().clone());
        drop(state);
        drop(before);
        Poll::Pending
    }
}

impl<T> Drop for Reader<'_, T> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            let waker = self.mailbox.lock().wakers.remove(&ticket);
            drop(waker);
        }
    }
}

/// Wakes every reader, without the lock.
fn wake<T>(mut state: MutexGuard<'_, State<T>>) {
    let wakers = std::mem::take(&mut state.wakers);
    drop(state);
    wakers.into_values().for_each(Waker::wake);
}

struct Unpark {
    thread: Thread,
    /// What is waited for may park as well, and wake up by what was meant for us.
    woken: AtomicBool,
}

impl Unpark {
    fn current() -> Arc<Self> {
        Arc::new(Self {
            thread: thread::current(),
            woken: AtomicBool::new(false),
        })
    }
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Drives a future to its end on this thread, which sleeps in between.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    let unpark = Unpark::current();
    let waker = Waker::from(Arc::clone(&unpark));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => {
                while !unpark.woken.swap(false, Ordering::Acquire) {
                    thread::park();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

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
    fn a_future_that_parks_for_itself_takes_no_wake_up_away() {
        let (told, over) = channel();
        thread::spawn(move || {
            let mut polls = 0;
            wait(poll_fn(|context| {
                polls += 1;
                if polls > 1 {
                    return Poll::Ready(());
                }
                context.waker().wake_by_ref();
                // As a channel does that something in it waits for.
                thread::park();
                Poll::Pending
            }));
            told.send(()).unwrap();
        });
        // A wait that nobody should ever see.
        assert_eq!(over.recv_timeout(Duration::from_secs(30)), Ok(()));
    }

    #[test]
    fn a_reader_that_is_dropped_leaves_nothing_behind() {
        let mailbox = Mailbox::<u8>::default();
        let (waits, left) = (Unpark::current(), Unpark::current());
        let mut reader = Reader::new(&mailbox);
        let waker = Waker::from(Arc::clone(&waits));
        assert!(reader.poll(&Context::from_waker(&waker)).is_pending());
        for _ in 0..100 {
            // As a task each, which asks for a while and goes away.
            let waker = Waker::from(Arc::clone(&left));
            let mut context = Context::from_waker(&waker);
            assert!(pin!(mailbox.next()).poll(&mut context).is_pending());
            assert!(pin!(mailbox.first()).poll(&mut context).is_pending());
            assert!(Reader::new(&mailbox).poll(&context).is_pending());
        }
        assert_eq!(Arc::strong_count(&left), 1);
        assert_eq!(Arc::strong_count(&waits), 3, "the other one still waits");
        mailbox.put(1);
        assert_eq!(Arc::strong_count(&waits), 2, "it was woken");
        let next = reader.poll(&Context::from_waker(&waker));
        assert_eq!(next, Poll::Ready(Some(1)));
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
