//! What of a session is stored, and what waits for that (DEC-32).
//!
//! Nothing is asked of the world before the store has what led to it: the first
//! model request of a turn waits for its prompt, a tool for the answer that
//! calls it, and the result record for all entries of its turn. Whatever else a
//! session does waits for nothing.
//!
//! A batch that fails ends its turn with an error result, and what runs is
//! cancelled. Its entries stay, and go with the first batch of the next turn, so
//! that what is stored never has a gap.

use super::records;
use super::turns::CANCELLED;
use super::{AgentSession, Stage};
use crate::agent_loop::{Kept, LoopInput, TurnEnd};
use crate::effect::{EffectId, Request, Verdict};
use crate::mark::mark;
use crate::model::{Message, ModelRequest, ToolResult};
use crate::plant::planted;
use crate::store::{
    self, AnswerEntry, ContextEntry, Entry, NoticeEntry, PromptEntry, ResultEntry, TurnEntry,
};
use crate::tool::{Access, ToolCall};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What the error result of a turn says whose entries could not be stored.
pub(super) const NOT_STORED: &str =
    "the session could not be stored; what this turn did may be lost when the process ends";

/// What the results of calls say that a failed store left open.
const STORE_FAILED: &str = "Cancelled: the session could not be stored.";

/// What waits until entries are stored.
#[derive(Debug)]
pub(super) enum Held {
    /// A model request.
    Request(Box<ModelRequest>),
    /// A tool run.
    Run {
        place: usize,
        call: ToolCall,
        access: Access,
    },
    /// The end of the turn.
    End(TurnEnd),
}

impl AgentSession {
    /// Notes a message that joined the history.
    pub(super) fn keep(&mut self, kept: Kept) {
        // Told now, whether it is stored or not.
        let task_ids = match &kept {
            Kept::Notices(_) => self.tasks.take_untold(),
            Kept::Context(_) | Kept::Prompt(_) | Kept::Reminder(_) | Kept::Answer { .. } => {
                Vec::new()
            }
        };
        let Some(journal) = &self.journal else {
            return;
        };
        let time_ms = journal.time_ms(self.now);
        let entry = match kept {
            Kept::Notices(message) => Entry::Notice(NoticeEntry {
                time_ms,
                task_ids,
                content: self.safe_parts(&message),
            }),
            Kept::Context(message) => Entry::Context(ContextEntry {
                time_ms,
                uuid: self.context_uuids.pop_front().unwrap_or_default(),
                content: self.safe_parts(&message),
            }),
            Kept::Reminder(message) => Entry::Context(ContextEntry {
                time_ms,
                uuid: Arc::default(),
                content: self.safe_parts(&message),
            }),
            Kept::Prompt(message) => Entry::Prompt(PromptEntry {
                time_ms,
                uuid: self
                    .turn
                    .as_ref()
                    .map(|turn| Arc::clone(&turn.prompt_uuid))
                    .unwrap_or_default(),
                content: self.safe_parts(&message),
            }),
            Kept::Answer { message, usage } => Entry::Answer(AnswerEntry {
                time_ms,
                content: store::blocks(&message),
                usage,
            }),
        };
        let barrier = self.journal.as_mut().map(|journal| {
            journal.push(entry);
            journal.written()
        });
        if let (Some(turn), Some(barrier)) = (&mut self.turn, barrier) {
            turn.barrier = barrier;
        }
    }

    /// What the user said, without credentials (DEC-30).
    fn safe_parts(&self, message: &Message) -> Vec<String> {
        match message {
            Message::User(parts) => parts.iter().map(|part| self.safe(part)).collect(),
            Message::Assistant(_) | Message::ToolResults(_) => Vec::new(),
        }
    }

    /// Notes the result of a call.
    pub(super) fn keep_result(&mut self, result: &ToolResult) {
        if let Some(journal) = &mut self.journal {
            journal.push(Entry::Result(ResultEntry {
                time_ms: journal.time_ms(self.now),
                tool_use_id: Arc::clone(&result.tool_use_id),
                content: store::result_content(&result.content),
                is_error: result.is_error,
            }));
        }
    }

    /// Notes the end of the turn.
    fn keep_end(&mut self, end: &TurnEnd) {
        let dropped_calls = self.agent_loop.take_dropped_calls();
        if let (Some(journal), Some(turn)) = (&mut self.journal, &mut self.turn) {
            let (stop_reason, is_error) = records::stop_of(&end.outcome);
            journal.push(Entry::Turn(TurnEntry {
                time_ms: journal.time_ms(self.now),
                prompt_uuid: Arc::clone(&turn.prompt_uuid),
                stop_reason,
                is_error,
                num_turns: end.requests.into(),
                usage: end.usage,
                dropped_calls,
            }));
            turn.barrier = journal.written();
        }
    }

