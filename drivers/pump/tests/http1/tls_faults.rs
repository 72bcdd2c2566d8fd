//! Peers that are not who they should be, or do not speak as they should.

use crate::session::{Authority, Cuts, Session, VERSIONS, secure_post};
use crate::support::Random;
use agentx_providers::http::HttpRequest;
use agentx_pump::http1::{Exchange, Limits, TransportFailure};
use agentx_pump::tls::TlsFault;
use rustls::{AlertDescription, Error};

/// Runs a handshake that must fail; returns what the server made of it.
#[track_caller]
fn assert_fault(mut session: Session, fault: TlsFault) -> Option<Error> {
    session.settle();
    session.outcome.assert_failed(TransportFailure::Tls(fault));
    assert!(session.asked.is_empty(), "nothing was asked");
    session.server_error
}

#[test]
fn an_unknown_authority_is_refused_with_an_alert() {
    for (name, alert) in [
        ("another authority", AlertDescription::UnknownCA),
        // One that only claims the name of the right one.
        ("the usual authority", AlertDescription::DecryptError),
    ] {
        for version in VERSIONS {
            for cuts in [Cuts::Whole, Cuts::Single, Cuts::Random(Random::new(1))] {
                let client = Authority::new().client();
                let server = Authority::named(name).server(version);
                let session = Session::new(secure_post("question"), client, server, cuts);
                let told = assert_fault(session, TlsFault::Untrusted);
                assert_eq!(told, Some(Error::AlertReceived(alert)));
            }
        }
    }
}

#[test]
fn a_certificate_must_be_for_the_host_and_for_today() {
    let authority = Authority::new();
    let other = HttpRequest {
        host: "example.test".to_owned(),
        ..secure_post("question")
    };
    let server = authority.server(VERSIONS[1]);
    let session = Session::new(other, authority.client(), server, Cuts::Whole);
    assert!(assert_fault(session, TlsFault::WrongName).is_some());

    for (from, to) in [(1990, 2000), (4000, 4001)] {
        let server = authority.server_with(VERSIONS[1], "http/1.1", |params| {
            params.not_before = rcgen::date_time_ymd(from, 1, 1);
            params.not_after = rcgen::date_time_ymd(to, 1, 1);
        });
        let client = authority.client();
        let session = Session::new(secure_post("question"), client, server, Cuts::Whole);
        assert!(assert_fault(session, TlsFault::NotValidNow).is_some());
    }
}

#[test]
fn a_peer_without_http_1_1_is_told_as_such() {
    let authority = Authority::new();
    for version in VERSIONS {
        let server = authority.server_with(version, "h2", |_| {});
        let client = authority.client();
        let session = Session::new(secure_post("question"), client, server, Cuts::Whole);
        assert_fault(session, TlsFault::NoHttp1);
    }
}

#[test]
fn a_peer_that_speaks_no_tls_is_a_protocol_fault() {
    for text in [
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n",
    ] {
        for cuts in [Cuts::Whole, Cuts::Single] {
            let mut session = Session::usual(VERSIONS[1], "question", cuts);
            session.to_client.extend(text.as_bytes());
            session.deliver_to_client();
            let fault = TransportFailure::Tls(TlsFault::Protocol);
            session.outcome.assert_failed(fault);
        }
    }
}

#[test]
fn what_came_before_a_spoilt_record_is_handed_out() {
    for version in VERSIONS {
        for seed in 0..6 {
            let mut session = Session::usual(version, "question", Cuts::Whole);
            session.settle();
            session.say("HTTP/1.1 200 OK\r\n\r\nsound");
            let start = session.to_client.len();
            session.say("spoilt");
            let middle = start + (session.to_client.len() - start) / 2;
            session.to_client[middle] ^= 1;
            session.cuts = match seed {
                0 => Cuts::Whole,
                1 => Cuts::Single,
                seed => Cuts::Random(Random::new(seed)),
            };
            session.settle();
            assert_eq!(session.outcome.body(), "sound");
            let fault = TransportFailure::Tls(TlsFault::Protocol);
            session.outcome.assert_failed(fault);
            let alert = Error::AlertReceived(AlertDescription::BadRecordMac);
            assert_eq!(session.server_error, Some(alert), "the peer is told why");
        }
    }
}

#[test]
fn an_alert_of_the_peer_is_told() {
    let mut session = Session::usual(VERSIONS[1], "question", Cuts::Single);
    // handshake_failure, before any key is agreed on.
    session.to_client.extend([21, 3, 3, 0, 2, 2, 40]);
    session.deliver_to_client();
    session
        .outcome
        .assert_failed(TransportFailure::Tls(TlsFault::Alert));
}

#[test]
fn a_host_that_no_certificate_can_name_is_refused() {
    let request = HttpRequest {
        host: "-not-a-name-".to_owned(),
        ..secure_post("question")
    };
    let client = Authority::new().client();
    let now = agentx_core::time::Instant::ZERO;
    let made = Exchange::new(now, request, None, Some(client), &Limits::DEFAULT);
    let fault = TransportFailure::Tls(TlsFault::ServerName);
    assert_eq!(made.err(), Some(fault));
}
