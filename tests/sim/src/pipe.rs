//! A byte pipe with a capacity.

/// Bytes on their way from a writer to a reader.
#[derive(Clone, Debug)]
pub struct Pipe {
    bytes: Vec<u8>,
    /// Bytes at the front that were read already.
    taken: usize,
    capacity: usize,
    closed: bool,
}

impl Pipe {
    /// An open pipe that holds so many bytes.
    #[must_use]
    pub const fn new(capacity: usize) -> Self {
        Self {
            bytes: Vec::new(),
            taken: 0,
            capacity,
            closed: false,
        }
    }

    /// Makes room for at least so many bytes.
    pub fn widen(&mut self, capacity: usize) {
        self.capacity = self.capacity.max(capacity);
    }

    /// Bytes that wait for the reader.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.bytes.len() - self.taken
    }

    /// Whether no byte waits.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that the writer may still put in.
    #[must_use]
    pub const fn room(&self) -> usize {
        if self.closed {
            0
        } else {
            self.capacity.saturating_sub(self.len())
        }
    }

    /// Puts in as much as there is room for and gives how much that was.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(self.room());
        if self.taken == self.bytes.len() {
            self.bytes.clear();
            self.taken = 0;
        } else if self.taken > self.capacity {
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
        self.bytes.extend_from_slice(&bytes[..count]);
        count
    }

    /// The bytes that wait, oldest first.
    #[must_use]
    pub fn waiting(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    /// Takes so many bytes away, those that wait at most.
    pub const fn take(&mut self, count: usize) {
        let count = if count < self.len() {
            count
        } else {
            self.len()
        };
        self.taken += count;
    }

    /// The writer is gone; what waits can still be read.
    pub const fn close(&mut self) {
        self.closed = true;
    }

    /// Whether the writer is gone and everything was read.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.closed && self.is_empty()
    }

    /// Whether the writer is gone.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_takes_what_it_has_room_for_and_keeps_the_order() {
        let mut pipe = Pipe::new(4);
        assert_eq!(pipe.write(b"abcdef"), 4);
        assert_eq!(pipe.write(b"ef"), 0);
        pipe.take(3);
        assert_eq!((pipe.waiting(), pipe.room()), (&b"d"[..], 3));
        assert_eq!(pipe.write(b"ef"), 2);
        assert_eq!(pipe.waiting(), b"def");
    }

    #[test]
    fn what_waits_outlives_the_writer() {
        let mut pipe = Pipe::new(4);
        pipe.write(b"ab");
        pipe.close();
        assert_eq!(pipe.write(b"c"), 0);
        assert!(!pipe.is_over());
        pipe.take(9);
        assert!(pipe.is_over() && pipe.is_empty());
    }

    #[test]
    fn a_long_life_takes_little_room() {
        let mut pipe = Pipe::new(8);
        for _ in 0..1_000 {
            pipe.write(b"abcde");
            pipe.take(4);
        }
        assert!(pipe.bytes.capacity() < 200);
    }
}
