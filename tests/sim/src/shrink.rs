//! Makes a failing tape small: spans of it are deleted and zeroed as long as the
//! same rule is broken.
//!
//! Zero is the simplest choice everywhere, and what lies behind the end of a tape
//! is zero; so a smaller tape is a shorter and simpler run.

use crate::event::Violation;
use crate::runner::PANIC;

/// How many runs a shrinking may take.
const RUNS: usize = 4_000;

/// A tape that was made small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The tape.
    pub tape: Vec<u8>,
    /// What it breaks.
    pub violation: Violation,
    /// How many runs it took.
    pub runs: usize,
}

/// Makes `tape` small, which breaks a rule. `run` gives what a tape breaks, and as
/// much of the tape as was taken. The result breaks the same rule of the same
/// requirement.
pub fn shrink(
    tape: Vec<u8>,
    violation: Violation,
    run: impl FnMut(Vec<u8>) -> (Vec<u8>, Option<Violation>),
) -> Shrunk {
    let mut shrinker = Shrinker {
        best: Shrunk {
            tape,
            violation,
            runs: 0,
        },
        run,
    };
    while shrinker.round() {}
    shrinker.best
}

struct Shrinker<R> {
    best: Shrunk,
    run: R,
}

impl<R: FnMut(Vec<u8>) -> (Vec<u8>, Option<Violation>)> Shrinker<R> {
    /// One pass of everything; whether the tape became simpler.
    fn round(&mut self) -> bool {
        let before = self.best.tape.clone();
        let mut span = before.len().next_power_of_two();
        while span > 0 {
            self.delete(span);
            self.zero(span);
            span /= 2;
        }
        self.lower();
        self.best.tape != before && self.best.runs < RUNS
    }

    fn delete(&mut self, span: usize) {
        let mut at = self.best.tape.len();
        while at > 0 {
            at = at.saturating_sub(span);
            let end = (at + span).min(self.best.tape.len());
            let mut tape = self.best.tape.clone();
            if at < end {
                tape.drain(at..end);
                self.offer(tape);
            }
        }
    }

    fn zero(&mut self, span: usize) {
        let mut at = 0;
        while at < self.best.tape.len() {
            let end = (at + span).min(self.best.tape.len());
            let mut tape = self.best.tape.clone();
            let changes = tape[at..end].iter().any(|byte| *byte != 0);
            tape[at..end].fill(0);
            if changes {
                self.offer(tape);
            }
            at += span;
        }
    }

    /// Makes single bytes smaller.
    fn lower(&mut self) {
        for at in 0..self.best.tape.len() {
            for smaller in [1, 2, 4, 16] {
                let mut tape = self.best.tape.clone();
                match tape.get_mut(at) {
                    Some(byte) if *byte > smaller => *byte = smaller,
                    _ => break,
                }
                if self.offer(tape) {
                    break;
                }
            }
        }
    }

    /// Takes a tape if it is simpler and breaks the same.
    fn offer(&mut self, tape: Vec<u8>) -> bool {
        if self.best.runs >= RUNS {
            return false;
        }
        self.best.runs += 1;
        let length = tape.len();
        let (mut used, violation) = (self.run)(tape);
        // What was taken beyond the tape was zero.
        used.truncate(length);
        while used.last() == Some(&0) {
            used.pop();
        }
        let Some(violation) = violation else {
            return false;
        };
        let simpler = (used.len(), sum(&used)) < (self.best.tape.len(), sum(&self.best.tape));
        if !is_same(&violation, &self.best.violation) || !simpler {
            return false;
        }
        self.best.tape = used;
        self.best.violation = violation;
        true
    }
}

/// Whether two runs break the same rule. All panics are of one, so their words have to
/// be the same, apart from numbers.
fn is_same(one: &Violation, other: &Violation) -> bool {
    let words = |violation: &Violation| {
        let what = violation.what.chars();
        what.filter(|c| !c.is_ascii_digit()).collect::<String>()
    };
    (one.rule, one.requirement) == (other.rule, other.requirement)
        && (one.rule != PANIC || words(one) == words(other))
}

fn sum(tape: &[u8]) -> u64 {
    tape.iter().map(|byte| u64::from(*byte)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tape::Tape;

    /// A world that breaks when it has drawn a 7 and later a 9, in some noise.
    fn world(bytes: Vec<u8>) -> (Vec<u8>, Option<Violation>) {
        let mut tape = Tape::of_bytes(bytes);
        let mut seen = Vec::new();
        for _ in 0..64 {
            seen.push(tape.below(32));
        }
        let seven = seen.iter().position(|drawn| *drawn == 7);
        let nine = seen.iter().rposition(|drawn| *drawn == 9);
        let broken = seven.zip(nine).is_some_and(|(seven, nine)| seven < nine);
        let other = seen.contains(&11);
        let violation = if broken {
            Some(Violation::new(
                "nine follows seven",
                "X-1",
                format!("{seven:?} {nine:?}"),
            ))
        } else {
            other.then(|| Violation::new("no eleven", "X-2", ""))
        };
        (tape.used().to_vec(), violation)
    }

    #[test]
    fn one_panic_does_not_become_another() {
        let panic = |what: &str| Violation::new(PANIC, "rule 6", what);
        assert!(is_same(&panic("index 3 of 2"), &panic("index 9 of 7")));
        assert!(!is_same(&panic("index 3 of 2"), &panic("it is None")));
        let rule = |what: &str| Violation::new("odd", "X-1", what);
        assert!(is_same(&rule("a"), &rule("b")));
        assert!(!is_same(&rule("a"), &panic("a")));
    }

    #[test]
    fn what_is_left_breaks_the_same_rule_and_nothing_can_be_left_out() {
        let failing = (0..).find_map(|seed| {
            let mut tape = Tape::of_seed(seed);
            for _ in 0..64 {
                tape.below(32);
            }
            let (used, violation) = world(tape.used().to_vec());
            let violation = violation.filter(|violation| violation.requirement == "X-1")?;
            Some((used, violation))
        });
        let Some((tape, violation)) = failing else {
            panic!("some seed breaks the rule")
        };
        let shrunk = shrink(tape, violation, world);
        assert_eq!(shrunk.violation.rule, "nine follows seven");
        assert_eq!(shrunk.tape.len(), 2, "{:?}", shrunk.tape);
        assert!(shrunk.runs <= RUNS);
    }
}
