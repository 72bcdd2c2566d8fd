//! Many runs, on several threads, and what they come to together.
//!
//! The result does not depend on the number of threads: it is a sum over all
//! seeds, or the first seed of the range that fails.

use crate::event::Violation;
use crate::fault::{Fault, FaultCounts};
use crate::world::Outcome;
use agentx_core::mark::{Mark, Marks, Owner};
use std::fmt::Write as _;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// How often each kind of fault has to happen where a range is to be complete.
pub const FAULTS_REQUIRED: u64 = 1_000;

/// The rule that a run breaks by a panic.
pub(crate) const PANIC: &str = "panic";

/// What runs come to together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Runs.
    pub runs: u64,
    /// Things that happened in them.
    pub steps: u64,
    /// Records that agents and hosts have sent.
    pub records: u64,
    /// Agent processes.
    pub processes: u64,
    /// Faults by their kinds.
    pub faults: FaultCounts,
    /// Requirement marks that were reached.
    pub marks: Marks,
}

impl Tally {
    /// Adds a run.
    pub fn count(&mut self, outcome: &Outcome) {
        self.runs += 1;
        self.steps += outcome.steps;
        self.records += outcome.records;
        self.processes += outcome.processes;
        self.faults.add(&outcome.faults);
        self.marks = self.marks.union(outcome.marks);
    }

    /// Adds other runs.
    pub fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.steps += other.steps;
        self.records += other.records;
        self.processes += other.processes;
        self.faults.add(&other.faults);
        self.marks = self.marks.union(other.marks);
    }

    /// The marks that no run has reached.
    #[must_use]
    pub fn unreached(&self) -> Vec<Mark> {
        let marks = Mark::ALL.iter().copied();
        marks.filter(|mark| !self.marks.has(*mark)).collect()
    }

    /// What is missing for a complete range, one line each; empty when nothing is.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let marks = self.unreached();
        let marks = marks
            .iter()
            .map(|mark| format!("the mark {} was not reached", named(*mark)));
        let rare = self.faults.iter().filter(|(_, n)| *n < FAULTS_REQUIRED);
        let rare = rare.map(|(fault, n)| {
            format!(
                "the fault {:?} happened {n} times, {FAULTS_REQUIRED} are asked for",
                fault.as_str()
            )
        });
        marks.chain(rare).collect()
    }

    /// The tally as text, without times.
    #[must_use]
    pub fn report(&self) -> String {
        let Self {
            runs,
            steps,
            records,
            processes,
            ..
        } = self;
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "runs       {runs:>12}");
        let _ = writeln!(text, "processes  {processes:>12}");
        let _ = writeln!(text, "steps      {steps:>12}");
        let _ = writeln!(text, "records    {records:>12}");
        let _ = writeln!(text, "faults");
        for (fault, count) in self.faults.iter() {
            let _ = writeln!(text, "  {:<32}{count:>10}", fault.as_str());
        }
        let _ = writeln!(text, "requirement marks reached");
        for owner in Owner::ALL.iter().copied() {
            let all = Mark::ALL.iter().filter(|mark| mark.owner() == owner);
            let (all, hit) = all.fold((0, 0), |(all, hit), mark| {
                (all + 1, hit + u32::from(self.marks.has(*mark)))
            });
            let _ = writeln!(text, "  {:<10}{hit:>4} of {all}", owner.as_str());
        }
        for mark in self.unreached() {
            let _ = writeln!(text, "  not reached: {}", named(mark));
        }
        text
    }
}

/// A mark by requirement and owner, since several parts may decide one requirement.
fn named(mark: Mark) -> String {
    format!("{} of {}", mark.id(), mark.owner().as_str())
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its seed.
    pub seed: u64,
    /// What was wrong.
    pub violation: Violation,
}

/// Runs each seed of a range on so many threads. `run` gives what became of one
/// seed; one that panics has failed.
///
/// # Errors
///
/// The failure of the first seed that fails.
pub fn run_seeds<F>(seeds: Range<u64>, jobs: usize, run: F) -> Result<Tally, Failure>
where
    F: Fn(u64) -> Result<Outcome, Violation> + Sync,
{
    let (tally, failures) = run_range(seeds, jobs, true, run);
    failures.into_iter().next().map_or(Ok(tally), Err)
}

