//! Interrupts, states and prompts.

use super::Stage;
use super::config;
use super::model_request;
use super::uuid;
use agentx_core::agent::Command;
use agentx_core::agent::Config;
use agentx_core::agent::Input;
use agentx_core::agent::Output;
use agentx_core::effect::Answer;
use agentx_core::effect::EffectId;
use agentx_core::effect::Request;
use agentx_core::hook::HookEvent;
use agentx_core::hook::HookReport;
use agentx_core::hook::HookRequest;
use agentx_core::json::RawJson;
use agentx_core::limits::Limits;
use agentx_core::model::ModelOutcome;
use std::sync::Arc;
use std::time::Duration;

/// The end of a session whose input cannot be read.
const UNREADABLE: &str = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"stop_reason":"input_error","num_turns":0,"errors":["malformed NDJSON input: line 1"]}"#;

// covers: WIRE-010, WIRE-011
#[test]
fn an_interrupt_out_of_order_is_seen() {
    let after = |play: fn(&mut Stage)| {
        let mut stage = Stage::question();
        stage.call("u", "Do").asks("q", "u").interrupt("i");
        play(&mut stage);
        (stage.verdict(), stage.told())
    };
    let sound = |s: &mut Stage| {
        s.withdraws("r").withdraws("q").acknowledges("i").running();
        s.result("t", true, "x")
            .result("u", true, "x")
            .cancelled(1)
            .idle()
            .drained();
    };
    assert_eq!(after(sound), (Ok(()), String::new()));
    let early: fn(&mut Stage) = |s| {
        s.withdraws("r").acknowledges("i");
    };
    assert_eq!(after(early).0, Err("WIRE-011"));
    assert_eq!(
        after(|s| {
            s.withdraws("q").withdraws("r");
        })
        .0,
        Err("WIRE-011")
    );
    let payload: fn(&mut Stage) = |s| {
        s.withdraws("r").withdraws("q").says(
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"i","response":{}}}"#,
        );
    };
    assert_eq!(after(payload).0, Err("WIRE-010"));
    let late: fn(&mut Stage) = |s| {
        s.withdraws("r").withdraws("q").running();
    };
    assert_eq!(after(late).0, Err("WIRE-010"));
    let disorder: fn(&mut Stage) = |s| {
        s.withdraws("r").withdraws("q").acknowledges("i").running();
        s.result("u", true, "x").result("t", true, "x");
    };
    assert_eq!(after(disorder).0, Err("WIRE-010"));
    let well: fn(&mut Stage) = |s| {
        s.withdraws("r").withdraws("q").acknowledges("i").running();
        s.result("t", true, "x").result("u", true, "x").success(1);
    };
    assert_eq!(after(well).0, Err("WIRE-010"));
    let unsaid: fn(&mut Stage) = |s| {
        s.withdraws("r").withdraws("q").drained();
    };
    assert_eq!(after(unsaid).0, Err("WIRE-010"));

    let mut stage = Stage::new();
    stage.prompt(1, "next").running().starts(1, model_request());
    stage.interrupt("i").acknowledges("i").drained();
    assert_eq!(stage.verdict(), Err("WIRE-010"), "the model goes on");
}

