//! Where choices come from.

/// Bytes, one for each choice. Behind its end all is zero: the first choice.
#[derive(Clone, Debug)]
pub struct Tape {
    bytes: Vec<u8>,
    at: usize,
}

impl Tape {
    /// A tape of these bytes.
    #[must_use]
    pub const fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, at: 0 }
    }

    /// So many bytes that follow from a number.
    #[must_use]
    pub fn of_seed(seed: u64, length: usize) -> Self {
        let mut state = seed;
        let mut byte = || {
            // SplitMix64: one step, its highest byte.
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut word = state;
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (word ^ (word >> 31)).to_be_bytes()[0]
        };
        Self::new((0..length).map(|_| byte()).collect())
    }

    /// Whether nothing was written on what is left of it.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// A number below `bound`, which is not zero.
    pub fn below(&mut self, bound: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % bound
    }
}
