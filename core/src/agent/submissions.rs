//! Submissions of structured output: checked as effects, each with a deadline
//! (RT-SCHM-009).

use super::AgentSession;
use crate::agent_loop::{LoopInput, StructuredLimits};
use crate::effect::{EffectId, Request};
use crate::json::RawJson;
use crate::structured::{OutputSchema, Validation, Validity};
use crate::time::Instant;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A submission that is being checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Submission {
    /// Place of the call in its batch.
    place: usize,
    /// When nobody waits any longer.
    due: Instant,
}

impl AgentSession {
    /// Asks for structured output by this schema, or else by the one that is
    /// configured, from now on. A schema is one that its validator can use.
    pub(super) fn require_output(&mut self, schema: Option<OutputSchema>) {
        if schema.is_some() {
            self.config.output_schema = schema;
        }
        if let Some(schema) = &self.config.output_schema {
            let limits = StructuredLimits::of(&self.config.limits);
            self.agent_loop.require_output(schema, limits);
        }
    }

    /// Has a submission checked. Nobody is asked for permission: a submission
    /// touches nothing.
    pub(super) fn check_submission(&mut self, place: usize, value: RawJson) {
        let Some(schema) = self.config.output_schema.clone() else {
            return;
        };
        let due = self.now.after(self.config.limits.validation_timeout);
        let id = self.start(Request::Validate(Box::new(Validation { schema, value })));
        if let Some(turn) = &mut self.turn {
            turn.submissions.insert(id, Submission { place, due });
        }
    }

    /// The validator has answered.
    pub(super) fn submission_checked(&mut self, id: EffectId, validity: Validity) {
        let submissions = self.turn.as_mut().map(|turn| &mut turn.submissions);
        if let Some(Submission { place, .. }) = submissions.and_then(|open| open.remove(&id)) {
            self.feed_loop(LoopInput::Validated { place, validity });
        }
    }

    /// When the next check is given up.
    pub(super) fn submissions_due(&self) -> Option<Instant> {
        let open = self.turn.as_ref()?.submissions.values();
        open.map(|submission| submission.due).min()
    }

    /// Gives up the checks whose time is over; what they say later means nothing.
    pub(super) fn give_up_submissions(&mut self) {
        let open = self.turn.iter().flat_map(|turn| &turn.submissions);
        let late = open.filter(|(_, submission)| submission.due <= self.now);
        let late: Vec<EffectId> = late.map(|(id, _)| *id).collect();
        if late.is_empty() {
            return;
        }
        for id in late {
            self.cancel_effect(id);
            self.submission_checked(id, Validity::Unknown);
        }
        // As after a tick, so that one before this input changes nothing (law 3).
        self.next_turn();
        self.store_waiting();
    }

    /// Forgets the checks of a turn that is cancelled.
    pub(super) fn drop_submissions(&mut self) {
        let open = self.turn.as_mut().map(|turn| &mut turn.submissions);
        for id in open.map(core::mem::take).unwrap_or_default().into_keys() {
            self.cancel_effect(id);
        }
    }
}
