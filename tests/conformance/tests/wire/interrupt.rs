//! Interrupts: what they end, what they leave, and in which order.

use agentx_conformance::session::{Bench, bare, brief, config, uuid};
use agentx_core::agent::Config;
use agentx_core::effect::{Answer, EffectId, Request, Verdict};
use agentx_core::limits::Limits;
use agentx_core::machine::Misuse;
use agentx_core::model::{Block, Delta, Message, ModelOutcome};
use agentx_core::tool::ToolOutcome;
use serde_json::{Value, json};

fn ack(id: &str) -> Value {
    json!({"type": "control_response", "response": {"subtype": "success", "request_id": id}})
}

fn text(text: &str) -> Delta {
    Delta::Text(text.to_string())
}

// covers: ACC-11, WIRE-010, DEC-15, DEC-41, DEC-42
#[test]
fn an_interrupt_without_questions_acknowledges_then_ends_the_turn() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.delta(text("so far"));
    b.wait(40);
    b.records();
    b.control("i1", "interrupt");
    let records = b.records();
    assert_eq!(records[0], ack("i1"), "first, and without a payload");
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        [
            "ack i1",
            "assistant text",
            "result error_during_execution",
            "state idle"
        ]
    );
    assert_eq!(
        records[1]["message"]["content"],
        json!([{"type": "text", "text": "so far"}])
    );
    assert_eq!(records[1]["message"]["stop_reason"], Value::Null);
    assert_eq!(
        bare(&records[2]),
        json!({
            "type": "result", "subtype": "error_during_execution", "is_error": true,
            "duration_ms": 40, "duration_api_ms": 40, "num_turns": 1,
            "stop_reason": "cancelled", "total_cost_usd": null,
            "usage": {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "reasoning_output_tokens": 0, "total_tokens": 0},
            "modelUsage": {"test-model": {"inputTokens": 0, "outputTokens": 0, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0, "webSearchRequests": 0, "costUSD": null, "contextWindow": 128_000, "maxOutputTokens": 128_000}},
            "permission_denials": [], "errors": ["the turn was cancelled"], "prompt_uuid": uuid(1),
        })
    );
    assert_eq!((b.exit, b.open.len()), (None, 0));

    // The input stays usable, and the cut text is part of the history.
    b.user("more");
    let (_, request) = b.model();
    let kept = Message::Assistant(vec![Block::Text("so far".to_string())]);
    assert_eq!(*request.history[1], kept);
    b.says("fresh");
    let result = &b.records()[2];
    assert_eq!(
        (&result["subtype"], &result["result"]),
        (&json!("success"), &json!("fresh"))
    );
}

