//! One run of a machine, driven without a fault.

use crate::laws::{Broken, Law};
use crate::script::{Feed, Script};
use crate::{Effect, InputOf, OutputOf, Subject};
use agentx_core::machine::{Machine, Misuse, Wants};
use agentx_core::time::Instant;
use std::time::Duration;

/// How long after the last step deadlines are still met.
const SETTLE: Duration = Duration::from_secs(3600);
/// Ticks that one gap between two steps may take.
const MOST_TICKS: usize = 10_000;

/// What came of an input.
#[derive(Debug, PartialEq)]
pub enum Event<O> {
    /// The machine put this out.
    Output(O),
    /// The machine refused the input of this step, counted from 0.
    Refused(usize, Misuse),
}

/// The events of a run with their times, in order.
pub type Events<S> = Vec<(Instant, Event<OutputOf<S>>)>;

/// How a run differs from the plain one.
pub(crate) trait Vary<S: Subject> {
    /// Where the bytes of one step are split: lengths of the pieces.
    fn pieces(&mut self, bytes: &[u8]) -> Vec<usize> {
        vec![bytes.len()]
    }

    /// Whether to tick once more at this instant.
    fn tick_again(&mut self) -> bool {
        false
    }

    /// A moment in `from..before` for a tick that is not due.
    fn tick_early(&mut self, from: Instant, before: Instant) -> Option<Instant> {
        let _ = (from, before);
        None
    }

    /// What to feed beside the script, now that these events have come.
    fn probe(&mut self, run: &mut Run<'_, S>) -> Result<(), Broken> {
        let _ = run;
        Ok(())
    }
}

/// The run as it is written.
pub(crate) struct Plain;
impl<S: Subject> Vary<S> for Plain {}

/// One input as it was fed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fed {
    /// The step of that index of the script.
    Step(usize),
    Tick,
}

pub(crate) struct Run<'s, S: Subject> {
    pub(crate) subject: &'s S,
    machine: S::Machine,
    pub(crate) now: Instant,
    ended: bool,
    pub(crate) exited: bool,
    pub(crate) events: Events<S>,
    /// Everything fed, ticks included.
    pub(crate) fed: Vec<(Instant, Fed)>,
    /// Deadline and wants after each step.
    pub(crate) states: Vec<(Option<Instant>, Wants)>,
}

impl<'s, S: Subject> Run<'s, S> {
    pub(crate) fn new(subject: &'s S) -> Self {
        Self {
            subject,
            machine: subject.machine(),
            now: Instant::ZERO,
            ended: false,
            exited: false,
            events: Vec::new(),
            fed: Vec::new(),
            states: Vec::new(),
        }
    }

    /// Plays a whole script.
    pub(crate) fn play(
        &mut self,
        script: &Script<S::Other>,
        vary: &mut impl Vary<S>,
    ) -> Result<(), Broken> {
        // A machine may have something to say before its first input.
        self.drain()?;
        vary.probe(self)?;
        for (index, (at, feed)) in script.steps().iter().enumerate() {
            self.wait_until(*at, vary)?;
            self.now = *at;
            self.fed.push((*at, Fed::Step(index)));
            self.step(index, feed, vary)?;
            self.states
                .push((self.machine.deadline(), self.machine.wants()));
            vary.probe(self)?;
            if vary.tick_again() {
                self.needless_tick()?;
            }
        }
        let end = self.now.after(SETTLE);
        self.wait_until(end, vary)
    }

    fn step(
        &mut self,
        index: usize,
        feed: &Feed<S::Other>,
        vary: &mut impl Vary<S>,
    ) -> Result<(), Broken> {
        let subject = self.subject;
        let refused = match feed {
            Feed::Bytes(bytes) => self.bytes(bytes, &vary.pieces(bytes))?,
            Feed::Eof => {
                let refused = self.feed(subject.eof())?;
                self.ended |= refused.is_none();
                self.check_wants()?;
                refused
            }
            Feed::Tick => self.feed(subject.tick())?,
            Feed::Other(other) => self.feed(subject.other(other))?,
        };
        if let Some(misuse) = refused {
            self.events.push((self.now, Event::Refused(index, misuse)));
        }
        Ok(())
    }

    /// Feeds bytes in pieces. Only the first piece tells a refusal: a machine
    /// may end within the bytes, and then the rest of them is never read.
    fn bytes(&mut self, bytes: &[u8], pieces: &[usize]) -> Result<Option<Misuse>, Broken> {
        let mut rest = bytes;
        let mut refused = None;
        for (index, length) in pieces.iter().enumerate() {
            let (piece, after) = rest.split_at_checked(*length).unwrap_or((rest, &[]));
            rest = after;
            let subject = self.subject;
            let misuse = self.feed(subject.bytes(piece))?;
            if index == 0 {
                refused = misuse;
            }
        }
        Ok(refused)
    }

