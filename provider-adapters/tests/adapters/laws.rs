//! The five laws of a machine, for calls.

use crate::support::{
    CUT, EPOCH, Hand, SEED, chat_provider, messages_provider, prompt, provider, request,
    responses_provider,
};
use agentx_core::machine::{Machine, Misuse, Wants};
use agentx_core::time::Instant;
use agentx_laws::{Effect, Script, Subject, check};
use agentx_providers::call::{Call, Input, Output};
use agentx_providers::http::HttpEvent;

const STREAM: &[u8] = b"data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n\
    data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn chat() -> Call {
    chat_provider().begin(request(vec![prompt("hi")]), SEED, EPOCH)
}

const SCRIPTED: &str =
    r#"{"id":"s","type":"scripted","scripted":{"model":"m","from_prompt":true}}"#;

fn at(millis: u64) -> Instant {
    Instant::from_micros(millis * 1000)
}

#[derive(Clone)]
enum Other {
    Begin,
    Head(u16),
    Event(HttpEvent<'static>),
}

/// A call as the suite of laws sees it: the body is its stream.
struct Calls(fn() -> Call);

impl Subject for Calls {
    type Machine = Call;
    type Other = Other;

    fn machine(&self) -> Call {
        (self.0)()
    }

    fn bytes<'a>(&self, bytes: &'a [u8]) -> Input<'a> {
        Input::Http(HttpEvent::Body(bytes))
    }

    fn eof<'a>(&self) -> Input<'a> {
        Input::Http(HttpEvent::End)
    }

    fn tick<'a>(&self) -> Input<'a> {
        Input::Tick
    }

    fn other<'a>(&self, other: &'a Other) -> Input<'a> {
        match other {
            Other::Begin => Input::Begin,
            Other::Head(status) => Input::Http(HttpEvent::Head {
                status: *status,
                headers: &[],
            }),
            Other::Event(event) => Input::Http(*event),
        }
    }

    fn effect(&self, output: &Output) -> Effect {
        match output {
            Output::Done(_) => Effect::Exit,
            _ => Effect::None,
        }
    }
}

fn begun() -> Script<Other> {
    Script::new().other(Other::Begin)
}

fn holds(make: fn() -> Call, script: &Script<Other>) {
    if let Err(broken) = check(&Calls(make), script, 0..30) {
        panic!("{broken}");
    }
}

#[test]
fn the_laws_hold_for_an_answer() {
    let script = begun()
        .at(1)
        .other(Other::Head(200))
        .at(2)
        .bytes(STREAM)
        .eof();
    holds(chat, &script);
    let cut = &STREAM[..STREAM.len() - 20];
    holds(
        chat,
        &begun().at(1).other(Other::Head(200)).bytes(cut).at(9).eof(),
    );
    let failed = begun()
        .other(Other::Head(200))
        .at(2)
        .bytes(cut)
        .at(9)
        .other(Other::Event(CUT));
    holds(chat, &failed);
    // No end at all: the idle limit ends it.
    holds(
        chat,
        &begun()
            .at(1)
            .other(Other::Head(200))
            .bytes(cut)
            .at(5)
            .bytes(": ping\n\n"),
    );
}

/// The same for the other dialects: whole, ended early, cut, and left open.
#[test]
fn the_laws_hold_for_answers_of_the_responses_api() {
    const REASONING: &[u8] = include_bytes!("../corpus/responses/reasoning-sealed-in-a-row.sse");
    const CALLS: &[u8] = include_bytes!("../corpus/responses/calls-interleaved.sse");
    let call = || responses_provider().begin(request(vec![prompt("hi")]), SEED, EPOCH);
    for stream in [REASONING, CALLS] {
        let head = || begun().at(1).other(Other::Head(200)).at(2);
        let cut = &stream[..stream.len() - 20];
        holds(call, &head().bytes(stream).eof());
        holds(call, &head().bytes(cut).at(9).eof());
        holds(call, &head().bytes(cut).at(9).other(Other::Event(CUT)));
        holds(call, &head().bytes(cut).at(5).bytes(": ping\n\n"));
    }
}

