//! A run over a plain peer in memory: every byte and every moment by hand.

mod laws;

use super::{DELTA_BYTES, Input, ModelRun, Output, Target};
use crate::http1::{ConnectFailure, Limits};
use crate::tls::TlsFault;
use agentx_core::machine::{Machine, Misuse, Wants};
use agentx_core::model::{
    Delta, ErrorCategory, Message, ModelFailure, ModelOutcome, ModelRequest, StopReason, ToolChoice,
};
use agentx_core::time::{Instant, WallTime};
use agentx_providers::provider::Provider;
use agentx_providers::registry::{FileFacts, Registry};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const KEY: &str = "sk-test-0123456789";

const STREAM: &str = "data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"content\":\"good \"}}]}\n\n\
    data: {\"choices\":[{\"delta\":{\"content\":\"day\"},\"finish_reason\":\"stop\"}]}\n\n\
    data: [DONE]\n\n";

/// A run of a request with `prompt` to the provider of an entry.
fn run_of(entry: &str, prompt: &str) -> ModelRun {
    let text = format!("{{\"version\":2,\"providers\":[{entry}]}}");
    let registry = Registry::parse(text.as_bytes(), &FileFacts::PRIVATE).unwrap();
    let key = registry.credentials().next().cloned();
    let mut provider = Provider::build(registry.select(None).unwrap(), None).unwrap();
    let request = ModelRequest {
        system: None,
        history: vec![Arc::new(Message::User(vec![prompt.to_owned()]))],
        prompt: 0,
        round: 0,
        tools: [].into(),
        tool_choice: ToolChoice::Auto,
        max_output_tokens: 64,
        effort: None,
    };
    let call = provider.begin(request, 7, WallTime(0));
    ModelRun::new(call, key, Limits::DEFAULT)
}

fn chat(base_url: &str, prompt: &str) -> ModelRun {
    let entry = format!(
        r#"{{"id":"p","type":"openai_compatible","openai_compatible":
        {{"base_url":"{base_url}","model":"m","api_key":"{KEY}","api":"chat_completions"}}}}"#
    );
    run_of(&entry, prompt)
}

fn scripted(prompt: &str) -> ModelRun {
    let entry = r#"{"id":"s","type":"scripted","scripted":{"model":"m","from_prompt":true}}"#;
    run_of(entry, prompt)
}

/// An answer of `status` with a counted body.
fn answer(status: &str, fields: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{fields}\r\n{body}")
}

fn good_answer() -> String {
    answer("200 OK", "content-type: text/event-stream\r\n", STREAM)
}

/// A run, the clock it is told and all it has said.
struct Hand {
    run: ModelRun,
    now: Instant,
    out: Vec<Output>,
}

impl Hand {
    /// Before the first input, one second after the start.
    fn new(run: ModelRun) -> Self {
        Self {
            run,
            now: Instant::ZERO.after(Duration::from_secs(1)),
            out: Vec::new(),
        }
    }

    fn begun(run: ModelRun) -> Self {
        let mut hand = Self::new(run);
        hand.feed(Input::Begin);
        hand
    }

    /// A chat request that waits for its connection.
    fn dialling() -> Self {
        let mut hand = Self::begun(chat("http://127.0.0.1:8080/v1", "hi"));
        assert!(matches!(hand.take()[..], [Output::Connect(_)]));
        hand
    }

    /// A chat request whose request is written.
    fn asked() -> Self {
        let mut hand = Self::dialling();
        hand.ask();
        hand
    }

    /// Connects, and writes the request; gives it.
    fn ask(&mut self) -> String {
        self.feed(Input::Connected(None));
        let written = self.take();
        let [Output::Write(bytes)] = &written[..] else {
            panic!("{written:?}");
        };
        self.feed(Input::Wrote(bytes.len()));
        String::from_utf8(bytes.clone()).unwrap()
    }

    #[track_caller]
    fn feed(&mut self, input: Input<'_>) {
        self.run.handle(self.now, input).unwrap();
        while let Some(output) = self.run.poll() {
            self.out.push(output);
        }
    }

    fn say(&mut self, text: impl AsRef<[u8]>) {
        self.feed(Input::Bytes(text.as_ref()));
    }

