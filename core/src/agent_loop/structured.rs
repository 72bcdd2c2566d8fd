//! The run's structured output: what was submitted, and when to ask again.
//!
//! ```text
//! answer -> a call of the tool -> validate -> accepted    the last one counts
//!        \                                 -> refused     told why, a retry
//!         -> no call, none accepted        -> reminded    a retry
//! ```
//!
//! Acceptance does not end the turn (RT-RES-008): the model ends it, or a limit.

use super::{AgentLoop, Kept, Step, TurnOutcome};
use crate::guard::Guard;
use crate::json::RawJson;
use crate::limits::Limits;
use crate::model::{Block, Message, StopReason};
use crate::structured::{OutputSchema, Shape, TOOL, Validity};
use crate::tool::{ToolCall, ToolOutcome};
use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// How often a model may try, and how much it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StructuredLimits {
    /// Failures that are told to the model and tried again (DEC-42).
    pub retries: u32,
    /// A submission, in bytes (RT-SCHM-010).
    pub bytes: usize,
    /// Arrays and objects open at once in a submission (RT-SCHM-010).
    pub depth: usize,
    /// Faults that one refusal tells.
    pub faults: usize,
    /// Characters of one fault that are told.
    pub fault_chars: usize,
}

impl StructuredLimits {
    /// Those of a session.
    #[must_use]
    pub const fn of(limits: &Limits) -> Self {
        Self {
            retries: limits.structured_retries,
            bytes: limits.structured_bytes,
            depth: limits.structured_depth,
            faults: limits.structured_faults,
            fault_chars: limits.structured_fault_chars,
        }
    }
}

/// The output that a loop has to bring.
#[derive(Debug)]
pub(super) struct Structured {
    limits: StructuredLimits,
    /// The newest accepted submission of this prompt.
    accepted: Option<RawJson>,
    /// Its place, if it is of this answer.
    place: Option<usize>,
    /// Failures of this prompt that count.
    failures: u32,
    /// What the newest failure was.
    fault: String,
    /// Whether a submission of this answer was refused.
    refused: bool,
}

impl Structured {
    const fn new(limits: StructuredLimits) -> Self {
        Self {
            limits,
            accepted: None,
            place: None,
            failures: 0,
            fault: String::new(),
            refused: false,
        }
    }

    /// Notes a failed submission; gives the text of its result.
    fn refuse(&mut self, fault: String) -> String {
        let text = format!("Error: {fault}");
        self.fault = fault;
        self.refused = true;
        text
    }

    /// Counts a failure; gives the turn's end once no retry is left.
    fn fail(&mut self) -> Option<TurnOutcome> {
        self.failures = self.failures.saturating_add(1);
        (self.failures > self.limits.retries).then(|| TurnOutcome::NoStructuredOutput {
            retries: self.limits.retries,
            fault: core::mem::take(&mut self.fault),
        })
    }

    /// What does not fit, within the bounds. Redacted before it is cut, since half
    /// a credential is no credential to the guard (DEC-30).
    fn faults(&self, faults: &[String], guard: &Guard) -> String {
        let mut text = String::from("the input does not fit the schema of this tool:");
        for fault in faults.iter().take(self.limits.faults) {
            text.push_str("\n- ");
            let fault = guard.redact(fault);
            let mut chars = fault.chars();
            let shown = chars.by_ref().take(self.limits.fault_chars);
            text.extend(shown.map(|c| if c.is_control() { ' ' } else { c }));
            if chars.next().is_some() {
                text.push('…');
            }
        }
        if faults.len() > self.limits.faults {
            text.push_str("\n- and more");
        }
        text
    }
}

const ACCEPTED: &str = "Accepted as the output of this task.";

const UNCHECKED: &str = "the input could not be checked in time; it was not accepted";

const REMINDER: &str = "The task is not done: it needs a call of the tool StructuredOutput that is \
     accepted, and your answer ended without one. Call it now, with an input that fits its schema.";

const REMINDER_AT_LIMIT: &str = "The task is not done: your answer reached the output limit before \
     a call of the tool StructuredOutput was whole. Call it now, with a shorter input that fits its \
     schema.";

impl AgentLoop {
    /// Asks for structured output from now on, of a turn that runs, too: offers
    /// its tool, and ends no turn well before an input of it was accepted.
    /// Replaces what was asked for before, and any other tool of that name.
    pub fn require_output(&mut self, schema: &OutputSchema, limits: StructuredLimits) {
        let others = self.config.tools.iter().filter(|tool| &*tool.name != TOOL);
        let mut tools: Vec<_> = others.cloned().collect();
        tools.push(schema.tool());
        self.config.tools = tools.into();
        self.structured = Some(Box::new(Structured::new(limits)));
    }

    /// A prompt begins.
    pub(super) fn begin_output(&mut self) {
        if let Some(structured) = &mut self.structured {
            **structured = Structured::new(structured.limits);
        }
    }

    /// The calls of an answer begin.
    pub(super) fn begin_submissions(&mut self) {
        if let Some(structured) = &mut self.structured {
            structured.place = None;
            structured.refused = false;
        }
    }

    /// Whether this call is a submission.
    fn submits(&self, call: &ToolCall) -> bool {
        self.structured.is_some() && &*call.name == TOOL
    }

