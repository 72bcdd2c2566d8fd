//! Dates of HTTP headers (RFC 9110, section 5.6.7).

use agentx_core::time::WallTime;

/// Reads a date in any of the three forms that HTTP knows.
pub(crate) fn parse(text: &str) -> Option<WallTime> {
    let mut words = text
        .split([' ', ',', '-', ':'])
        .filter(|word| !word.is_empty());
    let mut word = || words.next();
    word()?; // the day of the week, which the rest implies
    let second = word()?;
    let (year, month, day, clock);
    if let Some(found) = month_of(second) {
        // Sun Nov  6 08:49:37 1994
        (month, day) = (found, number(word()?)?);
        clock = [number(word()?)?, number(word()?)?, number(word()?)?];
        year = number(word()?)?;
    } else {
        // Sun, 06 Nov 1994 08:49:37 GMT, or Sunday, 06-Nov-94 08:49:37 GMT
        (day, month) = (number(second)?, month_of(word()?)?);
        year = match word()? {
            short if short.len() == 2 => century(number(short)?),
            long => number(long)?,
        };
        clock = [number(word()?)?, number(word()?)?, number(word()?)?];
        if word()? != "GMT" {
            return None;
        }
    }
    let [hour, minute, second] = clock;
    let valid = (1970..=9999).contains(&year)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if words.next().is_some() || !valid {
        return None;
    }
    let seconds = ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    Some(WallTime(seconds * 1000))
}

fn number(word: &str) -> Option<u64> {
    let digits = word.len() <= 4 && word.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| word.parse().ok()).flatten()
}

const fn century(year: u64) -> u64 {
    if year >= 70 { 1900 + year } else { 2000 + year }
}

fn month_of(word: &str) -> Option<u64> {
    const NAMES: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    NAMES
        .iter()
        .zip(1..)
        .find(|(name, _)| **name == word)
        .map(|(_, month)| month)
}

/// Days from 1970-01-01, in the Gregorian calendar; counts years from March so
/// that the leap day comes last.
const fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_are_read() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(parse(text), Some(WallTime(784_111_777_000)), "{text}");
        }
    }

    #[test]
    fn the_calendar_is_right_at_its_corners() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
            ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800),
            ("Mon, 30 Nov 2026 12:00:00 GMT", 1_796_040_000),
            ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
        ] {
            assert_eq!(parse(text), Some(WallTime(seconds * 1000)), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "soon",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1969 08:49:37 GMT",
            "Sun, 06 Nov 99999 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT GMT",
            "Sun, 06 Nov +994 08:49:37 GMT",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
