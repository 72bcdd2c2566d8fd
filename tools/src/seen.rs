//! Which versions of files a session has seen (records, `seed_read_state`).
//!
//! Only `Write` asks: a file that another program changed after it was read is
//! not replaced unseen. A file that was never read is nobody's loss here, and is
//! not guarded.

use crate::limits::SEEN_FILES;
use rustix::fs::Stat;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Nanoseconds of a millisecond.
const NANOS_PER_MILLI: i128 = 1_000_000;

/// What tells one version of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version {
    bytes: i128,
    /// Nanoseconds of the epoch.
    modified: i128,
}

impl Version {
    fn of(stat: &Stat) -> Self {
        let seconds = i128::from(stat.st_mtime);
        Self {
            bytes: i128::from(stat.st_size),
            modified: seconds * 1_000 * NANOS_PER_MILLI + nanos(stat),
        }
    }
}

// The type differs between systems.
#[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
fn nanos(stat: &Stat) -> i128 {
    i128::from(stat.st_mtime_nsec)
}

/// What was seen, by the path without links.
#[derive(Debug, Default)]
pub(crate) struct Seen(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<PathBuf, Version>,
    /// Their paths, the oldest first.
    order: VecDeque<PathBuf>,
}

impl Seen {
    /// This version was seen.
    pub(crate) fn note(&self, path: &Path, stat: &Stat) {
        let mut state = self.state();
        let known = state.files.insert(path.to_owned(), Version::of(stat));
        if known.is_none() {
            state.order.push_back(path.to_owned());
        }
        if state.order.len() > SEEN_FILES
            && let Some(oldest) = state.order.pop_front()
        {
            state.files.remove(&oldest);
        }
    }

    /// Whether the version that was seen of this file, if any was, is this one.
    pub(crate) fn is_current(&self, path: &Path, stat: &Stat) -> Option<bool> {
        let state = self.state();
        let seen = state.files.get(path);
        seen.map(|seen| *seen == Version::of(stat))
    }

    /// The version there is was seen, unless it is newer than `mtime_ms`; gives
    /// whether it counts.
    pub(crate) fn seed(&self, path: &Path, stat: &Stat, mtime_ms: u64) -> bool {
        let modified = Version::of(stat).modified.div_euclid(NANOS_PER_MILLI);
        let counts = modified <= i128::from(mtime_ms);
        if counts {
            self.note(path, stat);
        }
        counts
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
