//! The world: one agent, one host, two pipes and everything around them.
//!
//! Things happen in the order of their times, and things of one time in the order
//! in which they were set up. Each of them is one step. What a step leads to, and
//! when, is a choice of the tape.

mod agent;
mod answers;
mod begin;
mod desk;
mod effects;
mod mischief;
mod model;
mod phases;
mod pipes;
mod records;
mod script;
mod store;
#[cfg(test)]
mod tests;
mod tools;

use crate::event::{Event, Violation, Watch};
use crate::fault::{Fault, FaultCounts};
use crate::pipe::Pipe;
use crate::plan::Plan;
use crate::tape::Tape;
use agent::Process;
use agentx_core::agent::Config;
use agentx_core::effect::EffectId;
use agentx_core::mark::{Marks, Owner};
use agentx_core::time::Instant;
use desk::Desk;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use store::Store;

/// What became of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The tape, which knows what was taken of it.
    pub tape: Tape,
    /// Things that happened.
    pub steps: u64,
    /// Records that agent and host have sent.
    pub records: u64,
    /// Agent processes that were started.
    pub processes: u64,
    /// Faults by their kinds.
    pub faults: FaultCounts,
    /// Requirement marks: what agents reached, and of the hosts' what is theirs alone.
    pub marks: Marks,
    /// What a watcher had against it.
    pub violation: Option<Violation>,
}

/// Lives one run to its end.
pub fn run(tape: Tape, watch: &mut impl Watch) -> Outcome {
    run_with(tape, |_| {}, watch)
}

/// The same with a change to how its agents are set up.
pub fn run_with(tape: Tape, change: impl FnOnce(&mut Config), watch: &mut impl Watch) -> Outcome {
    let mut world = World::new(tape, change, watch);
    let violation = world.live().err();
    Outcome {
        tape: world.tape,
        steps: world.steps,
        records: world.records,
        processes: u64::from(world.epoch),
        faults: world.faults,
        marks: world.marks.union(world.host_marks.of(Owner::Host)),
        violation,
    }
}

/// Nothing, unless a watcher stops the world.
type Step<T = ()> = Result<T, Violation>;

/// Something that is to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// The agent is told the time.
    Tick,
    /// The agent's writer writes.
    AgentWrites,
    /// The agent reads.
    AgentReads,
    /// The host's writer writes.
    HostWrites,
    /// The host reads.
    HostReads,
    /// The host is told the time.
    HostTick,
    /// The host does something of its own accord.
    HostActs,
    /// The host answers one of the agent's requests.
    HostAnswers(EffectId),
    /// The host answers one that was cancelled.
    HostAnswersLate(EffectId),
    /// An effect goes on.
    Effect(EffectId),
    /// An effect that was cancelled answers all the same.
    Late(EffectId),
}

/// When something is to happen, what, and in which process.
type Due = Reverse<(u64, u64, u32, What)>;

struct World<'w, W> {
    tape: Tape,
    watch: &'w mut W,
    plan: Plan,
    /// Microseconds.
    now: u64,
    heap: BinaryHeap<Due>,
    set_up: u64,
    /// Which process this is, from 1.
    epoch: u32,
    agent: Process,
    desk: Desk,
    /// From host to agent.
    up: Pipe,
    /// From agent to host.
    down: Pipe,
    store: Store,
    /// Whether faults and new actions are over.
    calm: bool,
    steps: u64,
    records: u64,
    faults: FaultCounts,
    marks: Marks,
    host_marks: Marks,
}

impl<'w, W: Watch> World<'w, W> {
    fn new(mut tape: Tape, change: impl FnOnce(&mut Config), watch: &'w mut W) -> Self {
        let mut plan = Plan::draw(&mut tape);
        change(&mut plan.config);
        let agent = Process::new(plan.config.clone(), Instant::ZERO);
        Self {
            tape,
            watch,
            now: 0,
            heap: BinaryHeap::new(),
            set_up: 0,
            epoch: 0,
            agent,
            desk: Desk::new(begin::host_config(0, &plan.config), Instant::ZERO),
            up: Pipe::new(plan.pipe),
            down: Pipe::new(plan.pipe),
            store: Store::default(),
            calm: false,
            steps: 0,
            records: 0,
            faults: FaultCounts::default(),
            marks: Marks::NONE,
            host_marks: Marks::NONE,
            plan,
        }
    }

    fn instant(&self) -> Instant {
        Instant::from_micros(self.now)
    }

    fn see(&mut self, event: &Event<'_>) -> Step {
        let now = Instant::from_micros(self.now);
        self.watch.see(now, event)
    }

    /// Sets something up for a later time, or for now behind all that is.
    fn after(&mut self, micros: u64, what: What) {
        let at = self.now.saturating_add(micros);
        self.set_up += 1;
        self.heap.push(Reverse((at, self.set_up, self.epoch, what)));
    }

    /// How long something takes, in microseconds: mostly nothing, sometimes long.
    fn delay(&mut self) -> u64 {
        match self.tape.below(32) {
            0..20 => 0,
            20..28 => 20 * self.tape.below(32) as u64,
            28..31 => 1_000 * self.tape.below(200) as u64,
            _ => 500_000 * self.tape.below(16) as u64,
        }
    }

    /// How long somebody thinks or a tool works, in microseconds.
    fn pause(&mut self) -> u64 {
        match self.tape.below(8) {
            0..2 => 0,
            2..5 => 50 * self.tape.below(128) as u64,
            5..7 => 1_000 * self.tape.below(256) as u64,
            _ => self.delay(),
        }
    }

    /// Whether a fault happens now, that happens once in so many times.
    fn strikes(&mut self, fault: Fault, times: usize) -> Step<bool> {
        let strikes = self.threatens(fault, times);
        if strikes {
            self.happened(fault)?;
        }
        Ok(strikes)
    }

    /// The same for a fault that may come to nothing: who asks says that it
    /// [`happened`](Self::happened) once it is sure to.
    fn threatens(&mut self, fault: Fault, times: usize) -> bool {
        !self.calm && self.plan.swarm.has(fault) && self.tape.one_in(times)
    }

    /// A fault happens now.
    fn happened(&mut self, fault: Fault) -> Step {
        self.faults.count(fault);
        self.see(&Event::Fault(fault))
    }

    /// The next thing that is due; false when nothing is.
    fn step(&mut self) -> Step<bool> {
        let Some(Reverse((at, _, epoch, what))) = self.heap.pop() else {
            return Ok(false);
        };
        if epoch != self.epoch {
            return Ok(true);
        }
        self.now = self.now.max(at);
        self.steps += 1;
        match what {
            What::Tick => self.tick_due(at)?,
            What::AgentWrites => self.agent_writes()?,
            What::AgentReads => self.agent_reads()?,
            What::HostWrites => self.host_writes()?,
            What::HostReads => self.host_reads()?,
            What::HostTick => self.host_tick(at)?,
            What::HostActs => self.host_acts()?,
            What::HostAnswers(id) => self.host_answers(id)?,
            What::HostAnswersLate(id) => self.host_answers_late(id)?,
            What::Effect(id) => self.effect(id)?,
            What::Late(id) => self.late(id)?,
        }
        Ok(true)
    }
}
