//! Faults that strike whatever is under way.

use super::{Step, World, records};
use crate::event::Watch;
use crate::fault::Fault;
use agentx_core::agent::{Command, Input};
use agentx_core::machine::Machine as _;

impl<W: Watch> World<'_, W> {
    /// Something goes wrong, perhaps, between two steps.
    pub(super) fn mischief(&mut self) -> Step {
        if self.plan.swarm.0 == 0 || !self.agent.lives() || !self.tape.one_in(10) {
            return Ok(());
        }
        match self.tape.below(24) {
            17.. if !self.tape.one_in(3) => Ok(()),
            0..3 => self.early_tick(),
            3..5 => self.many_ticks(),
            5..8 => self.late_reply(),
            8..13 => self.orphan_reply(),
            13..16 => self.repeated_reply(),
            16 => self.embedder(),
            17 => self.cut_input(),
            18 => self.malformed(),
            19 => self.oversize(),
            20 => self.signal(),
            21 | 22 if self.plan.swarm.has(Fault::Crash) && self.tape.one_in(2) => self.crash(),
            _ => Ok(()),
        }
    }

    fn early_tick(&mut self) -> Step {
        if self.threatens(Fault::EarlyTick, 2) {
            self.now += self.tape.below(8) as u64;
            let due = self.agent.session.deadline();
            if due.is_none_or(|due| due > self.instant()) {
                self.happened(Fault::EarlyTick)?;
            }
            self.feed(Input::Tick)?;
        }
        Ok(())
    }

    fn many_ticks(&mut self) -> Step {
        if self.strikes(Fault::ManyTicks, 2)? {
            for _ in 0..2 + self.tape.below(3) {
                if self.agent.lives() {
                    self.feed(Input::Tick)?;
                }
            }
        }
        Ok(())
    }

    /// An answer to a question that was answered or withdrawn before. One to a
    /// question that is open comes in time, and is no fault.
    fn late_reply(&mut self) -> Step {
        let count = self.desk.asked.len();
        if count == 0 || !self.threatens(Fault::LateReply, 2) {
            return Ok(());
        }
        let asked = self.desk.asked[self.tape.below(count)].clone();
        let said = records::PERMISSIONS[self.tape.below(2)];
        let payload = records::with_tool(said, &asked.tool_use_id);
        let late = asked.closed.then_some(Fault::LateReply);
        self.inject_fault(late, records::answer(&asked.request_id, &payload))
    }

    fn repeated_reply(&mut self) -> Step {
        let count = self.desk.answered.len();
        if count == 0 || !self.threatens(Fault::DuplicateReply, 2) {
            return Ok(());
        }
        let line = self.desk.answered[self.tape.below(count)].clone();
        self.inject_fault(Some(Fault::DuplicateReply), line)
    }

    /// An answer that nobody asked for.
    fn orphan_reply(&mut self) -> Step {
        if !self.threatens(Fault::OrphanReply, 2) {
            return Ok(());
        }
        let said = records::PERMISSIONS[self.tape.below(2)];
        let tool = match self.tape.below(4) {
            0 => Some("toolu_nobody".to_string()),
            1 | 2 => self.other_call(),
            _ => None,
        };
        let payload = match &tool {
            Some(tool) => records::with_tool(said, tool),
            None => said.to_string(),
        };
        let line = match self.tape.below(4) {
            0 | 1 => records::answer("req_nobody", &payload),
            2 => records::stamped(
                "req_nobody",
                &payload,
                "00000000-0000-4000-8000-00000000abcd",
            ),
            _ => records::failure("req_nobody", "what?"),
        };
        self.inject_fault(Some(Fault::OrphanReply), line)
    }

    /// The embedder has something to say.
    fn embedder(&mut self) -> Step {
        let command = if self.tape.one_in(3) {
            let task = self.desk.tasks.back().cloned();
            let task_id = task.unwrap_or_else(|| "task_nobody".to_string());
            Command::StopTask { task_id }
        } else {
            let times = [1, 1, 1, 80][self.tape.below(4)];
            Command::Prompt("from the embedder ".repeat(times))
        };
        self.feed(Input::Command(command))
    }

    /// The input ends wherever it is.
    fn cut_input(&mut self) -> Step {
        if self.up.is_closed() || !self.strikes(Fault::Eof, 2)? {
            return Ok(());
        }
        if let Some(line) = self.desk.out.front() {
            let rest = &line.bytes[self.desk.written..];
            let count = self.tape.wide(rest.len().min(60_000));
            self.up.write(&rest[..count]);
        }
        self.up.close();
        self.set_up_host();
        self.set_up_agent();
        Ok(())
    }

    fn malformed(&mut self) -> Step {
        const BYTES: [&[u8]; 8] = [
            b"{\n",
            b"\xff\xfe\n",
            b"[1,2]\n",
            b"{\"type\":\"user\",\"type\":\"user\"}\n",
            b"{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\"}}\n",
            b"nonsense\n",
            b"{\"type\":\"user\",\"message\":\"\\ud800\"}\n",
            b"{\"t\\u0079pe\":\"keep_alive\",\"type\":\"keep_alive\"}\n",
        ];
        if !self.threatens(Fault::Malformed, 2) {
            return Ok(());
        }
        let bytes = BYTES[self.tape.below(BYTES.len())];
        self.inject_fault(Some(Fault::Malformed), bytes.to_vec())
    }

    /// A line that is longer than a record may be, where that is not much.
    fn oversize(&mut self) -> Step {
        let most = self.plan.config.limits.record_bytes;
        if most > 100_000 || !self.threatens(Fault::Oversize, 2) {
            return Ok(());
        }
        let mut line = vec![b' '; most];
        line.extend_from_slice(b"{\"type\":\"keep_alive\"}\n");
        self.inject_fault(Some(Fault::Oversize), line)
    }

    fn signal(&mut self) -> Step {
        if self.strikes(Fault::Signal, 2)? {
            let status = [130, 143][self.tape.below(2)];
            self.feed(Input::Command(Command::Shutdown { status }))?;
        }
        Ok(())
    }
}
