//! Calls, their questions and permission updates.

use super::ALLOW;
use super::DENY;
use super::Stage;
use super::hook_run;
use crate::kit::kit;
use agentx_core::agent::Config;
use agentx_core::agent::Input;
use agentx_core::effect::Answer;
use agentx_core::effect::Request;
use agentx_core::hook::HookEnd;
use agentx_core::hook::HookEvent;
use agentx_core::hook::HookReport;
use agentx_core::json::RawJson;
use agentx_core::model::Block;
use agentx_core::model::Message;
use agentx_core::model::ToolResult;
use agentx_core::schema::permission::Behavior;
use agentx_core::schema::permission::Destination;
use agentx_core::schema::permission::PermissionRule;
use agentx_core::schema::permission::PermissionUpdate;
use agentx_core::schema::permission::RulesAction;
use agentx_core::schema::permission::RulesUpdate;
use agentx_core::tool::ToolCall;
use agentx_core::tool::ToolOutcome;
use std::sync::Arc;

// covers: WIRE-PERM-001, WIRE-PERM-002, WIRE-PERM-010, WIRE-PERM-040, WIRE-PERM-060, WIRE-PERM-070
#[test]
fn calls_that_do_not_do_what_was_ruled_are_seen() {
    let ruled = |answer: &str, play: fn(&mut Stage)| {
        let mut stage = Stage::question();
        if !answer.is_empty() {
            stage.answers("r", answer).running();
        }
        play(&mut stage);
        stage.verdict()
    };
    let own: fn(&mut Stage) = |s| {
        s.runs(1, "t", r#"{"a":1}"#);
    };
    assert_eq!(ruled(ALLOW, own), Ok(()));
    assert_eq!(ruled(DENY, own), Err("WIRE-PERM-001"));
    assert_eq!(
        ruled("{}", own),
        Err("WIRE-PERM-002"),
        "what cannot be read denies"
    );
    assert_eq!(
        ruled("", own),
        Err("WIRE-PERM-002"),
        "nobody has said anything"
    );
    let other = r#"{"behavior":"allow","updatedInput":{"b":2}}"#;
    assert_eq!(ruled(other, own), Err("WIRE-PERM-040"));
    assert_eq!(
        ruled(other, |s| {
            s.runs(1, "t", r#"{"b":2}"#);
        }),
        Ok(())
    );
    let failed: fn(&mut Stage) = |s| {
        s.result(
            "t",
            true,
            "Tool permission request failed: the answer is for another.",
        );
    };
    assert_eq!(ruled(ALLOW, failed), Err("WIRE-PERM-010"));
    assert_eq!(ruled("[]", failed), Ok(()));
    assert_eq!(
        ruled("[]", |s| {
            s.result("t", true, "no");
        }),
        Err("WIRE-PERM-060")
    );
    assert_eq!(
        ruled(DENY, |s| {
            s.result("t", true, "no");
        }),
        Ok(())
    );
    assert_eq!(
        ruled(DENY, |s| {
            s.result("t", true, "never");
        }),
        Err("WIRE-PERM-001")
    );
    assert_eq!(
        ruled(DENY, |s| {
            s.result("t", false, "no");
        }),
        Err("WIRE-PERM-002")
    );
    let twice: fn(&mut Stage) = |s| {
        s.result("t", true, "no").result("t", true, "no");
    };
    assert_eq!(ruled(DENY, twice), Err("WIRE-PERM-060"));
    let again: fn(&mut Stage) = |s| {
        s.runs(1, "t", r#"{"a":1}"#)
            .ends(1, Answer::Tool(ToolOutcome::text("x")))
            .runs(2, "t", r#"{"a":1}"#);
    };
    assert_eq!(ruled(ALLOW, again), Err("DEC-32"));
    assert_eq!(
        ruled(DENY, |s| {
            s.drained();
        }),
        Err("WIRE-PERM-060"),
        "the call is stranded"
    );

    let mut stage = Stage::question();
    stage.interrupt("i").withdraws("r").runs(1, "t", "{}");
    assert_eq!(stage.verdict(), Err("WIRE-PERM-070"));
    let mut stage = Stage::new();
    stage.running().result("t", true, "no");
    assert_eq!(stage.verdict(), Err("WIRE-003"));
    let mut stage = Stage::new();
    stage
        .prompt(1, "next")
        .running()
        .call("t", "Look")
        .success(1);
    assert_eq!(stage.verdict(), Err("WIRE-PERM-060"), "{}", stage.told());
}

fn hook(call: &str) -> Request {
    looks(HookEvent::PermissionRequest, call)
}

fn looks(event: HookEvent, call: &str) -> Request {
    let input = format!(r#"{{"tool_use_id":"{call}","tool_input":{{"a":1}}}}"#);
    hook_run(event, &input)
}

fn hook_says(answer: &str) -> Answer {
    Answer::Hook(HookReport {
        end: HookEnd::Exited(0),
        answer: answer.to_string(),
        stdout: String::new(),
        stderr: String::new(),
    })
}

// covers: WIRE-PERM-001, WIRE-PERM-002
#[test]
fn the_first_decisive_answer_is_known_in_both_orders() {
    let race = |host_first: bool, host: &str, hook_answer: &str| {
        let mut stage = Stage::question();
        stage.starts(1, hook("t"));
        if host_first {
            stage.answers("r", host).ends(1, hook_says(hook_answer));
        } else {
            stage.ends(1, hook_says(hook_answer)).answers("r", host);
        }
        stage.runs(2, "t", r#"{"a":1}"#);
        stage.verdict()
    };
    let (allow, deny) = (r#"{"decision":"allow"}"#, r#"{"decision":"deny"}"#);
    assert_eq!(race(true, ALLOW, deny), Ok(()));
    assert_eq!(race(false, ALLOW, deny), Err("WIRE-PERM-001"));
    assert_eq!(race(true, DENY, allow), Err("WIRE-PERM-001"));
    assert_eq!(race(false, DENY, allow), Ok(()));
    assert_eq!(
        race(false, DENY, ""),
        Err("WIRE-PERM-001"),
        "a pass decides nothing"
    );
    assert_eq!(
        race(false, ALLOW, "garbage"),
        Err("WIRE-PERM-001"),
        "a failure denies"
    );
}

// covers: WIRE-EOF-001, WIRE-008
#[test]
fn an_answer_without_its_newline_counts() {
    let ended = |play: fn(&mut Stage)| {
        let mut stage = Stage::question();
        let line = format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"r","response":{ALLOW}}}}}"#
        );
        stage
            .input(&Input::Bytes(line.as_bytes()))
            .input(&Input::Eof);
        play(&mut stage);
        stage.verdict()
    };
    assert_eq!(
        ended(|s| {
            s.runs(1, "t", r#"{"a":1}"#);
        }),
        Ok(())
    );
    let closed: fn(&mut Stage) = |s| {
        s.result(
            "t",
            true,
            "Tool permission request failed: the permission stream closed.",
        );
    };
    assert_eq!(ended(closed), Err("WIRE-EOF-001"));

    let mut stage = Stage::question();
    stage.input(&Input::Eof).drained();
    assert_eq!(
        stage.verdict(),
        Err("WIRE-PERM-060"),
        "the call has no result: {}",
        stage.told()
    );
    let mut stage = Stage::question();
    stage.input(&Input::Eof);
    closed(&mut stage);
    stage.drained();
    assert_eq!(
        stage.verdict(),
        Err("WIRE-008"),
        "the state is left behind: {}",
        stage.told()
    );
}

// covers: WIRE-PERM-030
#[test]
fn updates_out_of_order_are_seen() {
    let rule = |action, destination| {
        PermissionUpdate::Rules(RulesUpdate {
            action,
            rules: vec![PermissionRule {
                tool_name: "Do".to_string(),
                rule_content: None,
            }],
            behavior: Behavior::Allow,
            destination,
        })
    };
    let text = |kind: &str, place: &str| {
        format!(
            r#"{{"type":"{kind}","rules":[{{"toolName":"Do"}}],"behavior":"allow","destination":"{place}"}}"#
        )
    };
    let answer = format!(
        r#"{{"behavior":"allow","updatedInput":{{}},"updatedPermissions":[{},{},{}]}}"#,
        text("addRules", "userSettings"),
        text("addRules", "session"),
        text("removeRules", "localSettings")
    );
    let add = rule(RulesAction::Add, Destination::UserSettings);
    let remove = rule(RulesAction::Remove, Destination::LocalSettings);
    let stored = |list: Vec<PermissionUpdate>| {
        let mut stage = Stage::question();
        stage
            .answers("r", &answer)
            .starts(1, Request::Persist(list));
        stage
    };
    let mut stage = stored(vec![add.clone(), remove.clone()]);
    assert_eq!(stage.verdict(), Ok(()), "{}", stage.told());
    assert_eq!(stored(vec![remove, add]).verdict(), Err("WIRE-PERM-030"));
    // The rule holds for the next call, which is not asked about.
    stage
        .running()
        .runs(2, "t", r#"{"a":1}"#)
        .ends(2, Answer::Tool(ToolOutcome::text("x")));
    stage.result("t", false, "x").call("u", "Do");
    assert_eq!(stage.verdict(), Ok(()), "{}", stage.told());
    stage.asks("q", "u");
    assert_eq!(stage.verdict(), Err("WIRE-PERM-030"));

    let mut stage = Stage::new();
    stage
        .prompt(1, "next")
        .running()
        .call("t", "Do")
        .runs(1, "t", r#"{"a":1}"#);
    assert_eq!(stage.verdict(), Err("WIRE-PERM-030"), "nobody was asked");
}

/// Hooks of `PreToolUse` judge calls.
fn with_judges() -> Config {
    let hooks = kit().hooks.iter();
    let list = hooks.filter(|hook| hook.event == HookEvent::PreToolUse);
    let mut config = super::config();
    config.hooks.list = list.cloned().collect();
    config
}

// covers: DEC-31
#[test]
fn a_call_that_runs_although_a_hook_denies_it_is_seen() {
    let judged = |report: Answer| {
        let mut stage = Stage::with(with_judges());
        stage.prompt(1, "next").running().call("t", "Do");
        stage
            .starts(1, looks(HookEvent::PreToolUse, "t"))
            .ends(1, report);
        stage.runs(2, "t", r#"{"a":1}"#);
        stage.verdict()
    };
    let ended = |status| {
        Answer::Hook(HookReport {
            end: HookEnd::Exited(status),
            ..HookReport::failed("")
        })
    };
    assert_eq!(judged(hook_says(r#"{"decision":"allow"}"#)), Ok(()));
    assert_eq!(judged(hook_says(r#"{"decision":"deny"}"#)), Err("DEC-31"));
    assert_eq!(judged(ended(2)), Err("DEC-31"));
    assert_eq!(judged(ended(7)), Ok(()), "where a failure has no say");
}

// covers: DEC-31
#[test]
fn a_hook_that_lifts_a_rule_is_seen() {
    let run = |tool: &str| {
        let mut config = with_judges();
        config.settings = kit().settings[2].clone();
        let mut stage = Stage::with(config);
        stage.prompt(1, "next").running().call("t", tool);
        stage.starts(1, looks(HookEvent::PreToolUse, "t"));
        stage.ends(1, hook_says(r#"{"decision":"allow"}"#));
        stage.runs_tool(2, "t", tool, r#"{"a":1}"#);
        stage.verdict()
    };
    assert_eq!(run("Do"), Ok(()));
    assert_eq!(run("Change"), Err("WIRE-PERM-030"), "a rule denies it");
}

// covers: DEC-27, WIRE-PERM-042
#[test]
fn a_denial_that_ends_no_turn_or_is_not_named_is_seen() {
    let denied = |play: fn(&mut Stage)| {
        let mut stage = Stage::question();
        stage.call("u", "Do");
        stage.answers(
            "r",
            r#"{"behavior":"deny","message":"no","interrupt":true}"#,
        );
        stage.running().result("t", true, "no");
        play(&mut stage);
        stage.drained();
        (stage.verdict(), stage.told())
    };
    let ends: fn(&mut Stage) = |s| {
        s.result("u", true, "x");
    };
    assert_eq!(denied(ends), (Ok(()), String::new()));
    assert_eq!(denied(|_| {}).0, Err("WIRE-PERM-042"), "the turn goes on");

    let named = |denials: &str| {
        let mut stage = Stage::question();
        stage.answers("r", DENY).running().result("t", true, "no");
        stage.success_without(1, denials);
        stage.verdict()
    };
    assert_eq!(named(r#"{"tool_name":"Do","tool_use_id":"t"}"#), Ok(()));
    assert_eq!(named(""), Err("DEC-27"));
}

// covers: DEC-26, DEC-30
#[test]
fn a_result_that_is_not_how_its_call_ended_is_seen() {
    let told = |outcome: ToolOutcome, is_error: bool, text: &str| {
        let mut stage = Stage::question();
        stage.answers("r", ALLOW).running();
        stage.runs(1, "t", r#"{"a":1}"#);
        stage.ends(1, Answer::Tool(outcome));
        stage.result("t", is_error, text);
        stage.verdict()
    };
    let done = || ToolOutcome::text("done");
    assert_eq!(told(done(), false, "done"), Ok(()));
    assert_eq!(told(done(), true, "done"), Err("DEC-26"));
    assert_eq!(told(done(), false, "none"), Err("DEC-26"));
    let failed = || ToolOutcome::error("done");
    assert_eq!(told(failed(), true, "done"), Ok(()));
    assert_eq!(told(failed(), false, "done"), Err("DEC-26"));

    let mut stage = Stage::question();
    stage.answers("r", ALLOW).running();
    stage.runs(1, "t", r#"{"a":1}"#);
    let leak = || Answer::Tool(ToolOutcome::text(crate::kit::SECRET));
    stage.ends(1, leak()).out(&super::closed());
    assert_eq!(stage.verdict(), Err("DEC-30"), "the session ends of it");
    let mut stage = Stage::question();
    stage.answers("r", ALLOW).running();
    stage.runs(1, "t", r#"{"a":1}"#).ends(1, leak());
    stage.result("t", false, "[redacted]").success(1);
    stage.out(&super::closed());
    assert_eq!(stage.verdict(), Ok(()), "of what follows");

    let read = |text: &str| {
        let mut stage = Stage::question();
        stage.answers("r", DENY).running().result("t", true, "no");
        let result = ToolResult {
            tool_use_id: "t".into(),
            content: ToolOutcome::error(text).content,
            is_error: true,
        };
        let call = Block::ToolCall(ToolCall {
            id: "t".into(),
            name: "Do".into(),
            input: RawJson::empty_object(),
        });
        stage.starts(
            1,
            super::model_request_of(vec![
                Arc::new(Message::Assistant(vec![call])),
                Arc::new(Message::ToolResults(vec![result])),
            ]),
        );
        stage.verdict()
    };
    assert_eq!(read("no"), Ok(()));
    assert_eq!(read(""), Err("DEC-26"), "the model reads something else");
}
