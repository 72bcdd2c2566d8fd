//! Prompt suggestions: what stands between a result and `idle` (DEC-43).

use agentx_conformance::session::{Bench, bare, brief, config, reference, uuid};
use agentx_core::agent::{Config, Input};
use agentx_core::agent_loop::Pricing;
use agentx_core::effect::{Answer, Request, Verdict};
use agentx_core::guard::Guard;
use agentx_core::model::{Delta, ErrorCategory, Message, ModelFailure, StopReason, ToolChoice};
use serde_json::{Value, json};

/// A session whose host wants suggestions.
fn wanting(config: Config) -> Bench {
    let mut b = Bench::new(config);
    let request = json!({"subtype": "initialize", "promptSuggestions": true});
    let record = json!({"type": "control_request", "request_id": "init", "request": request});
    b.line(&record.to_string());
    assert_eq!(b.briefs(), ["ack init"]);
    b
}

/// The same behind the result of a first turn.
fn after_a_turn(config: Config) -> Bench {
    let mut b = wanting(config);
    b.prompt(1, "build it");
    b.says("It is built.");
    let briefs = b.briefs();
    assert_eq!(briefs.last().map(String::as_str), Some("result success"));
    b
}

fn asks(b: &Bench) -> bool {
    b.open
        .iter()
        .any(|(_, request)| matches!(request, Request::Model(_)))
}

fn failure(category: ErrorCategory, message: &str) -> ModelFailure {
    ModelFailure {
        category,
        status: Some(429),
        message: message.to_string(),
    }
}

// covers: DEC-43, ACC-09
#[test]
fn a_suggestion_stands_between_result_and_idle() {
    let mut b = after_a_turn(reference());
    let (_, request) = b.model();
    assert_eq!(
        (request.tools.len(), &request.tool_choice),
        (0, &ToolChoice::None)
    );
    let texts: Vec<_> = request
        .history
        .iter()
        .map(|message| (**message).clone())
        .collect();
    assert_eq!(texts.len(), 3);
    assert_eq!(texts[0], Message::User(vec!["build it".to_string()]));
    b.delta(Delta::Text("\n  Now test it.\nOr not.".to_string()));
    assert!(b.briefs().is_empty());
    b.finish(StopReason::EndTurn);
    let records = b.records();
    assert_eq!(
        bare(&records[0]),
        json!({"type": "prompt_suggestion", "suggestion": "Now test it."})
    );
    assert_eq!(
        records[1..].iter().map(brief).collect::<Vec<_>>(),
        ["state idle"]
    );
    // Nothing of it is in the history.
    b.prompt(2, "go on");
    assert_eq!(b.model().1.history.len(), 3);
    assert_eq!(b.diagnostics(), Vec::<&str>::new());
}

// covers: ACC-09, DEC-43, WIRE-004
#[test]
fn task_result_suggestion_flush_and_idle_keep_their_order() {
    let mut b = wanting(Config {
        flush_remote: true,
        ..reference()
    });
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", r#"{"run_in_background":true}"#)]);
    let question = b.question("t1");
    b.allow(&question);
    b.task_begins("t1");
    b.says("waiting");
    b.wait(5_000);
    b.feed(Input::Tick);
    b.task_ends("t1", agentx_core::tool::ToolOutcome::text("built"));
    b.says("done");
    b.says("and now?");
    let (flush, _) = b.open[0];
    b.done(flush, Answer::Flushed(Verdict::Passed));
    let briefs = b.briefs();
    let from = briefs
        .iter()
        .position(|brief| brief == "system/task_progress");
    assert_eq!(
        briefs[from.expect("progress")..],
        [
            "system/task_progress",
            "system/task_notification",
            "assistant text",
            "result success",
            "prompt_suggestion",
            "state idle"
        ]
    );
}

// covers: DEC-43
#[test]
fn nobody_gets_one_who_did_not_ask() {
    for (profile, request) in [
        (reference(), json!({"subtype": "initialize"})),
        (
            reference(),
            json!({"subtype": "initialize", "promptSuggestions": false}),
        ),
        (config(), json!({"subtype": "initialize"})),
    ] {
        let mut b = Bench::new(profile);
        let record = json!({"type": "control_request", "request_id": "init", "request": request});
        b.line(&record.to_string());
        b.prompt(1, "go");
        b.says("done");
        assert_eq!(b.briefs().last().map(String::as_str), Some("state idle"));
        assert!(!asks(&b));
    }
}

// covers: DEC-43
#[test]
fn there_is_none_where_a_prompt_waits_or_the_turn_failed() {
    let mut b = wanting(reference());
    b.prompt(1, "one");
    b.prompt(2, "two");
    b.says("done");
    assert_eq!(b.model().1.history.len(), 3, "the next prompt runs at once");
    b.fails(failure(ErrorCategory::RateLimit, "slow down"));
    assert_eq!(b.briefs().last().map(String::as_str), Some("state idle"));
    assert!(!asks(&b));
    b.prompt(3, "three");
    b.eof();
    b.says("done");
    assert_eq!((b.exit, asks(&b)), (Some(0), false));
}

// covers: DEC-43, WIRE-010
#[test]
fn a_prompt_an_interrupt_and_the_end_of_the_input_abort_it() {
    let mut b = after_a_turn(reference());
    b.delta(Delta::Text("Now".to_string()));
    b.prompt(2, "something else");
    assert_eq!(b.briefs()[..1], ["state idle"]);
    assert_eq!(b.session.pending_requests(), 0);
    let (_, request) = b.model();
    assert_eq!(request.history.len(), 3);
    b.says("done");
    b.records();
    // Now the second one is on its way.
    assert!(asks(&b));
    b.control("i1", "interrupt");
    assert_eq!(b.briefs(), ["ack i1", "state idle"]);
    assert!(b.open.is_empty());
    b.control("i2", "interrupt");
    assert_eq!(b.briefs(), ["ack i2"]);
    let mut b = after_a_turn(reference());
    b.eof();
    assert_eq!(b.briefs(), ["state idle"]);
    assert_eq!((b.exit, b.open.len()), (Some(0), 0));
    assert_eq!(b.diagnostics(), Vec::<&str>::new());
}

