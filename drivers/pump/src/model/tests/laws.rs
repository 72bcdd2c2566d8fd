//! The five laws, for runs.

use super::{STREAM, answer, chat, good_answer, scripted};
use crate::http1::ConnectFailure;
use crate::model::{Input, ModelRun, Output};
use agentx_laws::{Effect, Script, Subject, check};

#[derive(Clone)]
enum Other {
    Begin,
    Connected,
    Refused,
    ReadFailed,
    Wrote(usize),
    Pause,
    Resume,
}

/// A run as the suite of laws sees it: what the peer sends is its stream.
struct Runs(fn() -> ModelRun);

impl Subject for Runs {
    type Machine = ModelRun;
    type Other = Other;

    fn machine(&self) -> ModelRun {
        (self.0)()
    }

    fn bytes<'a>(&self, bytes: &'a [u8]) -> Input<'a> {
        Input::Bytes(bytes)
    }

    fn eof<'a>(&self) -> Input<'a> {
        Input::Eof
    }

    fn tick<'a>(&self) -> Input<'a> {
        Input::Tick
    }

    fn other<'a>(&self, other: &'a Other) -> Input<'a> {
        match other {
            Other::Begin => Input::Begin,
            Other::Connected => Input::Connected(None),
            Other::Refused => Input::ConnectFailed(ConnectFailure::Refused),
            Other::ReadFailed => Input::ReadFailed,
            Other::Wrote(count) => Input::Wrote(*count),
            Other::Pause => Input::Pause,
            Other::Resume => Input::Resume,
        }
    }

    fn effect(&self, output: &Output) -> Effect {
        match output {
            Output::Done(_) => Effect::Exit,
            _ => Effect::None,
        }
    }
}

fn short() -> ModelRun {
    chat("http://127.0.0.1:8080/v1", "hi")
}

fn asked() -> Script<Other> {
    Script::new()
        .other(Other::Begin)
        .at(1)
        .other(Other::Connected)
        .at(2)
        .other(Other::Wrote(100))
}

#[track_caller]
fn holds(make: fn() -> ModelRun, script: &Script<Other>) {
    if let Err(broken) = check(&Runs(make), script, 0..20) {
        panic!("{broken}");
    }
}

#[test]
fn the_laws_hold_for_an_answer() {
    let whole = good_answer();
    holds(short, &asked().at(3).bytes(&whole).at(4).eof());
    let chunked = format!(
        "HTTP/1.1 103 Hint\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
         {:x}\r\n{STREAM}\r\n0\r\n\r\n",
        STREAM.len()
    );
    holds(short, &asked().at(3).bytes(chunked));
    let cut = &whole[..whole.len() - 20];
    holds(short, &asked().at(3).bytes(cut).at(9).eof());
    holds(
        short,
        &asked().at(3).bytes(cut).at(9).other(Other::ReadFailed),
    );
    // No end at all: a limit ends it.
    holds(short, &asked().at(3).bytes(cut));
}

#[test]
fn the_laws_hold_for_attempts() {
    let busy = answer("503 Busy", "retry-after: 1\r\n", "busy");
    let script = asked()
        .at(3)
        .bytes(&busy)
        .at(9_000_000)
        .other(Other::Refused)
        .at(20_000_000)
        .other(Other::Connected)
        .at(20_000_001)
        .bytes(good_answer());
    holds(short, &script);
    holds(
        short,
        &asked().at(5).bytes(answer("400 No", "", "{}")).eof(),
    );
    holds(short, &asked().at(5).bytes("no HTTP at all"));
}

#[test]
fn the_laws_hold_for_pauses() {
    let whole = good_answer();
    let (first, rest) = whole.split_at(whole.len() - 60);
    let script = asked()
        .at(3)
        .bytes(first)
        .at(4)
        .other(Other::Pause)
        .at(900_000_000)
        .other(Other::Resume)
        .at(900_000_001)
        .bytes(rest);
    holds(short, &script);
}

#[test]
fn the_laws_hold_for_a_large_request() {
    let large = || chat("http://127.0.0.1:8080/v1", &"x".repeat(600_000));
    let script = Script::new()
        .other(Other::Begin)
        .at(1000)
        .other(Other::Connected)
        .at(1001)
        .other(Other::Wrote(200_000))
        .at(1002)
        .bytes(answer("413 Large", "", "{}"));
    holds(large, &script);
}

#[test]
fn the_laws_hold_for_a_script() {
    let play = || scripted(r#"SCRIPT {"steps":[{"deltas":["a","b"],"delay_ms":250}]}"#);
    holds(play, &Script::new().other(Other::Begin).at(900_000).tick());
}
