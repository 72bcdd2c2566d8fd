//! Partial messages: the streamed answer as events, well formed in every ending.

use agentx_conformance::session::{Bench, bare, brief, config};
use agentx_conformance::stream;
use agentx_core::agent::Config;
use agentx_core::guard::Guard;
use agentx_core::model::{Block, Delta, ErrorCategory, Message, ModelFailure, StopReason, Usage};
use serde_json::{Value, json};

fn partial() -> Bench {
    Bench::new(Config {
        include_partial_messages: true,
        ..config()
    })
}

fn text(text: &str) -> Delta {
    Delta::Text(text.to_string())
}

fn events(records: &[Value]) -> Vec<Value> {
    let events = records
        .iter()
        .filter(|record| record["type"] == "stream_event");
    events.map(|record| bare(record)["event"].clone()).collect()
}

const ZERO: fn() -> Value = || json!({"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "reasoning_output_tokens": 0, "total_tokens": 0});

// covers: DEC-47, DEC-42
#[test]
fn an_answer_streams_from_start_to_stop() {
    let mut b = partial();
    b.prompt(1, "go");
    b.delta(Delta::MessageId("msg_1".to_string()));
    assert_eq!(b.briefs(), ["state running"], "a name is no answer yet");
    b.delta(Delta::Thinking("h".to_string()));
    b.delta(Delta::Thinking("m".to_string()));
    b.delta(Delta::Signature("c2ln".to_string()));
    b.delta(text("I look"));
    b.calls(&[("t1", "Look", r#"{"file_path":"a"}"#)]);
    let records = b.records();
    stream::check(&records);
    assert_eq!(
        events(&records),
        [
            json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "test-model", "content": [], "stop_reason": null, "stop_sequence": null, "usage": ZERO()}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "h"}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "m"}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2ln"}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "I look"}}),
            json!({"type": "content_block_stop", "index": 1}),
            json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "t1", "name": "Look", "input": {}}}),
            json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": r#"{"file_path":"a"}"#}}),
            json!({"type": "content_block_stop", "index": 2}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null}, "usage": {"input_tokens": 11, "output_tokens": 4, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "reasoning_output_tokens": 0, "total_tokens": 15}}),
            json!({"type": "message_stop"}),
        ]
    );
    let others: Vec<_> = records
        .iter()
        .filter(|r| r["type"] != "stream_event")
        .collect();
    assert_eq!(
        others.iter().map(|r| brief(r)).collect::<Vec<_>>(),
        ["assistant thinking", "assistant text", "assistant tool_use"]
    );
    assert!(
        others
            .iter()
            .all(|record| record["message"]["id"] == "msg_1")
    );
}

// covers: DEC-47
#[test]
fn signed_and_secret_reasoning_keeps_its_blocks_apart() {
    let mut b = partial();
    b.prompt(1, "go");
    b.delta(Delta::Thinking("h".to_string()));
    b.delta(Delta::Signature("c2ln".to_string()));
    // A block whose text the provider keeps to itself.
    b.delta(Delta::Signature("b25l".to_string()));
    b.delta(Delta::RedactedThinking("dHdv".to_string()));
    b.delta(Delta::RedactedThinking("dHJl".to_string()));
    b.delta(Delta::Thinking("m".to_string()));
    b.delta(Delta::RedactedThinking("Zm91".to_string()));
    b.says("done");
    let records = b.records();
    stream::check(&records);
    let start = |index: usize, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: usize, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: usize| json!({"type": "content_block_stop", "index": index});
    let thinking = || json!({"type": "thinking", "thinking": "", "signature": ""});
    let secret = |data: &str| json!({"type": "redacted_thinking", "data": data});
    let events = events(&records);
    assert_eq!(
        events[1..events.len() - 4],
        [
            start(0, thinking()),
            delta(0, json!({"type": "thinking_delta", "thinking": "h"})),
            delta(0, json!({"type": "signature_delta", "signature": "c2ln"})),
            stop(0),
            start(1, thinking()),
            delta(1, json!({"type": "signature_delta", "signature": "b25l"})),
            stop(1),
            start(2, secret("dHdv")),
            stop(2),
            start(3, secret("dHJl")),
            stop(3),
            start(4, thinking()),
            delta(4, json!({"type": "thinking_delta", "thinking": "m"})),
            stop(4),
            start(5, secret("Zm91")),
            stop(5),
            start(6, json!({"type": "text", "text": ""})),
        ]
    );
    let blocks: Vec<_> = records
        .iter()
        .filter(|record| record["type"] == "assistant")
        .map(|record| record["message"]["content"][0].clone())
        .collect();
    assert_eq!(
        blocks,
        [
            json!({"type": "thinking", "thinking": "h", "signature": "c2ln"}),
            json!({"type": "thinking", "thinking": "", "signature": "b25l"}),
            secret("dHdv"),
            secret("dHJl"),
            json!({"type": "thinking", "thinking": "m", "signature": ""}),
            secret("Zm91"),
            json!({"type": "text", "text": "done"}),
        ]
    );
}

