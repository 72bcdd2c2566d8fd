//! The calls of one answer, from proposal to results (DEC-26).
//!
//! ```text
//! deciding -> ready -> running -> settled
//!          \________________________/   (denied, malformed, cancelled)
//!
//! running -> held -> settled            (somebody looks at the result first)
//! ```
//!
//! Parallel calls start as soon as they are decided; the others run one at a
//! time, in call order. Results are given back in call order.

use crate::model::ToolResult;
use crate::tool::{Access, ToolCall, ToolOutcome};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// All calls of one answer.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    calls: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    call: ToolCall,
    parallel: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    Deciding,
    Ready(Access),
    Running,
    Held(ToolOutcome),
    Settled(ToolOutcome),
}

impl Batch {
    /// Adds a call that waits for a decision; gives its place in the batch.
    pub(crate) fn push(&mut self, call: ToolCall, parallel: bool) -> usize {
        self.calls.push(Entry {
            call,
            parallel,
            state: State::Deciding,
        });
        self.calls.len() - 1
    }

    /// The call at `place`, as the model made it or as it was edited.
    pub(crate) fn call(&self, place: usize) -> Option<&ToolCall> {
        self.calls.get(place).map(|entry| &entry.call)
    }

    /// All calls, in the model's order.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.calls.iter().map(|entry| &entry.call)
    }

    /// Lets a call run, with another input where the decision gave one.
    pub(crate) fn allow(
        &mut self,
        place: usize,
        access: Access,
        input: Option<crate::json::RawJson>,
    ) {
        if let Some(entry) = self.calls.get_mut(place)
            && matches!(entry.state, State::Deciding)
        {
            if let Some(input) = input {
                entry.call.input = input;
            }
            entry.state = State::Ready(access);
        }
    }

    /// Keeps the outcome of a call that runs, in place of one that is kept; the
    /// call is not settled yet.
    pub(crate) fn hold(&mut self, place: usize, outcome: ToolOutcome) {
        if let Some(entry) = self.calls.get_mut(place)
            && matches!(entry.state, State::Running | State::Held(_))
        {
            entry.state = State::Held(outcome);
        }
    }

    /// The outcome that is kept for a call.
    pub(crate) fn held(&self, place: usize) -> Option<ToolOutcome> {
        match &self.calls.get(place)?.state {
            State::Held(outcome) => Some(outcome.clone()),
            State::Deciding | State::Ready(_) | State::Running | State::Settled(_) => None,
        }
    }

    /// Settles a call; false if it was settled already.
    pub(crate) fn settle(&mut self, place: usize, outcome: ToolOutcome) -> bool {
        match self.calls.get_mut(place) {
            Some(entry) if !matches!(entry.state, State::Settled(_)) => {
                entry.state = State::Settled(outcome);
                true
            }
            _ => false,
        }
    }

    /// The next call that may start now; it counts as running from here on.
    pub(crate) fn start_next(&mut self) -> Option<(usize, ToolCall, Access)> {
        let mut serial_busy = false;
        for (place, entry) in self.calls.iter_mut().enumerate() {
            if let State::Ready(access) = entry.state
                && (entry.parallel || !serial_busy)
            {
                entry.state = State::Running;
                return Some((place, entry.call.clone(), access));
            }
            serial_busy |= !entry.parallel && !matches!(entry.state, State::Settled(_));
        }
        None
    }

    /// Places of the calls that are not settled, in call order.
    pub(crate) fn unsettled(&self) -> Vec<usize> {
        let open = |(place, entry): (usize, &Entry)| {
            (!matches!(entry.state, State::Settled(_))).then_some(place)
        };
        self.calls.iter().enumerate().filter_map(open).collect()
    }

    /// All results in call order, once every call is settled.
    pub(crate) fn results(&self) -> Option<Vec<ToolResult>> {
        self.calls.iter().map(Entry::result).collect()
    }
}

impl Entry {
    fn result(&self) -> Option<ToolResult> {
        let State::Settled(outcome) = &self.state else {
            return None;
        };
        Some(ToolResult {
            tool_use_id: Arc::clone(&self.call.id),
            content: outcome.content.clone(),
            is_error: outcome.is_error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::RawJson;
    use alloc::vec;

    fn batch(parallel: &[bool]) -> Batch {
        let mut batch = Batch::default();
        for (n, parallel) in parallel.iter().enumerate() {
            let id = alloc::format!("toolu_{n}").into();
            batch.push(
                ToolCall {
                    id,
                    name: "T".into(),
                    input: RawJson::empty_object(),
                },
                *parallel,
            );
        }
        batch
    }

    fn started(batch: &mut Batch) -> Vec<usize> {
        core::iter::from_fn(|| batch.start_next().map(|(place, ..)| place)).collect()
    }

    // covers: DEC-26
    #[test]
    fn serial_calls_run_in_call_order_and_parallel_ones_at_once() {
        let mut b = batch(&[false, true, false, true]);
        for place in [3, 2, 1] {
            b.allow(place, Access::Granted, None);
        }
        assert_eq!(
            started(&mut b),
            vec![1, 3],
            "the second serial call waits for the first"
        );
        b.allow(0, Access::Granted, None);
        assert_eq!(started(&mut b), vec![0]);
        assert!(b.settle(0, ToolOutcome::text("a")));
        assert_eq!(started(&mut b), vec![2]);
    }

    #[test]
    fn results_stand_in_call_order_and_settle_once() {
        let mut b = batch(&[true, true]);
        assert!(b.settle(1, ToolOutcome::text("second")));
        assert!(!b.settle(1, ToolOutcome::text("again")));
        assert_eq!(b.results(), None);
        assert!(b.settle(0, ToolOutcome::error("first")));
        let results = b.results().expect("all settled");
        assert_eq!(
            results.iter().map(|r| r.is_error).collect::<Vec<_>>(),
            vec![true, false]
        );
        assert_eq!(b.unsettled(), Vec::<usize>::new());
    }
}