/// Runs each seed of a range, those behind a failure too; gives what the good ones
/// come to, and all failures in the order of their seeds.
pub fn run_all_seeds<F>(seeds: Range<u64>, jobs: usize, run: F) -> (Tally, Vec<Failure>)
where
    F: Fn(u64) -> Result<Outcome, Violation> + Sync,
{
    run_range(seeds, jobs, false, run)
}

fn run_range<F>(seeds: Range<u64>, jobs: usize, stop: bool, run: F) -> (Tally, Vec<Failure>)
where
    F: Fn(u64) -> Result<Outcome, Violation> + Sync,
{
    let next = AtomicU64::new(seeds.start);
    let failed = AtomicU64::new(u64::MAX);
    let work = || {
        let (mut tally, mut failures) = (Tally::default(), Vec::new());
        loop {
            let most = seeds
                .end
                .min(failed.load(Ordering::Relaxed).saturating_add(1));
            // Never past the end, which may be the last number there is.
            let taken = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |seed| {
                (seed < most).then(|| seed + 1)
            });
            let Ok(seed) = taken else {
                return (tally, failures);
            };
            match contained(|| run(seed)) {
                Ok(outcome) => tally.count(&outcome),
                Err(violation) => {
                    if stop {
                        failed.fetch_min(seed, Ordering::Relaxed);
                    }
                    failures.push(Failure { seed, violation });
                }
            }
        }
    };
    let done: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        let joined = threads.into_iter().map(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.collect()
    });
    let mut tally = Tally::default();
    let mut failures = Vec::new();
    for (part, failed) in done {
        tally.add(&part);
        failures.extend(failed);
    }
    failures.sort_by_key(|failure| failure.seed);
    (tally, failures)
}

/// A run whose panics are violations, and whose violations are errors.
///
/// # Errors
///
/// What is wrong with the run.
pub fn contained(run: impl FnOnce() -> Result<Outcome, Violation>) -> Result<Outcome, Violation> {
    let outcome = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        let what = text.unwrap_or("without a text").to_string();
        Err(Violation::new(PANIC, "rule 6", what))
    })?;
    match outcome.violation {
        Some(violation) => Err(violation),
        None => Ok(outcome),
    }
}

/// The kinds of faults by how often they happened, the rarest first.
#[must_use]
pub fn rarest(counts: &FaultCounts) -> Vec<(Fault, u64)> {
    let mut all: Vec<_> = counts.iter().collect();
    all.sort_by_key(|(_, count)| *count);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tape::Tape;
    use crate::world;

    fn run(seed: u64) -> Result<Outcome, Violation> {
        Ok(world::run(Tape::of_seed(seed), &mut ()))
    }

    #[test]
    fn the_result_does_not_depend_on_the_number_of_threads() {
        let one = run_seeds(0..12, 1, run);
        assert_eq!(one, run_seeds(0..12, 3, run));
        let tally = one.unwrap();
        assert_eq!(tally.runs, 12);
        assert!(tally.steps > 1_000 && tally.records > 300, "{tally:?}");
        assert!(!tally.missing().is_empty(), "twelve runs reach little");
    }

    #[test]
    fn every_mark_that_is_missing_is_told_apart() {
        let mut lines = Tally::default().missing();
        assert!(lines.contains(&"the mark WIRE-EOF-001 of host was not reached".to_string()));
        let count = lines.len();
        lines.sort();
        lines.dedup();
        assert_eq!(lines.len(), count);
    }

    #[test]
    fn the_last_seeds_of_all_are_run_once() {
        let (tally, failures) = run_all_seeds(u64::MAX - 3..u64::MAX, 3, run);
        assert_eq!((tally.runs, failures), (3, Vec::new()));
    }

    #[test]
    fn the_first_seed_that_fails_is_told() {
        let some_fail = |seed: u64| match seed {
            7 | 11 => Err(Violation::new("odd", "none", format!("{seed}"))),
            9 => panic!("nine"),
            _ => run(seed),
        };
        for jobs in [1, 3] {
            let failure = run_seeds(0..20, jobs, some_fail).unwrap_err();
            assert_eq!((failure.seed, failure.violation.what.as_str()), (7, "7"));
        }
        let (tally, failures) = run_all_seeds(5..20, 2, some_fail);
        let seeds: Vec<u64> = failures.iter().map(|failure| failure.seed).collect();
        assert_eq!((tally.runs, seeds), (12, vec![7, 9, 11]));
        let failure = run_seeds(8..20, 1, some_fail).unwrap_err();
        assert_eq!((failure.seed, failure.violation.rule), (9, "panic"));
    }
}
