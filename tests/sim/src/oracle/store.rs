//! What a session promises is stored (DEC-32): nothing is asked of the world before
//! the store has what led to it, no result leaves before its turn is stored, and
//! what was acknowledged is there after a crash.

use super::model::Model;
use super::said::Said;
use super::{Judged, Oracle, broken};
use crate::event::Event;
use crate::fault::Fault;
use agentx_core::agent::{Config, Input, Output};
use agentx_core::effect::{Answer, EffectId, Request, Verdict};
use agentx_core::model::{Block, Message, ModelRequest};
use agentx_core::store::{Beginning, Entry, EntryBlock};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What the store has, as far as it said so.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    /// What the store has, of all lives.
    entries: Vec<Entry>,
    /// How many of them were acknowledged.
    acknowledged: usize,
    /// Batches under way.
    batches: BTreeMap<EffectId, (u64, Arc<[Entry]>)>,
    /// Calls whose answers are stored.
    calls: BTreeSet<Arc<str>>,
    /// Prompts whose ends are stored.
    turns: BTreeSet<Arc<str>>,
    /// Whether a batch of the running turn failed.
    failed: bool,
    /// What was lost on purpose.
    lossy: bool,
    /// Whether the first request of this life was seen.
    asked: bool,
    /// How many entries this life began with.
    read_back: usize,
}

impl Stored {
    fn keeps(&mut self, entries: &[Entry]) {
        for entry in entries {
            match entry {
                Entry::Answer(answer) => {
                    let calls = answer.content.iter().filter_map(|block| match block {
                        EntryBlock::Call(call) => Some(Arc::clone(&call.id)),
                        _ => None,
                    });
                    self.calls.extend(calls);
                }
                Entry::Turn(turn) => {
                    self.turns.insert(Arc::clone(&turn.prompt_uuid));
                }
                _ => {}
            }
        }
    }

    fn began_batch(&mut self, id: EffectId, first: u64, entries: &Arc<[Entry]>) -> Judged {
        if !self.batches.is_empty() {
            return broken(
                "one batch is under way at a time",
                "DEC-32",
                "there are two",
            );
        }
        let count = self.acknowledged as u64;
        if first != count {
            let what = format!("a batch begins at {first}, and {count} are stored");
            return broken("entries are numbered without a gap", "DEC-32", what);
        }
        self.batches.insert(id, (first, Arc::clone(entries)));
        Ok(())
    }

    fn settled(&mut self, id: EffectId, verdict: Verdict) -> Judged {
        let Some((_, entries)) = self.batches.remove(&id) else {
            return Ok(());
        };
        match verdict {
            Verdict::Passed => {
                let from = self.acknowledged;
                self.acknowledged += entries.len();
                if self.entries.get(from..self.acknowledged) != Some(&*entries) {
                    return broken("what was acknowledged is stored", "DEC-32", "it is not");
                }
                self.keeps(&entries);
            }
            Verdict::Failed => self.failed = true,
        }
        Ok(())
    }

    fn requested(&mut self, model: &Model, request: &ModelRequest) -> Judged {
        let whole = !std::mem::replace(&mut self.asked, true);
        let history = &request.history;
        // Older messages were looked at with earlier requests.
        let from = if whole {
            0
        } else {
            history.len().saturating_sub(4)
        };
        let mut open: Option<Vec<&str>> = None;
        for message in history.iter().skip(from) {
            let results = match &**message {
                Message::ToolResults(results) => Some(results),
                Message::User(_) | Message::Assistant(_) => None,
            };
            if let Some(calls) = open.take() {
                let told: Vec<_> = results
                    .into_iter()
                    .flatten()
                    .map(|result| &*result.tool_use_id)
                    .collect();
                if told != calls {
                    let what = format!("the calls {calls:?} are followed by {told:?}");
                    return broken("every call is followed by its result", "DEC-26", what);
                }
            }
            if let Message::Assistant(blocks) = &**message {
                let calls: Vec<_> = blocks
                    .iter()
                    .filter_map(|block| match block {
                        Block::ToolCall(call) => Some(&*call.id),
                        _ => None,
                    })
                    .collect();
                open = (!calls.is_empty()).then_some(calls);
            }
        }
        if whole && let Some(lost) = self.not_in(history) {
            let what = format!("{lost:?} is stored, and the model does not read it");
            return broken("what is stored is read back", "DEC-32", what);
        }
        if open.is_some() {
            return broken(
                "every call is followed by its result",
                "DEC-26",
                "the last is not",
            );
        }
        let prompts = self.entries.iter().rev();
        let prompted = prompts.take_while(|entry| !matches!(entry, Entry::Turn(_)));
        let prompted = prompted
            .filter(|entry| matches!(entry, Entry::Prompt(_)))
            .count();
        if model.rules.stores && !self.failed && prompted == 0 && model.turn && !model.lags() {
            return broken(
                "a prompt is stored before it is asked",
                "DEC-32",
                "it is not",
            );
        }
        Ok(())
    }

