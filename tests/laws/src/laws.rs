//! The laws: what is varied, and what must stay the same.

use crate::rng::SplitMix64;
use crate::run::{Event, Plain, Run, Vary};
use crate::script::{Feed, Script};
use crate::{Effect, OutputOf, Subject};
use agentx_core::machine::Misuse;
use agentx_core::time::Instant;
use std::collections::BTreeMap;
use std::fmt;

/// One of the five.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Any split of the same bytes at one instant gives the same outputs.
    Chunk,
    /// Draining at once or later gives the same outputs.
    Drain,
    /// Early or repeated ticks change nothing; due ones move the deadline.
    Tick,
    /// `None` stays `None`, undrained output shows, no bytes after the end.
    Silence,
    /// Every effect ends exactly once, nothing follows an exit.
    Settlement,
}

/// A law that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Which.
    pub law: Law,
    /// The seed that found it; none when the plain run did.
    pub seed: Option<u64>,
    /// What was seen.
    pub what: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "law of {:?} broken", self.law)?;
        if let Some(seed) = self.seed {
            write!(f, " (seed {seed})")?;
        }
        write!(f, " {}", self.what)
    }
}

impl std::error::Error for Broken {}

/// Checks all five laws on one script: as it is, in single bytes, in pieces as
/// large as can be, and once more for each seed.
///
/// # Errors
///
/// The first law that does not hold.
pub fn check<S>(
    subject: &S,
    script: &Script<S::Other>,
    seeds: impl IntoIterator<Item = u64>,
) -> Result<(), Broken>
where
    S: Subject<Other: Clone>,
{
    let mut plain = Run::new(subject);
    plain.play(script, &mut Plain)?;
    settlement(&plain, script, None)?;
    chunk(&plain, script, &mut Single)?;
    coalesced(&plain, script)?;
    for seed in seeds {
        let seeded = |mut broken: Broken| {
            broken.seed = Some(seed);
            broken
        };
        let mut rng = SplitMix64::new(seed);
        chunk(&plain, script, &mut Split(rng.clone())).map_err(seeded)?;
        drain(&plain, script, &mut rng).map_err(seeded)?;
        tick(&plain, script, rng.clone()).map_err(seeded)?;
        settlement(&plain, script, Some(rng)).map_err(seeded)?;
    }
    Ok(())
}

/// Splits into single bytes.
struct Single;

impl<S: Subject> Vary<S> for Single {
    fn pieces(&mut self, bytes: &[u8]) -> Vec<usize> {
        vec![1; bytes.len().max(1)]
    }
}

/// Splits at random, into few or many pieces, some of them empty.
struct Split(SplitMix64);

impl<S: Subject> Vary<S> for Split {
    fn pieces(&mut self, bytes: &[u8]) -> Vec<usize> {
        let longest = 1 + self.0.below(bytes.len().max(1));
        let mut pieces = Vec::new();
        let mut left = bytes.len();
        while left > 0 {
            let piece = self.0.below(longest + 1).min(left);
            pieces.push(piece);
            left -= piece;
        }
        pieces.push(0);
        pieces
    }
}

fn chunk<S: Subject>(
    plain: &Run<'_, S>,
    script: &Script<S::Other>,
    vary: &mut impl Vary<S>,
) -> Result<(), Broken> {
    let mut run = Run::new(plain.subject);
    run.play(script, vary)?;
    same_list(&plain.events, &run.events, Law::Chunk)?;
    for (step, (one, other)) in plain.states.iter().zip(&run.states).enumerate() {
        if one != other {
            let what = format!("after step {step} the split left {other:?} instead of {one:?}");
            return Err(broken(Law::Chunk, what));
        }
    }
    Ok(())
}

