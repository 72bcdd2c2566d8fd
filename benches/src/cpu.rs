//! CPU time of the calling thread, and of all threads.

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// CPU time that the calling thread has used.
#[must_use]
pub fn now() -> Duration {
    read(ClockId::ThreadCPUTime)
}

/// CPU time that all threads of this process have used.
#[must_use]
pub fn of_all_threads() -> Duration {
    read(ClockId::ProcessCPUTime)
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_nanos(nanos)
}

/// Criterion's clock, but for CPU time.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        now()
    }

    fn end(&self, start: Duration) -> Duration {
        now().saturating_sub(start)
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}
