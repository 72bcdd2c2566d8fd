//! Recorded streams: what each says, however it is cut.
//!
//! `corpus/DIALECT/NAME.sse` is the body of an answer, `NAME.txt` what it says.

use crate::support::{CUT, Hand, chat_provider, messages_provider, responses_provider};
use agentx_core::model::ModelOutcome;
use agentx_providers::call::Output;
use agentx_providers::http::HttpEvent;
use agentx_providers::provider::Provider;
use std::fs;
use std::path::Path;

/// A dialect and what is true of its streams alone.
pub(crate) struct Dialect {
    /// Its folder in the corpus.
    folder: &'static str,
    pub(crate) provider: fn() -> Provider,
    /// How many streams there are at least.
    streams: usize,
    /// An answer is whole once one of these has come.
    ends: &'static [&'static str],
    /// It is also whole where the body ends behind one of these.
    nearly: &'static [&'static str],
}

static DIALECTS: [Dialect; 3] = [
    Dialect {
        folder: "chat",
        provider: chat_provider,
        streams: 30,
        ends: &["[DONE]"],
        nearly: &["\"finish_reason\":\""],
    },
    Dialect {
        folder: "responses",
        provider: responses_provider,
        streams: 45,
        ends: &["response.completed", "response.incomplete"],
        nearly: &[],
    },
    Dialect {
        folder: "messages",
        provider: messages_provider,
        streams: 50,
        ends: &["message_stop", "[DONE]"],
        nearly: &["\"stop_reason\":\""],
    },
];

pub(crate) struct Stream {
    pub(crate) dialect: &'static Dialect,
    pub(crate) name: String,
    pub(crate) body: Vec<u8>,
    says: String,
}

pub(crate) fn corpus() -> Vec<Stream> {
    DIALECTS.iter().flat_map(streams_of).collect()
}

fn streams_of(dialect: &'static Dialect) -> Vec<Stream> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut streams: Vec<Stream> = fs::read_dir(folder.join(dialect.folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "sse"))
        .map(|path| Stream {
            dialect,
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
    assert!(streams.len() >= dialect.streams, "{}", dialect.folder);
    streams
}

impl Stream {
    /// Feeds pieces to a new call, then the end of the body.
    pub(crate) fn play<'a>(
        &self,
        provider: &mut Provider,
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) -> Hand {
        let mut hand = Hand::streaming_from(provider);
        for piece in pieces {
            hand.body(piece);
        }
        hand.http(HttpEvent::End);
        hand
    }

    /// Whether one of the marks stands in the beginning of the body, with a
    /// line end behind it.
    fn has(&self, until: usize, marks: &[&str]) -> bool {
        let seen = String::from_utf8_lossy(&self.body[..until]);
        marks
            .iter()
            .filter_map(|mark| seen.find(mark))
            .any(|at| seen[at..].contains('\n'))
    }
}

// covers: DEC-41, DEC-42, DEC-51
#[test]
fn every_stream_says_what_it_should() {
    for stream in corpus() {
        let mut provider = (stream.dialect.provider)();
        assert_eq!(
            stream.play(&mut provider, [&*stream.body]).story(),
            stream.says,
            "{}",
            stream.name
        );
    }
}

#[test]
fn every_split_says_the_same() {
    for stream in corpus() {
        let mut provider = (stream.dialect.provider)();
        let whole = stream.play(&mut provider, [&*stream.body]).out;
        for at in 0..=stream.body.len() {
            let (head, tail) = stream.body.split_at(at);
            assert_eq!(
                stream.play(&mut provider, [head, tail]).out,
                whole,
                "{} split at {at}",
                stream.name
            );
        }
        assert_eq!(
            stream.play(&mut provider, stream.body.chunks(1)).out,
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
        let mut provider = (stream.dialect.provider)();
        let whole = stream.play(&mut provider, [&*stream.body]).deltas();
        for at in 0..=stream.body.len() {
            let mut hand = Hand::streaming_from(&mut provider);
            hand.body(&stream.body[..at]);
            // Only the end mark makes an answer whole without the end of the body.
            let marked = hand.outcome() == Some(&ModelOutcome::Finished);
            assert!(
                !marked || stream.has(at, stream.dialect.ends),
                "{} whole at {at}",
                stream.name
            );
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
    }
}

// covers: DEC-41
#[test]
fn a_body_that_ends_early_is_never_a_success() {
    for stream in corpus() {
        let mut provider = (stream.dialect.provider)();
        for at in 0..=stream.body.len() {
            let hand = stream.play(&mut provider, [&stream.body[..at]]);
            if hand.outcome() == Some(&ModelOutcome::Finished) {
                let dialect = stream.dialect;
                assert!(
                    stream.has(at, dialect.ends) || stream.has(at, dialect.nearly),
                    "{} ended at {at}",
                    stream.name
                );
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

#[test]
fn endless_items_are_given_up() {
    let mut hand = Hand::streaming_from(&mut responses_provider());
    for index in 0..=1024 {
        let event = format!(
            "data: {{\"type\":\"response.output_item.added\",\"output_index\":{index},\"item\":{{\"type\":\"message\"}}}}\n\n"
        );
        hand.body(event.as_bytes());
    }
    assert_eq!(
        hand.failure(),
        "failed server_error: more than 1024 items in one answer"
    );
}

#[test]
fn an_endless_answer_of_the_responses_api_is_given_up() {
    let text = "x".repeat(4 << 20);
    for event in [
        format!("{{\"type\":\"response.output_text.delta\",\"delta\":\"{text}\"}}"),
        format!("{{\"type\":\"response.reasoning_text.delta\",\"delta\":\"{text}\"}}"),
        format!("{{\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{text}\"}}"),
        format!(
            "{{\"type\":\"response.output_item.done\",\"item\":{{\"type\":\"reasoning\",\"encrypted_content\":\"{text}\"}}}}"
        ),
    ] {
        let mut hand = Hand::streaming_from(&mut responses_provider());
        let event = format!("data: {event}\n\n");
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
}
