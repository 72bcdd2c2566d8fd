use super::*;
use mio::{Events, Poll, Token};
use std::thread;

const ID: EffectId = EffectId(7);

/// A mailbox, and the poll that it wakes when there is room.
fn mailbox() -> (Arc<Mailbox>, Poll) {
    let poll = Poll::new().unwrap();
    let waker = Waker::new(poll.registry(), Token(0)).unwrap();
    (Mailbox::new(Arc::new(waker)), poll)
}

fn warn(number: usize) -> ModelNews {
    ModelNews::Warn(number.to_string())
}

fn woken(poll: &mut Poll) -> bool {
    let mut events = Events::with_capacity(4);
    poll.poll(&mut events, Some(Duration::ZERO)).unwrap();
    !events.is_empty()
}

// covers: DEC-36
#[test]
fn threads_come_before_requests_and_those_wait_while_nobody_wants_them() {
    let (mailbox, _poll) = mailbox();
    let post = mailbox.post();
    mailbox.offer(ID, warn(1)).unwrap();
    post(News::InputEnd);
    post(News::WriteFailed);
    let now = Some(Duration::ZERO);
    assert_eq!(mailbox.wait(true, now), Some(Mail::News(News::InputEnd)));
    assert_eq!(
        mailbox.wait(false, now),
        Some(Mail::News(News::WriteFailed))
    );
    assert_eq!(mailbox.wait(false, now), None);
    assert_eq!(mailbox.wait(true, now), Some(Mail::Model(ID, warn(1))));
    assert_eq!(mailbox.wait(true, now), None);
}

// covers: DEC-36
#[test]
fn a_request_waits_for_room_and_is_woken_once_there_is_some() {
    let (mailbox, mut poll) = mailbox();
    for number in 0..MODEL_NEWS {
        mailbox.offer(ID, warn(number)).unwrap();
    }
    assert_eq!(mailbox.offer(ID, warn(MODEL_NEWS)), Err(warn(MODEL_NEWS)));
    for number in 0..MODEL_NEWS / 2 {
        assert!(!woken(&mut poll), "woken with {number} taken");
        assert_eq!(mailbox.model(), Some((ID, warn(number))));
    }
    assert!(woken(&mut poll));
    mailbox.offer(ID, warn(MODEL_NEWS)).unwrap();
    for number in MODEL_NEWS / 2..=MODEL_NEWS {
        assert_eq!(mailbox.model(), Some((ID, warn(number))));
    }
    assert_eq!(mailbox.model(), None);
    assert!(!woken(&mut poll), "nobody waits any more");
}

#[test]
fn a_loop_that_waits_without_an_end_sees_what_comes() {
    let (mailbox, _poll) = mailbox();
    let post = mailbox.post();
    let waits = Arc::clone(&mailbox);
    let waiting = thread::spawn(move || (waits.wait(true, None), waits.wait(true, None)));
    post(News::InputEnd);
    mailbox.offer(ID, warn(1)).unwrap();
    let told = waiting.join().unwrap();
    let expected = (
        Some(Mail::News(News::InputEnd)),
        Some(Mail::Model(ID, warn(1))),
    );
    assert_eq!(told, expected);
}

#[test]
fn a_wait_ends_by_itself() {
    let (mailbox, _poll) = mailbox();
    assert_eq!(mailbox.wait(true, Some(Duration::from_millis(1))), None);
}

impl Mailbox {
    /// News of requests that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().model.len()
    }
}
