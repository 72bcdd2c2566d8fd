//! The end of a turn, which its background tasks hold (WIRE-004).

use super::batch::Batch;
use super::{AgentLoop, Kept, Phase, Step, TurnOutcome};
use crate::lazy::Empty;
use crate::model::Message;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Background tasks of the turn, as far as the loop needs to know.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    running: usize,
    /// What the model is to be told of those that ended.
    notices: Vec<String>,
    /// How the turn ends once the last one has.
    outcome: Option<TurnOutcome>,
}

impl Empty for Tasks {
    const EMPTY: &'static Self = &Self {
        running: 0,
        notices: Vec::new(),
        outcome: None,
    };
}

impl Tasks {
    pub(super) const fn begin(&mut self) {
        self.running = self.running.saturating_add(1);
    }

    pub(super) const fn is_running(&self) -> bool {
        self.running > 0
    }

    /// Whether the turn cannot end yet: one runs, or was not told of.
    pub(super) const fn hold_the_end(&self) -> bool {
        self.running > 0 || !self.notices.is_empty()
    }
}

impl AgentLoop {
    /// Ends the turn, as soon as its tasks have ended.
    pub(super) fn end(&mut self, outcome: TurnOutcome) {
        if !self.tasks.hold_the_end() {
            return self.end_now(outcome);
        }
        self.phase = Phase::Waiting;
        self.batch = Batch::default();
        self.tasks.outcome = Some(outcome);
        self.after_tasks();
    }

    /// Goes on with a turn that waits, once none of its tasks runs. The model is
    /// asked once more after an answer that ended well, unless the turn limit
    /// forbids that and nothing is missing; else it is told with the next prompt.
    pub(super) fn after_tasks(&mut self) {
        if self.phase != Phase::Waiting || self.tasks.running > 0 {
            return;
        }
        self.keep_notices();
        match self.tasks.outcome.take() {
            Some(done @ TurnOutcome::Done { .. }) => match self.kept_at_limit(done) {
                Some(outcome) => self.may_end(outcome),
                None => self.request_again(),
            },
            Some(outcome) => self.end_now(outcome),
            None => {}
        }
    }

    /// Puts what is to be told of tasks into the history, as one message.
    pub(super) fn keep_notices(&mut self) {
        let notices = core::mem::take(&mut self.tasks.notices);
        if !notices.is_empty() {
            let message = Arc::new(Message::User(notices));
            self.history.push(Arc::clone(&message));
            self.out.push_back(Step::Kept(Kept::Notices(message)));
        }
    }

    pub(super) fn task_ended(&mut self, notice: &str) {
        self.tasks.running = self.tasks.running.saturating_sub(1);
        let notice = self.config.guard.redact(notice).into_owned();
        self.tasks.notices.push(notice);
    }
}
