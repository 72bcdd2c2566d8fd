//! Records built from what a session knows. Leaves: nothing here decides.

use super::config::Provider;
use super::queue::Prompt;
use super::tasks::{Over, Task};
use crate::agent_loop::{FinishedBlock, TurnOutcome};
use crate::hook::HookReport;
use crate::json::RawJson;
use crate::model::{ModelFailure, StopReason, ToolResult, Usage};
use crate::schema::Money;
use crate::schema::inbound::UserRecord;
use crate::schema::outbound::{
    Accounting, AssistantMessage, AssistantRecord, AttachmentImportRejected, ContentBlock,
    ControlCancelRequest, ErrorSubtype, HookIdentity, HookOutcome, HookProgress, HookResponse,
    MessageEvent, MessageStop, ModelUsage, Outbound, PermissionDenial, RateLimitEvent,
    RateLimitInfo, RateLimitStatus, RejectReason, ResultError, ResultRecord, ResultStop,
    ResultSuccess, StreamEvent, TaskNotification, TaskProgress, TaskStarted, TaskUsage, TextBlock,
    Timing, ToolProgress, ToolResultRecord,
};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

/// The accounting of one prompt (DEC-27).
#[derive(Debug, Default)]
pub(super) struct Books {
    pub(super) duration: Duration,
    pub(super) api: Duration,
    pub(super) requests: u32,
    pub(super) usage: Usage,
    pub(super) cost: Option<Money>,
    pub(super) denials: Vec<PermissionDenial>,
}

impl Books {
    /// The books of a prompt that never ran. Nothing was used, at any price.
    fn unused(provider: &Provider) -> Self {
        Self {
            cost: provider.pricing.map(|_| Money::ZERO),
            ..Self::default()
        }
    }

    fn timing(&self) -> Timing {
        Timing {
            duration_ms: milliseconds(self.duration),
            duration_api_ms: milliseconds(self.api),
            num_turns: self.requests.into(),
        }
    }

    fn accounting(self, provider: &Provider, stop: ResultStop) -> Accounting {
        let limits = (provider.context_window, provider.max_output_tokens);
        let usage = ModelUsage::new(&self.usage, self.cost, limits.0, limits.1);
        Accounting {
            stop_reason: Some(stop),
            total_cost_usd: self.cost,
            usage: self.usage,
            model_usage: BTreeMap::from([(Arc::clone(&provider.model), usage)]),
            permission_denials: self.denials,
        }
    }
}

/// The prompt that a result belongs to, as far as the result tells of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// Its UUID, where that could be read or was made.
    pub(super) uuid: Option<Arc<str>>,
    /// Where it came from, as the host said.
    pub(super) origin: Option<RawJson>,
}

impl From<Prompt> for Asked {
    fn from(prompt: Prompt) -> Self {
        Self {
            uuid: Some(prompt.uuid),
            origin: prompt.record.origin,
        }
    }
}

impl From<UserRecord> for Asked {
    fn from(record: UserRecord) -> Self {
        Self {
            uuid: record.uuid.map(Into::into),
            origin: record.origin,
        }
    }
}

