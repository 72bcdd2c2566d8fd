//! A model server on loopback that gives answers written beforehand.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

/// Serves one connection for each answer, then ends.
pub(crate) struct ModelServer {
    origin: String,
    thread: JoinHandle<Vec<Request>>,
}

/// A request as it arrived.
pub(crate) struct Request {
    /// Request line and headers.
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl ModelServer {
    pub(crate) fn start(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let thread = thread::spawn(move || {
            let serve = |stream: &String| serve(&listener.accept().unwrap().0, stream);
            answers.iter().map(serve).collect()
        });
        Self { origin, thread }
    }

    /// Scheme and address.
    pub(crate) fn origin(&self) -> String {
        self.origin.clone()
    }

    /// All requests, once there was one for each answer.
    pub(crate) fn requests(self) -> Vec<Request> {
        self.thread.join().unwrap()
    }
}

/// The stream of a Chat Completions answer.
pub(crate) fn chat(text: &str) -> String {
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", json!({"id": "c1", "choices": [choice]}))
    };
    [
        chunk(json!({"content": text}), Value::Null),
        chunk(json!({}), json!("stop")),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat()
}

/// The stream of a Responses answer.
pub(crate) fn responses(text: &str) -> String {
    [
        json!({"type": "response.created", "response": {"id": "r1"}}),
        json!({"type": "response.output_text.delta", "delta": text}),
        json!({"type": "response.completed", "response": {"id": "r1", "status": "completed"}}),
    ]
    .map(|event| format!("data: {event}\n\n"))
    .concat()
}

/// The stream of a Responses answer with these items, each told when it is whole.
pub(crate) fn response_of(items: &[Value]) -> String {
    let created = json!({"type": "response.created", "response": {"id": "r1"}});
    let done = |item| json!({"type": "response.output_item.done", "item": item});
    let completed =
        json!({"type": "response.completed", "response": {"id": "r1", "status": "completed"}});
    let events = std::iter::once(created).chain(items.iter().map(done));
    events
        .chain([completed])
        .map(|event| format!("data: {event}\n\n"))
        .collect()
}

/// The stream of a Messages answer.
pub(crate) fn messages(text: &str) -> String {
    let delta = json!({"type": "text_delta", "text": text});
    [
        json!({"type": "message_start", "message": {"id": "m1"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ]
    .map(|event| format!("data: {event}\n\n"))
    .concat()
}

fn serve(mut peer: &TcpStream, stream: &str) -> Request {
    let request = read_request(peer);
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n{stream}",
        stream.len()
    );
    peer.write_all(answer.as_bytes()).unwrap();
    request
}

/// Reads one request whole.
pub(crate) fn read_request(peer: impl Read) -> Request {
    let mut reader = BufReader::new(peer);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let start = head.len();
        reader.read_line(&mut head).unwrap();
        let line = head[start..].to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Request {
        head,
        body: serde_json::from_slice(&body).unwrap(),
    }
}
