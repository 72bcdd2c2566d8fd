//! What tells a session the time: the time since its start, or a test.

use crate::drive;
use agentx_core::time::Instant;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The clock of a session. Time limits of sockets and of the end of a process
/// are no matter of it: what they bound is outside.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// Real time since the session's start.
    #[default]
    Real,
    /// Whatever somebody says.
    Logical(LogicalClock),
}

/// A clock that moves when it is told to, and not by itself.
#[derive(Clone, Debug, Default)]
pub struct LogicalClock(Arc<AtomicU64>);

impl LogicalClock {
    /// What it shows.
    #[must_use]
    pub fn now(&self) -> Instant {
        Instant::from_micros(self.0.load(Ordering::Acquire))
    }

    /// Moves it on; never back. Whoever waits learns of it by
    /// [`News::ClockMoved`](crate::pump::News::ClockMoved).
    pub fn advance_to(&self, now: Instant) {
        self.0.fetch_max(now.as_micros(), Ordering::AcqRel);
    }
}

/// A clock that runs.
#[derive(Debug)]
pub(crate) struct Running {
    clock: Clock,
    started: std::time::Instant,
}

impl Running {
    pub(crate) fn start(clock: Clock) -> Self {
        Self::since(std::time::Instant::now(), clock)
    }

    /// One that real time has moved since `started`.
    pub(crate) const fn since(started: std::time::Instant, clock: Clock) -> Self {
        Self { clock, started }
    }

    pub(crate) fn now(&self) -> Instant {
        match &self.clock {
            Clock::Real => Instant::ZERO.after(self.started.elapsed()),
            Clock::Logical(clock) => clock.now(),
        }
    }

    /// How long to wait for `deadline`; for ever where no time will bring it.
    pub(crate) fn wait(&self, deadline: Option<Instant>) -> Option<Duration> {
        let wait = drive::wait(self.now(), deadline);
        match &self.clock {
            Clock::Real => wait,
            Clock::Logical(_) => wait.filter(Duration::is_zero),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logical_clock_goes_where_it_is_put() {
        let at = Instant::from_micros;
        let clock = LogicalClock::default();
        let running = Running::start(Clock::Logical(clock.clone()));
        assert_eq!(running.now(), Instant::ZERO);
        assert_eq!(running.wait(Some(at(7))), None, "no time brings it");
        clock.advance_to(at(7));
        assert_eq!(running.now(), at(7));
        assert_eq!(running.wait(Some(at(7))), Some(Duration::ZERO));
        clock.advance_to(at(3));
        assert_eq!(running.now(), at(7), "never back");
        assert_eq!(running.wait(None), None);
    }

    #[test]
    fn real_time_brings_a_deadline() {
        let running = Running::start(Clock::Real);
        let hour = Duration::from_secs(3_600);
        let wait = running.wait(Some(running.now().after(hour)));
        assert!(wait.is_some_and(|wait| wait <= hour), "{wait:?}");
        assert_eq!(running.wait(Some(Instant::ZERO)), Some(Duration::ZERO));
    }
}