    /// Moves to the deadline and ticks.
    #[track_caller]
    fn wait(&mut self) -> Duration {
        let due = self.run.deadline().expect("a deadline");
        assert!(due > self.now);
        let waited = due.since(self.now);
        self.now = due;
        self.feed(Input::Tick);
        waited
    }

    fn pass(&mut self, span: Duration) {
        self.now = self.now.after(span);
    }

    fn take(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.out)
    }

    /// The connection was closed, the operator told, and after a pause comes
    /// the next attempt. Gives the length of the pause.
    #[track_caller]
    fn tried_again(&mut self) -> Duration {
        let mut said = self.take();
        said.retain(|out| !matches!(out, Output::Delta(Delta::RateLimited { .. })));
        assert!(
            matches!(said[..], [Output::Close, Output::Warn(_)]),
            "{said:?}"
        );
        let waited = self.wait();
        let said = self.take();
        assert!(matches!(said[..], [Output::Connect(_)]), "{said:?}");
        waited
    }

    #[track_caller]
    fn failed(&mut self) -> ModelFailure {
        let mut said = self.take();
        let Some(Output::Done(ModelOutcome::Failed(failure))) = said.pop() else {
            panic!("no failure ends {said:?}");
        };
        assert!(
            said.contains(&Output::Close),
            "the connection is closed: {said:?}"
        );
        self.is_over();
        failure
    }

    #[track_caller]
    fn is_over(&self) {
        assert_eq!(
            (self.run.deadline(), self.run.wants()),
            (None, Wants::NOTHING)
        );
    }

    /// The whole answer of [`STREAM`] was given, and nothing else.
    #[track_caller]
    fn finished(&mut self) {
        let said = self.take();
        let expected = [
            Output::Delta(Delta::MessageId("c".into())),
            Output::Delta(Delta::Text("good ".into())),
            Output::Delta(Delta::Text("day".into())),
            Output::Delta(Delta::Stop(StopReason::EndTurn)),
            Output::Close,
            Output::Done(ModelOutcome::Finished),
        ];
        assert_eq!(said, expected);
        self.is_over();
    }
}

#[test]
fn a_request_is_asked_and_answered() {
    let mut hand = Hand::begun(chat("http://127.0.0.1:8080/v1", "hi"));
    let target = Target {
        host: "127.0.0.1".into(),
        port: 8080,
        tls: false,
        ca_file: None,
    };
    assert_eq!(hand.take(), [Output::Connect(target)]);
    let asked = hand.ask();
    assert!(asked.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"));
    assert!(asked.contains(&format!("authorization: Bearer {KEY}\r\n")));
    assert_eq!(
        hand.run.wants(),
        Wants {
            bytes: true,
            progress: false
        }
    );
    hand.say(good_answer());
    hand.finished();
}

#[test]
fn where_to_connect_follows_the_entry() {
    let entry = r#"{"id":"p","type":"openai_compatible","ca_file":"/etc/own.pem","openai_compatible":
        {"base_url":"https://[::1]/v1","model":"m","api":"chat_completions"}}"#;
    let mut hand = Hand::begun(run_of(entry, "hi"));
    let target = Target {
        host: "::1".into(),
        port: 443,
        tls: true,
        ca_file: Some(PathBuf::from("/etc/own.pem")),
    };
    assert_eq!(hand.take(), [Output::Connect(target)]);
    // Faults of our own are not tried again.
    hand.feed(Input::TlsFailed(TlsFault::CaFile));
    assert_eq!(hand.failed().category, ErrorCategory::Unknown);
}

#[test]
fn a_connection_without_tls_is_closed_where_tls_is_needed() {
    let mut hand = Hand::begun(chat("https://localhost/v1", "hi"));
    hand.take();
    hand.feed(Input::Connected(None));
    assert_eq!(hand.failed().category, ErrorCategory::Unknown);
}

// covers: DEC-41
#[test]
fn a_server_that_asks_to_wait_is_asked_again_when_it_said() {
    let mut hand = Hand::asked();
    hand.say(answer("429 Too Many", "retry-after: 2\r\n", "slow down"));
    assert_eq!(hand.tried_again(), Duration::from_secs(2));
    hand.ask();
    hand.say(good_answer());
    hand.finished();
}