    /// Goes on with this once everything that led to it is stored.
    ///
    /// Gives what the loop has to be told at once.
    pub(super) fn when_stored(&mut self, held: Held) -> Option<LoopInput> {
        if let Held::End(end) = &held {
            self.keep_end(end);
        }
        self.store_waiting();
        let (Some(journal), Some(turn)) = (&self.journal, &mut self.turn) else {
            return self.release(held);
        };
        // A closed output shows no result that could wait, and after a failure
        // nothing else begins.
        let early = match &held {
            Held::End(_) => planted!(self.planted, Dec32),
            Held::Run { .. } => planted!(self.planted, Dec32Tool),
            Held::Request(_) => false,
        };
        if journal.has_stored(turn.barrier)
            || journal.has_failed()
            || self.stage == Stage::Latched
            || early
        {
            return self.release(held);
        }
        mark!(self.marks, DEC_32);
        turn.held.push_back((turn.barrier, held));
        None
    }

    fn release(&mut self, held: Held) -> Option<LoopInput> {
        match held {
            Held::Request(request) => self.ask_model(request),
            Held::Run {
                place,
                call,
                access,
            } => return self.run_tool(place, call, access),
            Held::End(end) => self.end_turn(end),
        }
        None
    }

    /// Hands the entries that wait to the store, if it has none in hand. No
    /// entry leaves that holds a credential (WIRE-013, DEC-30).
    pub(super) fn store_waiting(&mut self) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        let Some(entries) = journal.take_waiting() else {
            return;
        };
        let guard = &self.config.credentials;
        if !guard.is_empty()
            && entries
                .iter()
                .any(|entry| guard.check(&entry.to_json()).is_err())
        {
            // What would follow could not be understood without these entries.
            self.journal = None;
            return self
                .latch("an entry for the session store held a credential and was not stored");
        }
        let mut batch = journal.batch(entries, self.now);
        if let Some(opening) = &mut batch.opening {
            // On one line, words may spell what they did not spell apart.
            opening.title = guard.redact(&opening.title).into_owned();
        }
        let entries = Arc::clone(&batch.entries);
        let id = self.start(Request::Store(batch));
        if let Some(journal) = &mut self.journal {
            journal.started(id, entries);
        }
    }

    /// The store has answered.
    pub(super) fn stored(&mut self, id: EffectId, verdict: Verdict) {
        if let Some(journal) = &mut self.journal {
            if planted!(self.planted, Dec32Lost) && verdict == Verdict::Failed {
                journal.lose();
            }
            journal.settle(id, verdict);
        }
        match verdict {
            Verdict::Passed => self.release_stored(),
            Verdict::Failed => self.store_failed(),
        }
        self.store_waiting();
    }

    fn release_stored(&mut self) {
        while let Some(held) = self.next_stored() {
            if let Some(input) = self.release(held) {
                self.feed_loop(input);
            }
        }
    }

    /// The next thing that waited and needs to wait no longer.
    fn next_stored(&mut self) -> Option<Held> {
        let journal = self.journal.as_ref()?;
        let held = &mut self.turn.as_mut()?.held;
        let (barrier, _) = held.front()?;
        if !journal.has_stored(*barrier) {
            return None;
        }
        held.pop_front().map(|(_, held)| held)
    }

    fn store_failed(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        turn.store_failed = true;
        let end = turn
            .held
            .drain(..)
            .map(|(_, held)| held)
            .find(|held| matches!(held, Held::End(_)));
        if let Some(end) = end {
            if let Some(journal) = &mut self.journal {
                journal.fail_turn();
            }
            self.release(end);
            return;
        }
        self.withdraw_questions();
        self.back_to_running();
        self.cancel_turn_because(None, STORE_FAILED);
    }

    /// Ends the turn; `first`: a call that ends in its own way before the others.
    pub(super) fn cancel_turn(&mut self, first: Option<(usize, crate::tool::ToolOutcome)>) {
        if let Some(turn) = &mut self.turn {
            turn.held.retain(|(_, held)| matches!(held, Held::End(_)));
        }
        self.cancel_turn_because(first, CANCELLED);
    }
}
