//! Finite background tasks: calls that run on after their result (WIRE-004).
//!
//! ```text
//! call allowed -> starting --began--> running --done, stop_task, cancel--> over
//!                    |                   |
//!                    +-- done: refused   +-- every 5 s: task_progress
//! ```
//!
//! A task begins with `task_started` and the result of its call, and ends with
//! one `task_notification`. The turn's result waits for all of its tasks, so a
//! session that is idle has none. A call that is cancelled before its task began
//! has no records but its result.
//!
//! [`Tasks`] keeps the books and knows neither loop nor wire; the session acts on
//! what it tells.

use super::AgentSession;
use super::permission::describe;
use super::records;
use crate::agent_loop::LoopInput;
use crate::effect::{EffectId, Request};
use crate::lazy::Empty;
use crate::machine::Misuse;
use crate::mark::mark;
use crate::plant::planted;
use crate::schema::outbound::{TaskStatus, TaskType};
use crate::store::{Entry, TaskEntry};
use crate::text::cut;
use crate::text::one_line;
use crate::time::Instant;
use crate::tool::{TaskRequest, ToolContent, ToolOutcome, ToolRequest};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

/// Name of the tool that runs shell commands.
const SHELL: &str = "Bash";

/// What is told of a task that did not come to its end.
const STOPPED: &str = "stopped before it ended";

/// A call that becomes, or is, a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) id: Arc<str>,
    /// Id of the call.
    pub(super) call: Arc<str>,
    /// Name of the tool.
    pub(super) tool: Arc<str>,
    /// What it does, on one line.
    pub(super) description: String,
}

impl Task {
    pub(super) fn kind(&self) -> TaskType {
        if &*self.tool == SHELL {
            TaskType::LocalBash
        } else {
            TaskType::LocalTool
        }
    }
}

/// When something began that is told of in even steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Beat {
    began: Instant,
    next: Instant,
}

impl Beat {
    pub(super) fn new(now: Instant, every: Duration) -> Self {
        Self {
            began: now,
            next: now.after(every),
        }
    }

    /// When it is due.
    pub(super) const fn next(&self) -> Instant {
        self.next
    }

    /// How long it has run, if that is to be told now. Steps that were missed
    /// are left out.
    pub(super) fn due(&mut self, now: Instant, every: Duration) -> Option<Duration> {
        if now < self.next {
            return None;
        }
        let ran = now.since(self.began);
        let steps = ran.as_micros().checked_div(every.as_micros())?;
        let steps = u32::try_from(steps).unwrap_or(u32::MAX).saturating_add(1);
        self.next = self.began.after(every.saturating_mul(steps));
        Some(ran)
    }
}

/// Where a task stands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    /// Asked for; its call at this place of the batch has no result yet.
    Starting { place: usize },
    /// It runs, and its call is settled.
    Running { output_file: Arc<str>, beat: Beat },
}

/// Why a task is over.
#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    Done(ToolOutcome),
    Stopped,
}

/// A task that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Over {
    pub(super) task: Task,
    pub(super) output_file: Arc<str>,
    pub(super) ran: Duration,
    end: End,
}

impl Over {
    pub(super) const fn status(&self) -> TaskStatus {
        match &self.end {
            End::Done(outcome) if outcome.is_error => TaskStatus::Failed,
            End::Done(_) => TaskStatus::Completed,
            End::Stopped => TaskStatus::Stopped,
        }
    }

    /// What it said; nothing if it was stopped.
    fn output(&self) -> String {
        match &self.end {
            End::Done(outcome) => joined(&outcome.content),
            End::Stopped => String::new(),
        }
    }
}

/// What becomes of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    /// It never began: this is the result of its call.
    Refused { place: usize, outcome: ToolOutcome },
    /// It is over.
    Over(Over),
}

