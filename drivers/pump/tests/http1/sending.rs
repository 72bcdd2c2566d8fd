//! Large bodies, early answers and failed writes.

use crate::support::{Outcome, at, exchange, feed, post};
use agentx_core::machine::{Machine, Misuse};
use agentx_core::time::Instant;
use agentx_pump::http1::{
    CutAt, Exchange, Input, Limits, Output, SEND_STEP_BYTES, TransportFailure,
};

const NOW: Instant = Instant::ZERO;

fn large() -> Vec<u8> {
    (0..1_000_000_u32)
        .map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[1])
        .collect()
}

/// An exchange that has just handed out the first slice of a large body.
fn uploading() -> (Exchange, Outcome) {
    let mut exchange = exchange(post(large()), &Limits::DEFAULT);
    let mut outcome = Outcome::default();
    feed(&mut exchange, &mut outcome, NOW, Input::Connected);
    (exchange, outcome)
}

// covers: DEC-28
#[test]
fn a_large_body_leaves_in_slices_as_the_transport_takes_them() {
    let mut exchange = exchange(post(large()), &Limits::DEFAULT);
    exchange.handle(NOW, Input::Connected).unwrap();
    let mut random = crate::support::Random::new(3);
    let (mut written, mut unwritten) = (Vec::new(), 0);
    loop {
        let mut in_this_step = 0;
        while let Some(output) = exchange.poll() {
            let Output::Write(bytes) = output else {
                panic!("{output:?}");
            };
            in_this_step += bytes.len();
            written.extend(bytes);
        }
        assert!(in_this_step <= SEND_STEP_BYTES);
        unwritten += in_this_step;
        assert!(unwritten <= SEND_STEP_BYTES);
        assert_eq!(exchange.wants().progress, unwritten > 0);
        if unwritten == 0 {
            break;
        }
        let count = 1 + random.below(unwritten.min(70_000));
        exchange.handle(NOW, Input::Wrote(count)).unwrap();
        unwritten -= count;
    }
    let head = written.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
    assert!(written[head..] == large());
}

#[test]
fn slices_are_not_cut_small_by_a_transport_that_is_nearly_full() {
    let (mut exchange, mut outcome) = uploading();
    let first = outcome.written.len();
    feed(
        &mut exchange,
        &mut outcome,
        NOW,
        Input::Wrote(first / 2 - 1),
    );
    assert_eq!(outcome.written.len(), first);
    feed(&mut exchange, &mut outcome, NOW, Input::Wrote(1));
    assert_eq!(outcome.written.len(), first + first / 2);
}

#[test]
fn a_refusal_during_the_upload_ends_the_upload() {
    let (mut exchange, mut outcome) = uploading();
    let before = outcome.written.len();
    let refusal = b"HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nbi";
    feed(&mut exchange, &mut outcome, NOW, Input::Bytes(refusal));
    assert_eq!(outcome.status, Some(413), "read before all was written");
    feed(&mut exchange, &mut outcome, NOW, Input::Wrote(before));
    assert_eq!(outcome.written.len(), before, "the rest is not sent");
    feed(&mut exchange, &mut outcome, NOW, Input::Bytes(b"g"));
    outcome.assert_done(413, "big");
}

#[test]
fn an_early_success_lets_the_upload_go_on() {
    let (mut exchange, mut outcome) = uploading();
    let start = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nye";
    feed(&mut exchange, &mut outcome, NOW, Input::Bytes(start));
    let mut reported = 0;
    while exchange.wants().progress {
        let count = outcome.written.len() - reported;
        reported += count;
        feed(&mut exchange, &mut outcome, NOW, Input::Wrote(count));
    }
    assert!(outcome.written.ends_with(&large()));
    feed(&mut exchange, &mut outcome, NOW, Input::Bytes(b"s"));
    outcome.assert_done(200, "yes");
}

#[test]
fn an_answer_ends_the_exchange_even_with_a_body_unsent() {
    let (mut exchange, mut outcome) = uploading();
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    feed(&mut exchange, &mut outcome, NOW, Input::Bytes(answer));
    outcome.assert_done(200, "");
}

#[test]
fn what_the_peer_sent_before_a_failed_write_is_read() {
    let (mut exchange, mut outcome) = uploading();
    feed(&mut exchange, &mut outcome, NOW, Input::WriteFailed);
    assert_eq!(outcome.end, None, "not told yet");
    assert!(exchange.wants().bytes);
    let answer = b"HTTP/1.1 401 No\r\ncontent-length: 2\r\n\r\nno";
    feed(&mut exchange, &mut outcome, NOW, Input::Bytes(answer));
    outcome.assert_done(401, "no");
}

#[test]
fn a_failed_write_without_an_answer_is_told_at_the_end_of_the_stream() {
    for end in [Input::Eof, Input::ReadFailed] {
        let (mut exchange, mut outcome) = uploading();
        feed(&mut exchange, &mut outcome, NOW, Input::WriteFailed);
        feed(&mut exchange, &mut outcome, NOW, end);
        outcome.assert_failed(TransportFailure::Write);
    }
    let (mut exchange, mut outcome) = uploading();
    feed(&mut exchange, &mut outcome, NOW, Input::WriteFailed);
    feed(
        &mut exchange,
        &mut outcome,
        NOW,
        Input::Bytes(b"HTTP/1.1 4"),
    );
    feed(&mut exchange, &mut outcome, NOW, Input::Eof);
    outcome.assert_failed(TransportFailure::Cut(CutAt::Head));
}

#[test]
fn a_failed_write_without_an_end_has_a_limit_of_its_own() {
    let (mut exchange, mut outcome) = uploading();
    feed(&mut exchange, &mut outcome, at(100), Input::WriteFailed);
    assert_eq!(exchange.deadline(), Some(at(105)));
    feed(&mut exchange, &mut outcome, at(104), Input::Tick);
    assert_eq!(outcome.end, None);
    feed(&mut exchange, &mut outcome, at(105), Input::Tick);
    outcome.assert_failed(TransportFailure::Write);
}

#[test]
fn more_than_was_handed_out_cannot_be_written() {
    let (mut exchange, outcome) = uploading();
    let all = outcome.written.len();
    assert_eq!(
        exchange.handle(NOW, Input::Wrote(all + 1)),
        Err(Misuse::WrongAnswer)
    );
    assert_eq!(exchange.handle(NOW, Input::WriteFailed), Ok(()));
    assert_eq!(
        exchange.handle(NOW, Input::WriteFailed),
        Err(Misuse::WrongState)
    );
    assert_eq!(
        exchange.handle(NOW, Input::Wrote(1)),
        Err(Misuse::WrongAnswer)
    );
}