// covers: WIRE-004
#[test]
fn states_that_are_not_so_are_seen() {
    let told = |play: fn(&mut Stage)| {
        let mut stage = Stage::new();
        stage.prompt(1, "next").running();
        play(&mut stage);
        stage.verdict()
    };
    assert_eq!(
        told(|s| {
            s.success(1).idle();
        }),
        Ok(())
    );
    assert_eq!(
        told(|s| {
            s.idle();
        }),
        Err("WIRE-004")
    );
    assert_eq!(
        told(|s| {
            s.running();
        }),
        Err("DEC-12")
    );
    assert_eq!(
        told(|s| {
            s.starts(1, model_request()).success(1);
        }),
        Err("WIRE-004")
    );
    let flush: fn(&mut Stage) = |s| {
        s.success(1).starts(1, Request::FlushRemote).idle();
    };
    assert_eq!(told(flush), Err("WIRE-004"));
    let task: fn(&mut Stage) = |s| {
        s.says(r#"{"type":"system","subtype":"task_started","task_id":"x"}"#)
            .success(1);
    };
    assert_eq!(told(task), Err("WIRE-004"));
    assert_eq!(
        told(|s| {
            s.call("t", "Do").asks("r", "t").running();
        }),
        Err("WIRE-PERM-060")
    );
    let ended = |s: &mut Stage| {
        s.starts(1, model_request());
        s.ends(1, Answer::Model(ModelOutcome::Finished))
            .success(1)
            .idle();
    };
    assert_eq!(told(ended), Ok(()));
}

// covers: WIRE-020, DEC-15, DEC-21
#[test]
fn prompts_without_one_result_each_are_seen() {
    let told = |play: fn(&mut Stage)| {
        let limits = Limits {
            queue_records: 1,
            ..Limits::DEFAULT
        };
        let mut stage = Stage::with(Config { limits, ..config() });
        stage.prompt(1, "next").running();
        play(&mut stage);
        (stage.verdict(), stage.told())
    };
    let one: fn(&mut Stage) = |s| {
        s.success(1)
            .idle()
            .input(&Input::Eof)
            .out(&Output::Exit(0))
            .drained();
    };
    assert_eq!(told(one), (Ok(()), String::new()));
    let none: fn(&mut Stage) = |s| {
        s.success(1)
            .prompt(2, "next")
            .input(&Input::Eof)
            .out(&Output::Exit(0))
            .drained();
    };
    assert_eq!(told(none).0, Err("DEC-21"));
    let well: fn(&mut Stage) = |s| {
        s.cancelled(1)
            .idle()
            .input(&Input::Eof)
            .out(&Output::Exit(0))
            .drained();
    };
    assert_eq!(told(well).0, Err("DEC-20"));
    assert_eq!(
        told(|s| {
            s.success(1).success(1);
        })
        .0,
        Err("DEC-21")
    );
    assert_eq!(
        told(|s| {
            s.success(2);
        })
        .0,
        Err("DEC-21")
    );
    let late: fn(&mut Stage) = |s| {
        s.prompt(2, "later").prompt(3, "next").success(1).idle();
        s.input(&Input::Sent(1)).running().success(2);
    };
    assert_eq!(told(late).0, Err("DEC-15"));
    let first: fn(&mut Stage) = |s| {
        s.prompt(2, "later").prompt(3, "next").success(1).idle();
        s.input(&Input::Sent(1)).running().success(3);
    };
    assert_eq!(told(first).0, Ok(()));
    let full: fn(&mut Stage) = |s| {
        s.prompt(2, "next").prompt(3, "next").drained();
    };
    assert_eq!(told(full).0, Err("WIRE-020"));
    let refused = |n: u32| {
        format!(
            r#"{{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"stop_reason":"input_error","errors":["input queue is full: 1 prompts are waiting"],"prompt_uuid":"{}"}}"#,
            uuid(n)
        )
    };
    let mut stage = Stage::new();
    stage
        .prompt(1, "next")
        .running()
        .prompt(2, "now")
        .says(&refused(2));
    assert_eq!(stage.verdict(), Err("WIRE-020"), "there was room");
    let limits = Limits {
        queue_records: 1,
        ..Limits::DEFAULT
    };
    let mut stage = Stage::with(Config { limits, ..config() });
    stage
        .prompt(1, "next")
        .running()
        .starts(1, model_request())
        .prompt(2, "next");
    stage.prompt(3, "now").says(&refused(3));
    assert_eq!(stage.verdict(), Ok(()), "{}", stage.told());
    stage.out(&Output::Cancel(EffectId(1))).drained();
    assert_eq!(stage.verdict(), Err("WIRE-020"), "it interrupts");
    let mut stage = Stage::new();
    stage.prompt(1, "next").running().starts(1, model_request());
    stage.prompt(2, "now").drained();
    assert_eq!(stage.verdict(), Err("DEC-15"), "it does not interrupt");
}

// covers: DEC-20
#[test]
fn a_signal_that_cuts_the_hooks_of_the_end_gives_the_status() {
    let hook = || {
        Request::Hook(Box::new(HookRequest {
            hook: 0,
            event: HookEvent::SessionEnd,
            input: RawJson::empty_object(),
            timeout: Duration::from_secs(1),
            directory: "/repo".into(),
            environment: Arc::default(),
            watched: false,
        }))
    };
    let told = |ended: bool, status: u8| {
        let mut stage = Stage::new();
        stage.host("{").says(UNREADABLE).starts(1, hook());
        if ended {
            stage.ends(1, Answer::Hook(HookReport::failed("")));
        }
        stage.input(&Input::Eof);
        stage.input(&Input::Command(Command::Shutdown { status: 143 }));
        if !ended {
            stage.out(&Output::Cancel(EffectId(1)));
        }
        stage.out(&Output::Exit(status)).drained();
        (stage.verdict(), stage.told())
    };
    assert_eq!(told(false, 143), (Ok(()), String::new()));
    assert_eq!(told(false, 1).0, Err("DEC-20"));
    assert_eq!(told(true, 1), (Ok(()), String::new()));
    assert_eq!(told(true, 143).0, Err("DEC-20"));
}