/// The tasks of a turn.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    open: BTreeMap<EffectId, (Task, Stage)>,
    /// Tasks that are over and were not told to the model, in the order of their ends.
    untold: Vec<Arc<str>>,
    /// Tasks that were stopped with their turn, whose records are not written yet.
    stopped: Vec<Over>,
}

impl Empty for Tasks {
    const EMPTY: &'static Self = &Self {
        open: BTreeMap::new(),
        untold: Vec::new(),
        stopped: Vec::new(),
    };
}

impl Tasks {
    fn insert(&mut self, id: EffectId, task: Task, place: usize) {
        self.open.insert(id, (task, Stage::Starting { place }));
    }

    /// Tasks that run or are about to.
    fn running(&self) -> usize {
        self.open.len()
    }

    /// Tasks the model was not told the end of.
    fn untold(&self) -> usize {
        self.open.len().saturating_add(self.untold.len())
    }

    /// Notes that a task runs; gives it with the place of its call.
    fn began(
        &mut self,
        id: EffectId,
        output_file: Arc<str>,
        beat: Beat,
    ) -> Result<(Task, usize), Misuse> {
        match self.open.get_mut(&id) {
            Some((task, stage @ Stage::Starting { .. })) => {
                let running = Stage::Running { output_file, beat };
                match core::mem::replace(stage, running) {
                    Stage::Starting { place } => Ok((task.clone(), place)),
                    Stage::Running { .. } => Err(Misuse::WrongState),
                }
            }
            Some((_, Stage::Running { .. })) | None => Err(Misuse::WrongState),
        }
    }

    fn end(&mut self, id: EffectId, end: End, now: Instant) -> Option<Told> {
        let (task, stage) = self.open.remove(&id)?;
        match (stage, end) {
            (Stage::Starting { place }, End::Done(outcome)) => {
                Some(Told::Refused { place, outcome })
            }
            // Its call is cancelled with the others of its turn.
            (Stage::Starting { .. }, End::Stopped) => None,
            (Stage::Running { output_file, beat }, end) => {
                self.untold.push(Arc::clone(&task.id));
                Some(Told::Over(Over {
                    task,
                    output_file,
                    ran: now.since(beat.began),
                    end,
                }))
            }
        }
    }

    /// The effect of the task of this name, if it runs.
    fn find(&self, task_id: &str) -> Option<EffectId> {
        let is_it = |(task, stage): &(Task, Stage)| {
            *task.id == *task_id && matches!(stage, Stage::Running { .. })
        };
        let found = self.open.iter().find(|(_, entry)| is_it(entry));
        found.map(|(id, _)| *id)
    }

    /// Whether the task of this name runs.
    pub(super) fn runs(&self, task_id: &str) -> bool {
        self.find(task_id).is_some()
    }

    fn ids(&self) -> Vec<EffectId> {
        self.open.keys().copied().collect()
    }

    /// When a task is to be told of next.
    pub(super) fn next(&self) -> Option<Instant> {
        let next = self.open.values().filter_map(|(_, stage)| match stage {
            Stage::Running { beat, .. } => Some(beat.next()),
            Stage::Starting { .. } => None,
        });
        next.min()
    }

    /// The tasks that are to be told of now, and how long each has run.
    fn due(&mut self, now: Instant, every: Duration) -> Vec<(Task, Duration)> {
        let due = self
            .open
            .values_mut()
            .filter_map(|(task, stage)| match stage {
                Stage::Running { beat, .. } => Some((task.clone(), beat.due(now, every)?)),
                Stage::Starting { .. } => None,
            });
        due.collect()
    }

    /// The tasks of the message that the model is told with.
    pub(super) fn take_untold(&mut self) -> Vec<Arc<str>> {
        core::mem::take(&mut self.untold)
    }
}

