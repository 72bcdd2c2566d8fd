//! Which callbacks of a host are for what, and when they come.

use crate::hook_callbacks::{decides, hooks, result_texts, special, with_hooks};
use crate::hooks::user_texts;
use agentx_conformance::session::{Bench, brief, config, hooked, reference};
use agentx_core::agent::Config;
use agentx_core::hook::{HookEvent, Matcher};
use serde_json::{Value, json};

#[test]
fn callbacks_are_for_the_tools_their_patterns_match() {
    let group = |matcher: Value, id: &str| json!([{"matcher": matcher, "hookCallbackIds": [id]}]);
    let mut b = Bench::new(reference());
    let mut pre = group(json!("Do|Loo."), "some");
    for (matcher, id) in [
        (json!(""), "all"),
        (json!("*"), "star"),
        (json!("("), "broken"),
    ] {
        let more = group(matcher, id);
        pre.as_array_mut()
            .expect("a list")
            .extend(more.as_array().cloned().unwrap_or_default());
    }
    b.initialize(json!({"hooks": {"PreToolUse": pre, "Stop": group(json!("Do"), "stop")}}));
    assert_eq!(b.matching().expect("patterns").1, ["(", "Do|Loo."]);
    b.patterns_match(&[None, Some(&["Do", "Look"])]);
    let told = "the matcher \"(\" of a hook is not a regular expression; it matches every tool";
    assert_eq!(b.diagnostics(), [told]);
    b.user("go");
    b.calls(&[
        ("t1", "Look", "{}"),
        ("t2", "Change", r#"{"file_path":"x"}"#),
    ]);
    let asked = |call: &str| {
        let of = b
            .callbacks()
            .into_iter()
            .filter(|(_, of)| of["tool_use_id"] == call);
        let ids = of.map(|(_, of)| of["callback_id"].as_str().unwrap_or_default().to_string());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(asked("t1"), ["some", "all", "star", "broken"]);
    assert_eq!(asked("t2"), ["all", "star", "broken"]);
    for (id, _) in b.callbacks() {
        b.respond(&id, &json!({}));
    }
    b.deny(&b.question("t2"));
    b.tool_says("t1", "seen");
    b.says("done");
    let (_, last) = b.callbacks().pop().expect("a callback");
    assert_eq!(last["callback_id"], "stop", "its pattern is about no tool");
}

#[test]
fn patterns_of_the_settings_are_resolved_again_with_those_of_the_host() {
    let mut config = Config {
        profile: reference().profile,
        ..hooked(&[HookEvent::PreToolUse])
    };
    config.hooks.records = false;
    let mut list = config.hooks.list.to_vec();
    list[0].matcher = Matcher::Tools([].into());
    list[0].pattern = Some("mcp__.*|Do".into());
    config.hooks.list = list.into();
    let mut b = Bench::new(config.clone());
    b.user("go");
    b.calls(&[("t1", "Do", "{}")]);
    assert!(
        b.hooks().is_empty(),
        "as it was resolved when settings were read"
    );
    let mut b = Bench::new(config);
    b.initialize(json!({}));
    assert_eq!(b.matching().expect("patterns").1, ["mcp__.*|Do"]);
    b.patterns_match(&[Some(&["Do"])]);
    b.user("go");
    b.calls(&[("t1", "Do", "{}")]);
    assert_eq!(b.hooks().len(), 1);
    b.hook_says("");
    b.deny(&b.question("t1"));
}

#[test]
fn no_call_escapes_a_hook_while_its_pattern_is_resolved() {
    let events = hooks(&["PreToolUse"], json!({"matcher": "Do"}));
    let begun = || {
        let mut b = Bench::new(reference());
        b.prompt(1, "go");
        b.initialize(events.clone());
        b.records();
        b.calls(&[("t1", "Do", "{}"), ("t2", "Look", "{}")]);
        assert!(b.questions().is_empty() && b.running().is_empty());
        b
    };
    let mut b = begun();
    b.patterns_match(&[Some(&["Do"])]);
    assert_eq!((b.callbacks().len(), b.running()), (1, vec!["t2".into()]));
    b.callback_says(&decides("deny"));
    assert_eq!(result_texts(&b), ["because deny"]);
    // What an interrupt has ended is not judged afterwards.
    let mut b = begun();
    b.control("r1", "interrupt");
    assert_eq!(result_texts(&b).len(), 2);
    b.patterns_match(&[Some(&["Do"])]);
    assert!(b.callbacks().is_empty() && b.running().is_empty());
    assert_eq!(
        b.records().pop().map(|record| brief(&record)).as_deref(),
        Some("ack init")
    );
}

#[test]
fn a_session_start_callback_is_told_behind_the_answer_and_before_a_turn() {
    let mut b = Bench::new(reference());
    b.initialize(hooks(&["SessionStart"], json!({})));
    b.prompt(1, "go");
    assert_eq!(b.briefs(), ["ack init", "callback h"]);
    b.callback_says(&special(
        "SessionStart",
        json!({"additionalContext": "it is late"}),
    ));
    assert_eq!(b.briefs(), ["system/init", "state running"]);
    assert_eq!(user_texts(&b), ["it is late", "go"]);
}

// covers: DEC-43
#[test]
fn callbacks_and_hooks_of_the_settings_speak_as_one() {
    let mut config = Config {
        profile: reference().profile,
        ..hooked(&[HookEvent::PreToolUse])
    };
    let mut b = with_hooks(config.clone(), &["PreToolUse"], json!({}));
    b.user("go");
    b.calls(&[("t1", "Do", "{}")]);
    let briefs = b.briefs();
    let last = &briefs[briefs.len() - 3..];
    assert_eq!(
        last,
        ["system/hook_started", "callback h", "system/hook_started"]
    );
    b.callback_says(&special(
        "PreToolUse",
        json!({"permissionDecision": "allow", "updatedInput": {"by": "host"}}),
    ));
    let record = b.records().pop().expect("a record");
    assert_eq!(record["subtype"], "hook_response");
    assert_eq!(record["outcome"], "success");
    assert_eq!(record.get("exit_code"), None);
    let shown: Value =
        serde_json::from_str(record["stdout"].as_str().expect("a text")).expect("JSON");
    assert_eq!(shown["hookSpecificOutput"]["updatedInput"]["by"], "host");
    // The settings have the last word.
    b.hook_says(r#"{"updatedInput":{"by":"settings"}}"#);
    assert_eq!(b.tool("t1").1.call.input.as_str(), r#"{"by":"settings"}"#);
    // A denial of either counts.
    let mut b = with_hooks(config.clone(), &["PreToolUse"], json!({}));
    b.user("go");
    b.calls(&[("t1", "Do", "{}")]);
    b.hook_says(r#"{"decision":"allow"}"#);
    b.callback_says(&decides("deny"));
    assert_eq!(result_texts(&b), ["because deny"]);
    // Without records the hooks run all the same.
    config.hooks.records = false;
    let mut b = with_hooks(config, &["PreToolUse"], json!({}));
    b.user("go");
    b.calls(&[("t1", "Do", "{}")]);
    b.hook_says("");
    b.callback_says(&json!({}));
    let records = b.all_records();
    let told = records.iter().filter(|record| {
        record["subtype"]
            .as_str()
            .is_some_and(|word| word.starts_with("hook_"))
    });
    assert_eq!((told.count(), b.questions().len()), (0, 1));
}

#[test]
fn the_strict_profile_registers_none() {
    let mut b = Bench::new(config());
    b.initialize(hooks(&["PreToolUse"], json!({})));
    let record = b.records().pop().expect("an answer");
    let told = "initialize does not accept operation fields";
    assert_eq!(record["response"]["error"], told);
}
