//! Refusals, faults and the attempts after them.

use crate::support::{CUT, Hand, responses_provider};
use agentx_core::model::{Delta, ModelOutcome};
use agentx_providers::call::{Input, Output};
use agentx_providers::http::{FailureKind, HttpEvent, TransportFailure};
use agentx_providers::limits::{ATTEMPTS, DELTA_IDLE};
use std::time::Duration;

const CHUNK: &[u8] = b"data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
const STOP: &[u8] =
    b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn fault(kind: FailureKind) -> HttpEvent<'static> {
    HttpEvent::Failed(TransportFailure {
        kind,
        text: "the reason",
    })
}

/// The warning alone, after an exchange that has ended.
fn warning(hand: &mut Hand) -> String {
    let is_limit = |out: &Output| matches!(out, Output::Delta(Delta::RateLimited { .. }));
    let outputs = hand.take().into_iter();
    match outputs
        .filter(|out| !is_limit(out))
        .collect::<Vec<_>>()
        .as_slice()
    {
        [Output::Warn(text)] => text.clone(),
        other => panic!("no warning: {other:?}"),
    }
}

#[test]
fn a_server_is_asked_again_when_it_wishes() {
    let mut hand = Hand::sent();
    hand.refuse(429, &[("Retry-After", "1")], "{}");
    assert_eq!(
        warning(&mut hand),
        "model request: attempt 1 of 4 failed (status 429); next attempt in 1.000 s"
    );
    let before = hand.now;
    hand.wait();
    assert_eq!(hand.now.since(before), Duration::from_secs(1));
    assert!(matches!(hand.take().as_slice(), [Output::Send(_)]));
    hand.head(200, &[]);
    hand.body(CHUNK);
    hand.body(STOP);
    assert_eq!(hand.outcome(), Some(&ModelOutcome::Finished));
}

#[test]
fn a_date_is_measured_from_the_wall() {
    let mut hand = Hand::sent();
    // The test's clock stands at one second after noon.
    hand.refuse(503, &[("retry-after", "Mon, 30 Nov 2026 12:00:05 GMT")], "");
    assert!(warning(&mut hand).ends_with("(status 503); next attempt in 4.000 s"));
}

