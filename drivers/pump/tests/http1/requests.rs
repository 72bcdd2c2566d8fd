//! What is sent, what is refused before it is sent, and what is never shown.

use crate::support::{Outcome, drain, exchange, feed, get, post, secret};
use agentx_core::time::Instant;
use agentx_providers::http::{AuthSlot, HttpRequest, Scheme};
use agentx_providers::registry::Secret;
use agentx_pump::http1::{
    Exchange, Input, Limits, MAX_REQUEST_HEAD_BYTES, RequestFault, TransportFailure,
};

const KEY: &str = "sk-test-0123456789";

fn slot() -> Option<AuthSlot> {
    Some(AuthSlot {
        header: "authorization",
        prefix: "Bearer ",
    })
}

fn sent(request: HttpRequest, credential: Option<&Secret>) -> String {
    let mut exchange =
        Exchange::new(Instant::ZERO, request, credential, None, &Limits::DEFAULT).unwrap();
    let mut outcome = Outcome::default();
    feed(&mut exchange, &mut outcome, Instant::ZERO, Input::Connected);
    String::from_utf8(outcome.written).unwrap()
}

#[track_caller]
fn assert_refused(request: HttpRequest, credential: Option<&Secret>, fault: RequestFault) {
    let made = Exchange::new(Instant::ZERO, request, credential, None, &Limits::DEFAULT);
    assert_eq!(made.err(), Some(TransportFailure::Request(fault)));
}

#[test]
fn a_request_is_written_out() {
    let request = HttpRequest {
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        auth: slot(),
        ..post("{}")
    };
    assert_eq!(
        sent(request, Some(&secret(KEY))),
        "POST /v1/messages HTTP/1.1\r\n\
         host: 127.0.0.1:8080\r\n\
         connection: close\r\n\
         accept-encoding: identity\r\n\
         content-type: application/json\r\n\
         authorization: Bearer sk-test-0123456789\r\n\
         content-length: 2\r\n\r\n{}"
    );
}

#[test]
fn lengths_are_written_where_a_body_is_expected() {
    assert!(sent(post(""), None).contains("content-length: 0\r\n"));
    assert!(!sent(get(), None).contains("content-length"));
}

#[test]
fn hosts_are_written_as_a_host_field_has_them() {
    for (host, port, field, target) in [
        ("localhost", 80, "localhost", "localhost"),
        ("localhost", 8080, "localhost:8080", "localhost"),
        ("::1", 80, "[::1]", "::1"),
        ("::1", 8080, "[::1]:8080", "::1"),
    ] {
        let request = HttpRequest {
            host: host.to_owned(),
            port,
            ..get()
        };
        assert_eq!(
            exchange(request.clone(), &Limits::DEFAULT).target(),
            (target, port)
        );
        let text = sent(request, None);
        assert!(text.contains(&format!("\r\nhost: {field}\r\n")), "{text}");
    }
}

#[test]
fn what_cannot_be_a_request_line_is_refused() {
    for method in ["", "GE T", "CONNECT", "GET\r\n", "G\u{e9}T"] {
        assert_refused(HttpRequest { method, ..get() }, None, RequestFault::Method);
    }
    for path in [
        "",
        "v1",
        "/a b",
        "/a\r\nx: y",
        "/a\0",
        "/#frag",
        "/\u{e9}",
        "*",
        "http://x/",
    ] {
        let path_and_query = path.to_owned();
        assert_refused(
            HttpRequest {
                path_and_query,
                ..get()
            },
            None,
            RequestFault::Path,
        );
    }
    for host in [
        "",
        "[]",
        "[::1]",
        "a b",
        "a\r\nx: y",
        "user@host",
        "host/path",
        "\u{e9}",
    ] {
        let host = host.to_owned();
        assert_refused(HttpRequest { host, ..get() }, None, RequestFault::Host);
    }
}

#[test]
fn no_field_can_smuggle_another() {
    let with = |name: &str, value: &str| HttpRequest {
        headers: vec![(name.to_owned(), value.to_owned())],
        ..get()
    };
    for value in ["a\r\nb: c", "a\nb", "a\rb", "a\0b", "a\u{7f}", "\u{1b}[0m"] {
        assert_refused(with("x", value), None, RequestFault::FieldValue);
    }
    for name in ["", "a b", "a:", "a\r\nb", "\u{e9}"] {
        assert_refused(with(name, "v"), None, RequestFault::FieldName);
    }
    for name in [
        "Host",
        "content-length",
        "Transfer-Encoding",
        "connection",
        "expect",
        "accept-encoding",
        "upgrade",
    ] {
        assert_refused(with(name, "v"), None, RequestFault::ReservedField);
    }
    assert!(sent(with("x", "tab\tand \u{e9}"), None).contains("x: tab\tand \u{e9}\r\n"));
}

#[test]
fn a_slot_is_filled_by_a_sound_credential_or_nothing_is_sent() {
    let with_slot = || HttpRequest {
        auth: slot(),
        ..get()
    };
    assert_refused(with_slot(), None, RequestFault::CredentialMissing);
    let doubled = HttpRequest {
        headers: vec![("Authorization".to_owned(), "mine".to_owned())],
        ..with_slot()
    };
    assert_refused(doubled, Some(&secret(KEY)), RequestFault::ReservedField);
    // Without a slot the key stays at home.
    assert!(!sent(get(), Some(&secret(KEY))).contains(KEY));
}

#[test]
fn the_head_of_a_request_is_bounded() {
    let with = |length: usize| HttpRequest {
        headers: vec![("x".to_owned(), "v".repeat(length))],
        ..get()
    };
    let frame = sent(with(0), None).len();
    assert_eq!(
        sent(with(MAX_REQUEST_HEAD_BYTES - frame), None).len(),
        MAX_REQUEST_HEAD_BYTES
    );
    assert_refused(
        with(MAX_REQUEST_HEAD_BYTES - frame + 1),
        None,
        RequestFault::HeadTooLarge,
    );
}

#[test]
fn tls_needs_a_configuration() {
    let request = HttpRequest {
        scheme: Scheme::Https,
        ..get()
    };
    assert_refused(request, None, RequestFault::TlsMissing);
}

#[test]
fn nothing_that_is_printed_shows_the_key() {
    let key = secret(KEY);
    let request = HttpRequest {
        headers: vec![("x-other-key".to_owned(), KEY.to_owned())],
        path_and_query: format!("/v1?key={KEY}"),
        auth: slot(),
        ..post(KEY)
    };
    let shown = format!("{request:?}");
    assert!(shown.contains("authorization") && shown.contains("/v1"));
    let mut exchange =
        Exchange::new(Instant::ZERO, request, Some(&key), None, &Limits::DEFAULT).unwrap();
    let mut outcome = Outcome::default();
    let mut printed = vec![shown, format!("{key:?} {exchange:?}")];
    agentx_core::machine::Machine::handle(&mut exchange, Instant::ZERO, Input::Connected).unwrap();
    while let Some(output) = agentx_core::machine::Machine::poll(&mut exchange) {
        printed.push(format!("{output:?} {exchange:?}"));
        outcome.note(output);
    }
    drain(&mut exchange, &mut outcome);
    assert!(String::from_utf8(outcome.written).unwrap().contains(KEY));
    printed.push(format!("{:?}", Input::Bytes(KEY.as_bytes())));
    let decimal = format!("{:?}", KEY.as_bytes());
    for text in printed {
        assert!(
            !text.contains(KEY) && !text.contains(decimal.trim_matches(['[', ']'])),
            "{text}"
        );
    }
}