#[test]
fn failures_of_the_server_are_tried_again() {
    let mut hand = Hand::asked();
    hand.say(answer("500 Oh", "", "{}"));
    hand.tried_again();
    hand.ask();
    hand.say(answer("500 Oh", "", "{}"));
    hand.tried_again();
    hand.ask();
    hand.say(good_answer());
    hand.finished();
}

// covers: DEC-41
#[test]
fn attempts_have_an_end() {
    let mut hand = Hand::asked();
    for _ in 1..4 {
        hand.say(answer("500 Oh", "", "{}"));
        hand.tried_again();
        hand.ask();
    }
    hand.say(answer("500 Oh", "", "{}"));
    let failure = hand.failed();
    assert_eq!(
        (failure.category, failure.status),
        (ErrorCategory::ServerError, Some(500))
    );
}

#[test]
fn a_refused_connection_is_tried_again() {
    let mut hand = Hand::dialling();
    hand.feed(Input::ConnectFailed(ConnectFailure::Refused));
    hand.tried_again();
    hand.ask();
    hand.say(good_answer());
    hand.finished();
}

// covers: DEC-41
#[test]
fn a_cut_is_a_failure_and_never_a_short_success() {
    let (head, body) = (
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n",
        STREAM,
    );
    let framings = [
        (format!("{head}\r\n"), body.to_owned()),
        (
            format!("{head}content-length: {}\r\n\r\n", body.len()),
            body.to_owned(),
        ),
        (
            format!("{head}transfer-encoding: chunked\r\n\r\n"),
            format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len()),
        ),
    ];
    // Where the first delta is out and the last event is not whole.
    let from = body.find("\n\n").unwrap() + 8;
    let until = body.find("[DONE]").unwrap() - 8;
    for (head, body) in framings {
        for end in from..until {
            for last in [Input::Eof, Input::ReadFailed] {
                let mut hand = Hand::asked();
                hand.say(&head);
                hand.say(&body[..end]);
                hand.feed(last);
                let failure = hand.failed();
                assert_eq!(failure.category, ErrorCategory::ServerError, "cut at {end}");
            }
        }
    }
}

#[test]
fn a_refusal_during_the_upload_is_told_at_once() {
    let mut hand = Hand::begun(chat("http://127.0.0.1:8080/v1", &"x".repeat(2_000_000)));
    while hand.out.is_empty() {
        hand.wait();
    }
    hand.take();
    hand.feed(Input::Connected(None));
    assert!(matches!(hand.take()[..], [Output::Write(_)]));
    assert!(hand.run.wants().progress, "there is more to write");
    hand.say(answer(
        "413 Large",
        "",
        r#"{"error":{"message":"too much"}}"#,
    ));
    let failure = hand.failed();
    assert_eq!(
        (failure.category, failure.status),
        (ErrorCategory::InvalidRequest, Some(413))
    );
    assert!(failure.message.ends_with("too much"), "{}", failure.message);
}

#[test]
fn a_failed_write_leaves_the_answer_that_came_first() {
    let mut hand = Hand::dialling();
    hand.feed(Input::Connected(None));
    hand.feed(Input::WriteFailed);
    hand.take();
    hand.say(answer("401 No", "", "{}"));
    assert_eq!(hand.failed().status, Some(401));
}

#[test]
fn a_connection_that_does_not_come_is_given_up() {
    let mut hand = Hand::dialling();
    assert_eq!(hand.wait(), Limits::DEFAULT.connect);
    hand.tried_again();
}

#[test]
fn an_answer_that_does_not_come_is_given_up() {
    let mut hand = Hand::asked();
    assert_eq!(hand.wait(), Limits::DEFAULT.head);
    hand.failed();
}

#[test]
fn what_a_socket_reports_after_its_end_means_nothing() {
    let mut hand = Hand::asked();
    hand.say(answer("500 Oh", "", "{}"));
    hand.take();
    let due = hand.run.deadline();
    for late in [
        Input::Bytes(b"late"),
        Input::Eof,
        Input::ReadFailed,
        Input::Wrote(1),
        Input::WriteFailed,
    ] {
        hand.feed(late);
    }
    assert_eq!((hand.take(), hand.run.deadline()), (vec![], due));
}

