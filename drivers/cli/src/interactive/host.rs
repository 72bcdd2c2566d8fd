//! The session's side of the interface: whatever comes goes to its thread.

use super::Event;
use agentx_pump::world::{Host, HostPort, HostReply};
use std::sync::mpsc::Sender;

/// A host that passes everything on and never waits.
#[derive(Debug)]
pub(super) struct Relay {
    events: Sender<Event>,
    port: Option<HostPort>,
    /// Whether lines for the operator are shown on the terminal.
    reports: bool,
}

impl Relay {
    pub(super) const fn new(events: Sender<Event>, reports: bool) -> Self {
        Self {
            events,
            port: None,
            reports,
        }
    }
}

impl Host for Relay {
    fn record(&mut self, record: &[u8]) -> HostReply {
        if self.events.send(Event::Record(record.to_vec())).is_err()
            && let Some(port) = self.port.take()
        {
            // Nobody takes records any more.
            port.fail();
        }
        HostReply::default()
    }

    fn connect(&mut self, port: HostPort) {
        self.port = Some(port.clone());
        drop(self.events.send(Event::Connected(port)));
    }

    fn takes_later(&self) -> bool {
        true
    }

    fn report(&mut self, line: &str) -> bool {
        self.reports && self.events.send(Event::Report(line.to_owned())).is_ok()
    }
}
