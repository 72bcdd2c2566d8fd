//! Recorded streams: what each says, however it is cut.
//!
//! `corpus/DIALECT/NAME.sse` is the body of an answer, `NAME.txt` what it says.

use crate::support::{CUT, Hand, chat_provider, messages_provider};
use agentx_core::model::ModelOutcome;
use agentx_providers::call::Output;
use agentx_providers::http::HttpEvent;
use agentx_providers::provider::Provider;
use std::cell::RefCell;
use std::fs;
use std::path::Path;

struct Dialect {
    folder: &'static str,
    provider: fn() -> Provider,
    streams: usize,
    /// What makes an answer whole without the end of the body.
    end: &'static [&'static str],
    /// What one of them must stand before where the end of the body makes an
    /// answer whole.
    stop: &'static [&'static str],
}

static DIALECTS: [Dialect; 2] = [
    Dialect {
        folder: "chat",
        provider: chat_provider,
        streams: 30,
        end: &["[DONE]"],
        stop: &["\"finish_reason\":\"", "[DONE]"],
    },
    Dialect {
        folder: "messages",
        provider: messages_provider,
        streams: 50,
        end: &["message_stop", "[DONE]"],
        stop: &["\"stop_reason\":\"", "message_stop"],
    },
];

struct Stream {
    dialect: &'static Dialect,
    provider: RefCell<Provider>,
    name: String,
    body: Vec<u8>,
    says: String,
}

impl Stream {
    fn hand(&self) -> Hand {
        Hand::streaming_from(&mut self.provider.borrow_mut())
    }

    /// Feeds pieces, then the end of the body.
    fn play<'a>(&self, pieces: impl IntoIterator<Item = &'a [u8]>) -> Hand {
        let mut hand = self.hand();
        for piece in pieces {
            hand.body(piece);
        }
        hand.http(HttpEvent::End);
        hand
    }
}

fn corpus() -> Vec<Stream> {
    DIALECTS.iter().flat_map(streams).collect()
}

fn streams(dialect: &'static Dialect) -> Vec<Stream> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut streams: Vec<Stream> = fs::read_dir(folder.join(dialect.folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "sse"))
        .map(|path| Stream {
            dialect,
            provider: RefCell::new((dialect.provider)()),
            name: format!(
                "{}/{}",
                dialect.folder,
                path.file_stem().unwrap().to_string_lossy()
            ),
            body: fs::read(&path).unwrap(),
            says: fs::read_to_string(path.with_extension("txt")).unwrap(),
        })
        .collect();
    streams.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(streams.len() >= dialect.streams);
    streams
}
// covers: DEC-41, DEC-42, DEC-51
#[test]
fn every_stream_says_what_it_should() {
    for stream in corpus() {
        assert_eq!(
            stream.play([&*stream.body]).story(),
            stream.says,
            "{}",
            stream.name
        );
    }
}

#[test]
fn every_split_says_the_same() {
    for stream in corpus() {
        let whole = stream.play([&*stream.body]).out;
        for at in 0..=stream.body.len() {
            let (head, tail) = stream.body.split_at(at);
            assert_eq!(
                stream.play([head, tail]).out,
                whole,
                "{} split at {at}",
                stream.name
            );
        }
        assert_eq!(
            stream.play(stream.body.chunks(1)).out,
            whole,
            "{} by bytes",
            stream.name
        );
    }
}

// covers: DEC-41
#[test]
fn a_cut_anywhere_is_never_a_success() {
    for stream in corpus() {
        let whole = stream.play([&*stream.body]).deltas();
        let mut finished = 0;
        for at in 0..=stream.body.len() {
            let mut hand = stream.hand();
            hand.body(&stream.body[..at]);
            // Only the end mark makes an answer whole without the end of the body.
            let marked = hand.outcome() == Some(&ModelOutcome::Finished);
            finished += usize::from(marked);
            if marked {
                let seen = String::from_utf8_lossy(&stream.body[..at]);
                let end = stream.dialect.end.iter().any(|mark| seen.contains(mark));
                assert!(end && seen.ends_with(['\n', '\r']), "{}", stream.name);
            }
            hand.http(CUT);
            let failed = matches!(hand.outcome(), Some(ModelOutcome::Failed(_)));
            // While nothing was said the request is sent again instead.
            let again = matches!(hand.out.last(), Some(Output::Warn(_)));
            assert!(marked || failed || again, "{} cut at {at}", stream.name);
            assert!(
                whole.starts_with(&hand.deltas()),
                "{} cut at {at}",
                stream.name
            );
        }
        // The last prefix alone holds the whole end mark, if there is one.
        assert!(finished <= 1, "{}", stream.name);
    }
}

// covers: DEC-41
#[test]
fn a_body_that_ends_early_is_never_a_success() {
    for stream in corpus() {
        let text = String::from_utf8_lossy(&stream.body).into_owned();
        for at in 0..=stream.body.len() {
            let hand = stream.play([&stream.body[..at]]);
            if hand.outcome() == Some(&ModelOutcome::Finished) {
                let seen = String::from_utf8_lossy(&stream.body[..at]);
                let stop = stream.dialect.stop;
                let finish = stop.iter().any(|mark| seen.contains(mark));
                assert!(finish, "{} ended at {at} of {}", stream.name, text.len());
            }
        }
    }
}

#[test]
fn an_answer_that_is_whole_drops_its_exchange() {
    let mut hand = Hand::streaming();
    hand.body(b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n");
    let end = &hand.out[hand.out.len() - 2..];
    assert_eq!(end, [Output::Abort, Output::Done(ModelOutcome::Finished)]);
    let said = hand.take();
    hand.body(b"data: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n");
    hand.http(HttpEvent::End);
    assert_eq!((hand.take(), said.len()), (Vec::new(), 4));
}

#[test]
fn an_endless_answer_is_given_up() {
    let mut hand = Hand::streaming();
    let text = "x".repeat(4 << 20);
    let event = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    for _ in 0..17 {
        if hand.outcome().is_none() {
            hand.body(event.as_bytes());
        }
    }
    assert_eq!(
        hand.failure(),
        "failed server_error: the answer is over 67108864 bytes"
    );
}

#[test]
fn endless_calls_are_given_up() {
    let mut hand = Hand::streaming();
    for id in 0..=1024 {
        let event = format!(
            "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"id\":\"c{id}\",\"function\":{{\"name\":\"f\"}}}}]}}}}]}}\n\n"
        );
        hand.body(event.as_bytes());
    }
    assert_eq!(
        hand.failure(),
        "failed server_error: more than 1024 tool calls in one answer"
    );
}
