//! Submissions of structured output, and results of MCP servers: checked as
//! effects, each with a deadline (RT-SCHM-009).

use super::AgentSession;
use crate::agent_loop::{LoopInput, StructuredLimits};
use crate::effect::{EffectId, Request};
use crate::json::RawJson;
use crate::structured::{OutputSchema, Validation, Validity};
use crate::text::cut;
use crate::time::Instant;
use crate::tool::ToolOutcome;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What is being checked.
#[derive(Clone, Debug)]
pub(super) struct Submission {
    /// Place of the call in its batch.
    place: usize,
    /// The result of that call if it fits; `None` where the call submits.
    outcome: Option<ToolOutcome>,
    /// When nobody waits any longer.
    due: Instant,
}

/// The result of a call whose structured content nobody could check in time.
const UNCHECKED: &str = "The structured content of this result could not be checked in time.";

impl AgentSession {
    /// Asks for structured output by this schema, or else by the one that is
    /// configured, from now on. A schema is one that its validator can use.
    pub(super) fn require_output(&mut self, schema: Option<OutputSchema>) {
        if schema.is_some() {
            Arc::make_mut(&mut self.config).output_schema = schema;
        }
        if let Some(schema) = &self.config.output_schema {
            let limits = StructuredLimits::of(&self.config.limits);
            self.agent_loop.require_output(schema, limits);
        }
    }

    /// Has a submission checked. Nobody is asked for permission: a submission
    /// touches nothing.
    pub(super) fn check_submission(&mut self, place: usize, value: RawJson) {
        if let Some(schema) = self.config.output_schema.clone() {
            self.hold_against(place, schema, value, None);
        }
    }

    /// Has the structured content of a result checked.
    pub(super) fn check_outcome(
        &mut self,
        place: usize,
        schema: OutputSchema,
        value: RawJson,
        outcome: ToolOutcome,
    ) {
        self.hold_against(place, schema, value, Some(outcome));
    }

    fn hold_against(
        &mut self,
        place: usize,
        schema: OutputSchema,
        value: RawJson,
        outcome: Option<ToolOutcome>,
    ) {
        let due = self.now.after(self.config.limits.validation_timeout);
        let id = self.start(Request::Validate(Box::new(Validation { schema, value })));
        let submission = Submission {
            place,
            outcome,
            due,
        };
        if let Some(turn) = &mut self.turn {
            turn.submissions.insert(id, submission);
        }
    }

    /// The validator has answered.
    pub(super) fn submission_checked(&mut self, id: EffectId, validity: Validity) {
        let submissions = self.turn.as_mut().map(|turn| &mut turn.submissions);
        let Some(Submission { place, outcome, .. }) = submissions.and_then(|open| open.remove(&id))
        else {
            return;
        };
        let Some(outcome) = outcome else {
            return self.feed_loop(LoopInput::Validated { place, validity });
        };
        let outcome = match validity {
            Validity::Fits => outcome,
            Validity::Breaks(faults) => ToolOutcome::error(self.told_faults(&faults)),
            Validity::Unknown => ToolOutcome::error(UNCHECKED),
        };
        self.call_ended(place, outcome);
    }

    /// What does not fit, within the bounds; redacted before it is cut (DEC-30).
    fn told_faults(&self, faults: &[String]) -> String {
        let limits = &self.config.limits;
        let mut text = String::from(
            "The structured content of this result does not fit what its tool declares:",
        );
        for fault in faults.iter().take(limits.structured_faults) {
            text.push_str("\n- ");
            let fault = crate::text::one_line(&self.safe(fault));
            text.push_str(&cut(&fault, limits.structured_fault_chars));
        }
        if faults.len() > limits.structured_faults {
            text.push_str("\n- and more");
        }
        text
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
