//! Calls, their questions and permission updates.

use super::ALLOW;
use super::DENY;
use super::Stage;
use agentx_core::agent::Input;
use agentx_core::effect::Answer;
use agentx_core::effect::Request;
use agentx_core::hook::HookEnd;
use agentx_core::hook::HookEvent;
use agentx_core::hook::HookReport;
use agentx_core::hook::HookRequest;
use agentx_core::json::RawJson;
use agentx_core::schema::permission::Behavior;
use agentx_core::schema::permission::Destination;
use agentx_core::schema::permission::PermissionRule;
use agentx_core::schema::permission::PermissionUpdate;
use agentx_core::schema::permission::RulesAction;
use agentx_core::schema::permission::RulesUpdate;
use agentx_core::tool::ToolOutcome;
use std::sync::Arc;
use std::time::Duration;

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
    let input = format!(r#"{{"tool_use_id":"{call}","tool_input":{{"a":1}}}}"#);
    Request::Hook(Box::new(HookRequest {
        hook: 0,
        event: HookEvent::PermissionRequest,
        input: RawJson::parse(&input).expect("an input"),
        timeout: Duration::from_secs(1),
        directory: "/repo".into(),
        environment: Arc::default(),
        watched: false,
    }))
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
