//! `AGENTX_LOG`: what a session does, and nothing of what it is told.

use crate::support::{World, finish};
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

/// Answers two requests: the first is refused for now, the second gets this text.
fn model(listener: TcpListener, text: &str) -> thread::JoinHandle<()> {
    let delta = json!({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]});
    let body = format!("data: {delta}\n\ndata: [DONE]\n\n");
    let answers = [
        "HTTP/1.1 503 Busy\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n".to_owned(),
        format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-sentinel: HEADER-SENTINEL\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ),
    ];
    thread::spawn(move || {
        for answer in answers {
            let (mut socket, _) = listener.accept().unwrap();
            let mut seen = Vec::new();
            let mut piece = [0; 4096];
            // The request ends with the last message, whose text is known.
            while !String::from_utf8_lossy(&seen).contains("PROMPT-SENTINEL\"}]}") {
                let count = socket.read(&mut piece).unwrap();
                seen.extend_from_slice(&piece[..count]);
            }
            socket.write_all(answer.as_bytes()).unwrap();
        }
    })
}

#[test]
fn a_trace_tells_what_happens_and_nothing_of_what_is_said() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = model(listener, "ANSWER-SENTINEL");
    let entry = json!({
        "id": "local", "type": "openai_compatible",
        "openai_compatible": {
            "base_url": format!("http://127.0.0.1:{port}/ROUTE-SENTINEL/v1"),
            "model": "m", "api_key": "KEY-SENTINEL", "api": "chat_completions"
        }
    });
    let world = World::with(&json!([entry]));
    let mut command = world.command(&["-p", "PROMPT-SENTINEL"]);
    command.env("AGENTX_LOG", "trace");
    let outcome = finish(command, "");
    server.join().unwrap();
    assert_eq!(outcome.stdout, "ANSWER-SENTINEL\n", "{}", outcome.stderr);
    let log = &outcome.stderr;
    for word in ["SENTINEL", "127.0.0.1", &port.to_string(), "Bearer"] {
        assert!(!log.contains(word), "{word} in {log}");
    }
    for told in [
        "session starts",
        "turn started",
        "effect started",
        "kind=\"model\"",
        "attempt=1 tls=false",
        "attempt=1 status=503",
        "attempt=2 status=200",
        "delta=\"text\"",
        "effect settled",
        "turn ended",
        "session ended",
    ] {
        assert!(log.contains(told), "{told} is not in {log}");
    }
}
