//! Whether stream events are well formed: messages that start and stop, blocks
//! that open under the next index, grow while they are open and close once.

use serde_json::Value;
use std::collections::BTreeSet;

/// Checks the `stream_event` records among `records`.
///
/// # Panics
///
/// At the first event that is out of place, and when a message stays open.
pub fn check(records: &[Value]) {
    let mut message: Option<Message> = None;
    for record in records.iter().filter(|r| r["type"] == "stream_event") {
        let event = &record["event"];
        let kind = event["type"].as_str().unwrap_or_default();
        match (kind, &mut message) {
            ("message_start", None) => message = Some(Message::default()),
            ("message_stop", Some(open)) if open.ended => message = None,
            (kind, Some(open)) if !open.ended => open.event(kind, event),
            _ => panic!("{event} is out of place"),
        }
    }
    assert!(message.is_none(), "a message stays open");
}

#[derive(Default)]
struct Message {
    next: u64,
    open: BTreeSet<u64>,
    ended: bool,
}

impl Message {
    fn event(&mut self, kind: &str, event: &Value) {
        let index = event["index"].as_u64();
        match (kind, index) {
            ("content_block_start", Some(index)) => {
                assert_eq!(index, self.next, "blocks are counted");
                self.next += 1;
                self.open.insert(index);
            }
            ("content_block_delta", Some(index)) => {
                assert!(self.open.contains(&index), "{event} is of no open block");
            }
            ("content_block_stop", Some(index)) => {
                assert!(self.open.remove(&index), "{event} closes no open block");
            }
            ("message_delta", None) => {
                assert!(self.open.is_empty(), "blocks are open at {event}");
                self.ended = true;
            }
            _ => panic!("{event} is out of place"),
        }
    }
}
