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
    /// Whether any number of tokens costs nothing.
    #[must_use]
    pub const fn is_free(&self) -> bool {
        self.input == 0 && self.output == 0 && self.cache_read == 0 && self.cache_write == 0
    }

    /// What `usage` costs, in 10^-12 USD; stops at the largest amount.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> u128 {
        [
            (usage.input_tokens, self.input),
            (usage.output_tokens, self.output),
            (usage.cache_read_input_tokens, self.cache_read),
            (usage.cache_creation_input_tokens, self.cache_write),
        ]
        .into_iter()
        .map(|(tokens, price)| u128::from(tokens) * u128::from(price))
        .fold(0, u128::saturating_add)
    }
}

/// What is known of the tokens of one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tokens {
    /// The provider's report of the whole answer.
    Reported(Usage),
    /// There is no such report.
    Unreported {
        /// What was told before the answer was lost, or zero.
        told: Usage,
        /// An estimate on the high side; stands for the budget alone.
        estimate: Usage,
    },
}

/// What one prompt used so far, and what the process has spent.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pricing: Option<Pricing>,
    budget: Option<u128>,
    /// All prompts before and the current one, in 10^-12 USD; holds estimates
    /// for what was not reported.
    spent: u128,
    /// Whether `spent` holds an estimate.
    estimated: bool,
    usage: Usage,
    /// Whether an answer of the current prompt was not reported.
    unreported: bool,
    requests: u32,
}

impl Account {
    /// `budget` bounds the whole process, in 10^-12 USD (DEC-40).
    pub(crate) const fn new(pricing: Option<Pricing>, budget: Option<u128>) -> Self {
        Self {
            pricing,
            budget,
            spent: 0,
            estimated: false,
            usage: Usage::ZERO,
            unreported: false,
            requests: 0,
        }
    }

    /// Starts the books of the next prompt (DEC-27).
    pub(crate) const fn next_prompt(&mut self) {
        self.usage = Usage::ZERO;
        self.unreported = false;
        self.requests = 0;
    }

    /// Counts one model request.
    pub(crate) const fn request(&mut self) {
        self.requests = self.requests.saturating_add(1);
    }

    /// Adds what an answer used, complete or not.
    pub(crate) fn answer(&mut self, tokens: Tokens) {
        match tokens {
            Tokens::Reported(usage) => self.usage.add(&usage),
            Tokens::Unreported { told, .. } => {
                self.usage.add(&told);
                self.unreported = true;
            }
        }
        self.aside(tokens);
    }

    /// Takes what an answer cost that is of no prompt: the budget is of the
    /// process (DEC-40).
    pub(crate) fn aside(&mut self, tokens: Tokens) {
        let charge = match tokens {
            Tokens::Reported(usage) => self.price(&usage),
            Tokens::Unreported { told, estimate } => {
                self.estimated = true;
                self.price(&told).max(self.price(&estimate))
            }
        };
        self.spent = self.spent.saturating_add(charge);
    }

    fn price(&self, usage: &Usage) -> u128 {
        let pricing = self.pricing.as_ref();
        pricing.map_or(0, |pricing| pricing.cost(usage))
    }

    /// Whether the process has spent its budget.
    pub(crate) fn exhausted(&self) -> bool {
        self.budget.is_some_and(|budget| self.spent >= budget)
    }

    /// Whether what the process has spent is an estimate in part.
    pub(crate) const fn estimated(&self) -> bool {
        self.estimated
    }

    /// Tokens of the current prompt, as far as they were reported.
    pub(crate) const fn usage(&self) -> Usage {
        self.usage
    }

    /// Cost of the current prompt; `None` when no price is known, or not all of
    /// its tokens are, unless any number of them costs nothing (WIRE-012).
    pub(crate) fn cost(&self) -> Option<u128> {
        self.pricing
            .as_ref()
            .filter(|pricing| !self.unreported || pricing.is_free())
            .map(|pricing| pricing.cost(&self.usage))
    }

    /// Model requests of the current prompt.
    pub(crate) const fn requests(&self) -> u32 {
        self.requests
    }
}

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
        unknown.answer(Tokens::Reported(usage));
        assert_eq!(unknown.cost(), None);
        let free = Pricing {
            input: 0,
            output: 0,
            cache_read: 0,
            cache_write: 0,
        };
        let mut free = Account::new(Some(free), None);
        free.answer(Tokens::Reported(usage));
        assert_eq!(free.cost(), Some(0));
    }

    // covers: DEC-40
    #[test]
    fn a_cost_sums_each_kind_of_token_once_and_never_overflows() {
        let pricing = Pricing {
            input: 3_000_000,
            output: 15_000_000,
            cache_read: 300_000,
            cache_write: 3_750_000,
        };
        let usage = Usage {
            input_tokens: 1,
            output_tokens: 10,
            cache_read_input_tokens: 100,
            cache_creation_input_tokens: 1_000,
            reasoning_output_tokens: 9,
        };
        assert_eq!(pricing.cost(&usage), 3_933_000_000);
        let (most, dearest) = (u64::MAX, u64::MAX);
        let usage = Usage {
            input_tokens: most,
            output_tokens: most,
            ..Usage::default()
        };
        let pricing = Pricing {
            input: dearest,
            output: dearest,
            cache_read: 0,
            cache_write: 0,
        };
        assert_eq!(pricing.cost(&usage), u128::MAX);
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
        account.answer(Tokens::Reported(usage));
        assert_eq!(
            (account.cost(), account.exhausted()),
            (Some(60_000_000), false)
        );
        account.next_prompt();
        assert_eq!(account.cost(), Some(0));
        account.answer(Tokens::Reported(usage));
        assert_eq!(
            (account.cost(), account.exhausted()),
            (Some(60_000_000), true)
        );
    }

    const UNREPORTED: Tokens = Tokens::Unreported {
        told: Usage {
            input_tokens: 3,
            ..Usage::ZERO
        },
        estimate: Usage {
            input_tokens: 40,
            output_tokens: 10,
            ..Usage::ZERO
        },
    };

    // covers: WIRE-012, DEC-40
    #[test]
    fn tokens_that_nobody_reported_cost_an_unknown_sum_and_count_against_the_budget() {
        let pricing = Pricing {
            input: 1_000,
            output: 2_000,
            cache_read: 0,
            cache_write: 0,
        };
        let mut account = Account::new(Some(pricing), Some(60_000));
        account.answer(UNREPORTED);
        assert_eq!((account.cost(), account.exhausted()), (None, true));
        assert_eq!(
            (account.usage().input_tokens, account.estimated()),
            (3, true)
        );
        // The next prompt has books of its own, and the budget none.
        account.next_prompt();
        assert_eq!((account.cost(), account.exhausted()), (Some(0), true));
    }

    // covers: WIRE-012
    #[test]
    fn what_costs_nothing_costs_nothing_in_any_number() {
        let pricing = Pricing {
            input: 0,
            output: 0,
            cache_read: 0,
            cache_write: 0,
        };
        let mut account = Account::new(Some(pricing), Some(1));
        account.answer(UNREPORTED);
        assert_eq!((account.cost(), account.exhausted()), (Some(0), false));
    }
}
