//! Streams of the three dialects, cut as a test wants them.

use serde_json::{Value, json};

/// What an answer says, each part in the pieces of its deltas.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) thinking: Vec<String>,
    pub(crate) text: Vec<String>,
    /// Id, name and arguments of a call.
    pub(crate) call: Option<(String, &'static str, Vec<String>)>,
}

/// The events of an answer to a request for this path.
pub(crate) fn stream(path: &str, said: &Said) -> String {
    let events = if path.ends_with("/chat/completions") {
        chat(said)
    } else if path.ends_with("/messages") {
        messages(said)
    } else {
        responses(said)
    };
    events.iter().map(event).collect()
}

/// One event of a stream.
pub(crate) fn event(event: &Value) -> String {
    match event["type"].as_str() {
        Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    }
}

fn chat(said: &Said) -> Vec<Value> {
    let chunk = |delta: Value, finish: Option<&str>| json!({"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    let mut events = Vec::new();
    for piece in &said.thinking {
        events.push(chunk(json!({"reasoning_content": piece}), None));
    }
    for piece in &said.text {
        events.push(chunk(json!({"content": piece}), None));
    }
    let mut finish = "stop";
    if let Some((id, name, arguments)) = &said.call {
        finish = "tool_calls";
        let function = json!({"name": name, "arguments": ""});
        let call = json!({"index": 0, "id": id, "type": "function", "function": function});
        events.push(chunk(json!({"tool_calls": [call]}), None));
        for piece in arguments {
            let call = json!({"index": 0, "function": {"arguments": piece}});
            events.push(chunk(json!({"tool_calls": [call]}), None));
        }
    }
    events.push(chunk(json!({}), Some(finish)));
    events
}

fn responses(said: &Said) -> Vec<Value> {
    let mut events = vec![json!({"type": "response.created", "response": {"id": "r"}})];
    for piece in &said.thinking {
        events.push(json!({"type": "response.reasoning_summary_text.delta",
            "item_id": "t", "output_index": 0, "summary_index": 0, "delta": piece}));
    }
    for piece in &said.text {
        events.push(json!({"type": "response.output_text.delta",
            "item_id": "m", "output_index": 1, "content_index": 0, "delta": piece}));
    }
    if let Some((id, name, arguments)) = &said.call {
        let item = |arguments: &str| {
            json!({"type": "function_call", "id": "f", "call_id": id, "name": name,
                "arguments": arguments})
        };
        events.push(json!({"type": "response.output_item.added",
            "output_index": 2, "item": item("")}));
        for piece in arguments {
            events.push(json!({"type": "response.function_call_arguments.delta",
                "item_id": "f", "output_index": 2, "delta": piece}));
        }
        events.push(json!({"type": "response.output_item.done",
            "output_index": 2, "item": item(&arguments.concat())}));
    }
    events.push(
        json!({"type": "response.completed", "response": {"id": "r", "status": "completed"}}),
    );
    events
}

fn messages(said: &Said) -> Vec<Value> {
    let mut events = vec![json!({"type": "message_start", "message": {"id": "m"}})];
    let mut block = |start: Value, deltas: Vec<Value>| {
        let index = events.len();
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    };
    let pieces = |pieces: &[String], kind: &str, member: &str| {
        let delta = |piece| json!({"type": kind, member: piece});
        pieces.iter().map(delta).collect::<Vec<_>>()
    };
    if !said.thinking.is_empty() {
        let mut deltas = pieces(&said.thinking, "thinking_delta", "thinking");
        deltas.extend(pieces(&said.thinking, "signature_delta", "signature"));
        block(json!({"type": "thinking", "thinking": ""}), deltas);
    }
    if !said.text.is_empty() {
        let deltas = pieces(&said.text, "text_delta", "text");
        block(json!({"type": "text", "text": ""}), deltas);
    }
    if let Some((id, name, arguments)) = &said.call {
        let deltas = pieces(arguments, "input_json_delta", "partial_json");
        block(
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            deltas,
        );
    }
    let stop = if said.call.is_some() {
        "tool_use"
    } else {
        "end_turn"
    };
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop}}));
    events.push(json!({"type": "message_stop"}));
    events
}
