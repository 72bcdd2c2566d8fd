//! The agent process: what it is fed, and what becomes of what it says.

use super::effects::Running;
use super::{Step, What, World};
use crate::event::{Event, Violation, Watch};
use agentx_core::agent::{AgentSession, Config, Input, Output};
use agentx_core::effect::EffectId;
use agentx_core::link::Record;
use agentx_core::machine::Machine as _;
use agentx_core::time::Instant;
use std::collections::VecDeque;

/// An agent process.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) session: AgentSession,
    /// Records that were not written yet, oldest first.
    pub(super) out: VecDeque<Record>,
    /// Bytes of the first of them that were.
    pub(super) written: usize,
    /// Effects that are open, oldest first.
    pub(super) running: Vec<Running>,
    /// Effects that were cancelled and answer all the same.
    pub(super) late: Vec<Running>,
    /// Models that wait until progress is wanted again.
    pub(super) paused: Vec<EffectId>,
    /// When the next tick is set up.
    pub(super) tick_at: Option<u64>,
    /// Whether a read or a write is set up.
    pub(super) reading: bool,
    pub(super) writing: bool,
    /// Whether it was told the end of its input.
    pub(super) ended: bool,
    /// Whether its output failed.
    pub(super) broken: bool,
    /// The status it told.
    pub(super) exit: Option<u8>,
    /// Whether the process is gone.
    pub(super) gone: bool,
}

impl Process {
    pub(super) fn new(config: Config, now: Instant) -> Self {
        Self {
            session: AgentSession::new(config, now),
            out: VecDeque::new(),
            written: 0,
            running: Vec::new(),
            late: Vec::new(),
            paused: Vec::new(),
            tick_at: None,
            reading: false,
            writing: false,
            ended: false,
            broken: false,
            exit: None,
            gone: false,
        }
    }

    /// Whether it still takes inputs.
    pub(super) const fn lives(&self) -> bool {
        !self.gone && self.exit.is_none()
    }
}

impl<W: Watch> World<'_, W> {
    /// Feeds the agent and does what it says.
    pub(super) fn feed(&mut self, input: Input<'_>) -> Step {
        let now = self.instant();
        self.see(&Event::AgentInput(&input))?;
        if let Err(misuse) = self.agent.session.handle(now, input) {
            self.see(&Event::AgentRefused(misuse))?;
            let what = format!("the agent refused an input: {misuse}");
            return Err(Violation::new("misuse", "law 5", what));
        }
        self.drain()
    }

    /// Takes everything the agent has to say.
    pub(super) fn drain(&mut self) -> Step {
        while let Some(output) = self.agent.session.poll() {
            self.see(&Event::AgentOutput(&output))?;
            match output {
                Output::Transmit(record) => {
                    self.records += 1;
                    self.desk.overhear(record.as_bytes());
                    if !self.agent.broken {
                        self.agent.out.push_back(record);
                    }
                }
                Output::Start(id, request) => self.start(id, request)?,
                Output::Cancel(id) => self.cancelled(id)?,
                Output::Reply(id, _) => self.after(0, What::Effect(id)),
                Output::Exit(status) => self.agent.exit = Some(status),
                Output::Event(_) | Output::Diagnostic(_) => {}
            }
        }
        self.marks = self.marks.union(self.agent.session.marks());
        let now = self.instant();
        self.watch
            .see(now, &Event::AgentDrained(&self.agent.session))?;
        self.set_up_agent();
        Ok(())
    }

    /// Sets up what the agent waits for.
    pub(super) fn set_up_agent(&mut self) {
        if self.agent.gone {
            return;
        }
        if !self.agent.writing && (!self.agent.out.is_empty() || self.agent.exit.is_some()) {
            self.agent.writing = true;
            self.after(0, What::AgentWrites);
        }
        if self.agent.exit.is_some() {
            return;
        }
        let wants = self.agent.session.wants();
        let readable = !self.up.is_empty() || (self.up.is_closed() && !self.agent.ended);
        if wants.bytes && readable && !self.agent.reading {
            self.agent.reading = true;
            self.after(0, What::AgentReads);
        }
        if wants.progress && !self.agent.paused.is_empty() {
            for id in std::mem::take(&mut self.agent.paused) {
                self.after(0, What::Effect(id));
            }
        }
        if let Some(deadline) = self.agent.session.deadline() {
            let at = deadline.as_micros();
            if self.agent.tick_at.is_none_or(|earlier| at < earlier) {
                self.agent.tick_at = Some(at);
                self.after(at.saturating_sub(self.now), What::Tick);
            }
        }
    }

    /// A tick that was set up for this time; a later one replaces it if the agent
    /// does not want it any more.
    pub(super) fn tick_due(&mut self, at: u64) -> Step {
        if self.agent.tick_at != Some(at) || !self.agent.lives() {
            return Ok(());
        }
        self.agent.tick_at = None;
        let due = self.agent.session.deadline().map(Instant::as_micros);
        if due.is_none_or(|due| due > self.now) {
            self.set_up_agent();
            return Ok(());
        }
        if self.strikes(crate::fault::Fault::LateTick, 3)? {
            let late = 1_000 * (1 + self.tape.below(250) as u64);
            self.agent.tick_at = Some(self.now + late);
            self.after(late, What::Tick);
            return Ok(());
        }
        self.feed(Input::Tick)
    }

    /// The process is gone: it was killed, or it is over.
    pub(super) fn gone(&mut self) {
        self.agent.gone = true;
        self.agent.out.clear();
        self.agent.running.clear();
        self.agent.late.clear();
        self.down.close();
        self.set_up_host();
    }
}
