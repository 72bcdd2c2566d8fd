//! Answers of hooks, read and combined.

use super::*;
use alloc::string::ToString as _;
use alloc::vec;

fn parse(event: HookEvent, printed: &str) -> Result<HookOutput, HookFault> {
    HookOutput::parse(event, printed)
}

fn combine(event: HookEvent, printed: &[&str]) -> Combined {
    let mut gather = Gather::new(event, printed.len());
    let mut all = None;
    // The last one ends first: what hooks say together does not depend on that.
    for (nth, printed) in printed.iter().enumerate().rev() {
        assert_eq!(all, None);
        all = gather.take(nth, parse(event, printed));
    }
    assert!(gather.is_settled());
    all.expect("all are in")
}

#[test]
fn an_answer_has_six_members_and_all_may_be_missing() {
    let empty = r#"{"updatedInput":{},"additionalContext":" "}"#;
    for printed in ["", " \n", "{}", r#"{"decision":"pass"}"#, empty] {
        let output = parse(HookEvent::PreToolUse, printed);
        assert_eq!(output, Ok(HookOutput::default()), "{printed}");
    }
    let all = r#" {"decision":"allow","message":"m","updatedInput":{"a":1.0},
        "updatedPermissions":[],"additionalContext":"c","continue":true} "#;
    let output = parse(HookEvent::PreToolUse, all).unwrap();
    assert!(matches!(output.decision, Decision::Allow(_)));
    assert_eq!(output.updated_input.unwrap().as_str(), r#"{"a":1.0}"#);
    assert_eq!((output.context.as_deref(), output.go_on), (Some("c"), true));
    let deny = parse(HookEvent::Stop, r#"{"decision":"deny","message":"m"}"#).unwrap();
    assert_eq!(deny.decision, Decision::Deny("m".to_string()));
}

// covers: DEC-33, WIRE-PERM-002
#[test]
fn what_is_no_answer_is_a_failure_with_its_reason() {
    let list = r#"{"updatedPermissions":[{"type":"setMode"}]}"#;
    for (printed, fault) in [
        ("ok", "it printed something else than one JSON object"),
        ("[]", "it printed something else than one JSON object"),
        ("{} {}", "it printed something else than one JSON object"),
        (
            r#"{"decision":"deny","decision":"allow"}"#,
            "it printed something else than one JSON object",
        ),
        (
            r#"{"message":"\ud800"}"#,
            "its answer holds an unpaired surrogate escape",
        ),
        (
            r#"{"permissionDecision":"deny"}"#,
            "its answer has the unknown member \"permissionDecision\"",
        ),
        (
            r#"{"a-name-that-could-begin-with-half-a-credential":1}"#,
            "its answer has an unknown member with a long name",
        ),
        (
            r#"{"decision":"ask"}"#,
            "its decision is not one of allow, deny, pass",
        ),
        (r#"{"decision":null}"#, "its decision is not a text"),
        (r#"{"message":7}"#, "its message is not a text"),
        (
            r#"{"updatedInput":[]}"#,
            "its updatedInput is not an object",
        ),
        (
            list,
            "its updatedPermissions is not a list of permission updates",
        ),
        (
            r#"{"additionalContext":{}}"#,
            "its additionalContext is not a text",
        ),
        (r#"{"continue":"yes"}"#, "its continue is not true or false"),
    ] {
        let told = parse(HookEvent::PermissionRequest, printed).unwrap_err();
        assert_eq!(told.to_string(), fault, "{printed}");
    }
    let ask = parse(HookEvent::PreToolUse, r#"{"decision":"ask"}"#).unwrap();
    assert!(matches!(ask.decision, Decision::Ask(_)));
}

#[test]
fn a_run_says_by_its_status_how_it_is_meant() {
    let report = |end| HookReport {
        end,
        answer: r#"{"decision":"allow"}"#.to_string(),
        stdout: "shown".to_string(),
        stderr: " why\n".to_string(),
    };
    let output = |end| report(end).output(HookEvent::PreToolUse);
    let allows = output(HookEnd::Exited(0)).unwrap();
    assert!(matches!(allows.decision, Decision::Allow(_)));
    let denies = output(HookEnd::Exited(2)).unwrap();
    assert_eq!(denies, HookOutput::denial("why".to_string()));
    assert_eq!(output(HookEnd::Exited(1)), Err(HookFault::Status(1)));
    let gone = HookEnd::Failed("it is gone".to_string());
    assert_eq!(
        output(gone.clone()),
        Err(HookFault::Run("it is gone".to_string()))
    );
    assert_eq!(report(gone).status(), None);
}

#[test]
fn deny_beats_ask_beats_allow() {
    let word = |printed: &[&str]| match combine(HookEvent::PreToolUse, printed).decision {
        Decision::Pass => "pass".to_string(),
        Decision::Allow(_) => "allow".to_string(),
        Decision::Ask(reason) => ["ask ", &reason].concat(),
        Decision::Deny(reason) => ["deny ", &reason].concat(),
    };
    let (allow, pass) = (r#"{"decision":"allow"}"#, "");
    let ask = r#"{"decision":"ask","message":"a"}"#;
    assert_eq!(word(&[pass, pass]), "pass");
    assert_eq!(word(&[pass, allow]), "allow");
    assert_eq!(word(&[allow, ask, allow]), "ask a");
    let mut gather = Gather::new(HookEvent::PreToolUse, 2);
    let denied = gather.take(1, parse(HookEvent::PreToolUse, r#"{"decision":"deny"}"#));
    assert!(matches!(denied.unwrap().decision, Decision::Deny(_)));
    assert_eq!(gather.take(0, parse(HookEvent::PreToolUse, allow)), None);
}

#[test]
fn contexts_stand_in_order_and_the_last_input_counts() {
    let first = r#"{"decision":"allow","updatedInput":{"n":1},"additionalContext":"one",
        "updatedPermissions":[{"type":"setMode","mode":"plan","destination":"session"}]}"#;
    let second = r#"{"updatedInput":{"n":2},"additionalContext":"two",
        "updatedPermissions":[{"type":"setMode","mode":"default","destination":"session"}]}"#;
    let all = combine(HookEvent::PreToolUse, &[first, second, ""]);
    assert_eq!(all.context, vec!["one", "two"]);
    assert_eq!(all.updated_input.unwrap().as_str(), r#"{"n":2}"#);
    assert_eq!(all.updates.len(), 1, "only of hooks that allow");
}

#[test]
fn where_nothing_is_decided_a_failure_has_no_say_and_all_are_heard() {
    let mut gather = Gather::new(HookEvent::PostToolUse, 3);
    let take = |gather: &mut Gather, nth, printed| {
        gather.take(nth, parse(HookEvent::PostToolUse, printed))
    };
    assert_eq!(
        take(&mut gather, 0, r#"{"decision":"deny","message":"m"}"#),
        None
    );
    assert_eq!(take(&mut gather, 1, "garbage"), None);
    let all = take(&mut gather, 2, r#"{"additionalContext":"c"}"#).unwrap();
    assert_eq!(all.decision, Decision::Deny("m".to_string()));
    assert_eq!((all.failed, all.context), (false, vec!["c".to_string()]));
}

#[test]
fn hooks_are_chosen_by_event_and_tool() {
    let hook = |event, matcher| Hook {
        event,
        matcher,
        pattern: None,
        timeout: Duration::from_secs(1),
        callback: None,
    };
    let some = Matcher::Tools(["Write".into(), "Edit".into()].into());
    let hooks = Hooks {
        list: vec![
            hook(HookEvent::PreToolUse, some),
            hook(HookEvent::PreToolUse, Matcher::All),
            hook(HookEvent::Stop, Matcher::All),
        ]
        .into(),
        ..Hooks::default()
    };
    let of = |event, tool| hooks.of(event, tool);
    assert_eq!(of(HookEvent::PreToolUse, Some("Write")), vec![0, 1]);
    assert_eq!(of(HookEvent::PreToolUse, Some("NotWrite")), vec![1]);
    assert_eq!(of(HookEvent::Stop, None), vec![2]);
    assert!(hooks.any(HookEvent::Stop) && !hooks.any(HookEvent::SessionEnd));
}
