//! Where choices come from.
//!
//! A tape is bytes, and a choice takes one or two of them. What lies behind the
//! end of the tape is zero, and zero is the simplest choice everywhere: no delay,
//! no fault, the first of a list. So a tape becomes simpler when it is cut or when
//! bytes of it are zeroed, and that is how a shrinker works.

use crate::fault::SwarmBits;

/// A source of choices that remembers what it gave.
#[derive(Clone, Debug)]
pub struct Tape {
    source: Source,
    used: Vec<u8>,
    /// The bound of each choice, where tapes are enumerated.
    bounds: Vec<u8>,
}

#[derive(Clone, Debug)]
enum Source {
    /// Bytes of a generator without an end.
    Seed { state: u64, word: u64, left: u8 },
    /// These bytes, then zeros.
    Bytes(Vec<u8>),
    /// These bytes, then zeros, each with its bound.
    Counted(Vec<u8>),
}

impl Tape {
    /// The tape of a seed; it has no end.
    #[must_use]
    pub const fn of_seed(seed: u64) -> Self {
        Self::new(Source::Seed {
            state: seed,
            word: 0,
            left: 0,
        })
    }

    /// A tape of these bytes, and zeros behind them.
    #[must_use]
    pub const fn of_bytes(bytes: Vec<u8>) -> Self {
        Self::new(Source::Bytes(bytes))
    }

    const fn new(source: Source) -> Self {
        Self {
            source,
            used: Vec::new(),
            bounds: Vec::new(),
        }
    }

    /// What was taken so far: as a tape of its own it gives the same choices.
    #[must_use]
    pub fn used(&self) -> &[u8] {
        &self.used
    }

    /// The first bytes of a tape of which nothing was taken.
    #[must_use]
    pub fn first(mut self, count: usize) -> Vec<u8> {
        if let Source::Bytes(bytes) = self.source {
            return bytes;
        }
        while self.used.len() < count {
            self.byte();
        }
        self.used
    }

    fn byte(&mut self) -> u8 {
        let byte = match &mut self.source {
            Source::Seed { state, word, left } => {
                if *left == 0 {
                    *word = split_mix(state);
                    *left = 8;
                }
                *left -= 1;
                let byte = word.to_le_bytes()[0];
                *word >>= 8;
                byte
            }
            Source::Bytes(bytes) | Source::Counted(bytes) => {
                bytes.get(self.used.len()).copied().unwrap_or(0)
            }
        };
        self.used.push(byte);
        byte
    }

    /// A number below `bound`, which is 1 to 256; with a bound of 1 nothing is taken.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = bound.clamp(1, 256);
        if bound == 1 {
            return 0;
        }
        let byte = usize::from(self.byte());
        if matches!(self.source, Source::Counted(_)) {
            self.bounds.push(u8::try_from(bound - 1).unwrap_or(u8::MAX));
        }
        byte % bound
    }

    /// A number below `bound`, which is 1 to 65,536.
    pub fn wide(&mut self, bound: usize) -> usize {
        if bound <= 256 {
            return self.below(bound);
        }
        let (high, low) = (self.below(256), self.below(256));
        (high << 8 | low) % bound
    }

    /// True once in `times` on average, 2 to 256; false on zeros.
    pub fn one_in(&mut self, times: usize) -> bool {
        let times = times.clamp(2, 256);
        self.below(times) == times - 1
    }

    /// One of a list that is not empty and has 256 members at most; the first on zeros.
    pub fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    /// Forty bits, each of which says whether a kind of fault is allowed.
    pub fn swarm(&mut self) -> SwarmBits {
        let bytes = [
            self.below(256),
            self.below(256),
            self.below(256),
            self.below(256),
            self.below(256),
        ];
        let bits = bytes
            .into_iter()
            .fold(0, |bits, byte| bits << 8 | byte as u64);
        SwarmBits(bits)
    }
}

const fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// All tapes of a world that makes a bounded number of choices, one after another,
/// like the wheels of an odometer: the last choice turns first.
#[derive(Clone, Debug, Default)]
pub struct Odometer {
    next: Option<Vec<u8>>,
    begun: bool,
}

impl Odometer {
    /// Before the first tape.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next tape, or `None` when all were seen.
    pub fn tape(&mut self) -> Option<Tape> {
        if !self.begun {
            self.begun = true;
            return Some(Tape::new(Source::Counted(Vec::new())));
        }
        Some(Tape::new(Source::Counted(self.next.take()?)))
    }

    /// Takes back a tape that a world has used, and turns the wheels.
    pub fn turn(&mut self, tape: Tape) {
        let Tape { used, bounds, .. } = tape;
        let turns = used
            .iter()
            .zip(&bounds)
            .rposition(|(byte, most)| byte < most);
        self.next = turns.map(|at| {
            let mut next = used;
            next.truncate(at + 1);
            next[at] += 1;
            next
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_gives_the_same_choices_again() {
        let choose =
            |tape: &mut Tape| -> Vec<usize> { (1..300).map(|bound| tape.wide(bound)).collect() };
        let mut first = Tape::of_seed(7);
        let chosen = choose(&mut first);
        let mut again = Tape::of_bytes(first.used().to_vec());
        assert_eq!(choose(&mut again), chosen);
        assert_eq!(again.used(), first.used());
        assert_ne!(choose(&mut Tape::of_seed(8)), chosen);
        assert!(
            chosen
                .iter()
                .zip(1..)
                .all(|(choice, bound)| *choice < bound)
        );
    }

    #[test]
    fn behind_its_end_a_tape_gives_the_simplest_choice() {
        let mut tape = Tape::of_bytes(vec![5]);
        assert_eq!(tape.below(10), 5);
        assert_eq!((tape.below(10), tape.wide(60_000)), (0, 0));
        assert!(!tape.one_in(2));
        assert_eq!(tape.pick(&["first", "second"]), "first");
    }

    #[test]
    fn a_choice_without_alternatives_takes_nothing() {
        let mut tape = Tape::of_seed(1);
        assert_eq!(tape.below(1), 0);
        assert!(tape.used().is_empty());
    }

    #[test]
    fn an_odometer_sees_every_tape_once() {
        let mut odometer = Odometer::new();
        let mut seen = Vec::new();
        while let Some(mut tape) = odometer.tape() {
            // The second choice depends on the first.
            let first = tape.below(3);
            let second = if first == 1 { 0 } else { tape.below(2) };
            seen.push((first, second));
            odometer.turn(tape);
        }
        assert_eq!(seen, [(0, 0), (0, 1), (1, 0), (2, 0), (2, 1)]);
    }

    #[test]
    fn every_choice_comes_up_about_as_often_as_any_other() {
        let mut tape = Tape::of_seed(3);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[tape.below(7)] += 1;
        }
        assert!(
            counts.iter().all(|count| (9_000..11_000).contains(count)),
            "{counts:?}"
        );
    }
}
