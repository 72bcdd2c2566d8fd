//! Numbers with a point, without floats.

use super::declare::{FromJson, Json, Shape};
use crate::json::{Value, Writer};
use core::fmt;

/// An amount in 10^-12 US dollars, so that prices for a million tokens add up
/// without rounding (DEC-40). Written as a decimal without an exponent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(pub u128);

impl Money {
    /// A known zero (WIRE-012).
    pub const ZERO: Self = Self(0);
    /// One US dollar.
    pub const DOLLAR: Self = Self(1_000_000_000_000);

    /// The sum; stops at the largest amount.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(f, self.0 / Self::DOLLAR.0, self.0 % Self::DOLLAR.0, 12)
    }
}

impl Json for Money {
    const SHAPE: Shape = Shape::Number;

    fn write(&self, w: &mut Writer) {
        w.number_text(&alloc::format!("{self}"));
    }
}

impl FromJson for Money {
    fn read(value: Value<'_>) -> Option<Self> {
        parse_decimal(value.as_number()?, 12).map(Self)
    }
}

/// A share in millionths; 1,000,000 is the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fraction(pub u32);

impl Fraction {
    /// The whole.
    pub const ONE: Self = Self(1_000_000);

    /// `part` of `whole`, at most one; zero of nothing.
    #[must_use]
    pub fn of(part: u64, whole: u64) -> Self {
        if whole == 0 {
            return Self(0);
        }
        let millionths = u128::from(part.min(whole)) * u128::from(Self::ONE.0) / u128::from(whole);
        Self(u32::try_from(millionths).unwrap_or(Self::ONE.0))
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0 / Self::ONE.0, self.0 % Self::ONE.0);
        decimal(f, whole.into(), part.into(), 6)
    }
}

impl Json for Fraction {
    const SHAPE: Shape = Shape::Number;

    fn write(&self, w: &mut Writer) {
        w.number_text(&alloc::format!("{self}"));
    }
}

impl FromJson for Fraction {
    fn read(value: Value<'_>) -> Option<Self> {
        let millionths = parse_decimal(value.as_number()?, 6)?;
        u32::try_from(millionths).ok().map(Self)
    }
}

/// A number that is not negative in units of 10 to the power of minus `places`;
/// what is finer is cut off. `None` for one that is negative, too large, or
/// written with an exponent that moves its point further than any of ours.
fn parse_decimal(number: &str, places: usize) -> Option<u128> {
    const MOST: i32 = 64;
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (number, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let point = i32::try_from(whole.len().checked_add(places)?).ok()?;
    let count = point.checked_add(exponent)?;
    let digits = whole.bytes().chain(fraction.bytes());
    if whole.starts_with('-') || count > MOST {
        return None;
    }
    let padded = digits.chain(core::iter::repeat(b'0'));
    padded
        .take(usize::try_from(count).unwrap_or(0))
        .try_fold(0_u128, |sum, digit| {
            let digit = u128::from(digit.checked_sub(b'0')?);
            sum.checked_mul(10)?.checked_add(digit)
        })
}

/// Writes `whole.part`, `part` having `places` digits, without zeros at the end.
fn decimal(f: &mut fmt::Formatter<'_>, whole: u128, mut part: u128, places: usize) -> fmt::Result {
    if part == 0 {
        return write!(f, "{whole}");
    }
    let mut width = places;
    while part.is_multiple_of(10) {
        part /= 10;
        width -= 1;
    }
    write!(f, "{whole}.{part:0width$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{ScanLimits, Scanner};
    use alloc::format;

    fn read<T: FromJson>(text: &str) -> Option<T> {
        let mut scanner = Scanner::new();
        T::read(scanner.scan(text.as_bytes(), &ScanLimits::DEFAULT).unwrap())
    }

    #[test]
    fn numbers_read_back_and_in_other_spellings() {
        for amount in [
            0,
            1,
            5_000,
            1_000_000_000_000,
            12_345_678_900_000,
            u128::MAX,
        ] {
            let money = Money(amount);
            assert_eq!(read(&format!("{money}")), Some(money), "{money}");
        }
        for millionths in [0, 1, 500_000, 1_000_000] {
            let fraction = Fraction(millionths);
            assert_eq!(read(&format!("{fraction}")), Some(fraction), "{fraction}");
        }
        for (text, millionths) in [
            ("1.0", 1_000_000),
            ("5e-1", 500_000),
            ("0.05E1", 500_000),
            ("0.1234567", 123_456),
            ("1e-9", 0),
            ("1e-400", 0),
        ] {
            assert_eq!(read(text), Some(Fraction(millionths)), "{text}");
        }
    }

    #[test]
    fn what_is_no_amount_is_not_read() {
        for text in [
            "-1",
            "-0.5",
            "1e99",
            "1e999999999999",
            "\"1\"",
            "null",
            "9999999999999",
        ] {
            assert_eq!(read::<Fraction>(text), None, "{text}");
        }
        assert_eq!(read::<Money>("1e40"), None);
    }
}
