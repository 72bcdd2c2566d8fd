//! Answers of model APIs: each dialect's decoder, with the retry around it.

use crate::registry::FACTS;
use crate::seed;
use agentx_core::model::{Delta, Message, ModelOutcome, ModelRequest, ToolChoice};
use agentx_core::time::WallTime;
use agentx_laws::{Effect, Event, Script, Subject, check, replay};
use agentx_providers::call::{Call, Input, Output};
use agentx_providers::http::{FailureKind, HttpEvent, TransportFailure};
use agentx_providers::provider::Provider;
use agentx_providers::registry::Registry;
use std::collections::BTreeSet;
use std::sync::Arc;

/// 30 November 2026, 12:00 UTC.
const EPOCH: WallTime = WallTime(1_796_040_000_000);

/// An answer of the Chat Completions API.
pub fn chat(data: &[u8]) {
    play(
        r#"{"id":"p","type":"openai_compatible","openai_compatible":
        {"base_url":"http://127.0.0.1/v1","model":"m","api_key":"key-0123456789","api":"chat_completions"}}"#,
        data,
    );
}

/// An answer of the Responses API.
pub fn responses(data: &[u8]) {
    play(
        r#"{"id":"p","type":"openai_compatible","openai_compatible":
        {"base_url":"http://127.0.0.1/v1","model":"m","api_key":"key-0123456789","api":"responses"}}"#,
        data,
    );
}

/// An answer of the Messages API.
pub fn messages(data: &[u8]) {
    play(
        r#"{"id":"p","type":"anthropic","anthropic":
        {"base_url":"http://127.0.0.1","model":"m","api_key":"key-0123456789"}}"#,
        data,
    );
}

/// The input is the body of an answer with status 200. A first line that is a
/// number is another status instead, a second number there the header
/// `retry-after`: `429 3`.
fn play(entry: &str, data: &[u8]) {
    let calls = Calls {
        entry: format!("{{\"version\":2,\"providers\":[{entry}]}}"),
    };
    let head = Head::of(data);
    let body = data.get(head.bytes..).unwrap_or_default();
    let begun = || {
        let begin = Script::new().other(Other::Begin).at(1);
        begin.other(Other::Head(head.clone())).at(2).bytes(body)
    };
    // The end of a body is no end of the call, which may ask again.
    for last in [Other::End, Other::Cut] {
        let script = begun().at(9).other(last);
        if let Err(broken) = check(&calls, &script, [seed::of(data)]) {
            panic!("{broken}");
        }
    }
    let events = replay(&calls, &begun().at(9).other(Other::End)).unwrap_or_default();
    let outputs = events.iter().filter_map(|(_, event)| match event {
        Event::Output(output) => Some(output),
        Event::Refused(..) => None,
    });
    judge(outputs);
}

/// What is true of every answer: calls begin once and before their arguments,
/// a success stops once, and what a failure tells is one line.
fn judge<'a>(outputs: impl Iterator<Item = &'a Output>) {
    let mut begun = BTreeSet::new();
    let mut stops = 0;
    for output in outputs {
        match output {
            Output::Delta(Delta::CallStart { index, .. }) => assert!(begun.insert(*index)),
            Output::Delta(Delta::CallArguments { index, .. }) => assert!(begun.contains(index)),
            Output::Delta(Delta::Stop(_)) => stops += 1,
            Output::Done(ModelOutcome::Finished) => assert_eq!(stops, 1),
            Output::Done(ModelOutcome::Failed(failure)) => {
                assert!(!failure.message.contains('\n'), "{}", failure.message);
            }
            Output::Warn(text) => assert!(!text.contains('\n'), "{text}"),
            _ => {}
        }
    }
}

/// Status and `retry-after` of an answer, and where its body begins.
#[derive(Clone)]
struct Head {
    status: u16,
    headers: Vec<(String, String)>,
    bytes: usize,
}

impl Head {
    fn of(data: &[u8]) -> Self {
        let line = data.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let text = std::str::from_utf8(line).unwrap_or_default();
        let (status, after) = text.split_once(' ').unwrap_or((text, ""));
        match status.parse() {
            Ok(status @ 200..=999) => Self {
                status,
                headers: match after {
                    "" => Vec::new(),
                    after => vec![("retry-after".to_owned(), after.to_owned())],
                },
                bytes: line.len() + 1,
            },
            _ => Self {
                status: 200,
                headers: Vec::new(),
                bytes: 0,
            },
        }
    }
}

#[derive(Clone)]
enum Other {
    Begin,
    Head(Head),
    End,
    Cut,
}

/// A call as the suite of laws sees it: the body is its stream.
struct Calls {
    entry: String,
}

impl Subject for Calls {
    type Machine = Call;
    type Other = Other;

    fn machine(&self) -> Call {
        let registry = Registry::parse(self.entry.as_bytes(), &FACTS).expect("a registry");
        let entry = registry.select(None).expect("one entry");
        let mut provider = Provider::build(entry, None).expect("a provider");
        let request = ModelRequest {
            system: None,
            history: vec![Arc::new(Message::User(vec!["hi".into()]))],
            prompt: 0,
            round: 0,
            tools: Arc::default(),
            tool_choice: ToolChoice::Auto,
            max_output_tokens: 1000,
            effort: None,
        };
        provider.begin(request, 7, EPOCH)
    }

    fn bytes<'a>(&self, bytes: &'a [u8]) -> Input<'a> {
        Input::Http(HttpEvent::Body(bytes))
    }

    fn eof<'a>(&self) -> Input<'a> {
        Input::Http(HttpEvent::End)
    }

    fn tick<'a>(&self) -> Input<'a> {
        Input::Tick
    }

    fn other<'a>(&self, other: &'a Other) -> Input<'a> {
        match other {
            Other::Begin => Input::Begin,
            Other::Head(head) => Input::Http(HttpEvent::Head {
                status: head.status,
                headers: &head.headers,
            }),
            Other::End => Input::Http(HttpEvent::End),
            Other::Cut => Input::Http(HttpEvent::Failed(TransportFailure {
                kind: FailureKind::Cut,
                text: "the connection was closed",
            })),
        }
    }

    fn effect(&self, output: &Output) -> Effect {
        match output {
            Output::Done(_) => Effect::Exit,
            _ => Effect::None,
        }
    }
}