#[test]
fn nothing_follows_the_end() {
    let mut hand = Hand::asked();
    hand.say(good_answer());
    hand.finished();
    for late in [
        Input::Begin,
        Input::Connected(None),
        Input::Bytes(b"late"),
        Input::Eof,
        Input::Tick,
        Input::Pause,
    ] {
        let told = hand.run.handle(hand.now, late);
        assert_eq!(told, Err(Misuse::InputAfterExit));
    }
    assert_eq!(hand.run.poll(), None);
}

#[test]
fn misuse_is_refused_and_changes_nothing() {
    let mut hand = Hand::new(chat("http://127.0.0.1:8080/v1", "hi"));
    let refused = |hand: &mut Hand, input: Input<'_>| {
        let later = hand.now.after(Duration::from_secs(1));
        let told = hand.run.handle(later, input).unwrap_err();
        assert_eq!(hand.run.poll(), None);
        told
    };
    let failed = Input::ConnectFailed(ConnectFailure::Other);
    for early in [Input::Connected(None), failed.clone()] {
        assert_eq!(refused(&mut hand, early), Misuse::WrongState);
    }
    hand.feed(Input::Begin);
    hand.take();
    assert_eq!(refused(&mut hand, Input::Begin), Misuse::WrongState);
    hand.feed(Input::Connected(None));
    let asked = hand.take();
    for twice in [Input::Connected(None), failed] {
        assert_eq!(refused(&mut hand, twice), Misuse::WrongState);
    }
    let too_much = Input::Wrote(1_000_000);
    assert_eq!(refused(&mut hand, too_much), Misuse::WrongAnswer);
    assert_eq!(
        hand.run.handle(Instant::ZERO, Input::Tick),
        Err(Misuse::TimeReversed)
    );
    // None of it was taken for time or for an end.
    assert!(matches!(asked[..], [Output::Write(_)]));
    hand.say(good_answer());
    hand.finished();
}

// covers: DEC-36
#[test]
fn a_pause_of_ours_is_not_the_silence_of_the_peer() {
    let mut hand = Hand::asked();
    let text = good_answer();
    let (first, rest) = text.split_at(text.find("day").unwrap());
    hand.say(first);
    hand.take();
    hand.feed(Input::Pause);
    assert!(!hand.run.wants().bytes);
    // Longer than the limits of the exchange and of the call, within the total.
    hand.pass(Duration::from_secs(30 * 60));
    hand.feed(Input::Tick);
    hand.feed(Input::Resume);
    hand.feed(Input::Tick);
    assert_eq!(hand.take(), []);
    assert_eq!(
        hand.run.deadline(),
        Some(hand.now.after(Limits::DEFAULT.idle))
    );
    hand.say(rest);
    hand.take();
    hand.is_over();
}

// covers: DEC-36
#[test]
fn a_pause_holds_for_waits_dials_and_the_next_connection() {
    let mut hand = Hand::asked();
    hand.say(answer("429 Too Many", "retry-after: 2\r\n", ""));
    hand.take();
    hand.feed(Input::Pause);
    assert_eq!(hand.run.deadline(), None);
    hand.pass(Duration::from_secs(60));
    hand.feed(Input::Tick);
    assert_eq!(hand.take(), []);
    hand.feed(Input::Resume);
    assert_eq!(hand.wait(), Duration::from_secs(2));
    assert!(matches!(hand.take()[..], [Output::Connect(_)]));
    hand.feed(Input::Pause);
    hand.pass(Limits::DEFAULT.connect * 2);
    hand.feed(Input::Tick);
    assert_eq!(hand.take(), []);
    hand.feed(Input::Connected(None));
    assert!(!hand.run.wants().bytes, "still in the pause");
    hand.feed(Input::Resume);
    assert!(hand.run.wants().bytes);
    hand.take();
    hand.say(good_answer());
    hand.finished();
}

#[test]
fn a_pause_does_not_outlast_the_limit_of_the_exchange() {
    let mut hand = Hand::asked();
    hand.feed(Input::Pause);
    assert_eq!(hand.wait(), Limits::DEFAULT.total);
    hand.feed(Input::Resume);
    let said = hand.take();
    assert!(
        matches!(said[..], [Output::Close, Output::Warn(_)]),
        "{said:?}"
    );
}

