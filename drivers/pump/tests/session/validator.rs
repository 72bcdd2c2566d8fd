//! The embedder's validator (WIRE-015): whatever it does, one fixed failure at
//! most, no deadlock, and stdout has what the session wrote.

use crate::support::{
    Bench, Door, Silent, Sink, channel_of_news, configured, control, duplex, input, kinds, run,
    user, world,
};
use agentx_core::agent::Config;
use agentx_pump::pump::{News, Streams};
use agentx_pump::world::{Validator, World};
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::panic::panic_any;
use std::sync::{Arc, Mutex};

const REFUSED: &str = "agentx: error: a record was refused by its validator; the session ends\n";

fn vetted() -> Config {
    Config {
        vet_records: true,
        ..configured()
    }
}

/// A world whose validator notes each record and then does as `judge` says; told
/// the number of the record, from 1.
fn judging(
    judge: impl Fn(usize, &mut [u8]) -> bool + Send + 'static,
) -> (World, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let notes = Arc::clone(&asked);
    let validator: Validator = Box::new(move |record| {
        let number = {
            let mut notes = notes.lock().unwrap();
            notes.push(String::from_utf8(record.to_vec()).unwrap());
            notes.len()
        };
        judge(number, record)
    });
    let world = World {
        validator: Some(validator),
        ..world()
    };
    (world, asked)
}

/// A session of one prompt with this judgement; its status, what the validator
/// saw, stdout and stderr.
fn session(
    judge: impl Fn(usize, &mut [u8]) -> bool + Send + 'static,
) -> (u8, Vec<String>, Sink, Sink) {
    let (world, asked) = judging(judge);
    let (output, errors) = (Sink::default(), Sink::default());
    let streams = Streams {
        input: input(&[user("hello")]),
        output: Box::new(output.clone()),
        errors: Box::new(errors.clone()),
    };
    let status = run(vetted(), world, streams);
    let asked = asked.lock().unwrap().clone();
    (status, asked, output, errors)
}

/// A payload that strikes back when it is dropped.
struct Spite;

impl Drop for Spite {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

// covers: ACC-18, WIRE-015
#[test]
fn what_a_validator_does_to_its_copy_never_reaches_stdout() {
    let (status, asked, output, errors) = session(|_, copy| {
        copy.fill(b'x');
        true
    });
    assert_eq!((status, errors.text().as_str()), (0, ""));
    assert_eq!(output.text(), asked.concat(), "every record, as it was");
    let records = output.records();
    let expected = ["init", "running", "assistant", "success", "idle"];
    assert_eq!(kinds(&records), expected);
}

// covers: ACC-18, WIRE-015, DEC-20
#[test]
fn a_validator_that_panics_or_refuses_late_closes_the_output_once() {
    let (_, all, ..) = session(|_, _| true);
    let ends: [fn() -> bool; 4] = [
        || false,
        || panic!("a text with sk-live-0123456789"),
        || panic_any(Spite),
        || panic_any(io::Error::other("an error of the embedder")),
    ];
    for end in ends {
        for last in 1..=all.len() {
            let (status, asked, output, errors) = session(move |number, _| number < last || end());
            assert_eq!(status, 1, "record {last}");
            assert_eq!(asked.len(), last, "nobody is asked after the failure");
            assert_eq!(output.text(), asked[..last - 1].concat());
            assert_eq!(errors.text(), REFUSED);
        }
    }
}

// covers: ACC-18, WIRE-015
#[test]
fn a_validator_that_calls_back_finds_a_session_that_works() {
    let (post, news) = channel_of_news();
    let again = Arc::clone(&post);
    // There is no way into the session but the road of all news; from there it
    // asks for another record while it judges one, and again, and then ends.
    let (world, asked) = judging(move |number, _| {
        if number <= 5 {
            let line = format!("{}\n", control(&format!("c{number}")));
            again(News::Input(line.into_bytes()));
        } else if number == 6 {
            again(News::InputEnd);
        }
        true
    });
    let (output, errors) = (Sink::default(), Sink::default());
    let streams = Streams {
        input: Box::new(Silent),
        output: Box::new(output.clone()),
        errors: Box::new(errors.clone()),
    };
    let status = Bench::start(vetted(), world, duplex(), streams, (post, news)).end();
    assert_eq!((status, errors.text().as_str()), (0, ""));
    assert_eq!(output.text(), asked.lock().unwrap().concat());
    let answered: Vec<_> = output.records()[1..]
        .iter()
        .map(|record| {
            record["response"]["request_id"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(answered, ["c1", "c2", "c3", "c4", "c5"]);
}

/// An input that tells when all of it was taken: it is asked for more.
struct Asked(Cursor<Vec<u8>>, Door);

impl Read for Asked {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(piece)?;
        if count == 0 {
            self.1.open();
        }
        Ok(count)
    }
}

// covers: ACC-18, WIRE-015, DEC-28
#[test]
fn a_validator_that_waits_holds_up_the_output_alone() {
    let door = Door::default();
    let passed = door.clone();
    // Until the input that stands behind this record was taken, which takes a
    // loop that is not waiting for the verdict.
    let (world, asked) = judging(move |number, _| {
        if number == 2 {
            passed.pass();
        }
        number < 2
    });
    let (output, errors) = (Sink::default(), Sink::default());
    let lines = format!("{}\n{}\n", user("hello"), control("c1"));
    let streams = Streams {
        input: Box::new(Asked(Cursor::new(lines.into_bytes()), door)),
        output: Box::new(output.clone()),
        errors: Box::new(errors.clone()),
    };
    assert_eq!(run(vetted(), world, streams), 1);
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 2);
    assert_eq!(output.text(), asked[0]);
    assert_eq!(errors.text(), REFUSED);
}

/// An output that fails once this door is open.
struct Failing(Door);

impl Write for Failing {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        self.0.pass();
        Err(ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

// covers: ACC-18, WIRE-015, DEC-11
#[test]
fn a_verdict_that_comes_after_the_output_failed_changes_nothing() {
    let (judging_it, end) = (Door::default(), Door::default());
    let (begun, passed) = (judging_it.clone(), end.clone());
    let (world, asked) = judging(move |number, _| {
        if number == 2 {
            begun.open();
            passed.pass();
        }
        true
    });
    let errors = Sink::default();
    let streams = Streams {
        input: input(&[user("hello"), user("again")]),
        output: Box::new(Failing(judging_it)),
        errors: Box::new(errors.clone()),
    };
    assert_eq!(run(vetted(), world, streams), 1, "nobody waits for it");
    end.open();
    let text = "agentx: error: stdout cannot be written; the session ends\n";
    assert_eq!(errors.text(), text);
    assert_eq!(asked.lock().unwrap().len(), 2);
}

#[test]
fn a_session_that_asks_for_judgement_without_a_judge_goes_on() {
    let output = Sink::default();
    let streams = Streams {
        input: input(&[user("hello")]),
        output: Box::new(output.clone()),
        errors: Box::new(Sink::default()),
    };
    assert_eq!(run(vetted(), world(), streams), 0);
    assert_eq!(output.records().len(), 5);
}
