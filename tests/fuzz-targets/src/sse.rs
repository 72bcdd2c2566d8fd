//! Server-sent events, beside a reader that has all of the stream at once.

use crate::seed;
use agentx_providers::sse::Decoder;
use std::ops::ControlFlow;

/// Events as name and data, then the last id and the last time to wait.
#[derive(Debug, PartialEq)]
struct Said {
    events: Vec<(String, String)>,
    id: String,
    retry: Option<u64>,
}

/// Any stream: however it is cut, its events are those of the rules.
pub fn target(data: &[u8]) {
    let whole = decode(&[data]);
    assert_eq!(whole, decode(&seed::pieces(data)), "cut");
    assert_eq!(whole, decode(&seed::singles(data)), "byte by byte");
    assert_eq!(whole, plain(data));
}

fn decode(pieces: &[&[u8]]) -> Said {
    let mut decoder = Decoder::new();
    let mut events = Vec::new();
    for piece in pieces {
        let flow = decoder.feed(piece, |event| {
            events.push((event.event.to_owned(), event.data.to_owned()));
            ControlFlow::Continue(())
        });
        assert_eq!(flow, Ok(ControlFlow::Continue(())));
    }
    Said {
        events,
        id: decoder.last_id().to_owned(),
        retry: decoder.retry(),
    }
}

/// Decodes the whole stream the simple way: lines, then fields.
fn plain(data: &[u8]) -> Said {
    let mut said = Said {
        events: Vec::new(),
        id: String::new(),
        retry: None,
    };
    let (mut event, mut lines) = (String::new(), Vec::new());
    for line in lines_of(data.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(data)) {
        if line.is_empty() {
            let name = std::mem::take(&mut event);
            if !lines.is_empty() {
                said.events.push((name, lines.join("\n")));
                lines.clear();
            }
            continue;
        }
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let name = parts.next().unwrap_or_default();
        let value = parts.next().unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = String::from_utf8_lossy(value).into_owned();
        match name {
            b"data" => lines.push(text),
            b"event" => event = text,
            b"id" if !value.contains(&0) => said.id = text,
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                said.retry = text.parse().ok();
            }
            _ => {}
        }
    }
    said
}

/// The lines that are complete, without their ends.
fn lines_of(data: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut rest = data;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
        let (line, end) = rest.split_at(at);
        lines.push(line);
        rest = end
            .strip_prefix(b"\r\n")
            .or_else(|| end.get(1..))
            .unwrap_or_default();
    }
    lines
}
