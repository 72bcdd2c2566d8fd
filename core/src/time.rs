//! Time as data: machines are told the time, they never ask.

use core::fmt;
use core::time::Duration;

/// Microseconds since the driver's own start. Comparable only within one run;
/// wall time is the epoch of the configuration plus this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The driver's start.
    pub const ZERO: Self = Self(0);

    /// An instant from microseconds since the driver's start.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Microseconds since the driver's start.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// This instant moved later; stops at the end of time.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        let micros = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(micros))
    }

    /// Time since `earlier`; zero when that lies in the future.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}us", self.0)
    }
}

/// Milliseconds since the Unix epoch, as told by the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime(pub u64);