#[test]
fn the_laws_hold_for_answers_of_the_messages_api() {
    const CALLS: &[u8] = include_bytes!("../corpus/messages/thinking-between-calls.sse");
    const SECRET: &[u8] = include_bytes!("../corpus/messages/redacted-thinking.sse");
    let call = || messages_provider().begin(request(vec![prompt("hi")]), SEED, EPOCH);
    for stream in [CALLS, SECRET] {
        let head = || begun().at(1).other(Other::Head(200)).at(2);
        let cut = &stream[..stream.len() - 60];
        holds(call, &head().bytes(stream).eof());
        holds(call, &head().bytes(cut).at(9).eof());
        holds(call, &head().bytes(cut).at(9).other(Other::Event(CUT)));
        holds(
            call,
            &head().bytes(cut).at(5).bytes("event: ping\ndata: {}\n\n"),
        );
    }
    let long = || {
        let history = vec![prompt(&"x".repeat(200_000)); 9];
        messages_provider().begin(request(history), SEED, EPOCH)
    };
    holds(long, &begun().at(100).other(Other::Head(200)).bytes(CALLS));
}

#[test]
fn the_laws_hold_for_attempts() {
    let script = begun()
        .at(1)
        .other(Other::Head(503))
        .bytes("busy")
        .at(3)
        .other(Other::Event(HttpEvent::End))
        .at(2_000_000)
        .other(Other::Event(CUT))
        .at(9_000_000)
        .other(Other::Head(200))
        .at(9_000_001)
        .bytes(STREAM);
    holds(chat, &script);
    let refused = begun()
        .other(Other::Head(400))
        .bytes([b' '; 20_000])
        .at(1)
        .bytes("more")
        .eof();
    holds(chat, &refused);
}

#[test]
fn the_laws_hold_for_a_body_in_steps() {
    let long = || {
        let history = vec![prompt(&"x".repeat(200_000)); 9];
        chat_provider().begin(request(history), SEED, EPOCH)
    };
    holds(long, &begun().at(100).other(Other::Head(200)).bytes(STREAM));
}

#[test]
fn the_laws_hold_for_a_script() {
    let call = || {
        let script = r#"SCRIPT {"steps":[{"deltas":["a","b"],"delay_ms":250}]}"#;
        provider(SCRIPTED).begin(request(vec![prompt(script)]), SEED, EPOCH)
    };
    holds(call, &begun().at(1000).tick().at(900_000).tick());
}

#[test]
fn undrained_output_shows_in_the_deadline() {
    let mut call = chat();
    assert_eq!(call.poll(), None);
    call.handle(at(3), Input::Begin).unwrap();
    assert_eq!(call.deadline(), Some(at(3)));
    assert!(call.poll().is_some());
    assert_eq!(call.poll(), None);
    assert!(call.deadline() > Some(at(3)));
}

#[test]
fn nothing_follows_the_end() {
    let mut hand = Hand::streaming();
    hand.body(STREAM);
    hand.take();
    assert_eq!(
        (hand.call.wants(), hand.call.deadline()),
        (Wants::NOTHING, None)
    );
    for input in [Input::Tick, Input::Http(HttpEvent::End), Input::Http(CUT)] {
        hand.feed(input);
    }
    assert_eq!(hand.take(), []);
    assert_eq!(
        hand.call.handle(hand.now, Input::Begin),
        Err(Misuse::InputAfterExit)
    );
}

#[test]
fn misuse_is_refused_and_changes_nothing() {
    let mut call = chat();
    let early = Input::Http(HttpEvent::End);
    assert_eq!(call.handle(at(9), early), Err(Misuse::WrongState));
    call.handle(at(0), Input::Tick).unwrap();
    assert_eq!((call.poll(), call.deadline()), (None, None));
    call.handle(at(1), Input::Begin).unwrap();
    assert_eq!(call.handle(at(0), Input::Tick), Err(Misuse::TimeReversed));
    assert_eq!(call.handle(at(1), Input::Begin), Err(Misuse::WrongState));
    for event in [HttpEvent::Body(b"x"), HttpEvent::End] {
        assert_eq!(
            call.handle(at(2), Input::Http(event)),
            Err(Misuse::WrongState)
        );
    }
    let head = HttpEvent::Head {
        status: 200,
        headers: &[],
    };
    call.handle(at(1), Input::Http(head)).unwrap();
    assert_eq!(
        call.handle(at(1), Input::Http(head)),
        Err(Misuse::WrongState)
    );
    call.handle(at(1), Input::Http(HttpEvent::Body(STREAM)))
        .unwrap();
    assert!(matches!(call.poll(), Some(Output::Send(_))));

    let script = r#"SCRIPT {"steps":[{"hold":true}]}"#;
    let mut call = provider(SCRIPTED).begin(request(vec![prompt(script)]), SEED, EPOCH);
    call.handle(at(0), Input::Begin).unwrap();
    assert_eq!(
        call.handle(at(1), Input::Http(CUT)),
        Err(Misuse::UnknownEffect)
    );
}
