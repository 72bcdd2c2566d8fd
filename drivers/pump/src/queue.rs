//! Whole records in, partial writes out.
//!
//! A machine hands over whole records; a descriptor takes as many bytes as it
//! likes. The queue remembers how far the first record got, counts what is
//! unsent (DEC-36), tells when records are finished and keeps their buffers
//! for reuse. After a failed write it holds and takes nothing more (DEC-11).

use agentx_core::machine::Misuse;
use std::collections::VecDeque;
use std::fmt;
use std::io::IoSlice;

#[cfg(test)]
mod tests;

/// Unsent bytes above which provider and tool progress pauses (DEC-36).
pub const PAUSE_PROGRESS_BYTES: usize = 4 * 1024 * 1024;

/// Unsent bytes above which the input is no longer read (DEC-36).
pub const PAUSE_INPUT_BYTES: usize = 64 * 1024 * 1024;

/// Finished buffers kept until they are taken; the rest is freed.
pub const MAX_SPARE_BUFFERS: usize = 32;

/// What the amount of unsent output asks of its producers (DEC-36).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pressure {
    /// Nothing.
    None,
    /// Pause provider and tool progress.
    Progress,
    /// Pause those, and read no more input.
    Input,
}

/// A FIFO of records on their way to one descriptor.
#[derive(Default)]
pub struct WriteQueue {
    records: VecDeque<Vec<u8>>,
    /// Bytes of the first record that are written already.
    offset: usize,
    unsent: usize,
    spare: Vec<Vec<u8>>,
    failed: bool,
}

impl WriteQueue {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a whole record. One without bytes has nothing to send and is
    /// never counted as finished; after [`WriteQueue::fail`] records are dropped.
    pub fn push(&mut self, record: Vec<u8>) {
        if self.failed || record.is_empty() {
            return;
        }
        self.unsent = self.unsent.saturating_add(record.len());
        self.records.push_back(record);
    }

    /// The unsent rest of the first record: what to write next.
    #[must_use]
    pub fn front(&self) -> Option<&[u8]> {
        self.records
            .front()
            .and_then(|record| record.get(self.offset..))
    }

    /// Fills `slices` with unsent bytes in order, for one vectored write.
    /// Returns how many were filled.
    pub fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut skip = self.offset;
        let mut filled = 0;
        for (slot, record) in slices.iter_mut().zip(&self.records) {
            *slot = IoSlice::new(record.get(skip..).unwrap_or_default());
            skip = 0;
            filled += 1;
        }
        filled
    }

    /// Notes that `count` bytes were written. Returns how many records that
    /// finished.
    ///
    /// # Errors
    ///
    /// [`Misuse::WrongAnswer`] when so much was not queued; nothing changed.
    pub fn wrote(&mut self, count: usize) -> Result<u32, Misuse> {
        if count > self.unsent {
            return Err(Misuse::WrongAnswer);
        }
        self.unsent -= count;
        self.offset += count;
        let mut finished: u32 = 0;
        while let Some(record) = self.records.front() {
            if self.offset < record.len() {
                break;
            }
            self.offset -= record.len();
            finished = finished.saturating_add(1);
            if let Some(buffer) = self.records.pop_front()
                && self.spare.len() < MAX_SPARE_BUFFERS
            {
                self.spare.push(buffer);
            }
        }
        Ok(finished)
    }

    /// A finished record's buffer, emptied, to be used again.
    pub fn recycle(&mut self) -> Option<Vec<u8>> {
        let mut buffer = self.spare.pop()?;
        buffer.clear();
        Some(buffer)
    }

    /// Latches a failed write: drops what is unsent and all that follows.
    pub fn fail(&mut self) {
        *self = Self {
            failed: true,
            ..Self::default()
        };
    }

    /// Whether a write failed.
    #[must_use]
    pub const fn has_failed(&self) -> bool {
        self.failed
    }

    /// Bytes queued and not yet written.
    #[must_use]
    pub const fn unsent(&self) -> usize {
        self.unsent
    }

    /// Whether nothing is left to write.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.unsent == 0
    }

    /// What the unsent bytes ask of the producers.
    #[must_use]
    pub const fn pressure(&self) -> Pressure {
        if self.unsent > PAUSE_INPUT_BYTES {
            Pressure::Input
        } else if self.unsent > PAUSE_PROGRESS_BYTES {
            Pressure::Progress
        } else {
            Pressure::None
        }
    }
}

/// Sizes only: records may carry what must not be shown.
impl fmt::Debug for WriteQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteQueue")
            .field("records", &self.records.len())
            .field("unsent", &self.unsent)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}
