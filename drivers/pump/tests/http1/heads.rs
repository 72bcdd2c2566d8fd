//! Status lines, fields, interim heads and their limits.

use crate::support::{answer, answer_to, assert_refused, get};
use agentx_pump::http1::{AnswerFault, Input, Limits, TransportFailure};

const EMPTY: &str = "content-length: 0\r\n\r\n";

#[test]
fn fields_keep_their_order_and_lose_their_case() {
    let outcome = answer(
        "HTTP/1.1 429 Slow Down\r\nRetry-After:  7 \r\nX-B: \u{e9}\r\nx-b: 2\r\nContent-Length: 0\r\n\r\n",
    );
    assert_eq!(outcome.status, Some(429));
    let fields: Vec<(&str, &str)> = outcome
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        fields,
        [
            ("retry-after", "7"),
            ("x-b", "\u{e9}"),
            ("x-b", "2"),
            ("content-length", "0")
        ]
    );
}

#[test]
fn a_value_that_is_no_utf_8_is_still_an_answer() {
    let outcome = answer(b"HTTP/1.1 200 OK\r\nx: a\xffb\r\ncontent-length: 0\r\n\r\n");
    assert_eq!(outcome.headers[0].1, "a\u{fffd}b");
    assert_eq!(outcome.end, Some(Ok(())));
}

#[test]
fn status_lines_are_read_strictly() {
    answer(format!("HTTP/1.1 200\r\n{EMPTY}")).assert_done(200, "");
    answer(format!("HTTP/1.0 200 OK\r\n{EMPTY}")).assert_done(200, "");
    answer(format!("HTTP/1.1 599 \r\n{EMPTY}")).assert_done(599, "");
    for line in [
        "HTTP/1.1 20",
        "HTTP/1.1 2000 OK",
        "HTTP/1.1 099 Low",
        "HTTP/1.2 200 OK",
        "HTTP/1.1  200 OK",
        "HTTP/1.1 +20 OK",
    ] {
        assert_refused(format!("{line}\r\n{EMPTY}"), AnswerFault::StatusLine);
    }
}

#[test]
fn other_protocols_are_told_from_the_first_bytes() {
    for text in [
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "ICY 200 OK\r\n\r\n",
        "\r\nHTTP/1.1 200 OK\r\n\r\n",
        "\nHTTP/1.1 200 OK\r\n\r\n",
        "http/1.1 200 OK\r\n\r\n",
        "\u{15}\u{3}\u{1}\0\u{2}\u{2}F",
    ] {
        assert_refused(text, AnswerFault::NotHttp);
    }
}

#[test]
fn lines_end_with_cr_lf() {
    assert_refused("HTTP/1.1 200 OK\n\n", AnswerFault::LineEnd);
    assert_refused("HTTP/1.1 200 OK\r\nA: b\n\r\n", AnswerFault::LineEnd);
    assert_refused("HTTP/1.1 200 OK\r\nA: b\r\n\n", AnswerFault::LineEnd);
}

#[test]
fn malformed_fields_are_refused() {
    for field in [
        "a b: c",
        "a : c",
        ": c",
        "no colon",
        " folded",
        "a: b\r\n folded",
        "a: b\rc",
        "a: b\0c",
        "\u{e9}: c",
        "a\0: c",
    ] {
        let text = format!("HTTP/1.1 200 OK\r\n{field}\r\n{EMPTY}");
        assert_refused(text, AnswerFault::Field);
    }
}

#[test]
fn the_number_of_fields_is_bounded() {
    let text = |count: usize| {
        let fields = "a: b\r\n".repeat(count - 1);
        format!("HTTP/1.1 200 OK\r\n{fields}{EMPTY}")
    };
    answer(text(128)).assert_done(200, "");
    assert_refused(text(129), AnswerFault::TooManyFields);
}

#[test]
fn the_bytes_of_a_head_are_bounded() {
    let text = format!("HTTP/1.1 200 OK\r\nA: bcd\r\n{EMPTY}");
    let read = |head_bytes| {
        let limits = Limits {
            head_bytes,
            ..Limits::DEFAULT
        };
        answer_to(&get(), &limits, text.as_bytes(), Input::Eof)
    };
    read(text.len()).assert_done(200, "");
    for short in [text.len() - 1, text.len() - 2, 24, 8] {
        read(short).assert_failed(TransportFailure::Answer(AnswerFault::HeadTooLarge));
    }
    // A line that never ends is bounded alike, with the default limit.
    let endless = format!("HTTP/1.1 200 OK\r\nA: {}", "x".repeat(64 * 1024));
    assert_refused(endless, AnswerFault::HeadTooLarge);
}

#[test]
fn interim_heads_are_passed_over_up_to_their_limit() {
    let text = |count: usize| {
        let interim = "HTTP/1.1 100 Continue\r\nwhy: not\r\n\r\nHTTP/1.1 103 Early Hints\r\ncontent-length: 7\r\n\r\n";
        format!("{}HTTP/1.1 200 OK\r\n{EMPTY}", interim.repeat(count))
    };
    answer(text(4)).assert_done(200, "");
    assert_refused(text(5), AnswerFault::TooManyInterim);
}

#[test]
fn nobody_asked_for_another_protocol() {
    assert_refused(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n",
        AnswerFault::Upgrade,
    );
}
