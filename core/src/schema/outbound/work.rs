//! Hooks and background tasks.

use crate::schema::declare::{record, words};
use alloc::string::String;
use alloc::sync::Arc;

record! {
    /// Which run of which hook.
    pub struct HookIdentity {
        /// Id of the run.
        required hook_id: Arc<str>,
        /// The hook.
        required hook_name: Arc<str>,
        /// The event it runs for.
        required hook_event: Arc<str>,
    }
}

record! {
    /// A hook starts.
    pub struct HookStarted {
        "type" = "system",
        "subtype" = "hook_started",
        /// Which.
        flatten hook: HookIdentity,
    }
}

record! {
    /// A hook says something.
    pub struct HookProgress {
        "type" = "system",
        "subtype" = "hook_progress",
        /// Which.
        flatten hook: HookIdentity,
        /// Its stdout so far.
        required stdout: String,
        /// Its stderr so far.
        required stderr: String,
        /// Both, stdout first.
        required output: String,
    }
}

words! {
    /// How a hook ended.
    pub enum HookOutcome {
        /// It did its work.
        Success = "success",
        /// It failed.
        Error = "error",
        /// It was stopped.
        Cancelled = "cancelled",
    }
}

record! {
    /// A hook is done.
    pub struct HookResponse {
        "type" = "system",
        "subtype" = "hook_response",
        /// Which.
        flatten hook: HookIdentity,
        /// Both streams, stdout first.
        required output: String,
        /// Its stdout.
        required stdout: String,
        /// Its stderr.
        required stderr: String,
        /// Its exit status.
        optional exit_code: Option<u64>,
        /// How it ended.
        required outcome: HookOutcome,
    }
}

words! {
    /// What a task runs.
    pub enum TaskType {
        /// A shell command.
        LocalBash = "local_bash",
        /// Another tool.
        LocalTool = "local_tool",
    }
}

record! {
    /// A background task starts.
    pub struct TaskStarted {
        "type" = "system",
        "subtype" = "task_started",
        /// The task.
        required task_id: Arc<str>,
        /// The call that started it.
        optional tool_use_id: Option<Arc<str>>,
        /// What it does.
        required description: String,
        /// What it runs.
        optional task_type: Option<TaskType>,
        /// The workflow it is part of.
        optional workflow_name: Option<String>,
        /// What it was asked.
        optional prompt: Option<String>,
    }
}

record! {
    /// What a task took so far.
    pub struct TaskUsage {
        /// Tokens.
        required total_tokens: u64,
        /// Calls.
        required tool_uses: u64,
        /// Time, in milliseconds.
        required duration_ms: u64,
    }
}

record! {
    /// A background task goes on.
    pub struct TaskProgress {
        "type" = "system",
        "subtype" = "task_progress",
        /// The task.
        required task_id: Arc<str>,
        /// The call that started it.
        optional tool_use_id: Option<Arc<str>>,
        /// What it does.
        required description: String,
        /// What it took so far.
        required usage: TaskUsage,
        /// The tool it used last.
        optional last_tool_name: Option<Arc<str>>,
        /// How it goes.
        optional summary: Option<String>,
    }
}

words! {
    /// How a task ended.
    pub enum TaskStatus {
        /// It did its work.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// Somebody stopped it.
        Stopped = "stopped",
    }
}

record! {
    /// A background task is done.
    pub struct TaskNotification {
        "type" = "system",
        "subtype" = "task_notification",
        /// The task.
        required task_id: Arc<str>,
        /// The call that started it.
        optional tool_use_id: Option<Arc<str>>,
        /// How it ended.
        required status: TaskStatus,
        /// Where its output lies; empty when there is none.
        required output_file: String,
        /// What came out.
        required summary: String,
        /// What it took.
        optional usage: Option<TaskUsage>,
    }
}
