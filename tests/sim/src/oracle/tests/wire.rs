//! Laws, the output and requests.

use super::DENY;
use super::Stage;
use super::config;
use crate::event::Event;
use crate::kit::SECRET;
use agentx_core::agent;
use agentx_core::agent::Config;
use agentx_core::agent::Diagnostic;
use agentx_core::agent::Input;
use agentx_core::agent::Output;
use agentx_core::agent::Severity;
use agentx_core::correlate::OrphanPolicy;
use agentx_core::effect::Answer;
use agentx_core::effect::EffectId;
use agentx_core::effect::Request;
use agentx_core::effect::Verdict;
use agentx_core::json::RawJson;
use agentx_core::limits::Limits;
use agentx_core::machine::Misuse;

#[test]
fn laws_are_seen_to_be_broken() {
    let told = |play: fn(&mut Stage)| {
        let mut stage = Stage::new();
        stage.drained();
        play(&mut stage);
        stage.verdict()
    };
    assert_eq!(
        told(|s| {
            s.input(&Input::Tick).drained();
        }),
        Ok(())
    );
    assert_eq!(
        told(|s| {
            s.input(&Input::Tick).running();
        }),
        Err("law 3")
    );
    assert_eq!(
        told(|s| {
            s.out(&Output::Cancel(EffectId(7)));
        }),
        Err("law 5")
    );
    let twice = |s: &mut Stage| {
        s.starts(1, Request::FlushRemote)
            .starts(1, Request::FlushRemote);
    };
    assert_eq!(told(twice), Err("law 5"));
    assert_eq!(
        told(|s| {
            s.out(&Output::Exit(0)).running();
        }),
        Err("law 5")
    );
    let open = |s: &mut Stage| {
        s.starts(1, Request::FlushRemote).out(&Output::Exit(0));
    };
    assert_eq!(told(open), Err("law 5"));
    let misuse = |s: &mut Stage| s.see(&Event::AgentRefused(Misuse::WrongState));
    assert_eq!(told(misuse), Err("law 5"));
}

