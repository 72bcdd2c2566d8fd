//! What inputs, records and effects are, in a word or two.

use agentx_core::effect::Request;
use agentx_core::store::Entry;
use serde_json::Value;

/// A request in a word or two.
pub(super) fn brief_effect(request: &Request) -> String {
    match request {
        Request::Model(_) => "model".to_string(),
        Request::Tool(request) => format!("tool {}", request.call.id),
        Request::Task(task) => format!("task {}", task.tool.call.id),
        Request::Hook(request) => format!("hook {}", request.event.as_str()),
        Request::Persist(_) => "persist".to_string(),
        Request::Store(batch) => format!("store {}", brief_entries(&batch.entries)),
        Request::FlushRemote => "flush".to_string(),
        Request::Vet(_) => "vet".to_string(),
        Request::Validate(_) => "validate".to_string(),
        Request::Match(_) => "match".to_string(),
        Request::ReadSchema(_) => "read schema".to_string(),
        Request::Rewind(_) => "rewind".to_string(),
        Request::Seed(_) => "seed".to_string(),
    }
}

/// The entries of a batch, each as the word of its kind.
#[must_use]
pub fn brief_entries(entries: &[Entry]) -> String {
    let words = entries.iter().map(|entry| match entry {
        Entry::Prompt(_) => "prompt",
        Entry::Context(_) => "context",
        Entry::Answer(_) => "answer",
        Entry::Result(_) => "result",
        Entry::Task(_) => "task",
        Entry::Notice(_) => "notice",
        Entry::Turn(_) => "turn",
    });
    words.collect::<Vec<_>>().join(" ")
}

/// An input line in a word or two, as far as it can be read.
pub(super) fn brief_input(line: &str) -> String {
    let record: Value = serde_json::from_str(line).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or("?").to_string();
    match record["type"].as_str() {
        Some("user") => match record["priority"].as_str() {
            Some(priority) => format!("user {priority}"),
            None => "user".to_string(),
        },
        Some("control_request") => format!(
            "{} {}",
            text(&record["request"]["subtype"]),
            text(&record["request_id"])
        ),
        Some("control_response") => match record["response"]["response"]["behavior"].as_str() {
            Some(behavior) => behavior.to_string(),
            None => text(&record["response"]["subtype"]),
        },
        Some(other) => other.to_string(),
        None => "a malformed line".to_string(),
    }
}

/// What the host is asked: `ask toolu_1`, `callback hook_1`, `mcp calc tools/list`, `mcp calc reply`,
/// `elicitation calc`.
fn brief_request(request: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("?").to_string();
    match request["subtype"].as_str() {
        Some("mcp_message") => format!(
            "mcp {} {}",
            text(&request["server_name"]),
            request["message"]["method"].as_str().unwrap_or("reply")
        ),
        Some("hook_callback") => format!("callback {}", text(&request["callback_id"])),
        Some("elicitation") => format!("elicitation {}", text(&request["mcp_server_name"])),
        _ => format!("ask {}", text(&request["tool_use_id"])),
    }
}

/// A record in a word or two: `system/init`, `state running`, `assistant text`,
/// `ask toolu_1`, `callback hook_1`, `cancel`, `ack r1`, `error r1`, `tool_result toolu_1`,
/// `result success`, or its type.
#[must_use]
pub fn brief(record: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("?").to_string();
    match text(&record["type"]).as_str() {
        "system" if record["subtype"] == "session_state_changed" => {
            format!("state {}", text(&record["state"]))
        }
        "system" => format!("system/{}", text(&record["subtype"])),
        "assistant" => format!(
            "assistant {}",
            text(&record["message"]["content"][0]["type"])
        ),
        "user" if record["isReplay"] == true => "replay".to_string(),
        "user" => format!(
            "tool_result {}",
            text(&record["message"]["content"][0]["tool_use_id"])
        ),
        "control_request" => brief_request(&record["request"]),
        "control_cancel_request" => "cancel".to_string(),
        "control_response" => match record["response"]["subtype"].as_str() {
            Some("success") => format!("ack {}", text(&record["response"]["request_id"])),
            _ => format!("error {}", text(&record["response"]["request_id"])),
        },
        "result" => format!("result {}", text(&record["subtype"])),
        "stream_event" => format!("stream {}", text(&record["event"]["type"])),
        other => other.to_string(),
    }
}
