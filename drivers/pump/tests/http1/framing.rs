//! How long a body is, and what is no body.

use crate::support::{answer, answer_to, assert_refused, get};
use agentx_providers::http::HttpRequest;
use agentx_pump::http1::{AnswerFault, CutAt, Input, Limits, TransportFailure};

fn chunked(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}")
}

fn with_head(fields: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{fields}\r\n{body}")
}

#[test]
fn a_counted_body_ends_with_its_last_byte() {
    answer(with_head("content-length: 5\r\n", "hello")).assert_done(200, "hello");
    answer(with_head("content-length: 0\r\n", "")).assert_done(200, "");
    // What follows is nobody's.
    answer(with_head("content-length: 2\r\n", "hello")).assert_done(200, "he");
}

#[test]
fn a_body_without_length_ends_with_the_stream() {
    answer(with_head("", "until the end")).assert_done(200, "until the end");
    answer(with_head("", "")).assert_done(200, "");
}

#[test]
fn a_failed_read_is_no_end_of_a_body() {
    let text = with_head("", "half");
    let outcome = answer_to(&get(), &Limits::DEFAULT, text.as_bytes(), Input::ReadFailed);
    outcome.assert_failed(TransportFailure::Cut(CutAt::Body));
    assert_eq!(outcome.body(), "half");
}

#[test]
fn a_cut_says_where() {
    for (text, at) in [
        ("", CutAt::Answer),
        ("HTTP/1.1 20", CutAt::Head),
        ("HTTP/1.1 100 Continue\r\n\r\n", CutAt::Head),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nabc",
            CutAt::Body,
        ),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
            CutAt::Body,
        ),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
            CutAt::Body,
        ),
    ] {
        for end in [Input::Eof, Input::ReadFailed] {
            let outcome = answer_to(&get(), &Limits::DEFAULT, text.as_bytes(), end);
            outcome.assert_failed(TransportFailure::Cut(at));
        }
    }
}

#[test]
fn some_answers_have_no_body_whatever_they_say() {
    for status in ["204 No Content", "304 Not Modified"] {
        let text = format!("HTTP/1.1 {status}\r\ncontent-length: 5\r\n\r\n");
        let outcome = answer(text);
        assert_eq!((outcome.end, outcome.body()), (Some(Ok(())), ""));
    }
    let head = HttpRequest {
        method: "HEAD",
        ..get()
    };
    let text = with_head("content-length: 5\r\n", "");
    let outcome = answer_to(&head, &Limits::DEFAULT, text.as_bytes(), Input::Eof);
    outcome.assert_done(200, "");
}

#[test]
fn lengths_that_agree_are_one() {
    let twice = "content-length: 2\r\ncontent-length: 2\r\n";
    answer(with_head(twice, "ok")).assert_done(200, "ok");
    answer(with_head("content-length: 2, 02\r\n", "ok")).assert_done(200, "ok");
}

#[test]
fn other_lengths_are_refused() {
    for fields in [
        "content-length: 2\r\ncontent-length: 3\r\n",
        "content-length: 2, 3\r\n",
        "content-length: +5\r\n",
        "content-length: -1\r\n",
        "content-length: 0x10\r\n",
        "content-length: 5 5\r\n",
        "content-length:\r\n",
        "content-length: 5,\r\n",
        "content-length: 18446744073709551616\r\n",
    ] {
        assert_refused(with_head(fields, "hello"), AnswerFault::ContentLength);
    }
}

#[test]
fn a_length_is_judged_even_where_no_body_may_come() {
    let text = "HTTP/1.1 204 No Content\r\ncontent-length: +5\r\n\r\n";
    assert_refused(text, AnswerFault::ContentLength);
}

#[test]
fn only_chunked_is_a_transfer_coding() {
    for fields in [
        "transfer-encoding: gzip\r\n",
        "transfer-encoding: gzip, chunked\r\n",
        "transfer-encoding: chunked, chunked\r\n",
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: identity\r\n",
        "transfer-encoding: xchunked\r\n",
        "transfer-encoding:\r\n",
    ] {
        let text = with_head(fields, "0\r\n\r\n");
        assert_refused(text, AnswerFault::TransferEncoding);
    }
    let old = "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
    assert_refused(old, AnswerFault::TransferEncoding);
    answer(with_head(
        "TRANSFER-encoding:  CHUNKED \r\n",
        "1\r\nx\r\n0\r\n\r\n",
    ))
    .assert_done(200, "x");
}

#[test]
fn two_framings_are_refused() {
    for fields in [
        "content-length: 5\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 0\r\n",
    ] {
        assert_refused(with_head(fields, "0\r\n\r\n"), AnswerFault::TwoFramings);
    }
}

#[test]
fn chunks_are_joined() {
    answer(chunked("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")).assert_done(200, "hello world");
    let body = format!("1A\r\n{}\r\n00\r\n\r\n", "x".repeat(26));
    answer(chunked(&body)).assert_done(200, &"x".repeat(26));
    answer(chunked("0000000000000002\r\nok\r\n0\r\n\r\n")).assert_done(200, "ok");
    answer(chunked("0\r\n\r\nleft over")).assert_done(200, "");
}

