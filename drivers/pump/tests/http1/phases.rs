//! What each phase takes, refuses and ends with.

use crate::support::{Outcome, at, exchange, feed, get};
use agentx_core::machine::{Machine, Misuse, Wants};
use agentx_pump::http1::{ConnectFailure, Exchange, Input, Limits, TransportFailure};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhe";

/// A plain exchange in each of its phases but the last.
fn phases() -> Vec<(Exchange, Outcome)> {
    (0..3)
        .map(|steps| {
            let mut exchange = exchange(get(), &Limits::DEFAULT);
            let mut outcome = Outcome::default();
            for input in [Input::Connected, Input::Bytes(HEAD)]
                .into_iter()
                .take(steps)
            {
                feed(&mut exchange, &mut outcome, at(1), input);
            }
            (exchange, outcome)
        })
        .collect()
}

#[test]
fn a_cancel_ends_every_phase_once() {
    for (mut exchange, mut outcome) in phases() {
        feed(&mut exchange, &mut outcome, at(2), Input::Cancel);
        outcome.assert_failed(TransportFailure::Cancelled);
        assert!(exchange.is_over());
        assert_eq!(
            exchange.handle(at(2), Input::Cancel),
            Err(Misuse::InputAfterExit)
        );
        assert_eq!(exchange.poll(), None);
    }
}

#[test]
fn a_cancel_keeps_what_was_said_before_it() {
    let (mut exchange, mut outcome) = phases().remove(1);
    exchange.handle(at(2), Input::Bytes(HEAD)).unwrap();
    exchange.handle(at(2), Input::Cancel).unwrap();
    assert_eq!(exchange.deadline(), Some(at(2)));
    while let Some(output) = exchange.poll() {
        outcome.note(output);
    }
    assert_eq!(outcome.body(), "he");
    outcome.assert_failed(TransportFailure::Cancelled);
}

#[test]
fn a_connection_that_does_not_come_about_is_told_by_kind() {
    for failure in [
        ConnectFailure::NameNotFound,
        ConnectFailure::Refused,
        ConnectFailure::Unreachable,
        ConnectFailure::Other,
    ] {
        let (mut exchange, mut outcome) = phases().remove(0);
        feed(
            &mut exchange,
            &mut outcome,
            at(1),
            Input::ConnectFailed(failure),
        );
        outcome.assert_failed(TransportFailure::Connect(failure));
    }
}

#[test]
fn each_phase_says_what_it_takes() {
    let wants: Vec<Wants> = phases()
        .iter()
        .map(|(exchange, _)| exchange.wants())
        .collect();
    assert_eq!(wants, [Wants::NOTHING, Wants::ALL, Wants::ALL]);
    let (mut exchange, mut outcome) = phases().remove(2);
    feed(&mut exchange, &mut outcome, at(2), Input::Eof);
    assert_eq!(
        (exchange.wants(), exchange.deadline()),
        (Wants::NOTHING, None)
    );
}

#[test]
fn a_broken_contract_changes_nothing() {
    let early = [
        Input::Bytes(b"x"),
        Input::Eof,
        Input::ReadFailed,
        Input::Wrote(0),
        Input::WriteFailed,
    ];
    let late = [
        Input::Connected,
        Input::ConnectFailed(ConnectFailure::Refused),
    ];
    for (index, (mut exchange, mut outcome)) in phases().into_iter().enumerate() {
        let wrong: &[Input<'_>] = if index == 0 { &early } else { &late };
        let before = exchange.deadline();
        for input in wrong {
            assert_eq!(
                exchange.handle(at(9), *input),
                Err(Misuse::WrongState),
                "{input:?}"
            );
        }
        if index > 0 {
            assert_eq!(
                exchange.handle(at(0), Input::Tick),
                Err(Misuse::TimeReversed)
            );
        }
        assert_eq!((exchange.poll(), exchange.deadline()), (None, before));
        // The refused inputs' later time was not taken over either.
        feed(&mut exchange, &mut outcome, at(2), Input::Cancel);
        for input in early
            .iter()
            .chain(&late)
            .chain(&[Input::Tick, Input::Pause])
        {
            assert_eq!(exchange.handle(at(9), *input), Err(Misuse::InputAfterExit));
        }
    }
}

#[test]
fn empty_input_is_nothing() {
    let (mut exchange, mut outcome) = phases().remove(2);
    let before = exchange.deadline();
    feed(&mut exchange, &mut outcome, at(50), Input::Bytes(b""));
    assert_eq!(exchange.deadline(), before);
}
