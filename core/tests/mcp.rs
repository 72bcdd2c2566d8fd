//! The five laws on the MCP client, on connections from seeds.

use agentx_core::guard::Guard;
use agentx_core::json::RawJson;
use agentx_core::limits::Limits;
use agentx_core::mcp::{McpClient, McpInput, McpOutput, McpReply, McpSettings};
use agentx_core::time::Instant;
use agentx_laws::{Effect, Feed, InputOf, OutputOf, Script, SplitMix64, Subject, check};
use core::time::Duration;

struct Client;

impl Subject for Client {
    type Machine = McpClient;
    type Other = McpInput;

    fn machine(&self) -> McpClient {
        McpClient::new(McpSettings {
            name: "calc".into(),
            version: "0.0.0".into(),
            request_timeout: Duration::from_millis(20),
            start_timeout: Duration::from_millis(30),
            guard: Guard::default(),
            limits: Limits::DEFAULT,
        })
    }

    fn bytes<'a>(&self, _: &'a [u8]) -> InputOf<'a, Self> {
        unreachable!("the client reads no stream")
    }

    fn eof<'a>(&self) -> InputOf<'a, Self> {
        unreachable!("the client reads no stream")
    }

    fn tick<'a>(&self) -> InputOf<'a, Self> {
        McpInput::Tick
    }

    fn other<'a>(&self, other: &'a McpInput) -> InputOf<'a, Self> {
        other.clone()
    }

    fn effect(&self, output: &OutputOf<Self>) -> Effect {
        match output {
            McpOutput::Send {
                request: Some(request),
                ..
            } => Effect::Start(*request),
            McpOutput::Abandon { request } => Effect::Cancel(*request),
            _ => Effect::None,
        }
    }

    fn settles(&self, other: &McpInput) -> Option<u64> {
        match other {
            McpInput::Answer { request, .. } | McpInput::Failed { request, .. } => Some(*request),
            _ => None,
        }
    }

    fn answer(&self, effect: u64) -> Option<McpInput> {
        Some(McpInput::Failed {
            request: effect,
            why: "no".to_string(),
        })
    }
}

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).expect("JSON")
}

/// Answers that fit, and some that do not, to whatever request it is.
fn answer(rng: &mut SplitMix64, request: u64) -> McpInput {
    let result = [
        r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{}}}"#,
        r#"{"tools":[{"name":"add","inputSchema":{}}]}"#,
        r#"{"tools":[{"name":"sub","inputSchema":{}}],"nextCursor":"a"}"#,
        r#"{"content":[{"type":"text","text":"x"}]}"#,
        "[]",
    ][rng.below(5)];
    let message = raw(&format!(
        r#"{{"jsonrpc":"2.0","id":{request},"result":{result}}}"#
    ));
    McpInput::Answer { request, message }
}

fn message(rng: &mut SplitMix64) -> McpInput {
    McpInput::Message(raw([
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#,
        "3",
    ][rng.below(5)]))
}

#[test]
fn the_laws_hold_on_any_connection() {
    for seed in 0..150 {
        let mut rng = SplitMix64::new(seed);
        let mut script = Script::new();
        let mut now = 0;
        for step in 0..40_u64 {
            now += [0, 1_000, 5_000, 25_000][rng.below(4)];
            let input = match rng.below(if step < 6 { 3 } else { 9 }) {
                0 if step == 0 || rng.one_in(4) => McpInput::Connect,
                // Each request is answered in its turn, most of the time.
                0..=2 => answer(&mut rng, step.saturating_sub(1)),
                3 | 4 => McpInput::Call {
                    call: step,
                    tool: "add".into(),
                    input: RawJson::empty_object(),
                },
                5 | 6 => message(&mut rng),
                7 => McpInput::Reply {
                    question: rng.below(3) as u64,
                    reply: McpReply::Decline,
                },
                _ => [
                    McpInput::Forget { call: step - 1 },
                    McpInput::Disable,
                    McpInput::Close("gone".to_string()),
                ][rng.below(3)]
                .clone(),
            };
            script.push(Instant::from_micros(now), Feed::Other(input));
        }
        if let Err(broken) = check(&Client, &script, 0..3) {
            panic!("{broken}, seed {seed}");
        }
    }
}