fn coalesced<S>(plain: &Run<'_, S>, script: &Script<S::Other>) -> Result<(), Broken>
where
    S: Subject<Other: Clone>,
{
    let mut run = Run::new(plain.subject);
    run.play(&script.coalesced(), &mut Plain)?;
    same_list(&timed(plain), &timed(&run), Law::Chunk)
}

/// Feeds what the plain run fed, ticks included, and polls as it likes.
fn drain<S: Subject>(
    plain: &Run<'_, S>,
    script: &Script<S::Other>,
    rng: &mut SplitMix64,
) -> Result<(), Broken> {
    let lazy = 1 + rng.below(8);
    let mut run = Run::new(plain.subject);
    for (at, fed) in &plain.fed {
        run.feed_again(*at, *fed, script);
        if rng.one_in(lazy) {
            let most = rng.below(4);
            for _ in 0..most {
                run.poll()?;
            }
        }
    }
    while run.poll()? {}
    same_list(&outputs(plain), &outputs(&run), Law::Drain)?;
    same_list(&refusals(plain), &refusals(&run), Law::Drain)
}

/// Ticks once more, or too early, at random.
struct Ticks(SplitMix64);

impl<S: Subject> Vary<S> for Ticks {
    fn tick_again(&mut self) -> bool {
        self.0.one_in(2)
    }

    fn tick_early(&mut self, from: Instant, before: Instant) -> Option<Instant> {
        let gap = before
            .as_micros()
            .checked_sub(from.as_micros().saturating_add(1))?;
        let shift = self.0.below(usize::try_from(gap).unwrap_or(usize::MAX)) as u64;
        self.0
            .one_in(3)
            .then(|| Instant::from_micros(from.as_micros() + shift))
    }
}

fn tick<S: Subject>(
    plain: &Run<'_, S>,
    script: &Script<S::Other>,
    rng: SplitMix64,
) -> Result<(), Broken> {
    let mut run = Run::new(plain.subject);
    run.play(script, &mut Ticks(rng))?;
    same_list(&plain.events, &run.events, Law::Tick)
}

/// How far an effect has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Open,
    Cancelled,
    Settled,
}

/// Follows the effects of a run through its inputs and outputs. With choices
/// to make it also answers what is settled, cancelled or unknown.
struct Settle<'a, T> {
    stages: BTreeMap<u64, Stage>,
    script: &'a Script<T>,
    /// Events looked at.
    events: usize,
    /// Steps looked at.
    steps: usize,
    rng: Option<SplitMix64>,
}

impl<T> Settle<'_, T> {
    /// What an answer to that effect must be met with.
    fn verdict(&self, id: u64, exited: bool) -> Option<Misuse> {
        if exited {
            return Some(Misuse::InputAfterExit);
        }
        match self.stages.get(&id) {
            None => Some(Misuse::UnknownEffect),
            Some(Stage::Settled) => Some(Misuse::EffectSettledTwice),
            Some(Stage::Open | Stage::Cancelled) => None,
        }
    }

    fn settle(&mut self, id: u64) {
        if let Some(stage) = self.stages.get_mut(&id) {
            *stage = Stage::Settled;
        }
    }

    /// The answers of the script itself.
    fn answers<S: Subject<Other = T>>(&mut self, run: &Run<'_, S>) -> Result<(), Broken> {
        let script = self.script;
        let new = script.steps().iter().enumerate();
        for (step, (_, feed)) in new.take(run.states.len()).skip(self.steps) {
            let Feed::Other(other) = feed else { continue };
            let Some(id) = run.subject.settles(other) else {
                continue;
            };
            let exited = self.exited(run);
            let refused = refusals(run).into_iter().find(|refusal| refusal.1 == step);
            self.met(run, id, refused.map(|refusal| refusal.2), exited)?;
            self.settle(id);
        }
        self.steps = run.states.len();
        Ok(())
    }

    /// Whether an exit is among the events looked at.
    fn exited<S: Subject>(&self, run: &Run<'_, S>) -> bool {
        run.events
            .iter()
            .take(self.events)
            .any(|(_, event)| match event {
                Event::Output(output) => run.subject.effect(output) == Effect::Exit,
                Event::Refused(..) => false,
            })
    }

    fn met<S: Subject>(
        &self,
        run: &Run<'_, S>,
        id: u64,
        refused: Option<Misuse>,
        exited: bool,
    ) -> Result<(), Broken> {
        let verdict = self.verdict(id, exited);
        if refused == verdict {
            return Ok(());
        }
        let what = format!("an answer to effect {id} was met with {refused:?}, not {verdict:?}");
        Err(run.broken(Law::Settlement, what))
    }

    /// The effects that the outputs tell of.
    fn follow<S: Subject>(&mut self, run: &Run<'_, S>) -> Result<(), Broken> {
        for (at, event) in run.events.iter().skip(self.events) {
            let Event::Output(output) = event else {
                continue;
            };
            let wrong = match run.subject.effect(output) {
                Effect::None => continue,
                Effect::Start(id) => self
                    .stages
                    .insert(id, Stage::Open)
                    .map(|stage| format!("effect {id} started again, it was {stage:?}")),
                Effect::Cancel(id) => match self.stages.insert(id, Stage::Cancelled) {
                    Some(Stage::Open) => None,
                    stage => Some(format!("effect {id} was cancelled, it was {stage:?}")),
                },
                Effect::Exit => {
                    let open = self.stages.iter().find(|(_, stage)| **stage == Stage::Open);
                    open.map(|(id, _)| format!("exit while effect {id} is open"))
                }
            };
            if let Some(what) = wrong {
                return Err(broken(Law::Settlement, format!("at {at}: {what}")));
            }
        }
        self.events = run.events.len();
        Ok(())
    }

    /// Answers that nobody waits for.
    fn needless<S: Subject<Other = T>>(&mut self, run: &mut Run<'_, S>) -> Result<(), Broken> {
        let unknown = self.stages.keys().max().map_or(0, |id| id + 1_000_000);
        let ended = self
            .stages
            .iter()
            .filter(|(_, stage)| **stage != Stage::Open);
        let mut ids: Vec<u64> = ended.map(|(id, _)| *id).collect();
        ids.push(unknown);
        for id in ids {
            let Some(rng) = &mut self.rng else { break };
            let Some(answer) = run.subject.answer(id).filter(|_| rng.one_in(2)) else {
                continue;
            };
            let events = run.events.len();
            let exited = run.exited;
            let subject = run.subject;
            let refused = run.feed(subject.other(&answer))?;
            self.met(run, id, refused, exited)?;
            if run.events.len() > events {
                let what = format!("a needless answer to effect {id} made output");
                return Err(run.broken(Law::Settlement, what));
            }
            self.settle(id);
        }
        Ok(())
    }
}