#[test]
fn a_chunk_may_carry_an_extension_and_a_body_a_trailer() {
    for body in [
        "2;name=value\r\nok\r\n0;last\r\n\r\n",
        "2;name=\"quo;ted\"\r\nok\r\n0\r\n\r\n",
        "2 \t;name\r\nok\r\n0 \r\n\r\n",
        "2\r\nok\r\n0\r\nExpires: never\r\nX: y\r\n\r\n",
    ] {
        answer(chunked(body)).assert_done(200, "ok");
    }
}

#[test]
fn chunk_sizes_are_hexadecimal_digits_and_nothing_else() {
    for size in ["+5", "-1", "0x5", "", " 5", "g", "5 5", "11111111111111111"] {
        let body = format!("{size}\r\nhello\r\n0\r\n\r\n");
        assert_refused(chunked(&body), AnswerFault::ChunkSize);
    }
    assert_refused(chunked("5\nhello\n0\n\n"), AnswerFault::ChunkSize);
}

#[test]
fn a_chunk_ends_where_it_says() {
    for body in [
        "2\r\nokay\r\n0\r\n\r\n",
        "2\r\nok\n0\r\n\r\n",
        "2\r\nok\rx0\r\n\r\n",
        "2\rxok\r\n",
    ] {
        assert_refused(chunked(body), AnswerFault::ChunkEnd);
    }
    assert_refused(chunked("2;a\nok\r\n0\r\n\r\n"), AnswerFault::ChunkExtension);
    assert_refused(
        chunked("2;a\0b\r\nok\r\n0\r\n\r\n"),
        AnswerFault::ChunkExtension,
    );
    for body in ["0\r\n\n", "0\r\nA: b\n\r\n", "0\r\nA: b\rx\n", "0\r\n\rx"] {
        assert_refused(chunked(body), AnswerFault::Trailer);
    }
}

#[test]
fn extensions_and_trailers_have_limits() {
    let limits = Limits {
        chunk_extension_bytes: 8,
        trailer_bytes: 8,
        ..Limits::DEFAULT
    };
    let read = |body: &str| {
        let text = chunked(body);
        answer_to(&get(), &limits, text.as_bytes(), Input::Eof)
    };
    // The limit holds for each chunk, and for the trailer as a whole.
    read("1;2345678\r\na\r\n1;2345678\r\nb\r\n0;2345678\r\nA: b\r\nC:\r\n\r\n")
        .assert_done(200, "ab");
    let extension = TransportFailure::Answer(AnswerFault::ChunkExtension);
    read("1;23456789\r\na\r\n0\r\n\r\n").assert_failed(extension);
    read("1         \r\na\r\n0\r\n\r\n").assert_failed(extension);
    let trailer = TransportFailure::Answer(AnswerFault::Trailer);
    read("0\r\nA: b\r\nC: d\r\n\r\n").assert_failed(trailer);
}

#[test]
fn a_body_is_bounded() {
    let limits = Limits {
        body_bytes: 4,
        ..Limits::DEFAULT
    };
    let read = |text: &str| answer_to(&get(), &limits, text.as_bytes(), Input::Eof);
    for (fits, over) in [
        (with_head("", "1234"), with_head("", "12345")),
        (
            with_head("content-length: 4\r\n", "1234"),
            with_head("content-length: 5\r\n", "12345"),
        ),
        (
            chunked("3\r\n123\r\n1\r\n4\r\n0\r\n\r\n"),
            chunked("3\r\n123\r\n2\r\n45\r\n0\r\n\r\n"),
        ),
    ] {
        read(&fits).assert_done(200, "1234");
        let outcome = read(&over);
        outcome.assert_failed(TransportFailure::Answer(AnswerFault::BodyTooLarge));
        assert_eq!(outcome.body(), "1234", "what fits is handed out");
    }
}

#[test]
fn what_came_before_a_fault_is_handed_out() {
    let outcome = answer(chunked("5\r\nhello\r\n6\r\n world\r\nzz\r\n"));
    outcome.assert_failed(TransportFailure::Answer(AnswerFault::ChunkSize));
    assert_eq!(outcome.body(), "hello world");
}

/// Random answers of every framing, whole or spoilt at one byte: the cuts must
/// not show, whatever comes of it.
#[test]
fn no_cut_shows_in_any_answer() {
    let mut random = crate::support::Random::new(7);
    for _ in 0..60 {
        let mut body = String::new();
        for _ in 0..random.below(5) {
            let size = 1 + random.below(20);
            body.push_str(&format!("{size:x}\r\n{}\r\n", "d".repeat(size)));
        }
        body.push_str("0\r\n\r\n");
        let mut text = match random.below(3) {
            0 => chunked(&body),
            1 => with_head(&format!("content-length: {}\r\n", random.below(60)), &body),
            _ => with_head("", &body),
        }
        .into_bytes();
        if random.below(2) == 0 {
            let at = random.below(text.len());
            text[at] = b"\r\n\0 5g:;"[random.below(8)];
        }
        let end = [Input::Eof, Input::ReadFailed][random.below(2)];
        let outcome = answer_to(&get(), &Limits::DEFAULT, &text, end);
        assert!(outcome.end.is_some());
    }
}
