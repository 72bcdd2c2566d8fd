//! What holds the end of a turn, and what an interrupt ends, where hooks, tasks
//! and structured output meet.

use crate::hooks::user_texts;
use agentx_conformance::session::{Bench, hooked, schema};
use agentx_core::agent::Config;
use agentx_core::hook::HookEvent;
use agentx_core::hook::HookEvent::{PermissionRequest, PostToolUse, PreToolUse, Stop};
use agentx_core::schema::permission::PermissionMode;
use agentx_core::structured::{TOOL, Validity};
use agentx_core::tool::ToolOutcome;
use serde_json::json;

/// A session with these hooks that asks nobody for permission.
fn bold(events: &[HookEvent]) -> Config {
    Config {
        permission_mode: PermissionMode::BypassPermissions,
        ..hooked(events)
    }
}

/// Input of a call that becomes a background task.
const BACK: &str = r#"{"run_in_background":true}"#;

// covers: WIRE-004, DEC-33
#[test]
fn tasks_then_the_structured_output_then_stop_hooks_end_a_turn() {
    let mut b = Bench::new(Config {
        output_schema: Some(schema("{}")),
        ..bold(&[Stop])
    });
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", BACK)]);
    b.task_begins("t1");
    b.says("waiting");
    assert!(b.hooks().is_empty(), "the task holds the turn's end");
    b.task_ends("t1", ToolOutcome::text("built"));
    assert!(user_texts(&b).concat().contains("built"));
    b.says("done");
    assert!(b.hooks().is_empty(), "the output is missing");
    assert!(user_texts(&b).concat().contains("StructuredOutput"));
    b.calls(&[("s1", TOOL, "{}")]);
    b.validated(Validity::Fits);
    b.says("done");
    assert_eq!(b.hooks().len(), 1);
    b.hook_says(r#"{"continue":true}"#);
    b.calls(&[("t2", "Do", BACK)]);
    b.task_begins("t2");
    b.says("waiting");
    assert!(b.hooks().is_empty(), "another task holds it again");
    b.task_ends("t2", ToolOutcome::text("built"));
    b.records();
    b.says("done");
    b.hook_says("");
    assert_eq!(
        b.briefs(),
        [
            "assistant text",
            "system/hook_started",
            "system/hook_response",
            "result success",
            "state idle"
        ]
    );
    let records = b.all_records();
    let result = records.iter().find(|record| record["type"] == "result");
    assert_eq!(result.expect("a result")["structured_output"], json!({}));
}

// covers: WIRE-010, WIRE-011, DEC-33
#[test]
fn an_interrupt_stops_hooks_and_tasks_of_one_turn_in_order() {
    let mut b = Bench::new(bold(&[PostToolUse]));
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", BACK), ("t2", "Do", "{}")]);
    b.task_begins("t1");
    assert!(b.hooks().is_empty(), "the tool of a task has not ended");
    b.tool_says("t2", "seen");
    assert_eq!(b.hooks().len(), 1);
    b.records();
    b.control("i", "interrupt");
    assert_eq!(
        b.briefs(),
        [
            "ack i",
            "system/hook_response",
            "tool_result t2",
            "system/task_notification",
            "result error_during_execution",
            "state idle"
        ]
    );
    assert!(b.open.is_empty());
}

// covers: DEC-33
#[test]
fn a_submission_is_no_call_that_hooks_are_told_of() {
    let mut b = Bench::new(Config {
        output_schema: Some(schema("{}")),
        ..hooked(&[PreToolUse, PermissionRequest, PostToolUse])
    });
    b.prompt(1, "go");
    b.calls(&[("s1", TOOL, "{}")]);
    assert!(b.hooks().is_empty());
    b.validated(Validity::Fits);
    assert!(b.hooks().is_empty());
    b.says("done");
    assert_eq!(b.briefs().last().map(String::as_str), Some("state idle"));
}

/// A turn of so many requests at most that has to bring structured output.
fn limited(max_turns: u32, events: &[HookEvent]) -> Bench {
    let mut b = Bench::new(Config {
        max_turns: Some(max_turns),
        output_schema: Some(schema("{}")),
        ..bold(events)
    });
    b.prompt(1, "go");
    b
}

fn submits(b: &mut Bench) {
    b.calls(&[("s1", TOOL, "{}")]);
    b.validated(Validity::Fits);
}

/// The turn has ended well, with the output that was accepted and this text.
fn ends_well(b: &Bench, text: &str) {
    let records = b.all_records();
    let result = records.iter().find(|record| record["type"] == "result");
    let result = result.expect("a result");
    assert_eq!(result["subtype"], "success", "{result}");
    assert_eq!(result["structured_output"], json!({}));
    assert_eq!(result["result"], text);
    assert_eq!(records.last().expect("idle")["state"], "idle");
}

// covers: DEC-40, DEC-42
#[test]
fn the_turn_limit_takes_no_output_away_that_hooks_or_tasks_want_more_of() {
    // A hook wants to go on where the limit forbids it.
    let mut b = limited(2, &[Stop]);
    submits(&mut b);
    b.says("done");
    b.hook_says(r#"{"continue":true}"#);
    ends_well(&b, "done");
    // Hooks are told of the end in front of a call that nothing follows, too.
    let mut b = limited(1, &[Stop]);
    submits(&mut b);
    assert_eq!(b.hooks().len(), 1);
    b.hook_says(r#"{"continue":true}"#);
    ends_well(&b, "");
    // The news of a task has no request left; the turn waits for it all the same.
    for events in [&[][..], &[Stop]] {
        let mut b = limited(3, events);
        submits(&mut b);
        b.calls(&[("t1", "Do", BACK)]);
        b.task_begins("t1");
        b.says("waiting");
        assert!(b.hooks().is_empty(), "the task holds the turn's end");
        b.task_ends("t1", ToolOutcome::text("built"));
        assert_eq!(b.hooks().len(), events.len());
        if !events.is_empty() {
            b.hook_says(r#"{"continue":true}"#);
        }
        ends_well(&b, "waiting");
    }
    // Where none was accepted, or another call wants an answer, the limit holds.
    let mut b = limited(1, &[Stop]);
    b.calls(&[("s1", TOOL, "{}"), ("t1", "Look", "{}")]);
    b.validated(Validity::Fits);
    b.tool_says("t1", "seen");
    assert!(b.briefs().contains(&"result error_max_turns".to_string()));
    let mut b = limited(2, &[]);
    b.calls(&[("t1", "Do", BACK)]);
    b.task_begins("t1");
    b.says("waiting");
    b.task_ends("t1", ToolOutcome::text("built"));
    assert!(b.briefs().contains(&"result error_max_turns".to_string()));
}
