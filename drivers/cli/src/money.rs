//! Amounts of money on the command line (DEC-40).

use agentx_core::schema::Money;

/// Decimal places of an amount: it counts 10^-12 USD.
pub(crate) const PLACES: usize = 12;

/// Digits before the point; far above any budget, far below overflow.
const WHOLE_DIGITS: usize = 18;

/// Reads a decimal amount of US dollars, exactly: `3`, `0.25`, `.5`. There is
/// no sign, no exponent and nothing that would have to be rounded.
///
/// # Errors
///
/// What was expected.
pub(crate) fn dollars(text: &str) -> Result<Money, String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !is_number(whole) || !is_number(fraction) {
        return Err("expected an amount of USD such as 0.25, without sign or exponent".into());
    }
    let (whole, fraction) = (
        whole.trim_start_matches('0'),
        fraction.trim_end_matches('0'),
    );
    if whole.len() > WHOLE_DIGITS {
        return Err(format!(
            "expected at most {WHOLE_DIGITS} digits before the point"
        ));
    }
    if fraction.len() > PLACES {
        return Err(format!("expected at most {PLACES} decimal places"));
    }
    let digits = format!("{whole}{fraction:0<PLACES$}");
    let amount: u128 = digits.parse().map_err(|_| "expected an amount of USD")?;
    if amount == 0 {
        return Err("expected more than 0 USD".into());
    }
    Ok(Money(amount))
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: DEC-40
    #[test]
    fn amounts_are_read_exactly() {
        for (text, amount) in [
            ("1", 1_000_000_000_000),
            ("0.25", 250_000_000_000),
            (".5", 500_000_000_000),
            ("2.", 2_000_000_000_000),
            ("0.000000000001", 1),
            ("000.1000000000000000", 100_000_000_000),
            ("0.1", 100_000_000_000),
            (
                "999999999999999999",
                999_999_999_999_999_999_000_000_000_000,
            ),
        ] {
            assert_eq!(dollars(text), Ok(Money(amount)), "{text}");
        }
    }

    // covers: DEC-40
    #[test]
    fn what_is_no_exact_amount_is_refused() {
        for text in [
            "", ".", "1e3", "-1", "+1", "1,5", " 1", "0x1", "1.2.3", "$1", "١",
        ] {
            let fault = dollars(text).unwrap_err();
            assert!(
                fault.contains("without sign or exponent"),
                "{text}: {fault}"
            );
        }
        for (text, part) in [
            ("0", "more than 0"),
            ("0.000", "more than 0"),
            ("0.0000000000001", "decimal places"),
            ("1000000000000000000", "before the point"),
        ] {
            let fault = dollars(text).unwrap_err();
            assert!(fault.contains(part), "{text}: {fault}");
        }
    }
}
