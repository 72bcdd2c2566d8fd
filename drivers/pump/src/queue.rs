//! Whole records in, partial writes out.
//!
//! A machine hands over whole records; a descriptor takes as many bytes as it
//! likes. The queue remembers how far the first record got. How much is unsent
//! altogether is counted by the session, which knows what follows from it
//! (DEC-36).

use agentx_core::machine::Misuse;
use std::collections::VecDeque;
use std::fmt;
use std::io::IoSlice;

#[cfg(test)]
mod tests;

/// A FIFO of records on their way to one descriptor.
#[derive(Default)]
pub struct WriteQueue {
    records: VecDeque<Vec<u8>>,
    /// Bytes of the first record that are written already.
    offset: usize,
    unsent: usize,
}

impl WriteQueue {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a whole record. One without bytes has nothing to send.
    pub fn push(&mut self, record: Vec<u8>) {
        if !record.is_empty() {
            self.unsent = self.unsent.saturating_add(record.len());
            self.records.push_back(record);
        }
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

    /// Notes that `count` bytes were written.
    ///
    /// # Errors
    ///
    /// [`Misuse::WrongAnswer`] when so much was not queued; nothing changed.
    pub fn wrote(&mut self, count: usize) -> Result<(), Misuse> {
        if count > self.unsent {
            return Err(Misuse::WrongAnswer);
        }
        self.unsent -= count;
        self.offset += count;
        while let Some(record) = self.records.front()
            && self.offset >= record.len()
        {
            self.offset -= record.len();
            self.records.pop_front();
        }
        Ok(())
    }

    /// Whether nothing is left to write.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.unsent == 0
    }
}

/// Sizes only: records may carry what must not be shown.
impl fmt::Debug for WriteQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteQueue")
            .field("records", &self.records.len())
            .field("unsent", &self.unsent)
            .finish_non_exhaustive()
    }
}
