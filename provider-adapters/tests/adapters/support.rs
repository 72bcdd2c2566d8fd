//! What the tests share: providers, requests, and a hand that drives a call.

use agentx_core::json::RawJson;
use agentx_core::machine::Machine;
use agentx_core::model::{
    Block, Delta, Message, ModelOutcome, ModelRequest, ToolChoice, ToolResult,
};
use agentx_core::time::{Instant, WallTime};
use agentx_core::tool::{Background, ToolCall, ToolClass, ToolContent, ToolSpec};
use agentx_providers::call::{Call, Input, Output};
use agentx_providers::http::{FailureKind, HttpEvent, TransportFailure};
use agentx_providers::provider::Provider;
use agentx_providers::registry::{FileFacts, Registry};
use std::sync::Arc;

pub(crate) const SEED: u64 = 7;

/// 30 November 2026, 12:00 UTC.
pub(crate) const EPOCH: WallTime = WallTime(1_796_040_000_000);

pub(crate) const GOOD_FILE: FileFacts = FileFacts::PRIVATE;

pub(crate) const CUT: HttpEvent<'_> = HttpEvent::Failed(TransportFailure {
    kind: FailureKind::Cut,
    text: "the connection was closed",
});

pub(crate) fn registry(text: &str) -> Registry {
    Registry::parse(text.as_bytes(), &GOOD_FILE).unwrap()
}

/// A provider from the text of one entry.
pub(crate) fn provider(entry: &str) -> Provider {
    let registry = registry(&format!("{{\"version\":2,\"providers\":[{entry}]}}"));
    Provider::build(registry.select(None).unwrap(), None).unwrap()
}

pub(crate) fn chat_provider() -> Provider {
    provider(
        r#"{"id":"local","type":"openai_compatible","openai_compatible":
        {"base_url":"http://127.0.0.1:8080/v1","model":"m","api_key":"key-0123456789","api":"chat_completions"}}"#,
    )
}

pub(crate) fn messages_provider() -> Provider {
    provider(
        r#"{"id":"a","type":"anthropic","anthropic":
        {"base_url":"http://127.0.0.1:8080","model":"m","api_key":"key-0123456789"}}"#,
    )
}

pub(crate) fn responses_provider() -> Provider {
    provider(
        r#"{"id":"local","type":"openai_compatible","openai_compatible":
        {"base_url":"http://127.0.0.1:8080/v1","model":"m","api_key":"key-0123456789","api":"responses"}}"#,
    )
}

pub(crate) fn prompt(text: &str) -> Arc<Message> {
    Arc::new(Message::User(vec![text.into()]))
}

pub(crate) fn answer(text: &str) -> Arc<Message> {
    Arc::new(Message::Assistant(vec![Block::Text(text.into())]))
}

pub(crate) fn calling(ids: &[&str]) -> Arc<Message> {
    let call = |id: &&str| {
        Block::ToolCall(ToolCall {
            id: (*id).into(),
            name: "fast".into(),
            input: RawJson::parse(r#"{"z": 1, "a": 1.50}"#).unwrap(),
        })
    };
    Arc::new(Message::Assistant(ids.iter().map(call).collect()))
}

pub(crate) fn results(pairs: &[(&str, &str)]) -> Arc<Message> {
    let result = |(id, text): &(&str, &str)| ToolResult {
        tool_use_id: (*id).into(),
        content: vec![ToolContent::Text((*text).into())],
        is_error: false,
    };
    Arc::new(Message::ToolResults(pairs.iter().map(result).collect()))
}

/// A request for the newest prompt; user messages that begin with `note:` are none.
pub(crate) fn request(history: Vec<Arc<Message>>) -> ModelRequest {
    let is_prompt = |message: &Arc<Message>| matches!(&**message, Message::User(parts) if !parts[0].starts_with("note:"));
    let prompt = history.iter().rposition(is_prompt).unwrap_or(0);
    let answers = history
        .iter()
        .skip(prompt)
        .filter(|message| matches!(***message, Message::Assistant(_)));
    let round = u32::try_from(answers.count()).unwrap();
    ModelRequest {
        system: None,
        prompt,
        round,
        history,
        tools: Arc::default(),
        tool_choice: ToolChoice::Auto,
        max_output_tokens: 128_000,
        effort: None,
    }
}

pub(crate) fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "does it".into(),
        input_schema: RawJson::parse(r#"{"type":"object","properties":{"z":{},"a":{}}}"#).unwrap(),
        class: ToolClass::Execute,
        path_member: None,
        parallel: false,
        background: Background::Never,
    }
}

/// A call, the clock it is told, and all it has said.
pub(crate) struct Hand {
    pub(crate) call: Call,
    pub(crate) now: Instant,
    pub(crate) out: Vec<Output>,
}

