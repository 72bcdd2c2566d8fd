//! The host's half of the wire, as far as a world needs it: records of the agent
//! in, questions out.

use agentx_core::json::{Object, ScanLimits, Scanner, Value};
use std::collections::VecDeque;

/// A request of the agent that waits for an answer.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    /// Its number at the host.
    pub(super) number: u64,
    /// Its id on the wire.
    pub(super) request_id: String,
    /// What it is about.
    pub(super) about: About,
}

/// What the agent asks its host.
#[derive(Clone, Debug)]
pub(super) enum About {
    /// Whether a call may run.
    Permission { tool_use_id: String },
    /// What a callback says.
    Hook,
    /// What a server of the host says to a message.
    Message { method: String, id: String },
    /// What the user says to a server's question.
    Question,
}

/// What the agent's records come to.
#[derive(Clone, Debug)]
pub(super) enum News {
    /// It asks.
    Asked(Ask),
    /// It does not ask any more.
    Withdrawn(u64),
}

/// The reader of the agent's records.
#[derive(Debug, Default)]
pub(super) struct Peer {
    tail: Vec<u8>,
    scanner: Scanner,
    asked: u64,
    open: Vec<(u64, String)>,
    news: VecDeque<News>,
}

impl Peer {
    /// Takes bytes of the agent, cut anywhere.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            if self.tail.is_empty() {
                self.line(&rest[..end]);
            } else {
                self.tail.extend_from_slice(&rest[..end]);
                let line = std::mem::take(&mut self.tail);
                self.line(&line);
            }
            rest = &rest[end + 1..];
        }
        self.tail.extend_from_slice(rest);
    }

    /// What is new.
    pub(super) fn poll(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// The request with this number is answered.
    pub(super) fn answered(&mut self, number: u64) {
        self.open.retain(|(open, _)| *open != number);
    }

    fn line(&mut self, line: &[u8]) {
        if !line.starts_with(br#"{"type":"control_"#) {
            return;
        }
        let value = self.scanner.scan(line, &ScanLimits::DEFAULT).ok();
        let Some(record) = value.and_then(Value::as_object) else {
            return;
        };
        let request_id = text(record, "request_id");
        match text(record, "type").as_str() {
            "control_cancel_request" => {
                let place = self.open.iter().position(|(_, open)| *open == request_id);
                if let Some(place) = place {
                    let (number, _) = self.open.remove(place);
                    self.news.push_back(News::Withdrawn(number));
                }
            }
            "control_request" => {
                let Some(request) = record.get("request").and_then(Value::as_object) else {
                    return;
                };
                let about = about(request);
                self.asked += 1;
                let number = self.asked;
                self.open.push((number, request_id.clone()));
                self.news.push_back(News::Asked(Ask {
                    number,
                    request_id,
                    about,
                }));
            }
            _ => {}
        }
    }
}

fn about(request: Object<'_>) -> About {
    match text(request, "subtype").as_str() {
        "can_use_tool" => About::Permission {
            tool_use_id: text(request, "tool_use_id"),
        },
        "mcp_message" => {
            let message = request.get("message").and_then(Value::as_object);
            About::Message {
                method: message
                    .map(|message| text(message, "method"))
                    .unwrap_or_default(),
                id: message
                    .and_then(|message| message.get("id"))
                    .map(|id| id.raw().to_string())
                    .unwrap_or_default(),
            }
        }
        "hook_callback" => About::Hook,
        _ => About::Question,
    }
}

fn text(object: Object<'_>, name: &str) -> String {
    let text = object.get(name).and_then(Value::as_str);
    text.map(|text| text.decode_lossy().into_owned())
        .unwrap_or_default()
}
