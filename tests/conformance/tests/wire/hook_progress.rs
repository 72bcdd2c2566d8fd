//! What a hook writes while it runs (DEC-43).

use crate::hooks::called;
use agentx_conformance::session::{Bench, bare, hooked};
use agentx_core::agent::{Config, Input};
use agentx_core::effect::Progress;
use agentx_core::guard::Guard;
use agentx_core::hook::HookEvent;
use serde_json::{Value, json};

/// The oldest hook that runs has written this so far; gives what is told of it.
fn writes(b: &mut Bench, stdout: &str, stderr: &str) -> Vec<Value> {
    let id = b.hooks().first().expect("a hook runs").0;
    b.feed(Input::Progress(
        id,
        Progress::Hook {
            stdout: stdout.to_string(),
            stderr: stderr.to_string(),
        },
    ));
    b.records()
}

// covers: DEC-43, DEC-47
#[test]
fn what_a_hook_writes_is_told_while_it_runs() {
    let mut b = called(hooked(&[HookEvent::PreToolUse]));
    assert!(b.hooks()[0].1.watched);
    let started = b.all_records();
    let started = started
        .iter()
        .find(|record| record["subtype"] == "hook_started");
    let started = started.expect("it started").clone();
    let told = writes(&mut b, "a\n", "b");
    assert_eq!(
        told.iter().map(bare).collect::<Vec<_>>(),
        [json!({
            "type": "system", "subtype": "hook_progress", "hook_id": started["hook_id"],
            "hook_name": "PreToolUse:Do", "hook_event": "PreToolUse",
            "stdout": "a\n", "stderr": "b", "output": "a\nb",
        })]
    );
    assert_eq!(writes(&mut b, "a\nc\n", "b").len(), 1);
    b.hook_says("");
    assert_eq!(b.briefs()[0], "system/hook_response");
}

// covers: DEC-43, DEC-36
#[test]
fn nothing_is_told_that_nobody_wants_or_reads() {
    let mut config = hooked(&[HookEvent::PreToolUse]);
    config.hooks.records = false;
    let mut b = called(config);
    assert!(!b.hooks()[0].1.watched);
    assert!(writes(&mut b, "a", "b").is_empty());
    let mut config = hooked(&[HookEvent::PreToolUse]);
    config.limits.progress_pause_bytes = 0;
    let mut b = called(config);
    assert!(writes(&mut b, "a", "b").is_empty(), "nobody reads");
    b.feed(Input::Sent(b.bytes.len()));
    assert_eq!(writes(&mut b, "a", "b").len(), 1);
}

// covers: DEC-30, DEC-43
#[test]
fn streams_that_spell_a_credential_together_are_told_without_it() {
    let mut b = called(Config {
        credentials: Guard::new(["sk-secret-key"]).expect("few literals"),
        ..hooked(&[HookEvent::PreToolUse])
    });
    let told = writes(&mut b, "sk-secret", "-key");
    assert_eq!(told[0]["output"], "[redacted]");
}
