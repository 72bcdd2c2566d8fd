//! Prompt suggestions: what the user may want to say next (DEC-43).
//!
//! ```text
//! result -> Start(Model) -> prompt_suggestion -> idle
//!              |  a prompt, an interrupt, the end of the input
//!              +--------------------------------------------> idle
//! ```
//!
//! One more model request behind the result of a turn that went well. `idle`
//! waits for it a bounded time, and nothing else does: it is in no history and in
//! no books but the budget, and whatever keeps it from a suggestion is at most a
//! warning.

use super::AgentSession;
use super::Stage;
use crate::agent_loop::{Aside, AsideLimits};
use crate::effect::{EffectId, Request};
use crate::model::{Delta, ModelOutcome};
use crate::schema::outbound::{Outbound, PromptSuggestion};
use crate::text::one_line;
use crate::time::Instant;
use alloc::boxed::Box;
use alloc::format;

/// What the model is asked.
const QUESTION: &str = "Predict the next message that the user is most likely to send in this \
conversation. Answer with that message alone, in the language of the user: one line, without \
quotation marks, introduction or explanation. Answer with nothing if no message is likely.";

/// A suggestion that is on its way.
#[derive(Debug)]
pub(super) struct Suggestion {
    id: EffectId,
    aside: Aside,
    due: Instant,
}

impl AgentSession {
    /// Asks for a suggestion behind the result of a turn that went well; whether
    /// `idle` has to wait for it.
    pub(super) fn begin_suggestion(&mut self) -> bool {
        let wanted = self.prompt_suggestions && self.stage == Stage::Open && self.queue.is_empty();
        if !wanted {
            return false;
        }
        let limits = &self.config.limits;
        let aside = AsideLimits {
            history_bytes: limits.suggestion_history_bytes,
            output_tokens: limits.suggestion_tokens,
            answer_bytes: limits.suggestion_answer_bytes,
        };
        let due = self.now.after(limits.suggestion_timeout);
        let Some((request, aside)) = self.agent_loop.ask_aside(QUESTION, &aside) else {
            return false;
        };
        let id = self.start(Request::Model(Box::new(request)));
        self.suggestion = Some(Box::new(Suggestion { id, aside, due }));
        true
    }

    /// Takes a delta that is the suggestion's; gives back any other.
    pub(super) fn suggestion_delta(&mut self, id: EffectId, delta: Delta) -> Option<Delta> {
        match &mut self.suggestion {
            Some(suggestion) if suggestion.id == id => {
                if !suggestion.aside.delta(delta) {
                    self.give_up_suggestion("the answer is too long");
                }
                None
            }
            Some(_) | None => Some(delta),
        }
    }

    /// Takes the end of the suggestion's request; gives back any other.
    pub(super) fn suggestion_done(
        &mut self,
        id: EffectId,
        outcome: ModelOutcome,
    ) -> Option<ModelOutcome> {
        let Some(suggestion) = self.suggestion.take_if(|suggestion| suggestion.id == id) else {
            return Some(outcome);
        };
        if let ModelOutcome::Failed(failure) = &outcome {
            self.warn(format!("no prompt suggestion: {}", failure.message));
        }
        let text = self.agent_loop.aside_done(suggestion.aside, &outcome);
        let text = text.unwrap_or_default();
        let line = text.lines().map(str::trim).find(|line| !line.is_empty());
        if let Some(line) = line {
            self.suggest(line);
        }
        self.after_result();
        None
    }

    fn suggest(&mut self, line: &str) {
        let limit = self.config.limits.suggestion_chars;
        if line.chars().count() > limit {
            return self.warn(format!(
                "no prompt suggestion: it has more than {limit} characters"
            ));
        }
        let suggestion = self.safe(&one_line(line));
        self.send(&Outbound::PromptSuggestion(PromptSuggestion { suggestion }));
    }

    /// Stops the request for a suggestion, if there is one; whether `idle` has
    /// waited for it.
    pub(super) fn drop_suggestion(&mut self) -> bool {
        let Some(suggestion) = self.suggestion.take() else {
            return false;
        };
        self.cancel_effect(suggestion.id);
        self.agent_loop.aside_dropped(&suggestion.aside);
        true
    }

    /// Goes on to `idle` without a suggestion, if one is on its way.
    pub(super) fn abort_suggestion(&mut self) {
        if self.drop_suggestion() {
            self.after_result();
        }
    }

    fn give_up_suggestion(&mut self, why: &str) {
        self.warn(format!("no prompt suggestion: {why}"));
        self.abort_suggestion();
    }

    /// When the suggestion is given up.
    pub(super) fn suggestion_due(&self) -> Option<Instant> {
        self.suggestion.as_ref().map(|suggestion| suggestion.due)
    }

    /// Gives up a suggestion whose time is over.
    pub(super) fn give_up_late_suggestion(&mut self) {
        if self.suggestion_due().is_some_and(|due| due <= self.now) {
            self.give_up_suggestion("the model took too long");
        }
    }
}