    /// Ticks at every deadline up to `until`.
    fn wait_until(&mut self, until: Instant, vary: &mut impl Vary<S>) -> Result<(), Broken> {
        for _ in 0..MOST_TICKS {
            let due = self.machine.deadline().map(|due| due.max(self.now));
            let next = due.map_or(until, |due| due.min(until));
            if let Some(early) = vary.tick_early(self.now, next) {
                self.now = early;
                self.needless_tick()?;
                continue;
            }
            let Some(due) = due.filter(|due| *due <= until && !self.exited) else {
                return Ok(());
            };
            self.now = due;
            self.fed.push((due, Fed::Tick));
            let subject = self.subject;
            if let Some(misuse) = self.feed(subject.tick())? {
                return Err(self.broken(Law::Tick, format!("a due tick was refused: {misuse}")));
            }
            if let Some(again) = self.machine.deadline()
                && again <= due
            {
                let what = format!("after the tick due at {due} the deadline is {again}");
                return Err(self.broken(Law::Tick, what));
            }
            if vary.tick_again() {
                self.needless_tick()?;
            }
            vary.probe(self)?;
        }
        let what = format!("{MOST_TICKS} ticks did not bring the time to {until}");
        Err(self.broken(Law::Tick, what))
    }

    /// A tick that must change nothing.
    fn needless_tick(&mut self) -> Result<(), Broken> {
        if self.exited {
            return Ok(());
        }
        let before = (self.machine.deadline(), self.machine.wants());
        let events = self.events.len();
        let subject = self.subject;
        if let Some(misuse) = self.feed(subject.tick())? {
            return Err(self.broken(Law::Tick, format!("a tick was refused: {misuse}")));
        }
        if before.0.is_some_and(|due| due <= self.now) {
            return Ok(());
        }
        if self.events.len() > events {
            return Err(self.broken(Law::Tick, "a tick before the deadline made output".into()));
        }
        let after = (self.machine.deadline(), self.machine.wants());
        if before != after {
            let what = format!("a tick before the deadline changed {before:?} to {after:?}");
            return Err(self.broken(Law::Tick, what));
        }
        Ok(())
    }

    /// Feeds one input and drains. A refused input must leave no trace.
    pub(crate) fn feed(&mut self, input: InputOf<'_, S>) -> Result<Option<Misuse>, Broken> {
        let before = (self.machine.deadline(), self.machine.wants());
        let events = self.events.len();
        let refused = self.machine.handle(self.now, input).err();
        self.drain()?;
        if let Some(misuse) = refused {
            let after = (self.machine.deadline(), self.machine.wants());
            if self.events.len() > events || before != after {
                let what = format!("an input refused with `{misuse}` changed the machine");
                return Err(self.broken(Law::Silence, what));
            }
        }
        Ok(refused)
    }

    /// Polls to `None`, and past it.
    fn drain(&mut self) -> Result<(), Broken> {
        while self.poll()? {}
        for _ in 0..2 {
            if let Some(output) = self.machine.poll() {
                let what = format!("`None` was followed by {output:?} without an input");
                return Err(self.broken(Law::Silence, what));
            }
        }
        self.check_wants()
    }

    /// Takes one output. False when there is none.
    pub(crate) fn poll(&mut self) -> Result<bool, Broken> {
        let deadline = self.machine.deadline();
        let Some(output) = self.machine.poll() else {
            return Ok(false);
        };
        if deadline != Some(self.now) {
            let what = format!("output waits, but the deadline is {deadline:?}: {output:?}");
            return Err(self.broken(Law::Silence, what));
        }
        if self.exited {
            let what = format!("after the exit came {output:?}");
            return Err(self.broken(Law::Settlement, what));
        }
        self.exited = self.subject.effect(&output) == Effect::Exit;
        self.events.push((self.now, Event::Output(output)));
        Ok(true)
    }

    fn check_wants(&self) -> Result<(), Broken> {
        if self.ended && self.machine.wants().bytes {
            let what = "bytes are wanted after the end of the input".into();
            return Err(self.broken(Law::Silence, what));
        }
        Ok(())
    }

    /// Feeds one input of a run played before, without draining.
    pub(crate) fn feed_again(&mut self, at: Instant, fed: Fed, script: &Script<S::Other>) {
        let subject = self.subject;
        let (index, input) = match fed {
            Fed::Tick => (0, subject.tick()),
            Fed::Step(index) => (
                index,
                match script.steps().get(index).map(|(_, feed)| feed) {
                    Some(Feed::Bytes(bytes)) => subject.bytes(bytes),
                    Some(Feed::Eof) => subject.eof(),
                    Some(Feed::Tick) | None => subject.tick(),
                    Some(Feed::Other(other)) => subject.other(other),
                },
            ),
        };
        match self.machine.handle(at, input) {
            Ok(()) => self.now = at,
            Err(misuse) => self.events.push((at, Event::Refused(index, misuse))),
        }
    }

    pub(crate) fn broken(&self, law: Law, what: String) -> Broken {
        Broken {
            law,
            seed: None,
            what: format!("at {}: {what}", self.now),
        }
    }
}

/// Plays a script once, ticking at each deadline.
///
/// # Errors
///
/// A law that broke on the way.
pub fn replay<S: Subject>(subject: &S, script: &Script<S::Other>) -> Result<Events<S>, Broken> {
    let mut run = Run::new(subject);
    run.play(script, &mut Plain)?;
    Ok(run.events)
}
