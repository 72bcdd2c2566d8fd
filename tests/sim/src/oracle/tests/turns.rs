//! Interrupts, states and prompts.

use super::Stage;
use super::config;
use super::hook_run;
use super::model_request;
use super::tool_request;
use super::uuid;
use crate::kit::kit;
use agentx_core::agent::Config;
use agentx_core::agent::Input;
use agentx_core::agent::Output;
use agentx_core::effect::Answer;
use agentx_core::effect::EffectId;
use agentx_core::effect::Progress;
use agentx_core::effect::Request;
use agentx_core::hook::HookEnd;
use agentx_core::hook::HookEvent;
use agentx_core::hook::HookReport;
use agentx_core::limits::Limits;
use agentx_core::model::Delta;
use agentx_core::model::ModelOutcome;
use agentx_core::model::Usage;
use std::collections::BTreeMap;
use std::sync::Arc;

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

// covers: DEC-15, WIRE-004
#[test]
fn an_interrupt_that_takes_prompts_along_and_a_task_that_ends_twice_are_seen() {
    let mut stage = Stage::new();
    stage.prompt(1, "next").running().prompt(2, "next");
    stage.interrupt("i").acknowledges("i");
    assert_eq!(stage.verdict(), Ok(()));
    stage.never_ran(2, "cancelled");
    assert_eq!(stage.verdict(), Err("DEC-15"));

    let over = r#"{"type":"system","subtype":"task_notification","task_id":"x"}"#;
    let mut stage = Stage::new();
    stage.prompt(1, "next").running();
    stage.says(r#"{"type":"system","subtype":"task_started","task_id":"x"}"#);
    stage.says(over);
    assert_eq!(stage.verdict(), Ok(()));
    stage.says(over);
    assert_eq!(stage.verdict(), Err("WIRE-004"));
}

// covers: DEC-33
#[test]
fn a_prompt_that_runs_although_a_hook_denies_it_is_seen() {
    let denied = |play: fn(&mut Stage)| {
        let mut stage = Stage::new();
        stage.prompt(1, "next");
        stage.starts(1, hook_run(HookEvent::UserPromptSubmit, "{}"));
        let report = HookReport {
            end: HookEnd::Exited(2),
            ..HookReport::failed("")
        };
        stage.ends(1, Answer::Hook(report));
        play(&mut stage);
        stage.drained();
        stage.verdict()
    };
    let refused: fn(&mut Stage) = |s| {
        s.never_ran(1, "input_error");
    };
    assert_eq!(denied(refused), Ok(()));
    let runs: fn(&mut Stage) = |s| {
        s.running().starts(2, model_request());
    };
    assert_eq!(denied(runs), Err("DEC-33"));
}

#[test]
fn a_prompt_that_runs_and_is_not_repeated_is_seen() {
    let echo = format!(
        r#"{{"type":"user","isReplay":true,"uuid":"{}","message":{{"role":"user","content":"go"}}}}"#,
        uuid(1)
    );
    for (echoes, found) in [(true, Ok(())), (false, Err("configuration"))] {
        let mut stage = Stage::with(Config {
            replay_user_messages: true,
            ..config()
        });
        stage.prompt(1, "next").running();
        if echoes {
            stage.says(&echo);
        }
        stage.cancelled(1);
        assert_eq!(stage.verdict(), found);
    }
}

// covers: DEC-22, DEC-40
#[test]
fn ceilings_of_turns_that_do_not_hold_are_seen() {
    let turns = |most: u32| {
        let mut stage = Stage::with(Config {
            max_turns: Some(most),
            ..config()
        });
        stage.prompt(1, "next").running().cancelled(1);
        stage.verdict()
    };
    assert_eq!((turns(1), turns(0)), (Ok(()), Err("DEC-40")));

    let spends = |budget: u128| {
        let mut config = Config {
            max_budget: Some(budget),
            ..config()
        };
        config.provider.pricing = Some(kit().pricing);
        let mut stage = Stage::with(config);
        stage.prompt(1, "next").running().starts(1, model_request());
        let usage = Usage {
            output_tokens: 1,
            ..Usage::ZERO
        };
        let told = Progress::Delta(Delta::Usage(usage));
        stage.input(&Input::Progress(EffectId(1), told));
        stage.ends(1, Answer::Model(ModelOutcome::Finished));
        stage.starts(2, model_request());
        stage.verdict()
    };
    let price = u128::from(kit().pricing.output);
    assert_eq!(spends(price + 1), Ok(()));
    assert_eq!(spends(price), Err("DEC-40"));

    let limits = Limits {
        environment_total_bytes: 0,
        stop_continuations: 1,
        ..Limits::DEFAULT
    };
    let bounded = || Stage::with(Config { limits, ..config() });
    let mut stage = bounded();
    stage.prompt(1, "next").running().call("t", "Time");
    let mut run = tool_request("t", "Time", r#"{"a":1}"#);
    let variables = BTreeMap::from([("A".to_string(), "1".to_string())]);
    run.environment = Arc::new(variables.into());
    stage.starts(1, Request::Tool(Box::new(run)));
    assert_eq!(stage.verdict(), Err("DEC-22"));

    let asked = |times: u64| {
        let mut stage = bounded();
        stage.prompt(1, "next").running();
        for id in 1..=times {
            stage.starts(id, hook_run(HookEvent::Stop, "{}"));
            stage.ends(id, Answer::Hook(HookReport::failed("")));
        }
        stage.verdict()
    };
    assert_eq!((asked(2), asked(3)), (Ok(()), Err("configuration")));
}
