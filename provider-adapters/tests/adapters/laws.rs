//! The five laws of a machine, for calls.

use crate::support::{CUT, EPOCH, Hand, SEED, chat_provider, prompt, provider, request};
use agentx_core::machine::{Machine, Misuse, Wants};
use agentx_core::time::Instant;
use agentx_providers::call::{Call, Input, Output};
use agentx_providers::http::HttpEvent;

const STREAM: &[u8] = b"data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n\
    data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn chat() -> Call {
    chat_provider().begin(request(vec![prompt("hi")]), SEED, EPOCH)
}

fn at(millis: u64) -> Instant {
    Instant::from_micros(millis * 1000)
}

/// One run with a retry in it, as (time, input).
fn inputs() -> Vec<(Instant, Input<'static>)> {
    vec![
        (at(0), Input::Begin),
        (
            at(1),
            Input::Http(HttpEvent::Head {
                status: 503,
                headers: &[],
            }),
        ),
        (at(2), Input::Http(HttpEvent::Body(b"busy"))),
        (at(3), Input::Http(HttpEvent::End)),
        (at(5000), Input::Tick),
        (
            at(5001),
            Input::Http(HttpEvent::Head {
                status: 200,
                headers: &[],
            }),
        ),
        (at(5002), Input::Http(HttpEvent::Body(STREAM))),
    ]
}

#[test]
fn draining_late_changes_nothing() {
    let (mut eager, mut lazy) = (Hand::new(chat()), Hand::new(chat()));
    for (now, input) in inputs() {
        eager.now = now;
        eager.feed(input);
        lazy.call.handle(now, input).unwrap();
    }
    lazy.drain();
    assert_eq!(eager.out, lazy.out);
    assert!(matches!(eager.out.last(), Some(Output::Done(_))));
}

#[test]
fn ticks_at_any_time_change_nothing_but_when_due() {
    let (mut plain, mut ticked) = (Hand::new(chat()), Hand::new(chat()));
    for (now, input) in inputs() {
        plain.now = now;
        plain.feed(input);
        ticked.now = now;
        ticked.feed(input);
        for _ in 0..2 {
            ticked.feed(Input::Tick);
            let later = ticked.call.deadline().is_none_or(|due| due > now);
            assert!(later, "after a tick and a drain the deadline is later");
        }
    }
    assert_eq!(plain.out, ticked.out);
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
    for input in [Input::Tick, Input::Http(HttpEvent::End)] {
        assert_eq!(call.handle(at(9), input), Err(Misuse::WrongState));
    }
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

    let scripted = r#"{"id":"s","type":"scripted","scripted":{"model":"m","from_prompt":true}}"#;
    let script = r#"SCRIPT {"steps":[{"hold":true}]}"#;
    let mut call = provider(scripted).begin(request(vec![prompt(script)]), SEED, EPOCH);
    call.handle(at(0), Input::Begin).unwrap();
    assert_eq!(
        call.handle(at(1), Input::Http(CUT)),
        Err(Misuse::UnknownEffect)
    );
}