    /// What users of earlier lives have said and a history does not have, in order.
    fn not_in(&self, history: &[Arc<Message>]) -> Option<&str> {
        let mut texts = history.iter().flat_map(|message| match &**message {
            Message::User(parts) => parts.as_slice(),
            Message::Assistant(_) | Message::ToolResults(_) => &[],
        });
        let read_back = self.entries.iter().take(self.read_back);
        let mut said = read_back.flat_map(|entry| match entry {
            Entry::Prompt(entry) => entry.content.as_slice(),
            Entry::Context(entry) => entry.content.as_slice(),
            _ => &[],
        });
        said.find(|said| !texts.any(|text| text == *said))
            .map(String::as_str)
    }

    /// Whether a prompt of this uuid was read back.
    fn has_read(&self, uuid: &str) -> bool {
        let mut read_back = self.entries.iter().take(self.read_back);
        read_back.any(|entry| match entry {
            Entry::Prompt(entry) => *entry.uuid == *uuid,
            Entry::Context(entry) => *entry.uuid == *uuid,
            _ => false,
        })
    }

    fn runs(&self, model: &Model, call: &Arc<str>) -> Judged {
        if model.rules.stores && !self.failed && !self.calls.contains(call) {
            let what = format!("{call} runs, and the answer that calls it is not stored");
            return broken("an answer is stored before its calls run", "DEC-32", what);
        }
        Ok(())
    }
}

impl Oracle for Stored {
    fn began(&mut self, config: &Config) {
        let resumed = config.store.as_ref().map(|store| &store.beginning);
        if !matches!(resumed, Some(Beginning::Resumed(_))) {
            *self = Self::default();
        }
        self.batches.clear();
        (self.failed, self.asked) = (false, false);
        self.read_back = self.entries.len();
    }

    fn input(&mut self, _model: &Model, input: &Input<'_>) -> Judged {
        if let Input::Done(id, Answer::Stored(verdict)) = input {
            return self.settled(*id, *verdict);
        }
        Ok(())
    }

    fn output(&mut self, model: &Model, output: &Output) -> Judged {
        match output {
            Output::Start(id, Request::Store(batch)) => {
                self.began_batch(*id, batch.first, &batch.entries)
            }
            Output::Start(_, Request::Model(request)) => self.requested(model, request),
            Output::Start(_, Request::Tool(run)) => self.runs(model, &run.call.id),
            Output::Start(_, Request::Task(run)) => self.runs(model, &run.tool.call.id),
            _ => Ok(()),
        }
    }

    fn said(&mut self, model: &Model, _line: &[u8], said: &Said<'_>) -> Judged {
        let Said::Result(ending) = said else {
            return Ok(());
        };
        if ending.never_ran() {
            return Ok(());
        }
        let failed = self.failed;
        // Where records lag this may be of a later turn.
        self.failed &= model.lags();
        let uuid = ending.prompt.as_deref().unwrap_or_default();
        // Of so many, none is forgotten.
        let remembers = model.rules.limits.seen_prompts > 1_000;
        if remembers && !uuid.is_empty() && self.has_read(uuid) {
            let what = format!("{uuid} has run in an earlier life");
            return broken("a prompt runs in one life", "DEC-44", what);
        }
        if model.rules.stores && !self.turns.contains(uuid) {
            if !failed {
                let what = format!("the result of {uuid} leaves, and its end is not stored");
                return broken("a result leaves when its turn is stored", "DEC-32", what);
            }
            if ending.success {
                let what = format!("{uuid} could not be stored, and went well");
                return broken("what is not stored did not go well", "DEC-32", what);
            }
        }
        Ok(())
    }

    fn event(&mut self, _model: &Model, event: &Event<'_>) -> Judged {
        match event {
            Event::Fault(Fault::SyncLoss) => self.lossy = true,
            Event::Crashed { kept } => {
                let kept = usize::try_from(*kept).unwrap_or(usize::MAX);
                let count = self.acknowledged;
                if kept < count && !std::mem::take(&mut self.lossy) {
                    let what = format!("{kept} entries are left of {count}");
                    return broken("what was acknowledged stays", "DEC-32", what);
                }
                self.entries.truncate(kept);
                self.acknowledged = self.entries.len();
                let entries = std::mem::take(&mut self.entries);
                self.keeps(&entries);
                self.entries = entries;
            }
            Event::Stored(entries) => self.entries.extend(entries.iter().cloned()),
            _ => {}
        }
        Ok(())
    }
}