    /// Whether the call at this place is a submission that has no result yet.
    pub(super) fn awaits_validation(&self, place: usize) -> bool {
        let submits = |call| self.submits(call);
        self.batch.call(place).is_some_and(submits) && self.batch.unsettled().contains(&place)
    }

    /// Takes a call if it is a submission: `fault` is what is wrong with its
    /// arguments. Gives back one that is another tool's.
    pub(super) fn submission(
        &mut self,
        place: usize,
        call: Result<ToolCall, String>,
    ) -> Option<Result<ToolCall, String>> {
        let submits = self
            .batch
            .call(place)
            .is_some_and(|call| self.submits(call));
        let Some(structured) = self.structured.as_mut().filter(|_| submits) else {
            return Some(call);
        };
        let fault = match call {
            Err(fault) => fault,
            Ok(call) if call.input.as_str().len() > structured.limits.bytes => {
                format!("the input is over {} bytes", structured.limits.bytes)
            }
            Ok(call) if Shape::of(&call.input).depth > structured.limits.depth => {
                format!(
                    "the input is nested deeper than {} levels",
                    structured.limits.depth
                )
            }
            Ok(ToolCall { input: value, .. }) => {
                self.out.push_back(Step::Validate { place, value });
                return None;
            }
        };
        let text = structured.refuse(fault);
        self.settle(place, ToolOutcome::error(text));
        None
    }

    /// A submission was held against the schema.
    pub(super) fn validated(&mut self, place: usize, validity: &Validity) {
        let value = self.batch.call(place).map(|call| call.input.clone());
        let Some(structured) = &mut self.structured else {
            return;
        };
        let outcome = match validity {
            Validity::Fits => {
                // Of several in one answer the last one counts, whichever was
                // checked first (RT-RES-009).
                if structured.place.is_none_or(|newest| newest < place) {
                    structured.accepted = value;
                    structured.place = Some(place);
                }
                ToolOutcome::text(ACCEPTED)
            }
            Validity::Breaks(faults) => {
                let fault = structured.faults(faults, &self.config.guard);
                ToolOutcome::error(structured.refuse(fault))
            }
            Validity::Unknown => ToolOutcome::error(structured.refuse(UNCHECKED.to_owned())),
        };
        self.settle(place, outcome);
    }

    /// How the turn ends once the calls of an answer have settled, if structured
    /// output ends it. Failures count as long as nothing was accepted.
    pub(super) fn output_after_calls(&mut self) -> Option<TurnOutcome> {
        let structured = self.structured.as_mut()?;
        if structured.accepted.is_none() && structured.refused {
            return structured.fail();
        }
        // Nothing is left to be said where only the output was handed over, and
        // a limit must not take away what was accepted.
        let mut calls = self.batch.calls();
        if structured.place.is_none() || !calls.all(|call| &*call.name == TOOL) {
            return None;
        }
        self.kept_at_limit(TurnOutcome::Done {
            stop: StopReason::EndTurn,
            text: self.last_text(),
            structured: None,
        })
    }

    /// What becomes of a turn that the model has ended well and that others want
    /// to go on (hooks, news of tasks), where the turn limit forbids that: output
    /// that was accepted stays its output. `None` where the turn goes on or none
    /// was accepted.
    pub(super) fn kept_at_limit(&self, done: TurnOutcome) -> Option<TurnOutcome> {
        self.turn_limit_reached()?;
        let accepted = self.structured.as_ref()?.accepted.clone()?;
        let TurnOutcome::Done { stop, text, .. } = done else {
            return None;
        };
        Some(TurnOutcome::Done {
            stop,
            text,
            structured: Some(accepted),
        })
    }

    /// How a turn ends that the model ended. `None` where it is asked again,
    /// since nothing was accepted; a refusal stands (DEC-41).
    pub(super) fn output_at_end(&mut self, stop: StopReason, text: String) -> Option<TurnOutcome> {
        let Some(structured) = &mut self.structured else {
            return Some(TurnOutcome::Done {
                stop,
                text,
                structured: None,
            });
        };
        if structured.accepted.is_some() || stop == StopReason::Refusal {
            return Some(TurnOutcome::Done {
                stop,
                text,
                structured: structured.accepted.clone(),
            });
        }
        "the model ended its answer without a call of StructuredOutput"
            .clone_into(&mut structured.fault);
        let failed = structured.fail();
        if failed.is_some() {
            return failed;
        }
        let reminder = if stop == StopReason::MaxTokens {
            REMINDER_AT_LIMIT
        } else {
            REMINDER
        };
        let message = Arc::new(Message::User(vec![reminder.to_owned()]));
        self.history.push(Arc::clone(&message));
        self.out.push_back(Step::Kept(Kept::Reminder(message)));
        None
    }

    /// The output that was accepted of this prompt, if there is one.
    pub(super) fn accepted_output(&self) -> Option<RawJson> {
        self.structured.as_ref()?.accepted.clone()
    }

    /// The text of the newest answer.
    fn last_text(&self) -> String {
        let newest = self
            .history
            .iter()
            .rev()
            .find_map(|message| match &**message {
                Message::Assistant(blocks) => Some(blocks.as_slice()),
                Message::User(_) | Message::ToolResults(_) => None,
            });
        let blocks: &[Block] = newest.unwrap_or_default();
        self.config
            .guard
            .redact(&super::text_of(blocks))
            .into_owned()
    }
}
