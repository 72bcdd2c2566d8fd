//! What hooks answer, as programs and as callbacks of a host.

use agentx_core::hook::{Combined, Decision, Gather, HookEnd, HookEvent, HookOutput, HookReport};
use agentx_core::json::RawJson;
use serde_json::Value;

const EVENTS: [HookEvent; 8] = [
    HookEvent::PermissionRequest,
    HookEvent::PreToolUse,
    HookEvent::PostToolUse,
    HookEvent::UserPromptSubmit,
    HookEvent::Stop,
    HookEvent::PreCompact,
    HookEvent::SessionStart,
    HookEvent::SessionEnd,
];

/// The answer of a hook. Only one that says so allows anything, and no failure
/// of a hook that could deny does.
pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let said = serde_json::from_str::<Value>(&text).unwrap_or_default();
    for event in EVENTS {
        let program = HookOutput::parse(event, &text);
        let combined = gather(event, program);
        if matches!(combined.decision, Decision::Allow(_)) {
            assert!(said.is_null() || said["decision"] == "allow", "{event:?}");
        }
        let payload = RawJson::parse(&text).ok();
        let callback = HookOutput::of_callback(event, payload.as_ref());
        let failed = callback.is_err();
        let combined = gather(event, callback);
        if matches!(combined.decision, Decision::Allow(_)) {
            let specific = &said["hookSpecificOutput"];
            let behavior = [
                &specific["permissionDecision"],
                &specific["decision"]["behavior"],
            ];
            // Numbers of a hook may be beyond what serde_json takes.
            let approves = said.is_null() || said["decision"] == "approve";
            assert!(approves || behavior.iter().any(|word| **word == "allow"));
        }
        let denied = matches!(combined.decision, Decision::Deny(_));
        assert!(!failed || denied == event.failure_denies(), "{event:?}");
        reported(event, &text);
    }
}

fn gather(event: HookEvent, said: Result<HookOutput, agentx_core::hook::HookFault>) -> Combined {
    let mut gather = Gather::new(event, 1);
    let combined = gather.take(0, said).expect("the only hook has spoken");
    assert!(gather.is_settled());
    combined
}

/// The same as a run that ended with each status tells it: only 0 can allow.
fn reported(event: HookEvent, text: &str) {
    for status in [0, 1, 2, 77] {
        let report = HookReport {
            end: HookEnd::Exited(status),
            answer: text.to_owned(),
            stdout: String::new(),
            stderr: text.to_owned(),
        };
        let combined = gather(event, report.output(event));
        let allowed = matches!(combined.decision, Decision::Allow(_));
        assert!(!allowed || status == 0, "{event:?} with status {status}");
    }
}
