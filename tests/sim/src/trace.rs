//! What happened in a run, as text: one line for each event, the same on every
//! machine. Its hash tells two runs apart, its lines tell a run.

use crate::event::{Event, Violation, Watch};
use agentx_core::agent::{Input, Output};
use agentx_core::effect::{Answer, Request};
use agentx_core::host;
use agentx_core::time::Instant;
use std::fmt::{self, Write};

/// Writes one event as text, without a newline.
fn tell(event: &Event<'_>, to: &mut impl Write) -> fmt::Result {
    match event {
        Event::Began { config, .. } => {
            let profile = if config.profile.is_reference() {
                "reference"
            } else {
                "standalone"
            };
            let mode = config.permission_mode.as_str();
            let stored = config.store.is_some();
            let vets = config.vet_records;
            let hooks = config.hooks.list.len();
            write!(
                to,
                "an agent begins: {profile}, {mode}, stored {stored}, vetted {vets}, {hooks} hooks"
            )
        }
        Event::AgentInput(input) => told(input, to),
        Event::AgentRefused(misuse) => write!(to, "  refused: {misuse}"),
        Event::AgentOutput(output) => said(output, to),
        Event::AgentDrained(_) | Event::HostDrained(_) => Ok(()),
        Event::HostInput(input) => asks(input, to),
        Event::HostRefused(misuse) => write!(to, "  host refused: {misuse}"),
        Event::HostOutput(output) => hears(output, to),
        Event::Written(bytes) => write!(to, "  {bytes} bytes written"),
        Event::HostRead(bytes) => write!(to, "host reads {} bytes", bytes.len()),
        Event::Sent { line, own } => {
            let who = if *own { "host" } else { "injected" };
            write!(to, "{who}: ")?;
            text(line, to)
        }
        Event::Stored(entries) => write!(to, "the store has {} entries", entries.len()),
        Event::Fault(fault) => write!(to, "fault: {}", fault.as_str()),
        Event::Crashed { kept } => write!(to, "the agent is killed; {kept} entries are left"),
        Event::Calm => to.write_str("no faults from here on"),
        Event::Rested(_) => to.write_str("everything is at rest"),
        Event::Closing => to.write_str("the host ends its side"),
        Event::Over { status } => write!(to, "the agent is gone with status {status}"),
    }
}

fn asks(input: &host::Input<'_>, to: &mut impl Write) -> fmt::Result {
    match input {
        host::Input::Bytes(bytes) => write!(to, "host < {} bytes", bytes.len()),
        other => write!(to, "host < {other:?}"),
    }
}

fn hears(output: &host::Output, to: &mut impl Write) -> fmt::Result {
    match output {
        // It is told when it goes towards the agent.
        host::Output::Transmit(_) => to.write_str("  host sends"),
        other => write!(to, "  host {other:?}"),
    }
}

/// Bytes of a stream, as far as they are text.
fn text(bytes: &[u8], to: &mut impl Write) -> fmt::Result {
    for chunk in bytes.utf8_chunks() {
        to.write_str(chunk.valid().trim_end_matches('\n'))?;
        for byte in chunk.invalid() {
            write!(to, "\\x{byte:02x}")?;
        }
    }
    Ok(())
}

fn told(input: &Input<'_>, to: &mut impl Write) -> fmt::Result {
    match input {
        Input::Bytes(bytes) => {
            write!(to, "agent < {} bytes: ", bytes.len())?;
            text(bytes, to)
        }
        Input::Done(id, Answer::Model(outcome)) => write!(to, "agent < #{} {outcome:?}", id.0),
        Input::Done(id, answer) => write!(to, "agent < #{} {answer:?}", id.0),
        Input::Progress(id, progress) => write!(to, "agent < #{} {progress:?}", id.0),
        other => write!(to, "agent < {other:?}"),
    }
}

fn said(output: &Output, to: &mut impl Write) -> fmt::Result {
    match output {
        Output::Transmit(record) => {
            to.write_str("  > ")?;
            text(record.as_bytes(), to)
        }
        Output::Start(id, request) => {
            write!(to, "  starts #{}: ", id.0)?;
            asked(request, to)
        }
        Output::Cancel(id) => write!(to, "  cancels #{}", id.0),
        Output::Reply(id, reply) => write!(to, "  tells #{}: {reply:?}", id.0),
        Output::Diagnostic(diagnostic) => {
            write!(to, "  {:?}: {}", diagnostic.severity, diagnostic.text)
        }
        Output::Event(event) => write!(to, "  {event:?}"),
        Output::Exit(status) => write!(to, "  exits with {status}"),
    }
}