impl Hand {
    pub(crate) fn new(call: Call) -> Self {
        Self {
            call,
            now: Instant::from_micros(1_000_000),
            out: Vec::new(),
        }
    }

    /// A chat call whose request is on its way.
    pub(crate) fn sent() -> Self {
        Self::sent_to(&mut chat_provider())
    }

    /// The same to another provider.
    pub(crate) fn sent_to(provider: &mut Provider) -> Self {
        let mut hand = Self::new(provider.begin(request(vec![prompt("hi")]), SEED, EPOCH));
        hand.feed(Input::Begin);
        assert!(matches!(hand.out.as_slice(), [Output::Send(_)]));
        hand.out.clear();
        hand
    }

    /// A chat call whose answer is a stream.
    pub(crate) fn streaming() -> Self {
        Self::streaming_from(&mut chat_provider())
    }

    /// The same from another provider.
    pub(crate) fn streaming_from(provider: &mut Provider) -> Self {
        let mut hand = Self::sent_to(provider);
        hand.head(200, &[("Content-Type", "text/event-stream; charset=utf-8")]);
        hand
    }

    pub(crate) fn feed(&mut self, input: Input<'_>) {
        self.call.handle(self.now, input).unwrap();
        self.drain();
    }

    pub(crate) fn drain(&mut self) {
        while let Some(output) = self.call.poll() {
            self.out.push(output);
        }
    }

    pub(crate) fn http(&mut self, event: HttpEvent<'_>) {
        self.feed(Input::Http(event));
    }

    pub(crate) fn head(&mut self, status: u16, headers: &[(&str, &str)]) {
        let headers: Vec<_> = headers
            .iter()
            .map(|(n, v)| ((*n).into(), (*v).into()))
            .collect();
        self.http(HttpEvent::Head {
            status,
            headers: &headers,
        });
    }

    pub(crate) fn body(&mut self, bytes: &[u8]) {
        self.http(HttpEvent::Body(bytes));
    }

    /// A whole answer that is no success.
    pub(crate) fn refuse(&mut self, status: u16, headers: &[(&str, &str)], body: &str) {
        self.head(status, headers);
        self.body(body.as_bytes());
        self.http(HttpEvent::End);
    }

    /// Moves to the deadline and ticks.
    pub(crate) fn wait(&mut self) {
        let due = self.call.deadline().unwrap();
        assert!(due > self.now);
        self.now = due;
        self.feed(Input::Tick);
    }

    pub(crate) fn take(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.out)
    }

    pub(crate) fn outcome(&self) -> Option<&ModelOutcome> {
        match self.out.last() {
            Some(Output::Done(outcome)) => Some(outcome),
            _ => None,
        }
    }

    /// How it failed, as `category (status): message`.
    pub(crate) fn failure(&self) -> String {
        describe_end(self.outcome().expect("an end"))
    }

    pub(crate) fn deltas(&self) -> Vec<Delta> {
        let deltas = self.out.iter().filter_map(|output| match output {
            Output::Delta(delta) => Some(delta.clone()),
            _ => None,
        });
        deltas.collect()
    }

    /// Deltas and end, one a line.
    pub(crate) fn story(&self) -> String {
        let mut lines: Vec<String> = self.deltas().iter().map(describe).collect();
        lines.extend(self.outcome().map(describe_end));
        lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

pub(crate) fn describe(delta: &Delta) -> String {
    match delta {
        Delta::MessageId(id) => format!("id {id}"),
        Delta::Text(text) => format!("text {text:?}"),
        Delta::Thinking(text) => format!("thinking {text:?}"),
        Delta::Signature(text) => format!("signature {text:?}"),
        Delta::RedactedThinking(data) => format!("redacted {data:?}"),
        Delta::CallStart { index, id, name } => format!("call {index} id={id:?} name={name:?}"),
        Delta::CallArguments { index, text } => format!("args {index} {text:?}"),
        Delta::UsageUnknown => "usage unknown".to_owned(),
        Delta::RateLimited { resets_at } => format!("rate limited until {resets_at:?}"),
        Delta::Usage(usage) => format!(
            "usage in={} out={} read={} write={} reasoning={}",
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_input_tokens,
            usage.cache_creation_input_tokens,
            usage.reasoning_output_tokens
        ),
        Delta::Stop(reason) => format!("stop {reason:?}"),
    }
}

pub(crate) fn describe_end(outcome: &ModelOutcome) -> String {
    match outcome {
        ModelOutcome::Finished => "finished".into(),
        ModelOutcome::Failed(failure) => {
            let status = failure
                .status
                .map(|status| format!(" ({status})"))
                .unwrap_or_default();
            format!(
                "failed {}{status}: {}",
                failure.category.as_str(),
                failure.message
            )
        }
    }
}
