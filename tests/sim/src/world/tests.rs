//! What is counted as a fault has happened.

use super::run;
use crate::event::{Event, Violation, Watch};
use crate::fault::{Fault, FaultCounts};
use crate::tape::Tape;
use agentx_core::agent::{Input, Output};
use agentx_core::machine::Machine as _;
use agentx_core::time::Instant;
use std::collections::BTreeSet;

/// Follows what a fault has to lead to.
#[derive(Default)]
struct Follow {
    /// The fault that was told last, until the event behind it.
    fault: Option<Fault>,
    /// Ids of requests that were answered or withdrawn.
    closed: BTreeSet<String>,
    /// Bytes that the agent's writer has not written.
    unwritten: usize,
    /// Bytes that the host has not read.
    unread: usize,
    /// Whether a line went to the agent that its host did not write: what is written
    /// of it is not told.
    injected: bool,
    broken: bool,
    deadline: Option<Instant>,
    seen: FaultCounts,
}

fn request_id(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let behind = text.split_once(r#""request_id":""#).map(|(_, rest)| rest);
    let id = behind.and_then(|rest| rest.split_once('"'));
    id.map(|(id, _)| id.to_owned()).unwrap_or_default()
}

impl Follow {
    /// Takes note of an event.
    fn note(&mut self, event: &Event<'_>) {
        match event {
            Event::Began { .. } => {
                let seen = std::mem::take(&mut self.seen);
                *self = Self {
                    seen,
                    ..Self::default()
                };
            }
            Event::AgentOutput(Output::Transmit(record)) => {
                let line = record.as_bytes();
                if line.starts_with(br#"{"type":"control_cancel_request""#) {
                    self.closed.insert(request_id(line));
                }
                if !self.broken {
                    self.unwritten += line.len();
                }
            }
            Event::AgentInput(Input::WriteFailed) => (self.broken, self.unwritten) = (true, 0),
            Event::Written(count) => {
                self.unwritten -= count;
                self.unread += count;
            }
            Event::HostRead(bytes) => self.unread -= bytes.len(),
            Event::Sent { line, own } => {
                self.injected |= !own;
                if line.starts_with(br#"{"type":"control_response""#) {
                    self.closed.insert(request_id(line));
                }
            }
            Event::AgentDrained(agent) => self.deadline = agent.deadline(),
            _ => {}
        }
    }
}

impl Watch for Follow {
    fn see(&mut self, now: Instant, event: &Event<'_>) -> Result<(), Violation> {
        let fault = self.fault.take();
        let late = matches!(event, Event::Sent { line, .. }
            if self.closed.contains(&request_id(line)));
        let early = self.deadline.is_none_or(|due| due > now);
        self.note(event);
        let follows = match (fault, event) {
            (Some(Fault::LateReply), Event::Sent { own: false, .. }) => late,
            (
                Some(
                    Fault::Malformed
                    | Fault::Oversize
                    | Fault::OrphanReply
                    | Fault::DuplicateReply
                    | Fault::WrongPayload,
                ),
                Event::Sent { own: false, .. },
            ) => true,
            (Some(Fault::EarlyTick), Event::AgentInput(Input::Tick)) => early,
            (Some(Fault::LateAnswer), Event::AgentInput(Input::Done(..))) => true,
            (Some(Fault::PartialWrite), Event::Written(_))
                if self.unwritten > 0 || !self.injected =>
            {
                self.unwritten > 0
            }
            (Some(Fault::Split), Event::HostRead(_)) => self.unread > 0,
            // The other direction is not told of.
            (Some(Fault::PartialWrite | Fault::Split), _) => return Ok(()),
            (
                Some(
                    Fault::LateReply
                    | Fault::Malformed
                    | Fault::Oversize
                    | Fault::OrphanReply
                    | Fault::DuplicateReply
                    | Fault::WrongPayload
                    | Fault::EarlyTick
                    | Fault::LateAnswer,
                ),
                _,
            ) => false,
            _ => {
                if let Event::Fault(fault) = event {
                    self.fault = Some(*fault);
                }
                return Ok(());
            }
        };
        let fault = fault.expect("one was told");
        assert!(
            follows,
            "{} is counted, and {event:?} follows",
            fault.as_str()
        );
        self.seen.count(fault);
        Ok(())
    }
}

#[test]
fn what_is_counted_as_a_fault_has_happened() {
    let mut follow = Follow::default();
    for seed in 0..120 {
        run(Tape::of_seed(seed), &mut follow);
    }
    for fault in [
        Fault::LateReply,
        Fault::Malformed,
        Fault::Oversize,
        Fault::OrphanReply,
        Fault::DuplicateReply,
        Fault::WrongPayload,
        Fault::EarlyTick,
        Fault::LateAnswer,
        Fault::PartialWrite,
        Fault::Split,
    ] {
        let count = follow.seen.of(fault);
        assert!(count > 0, "{} did not happen", fault.as_str());
    }
}
