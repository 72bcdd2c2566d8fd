//! The writers and readers at both ends of both pipes.

use super::{Step, What, World};
use crate::event::{Event, Watch};
use crate::fault::Fault;
use crate::pipe::Pipe;
use agentx_core::agent::Input;
use agentx_core::host;
use agentx_core::machine::Machine as _;
use agentx_core::time::Instant;

impl<W: Watch> World<'_, W> {
    /// The agent's writer puts in what the pipe takes.
    pub(super) fn agent_writes(&mut self) -> Step {
        self.agent.writing = false;
        if self.agent.gone {
            return Ok(());
        }
        let no_reader = self.desk.over && !self.agent.out.is_empty();
        if !self.agent.broken && (no_reader || self.strikes(Fault::WriteFailure, 250)?) {
            return self.agent_write_fails();
        }
        let mut most = self.down.room();
        if most > 1 && !self.agent.out.is_empty() && self.threatens(Fault::PartialWrite, 6) {
            let whole = most;
            most = 1 + self.tape.wide(most.min(400));
            let waiting = self.agent.out.iter().map(|record| record.as_bytes().len());
            if most < whole && most < waiting.sum::<usize>() - self.agent.written {
                self.happened(Fault::PartialWrite)?;
            }
        }
        let mut count = 0;
        while count < most {
            let Some(record) = self.agent.out.front() else {
                break;
            };
            let rest = &record.as_bytes()[self.agent.written..];
            let whole = rest.len();
            let written = self.down.write(&rest[..whole.min(most - count)]);
            count += written;
            if written == whole {
                self.agent.out.pop_front();
                self.agent.written = 0;
            } else {
                self.agent.written += written;
            }
        }
        if count > 0 {
            self.see(&Event::Written(count))?;
            self.set_up_host();
        }
        if self.agent.out.is_empty() {
            if let Some(status) = self.agent.exit {
                self.see(&Event::Over { status })?;
                self.gone();
                return Ok(());
            }
        } else if self.down.room() > 0 {
            self.agent.writing = true;
            self.after(10, What::AgentWrites);
        }
        if count > 0 && self.agent.exit.is_none() {
            self.feed(Input::Sent(count))?;
        }
        Ok(())
    }

    /// A write of the agent fails.
    pub(super) fn agent_write_fails(&mut self) -> Step {
        self.agent.broken = true;
        self.agent.out.clear();
        self.agent.written = 0;
        self.down.close();
        self.set_up_host();
        if self.agent.exit.is_some() {
            // The process only ends now.
            self.agent.writing = true;
            self.after(0, What::AgentWrites);
            return Ok(());
        }
        self.feed(Input::WriteFailed)
    }

    /// The agent takes what has come.
    pub(super) fn agent_reads(&mut self) -> Step {
        self.agent.reading = false;
        if !self.agent.lives() || !self.agent.session.wants().bytes {
            return Ok(());
        }
        if self.up.is_over() {
            if self.agent.ended {
                return Ok(());
            }
            self.agent.ended = true;
            return self.feed(Input::Eof);
        }
        let waiting = self.up.len();
        let mut count = waiting;
        if count == 0 {
            return Ok(());
        }
        if self.strikes(Fault::Stall, 24)? {
            self.agent.reading = true;
            let delay = 1_000 * (1 + self.tape.wide(4_000) as u64);
            self.after(delay, What::AgentReads);
            return Ok(());
        }
        if self.strikes(Fault::Coalesce, 6)? {
            self.agent.reading = true;
            self.after(700, What::AgentReads);
            return Ok(());
        }
        if count > 1 && self.threatens(Fault::Split, 4) {
            count = 1 + self.tape.wide(count.min(300));
            if count < waiting {
                self.happened(Fault::Split)?;
            }
        }
        let mut up = std::mem::replace(&mut self.up, Pipe::new(0));
        let fed = self.feed(Input::Bytes(&up.waiting()[..count]));
        up.take(count);
        self.up = up;
        fed?;
        self.set_up_host();
        self.set_up_agent();
        Ok(())
    }

    /// The host's writer puts in what the pipe takes.
    pub(super) fn host_writes(&mut self) -> Step {
        self.desk.writing = false;
        if self.agent.gone || self.up.is_closed() {
            let lost = !self.desk.out.is_empty();
            self.desk.out.clear();
            self.desk.written = 0;
            if lost && !self.desk.broken {
                self.desk.broken = true;
                return self.host_feed(host::Input::WriteFailed);
            }
            return Ok(());
        }
        let mut most = self.up.room();
        if most > 1 && !self.desk.out.is_empty() && self.threatens(Fault::PartialWrite, 8) {
            let whole = most;
            most = 1 + self.tape.wide(most.min(200));
            let waiting = self.desk.out.iter().map(|line| line.bytes.len());
            if most < whole && most < waiting.sum::<usize>() - self.desk.written {
                self.happened(Fault::PartialWrite)?;
            }
        }
        let (mut count, mut own) = (0, 0);
        while count < most {
            let Some(line) = self.desk.out.front() else {
                break;
            };
            let rest = &line.bytes[self.desk.written..];
            let whole = rest.len();
            let written = self.up.write(&rest[..whole.min(most - count)]);
            count += written;
            if line.own {
                own += written;
            }
            if written == whole {
                self.desk.out.pop_front();
                self.desk.written = 0;
            } else {
                self.desk.written += written;
            }
        }
        if self.desk.out.is_empty() {
            if self.desk.ended {
                self.up.close();
            }
        } else if self.up.room() > 0 {
            self.desk.writing = true;
            self.after(10, What::HostWrites);
        }
        self.set_up_agent();
        if own > 0 {
            self.host_feed(host::Input::Sent(own))?;
        }
        Ok(())
    }

    /// The host takes what has come.
    pub(super) fn host_reads(&mut self) -> Step {
        self.desk.reading = false;
        if self.down.is_over() {
            return self.host_feed(host::Input::Eof);
        }
        let waiting = self.down.len();
        let mut count = waiting;
        if count == 0 {
            return Ok(());
        }
        if self.strikes(Fault::Stall, 32)? {
            self.desk.reading = true;
            let delay = 1_000 * (1 + self.tape.wide(4_000) as u64);
            self.after(delay, What::HostReads);
            return Ok(());
        }
        if count > 1 && self.threatens(Fault::Split, 6) {
            count = 1 + self.tape.wide(count.min(2_000));
            if count < waiting {
                self.happened(Fault::Split)?;
            }
        }
        let mut down = std::mem::replace(&mut self.down, Pipe::new(0));
        self.desk.reading = true;
        let fed = self
            .watch
            .see(
                Instant::from_micros(self.now),
                &Event::HostRead(&down.waiting()[..count]),
            )
            .and_then(|()| self.host_feed(host::Input::Bytes(&down.waiting()[..count])));
        self.desk.reading = false;
        down.take(count);
        self.down = down;
        fed?;
        if !self.agent.out.is_empty() && !self.agent.writing && !self.agent.gone {
            self.agent.writing = true;
            self.after(0, What::AgentWrites);
        }
        self.set_up_host();
        Ok(())
    }

    /// Sets up what the host waits for.
    pub(super) fn set_up_host(&mut self) {
        let readable = !self.down.is_empty() || (self.down.is_closed() && !self.desk.over);
        if readable && !self.desk.reading {
            self.desk.reading = true;
            self.after(0, What::HostReads);
        }
        let writable = !self.desk.out.is_empty() || (self.desk.ended && !self.up.is_closed());
        let fails = self.up.is_closed() || self.agent.gone;
        if writable && !self.desk.writing && (fails || self.up.room() > 0) {
            self.desk.writing = true;
            self.after(0, What::HostWrites);
        }
    }
}
