//! What tokens cost.

use crate::limits::PRICE_PER_TOKEN;
use agentx_core::model::Usage;

/// Prices in 10^-12 USD per token (DEC-40). One with all zeros is a known
/// price of nothing (WIRE-012).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pricing {
    /// A prompt token.
    pub input: u64,
    /// A token of the answer.
    pub output: u64,
    /// A prompt token read from a cache; as `input` when not declared.
    pub cache_read: u64,
    /// A prompt token written to a cache; as `input` when not declared.
    pub cache_write: u64,
}

impl Pricing {
    /// Cost of these tokens in 10^-12 USD.
    #[must_use]
    pub const fn cost(&self, usage: &Usage) -> u64 {
        let input = usage.input_tokens.saturating_mul(self.input);
        let output = usage.output_tokens.saturating_mul(self.output);
        let read = usage
            .cache_read_input_tokens
            .saturating_mul(self.cache_read);
        let written = usage
            .cache_creation_input_tokens
            .saturating_mul(self.cache_write);
        input
            .saturating_add(output)
            .saturating_add(read)
            .saturating_add(written)
    }
}

/// USD per million tokens, as the text of a JSON number, in 10^-12 USD per
/// token: the same digits with the point six places further right.
pub(super) fn per_token(number: &str) -> Result<u64, String> {
    if number.starts_with('-') {
        return Err("must not be negative".into());
    }
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Ok(0);
    }
    let significant = digits.trim_end_matches('0');
    let zeros = i64::try_from(digits.len() - significant.len()).unwrap_or(i64::MAX);
    let point = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
    let too_high = || format!("over {} USD", PRICE_PER_TOKEN / 1_000_000);
    let shift = exponent
        .parse::<i32>()
        .map(|exponent| i64::from(exponent) + zeros - point + 6)
        .map_err(|_| "the exponent is out of range".to_owned())?;
    if shift < 0 {
        return Err("more than 6 decimals".into());
    }
    let unit = u32::try_from(shift)
        .ok()
        .and_then(|shift| 10_u64.checked_pow(shift));
    let price = significant.parse::<u64>().ok().zip(unit);
    let price = price.and_then(|(digits, unit)| digits.checked_mul(unit));
    price
        .filter(|price| *price <= PRICE_PER_TOKEN)
        .ok_or_else(too_high)
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: DEC-40
    #[test]
    fn prices_are_read_exactly() {
        for (text, price) in [
            ("0", 0),
            ("0.000", 0),
            ("0e99999999999", 0),
            ("3", 3_000_000),
            ("0.000001", 1),
            ("1.250000", 1_250_000),
            ("0.0750", 75_000),
            ("12.5e-1", 1_250_000),
            ("1E1", 10_000_000),
            ("15e+0", 15_000_000),
            ("1000000", PRICE_PER_TOKEN),
            ("1e6", PRICE_PER_TOKEN),
        ] {
            assert_eq!(per_token(text), Ok(price), "{text}");
        }
    }

    // covers: DEC-40
    #[test]
    fn prices_that_cannot_be_told_are_refused() {
        for text in [
            "-1",
            "-0",
            "0.0000001",
            "1e-7",
            "1000000.000001",
            "1e7",
            "1e99",
            "1e99999999999",
            "99999999999999999999999",
        ] {
            assert!(per_token(text).is_err(), "{text}");
        }
    }

    // covers: DEC-40
    #[test]
    fn a_cost_sums_each_kind_of_token_once() {
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
            cache_creation_input_tokens: 1000,
            reasoning_output_tokens: 9,
        };
        assert_eq!(
            pricing.cost(&usage),
            3_000_000 + 150_000_000 + 30_000_000 + 3_750_000_000
        );
    }
}