// covers: ACC-12, WIRE-010, WIRE-011, WIRE-PERM-070, DEC-12, DEC-37
#[test]
fn an_interrupt_with_two_questions_keeps_the_whole_order() {
    let mut b = Bench::new(Config {
        flush_remote: true,
        ..config()
    });
    b.prompt(1, "go");
    b.calls(&[
        ("t1", "Do", r#"{"command":"a"}"#),
        ("t2", "Look", r#"{"file_path":"a"}"#),
        ("t3", "Do", "{}"),
    ]);
    let (running, _) = b.tool("t2");
    b.records();
    let questions = [b.question("t1"), b.question("t3")];
    b.control("i1", "interrupt");
    let records = b.records();
    for (record, id) in records.iter().zip(&questions) {
        assert_eq!(
            *record,
            json!({"type": "control_cancel_request", "request_id": id})
        );
    }
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        [
            "cancel",
            "cancel",
            "ack i1",
            "state running",
            "tool_result t1",
            "tool_result t2",
            "tool_result t3",
            "result error_during_execution"
        ]
    );
    assert_eq!(
        records[7]["permission_denials"],
        json!([]),
        "nobody denied anything"
    );
    // Idle stands behind the flush of what a remote session keeps.
    let [(flush, Request::FlushRemote)] = b.open.as_slice() else {
        panic!("no flush but {:?}", b.open)
    };
    let flush = *flush;
    b.done(running, Answer::Tool(ToolOutcome::text("late")));
    assert_eq!(
        b.briefs(),
        Vec::<String>::new(),
        "a late result changes nothing"
    );
    b.done(flush, Answer::Flushed(Verdict::Passed));
    assert_eq!(b.briefs(), ["state idle"]);
    let again = b.try_feed(agentx_core::agent::Input::Done(
        flush,
        Answer::Flushed(Verdict::Passed),
    ));
    assert_eq!(again, Err(Misuse::EffectSettledTwice));
}

// covers: WIRE-010, DEC-15
#[test]
fn an_interrupt_of_nothing_is_acknowledged_and_no_more() {
    let mut b = Bench::new(config());
    b.control("i1", "interrupt");
    assert_eq!(b.records(), [ack("i1")]);
    b.eof();
    assert_eq!(b.exit, Some(0));
}

// covers: DEC-41
#[test]
fn a_call_that_was_cut_off_is_neither_shown_nor_kept() {
    let mut b = Bench::new(config());
    b.user("go");
    b.delta(Delta::Thinking("hm".to_string()));
    b.delta(text("let me "));
    b.delta(text("look"));
    b.delta(Delta::CallStart {
        index: 0,
        id: "t1".to_string(),
        name: "Look".to_string(),
    });
    b.delta(Delta::CallArguments {
        index: 0,
        text: r#"{"file"#.to_string(),
    });
    b.control("i1", "interrupt");
    assert_eq!(
        b.briefs(),
        [
            "state running",
            "assistant thinking",
            "ack i1",
            "assistant text",
            "result error_during_execution",
            "state idle"
        ]
    );
    b.user("more");
    let (_, request) = b.model();
    let thinking = Block::Thinking {
        text: "hm".to_string(),
        signature: None,
    };
    let kept = Message::Assistant(vec![thinking, Block::Text("let me look".to_string())]);
    assert_eq!(*request.history[1], kept);
}

// covers: DEC-41
#[test]
fn what_comes_after_a_cancellation_means_nothing() {
    let mut b = Bench::new(config());
    b.user("go");
    let (model, _) = b.model();
    b.control("i1", "interrupt");
    b.records();
    let late = agentx_core::effect::Progress::Delta(text("late"));
    b.feed(agentx_core::agent::Input::Progress(model, late));
    b.done(model, Answer::Model(ModelOutcome::Finished));
    assert_eq!((b.briefs(), b.open.len()), (vec![], 0));
    let again = Answer::Model(ModelOutcome::Finished);
    let again = b.try_feed(agentx_core::agent::Input::Done(model, again));
    assert_eq!(again, Err(Misuse::EffectSettledTwice));
    let never = Answer::Tool(ToolOutcome::text("x"));
    let never = b.try_feed(agentx_core::agent::Input::Done(EffectId(99), never));
    assert_eq!(never, Err(Misuse::UnknownEffect));
}

// covers: DEC-15, DEC-26
#[test]
fn an_interrupt_ends_the_running_turn_alone() {
    let mut b = Bench::new(config());
    b.prompt(1, "one");
    b.prompt(2, "two");
    b.prompt(3, "three");
    b.calls(&[("t1", "Look", "{}"), ("t2", "Look", "{}")]);
    b.tool_says("t2", "seen");
    b.records();
    b.control("i1", "interrupt");
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        [
            "ack i1",
            "tool_result t1",
            "result error_during_execution",
            "state idle",
            "state running"
        ]
    );
    assert_eq!(records[2]["prompt_uuid"], json!(uuid(1)));
    let (_, request) = b.model();
    let Message::ToolResults(results) = &*request.history[2] else {
        panic!("each call has its result")
    };
    let results: Vec<_> = results
        .iter()
        .map(|r| (&*r.tool_use_id, r.is_error))
        .collect();
    assert_eq!(results, [("t1", true), ("t2", false)]);
    b.says("alpha");
    b.says("beta");
    let results: Vec<_> = b
        .records()
        .into_iter()
        .filter(|record| record["type"] == "result")
        .map(|record| (record["prompt_uuid"].clone(), record["result"].clone()))
        .collect();
    assert_eq!(
        results,
        [
            (json!(uuid(2)), json!("alpha")),
            (json!(uuid(3)), json!("beta"))
        ]
    );
}

