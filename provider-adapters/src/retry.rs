//! When a failed request is sent again, and how long to wait before.
//!
//! Only a request that has shown nothing of an answer is repeated; after the
//! first event of a stream a failure is final, since text may be out already.
//!
//! | failure | sent again |
//! |---|---|
//! | name resolution, connect, time-out, cut | yes |
//! | TLS, malformed HTTP, local fault | no: the next attempt meets the same |
//! | 408, 409, 429, 5xx | yes, as the vendors' clients do |
//! | 501, 505 | no: the server will not learn it |
//! | 429 with code `insufficient_quota` | no: waiting buys nothing |
//! | other statuses | no |

use crate::http::FailureKind;
use crate::http_date;
use crate::limits::{ATTEMPTS, BACKOFF_BASE, BACKOFF_CAP, RETRY_AFTER};
use agentx_core::time::WallTime;
use std::time::Duration;

/// Whether another attempt may fare better after this transport fault.
#[must_use]
pub const fn transport_is_transient(kind: FailureKind) -> bool {
    match kind {
        FailureKind::Resolve | FailureKind::Connect | FailureKind::Timeout | FailureKind::Cut => {
            true
        }
        FailureKind::Tls | FailureKind::Malformed | FailureKind::Local => false,
    }
}

/// Whether another attempt may fare better after this status.
#[must_use]
pub const fn status_is_transient(status: u16) -> bool {
    match status {
        501 | 505 => false,
        408 | 409 | 429 | 500..=599 => true,
        _ => false,
    }
}

/// What a server asked for: `retry-after-ms`, or `Retry-After` in seconds or as
/// a date, which `now` is compared with. `None` when it asked for nothing that
/// can be understood.
#[must_use]
pub fn asked_wait(headers: &[(String, String)], now: WallTime) -> Option<Duration> {
    let value = |name: &str| {
        let field = headers
            .iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name));
        field.map(|(_, value)| value.trim())
    };
    if let Some(millis) = value("retry-after-ms").and_then(digits) {
        return Some(Duration::from_millis(millis));
    }
    let text = value("retry-after")?;
    if let Some(seconds) = digits(text) {
        return Some(Duration::from_secs(seconds));
    }
    let at = http_date::parse(text)?;
    Some(Duration::from_millis(at.0.saturating_sub(now.0)))
}

/// A whole number; one too large for 64 bits counts as the largest.
fn digits(text: &str) -> Option<u64> {
    let whole = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    whole.then(|| text.parse().unwrap_or(u64::MAX))
}

/// Counts the attempts of one request and spreads the waits between them.
#[derive(Clone, Debug)]
pub struct Retry {
    random: u64,
    made: u32,
}

impl Retry {
    /// For a request whose first attempt is under way.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self {
            random: seed,
            made: 1,
        }
    }

    /// Attempts made so far.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        self.made
    }

    /// How long to wait before the next attempt, or `None` when there is to be
    /// none. `asked` is what the server wants; else the wait is drawn evenly
    /// from nothing up to a bound that doubles (full jitter).
    pub fn next_wait(&mut self, asked: Option<Duration>) -> Option<Duration> {
        if self.made >= ATTEMPTS || asked.is_some_and(|wait| wait > RETRY_AFTER) {
            return None;
        }
        let bound = BACKOFF_BASE
            .saturating_mul(1 << (self.made - 1))
            .min(BACKOFF_CAP);
        self.made += 1;
        match asked {
            Some(wait) if !wait.is_zero() => Some(wait),
            _ => {
                let bound = u64::try_from(bound.as_micros()).unwrap_or(u64::MAX);
                let micros = self.draw() % bound.saturating_add(1);
                Some(Duration::from_micros(micros))
            }
        }
    }

    /// The next number of a `SplitMix64` sequence.
    const fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&str, &str)]) -> Vec<(String, String)> {
        fields
            .iter()
            .map(|(n, v)| ((*n).into(), (*v).into()))
            .collect()
    }

    #[test]
    fn waits_stay_under_a_bound_that_doubles() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..500 {
            let mut retry = Retry::new(seed);
            for bound in [1, 2, 4] {
                let wait = retry.next_wait(None).unwrap();
                assert!(
                    wait <= Duration::from_secs(bound),
                    "{wait:?} over {bound} s"
                );
                seen.insert(wait);
            }
            assert_eq!((retry.next_wait(None), retry.attempts()), (None, ATTEMPTS));
        }
        assert!(seen.len() > 1400, "the waits are spread");
        assert!(seen.iter().next_back().unwrap() > &Duration::from_millis(3900));
    }

    #[test]
    fn one_seed_gives_one_sequence() {
        let waits = |seed| {
            let mut retry = Retry::new(seed);
            [retry.next_wait(None), retry.next_wait(None)]
        };
        assert_eq!(waits(7), waits(7));
        assert_ne!(waits(7), waits(8));
    }

    #[test]
    fn a_server_is_obeyed_within_the_bound() {
        let mut retry = Retry::new(1);
        assert_eq!(
            retry.next_wait(Some(Duration::from_secs(1))),
            Some(Duration::from_secs(1))
        );
        assert_eq!(retry.next_wait(Some(RETRY_AFTER)), Some(RETRY_AFTER));
        assert_eq!(
            retry.next_wait(Some(RETRY_AFTER + Duration::from_millis(1))),
            None
        );
        assert_eq!(retry.attempts(), 3);
    }

    #[test]
    fn a_wait_of_nothing_is_spread_too() {
        let waits: Vec<_> = (0..20)
            .map(|seed| Retry::new(seed).next_wait(Some(Duration::ZERO)))
            .collect();
        assert!(
            waits
                .iter()
                .any(|wait| *wait > Some(Duration::from_millis(100)))
        );
    }

    #[test]
    fn the_wait_is_read_in_every_form() {
        let now = WallTime(784_111_770_000);
        for (fields, wait) in [
            (headers(&[("Retry-After", "2")]), Some(2000)),
            (headers(&[("retry-after", " 0 ")]), Some(0)),
            (
                headers(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")]),
                Some(7000),
            ),
            (
                headers(&[("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT")]),
                Some(0),
            ),
            (
                headers(&[("retry-after", "9"), ("retry-after-ms", "150")]),
                Some(150),
            ),
            (headers(&[("retry-after", "-1")]), None),
            (headers(&[("retry-after", "1.5")]), None),
            (headers(&[("x-other", "1")]), None),
        ] {
            assert_eq!(
                asked_wait(&fields, now),
                wait.map(Duration::from_millis),
                "{fields:?}"
            );
        }
        let huge = headers(&[("retry-after", "99999999999999999999999")]);
        assert!(asked_wait(&huge, now).unwrap() > RETRY_AFTER);
    }

    #[test]
    fn statuses_are_sorted_as_documented() {
        let transient: Vec<u16> = (100..600).filter(|s| status_is_transient(*s)).collect();
        assert_eq!(&transient[..4], [408, 409, 429, 500]);
        assert!(transient.contains(&529) && !transient.contains(&501) && !transient.contains(&505));
    }
}
