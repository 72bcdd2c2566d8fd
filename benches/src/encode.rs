//! Encoding of output records to finished lines: with the core, and as a
//! careful user does it today.

use crate::output::Sample;
use agentx_core::guard::Guard;
use agentx_core::json::Writer;
use agentx_core::limits::Limits;
use agentx_core::link::{Link, Outgoing};
use std::hint::black_box;

/// As many credentials as a large registry has.
pub const SECRETS: [&str; 8] = [
    "sk-0123456789abcdef0123456789abcdef",
    "sk-proj-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5",
    "azure-5f4dcc3b5aa765d61d8327deb882cf99",
    "https://resource.endpoint.example",
    "https://gateway.internal.example/v1",
    "deployment-private-east-7",
    "2025-04-01-preview",
    "key-9f86d081884c7d659a2feaa0c55ad015",
];

/// A guard over [`SECRETS`].
///
/// # Panics
///
/// When a guard takes no eight literals.
#[must_use]
pub fn guard() -> Guard {
    Guard::new(SECRETS).expect("eight literals")
}

/// What a session does: each record through the link, guarded, handed over as a
/// line of its own. Returns the bytes.
///
/// # Panics
///
/// When a record is refused.
pub fn link(guard: &Guard, samples: &[Sample]) -> usize {
    let mut link = Link::new(&Limits::DEFAULT, String::new(), false);
    let mut bytes = 0;
    for sample in samples {
        let sent = link.send(guard, |writer| sample.record.write(sample.ids(), writer));
        sent.expect("no record holds a credential");
        while let Some(outgoing) = link.poll() {
            if let Outgoing::Transmit(record) = &outgoing {
                bytes += record.as_bytes().len();
            }
            black_box(&outgoing);
        }
    }
    bytes
}

/// The core's writer into one buffer that is used again, with a guard or
/// without. Returns the bytes.
///
/// # Panics
///
/// When a record holds a credential.
pub fn writer(guard: Option<&Guard>, buffer: &mut Vec<u8>, samples: &[Sample]) -> usize {
    let mut bytes = 0;
    for sample in samples {
        let line = core_line(buffer, sample);
        if let Some(guard) = guard {
            assert!(guard.check(line).is_ok(), "no record holds a credential");
        }
        bytes += black_box(line).len();
    }
    bytes
}

fn core_line<'b>(buffer: &'b mut Vec<u8>, sample: &Sample) -> &'b [u8] {
    let mut writer = Writer::with_buffer(std::mem::take(buffer));
    sample.record.write(sample.ids(), &mut writer);
    *buffer = writer.finish();
    buffer.push(b'\n');
    buffer
}

/// `serde_json` into one buffer that is used again; nothing is escaped for line
/// readers and nothing is looked for. Returns the bytes.
///
/// # Panics
///
/// When a record cannot be serialized.
pub fn serde_writer(buffer: &mut Vec<u8>, samples: &[Sample]) -> usize {
    let mut bytes = 0;
    for sample in samples {
        bytes += black_box(serde_line(buffer, sample)).len();
    }
    bytes
}

fn serde_line<'b>(buffer: &'b mut Vec<u8>, sample: &Sample) -> &'b [u8] {
    buffer.clear();
    serde_json::to_writer(&mut *buffer, &sample.plain).expect("a record");
    buffer.push(b'\n');
    buffer
}

/// The usual way to do with `serde_json` what the core does: a string, two
/// replacements, and a search for each credential. Returns the bytes.
///
/// # Panics
///
/// When a record cannot be serialized or holds a credential.
pub fn serde_usual(samples: &[Sample]) -> usize {
    let mut bytes = 0;
    for sample in samples {
        let line = usual_line(sample);
        let leaks = SECRETS.iter().any(|secret| line.contains(secret));
        assert!(!leaks, "no record holds a credential");
        bytes += black_box(&line).len();
    }
    bytes
}

fn usual_line(sample: &Sample) -> String {
    let mut line = serde_json::to_string(&sample.plain).expect("a record");
    line.push('\n');
    line.replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// Fails unless both shapes of every record give the same line.
///
/// # Panics
///
/// When a line differs.
pub fn check(samples: &[Sample]) {
    let mut buffer = Vec::new();
    for sample in samples {
        let ours = String::from_utf8_lossy(core_line(&mut buffer, sample)).into_owned();
        assert_eq!(ours, usual_line(sample), "both write the same record");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One record of each kind, with everything that has to be escaped.
    const LINES: [&str; 9] = [
        r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1","model":"m","content":[],"usage":{"input_tokens":3,"output_tokens":1,"cache_read_input_tokens":7}}},"session_id":"s","uuid":"u"}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},"session_id":"s","uuid":"u"}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a \"b\"\n\u2028\u2029 é \u0001 \ud83d\ude80"}},"session_id":"s","uuid":"u"}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}},"session_id":"s","uuid":"u"}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_stop","index":1},"session_id":"s","uuid":"u"}"#,
        r#"{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":5}},"session_id":"s","uuid":"u"}"#,
        r#"{"type":"assistant","message":{"id":"msg_1","model":"m","content":[{"type":"text","text":"t\u001b"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls\t\\","n":[1,2.5,null]}}],"usage":{}},"session_id":"s","uuid":"u"}"#,
        r#"{"type":"user","message":{"content":[{"tool_use_id":"t1","content":"x\ty"}]},"tool_use_result":{"stdout":"x\ty"},"session_id":"s","uuid":"u"}"#,
        r#"{"type":"result","duration_ms":7,"duration_api_ms":6,"num_turns":2,"result":"done","usage":{"input_tokens":1},"session_id":"s","uuid":"u"}"#,
    ];

    #[test]
    fn both_ways_write_the_same_lines() {
        let samples: Vec<Sample> = LINES
            .iter()
            .map(|line| Sample::read(line.as_bytes()).expect("a record"))
            .collect();
        check(&samples);
        let mut buffer = Vec::new();
        let guard = guard();
        let bytes = link(&guard, &samples);
        assert_eq!(writer(Some(&guard), &mut buffer, &samples), bytes);
        assert_eq!(writer(None, &mut buffer, &samples), bytes);
        assert_eq!(serde_usual(&samples), bytes);
        // Bare serde_json leaves the two separators as three bytes each.
        assert_eq!(serde_writer(&mut buffer, &samples), bytes - 2 * 3);
    }
}