// covers: WIRE-003
#[test]
fn records_out_of_order_are_seen() {
    let mut stage = Stage::new();
    stage.running();
    stage.see(&Event::HostRead(br#"{"type":"system","subtype":"ses"#));
    assert_eq!(stage.verdict(), Ok(()));
    stage.see(&Event::HostRead(b"another"));
    assert_eq!(stage.verdict(), Err("WIRE-003"));

    let mut stage = Stage::new();
    stage.running().asks("r", "t");
    assert_eq!(stage.verdict(), Err("WIRE-003"), "{}", stage.told());

    let mut stage = Stage::question();
    stage.says(r#"{"type":"nothing"}"#);
    assert_eq!(stage.verdict(), Ok(()));
    stage.says(r#"{"type":"system","subtype":"session_state_changed","state":"requires_action","requires_action":{"request_id":"q","tool_name":"Do","tool_use_id":"u","input":{}}}"#)
        .says(r#"{"type":"nothing"}"#);
    assert_eq!(stage.verdict(), Err("WIRE-003"));
}

// covers: WIRE-003, WIRE-015
#[test]
fn what_a_validator_saw_is_what_leaves_and_one_at_a_time() {
    let vetted = || {
        Stage::with(Config {
            vet_records: true,
            ..config()
        })
    };
    let line = r#"{"type":"nothing"}"#;
    let copy = || format!("{line}\n").into_bytes();
    let mut stage = vetted();
    stage
        .starts(1, Request::Vet(copy()))
        .ends(1, Answer::Vetted(Verdict::Passed))
        .says(line);
    assert_eq!(stage.verdict(), Ok(()));
    stage.says(line);
    assert_eq!(stage.verdict(), Err("WIRE-015"));

    let mut stage = vetted();
    stage
        .starts(1, Request::Vet(copy()))
        .starts(2, Request::Vet(copy()));
    assert_eq!(stage.verdict(), Err("WIRE-003"));

    let mut stage = vetted();
    stage
        .starts(1, Request::Vet(copy()))
        .ends(1, Answer::Vetted(Verdict::Failed))
        .starts(2, Request::Vet(copy()));
    assert_eq!(stage.verdict(), Err("WIRE-015"));
}

// covers: WIRE-013, WIRE-015
#[test]
fn credentials_and_records_behind_a_closed_output_are_seen() {
    let spelled = SECRET.replacen('s', "\\u0073", 1);
    for secret in [SECRET, &spelled] {
        let mut stage = Stage::new();
        stage.says(&format!(r#"{{"type":"nothing","x":"{secret}"}}"#));
        assert_eq!(stage.verdict(), Err("WIRE-013"));
    }
    let mut stage = Stage::new();
    for half in [&SECRET[..9], &SECRET[9..]] {
        assert_eq!(stage.verdict(), Ok(()));
        stage.says(&format!(
            r#"{{"type":"stream_event","event":{{"type":"content_block_delta","delta":{{"text":"{half}"}}}}}}"#
        ));
    }
    assert_eq!(stage.verdict(), Err("WIRE-013"));

    let mut stage = Stage::new();
    stage.input(&Input::WriteFailed);
    assert_eq!(stage.verdict(), Ok(()));
    stage.running();
    assert_eq!(stage.verdict(), Err("WIRE-015"));

    let mut stage = Stage::new();
    let text = "a record held a credential and was not written; the session ends".to_string();
    let severity = Severity::Error;
    stage
        .out(&Output::Diagnostic(Diagnostic { severity, text }))
        .running();
    assert_eq!(stage.verdict(), Err("WIRE-015"));
}

// covers: WIRE-006, WIRE-007, WIRE-008
#[test]
fn requests_that_are_closed_twice_or_never_are_seen() {
    let mut stage = Stage::question();
    stage.call("u", "Do").asks("r", "u");
    assert_eq!(stage.verdict(), Err("WIRE-006"));

    let mut stage = Stage::question();
    stage.withdraws("other");
    assert_eq!(stage.verdict(), Err("WIRE-006"));

    let mut stage = Stage::question();
    stage.drained();
    assert_eq!(
        stage.verdict(),
        Err("WIRE-006"),
        "nobody waits for the answer"
    );

    let mut stage = Stage::question();
    stage.input(&Input::Sent(1)).withdraws("r");
    assert_eq!(stage.verdict(), Err("WIRE-007"), "nothing took it back");

    let mut stage = Stage::question();
    stage.interrupt("i").withdraws("r");
    assert_eq!(stage.verdict(), Ok(()));
    stage.withdraws("r");
    assert_eq!(stage.verdict(), Err("WIRE-007"));

    let mut stage = Stage::question();
    stage.input(&Input::Eof).withdraws("r");
    assert_eq!(stage.verdict(), Err("WIRE-008"));

    let mut stage = Stage::question();
    stage
        .input(&Input::Eof)
        .input(&Input::Sent(1))
        .call("u", "Do")
        .asks("q", "u");
    assert_eq!(stage.verdict(), Err("WIRE-008"));
}

// covers: WIRE-PERM-071, WIRE-PERM-072
#[test]
fn stray_answers_are_judged_by_the_ledger() {
    let stray = |orphans, limit, play: fn(&mut Stage)| {
        let limits = Limits {
            resolved_tool_uses: limit,
            ..Limits::DEFAULT
        };
        let mut stage = Stage::with(Config {
            orphans,
            limits,
            ..config()
        });
        play(&mut stage);
        stage.drained();
        (stage.verdict(), stage.told())
    };
    let known = |s: &mut Stage| {
        resolve_two(s);
        s.answers(
            "x",
            r#"{"behavior":"allow","updatedInput":{},"toolUseID":"t1"}"#,
        );
    };
    assert_eq!(stray(OrphanPolicy::Ignore, 1_000, known).0, Ok(()));
    assert_eq!(
        stray(OrphanPolicy::Ignore, 1, known).0,
        Err("WIRE-PERM-071"),
        "it was forgotten, so it is told"
    );
    let told = |s: &mut Stage| {
        resolve_two(s);
        s.answers(
            "x",
            r#"{"behavior":"allow","updatedInput":{},"toolUseID":"t1"}"#,
        );
        warn(s);
    };
    assert_eq!(stray(OrphanPolicy::Ignore, 1, told).0, Ok(()));
    assert_eq!(
        stray(OrphanPolicy::Ignore, 1_000, told).0,
        Err("WIRE-PERM-071")
    );
    let offers = |s: &mut Stage| {
        s.answers(
            "x",
            r#"{"behavior":"allow","updatedInput":{},"toolUseID":"t9"}"#,
        );
        s.out(&Output::Event(agent::Event::OrphanAnswer {
            tool_use_id: "t9".to_string(),
            payload: RawJson::empty_object(),
        }));
    };
    assert_eq!(stray(OrphanPolicy::AdmitOnce, 9, offers).0, Ok(()));
    assert_eq!(
        stray(OrphanPolicy::Ignore, 9, offers).0,
        Err("WIRE-PERM-072")
    );
    let again = |s: &mut Stage| {
        for _ in 0..2 {
            s.drained();
            s.answers(
                "x",
                r#"{"behavior":"allow","updatedInput":{},"toolUseID":"t9"}"#,
            );
            s.out(&Output::Event(agent::Event::OrphanAnswer {
                tool_use_id: "t9".to_string(),
                payload: RawJson::empty_object(),
            }));
        }
    };
    assert_eq!(
        stray(OrphanPolicy::AdmitOnce, 9, again).0,
        Err("WIRE-PERM-072")
    );
}

fn warn(stage: &mut Stage) {
    let text = "a control response matches no open request and was ignored".to_string();
    let severity = Severity::Warning;
    stage.out(&Output::Diagnostic(Diagnostic { severity, text }));
}

fn resolve_two(stage: &mut Stage) {
    stage.prompt(1, "next").running();
    for n in ["1", "2"] {
        stage
            .call(&format!("t{n}"), "Do")
            .asks(&format!("r{n}"), &format!("t{n}"));
    }
    for n in ["1", "2"] {
        stage
            .answers(&format!("r{n}"), DENY)
            .result(&format!("t{n}"), true, "no");
    }
    let named: Vec<_> = ["1", "2"]
        .map(|n| format!(r#"{{"tool_name":"Do","tool_use_id":"t{n}"}}"#))
        .into();
    stage.running().success_without(1, &named.join(",")).idle();
}
