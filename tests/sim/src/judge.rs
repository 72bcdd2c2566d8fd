//! A run and everything that watches it.

use crate::event::Violation;
use crate::oracle::Oracles;
use crate::runner::contained;
use crate::shrink::{Shrunk, shrink};
use crate::tape::Tape;
use crate::trace::{Hash, Steps};
use crate::world::{self, Outcome};

/// Bytes of a tape that are kept when its run has panicked.
const PANICKED: usize = 32_768;

/// Lives a run under all oracles.
///
/// # Errors
///
/// The first rule that it breaks.
pub fn run(tape: Tape) -> Result<Outcome, Violation> {
    contained(|| Ok(world::run(tape, &mut Oracles::new())))
}

/// The same, and then again from what was used of the tape: both runs have to tell
/// the same, event by event.
///
/// # Errors
///
/// The first rule that it breaks.
pub fn run_twice(tape: &Tape) -> Result<Outcome, Violation> {
    let hashed = |tape: Tape| -> Result<(Outcome, u64), Violation> {
        let mut watch = (Oracles::new(), Hash::default());
        let outcome = contained(|| Ok(world::run(tape, &mut watch)))?;
        Ok((outcome, watch.1.value()))
    };
    let (first, one) = hashed(tape.clone())?;
    let (_, two) = hashed(Tape::of_bytes(first.tape.used().to_vec()))?;
    if one != two {
        let what = format!("one run has the trace {one:016x}, the next one {two:016x}");
        return Err(Violation::new("determinism", "DEC-17", what));
    }
    Ok(first)
}

/// A run step by step.
#[derive(Clone, Debug)]
pub struct Told {
    /// What happened, a line each.
    pub lines: Vec<String>,
    /// The hash of all that happened.
    pub hash: u64,
    /// The rule that was broken.
    pub violation: Option<Violation>,
}

/// Lives a run and tells each step in so many characters.
#[must_use]
pub fn told(tape: Tape, width: usize) -> Told {
    let mut watch = ((Steps::new(width), Hash::default()), Oracles::new());
    let violation = contained(|| Ok(world::run(tape, &mut watch))).err();
    let ((steps, hash), _) = watch;
    Told {
        lines: steps.lines().to_vec(),
        hash: hash.value(),
        violation,
    }
}

/// Makes the tape small that this seed gives and that breaks a rule.
#[must_use]
pub fn shrunk(seed: u64, violation: &Violation) -> Shrunk {
    let (tape, found) = broken(Tape::of_seed(seed));
    // What only a second run shows stays as it is.
    let Some(found) = found else {
        return Shrunk {
            tape,
            violation: violation.clone(),
            runs: 1,
        };
    };
    shrink(tape, found, |bytes| broken(Tape::of_bytes(bytes)))
}

/// What a run takes of its tape, and the rule that it breaks.
fn broken(tape: Tape) -> (Vec<u8>, Option<Violation>) {
    let bytes = tape.clone();
    let mut violation = None;
    let mut used = Vec::new();
    let ran = contained(|| {
        let mut outcome = world::run(tape, &mut Oracles::new());
        violation = outcome.violation.take();
        used = outcome.tape.used().to_vec();
        Ok(outcome)
    });
    match ran {
        Ok(_) => (used, violation),
        // A panic took the tape along; enough of it is there.
        Err(panic) => (bytes.first(PANICKED), Some(panic)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::FaultCounts;

    // covers: DEC-17
    #[test]
    fn a_run_is_a_function_of_its_tape() {
        for seed in 0..6 {
            let outcome = run_twice(&Tape::of_seed(seed)).unwrap();
            let told = told(Tape::of_bytes(outcome.tape.used().to_vec()), 80);
            assert_eq!(told.violation, None);
            assert!(told.lines.len() > 50);
        }
    }

    #[test]
    fn the_first_seeds_break_no_rule() {
        let mut faults = FaultCounts::default();
        for seed in 0..60 {
            match run(Tape::of_seed(seed)) {
                Ok(outcome) => faults.add(&outcome.faults),
                Err(violation) => panic!("seed {seed}: {violation}"),
            }
        }
        let kinds = faults.iter().filter(|(_, count)| *count > 0).count();
        assert!(kinds > 25, "{kinds} kinds of faults in sixty runs");
    }
}