// covers: DEC-26, DEC-42
#[test]
fn reasoning_between_calls_keeps_its_place() {
    let mut b = partial();
    b.prompt(1, "go");
    let call = |index: u32, id: &str| Delta::CallStart {
        index,
        id: id.to_string(),
        name: "Look".to_string(),
    };
    b.delta(text("first"));
    b.delta(call(0, "t1"));
    b.delta(Delta::Thinking("hm".to_string()));
    b.delta(Delta::Signature("c2ln".to_string()));
    b.delta(call(1, "t2"));
    b.delta(text("last"));
    b.finish(StopReason::ToolUse);
    let records = b.records();
    stream::check(&records);
    let shown: Vec<_> = records
        .iter()
        .filter(|record| record["type"] == "assistant")
        .map(|record| {
            let block = &record["message"]["content"][0]["type"];
            (block.clone(), record["message"]["stop_reason"].clone())
        })
        .collect();
    let shown_as = |kind: &str, stop: Value| (json!(kind), stop);
    assert_eq!(
        shown,
        [
            shown_as("text", json!(null)),
            shown_as("tool_use", json!("tool_use")),
            shown_as("thinking", json!(null)),
            shown_as("tool_use", json!("tool_use")),
            shown_as("text", json!("tool_use")),
        ]
    );
    b.tool_says("t1", "a");
    b.tool_says("t2", "b");
    let (_, request) = b.model();
    let Message::Assistant(kept) = &*request.history[1] else {
        panic!("{:?}", request.history);
    };
    assert_eq!(kept[0], Block::Text("first".to_string()));
    assert!(matches!(&kept[1], Block::ToolCall(call) if &*call.id == "t1"));
    let thinking = Block::Thinking {
        text: "hm".to_string(),
        signature: Some("c2ln".to_string()),
    };
    assert_eq!(kept[2], thinking);
    assert!(matches!(&kept[3], Block::ToolCall(call) if &*call.id == "t2"));
    assert_eq!(
        (&kept[4], kept.len()),
        (&Block::Text("last".to_string()), 5)
    );
}

// covers: DEC-41, DEC-42
#[test]
fn every_ending_closes_what_it_opened() {
    type Ending = (&'static str, fn(&mut Bench));
    let endings: [Ending; 7] = [
        ("end", |b| b.finish(StopReason::EndTurn)),
        ("output limit", |b| b.finish(StopReason::MaxTokens)),
        ("content filter", |b| b.finish(StopReason::ContentFilter)),
        ("interrupt", |b| b.control("i1", "interrupt")),
        ("failure", |b| {
            b.fails(ModelFailure {
                category: ErrorCategory::ServerError,
                status: None,
                message: "cut".to_string(),
            });
        }),
        ("fatal input", |b| b.line("{")),
        ("signal", |b| b.shutdown(143)),
    ];
    let starts: [(&str, Vec<Delta>); 7] = [
        ("nothing", vec![]),
        ("a name", vec![Delta::MessageId("msg_1".to_string())]),
        ("usage", vec![Delta::Usage(Usage::default())]),
        ("text", vec![text("half")]),
        (
            "signed and secret thinking",
            vec![
                Delta::Signature("c2ln".to_string()),
                Delta::RedactedThinking("b3Bh".to_string()),
            ],
        ),
        (
            "thinking, text",
            vec![Delta::Thinking("hm".to_string()), text("half")],
        ),
        (
            "text, calls, text",
            vec![
                text("half"),
                Delta::CallStart {
                    index: 0,
                    id: "a".to_string(),
                    name: "Look".to_string(),
                },
                Delta::CallStart {
                    index: 1,
                    id: "b".to_string(),
                    name: "Look".to_string(),
                },
                Delta::CallArguments {
                    index: 0,
                    text: "{".to_string(),
                },
                text("more"),
            ],
        ),
    ];
    for (ending, end) in endings {
        for (start, deltas) in &starts {
            let mut b = partial();
            b.prompt(1, "go");
            for delta in deltas {
                b.delta(delta.clone());
            }
            end(&mut b);
            let records = b.records();
            stream::check(&records);
            let results = records
                .iter()
                .filter(|r| r["type"] == "result" && !r["prompt_uuid"].is_null());
            let expected = usize::from(!(ending == "end" && start.contains("calls")));
            assert_eq!(results.count(), expected, "{start}, then {ending}");
        }
    }
}

// covers: DEC-30
#[test]
fn a_key_is_held_back_until_it_is_known_to_be_none() {
    let mut b = Bench::new(Config {
        include_partial_messages: true,
        credentials: Guard::new(["sk-key-12345678"]).expect("one literal"),
        ..config()
    });
    b.prompt(1, "go");
    b.delta(text("see sk-key-"));
    b.delta(text("12345678 and sk-key-9"));
    b.says(" end sk-");
    let records = b.records();
    let pieces: Vec<_> = events(&records)
        .into_iter()
        .filter_map(|event| event["delta"]["text"].as_str().map(ToString::to_string))
        .collect();
    assert_eq!(pieces, ["see ", "[redacted] and sk-key-9", " end ", "sk-"]);
    assert_eq!(
        records[records.len() - 2]["result"],
        "see [redacted] and sk-key-9 end sk-"
    );
}

// covers: DEC-43
#[test]
fn without_the_option_nothing_is_streamed() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.delta(text("a"));
    b.says("b");
    assert_eq!(
        b.briefs(),
        [
            "state running",
            "assistant text",
            "result success",
            "state idle"
        ]
    );
}

// covers: DEC-42
#[test]
fn every_message_has_an_id_of_its_own() {
    let mut b = partial();
    b.prompt(1, "go");
    b.calls(&[("t1", "Look", "{}")]);
    b.tool_says("t1", "x");
    b.says("done");
    let records = b.records();
    let ids: Vec<_> = records
        .iter()
        .filter(|r| r["type"] == "assistant")
        .map(|r| r["message"]["id"].clone())
        .collect();
    assert!(ids[0] != ids[1] && ids[0].as_str().is_some_and(|id| id.starts_with("msg_")));
    let started: Vec<_> = events(&records)
        .into_iter()
        .filter(|e| e["type"] == "message_start")
        .map(|e| e["message"]["id"].clone())
        .collect();
    assert_eq!(started, ids);
}
