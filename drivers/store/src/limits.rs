//! Bounds of the store, by name.

use std::time::Duration;

/// How long a batch may wait for its sync at most (DEC-32). Half of what may
/// pass is left for the disk.
pub const SYNC_DELAY: Duration = Duration::from_millis(50);

/// How long a process waits for another that writes to the same database.
/// Shorter than what a signal leaves a process to end in.
pub const BUSY: Duration = Duration::from_secs(2);

/// Log of the database above which its pages are written back, in bytes.
pub const LOG_BYTES: u64 = 4 << 20;

/// Log that a process leaves behind when it ends, in bytes; the next one has to
/// read it through.
pub const LEFT_LOG_BYTES: u64 = 1 << 20;

/// Pages of the database kept in memory, in KiB.
pub const CACHE_KIB: u32 = 512;

/// Entries of one session.
pub const ENTRIES: u64 = 1 << 32;