impl<S: Subject> Vary<S> for Settle<'_, S::Other> {
    fn probe(&mut self, run: &mut Run<'_, S>) -> Result<(), Broken> {
        self.answers(run)?;
        self.follow(run)?;
        self.needless(run)
    }
}

fn settlement<S: Subject>(
    plain: &Run<'_, S>,
    script: &Script<S::Other>,
    rng: Option<SplitMix64>,
) -> Result<(), Broken> {
    let mut run = Run::new(plain.subject);
    let mut settle = Settle {
        stages: BTreeMap::new(),
        script,
        events: 0,
        steps: 0,
        rng,
    };
    run.play(script, &mut settle)?;
    same_list(&timed(plain), &timed(&run), Law::Settlement)
}

/// The outputs of a run.
fn outputs<'r, S: Subject>(run: &'r Run<'_, S>) -> Vec<&'r OutputOf<S>> {
    timed(run).into_iter().map(|(_, output)| output).collect()
}

/// The outputs of a run with their times.
fn timed<'r, S: Subject>(run: &'r Run<'_, S>) -> Vec<(Instant, &'r OutputOf<S>)> {
    let outputs = run.events.iter().filter_map(|(at, event)| match event {
        Event::Output(output) => Some((*at, output)),
        Event::Refused(..) => None,
    });
    outputs.collect()
}

/// What a run refused: time, step and reason.
fn refusals<S: Subject>(run: &Run<'_, S>) -> Vec<(Instant, usize, Misuse)> {
    let refusals = run.events.iter().filter_map(|(at, event)| match event {
        Event::Refused(step, misuse) => Some((*at, *step, *misuse)),
        Event::Output(_) => None,
    });
    refusals.collect()
}

fn same_list<T: fmt::Debug + PartialEq>(one: &[T], other: &[T], law: Law) -> Result<(), Broken> {
    let length = one.len().max(other.len());
    match (0..length).find(|index| one.get(*index) != other.get(*index)) {
        None => Ok(()),
        Some(index) => {
            let (one, other) = (one.get(index), other.get(index));
            let what = format!("event {index} is {other:?} instead of {one:?}");
            Err(broken(law, what))
        }
    }
}

const fn broken(law: Law, what: String) -> Broken {
    Broken {
        law,
        seed: None,
        what,
    }
}
