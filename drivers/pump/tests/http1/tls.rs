//! Whole sessions over TLS 1.2 and 1.3, cut in every way.

use crate::session::{Authority, Cuts, Session, VERSIONS, secure_post};
use crate::support::{Random, at};
use agentx_core::machine::Machine;
use agentx_providers::http::HttpRequest;
use agentx_pump::http1::{CutAt, Input, Phase, SEND_STEP_BYTES, TransportFailure};
use agentx_pump::tls::TlsFault;
use rustls::{AlertDescription, Error};

const STREAM: &str = "HTTP/1.1 200 OK\r\n\r\n";

fn cuts(seed: u64) -> Cuts {
    match seed % 3 {
        0 => Cuts::Whole,
        1 => Cuts::Single,
        _ => Cuts::Random(Random::new(seed)),
    }
}

/// Runs `scenario` over both versions and several ways of cutting.
fn sessions(scenario: impl Fn(Session)) {
    for version in VERSIONS {
        for seed in 0..6 {
            scenario(Session::usual(version, "question", cuts(seed)));
        }
    }
}

#[test]
fn a_request_is_asked_and_answered() {
    sessions(|mut session| {
        session.settle();
        assert!(session.asked.ends_with(b"\r\n\r\nquestion"));
        assert_eq!(session.server.alpn_protocol(), Some(b"http/1.1".as_slice()));
        session.say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nansw\r\n");
        session.settle();
        assert_eq!(session.outcome.body(), "answ", "passed on as it comes");
        session.say("2\r\ner\r\n0\r\n\r\n");
        session.settle();
        session.outcome.assert_done(200, "answer");
    });
}

#[test]
fn an_address_is_a_name_too() {
    let authority = Authority::new();
    let request = HttpRequest {
        host: "127.0.0.1".to_owned(),
        ..secure_post("question")
    };
    let server = authority.server(VERSIONS[1]);
    let mut session = Session::new(request, authority.client(), server, Cuts::Whole);
    session.settle();
    assert!(session.asked.ends_with(b"question"));
}

#[test]
fn a_goodbye_is_the_end_at_once() {
    sessions(|mut session| {
        session.settle();
        session.say(format!("{STREAM}all of it"));
        session.say_goodbye();
        session.to_client.extend(b"whatever follows");
        session.settle();
        session.outcome.assert_done(200, "all of it");
    });
}

#[test]
fn a_stream_that_ends_without_goodbye_is_truncated_where_only_it_tells_the_end() {
    sessions(|mut session| {
        session.settle();
        session.say(format!("{STREAM}some of it"));
        session.settle();
        session.input(Input::Eof);
        assert_eq!(session.outcome.body(), "some of it");
        session
            .outcome
            .assert_failed(TransportFailure::Cut(CutAt::Body));
    });
    for complete in [
        "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nall",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nall\r\n0\r\n\r\n",
    ] {
        sessions(|mut session| {
            session.settle();
            session.say(complete);
            session.settle();
            session.outcome.assert_done(200, "all");
        });
    }
}

#[test]
fn a_goodbye_inside_a_counted_body_is_a_cut() {
    sessions(|mut session| {
        session.settle();
        session.say("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf");
        session.say_goodbye();
        session.settle();
        assert_eq!(session.outcome.body(), "half");
        session
            .outcome
            .assert_failed(TransportFailure::Cut(CutAt::Body));
    });
}