impl AgentSession {
    /// Begins a task; gives the result of its call if there may be no further one.
    pub(super) fn start_task(&mut self, place: usize, tool: ToolRequest) -> Option<LoopInput> {
        let limits = &self.config.limits;
        let full = if self.tasks.running() >= limits.tasks {
            Some(format!(
                "Not started: {} background tasks run already, and no more may.",
                limits.tasks
            ))
        } else if self.tasks.untold() >= limits.untold_tasks {
            Some(format!(
                "Not started: this turn began {} background tasks. End the turn to be told \
                 what became of them.",
                limits.untold_tasks
            ))
        } else {
            None
        };
        if let Some(text) = full {
            let outcome = ToolOutcome::error(text);
            return Some(LoopInput::Settle { place, outcome });
        }
        let chars = limits.task_line_chars;
        let description = match self.agent_loop.tool(&tool.call.name) {
            Some(spec) => describe(spec, &tool.call.input),
            None => String::from(&*tool.call.name),
        };
        let task = Task {
            id: self.ids.task().into(),
            call: Arc::clone(&tool.call.id),
            tool: Arc::clone(&tool.call.name),
            description: line(&self.safe(&description), chars),
        };
        let task_id = Arc::clone(&task.id);
        let request = TaskRequest { task_id, tool };
        let id = self.start(Request::Task(Box::new(request)));
        self.tasks.insert(id, task, place);
        None
    }

    /// A task runs: its call is settled (DEC-26: the next one may run).
    pub(super) fn task_began(&mut self, id: EffectId, output_file: &str) -> Result<(), Misuse> {
        let output_file: Arc<str> = self.safe(output_file).into();
        let beat = Beat::new(self.now, self.config.limits.progress_every);
        let (task, place) = self.tasks.began(id, Arc::clone(&output_file), beat)?;
        if let Some(journal) = &mut self.journal {
            journal.push(Entry::Task(TaskEntry {
                time_ms: journal.time_ms(self.now),
                task_id: Arc::clone(&task.id),
                tool_use_id: Arc::clone(&task.call),
                output_file: Arc::clone(&output_file),
            }));
        }
        self.send(&records::task_started(&task));
        let mut text = format!("Task {} started", task.id);
        if !output_file.is_empty() {
            text.push_str("; output: ");
            text.push_str(&output_file);
        }
        if !planted!(self.planted, Wire004Tasks) {
            self.feed_loop(LoopInput::TaskBegan);
        }
        let outcome = ToolOutcome::text(text);
        self.feed_loop(LoopInput::Settle { place, outcome });
        Ok(())
    }

    /// A task ended by itself, or could not begin.
    pub(super) fn task_done(&mut self, id: EffectId, outcome: ToolOutcome) {
        match self.tasks.end(id, End::Done(outcome), self.now) {
            Some(Told::Refused { place, outcome }) => {
                self.feed_loop(LoopInput::Settle { place, outcome });
            }
            Some(Told::Over(over)) => self.task_over(&over),
            None => {}
        }
    }

    /// Stops the task of this name; false if none runs.
    pub(super) fn stop_task(&mut self, task_id: &str) -> bool {
        let Some(id) = self.tasks.find(task_id) else {
            return false;
        };
        self.cancel_effect(id);
        if let Some(Told::Over(over)) = self.tasks.end(id, End::Stopped, self.now) {
            self.task_over(&over);
        }
        true
    }

    fn task_over(&mut self, over: &Over) {
        self.tell_task_over(over);
        let notice = self.notice(over);
        self.feed_loop(LoopInput::TaskEnded { notice });
    }

    /// Stops all tasks, since their turn is cancelled. Their records follow the
    /// results of its calls (hard-interrupt order).
    pub(super) fn stop_tasks(&mut self) {
        for id in self.tasks.ids() {
            self.cancel_effect(id);
            if let Some(Told::Over(over)) = self.tasks.end(id, End::Stopped, self.now) {
                let notice = self.notice(&over);
                self.feed_loop(LoopInput::TaskStopped { notice });
                self.tasks.stopped.push(over);
            }
        }
    }

