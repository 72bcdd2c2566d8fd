use super::{Sample, raw, s};
use crate::schema::Fraction;
use crate::schema::outbound::*;
use crate::schema::permission::PermissionMode;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

pub(super) fn samples() -> Vec<Sample> {
    let mut all = states();
    all.extend(lifecycle());
    all.extend(marks());
    all.extend(summaries());
    all
}

fn states() -> Vec<Sample> {
    let action = RequiresAction {
        request_id: s("req_1"),
        tool_name: s("Bash"),
        tool_use_id: s("toolu_1"),
        description: "Run ls".into(),
        input: raw(r#"{"command":"ls"}"#),
    };
    vec![
        (
            StateChanged::RUNNING.into(),
            r#"{"type":"system","subtype":"session_state_changed","state":"running","uuid":"u","session_id":"s"}"#,
        ),
        (
            StateChanged::IDLE.for_sdk_host().into(),
            r#"{"type":"system","subtype":"session_state_changed","state":"idle","sdk_host_only":true,"uuid":"u","session_id":"s"}"#,
        ),
        (
            StateChanged::requires_action(action).into(),
            r#"{"type":"system","subtype":"session_state_changed","state":"requires_action","requires_action":{"request_id":"req_1","tool_name":"Bash","tool_use_id":"toolu_1","description":"Run ls","input":{"command":"ls"}},"uuid":"u","session_id":"s"}"#,
        ),
        (
            Status {
                status: Some(BusyStatus::Compacting),
                permission_mode: None,
            }
            .into(),
            r#"{"type":"system","subtype":"status","status":"compacting","uuid":"u","session_id":"s"}"#,
        ),
        (
            Status {
                status: None,
                permission_mode: Some(PermissionMode::Plan),
            }
            .into(),
            r#"{"type":"system","subtype":"status","status":null,"permissionMode":"plan","uuid":"u","session_id":"s"}"#,
        ),
    ]
}

fn compact(trigger: CompactTrigger, preserved_segment: Option<PreservedSegment>) -> Outbound {
    CompactBoundary {
        compact_metadata: CompactMetadata {
            trigger,
            pre_tokens: 9000,
            preserved_segment,
        },
    }
    .into()
}

fn lifecycle() -> Vec<Sample> {
    let progress = ToolProgress {
        tool_use_id: s("toolu_1"),
        tool_name: s("Bash"),
        parent_tool_use_id: None,
        elapsed_time_seconds: 5,
        task_id: None,
    };
    vec![
        (
            progress.clone().into(),
            r#"{"type":"tool_progress","tool_use_id":"toolu_1","tool_name":"Bash","parent_tool_use_id":null,"elapsed_time_seconds":5,"uuid":"u","session_id":"s"}"#,
        ),
        (
            ToolProgress {
                task_id: Some(s("task_1")),
                ..progress
            }
            .into(),
            r#"{"type":"tool_progress","tool_use_id":"toolu_1","tool_name":"Bash","parent_tool_use_id":null,"elapsed_time_seconds":5,"task_id":"task_1","uuid":"u","session_id":"s"}"#,
        ),
        (
            AuthStatus {
                is_authenticating: true,
                output: vec!["open the page".into()],
                error: None,
            }
            .into(),
            r#"{"type":"auth_status","isAuthenticating":true,"output":["open the page"],"uuid":"u","session_id":"s"}"#,
        ),
        (
            RateLimitEvent {
                rate_limit_info: RateLimitInfo {
                    status: RateLimitStatus::AllowedWarning,
                    resets_at: Some(1_700_000_000),
                    utilization: Some(Fraction(925_000)),
                    overage_status: Some(RateLimitStatus::Rejected),
                },
            }
            .into(),
            r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":1700000000,"utilization":0.925,"overageStatus":"rejected"},"uuid":"u","session_id":"s"}"#,
        ),
    ]
}

fn marks() -> Vec<Sample> {
    let segment = PreservedSegment {
        head_uuid: s("h"),
        anchor_uuid: s("a"),
        tail_uuid: s("t"),
    };
    vec![
        (
            compact(CompactTrigger::Manual, None),
            r#"{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"manual","pre_tokens":9000},"uuid":"u","session_id":"s"}"#,
        ),
        (
            compact(CompactTrigger::Auto, Some(segment)),
            r#"{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":9000,"preserved_segment":{"head_uuid":"h","anchor_uuid":"a","tail_uuid":"t"}},"uuid":"u","session_id":"s"}"#,
        ),
        (
            FilesPersisted {
                files: vec![PersistedFile {
                    filename: "a".into(),
                    file_id: "f".into(),
                }],
                failed: vec![FailedFile {
                    filename: "b".into(),
                    error: "full".into(),
                }],
                processed_at: "2025-01-01T00:00:00Z".into(),
            }
            .into(),
            r#"{"type":"system","subtype":"files_persisted","files":[{"filename":"a","file_id":"f"}],"failed":[{"filename":"b","error":"full"}],"processed_at":"2025-01-01T00:00:00Z","uuid":"u","session_id":"s"}"#,
        ),
        (
            ElicitationComplete {
                mcp_server_name: s("files"),
                elicitation_id: "e".into(),
            }
            .into(),
            r#"{"type":"system","subtype":"elicitation_complete","mcp_server_name":"files","elicitation_id":"e","uuid":"u","session_id":"s"}"#,
        ),
    ]
}

fn summaries() -> Vec<Sample> {
    vec![
        (
            PostTurnSummary {
                summarizes_uuid: s("x"),
                status_category: "done".into(),
                status_detail: "all green".into(),
                is_noteworthy: false,
                title: "t".into(),
                description: "d".into(),
                recent_action: "r".into(),
                needs_action: String::new(),
                artifact_urls: vec![],
            }
            .into(),
            r#"{"type":"system","subtype":"post_turn_summary","summarizes_uuid":"x","status_category":"done","status_detail":"all green","is_noteworthy":false,"title":"t","description":"d","recent_action":"r","needs_action":"","artifact_urls":[],"uuid":"u","session_id":"s"}"#,
        ),
        (
            LocalCommandOutput {
                content: "c".into(),
            }
            .into(),
            r#"{"type":"system","subtype":"local_command_output","content":"c","uuid":"u","session_id":"s"}"#,
        ),
        (
            ToolUseSummary {
                summary: "read it".into(),
                preceding_tool_use_ids: vec![s("toolu_1")],
            }
            .into(),
            r#"{"type":"tool_use_summary","summary":"read it","preceding_tool_use_ids":["toolu_1"],"uuid":"u","session_id":"s"}"#,
        ),
        (
            PromptSuggestion {
                suggestion: "run it".into(),
            }
            .into(),
            r#"{"type":"prompt_suggestion","suggestion":"run it","uuid":"u","session_id":"s"}"#,
        ),
        (
            StreamlinedText { text: "t".into() }.into(),
            r#"{"type":"streamlined_text","text":"t","uuid":"u","session_id":"s"}"#,
        ),
        (
            StreamlinedToolUseSummary {
                tool_summary: "t".into(),
            }
            .into(),
            r#"{"type":"streamlined_tool_use_summary","tool_summary":"t","uuid":"u","session_id":"s"}"#,
        ),
    ]
}
