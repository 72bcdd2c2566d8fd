//! The request on its way out: head and body, slice by slice.

use std::sync::Arc;

/// What of the request is not handed out yet.
#[derive(Default)]
pub(super) struct Outgoing {
    head: Vec<u8>,
    body: Arc<Vec<u8>>,
    /// Bytes of the body that were handed out.
    sent: usize,
}

impl Outgoing {
    /// A whole request.
    pub(super) fn new(head: Vec<u8>, body: Arc<Vec<u8>>) -> Self {
        Self {
            head,
            body,
            sent: 0,
        }
    }

    /// Bytes still to be handed out.
    pub(super) fn len(&self) -> usize {
        self.head.len() + self.body.len().saturating_sub(self.sent)
    }

    /// Whether everything was handed out or dropped.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The next bytes: about `room` of them, the head always whole.
    pub(super) fn next(&mut self, room: usize) -> Vec<u8> {
        let mut slice = std::mem::take(&mut self.head);
        let rest = self.body.get(self.sent..).unwrap_or_default();
        let count = room.saturating_sub(slice.len()).min(rest.len());
        slice.extend_from_slice(rest.get(..count).unwrap_or_default());
        self.sent += count;
        if self.sent == self.body.len() {
            self.clear();
        }
        slice
    }

    /// Drops what is left, and our hold of its memory.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
