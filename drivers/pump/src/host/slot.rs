//! One answer on its way to one future.

use super::error::Error;
use super::mailbox::Mailbox;

/// Where an answer goes; dropped without one it says that nobody will answer.
pub(super) struct Slot<T>(Option<Mailbox<Result<T, Error>>>);

/// Where it comes out.
pub(super) struct Outcome<T>(Mailbox<Result<T, Error>>);

/// Both ends.
pub(super) fn slot<T>() -> (Slot<T>, Outcome<T>) {
    let mailbox = Mailbox::default();
    (Slot(Some(mailbox.clone())), Outcome(mailbox))
}

impl<T> Slot<T> {
    /// Answers.
    pub(super) fn settle(mut self, answer: Result<T, Error>) {
        if let Some(mailbox) = self.0.take() {
            mailbox.put(answer);
        }
    }
}

impl<T> Drop for Slot<T> {
    fn drop(&mut self) {
        if let Some(mailbox) = &self.0 {
            mailbox.close();
        }
    }
}

impl<T> Outcome<T> {
    /// Waits for the answer; `None` when there will be none.
    pub(super) async fn get(&self) -> Option<Result<T, Error>> {
        self.0.next().await
    }
}