// covers: DEC-43
#[test]
fn what_is_no_prompt_aborts_nothing() {
    let mut b = after_a_turn(reference());
    b.prompt(1, "build it");
    b.line(&json!({"type": "user", "uuid": uuid(8), "session_id": "default", "isReplay": true, "message": {"role": "user", "content": "context"}, "parent_tool_use_id": null}).to_string());
    b.control("m", "mcp_status");
    assert_eq!(b.briefs(), ["ack m"]);
    assert!(asks(&b));
    b.says("Now test it.");
    assert_eq!(b.briefs(), ["prompt_suggestion", "state idle"]);
}

// covers: DEC-43
#[test]
fn whatever_goes_wrong_with_it_is_a_warning_at_most() {
    let long = "x".repeat(501);
    let warned = |told: &dyn Fn(&mut Bench)| {
        let mut b = after_a_turn(reference());
        told(&mut b);
        assert_eq!(b.briefs(), ["state idle"]);
        assert!(b.open.is_empty());
        b.eof();
        assert_eq!(b.exit, Some(0));
        b.diagnostics().join("|")
    };
    assert_eq!(
        warned(&|b| b.fails(failure(ErrorCategory::RateLimit, "slow down"))),
        "no prompt suggestion: slow down"
    );
    assert_eq!(
        warned(&|b| b.says(&long)),
        "no prompt suggestion: it has more than 500 characters"
    );
    let chatty = "x".repeat(65_537);
    assert_eq!(
        warned(&|b| b.delta(Delta::Thinking(chatty.clone()))),
        "no prompt suggestion: the answer is too long"
    );
    assert_eq!(
        warned(&|b| {
            b.wait(5_000);
            b.feed(Input::Tick);
        }),
        "no prompt suggestion: the model took too long"
    );
    assert_eq!(warned(&|b| b.says(" \n ")), "");
    assert_eq!(warned(&|b| b.calls(&[("t1", "Do", "{}")])), "");
}

// covers: DEC-43
#[test]
fn time_that_is_over_was_over_before_the_answer_came() {
    let mut b = after_a_turn(reference());
    b.wait(4_999);
    b.feed(Input::Tick);
    assert!(asks(&b));
    b.delta(Delta::Text("late".to_string()));
    let (id, _) = b.model();
    b.wait(1);
    b.done(
        id,
        Answer::Model(agentx_core::model::ModelOutcome::Finished),
    );
    assert_eq!(b.briefs(), ["state idle"]);
}

// covers: DEC-30, DEC-43
#[test]
fn a_suggestion_holds_no_credential() {
    let mut b = after_a_turn(Config {
        credentials: Guard::new(["sk-secret-key"]).expect("few literals"),
        ..reference()
    });
    b.delta(Delta::Text("use sk-sec".to_string()));
    b.says("ret-key\u{7}");
    let records = b.records();
    assert_eq!(records[0]["suggestion"], "use [redacted]\\u{7}");
}

// covers: DEC-40, DEC-43, DEC-27
#[test]
fn it_is_paid_from_the_budget_and_shown_in_no_result() {
    let mut config = reference();
    config.provider.pricing = Some(Pricing {
        input: 1,
        output: 1,
        cache_read: 0,
        cache_write: 0,
    });
    // Each answer of the bench takes 15 tokens.
    config.max_budget = Some(40);
    let mut b = after_a_turn(config);
    b.says("Now test it.");
    b.prompt(2, "go on");
    b.says("done");
    let results = b.all_records();
    let results: Vec<&Value> = results.iter().filter(|r| r["type"] == "result").collect();
    assert_eq!(
        [
            &results[0]["num_turns"],
            &results[0]["usage"]["total_tokens"]
        ],
        [&json!(1), &json!(15)]
    );
    assert_eq!(results[1]["subtype"], "error_max_budget_usd");
    assert!(!asks(&b));
}

// covers: DEC-43
#[test]
fn a_session_that_is_told_to_end_waits_for_none() {
    let mut b = after_a_turn(reference());
    b.shutdown(143);
    assert_eq!(b.briefs(), ["state idle"]);
    assert_eq!((b.exit, b.open.len()), (Some(143), 0));
    let mut b = after_a_turn(reference());
    b.line("{");
    assert_eq!(b.briefs(), ["state idle", "result error_during_execution"]);
    assert_eq!((b.exit, b.open.len()), (Some(1), 0));
    let mut b = after_a_turn(reference());
    b.feed(Input::WriteFailed);
    assert_eq!((b.exit, b.open.len()), (Some(1), 0));
}

// covers: DEC-40, DEC-43
#[test]
fn one_that_is_aborted_may_have_cost_something() {
    let mut config = reference();
    config.provider.pricing = Some(Pricing {
        input: 1,
        output: 1,
        cache_read: 0,
        cache_write: 0,
    });
    config.max_budget = Some(16);
    let mut b = after_a_turn(config);
    b.prompt(2, "go on");
    let result = b.records().pop().expect("a record");
    assert_eq!(brief(&result), "state idle");
    assert!(!asks(&b), "15 are spent, and nobody knows how much more");
}
