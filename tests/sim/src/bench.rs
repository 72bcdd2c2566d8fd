//! How fast worlds live: protocol records per second of CPU time of one thread.
//!
//! Time on the clock says little on a machine that does other things as well; the
//! time that the thread has used does.

use crate::event::Violation;
use crate::oracle::Oracles;
use crate::runner::{Tally, contained};
use crate::tape::Tape;
use crate::world::{self, Outcome};
use rustix::time::{ClockId, clock_gettime};
use std::ops::Range;
use std::time::Duration;

/// How often each way is measured; the fastest counts, since everything else only
/// slows a run down.
const ROUNDS: usize = 5;

/// How a world is lived.
type Run = fn(Tape) -> Outcome;

/// CPU time that this thread has used.
fn used() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_nanos(nanos)
}

/// Lives the worlds of these seeds without oracles and with all of them, in turns,
/// and tells how fast that was, a line each.
///
/// # Errors
///
/// A rule that one of them breaks.
pub fn measure(seeds: &Range<u64>) -> Result<Vec<String>, Violation> {
    let alone: Run = |tape| world::run(tape, &mut ());
    let judged: Run = |tape| world::run(tape, &mut Oracles::new());
    let ways = [("without oracles", alone), ("with all oracles", judged)];
    let mut fastest = [Duration::MAX; 2];
    let mut tallies = [Tally::default(), Tally::default()];
    for _ in 0..ROUNDS {
        for (at, (_, run)) in ways.iter().enumerate() {
            let begun = used();
            let mut tally = Tally::default();
            for seed in seeds.clone() {
                tally.count(&contained(|| Ok(run(Tape::of_seed(seed))))?);
            }
            fastest[at] = fastest[at].min(used().saturating_sub(begun));
            tallies[at] = tally;
        }
    }
    let told = ways.iter().zip(&tallies).zip(&fastest);
    let told = told.map(|(((name, _), tally), time)| {
        let seconds = time.as_secs_f64().max(1e-9);
        format!(
            "{name:<17} {:>8.0} records and {:>8.0} steps per second of CPU time ({} records, {seconds:.3} s)",
            tally.records as f64 / seconds,
            tally.steps as f64 / seconds,
            tally.records,
        )
    });
    Ok(told.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_live_the_same_worlds() {
        let told = measure(&(0..3)).unwrap();
        let counts = |line: &String| line.split_once('(').map(|(_, tail)| tail.to_string());
        let records =
            |line| counts(line).and_then(|tail| Some(tail.split_once(' ')?.0.to_string()));
        let records: Vec<_> = told.iter().map(records).collect();
        assert_eq!(records.len(), 2);
        assert!(records[0].is_some() && records[0] == records[1], "{told:?}");
    }
}