fn asked(request: &Request, to: &mut impl Write) -> fmt::Result {
    match request {
        Request::Model(request) => {
            let (history, round) = (request.history.len(), request.round);
            write!(to, "model, {history} messages, round {round}: ")?;
            match request.history.last() {
                Some(message) => write!(to, "{message:?}"),
                None => Ok(()),
            }
        }
        Request::Tool(run) => write!(
            to,
            "tool {} {} {}",
            run.call.id,
            run.call.name,
            run.call.input.as_str()
        ),
        Request::Task(run) => {
            let call = &run.tool.call;
            write!(
                to,
                "task {} {} {} {}",
                run.task_id,
                call.id,
                call.name,
                call.input.as_str()
            )
        }
        Request::Hook(run) => write!(
            to,
            "hook {} {} {}",
            run.hook,
            run.event.as_str(),
            run.input.as_str()
        ),
        Request::Store(batch) => {
            write!(to, "store from {}:", batch.first)?;
            for entry in &*batch.entries {
                to.write_char(' ')?;
                text(&entry.to_json(), to)?;
            }
            Ok(())
        }
        Request::Vet(copy) => {
            to.write_str("vet ")?;
            text(copy, to)
        }
        other => write!(to, "{other:?}"),
    }
}

/// Sixty-four bits of FNV-1a over the text of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    /// The hash so far.
    #[must_use]
    pub const fn value(self) -> u64 {
        self.0
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
}

impl Write for Hash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.byte(byte);
        }
        Ok(())
    }
}

impl Watch for Hash {
    fn see(&mut self, now: Instant, event: &Event<'_>) -> Result<(), Violation> {
        for byte in now.as_micros().to_le_bytes() {
            self.byte(byte);
        }
        // Writing to a hash does not fail.
        let _ = tell(event, self);
        self.byte(b'\n');
        Ok(())
    }
}

/// The lines of a run, each with its time, cut to a width.
#[derive(Clone, Debug)]
pub struct Steps {
    lines: Vec<String>,
    width: usize,
}

impl Steps {
    /// No lines yet; of each `width` characters are kept.
    #[must_use]
    pub const fn new(width: usize) -> Self {
        Self {
            lines: Vec::new(),
            width,
        }
    }

    /// The lines so far.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}

impl Watch for Steps {
    fn see(&mut self, now: Instant, event: &Event<'_>) -> Result<(), Violation> {
        let silent = matches!(
            event,
            Event::AgentDrained(_)
                | Event::HostDrained(_)
                | Event::HostOutput(host::Output::Transmit(_))
                | Event::Written(_)
        );
        if silent {
            return Ok(());
        }
        let mut line = String::new();
        let _ = tell(event, &mut line);
        if line.chars().count() > self.width {
            line = line.chars().take(self.width).chain(['…']).collect();
        }
        let millis = now.as_micros() / 1_000;
        self.lines.push(format!("{millis:>7} {line}"));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_and_text_both_count() {
        let hash = |at: u64, event: &Event<'_>| {
            let mut hash = Hash::default();
            let seen = hash.see(Instant::from_micros(at), event);
            assert_eq!(seen, Ok(()));
            hash.value()
        };
        assert_eq!(hash(1, &Event::Calm), hash(1, &Event::Calm));
        assert_ne!(hash(1, &Event::Calm), hash(2, &Event::Calm));
        assert_ne!(hash(1, &Event::Calm), hash(1, &Event::Closing));
    }

    #[test]
    fn lines_are_cut_and_bytes_that_are_no_text_are_told() {
        let mut steps = Steps::new(40);
        let bytes = [&b"ab\xff"[..], &[b'x'; 100]].concat();
        let event = Event::AgentInput(&Input::Bytes(&bytes));
        assert_eq!(steps.see(Instant::from_micros(2_000), &event), Ok(()));
        assert_eq!(steps.lines().len(), 1);
        let line = &steps.lines()[0];
        assert!(line.contains("ab\\xff") && line.ends_with('…'), "{line}");
    }
}
