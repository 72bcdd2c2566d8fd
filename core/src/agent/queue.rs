//! Prompts that wait for their turn (WIRE-020, DEC-15, DEC-45).

use crate::limits::Limits;
use crate::plant::{Planted, planted};
use crate::schema::inbound::UserRecord;
use alloc::collections::VecDeque;
use alloc::sync::Arc;

/// An accepted prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// The record's uuid, or one made for it (DEC-25).
    pub(crate) uuid: Arc<str>,
    /// The record.
    pub(crate) record: UserRecord,
}

/// Why a prompt was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// As many prompts wait as may.
    Records(usize),
    /// Their weight would pass the bound, in bytes.
    Weight(usize),
    /// This one alone is heavier than the bound.
    TooHeavy(usize),
}

impl core::fmt::Display for Full {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Records(limit) => write!(f, "input queue is full: {limit} prompts are waiting"),
            Self::Weight(limit) => write!(
                f,
                "input queue is full: waiting prompts may weigh {limit} bytes"
            ),
            Self::TooHeavy(limit) => write!(
                f,
                "user record weighs more than the {limit} bytes a queue may hold"
            ),
        }
    }
}

/// The queue: `now` before `next` before `later`, arrival order within.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    prompts: VecDeque<Prompt>,
    weight: usize,
    planted: Planted,
}

impl Queue {
    /// An empty queue, with a fault planted if one is.
    pub(crate) fn with(planted: Planted) -> Self {
        Self {
            planted,
            ..Self::default()
        }
    }

    /// Whether a prompt of this weight may be admitted; the running one does not count.
    pub(crate) fn admits(&self, weight: usize, limits: &Limits) -> Result<(), Full> {
        if weight > limits.queue_bytes {
            Err(Full::TooHeavy(limits.queue_bytes))
        } else if self.prompts.len() >= limits.queue_records
            && !(planted!(self.planted, Wire020) && self.prompts.len() == limits.queue_records)
        {
            Err(Full::Records(limits.queue_records))
        } else if self.weight.saturating_add(weight) > limits.queue_bytes {
            Err(Full::Weight(limits.queue_bytes))
        } else {
            Ok(())
        }
    }

    /// Puts a prompt behind those of its priority.
    pub(crate) fn push(&mut self, prompt: Prompt) {
        self.weight = self.weight.saturating_add(prompt.record.weight);
        let in_order = planted!(self.planted, Dec15);
        let before =
            |waiting: &&Prompt| in_order || waiting.record.priority <= prompt.record.priority;
        let at = self.prompts.iter().take_while(before).count();
        self.prompts.insert(at, prompt);
    }

    /// Takes the prompt that runs next.
    pub(crate) fn pop(&mut self) -> Option<Prompt> {
        let prompt = self.prompts.pop_front()?;
        self.weight = self.weight.saturating_sub(prompt.record.weight);
        Some(prompt)
    }

    /// Takes the prompt with this uuid out, if it waits.
    pub(crate) fn remove(&mut self, uuid: &str) -> Option<Prompt> {
        let mut prompts = self.prompts.iter();
        let at = prompts.position(|prompt| &*prompt.uuid == uuid)?;
        let prompt = self.prompts.remove(at)?;
        self.weight = self.weight.saturating_sub(prompt.record.weight);
        Some(prompt)
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.prompts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::inbound::{Priority, UserContent};
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn prompt(uuid: &str, priority: Priority, weight: usize) -> Prompt {
        let record = UserRecord {
            uuid: Some(uuid.to_string()),
            content: UserContent::Text(uuid.to_string()),
            parent_tool_use_id: None,
            is_synthetic: false,
            is_replay: false,
            tool_use_result: None,
            priority,
            priority_given: true,
            timestamp: None,
            origin: None,
            weight,
        };
        Prompt {
            uuid: uuid.into(),
            record,
        }
    }

    // covers: DEC-15
    #[test]
    fn now_goes_before_next_before_later() {
        let mut queue = Queue::default();
        for (uuid, priority) in [
            ("a", Priority::Later),
            ("b", Priority::Next),
            ("c", Priority::Now),
            ("d", Priority::Next),
            ("e", Priority::Now),
        ] {
            queue.push(prompt(uuid, priority, 1));
        }
        let order: Vec<_> =
            core::iter::from_fn(|| queue.pop().map(|p| p.uuid.to_string())).collect();
        assert_eq!(order, ["c", "e", "b", "d", "a"]);
    }

    // covers: WIRE-020, DEC-45
    #[test]
    fn the_bounds_are_128_prompts_and_16_mib() {
        let limits = Limits::default();
        let mut queue = Queue::default();
        assert_eq!(
            queue.admits(16 * 1024 * 1024 + 1, &limits),
            Err(Full::TooHeavy(16 * 1024 * 1024))
        );
        queue.push(prompt("big", Priority::Next, 16 * 1024 * 1024));
        assert_eq!(
            queue.admits(1, &limits),
            Err(Full::Weight(16 * 1024 * 1024))
        );
        queue.pop();
        for _ in 0..128 {
            assert_eq!(queue.admits(1, &limits), Ok(()));
            queue.push(prompt("x", Priority::Next, 1));
        }
        assert_eq!(queue.admits(1, &limits), Err(Full::Records(128)));
    }
}
