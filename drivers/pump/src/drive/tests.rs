use super::*;
use crate::http1::ConnectFailure;
use agentx_core::machine::{Misuse, Wants};
use agentx_core::model::Delta;
use std::sync::mpsc::{Receiver, channel};

/// A run with an adapter that has a bug: at the first byte of an answer, or at
/// once.
#[derive(Debug, Default)]
struct Faulty {
    at_once: bool,
    out: VecDeque<Output>,
}

impl Machine for Faulty {
    type Input<'a> = Input<'a>;
    type Output = Output;

    fn handle(&mut self, _: Instant, input: Input<'_>) -> Result<(), Misuse> {
        match input {
            Input::Begin => {
                assert!(!self.at_once, "a fault of the encoder");
                self.out.push_back(Output::Write(b"request".to_vec()));
            }
            Input::Bytes(b"fine") => {
                let delta = Delta::Text("so far".into());
                self.out.push_back(Output::Delta(delta));
            }
            Input::Bytes(_) => {
                self.out.push_back(Output::Close);
                panic!("a fault of the decoder");
            }
            _ => {}
        }
        Ok(())
    }

    fn poll(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn wants(&self) -> Wants {
        Wants::NOTHING
    }
}

fn begin(at_once: bool) -> (Drive<Faulty>, Receiver<News>) {
    let (sender, posted) = channel();
    let post: Post = Arc::new(move |item| drop(sender.send(item)));
    let run = Faulty {
        at_once,
        ..Faulty::default()
    };
    (Drive::begin(run, EffectId(3), post, Instant::ZERO), posted)
}

fn failed() -> Act {
    Act::Tell(ModelNews::Done(lost()))
}

#[test]
fn a_panic_in_the_middle_of_an_answer_fails_the_request() {
    let (mut drive, posted) = begin(false);
    assert_eq!(drive.poll(), Act::Wait);
    assert_eq!(drive.unwritten(), b"request");
    drive.wrote(Ok(7));
    drive.read(Ok(b"fine"));
    let before = Act::Tell(ModelNews::Delta(Delta::Text("so far".into())));
    assert_eq!(drive.poll(), before, "what came before it counts");
    drive.read(Ok(b"fatal"));
    assert_eq!(drive.poll(), failed());
    assert_eq!(drive.poll(), Act::Over);
    // Nothing reaches the broken machine any more, and nothing follows.
    drive.read(Ok(b"fatal"));
    drive.dialled(Err(DialFailure::Connect(ConnectFailure::Other)));
    assert_eq!(drive.poll(), Act::Over);
    drop(drive);
    assert_eq!(posted.iter().count(), 0, "it was told once");
}

#[test]
fn a_panic_at_the_beginning_fails_the_request() {
    let (mut drive, _posted) = begin(true);
    assert_eq!(drive.poll(), failed());
    assert_eq!(drive.poll(), Act::Over);
}

#[test]
fn a_driver_that_is_gone_before_the_end_leaves_word() {
    let (mut drive, posted) = begin(false);
    assert_eq!(drive.poll(), Act::Wait);
    let gone = std::thread::spawn(move || {
        let _drive = drive;
        panic!("a fault of the driver");
    });
    gone.join().unwrap_err();
    let posted: Vec<_> = posted.iter().collect();
    assert_eq!(posted, [News::ModelLost(EffectId(3))]);
}

#[test]
fn what_a_socket_says_reaches_the_run() {
    let (mut drive, _posted) = begin(false);
    assert_eq!(drive.poll(), Act::Wait);
    drive.wrote(Ok(3));
    assert_eq!(drive.unwritten(), b"uest");
    drive.wrote(Ok(0));
    assert_eq!(drive.unwritten(), b"", "a write that takes nothing failed");
    assert_eq!(drive.wait(), None);
    assert_eq!(drive.poll(), Act::Wait);
}

#[test]
fn a_wait_ends_behind_the_deadline() {
    let at = Instant::from_micros;
    let micros = Duration::from_micros;
    assert_eq!(wait(at(5), None), None);
    assert_eq!(wait(at(5), Some(at(5))), Some(Duration::ZERO));
    assert_eq!(wait(at(5), Some(at(3))), Some(Duration::ZERO));
    assert_eq!(wait(at(5), Some(at(9))), Some(micros(5)));
}

#[test]
fn who_listens_hears_of_one_end() {
    let mut told = Vec::new();
    drop(Listener::new(|news| told.push(news)));
    assert_eq!(told, [ModelNews::Done(lost())]);
    let mut told = Vec::new();
    let mut listener = Listener::new(|news| told.push(news));
    listener.take(ModelNews::Done(ModelOutcome::Finished));
    drop(listener);
    assert_eq!(told, [ModelNews::Done(ModelOutcome::Finished)]);
}
