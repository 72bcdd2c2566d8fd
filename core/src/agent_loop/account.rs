//! Tokens and money, in integers (WIRE-012, DEC-27, DEC-40).

use crate::model::Usage;

/// Prices of one model in 10^-12 USD per token. Absent prices are no prices:
/// where a provider entry names none, the cost is unknown (WIRE-012).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pricing {
    /// Prompt tokens.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Prompt tokens read from a cache.
    pub cache_read: u64,
    /// Prompt tokens written to a cache.
    pub cache_write: u64,
}

impl Pricing {
    /// What `usage` costs, in 10^-12 USD.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> u128 {
        let part = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        part(usage.input_tokens, self.input)
            + part(usage.output_tokens, self.output)
            + part(usage.cache_read_input_tokens, self.cache_read)
            + part(usage.cache_creation_input_tokens, self.cache_write)
    }
}

/// What one prompt used so far, and what the process has spent.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pricing: Option<Pricing>,
    budget: Option<u128>,
    /// All prompts before and the current one, in 10^-12 USD.
    spent: u128,
    usage: Usage,
    requests: u32,
}

impl Account {
    /// `budget` bounds the whole process, in 10^-12 USD (DEC-40).
    pub(crate) const fn new(pricing: Option<Pricing>, budget: Option<u128>) -> Self {
        Self {
            pricing,
            budget,
            spent: 0,
            usage: ZERO,
            requests: 0,
        }
    }

    /// Starts the books of the next prompt (DEC-27).
    pub(crate) const fn next_prompt(&mut self) {
        self.usage = ZERO;
        self.requests = 0;
    }

    /// Counts one model request.
    pub(crate) const fn request(&mut self) {
        self.requests = self.requests.saturating_add(1);
    }

    /// Adds what an answer used, complete or not.
    pub(crate) fn answer(&mut self, usage: &Usage) {
        self.usage.add(usage);
        if let Some(pricing) = &self.pricing {
            self.spent = self.spent.saturating_add(pricing.cost(usage));
        }
    }

    /// Whether the process has spent its budget.
    pub(crate) fn exhausted(&self) -> bool {
        self.budget.is_some_and(|budget| self.spent >= budget)
    }

    /// Tokens of the current prompt.
    pub(crate) const fn usage(&self) -> Usage {
        self.usage
    }

    /// Cost of the current prompt; `None` when no price is known.
    pub(crate) fn cost(&self) -> Option<u128> {
        self.pricing
            .as_ref()
            .map(|pricing| pricing.cost(&self.usage))
    }

    /// Model requests of the current prompt.
    pub(crate) const fn requests(&self) -> u32 {
        self.requests
    }
}

const ZERO: Usage = Usage {
    input_tokens: 0,
    output_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    reasoning_output_tokens: 0,
};

#[cfg(test)]
mod tests {
    use super::*;

    // covers: WIRE-012, DEC-40
    #[test]
    fn unknown_prices_give_no_cost_and_known_zero_prices_give_zero() {
        let usage = Usage {
            input_tokens: 11,
            output_tokens: 4,
            ..Usage::default()
        };
        let mut unknown = Account::new(None, None);
        unknown.answer(&usage);
        assert_eq!(unknown.cost(), None);
        let free = Pricing {
            input: 0,
            output: 0,
            cache_read: 0,
            cache_write: 0,
        };
        let mut free = Account::new(Some(free), None);
        free.answer(&usage);
        assert_eq!(free.cost(), Some(0));
    }

    // covers: DEC-27, DEC-40
    #[test]
    fn the_budget_is_of_the_process_and_the_usage_of_the_prompt() {
        let pricing = Pricing {
            input: 3_000_000,
            output: 15_000_000,
            cache_read: 0,
            cache_write: 0,
        };
        let mut account = Account::new(Some(pricing), Some(100_000_000));
        let usage = Usage {
            input_tokens: 10,
            output_tokens: 2,
            ..Usage::default()
        };
        account.answer(&usage);
        assert_eq!(
            (account.cost(), account.exhausted()),
            (Some(60_000_000), false)
        );
        account.next_prompt();
        assert_eq!(account.cost(), Some(0));
        account.answer(&usage);
        assert_eq!(
            (account.cost(), account.exhausted()),
            (Some(60_000_000), true)
        );
    }
}
