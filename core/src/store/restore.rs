//! Entries back into a history.

use super::read::EntryFault;
use super::{AnswerEntry, Entry, NoticeEntry, ResultEntry, TaskEntry, TurnEntry};
use crate::model::{Block, Message, ToolResult, Usage};
use crate::tool::ToolContent;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write as _;

/// What the model is told of a call whose outcome nobody recorded. Such a call
/// is never run again (DEC-32).
pub const UNCONFIRMED: &str = "Unconfirmed: the session ended before the outcome of this call was recorded. It may have run, \
     in part or to its end, and it is not run again. Find out what it did before you repeat it.";

/// What the model is told of a background task that ran when the session ended
/// (DEC-32).
fn unconfirmed_task(task: &TaskEntry) -> String {
    let TaskEntry {
        task_id,
        tool_use_id,
        output_file,
        ..
    } = task;
    let mut text = format!(
        "[Task {task_id} of the call {tool_use_id}: unconfirmed. The session ended before the end \
         of this task was recorded. It may have run, in part or to its end, and it does not run \
         on. Find out what it did before you repeat it."
    );
    if !output_file.is_empty() {
        let _ = write!(text, " What it wrote may still lie in {output_file}.");
    }
    text.push(']');
    text
}

/// What a session begins with that was stored before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// The conversation; every call is followed by its result.
    pub history: Vec<Arc<Message>>,
    /// Uuids of prompts and context, oldest first (DEC-44).
    pub prompts: Vec<Arc<str>>,
    /// Ids of calls that are used up (DEC-35).
    pub tool_use_ids: BTreeSet<Arc<str>>,
    /// Tokens of the newest complete answer.
    pub last_usage: Option<Usage>,
    /// How many entries this is made of.
    pub entries: u64,
}

/// Makes a history of entries, one by one in their order.
#[derive(Clone, Debug, Default)]
pub struct Restorer {
    restored: Restored,
    open: Option<OpenCalls>,
    /// Tasks whose end the model was not told.
    tasks: Vec<TaskEntry>,
}

/// The calls of an answer that wait for their results.
#[derive(Clone, Debug)]
struct OpenCalls {
    calls: Vec<Arc<str>>,
    results: BTreeMap<Arc<str>, ToolResult>,
}

impl OpenCalls {
    /// All results in call order; what is missing is unconfirmed.
    fn settle(mut self) -> Message {
        let result = |id: Arc<str>| {
            self.results.remove(&id).unwrap_or_else(|| ToolResult {
                content: vec![ToolContent::Text(UNCONFIRMED.into())],
                is_error: true,
                tool_use_id: id,
            })
        };
        Message::ToolResults(self.calls.into_iter().map(result).collect())
    }
}

impl Restorer {
    /// Nothing restored so far.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next entry.
    ///
    /// # Errors
    ///
    /// An entry that cannot follow those before it.
    pub fn push(&mut self, entry: Entry) -> Result<(), EntryFault> {
        self.restored.entries = self.restored.entries.saturating_add(1);
        match entry {
            Entry::Prompt(entry) => {
                self.settle_all();
                self.said(entry.uuid, Message::User(entry.content));
            }
            Entry::Context(entry) => {
                self.settle_open();
                self.said(entry.uuid, Message::User(entry.content));
            }
            Entry::Answer(entry) => {
                self.settle_open();
                self.answered(entry)?;
            }
            Entry::Result(entry) => self.settled(entry)?,
            Entry::Task(entry) => self.tasks.push(entry),
            Entry::Notice(entry) => self.noticed(entry)?,
            Entry::Turn(TurnEntry { dropped_calls, .. }) => {
                self.settle_open();
                self.restored.tool_use_ids.extend(dropped_calls);
            }
        }
        Ok(())
    }

    /// The end of the entries. A call without a result is unconfirmed, and so is
    /// a task whose end was not told.
    #[must_use]
    pub fn finish(mut self) -> Restored {
        self.settle_all();
        self.restored
    }

    fn said(&mut self, uuid: Arc<str>, message: Message) {
        // A reminder of ours has none.
        if !uuid.is_empty() {
            self.restored.prompts.push(uuid);
        }
        self.restored.history.push(Arc::new(message));
    }

    fn answered(&mut self, entry: AnswerEntry) -> Result<(), EntryFault> {
        self.restored.last_usage = entry.usage.or(self.restored.last_usage);
        let blocks: Vec<Block> = entry.content.into_iter().map(Block::from).collect();
        let mut calls = Vec::new();
        for block in &blocks {
            if let Block::ToolCall(call) = block {
                if !self.restored.tool_use_ids.insert(Arc::clone(&call.id)) {
                    return Err(EntryFault("an entry repeats the id of a call"));
                }
                calls.push(Arc::clone(&call.id));
            }
        }
        self.restored
            .history
            .push(Arc::new(Message::Assistant(blocks)));
        if !calls.is_empty() {
            self.open = Some(OpenCalls {
                calls,
                results: BTreeMap::new(),
            });
        }
        Ok(())
    }

    fn settled(&mut self, entry: ResultEntry) -> Result<(), EntryFault> {
        let stray = EntryFault("an entry has the result of no open call");
        let open = self.open.as_mut().ok_or(stray)?;
        let id = entry.tool_use_id;
        if !open.calls.contains(&id) || open.results.contains_key(&id) {
            return Err(stray);
        }
        let content = entry.content.into_iter();
        let result = ToolResult {
            tool_use_id: Arc::clone(&id),
            content: content.map(|part| ToolContent::Text(part.text)).collect(),
            is_error: entry.is_error,
        };
        open.results.insert(id, result);
        if open.results.len() == open.calls.len() {
            self.settle_open();
        }
        Ok(())
    }

    fn noticed(&mut self, entry: NoticeEntry) -> Result<(), EntryFault> {
        self.settle_open();
        for id in &entry.task_ids {
            let at = self.tasks.iter().position(|task| task.task_id == *id);
            let at = at.ok_or(EntryFault("an entry tells of no open task"))?;
            self.tasks.remove(at);
        }
        let message = Message::User(entry.content);
        self.restored.history.push(Arc::new(message));
        Ok(())
    }

    /// What no entry settles any more.
    fn settle_all(&mut self) {
        self.settle_open();
        let texts: Vec<_> = self.tasks.drain(..).map(|t| unconfirmed_task(&t)).collect();
        if !texts.is_empty() {
            self.restored.history.push(Arc::new(Message::User(texts)));
        }
    }

    fn settle_open(&mut self) {
        if let Some(open) = self.open.take() {
            self.restored.history.push(Arc::new(open.settle()));
        }
    }
}