// covers: DEC-43
#[test]
fn each_rate_limit_is_told_with_its_end() {
    // The test's clock stands at one second after noon.
    let noon = 1_796_040_000;
    for (headers, resets_at) in [
        (&[("retry-after", "2")][..], Some(noon + 3)),
        (&[("retry-after-ms", "1500")], Some(noon + 3)),
        (&[("retry-after", "61")], Some(noon + 62)),
        (&[], None),
    ] {
        let mut hand = Hand::sent();
        hand.refuse(429, headers, "{}");
        let told = Output::Delta(Delta::RateLimited { resets_at });
        assert_eq!(hand.take().first(), Some(&told), "{headers:?}");
    }
    for (status, limited) in [(429, 1), (503, 0)] {
        let mut hand = Hand::sent();
        hand.refuse(status, &[], r#"{"error":{"code":"insufficient_quota"}}"#);
        let limits = hand.take().into_iter();
        let limits = limits.filter(|out| matches!(out, Output::Delta(Delta::RateLimited { .. })));
        assert_eq!(limits.count(), limited);
    }
}

#[test]
fn a_wait_beyond_the_bound_is_not_begun() {
    let mut hand = Hand::sent();
    hand.refuse(
        429,
        &[("retry-after", "61")],
        r#"{"error":{"message":"later"}}"#,
    );
    assert_eq!(
        hand.failure(),
        "failed rate_limit (429): the model API answered with status 429: later \
         (asked to wait 61 s, at most 60 s are waited)"
    );
}

#[test]
fn attempts_come_to_an_end() {
    let mut hand = Hand::sent();
    for attempt in 1..ATTEMPTS {
        hand.refuse(500, &[], "");
        assert!(warning(&mut hand).starts_with(&format!(
            "model request: attempt {attempt} of 4 failed (status 500)"
        )));
        hand.wait();
        assert!(matches!(hand.take().as_slice(), [Output::Send(_)]));
    }
    hand.refuse(500, &[], "");
    assert_eq!(
        hand.failure(),
        "failed server_error (500): the model API answered with status 500 (after 4 attempts)"
    );
    assert_eq!(hand.call_deadline(), None);
}

#[test]
fn every_attempt_sends_the_same_bytes() {
    let mut hand = Hand::sent();
    let mut bodies = Vec::new();
    for _ in 1..ATTEMPTS {
        hand.http(fault(FailureKind::Connect));
        hand.take();
        hand.wait();
        match hand.take().pop() {
            Some(Output::Send(request)) => bodies.push(request),
            other => panic!("no request: {other:?}"),
        }
    }
    assert_eq!(bodies.len(), 3);
    assert!(
        bodies
            .windows(2)
            .all(|pair| pair[0] == pair[1] && !pair[0].body.is_empty())
    );
}

#[test]
fn faults_before_an_answer_are_sorted() {
    for (kind, end) in [
        (FailureKind::Resolve, None),
        (FailureKind::Connect, None),
        (FailureKind::Timeout, None),
        (FailureKind::Cut, None),
        (FailureKind::Tls, Some("unknown")),
        (FailureKind::Local, Some("unknown")),
        (FailureKind::Malformed, Some("server_error")),
    ] {
        let mut hand = Hand::sent();
        hand.http(fault(kind));
        match end {
            None => assert!(warning(&mut hand).contains("(the reason)"), "{kind:?}"),
            Some(category) => assert_eq!(
                hand.failure(),
                format!("failed {category}: no answer from the model API: the reason")
            ),
        }
    }
}

#[test]
fn nothing_is_sent_again_after_the_first_event() {
    // The first chunk of many servers gives no delta at all; it counts too.
    for first in [
        CHUNK,
        b"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n",
    ] {
        for fail in [CUT, HttpEvent::End] {
            let mut hand = Hand::streaming();
            hand.body(first);
            hand.http(fail);
            assert!(
                hand.failure()
                    .starts_with("failed server_error: the answer ")
            );
        }
    }
}

#[test]
fn a_stream_of_nothing_is_sent_again() {
    for body in [&b""[..], b": ping\n\n", b"data: {\"id\":\"c\"}"] {
        for fail in [CUT, HttpEvent::End] {
            let mut hand = Hand::streaming();
            hand.body(body);
            hand.http(fail);
            warning(&mut hand);
        }
    }
    let mut hand = Hand::streaming();
    hand.body(b"data: {\"error\":{\"message\":\"busy\",\"code\":503}}\n\n");
    match hand.take().as_slice() {
        [Output::Abort, Output::Warn(text)] => {
            assert!(text.contains("(status 503)") && !text.contains("busy"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_error_that_opens_a_stream_of_the_responses_api_is_tried_again() {
    let busy = br#"data: {"type":"error","code":"rate_limit_exceeded","message":"busy"}"#;
    let mut hand = Hand::streaming_from(&mut responses_provider());
    hand.body(busy);
    hand.body(b"\n\n");
    match hand.take().as_slice() {
        [Output::Abort, Output::Warn(text)] => {
            assert!(text.contains("an error in the stream") && !text.contains("busy"));
        }
        other => panic!("{other:?}"),
    }
    // Behind the first event of an answer it is final.
    let mut hand = Hand::streaming_from(&mut responses_provider());
    hand.body(b"data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n");
    hand.body(busy);
    hand.body(b"\n\n");
    assert_eq!(
        hand.failure(),
        "failed rate_limit: the model API reported an error in its stream: busy"
    );
}

#[test]
fn an_answer_that_is_no_stream_is_named() {
    let mut hand = Hand::sent();
    hand.head(200, &[("content-type", "text/html; charset=utf-8")]);
    hand.body(b"<html>sign in</html>");
    hand.http(HttpEvent::End);
    assert_eq!(
        hand.failure(),
        "failed server_error: the answer is no event stream but text/html; charset=utf-8"
    );
}

// covers: DEC-30
#[test]
fn a_header_that_echoes_a_key_is_not_cut_inside_of_it() {
    for (name, value) in [
        ("content-type", "sk-1234;5678-key"),
        ("content-encoding", "sk-1234,5678-key"),
    ] {
        let mut hand = Hand::sent();
        hand.head(200, &[(name, value)]);
        if name == "content-type" {
            hand.http(HttpEvent::End);
        }
        assert!(hand.failure().contains(value), "{name}");
    }
}

#[test]
fn what_is_no_event_stream_is_not_asked_again_when_it_is_cut() {
    let mut hand = Hand::sent();
    hand.head(200, &[("content-type", "text/html")]);
    hand.body(b"<html>");
    hand.http(fault(FailureKind::Cut));
    assert_eq!(
        hand.failure(),
        "failed server_error: the answer is no event stream but text/html"
    );
}

#[test]
fn a_compressed_answer_is_named_and_not_asked_again() {
    for (value, coding) in [("gzip", "gzip"), ("identity, br", "identity, br")] {
        let mut hand = Hand::sent();
        hand.head(
            200,
            &[
                ("content-type", "text/event-stream"),
                ("Content-Encoding", value),
            ],
        );
        assert_eq!(
            hand.failure(),
            format!(
                "failed server_error: the answer is compressed ({coding}), which was not asked for"
            )
        );
    }
    let mut hand = Hand::sent();
    hand.head(200, &[("content-encoding", "identity")]);
    hand.body(CHUNK);
    hand.body(STOP);
    assert_eq!(hand.outcome(), Some(&ModelOutcome::Finished));
}

// covers: DEC-21, DEC-41
#[test]
fn a_refusal_is_final_and_names_its_cause() {
    let mut hand = Hand::sent();
    hand.refuse(
        400,
        &[],
        r#"{"error":{"message":"bad request","code":"invalid_request_error"}}"#,
    );
    assert_eq!(
        hand.failure(),
        "failed invalid_request (400): the model API answered with status 400: bad request"
    );
    let mut hand = Hand::sent();
    hand.refuse(307, &[("location", "https://elsewhere.example/")], "");
    assert_eq!(
        hand.failure(),
        "failed unknown (307): the model API answered with status 307: redirects are not followed"
    );
}

#[test]
fn a_refusal_without_end_is_bounded() {
    let mut hand = Hand::sent();
    hand.head(400, &[]);
    for _ in 0..100 {
        hand.body(&[b' '; 1000]);
    }
    assert_eq!(hand.take().len(), 2, "dropped, then failed");

    let mut hand = Hand::sent();
    hand.head(400, &[]);
    hand.body(br#"{"error":{"message":"never whole"#);
    hand.wait();
    assert!(matches!(hand.out.first(), Some(Output::Abort)));
    assert_eq!(
        hand.failure(),
        "failed invalid_request (400): the model API answered with status 400"
    );
}

#[test]
fn a_refusal_that_is_cut_keeps_its_status() {
    let mut hand = Hand::sent();
    hand.head(401, &[]);
    hand.http(CUT);
    assert_eq!(
        hand.failure(),
        "failed authentication_failed (401): the model API answered with status 401"
    );
}

#[test]
fn pings_do_not_keep_an_answer_alive() {
    let mut hand = Hand::streaming();
    let start = hand.now;
    hand.now = start.after(DELTA_IDLE / 2);
    hand.body(CHUNK);
    let idle = hand.call_deadline().unwrap();
    assert_eq!(idle.since(hand.now), DELTA_IDLE);
    hand.now = start.after(DELTA_IDLE);
    hand.body(b": ping\n\n");
    assert_eq!(hand.call_deadline(), Some(idle));
    hand.take();
    hand.wait();
    assert!(matches!(hand.out.first(), Some(Output::Abort)));
    assert_eq!(
        hand.failure(),
        "failed server_error: no part of the answer for 600 s"
    );
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let mut hand = Hand::sent();
    hand.wait();
    assert_eq!(
        hand.failure(),
        "failed server_error: no part of the answer for 600 s"
    );
}

#[test]
fn news_of_a_dropped_exchange_is_ignored() {
    let mut hand = Hand::sent();
    hand.refuse(429, &[], "{}");
    hand.take();
    hand.http(HttpEvent::Body(CHUNK));
    hand.http(CUT);
    assert_eq!(hand.take(), []);
    hand.wait();
    assert!(matches!(hand.take().as_slice(), [Output::Send(_)]));
}

#[test]
fn a_key_that_the_server_echoes_is_whole_or_absent() {
    let key = "sk-SENTINEL-4471-Zq9";
    for lead in 440..520 {
        let mut hand = Hand::sent();
        let body = format!(
            r#"{{"error":{{"message":"{} {key}"}}}}"#,
            "x ".repeat(lead / 2)
        );
        hand.refuse(401, &[], &body);
        let rest = hand.failure().replace(key, "");
        assert!(!rest.contains("sk-"), "{rest}");
    }
}

impl Hand {
    fn call_deadline(&self) -> Option<agentx_core::time::Instant> {
        use agentx_core::machine::Machine;
        self.call.deadline()
    }
}

#[test]
fn ticks_before_their_time_do_nothing() {
    let mut hand = Hand::sent();
    hand.refuse(429, &[("retry-after", "2")], "");
    hand.take();
    hand.now = hand.now.after(Duration::from_millis(1999));
    hand.feed(Input::Tick);
    assert_eq!(hand.take(), []);
    hand.now = hand.now.after(Duration::from_millis(1));
    hand.feed(Input::Tick);
    assert!(matches!(hand.take().as_slice(), [Output::Send(_)]));
}