#[test]
fn a_script_needs_no_connection() {
    let script = r#"SCRIPT {"steps":[{"deltas":["a","b"],"delay_ms":250}]}"#;
    let mut hand = Hand::begun(scripted(script));
    while hand.run.deadline().is_some() {
        hand.wait();
    }
    let said = hand.take();
    let (end, deltas) = said.split_last().unwrap();
    assert_eq!(*end, Output::Done(ModelOutcome::Finished));
    let texts: String = deltas
        .iter()
        .filter_map(|output| match output {
            Output::Delta(Delta::Text(text)) => Some(text.as_str()),
            Output::Delta(_) => None,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, "ab");
}

/// A scripted answer is one delta, however long it is.
// covers: DEC-28
#[test]
fn the_pieces_of_a_long_text_hold_no_more_than_the_text() {
    let text = "x".repeat(40 * DELTA_BYTES + 1);
    let entry = r#"{"id":"play","type":"scripted","scripted":{"model":"m","from_prompt":true}}"#;
    let mut run = run_of(entry, &text);
    run.handle(Instant::ZERO, Input::Begin).unwrap();
    let outputs: Vec<Output> = std::iter::from_fn(|| run.poll()).collect();
    let pieces: Vec<&String> = outputs
        .iter()
        .filter_map(|output| match output {
            Output::Delta(Delta::Text(text)) => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(pieces.len(), 41);
    let (length, room) = pieces.iter().fold((0, 0), |(length, room), piece| {
        (length + piece.len(), room + piece.capacity())
    });
    assert_eq!(length, "echo: ".len() + text.len());
    assert!(room <= 2 * length, "{room} bytes are held for {length}");
}

// covers: DEC-28
#[test]
fn a_long_delta_leaves_in_pieces() {
    let text = format!("a{}", "\u{fffd}".repeat(DELTA_BYTES / 2));
    let event = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":\"stop\"}}]}}\n\n\
         data: [DONE]\n\n"
    );
    let mut hand = Hand::asked();
    for piece in answer("200 OK", "", &event).as_bytes().chunks(64 * 1024) {
        hand.say(piece);
    }
    let said = hand.take();
    let pieces: Vec<&String> = said
        .iter()
        .filter_map(|output| match output {
            Output::Delta(Delta::Text(text)) => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(pieces.len(), 2);
    assert!(pieces.iter().all(|piece| piece.len() <= DELTA_BYTES));
    let room: usize = pieces.iter().map(|piece| piece.capacity()).sum();
    assert!(room <= 2 * text.len(), "{room} bytes are held");
    assert!(
        pieces
            .iter()
            .map(|piece| piece.as_str())
            .eq([&text[..pieces[0].len()], &text[pieces[0].len()..]])
    );
}

#[test]
fn nothing_that_is_printed_shows_the_key() {
    let mut hand = Hand::dialling();
    let mut printed = vec![format!("{:?}", hand.run)];
    hand.run.handle(hand.now, Input::Connected(None)).unwrap();
    printed.push(format!("{:?}", hand.run));
    let write = hand.run.poll().unwrap();
    let Output::Write(bytes) = &write else {
        panic!("{write:?}");
    };
    assert!(String::from_utf8_lossy(bytes).contains(KEY));
    printed.push(format!("{write:?} {:?}", Input::Bytes(bytes)));
    let decimal = format!("{:?}", KEY.as_bytes());
    for text in printed {
        assert!(!text.contains(KEY) && !text.contains(decimal.trim_matches(['[', ']'])));
    }
}

#[test]
fn a_run_that_is_dropped_lets_go_of_everything() {
    let roots = rustls::RootCertStore::empty();
    let tls = rustls::ClientConfig::builder_with_provider(
        rustls::crypto::ring::default_provider().into(),
    )
    .with_safe_default_protocol_versions()
    .unwrap()
    .with_root_certificates(roots)
    .with_no_client_auth();
    let tls = Arc::new(tls);
    let mut hand = Hand::begun(chat("https://localhost/v1", "hi"));
    hand.feed(Input::Connected(Some(Arc::clone(&tls))));
    assert!(Arc::strong_count(&tls) > 1, "the handshake is under way");
    drop(hand);
    assert_eq!(Arc::strong_count(&tls), 1);
}
