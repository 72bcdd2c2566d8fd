//! What tokens cost.

use agentx_core::model::Usage;

/// Prices in 10^-12 USD per token (DEC-40).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pricing {
    /// A prompt token.
    pub input: u64,
    /// A token of the answer.
    pub output: u64,
    /// A prompt token read from a cache.
    pub cache_read: u64,
    /// A prompt token written to a cache.
    pub cache_write: u64,
}

impl Pricing {
    /// Cost of these tokens in 10^-12 USD.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> u64 {
        let of = |tokens: u64, price: u64| tokens.saturating_mul(price);
        of(usage.input_tokens, self.input)
            .saturating_add(of(usage.output_tokens, self.output))
            .saturating_add(of(usage.cache_read_input_tokens, self.cache_read))
            .saturating_add(of(usage.cache_creation_input_tokens, self.cache_write))
    }
}
