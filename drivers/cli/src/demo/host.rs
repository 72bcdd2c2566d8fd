//! The host of the demo, and an example of what any host does.

use super::transcript::{Style, Transcript};
use crate::speak::{self, text};
use agentx_core::json::{Object, ScanLimits, Scanner};
use agentx_pump::world::{Host, HostReply};
use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

/// What the user of the demo asks.
const PROMPT: &str = "Write a short poem about pipes into pipe.txt, then read it back.";

/// A host that asks one thing, allows what it is asked, and shows all of it.
pub(crate) struct DemoHost<W> {
    transcript: Transcript,
    output: W,
    /// Why the output failed: nobody reads, so nothing is worth doing.
    unread: Arc<OnceLock<io::Error>>,
    scanner: Scanner,
}

impl<W: Write> DemoHost<W> {
    /// A host that shows a session in `folder` on `output`.
    pub(crate) fn new(
        style: Style,
        folder: &str,
        output: W,
        unread: Arc<OnceLock<io::Error>>,
    ) -> Self {
        Self {
            transcript: Transcript::new(style, folder),
            output,
            unread,
            scanner: Scanner::new(),
        }
    }

    fn show(&mut self, text: &str) {
        let shown = self.output.write_all(text.as_bytes());
        if let Err(error) = shown.and_then(|()| self.output.flush()) {
            // The first cause is the one that counts.
            let _ = self.unread.set(error);
        }
    }
}

impl<W: Write + Send> Host for DemoHost<W> {
    fn record(&mut self, record: &[u8]) -> HostReply {
        let scanned = self.scanner.scan(record, &ScanLimits::DEFAULT);
        let Some(record) = scanned.ok().and_then(|value| value.as_object()) else {
            return HostReply {
                end: true,
                ..HostReply::default()
            };
        };
        let reply = reply(record);
        let text = self.transcript.record(record, PROMPT);
        self.show(&text);
        HostReply {
            end: reply.end || self.unread.get().is_some(),
            ..reply
        }
    }
}

/// What a host says to a record: a prompt when the session stands ready, an
/// answer to a question, and nothing more after the result.
fn reply(record: Object<'_>) -> HostReply {
    let is = |member: &str, word: &str| text(record, member).is_some_and(|text| text == word);
    if is("subtype", "init") {
        return HostReply {
            input: speak::user(PROMPT),
            end: false,
        };
    }
    let id = text(record, "request_id");
    match id {
        Some(id) if is("type", "control_request") => HostReply {
            input: speak::allow(&id, None),
            end: false,
        },
        _ => HostReply {
            input: Vec::new(),
            end: is("type", "result"),
        },
    }
}