    /// Writes what is to be told of tasks that were stopped with their turn.
    pub(super) fn tell_stopped_tasks(&mut self) {
        let tasks = self.tasks.made();
        let stopped = tasks.map(|tasks| core::mem::take(&mut tasks.stopped));
        for over in stopped.unwrap_or_default() {
            self.tell_task_over(&over);
        }
    }

    fn tell_task_over(&mut self, over: &Over) {
        let output = self.safe(&over.output());
        let last = output.lines().rev().find(|line| !line.trim().is_empty());
        let last = match (&over.end, last) {
            (End::Stopped, _) => STOPPED,
            (End::Done(_), Some(last)) => last,
            (End::Done(_), None) => over.status().as_str(),
        };
        let last = line(last, self.config.limits.task_line_chars);
        // Together they may spell what neither does.
        let summary = self.safe(&format!("{}: {last}", over.task.description));
        self.send(&records::task_notification(over, summary));
    }

    /// What the model is told of a task that is over.
    fn notice(&self, over: &Over) -> String {
        let task = &over.task;
        let status = over.status().as_str();
        let mut text = format!(
            "[Task {} of the call {} ({}) {status}.",
            task.id, task.call, task.tool
        );
        if !over.output_file.is_empty() {
            text.push_str(" Output file: ");
            text.push_str(&over.output_file);
        }
        text.push(']');
        let output = self.safe(&over.output());
        if !output.is_empty() {
            text.push('\n');
            text.push_str(&tail(&output, self.config.limits.task_output_chars));
        }
        text
    }

    /// When something that runs is to be told of next.
    pub(super) fn next_progress(&self) -> Option<Instant> {
        let calls = self.turn.as_ref().and_then(|turn| turn.next_progress());
        let calls = calls.filter(|_| self.config.include_partial_messages);
        [calls, self.tasks.next()].into_iter().flatten().min()
    }

    /// Tells of tasks, and with partial messages of calls, that still run. While
    /// the output is not read fast enough, a step is left out (DEC-36).
    pub(super) fn tell_progress(&mut self) {
        let (now, every) = (self.now, self.config.limits.progress_every);
        let wanted = self.progress_is_wanted();
        if !wanted {
            mark!(self.marks, DEC_36);
        }
        let partial = wanted && self.config.include_partial_messages;
        let calls = match &mut self.turn {
            Some(turn) => turn.due_progress(now, every),
            None => Vec::new(),
        };
        for (place, ran) in calls {
            if partial && let Some(call) = self.agent_loop.call(place) {
                let record = records::tool_progress(&call.id, &call.name, ran, None);
                self.send(&record);
            }
        }
        let due = self.tasks.made().map(|tasks| tasks.due(now, every));
        for (task, ran) in due.unwrap_or_default() {
            if partial {
                let id = Some(Arc::clone(&task.id));
                self.send(&records::tool_progress(&task.call, &task.tool, ran, id));
            }
            if wanted {
                self.send(&records::task_progress(&task, ran));
            }
        }
    }

    /// Stops a task for the embedder, who is warned of one that does not run.
    pub(super) fn stop_task_command(&mut self, task_id: &str) {
        if !self.stop_task(task_id) {
            self.warn(format!("no task `{}` runs", line(&self.safe(task_id), 40)));
        }
    }
}

/// The text of an answer.
fn joined(content: &[ToolContent]) -> String {
    let mut text = String::new();
    for ToolContent::Text(part) in content {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(part);
    }
    text
}

/// The beginning of a text, on one line.
pub(super) fn line(text: &str, chars: usize) -> String {
    cut(&one_line(text), chars).into_owned()
}

/// The end of a text, and how much stood before it.
fn tail(text: &str, chars: usize) -> String {
    let cut = text.chars().count().saturating_sub(chars);
    if cut == 0 {
        return String::from(text);
    }
    let kept: String = text.chars().skip(cut).collect();
    format!("[… {cut} characters cut]\n{kept}")
}

#[cfg(test)]
mod tests;