fn milliseconds(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// The result of a prompt that ran to its end.
pub(super) fn success(
    provider: &Provider,
    stop: ResultStop,
    text: String,
    structured_output: Option<RawJson>,
    books: Books,
    asked: Asked,
) -> ResultRecord {
    ResultRecord::Success(ResultSuccess {
        timing: books.timing(),
        result: text,
        accounting: books.accounting(provider, stop),
        structured_output,
        prompt_uuid: asked.uuid,
        origin: asked.origin,
    })
}

/// The result of a prompt that failed, was stopped or never ran.
pub(super) fn error(
    provider: &Provider,
    subtype: ErrorSubtype,
    stop: ResultStop,
    errors: Vec<String>,
    books: Books,
    asked: Asked,
) -> ResultRecord {
    ResultRecord::Error(ResultError {
        subtype,
        timing: books.timing(),
        accounting: books.accounting(provider, stop),
        errors,
        prompt_uuid: asked.uuid,
        origin: asked.origin,
    })
}

/// The result that refuses a record, or ends the stream (DEC-10).
pub(super) fn input_error(provider: &Provider, text: String, asked: Asked) -> ResultRecord {
    let books = Books::unused(provider);
    error(
        provider,
        ErrorSubtype::DuringExecution,
        ResultStop::InputError,
        vec![text],
        books,
        asked,
    )
}

/// The result of an accepted prompt that the session's end overtook (DEC-10).
pub(super) fn never_ran(provider: &Provider, text: &str, prompt: Prompt) -> ResultRecord {
    let books = Books::unused(provider);
    let (subtype, stop) = (ErrorSubtype::DuringExecution, ResultStop::Cancelled);
    error(
        provider,
        subtype,
        stop,
        vec![text.to_string()],
        books,
        prompt.into(),
    )
}

/// What the result says of a turn that did not end well (DEC-21, DEC-42).
pub(super) fn error_of(outcome: TurnOutcome) -> (ErrorSubtype, ResultStop, String) {
    match outcome {
        TurnOutcome::Failed(failure) => {
            let text = format!("{}: {}", api_error_text(&failure), failure.message);
            (
                ErrorSubtype::DuringExecution,
                ResultStop::ProviderError,
                text,
            )
        }
        TurnOutcome::MaxTurns(limit) => {
            let text = format!("the limit of {limit} model requests for one prompt is reached");
            (ErrorSubtype::MaxTurns, ResultStop::MaxTurns, text)
        }
        TurnOutcome::Budget { estimated } => {
            let mut text = "the budget of this process is spent".to_string();
            if estimated {
                text.push_str(": by an estimate, since tokens were not reported");
            }
            (ErrorSubtype::MaxBudgetUsd, ResultStop::MaxBudget, text)
        }
        TurnOutcome::NoStructuredOutput { retries, fault } => {
            let text =
                format!("no structured output was accepted after {retries} retries: {fault}");
            (
                ErrorSubtype::MaxStructuredOutputRetries,
                ResultStop::MaxStructuredOutputRetries,
                text,
            )
        }
        TurnOutcome::Cancelled | TurnOutcome::Halted { .. } | TurnOutcome::Done { .. } => {
            let text = "the turn was cancelled".to_string();
            (ErrorSubtype::DuringExecution, ResultStop::Cancelled, text)
        }
    }
}

/// How a result record will say that a turn stopped, and whether it is an error.
pub(super) const fn stop_of(outcome: &TurnOutcome) -> (ResultStop, bool) {
    match outcome {
        TurnOutcome::Done { stop, .. } => (ResultStop::of(*stop), false),
        TurnOutcome::Halted { .. } => (ResultStop::of(StopReason::EndTurn), false),
        TurnOutcome::Failed(_) => (ResultStop::ProviderError, true),
        TurnOutcome::MaxTurns(_) => (ResultStop::MaxTurns, true),
        TurnOutcome::Budget { .. } => (ResultStop::MaxBudget, true),
        TurnOutcome::NoStructuredOutput { .. } => (ResultStop::MaxStructuredOutputRetries, true),
        TurnOutcome::Cancelled => (ResultStop::Cancelled, true),
    }
}

fn api_error_text(failure: &ModelFailure) -> String {
    let category = failure.category.as_str();
    match failure.status {
        Some(status) => format!("API error: {category} (status {status})"),
        None => format!("API error: {category}"),
    }
}

/// A finished block of an answer.
pub(super) fn assistant(block: FinishedBlock, id: Arc<str>, model: Arc<str>) -> Outbound {
    Outbound::Assistant(AssistantRecord {
        message: AssistantMessage {
            id,
            model,
            content: vec![ContentBlock::from(block.block)],
            stop_reason: block.stop.and_then(MessageStop::of),
            stop_sequence: None,
            usage: block.usage,
        },
        parent_tool_use_id: None,
        error: block.error,
    })
}

/// The one assistant record of a failed request (DEC-41).
pub(super) fn api_error(failure: &ModelFailure, id: Arc<str>, model: Arc<str>) -> Outbound {
    let text = api_error_text(failure);
    Outbound::Assistant(AssistantRecord {
        message: AssistantMessage {
            id,
            model,
            content: vec![ContentBlock::Text(TextBlock { text })],
            stop_reason: None,
            stop_sequence: None,
            usage: Usage::default(),
        },
        parent_tool_use_id: None,
        error: Some(failure.category),
    })
}

/// The provider takes no more requests, maybe until a time in Unix seconds.
pub(super) const fn rate_limited(resets_at: Option<u64>) -> Outbound {
    Outbound::RateLimit(RateLimitEvent {
        rate_limit_info: RateLimitInfo {
            status: RateLimitStatus::Rejected,
            resets_at,
            utilization: None,
            overage_status: None,
        },
    })
}

/// The terminal result of a call.
pub(super) fn tool_result(result: ToolResult) -> Outbound {
    let ToolResult {
        tool_use_id,
        content,
        is_error,
    } = result;
    Outbound::ToolResult(ToolResultRecord::new(tool_use_id, content, is_error, None))
}

/// A piece of an answer that is still coming.
pub(super) const fn stream_event(event: MessageEvent) -> Outbound {
    Outbound::StreamEvent(StreamEvent {
        event,
        parent_tool_use_id: None,
    })
}

/// A call that still runs, maybe as a task.
pub(super) fn tool_progress(
    call: &Arc<str>,
    tool: &Arc<str>,
    ran: Duration,
    task_id: Option<Arc<str>>,
) -> Outbound {
    Outbound::ToolProgress(ToolProgress {
        tool_use_id: Arc::clone(call),
        tool_name: Arc::clone(tool),
        parent_tool_use_id: None,
        elapsed_time_seconds: ran.as_secs(),
        task_id,
    })
}

/// A task begins.
pub(super) fn task_started(task: &Task) -> Outbound {
    Outbound::TaskStarted(TaskStarted {
        task_id: Arc::clone(&task.id),
        tool_use_id: Some(Arc::clone(&task.call)),
        description: task.description.clone(),
        task_type: Some(task.kind()),
        workflow_name: None,
        prompt: None,
    })
}

/// A task runs on.
pub(super) fn task_progress(task: &Task, ran: Duration) -> Outbound {
    Outbound::TaskProgress(TaskProgress {
        task_id: Arc::clone(&task.id),
        tool_use_id: Some(Arc::clone(&task.call)),
        description: task.description.clone(),
        usage: task_usage(ran),
        last_tool_name: Some(Arc::clone(&task.tool)),
        summary: None,
    })
}

/// A task is over.
pub(super) fn task_notification(over: &Over, summary: String) -> Outbound {
    Outbound::TaskNotification(TaskNotification {
        task_id: Arc::clone(&over.task.id),
        tool_use_id: Some(Arc::clone(&over.task.call)),
        status: over.status(),
        output_file: over.output_file.to_string(),
        summary,
        usage: Some(task_usage(over.ran)),
    })
}

/// A task is one call, and asks no model.
fn task_usage(ran: Duration) -> TaskUsage {
    TaskUsage {
        total_tokens: 0,
        tool_uses: 1,
        duration_ms: milliseconds(ran),
    }
}

/// What a hook has written so far, as [`hook_response`] tells it at the end.
pub(super) fn hook_progress(
    hook: HookIdentity,
    stdout: &str,
    stderr: &str,
    safe: impl Fn(&str) -> String,
) -> Outbound {
    let (stdout, stderr) = (safe(stdout), safe(stderr));
    Outbound::HookProgress(HookProgress {
        hook,
        output: safe(&[&*stdout, &*stderr].concat()),
        stdout,
        stderr,
    })
}

/// How a hook ended. `safe` takes credentials out of what it wrote, which may
/// spell one where the two streams meet.
pub(super) fn hook_response(
    hook: HookIdentity,
    report: &HookReport,
    outcome: HookOutcome,
    safe: impl Fn(&str) -> String,
) -> Outbound {
    let (stdout, stderr) = (safe(&report.stdout), safe(&report.stderr));
    Outbound::HookResponse(HookResponse {
        hook,
        output: safe(&[&*stdout, &*stderr].concat()),
        stdout,
        stderr,
        exit_code: report.status().map(u64::from),
        outcome,
    })
}

/// Takes a question back.
pub(super) fn cancel_request(id: &str) -> Outbound {
    Outbound::ControlCancelRequest(ControlCancelRequest {
        request_id: id.into(),
    })
}

/// The answer of a text-only session to an upload (DEC-09, DEC-23).
pub(super) fn attachments_unavailable(upload_id: &str) -> Outbound {
    Outbound::AttachmentImportRejected(AttachmentImportRejected {
        upload_id: upload_id.into(),
        reason: RejectReason::AttachmentsUnavailable,
    })
}
