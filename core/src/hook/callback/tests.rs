//! What answers of a host come to.

use super::*;
use alloc::string::ToString as _;

const LEAVE: Decision = Decision::Allow(HookLeave(()));

fn read(event: HookEvent, payload: &str) -> Result<HookOutput, String> {
    let payload = RawJson::parse(payload).unwrap();
    HookOutput::of_callback(event, Some(&payload)).map_err(|fault| fault.to_string())
}

fn decision_of(event: HookEvent, payload: &str) -> Decision {
    read(event, payload).unwrap().decision
}

fn deny(reason: &str) -> Decision {
    Decision::Deny(reason.to_string())
}

#[test]
fn an_empty_object_and_members_that_are_not_known_decide_nothing() {
    for event in HookEvent::ALL {
        for payload in [
            "{}",
            r#"{"async":true,"asyncTimeout":5}"#,
            r#"{"continue":true,"suppressOutput":true,"stopReason":"x","permissionDecision":"allow"}"#,
        ] {
            let output = read(*event, payload).unwrap();
            assert_eq!(output, HookOutput::default(), "{payload}");
        }
    }
}

#[test]
fn a_call_is_decided_by_either_form_and_the_stronger_word_counts() {
    let special = |decision: &str| {
        alloc::format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"{decision}","permissionDecisionReason":"r"}}}}"#
        )
    };
    let pre = |payload: &str| decision_of(HookEvent::PreToolUse, payload);
    assert_eq!(pre(&special("allow")), LEAVE);
    assert_eq!(pre(&special("ask")), Decision::Ask("r".to_string()));
    assert_eq!(pre(&special("deny")), deny("r"));
    assert_eq!(pre(r#"{"decision":"approve"}"#), LEAVE);
    assert_eq!(pre(r#"{"decision":"block","reason":"no"}"#), deny("no"));
    let both = special("allow").replacen('{', r#"{"decision":"block","reason":"no","#, 1);
    assert_eq!(pre(&both), deny("no"));
    let both = special("deny").replacen('{', r#"{"decision":"approve","#, 1);
    assert_eq!(pre(&both), deny("r"));
    for event in [HookEvent::PermissionRequest, HookEvent::PostToolUse] {
        assert_eq!(
            decision_of(event, r#"{"decision":"approve"}"#),
            Decision::Pass
        );
    }
}

#[test]
fn a_question_is_answered_as_a_host_answers_it() {
    let read = |decision: &str| {
        let payload = alloc::format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{decision}}}}}"#
        );
        read(HookEvent::PermissionRequest, &payload)
    };
    let allowed = read(r#"{"behavior":"allow","updatedInput":{"a":1}}"#).unwrap();
    assert_eq!(allowed.decision, LEAVE);
    assert_eq!(allowed.updated_input.unwrap().as_str(), r#"{"a":1}"#);
    let denied = read(r#"{"behavior":"deny","message":"no","interrupt":true}"#).unwrap();
    assert_eq!((denied.decision, denied.interrupt), (deny("no"), true));
    for (decision, fault) in [
        ("null", "its decision is not an object"),
        ("{}", "its behavior is not one of allow, deny"),
        (
            r#"{"behavior":"Allow"}"#,
            "its behavior is not one of allow, deny",
        ),
        (
            r#"{"behavior":"allow","updatedInput":null}"#,
            "its updatedInput is not an object",
        ),
        (
            r#"{"behavior":"deny","interrupt":1}"#,
            "its interrupt is not true or false",
        ),
    ] {
        assert_eq!(read(decision), Err(fault.to_string()), "{decision}");
    }
}

// covers: DEC-33, WIRE-PERM-002
#[test]
fn what_is_not_understood_is_a_failure_with_its_reason() {
    let fault = HookOutput::of_callback(HookEvent::Stop, None).unwrap_err();
    assert_eq!(fault.to_string(), "its answer is no JSON object");
    for (payload, fault) in [
        ("[]", "its answer is no JSON object"),
        ("\"allow\"", "its answer is no JSON object"),
        (r#"{"continue":"no"}"#, "its continue is not true or false"),
        (r#"{"async":1}"#, "its async is not true or false"),
        (
            r#"{"decision":"allow"}"#,
            "its decision is not one of approve, block",
        ),
        (r#"{"decision":null}"#, "its decision is not a text"),
        (
            r#"{"decision":"block","reason":7}"#,
            "its reason is not a text",
        ),
        (
            r#"{"continue":false,"stopReason":[]}"#,
            "its stopReason is not a text",
        ),
        (r#"{"systemMessage":{}}"#, "its systemMessage is not a text"),
        (
            r#"{"hookSpecificOutput":7}"#,
            "its hookSpecificOutput is not an object",
        ),
        (
            r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#,
            "its hookEventName is not that of the event",
        ),
        (
            r#"{"hookSpecificOutput":{"hookEventName":"Stop"}}"#,
            "its hookEventName is not that of the event",
        ),
        (
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"Deny"}}"#,
            "its permissionDecision is not one of allow, deny, ask",
        ),
        (
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}"#,
            "its permissionDecision is not one of allow, deny, ask",
        ),
        (
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":[]}}"#,
            "its updatedInput is not an object",
        ),
        (
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":1}}"#,
            "its additionalContext is not a text",
        ),
    ] {
        let read = read(HookEvent::PreToolUse, payload);
        assert_eq!(read, Err(fault.to_string()), "{payload}");
    }
}

#[test]
fn a_turn_is_ended_by_continue_false_and_kept_going_by_a_context() {
    let halts = r#"{"continue":false,"stopReason":"enough"}"#;
    for event in HookEvent::ALL {
        let output = read(*event, halts).unwrap();
        assert_eq!(output.halt.as_deref(), Some("enough"));
        let denies = output.decision == deny("enough");
        assert_eq!(denies, event.failure_denies(), "{event:?}");
    }
    let stop = r#"{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"look"}}"#;
    let output = read(HookEvent::Stop, stop).unwrap();
    assert_eq!(
        (output.context.as_deref(), output.go_on),
        (Some("look"), true)
    );
    let post = r#"{"systemMessage":"m","hookSpecificOutput":{"hookEventName":"PostToolUse",
        "additionalContext":"c","updatedToolOutput":"other"}}"#;
    let output = read(HookEvent::PostToolUse, post).unwrap();
    assert_eq!((output.notice.as_deref(), output.go_on), (Some("m"), false));
    assert_eq!(output.result.unwrap().as_str(), "\"other\"");
}
