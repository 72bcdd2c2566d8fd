use super::{Sample, s};
use crate::schema::outbound::*;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

fn hook() -> HookIdentity {
    HookIdentity {
        hook_id: s("h1"),
        hook_name: s("lint"),
        hook_event: s("PreToolUse"),
    }
}

pub(super) fn samples() -> Vec<Sample> {
    let mut all = hooks();
    all.extend(tasks());
    all
}

fn hooks() -> Vec<Sample> {
    let response = HookResponse {
        hook: hook(),
        output: "ab".into(),
        stdout: "a".into(),
        stderr: "b".into(),
        exit_code: Some(2),
        outcome: HookOutcome::Error,
    };
    vec![
        (
            HookStarted { hook: hook() }.into(),
            r#"{"type":"system","subtype":"hook_started","hook_id":"h1","hook_name":"lint","hook_event":"PreToolUse","uuid":"u","session_id":"s"}"#,
        ),
        (
            HookProgress {
                hook: hook(),
                stdout: "a".into(),
                stderr: "b".into(),
                output: "ab".into(),
            }
            .into(),
            r#"{"type":"system","subtype":"hook_progress","hook_id":"h1","hook_name":"lint","hook_event":"PreToolUse","stdout":"a","stderr":"b","output":"ab","uuid":"u","session_id":"s"}"#,
        ),
        (
            response.clone().into(),
            r#"{"type":"system","subtype":"hook_response","hook_id":"h1","hook_name":"lint","hook_event":"PreToolUse","output":"ab","stdout":"a","stderr":"b","exit_code":2,"outcome":"error","uuid":"u","session_id":"s"}"#,
        ),
        (
            HookResponse {
                exit_code: None,
                outcome: HookOutcome::Cancelled,
                ..response
            }
            .into(),
            r#"{"type":"system","subtype":"hook_response","hook_id":"h1","hook_name":"lint","hook_event":"PreToolUse","output":"ab","stdout":"a","stderr":"b","outcome":"cancelled","uuid":"u","session_id":"s"}"#,
        ),
    ]
}

fn tasks() -> Vec<Sample> {
    let usage = TaskUsage {
        total_tokens: 1,
        tool_uses: 2,
        duration_ms: 3,
    };
    let started = TaskStarted {
        task_id: s("task_1"),
        tool_use_id: None,
        description: "build".into(),
        task_type: None,
        workflow_name: None,
        prompt: None,
    };
    vec![
        (
            started.clone().into(),
            r#"{"type":"system","subtype":"task_started","task_id":"task_1","description":"build","uuid":"u","session_id":"s"}"#,
        ),
        (
            TaskStarted {
                tool_use_id: Some(s("toolu_1")),
                task_type: Some(TaskType::LocalBash),
                workflow_name: Some("w".into()),
                prompt: Some("p".into()),
                ..started
            }
            .into(),
            r#"{"type":"system","subtype":"task_started","task_id":"task_1","tool_use_id":"toolu_1","description":"build","task_type":"local_bash","workflow_name":"w","prompt":"p","uuid":"u","session_id":"s"}"#,
        ),
        (
            TaskProgress {
                task_id: s("task_1"),
                tool_use_id: Some(s("toolu_1")),
                description: "build".into(),
                usage: usage.clone(),
                last_tool_name: Some(s("Bash")),
                summary: Some("half".into()),
            }
            .into(),
            r#"{"type":"system","subtype":"task_progress","task_id":"task_1","tool_use_id":"toolu_1","description":"build","usage":{"total_tokens":1,"tool_uses":2,"duration_ms":3},"last_tool_name":"Bash","summary":"half","uuid":"u","session_id":"s"}"#,
        ),
        (
            TaskNotification {
                task_id: s("task_1"),
                tool_use_id: None,
                status: TaskStatus::Stopped,
                output_file: String::new(),
                summary: "stopped".into(),
                usage: Some(usage),
            }
            .into(),
            r#"{"type":"system","subtype":"task_notification","task_id":"task_1","status":"stopped","output_file":"","summary":"stopped","usage":{"total_tokens":1,"tool_uses":2,"duration_ms":3},"uuid":"u","session_id":"s"}"#,
        ),
    ]
}
