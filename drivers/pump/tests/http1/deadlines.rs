//! One deadline: the last progress and the limit of the phase, and a total.

use crate::support::{Outcome, at, exchange, feed, get, post};
use agentx_core::machine::Machine;
use agentx_pump::http1::{Exchange, Input, Limits, Phase, TransportFailure};

fn start() -> (Exchange, Outcome) {
    (exchange(get(), &Limits::DEFAULT), Outcome::default())
}

/// Ticks just before the deadline, twice, and then at it.
#[track_caller]
fn expires(mut exchange: Exchange, mut outcome: Outcome, seconds: u64, phase: Phase) {
    let due = at(seconds);
    assert_eq!(exchange.deadline(), Some(due));
    for _ in 0..2 {
        feed(&mut exchange, &mut outcome, at(seconds - 1), Input::Tick);
        assert_eq!((outcome.end, exchange.deadline()), (None, Some(due)));
    }
    feed(&mut exchange, &mut outcome, due, Input::Tick);
    outcome.assert_failed(TransportFailure::Timeout(phase));
    assert_eq!(exchange.deadline(), None);
}

#[test]
fn connecting_has_a_limit() {
    let (exchange, outcome) = start();
    expires(exchange, outcome, 30, Phase::Connect);
}

#[test]
fn waiting_for_the_head_counts_from_the_last_progress() {
    let (mut exchange, mut outcome) = start();
    feed(&mut exchange, &mut outcome, at(10), Input::Connected);
    assert_eq!(exchange.deadline(), Some(at(610)));
    let written = outcome.written.len();
    feed(&mut exchange, &mut outcome, at(20), Input::Wrote(written));
    assert_eq!(exchange.deadline(), Some(at(620)));
    feed(
        &mut exchange,
        &mut outcome,
        at(30),
        Input::Bytes(b"HTTP/1.1 100 Continue\r\n\r\n"),
    );
    feed(&mut exchange, &mut outcome, at(35), Input::Wrote(0));
    expires(exchange, outcome, 630, Phase::Head);
}

#[test]
fn silence_inside_a_body_has_a_limit() {
    let (mut exchange, mut outcome) = start();
    feed(&mut exchange, &mut outcome, at(1), Input::Connected);
    feed(
        &mut exchange,
        &mut outcome,
        at(2),
        Input::Bytes(b"HTTP/1.1 200 OK\r\n\r\n"),
    );
    assert_eq!(exchange.deadline(), Some(at(302)));
    feed(
        &mut exchange,
        &mut outcome,
        at(100),
        Input::Bytes(b": ping\n\n"),
    );
    expires(exchange, outcome, 400, Phase::Body);
}

#[test]
fn a_drip_that_passes_every_other_limit_ends() {
    let (mut exchange, mut outcome) = start();
    feed(&mut exchange, &mut outcome, at(1), Input::Connected);
    feed(
        &mut exchange,
        &mut outcome,
        at(2),
        Input::Bytes(b"HTTP/1.1 200 OK\r\n\r\n"),
    );
    for seconds in (10..3600).step_by(10) {
        feed(&mut exchange, &mut outcome, at(seconds), Input::Bytes(b"."));
    }
    expires(exchange, outcome, 3600, Phase::Total);
}

#[test]
fn of_two_limits_that_passed_the_earlier_one_is_told() {
    let (mut exchange, mut outcome) = start();
    feed(&mut exchange, &mut outcome, at(0), Input::Connected);
    feed(&mut exchange, &mut outcome, at(5000), Input::Tick);
    outcome.assert_failed(TransportFailure::Timeout(Phase::Head));

    let (mut exchange, mut outcome) = start();
    feed(&mut exchange, &mut outcome, at(0), Input::Connected);
    feed(&mut exchange, &mut outcome, at(3500), Input::Wrote(1));
    feed(&mut exchange, &mut outcome, at(5000), Input::Tick);
    outcome.assert_failed(TransportFailure::Timeout(Phase::Total));
}

// covers: DEC-36
#[test]
fn a_pause_of_ours_is_no_silence_of_theirs() {
    let (mut exchange, mut outcome) = start();
    feed(&mut exchange, &mut outcome, at(1), Input::Connected);
    feed(
        &mut exchange,
        &mut outcome,
        at(2),
        Input::Bytes(b"HTTP/1.1 200 OK\r\n\r\n"),
    );
    feed(&mut exchange, &mut outcome, at(3), Input::Pause);
    assert!(!exchange.wants().bytes);
    assert_eq!(exchange.deadline(), Some(at(3600)));
    feed(&mut exchange, &mut outcome, at(1000), Input::Tick);
    assert_eq!(outcome.end, None);
    feed(&mut exchange, &mut outcome, at(1001), Input::Resume);
    assert!(exchange.wants().bytes);
    expires(exchange, outcome, 1301, Phase::Body);
}

#[test]
fn a_slow_upload_is_progress_until_the_head_is_there() {
    let mut exchange = exchange(post(vec![b'x'; 4000]), &Limits::DEFAULT);
    let mut outcome = Outcome::default();
    feed(&mut exchange, &mut outcome, at(0), Input::Connected);
    for step in 1..=5 {
        feed(
            &mut exchange,
            &mut outcome,
            at(step * 500),
            Input::Wrote(100),
        );
        assert_eq!(outcome.end, None);
    }
    feed(
        &mut exchange,
        &mut outcome,
        at(2600),
        Input::Bytes(b"HTTP/1.1 200 OK\r\n\r\n"),
    );
    feed(&mut exchange, &mut outcome, at(2700), Input::Wrote(100));
    expires(exchange, outcome, 2900, Phase::Body);
}
