//! What is written and told, and how that ends.

use super::{End, Event, Exit, HostSession, Output, Stage, Unsent};
use crate::diagnostic::{Diagnostic, Severity};
use crate::json::{ScanLimits, Writer};
use crate::link::Outgoing;
use crate::plant::planted;
use crate::schema::declare::Json;
use alloc::vec::Vec;

impl HostSession {
    /// Queues a record behind all others. What cannot leave is refused before it
    /// can close the link, and nothing has happened then.
    pub(super) fn send(&mut self, record: &impl Json) -> Result<(), Unsent> {
        let closed = if planted!(self.config.limits.planted(), HostWire015) {
            self.stage == Stage::Exited
        } else {
            self.stage != Stage::Open
        };
        if closed {
            return Err(Unsent::Closed);
        }
        let mut writer = Writer::new();
        record.write(&mut writer);
        let mut bytes = writer.finish();
        let limits = &self.config.limits;
        let depths = ScanLimits {
            max_depth: limits.depth,
            node_depth: 0,
        };
        if bytes.len() > limits.record_bytes || self.scanner.scan(&bytes, &depths).is_err() {
            return Err(Unsent::TooLarge);
        }
        bytes.push(b'\n');
        if self.config.credentials.check(&bytes).is_err() {
            return Err(Unsent::Credential);
        }
        if self.link.send_checked(bytes).is_err() {
            return Err(Unsent::Closed);
        }
        while let Some(Outgoing::Transmit(record)) = self.link.poll() {
            self.unsent = self.unsent.saturating_add(record.as_bytes().len());
            self.out.push_back(Output::Transmit(record));
        }
        if self.unsent > self.config.limits.host_output_bytes {
            self.fail_output("the agent does not read what it is told");
        }
        Ok(())
    }

    pub(super) fn tell(&mut self, event: Event) {
        self.out.push_back(Output::Event(event));
    }

    pub(super) fn warn(&mut self, text: &str) {
        self.diagnose(Severity::Warning, text);
    }

    pub(super) fn diagnose(&mut self, severity: Severity, text: &str) {
        let diagnostic = Diagnostic::of(severity, text, &[&self.config.credentials]);
        self.out.push_back(Output::Diagnostic(diagnostic));
    }

    /// Writes no more. The agent cannot be answered from here on, and knows what that
    /// means when its input ends; calls still wait for what it has read.
    pub(super) fn close_output(&mut self) {
        if self.stage == Stage::Open {
            self.stage = Stage::Closing;
            self.cancel_asks();
            self.out.push_back(Output::CloseInput);
        }
    }

    /// Writes no more, since nothing arrives: nor will any answer.
    pub(super) fn fail_output(&mut self, why: &str) {
        if self.stage == Stage::Open {
            self.diagnose(Severity::Error, why);
            self.link.latch();
            self.close_output();
            self.close_calls();
        }
    }

    pub(super) fn exit(&mut self, end: End) {
        let calls = self.close_calls();
        let requests = self.cancel_asks();
        self.close_output();
        self.link.latch();
        self.stage = Stage::Exited;
        let mut prompts = core::mem::take(&mut self.prompts);
        if planted!(self.config.limits.planted(), HostDec21) {
            prompts.clear();
        }
        self.out.push_back(Output::Exit(Exit {
            end,
            calls,
            requests,
            prompts: prompts.into_iter().collect::<Vec<_>>(),
            unsent: self.unsent,
        }));
    }
}
