//! Prices of tokens, read from their decimal text.

use crate::limits::PRICE_PER_TOKEN;

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
}