// covers: DEC-15, WIRE-003
#[test]
fn two_interrupts_in_one_read_end_two_turns() {
    let line = |id: &str| {
        format!(
            r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"interrupt"}}}}"#
        )
    };
    let mut b = Bench::new(config());
    b.prompt(1, "one");
    b.prompt(2, "two");
    b.prompt(3, "three");
    b.records();
    let bytes = format!("{}\n{}\n", line("i1"), line("i2"));
    b.feed(agentx_core::agent::Input::Bytes(bytes.as_bytes()));
    let turn = [
        "result error_during_execution",
        "state idle",
        "state running",
    ];
    let briefs = b.briefs();
    assert_eq!(
        (briefs[0].as_str(), &briefs[1..4]),
        ("ack i1", &turn.map(String::from)[..])
    );
    assert_eq!(
        (briefs[4].as_str(), &briefs[5..]),
        ("ack i2", &turn.map(String::from)[..])
    );
}

// covers: DEC-15, WIRE-020
#[test]
fn a_prompt_of_now_interrupts_and_runs_next() {
    let mut b = Bench::new(config());
    b.prompt(1, "one");
    b.prompt(2, "two");
    b.calls(&[("t1", "Do", "{}")]);
    b.records();
    b.user_with("three", json!({"uuid": uuid(3), "priority": "now"}));
    assert_eq!(
        b.briefs(),
        [
            "cancel",
            "state running",
            "tool_result t1",
            "result error_during_execution",
            "state idle",
            "state running"
        ]
    );
    b.user_with("four", json!({"uuid": uuid(4), "priority": "now"}));
    let records = b.records();
    assert_eq!(
        (&records[0]["prompt_uuid"], brief(&records[2])),
        (&json!(uuid(3)), "state running".to_string())
    );
    b.says("fourth");
    b.says("second");
    let results: Vec<_> = b
        .records()
        .into_iter()
        .filter(|record| record["type"] == "result")
        .map(|record| (record["prompt_uuid"].clone(), record["result"].clone()))
        .collect();
    assert_eq!(
        results,
        [
            (json!(uuid(4)), json!("fourth")),
            (json!(uuid(2)), json!("second"))
        ]
    );
}

// covers: DEC-15, WIRE-020
#[test]
fn a_prompt_of_now_that_is_refused_interrupts_nothing() {
    let mut b = Bench::new(Config {
        limits: Limits {
            queue_records: 1,
            ..Limits::DEFAULT
        },
        ..config()
    });
    b.prompt(1, "one");
    b.prompt(2, "two");
    b.records();
    for members in [
        json!({"uuid": uuid(3), "priority": "now"}),
        json!({"uuid": uuid(4), "priority": "now", "surprise": 1}),
        json!({"uuid": uuid(5), "priority": "at once"}),
    ] {
        b.user_with("three", members);
    }
    let errors: Vec<_> = b
        .records()
        .into_iter()
        .map(|record| record["errors"][0].clone())
        .collect();
    assert_eq!(
        errors,
        [
            "input queue is full: 1 prompts are waiting",
            "user record: unknown member \"surprise\"",
            "user record: priority must be now, next or later"
        ]
    );
    b.says("first");
    assert_eq!(b.records()[1]["result"], "first");
}

// covers: WIRE-004, DEC-15
#[test]
fn during_a_flush_prompts_wait_and_an_interrupt_is_acknowledged() {
    let mut b = Bench::new(Config {
        flush_remote: true,
        limits: Limits {
            queue_records: 2,
            ..Limits::DEFAULT
        },
        ..config()
    });
    b.prompt(1, "one");
    b.says("first");
    b.records();
    let (flush, _) = b.open[0].clone();
    b.prompt(2, "two");
    b.user_with("three", json!({"uuid": uuid(3), "priority": "now"}));
    b.prompt(4, "four");
    b.control("i1", "interrupt");
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        ["result error_during_execution", "ack i1"],
        "the queue has its bound during a flush too"
    );
    assert_eq!(records[0]["prompt_uuid"], json!(uuid(4)));
    b.done(flush, Answer::Flushed(Verdict::Failed));
    assert_eq!(b.briefs(), ["state idle", "state running"]);
    assert_eq!(
        b.diagnostics().last(),
        Some(&"the remote flush of a turn failed")
    );
    b.says("third");
    assert_eq!(b.records()[1]["prompt_uuid"], json!(uuid(3)));
}
