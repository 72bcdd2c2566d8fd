//! Identifiers from one seeded generator (DEC-17): the same seed gives the
//! same ids in the same order, another seed gives others.

use alloc::string::String;
use core::fmt::Write as _;

/// Entropy of one session, told by the driver.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub [u8; 32]);

impl Seed {
    /// A seed spread from one number, for tests and simulations.
    #[must_use]
    pub fn from_u64(number: u64) -> Self {
        let mut state = number;
        let mut bytes = [0; 32];
        for chunk in bytes.chunks_exact_mut(8) {
            chunk.copy_from_slice(&split_mix(&mut state).to_le_bytes());
        }
        Self(bytes)
    }
}

impl core::fmt::Debug for Seed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Seed(..)")
    }
}

/// The generator of every identifier of a session. Not for secrets.
#[derive(Clone, Debug)]
pub struct IdGen {
    state: [u64; 4],
}

impl IdGen {
    /// A generator that is a function of `seed` alone.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        let mut state = [0; 4];
        for (word, bytes) in state.iter_mut().zip(seed.0.chunks_exact(8)) {
            *word = bytes
                .iter()
                .rev()
                .fold(0, |sum, byte| (sum << 8) | u64::from(*byte));
        }
        // The all-zero state is the one fixed point of the generator.
        if state == [0; 4] {
            state = [0x9e37_79b9_7f4a_7c15; 4];
        }
        Self { state }
    }

    /// The next 64 bits (xoshiro256++).
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let out = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        let shifted = self.state[1] << 17;
        self.state = [a ^ d, b ^ c, c ^ shifted, d.rotate_left(45)];
        out
    }

    /// A version 4 UUID, in lower case (DEC-17).
    pub fn uuid(&mut self) -> String {
        let mut bytes = [0; 16];
        let (high, low) = bytes.split_at_mut(8);
        high.copy_from_slice(&self.next_u64().to_be_bytes());
        low.copy_from_slice(&self.next_u64().to_be_bytes());
        let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
        let uuid = uuid::Builder::from_random_bytes(bytes).into_uuid();
        String::from(&*uuid.hyphenated().encode_lower(&mut text))
    }

    /// `prefix` and 32 hexadecimal digits, as for `req_` (DEC-17).
    pub fn tagged(&mut self, prefix: &str) -> String {
        let mut text = String::with_capacity(prefix.len() + 32);
        let (high, low) = (self.next_u64(), self.next_u64());
        // Writing to a String cannot fail.
        let _ = write!(text, "{prefix}{high:016x}{low:016x}");
        text
    }

    /// The id of a background task: `task_` and 16 hex digits (DEC-17).
    pub fn task(&mut self) -> String {
        let number = self.next_u64();
        let mut text = String::with_capacity(21);
        // Writing to a String cannot fail.
        let _ = write!(text, "task_{number:016x}");
        text
    }

    /// A generator for a part of the session, independent of this one.
    pub fn fork(&mut self) -> u64 {
        self.next_u64()
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    // covers: DEC-17
    #[test]
    fn ids_are_a_function_of_the_seed() {
        let make = |seed| {
            let mut ids = IdGen::new(Seed::from_u64(seed));
            (ids.uuid(), ids.tagged("req_"), ids.uuid())
        };
        assert_eq!(make(7), make(7));
        assert_ne!(make(7), make(8));
        let (uuid, request, _) = make(7);
        assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"));
        assert!(matches!(&uuid[19..20], "8" | "9" | "a" | "b"));
        assert_eq!((request.len(), &request[..4]), (36, "req_"));
    }

    #[test]
    fn no_id_repeats() {
        let mut ids = IdGen::new(Seed([0; 32]));
        let seen: BTreeSet<_> = (0..10_000).map(|_| ids.next_u64()).collect();
        assert_eq!(seen.len(), 10_000);
    }
}