// covers: DEC-28
#[test]
fn a_large_body_is_encrypted_in_slices() {
    let body: Vec<u8> = (0..900_000_u32).map(|n| n.to_le_bytes()[1]).collect();
    for version in VERSIONS {
        let authority = Authority::new();
        let server = authority.server(version);
        let random = Cuts::Random(Random::new(5));
        let request = secure_post(body.clone());
        let mut session = Session::new(request, authority.client(), server, random);
        let mut most = 0;
        while session.asked.len() < body.len() {
            session.deliver_to_client();
            most = most.max(session.to_server.len());
            session.deliver_to_server();
        }
        assert!(session.asked.ends_with(&body));
        // Records add a little to each slice.
        assert!(most <= SEND_STEP_BYTES + SEND_STEP_BYTES / 100, "{most}");
        assert!(!session.exchange.wants().progress);
        session.say("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        session.settle();
        session.outcome.assert_done(200, "ok");
    }
}

#[test]
fn a_large_answer_comes_through() {
    let text = "0123456789abcdef".repeat(20_000);
    for version in VERSIONS {
        let mut session = Session::usual(version, "question", cuts(2));
        session.settle();
        session.say(STREAM);
        for piece in text.as_bytes().chunks(50_000) {
            session.say(piece);
        }
        session.say_goodbye();
        session.settle();
        session.outcome.assert_done(200, &text);
    }
}

#[test]
fn a_refusal_during_the_upload_is_read_at_once() {
    let authority = Authority::new();
    let server = authority.server(VERSIONS[1]);
    let request = secure_post(vec![b'x'; 900_000]);
    let mut session = Session::new(request, authority.client(), server, Cuts::Whole);
    session.deliver_to_server();
    session.deliver_to_client();
    let before = session.outcome.written.len();
    session.say("HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nb");
    session.deliver_to_client();
    assert_eq!(session.outcome.status, Some(413));
    session.deliver_to_server();
    assert_eq!(
        session.outcome.written.len(),
        before,
        "the rest is not sent"
    );
    session.say("ig");
    session.settle();
    session.outcome.assert_done(413, "big");
}

/// An answer in one flight with the end of the handshake comes before the
/// request is out; wherever it is cut, the request is written all the same.
#[test]
fn an_answer_beside_the_handshake_shows_no_cut() {
    let mut lengths = Vec::new();
    for seed in 0..6 {
        let mut session = Session::usual(VERSIONS[1], "question", Cuts::Whole);
        session.deliver_to_server();
        session.say("HTTP/1.1 403 No\r\ncontent-length: 2\r\n\r\nno");
        session.cuts = cuts(seed);
        session.deliver_to_client();
        session.outcome.assert_done(403, "no");
        lengths.push(session.outcome.written.len());
    }
    assert!(
        lengths.iter().all(|length| *length == lengths[0]),
        "{lengths:?}"
    );
}

/// The same for a record that is spoilt: request, alert, fault, in this order.
#[test]
fn a_spoilt_record_beside_the_handshake_shows_no_cut() {
    for seed in 0..6 {
        let mut session = Session::usual(VERSIONS[1], "question", Cuts::Whole);
        session.deliver_to_server();
        session.say("HTTP/1.1 403 No\r\n\r\n");
        *session.to_client.last_mut().unwrap() ^= 1;
        session.cuts = cuts(seed);
        session.deliver_to_client();
        let fault = TransportFailure::Tls(TlsFault::Protocol);
        session.outcome.assert_failed(fault);
        session.deliver_to_server();
        assert!(session.asked.ends_with(b"question"));
        let alert = Error::AlertReceived(AlertDescription::BadRecordMac);
        assert_eq!(session.server_error, Some(alert));
    }
}

#[test]
fn the_handshake_has_a_limit_that_no_drip_moves() {
    let mut session = Session::usual(VERSIONS[1], "question", Cuts::Whole);
    session.deliver_to_server();
    assert_eq!(session.exchange.deadline(), Some(at(30)));
    let flight = std::mem::take(&mut session.to_client);
    session.now = at(20);
    session.input(Input::Bytes(&flight[..100]));
    assert_eq!(session.exchange.deadline(), Some(at(30)));
    session.now = at(30);
    session.input(Input::Tick);
    session
        .outcome
        .assert_failed(TransportFailure::Timeout(Phase::Handshake));
}

#[test]
fn records_without_plaintext_are_no_progress() {
    let mut session = Session::usual(VERSIONS[1], "question", Cuts::Whole);
    session.deliver_to_server();
    session.deliver_to_client();
    session.deliver_to_server();
    assert!(!session.to_client.is_empty(), "session tickets");
    let due = session.exchange.deadline();
    session.now = at(50);
    session.deliver_to_client();
    assert_eq!(session.exchange.deadline(), due);
}

#[test]
fn cancel_and_close_end_every_phase_of_a_session() {
    let steps: [fn(&mut Session); 3] = [
        |_| {},
        |session| session.settle(),
        |session| {
            session.say(STREAM);
            session.settle();
        },
    ];
    for (count, cut) in [CutAt::Handshake, CutAt::Answer, CutAt::Body]
        .into_iter()
        .enumerate()
    {
        for (input, failure) in [
            (Input::Cancel, TransportFailure::Cancelled),
            (Input::Eof, TransportFailure::Cut(cut)),
            (Input::ReadFailed, TransportFailure::Cut(cut)),
        ] {
            let mut session = Session::usual(VERSIONS[1], "question", Cuts::Whole);
            for step in steps.iter().take(count + 1) {
                step(&mut session);
            }
            let before = session.outcome.written.len();
            session.input(input);
            session.outcome.assert_failed(failure);
            assert_eq!(
                session.outcome.written.len(),
                before,
                "nothing is sent after the end"
            );
        }
    }
}
