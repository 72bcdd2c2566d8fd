//! How sessions end: fatal input, signals, the end of input, exit status. In
//! every ending each accepted prompt gets exactly one terminal record.

use agentx_conformance::session::{Bench, brief, config, uuid};
use agentx_core::agent::{Command, Config, Event, Input, Output};
use agentx_core::effect::{Answer, Request, Verdict};
use agentx_core::model::{Delta, ErrorCategory, ModelFailure, ModelOutcome, StopReason};
use serde_json::{Value, json};

/// Open questions, a running tool, and two prompts that wait.
fn busy(config: Config) -> Bench {
    let mut b = Bench::new(config);
    b.prompt(1, "one");
    b.prompt(2, "two");
    b.user_with("three", json!({"uuid": uuid(3), "priority": "later"}));
    b.calls(&[("t1", "Do", "{}"), ("t2", "Look", "{}"), ("t3", "Do", "{}")]);
    b.records();
    b
}

const SETTLED: [&str; 9] = [
    "cancel",
    "cancel",
    "tool_result t1",
    "tool_result t2",
    "tool_result t3",
    "result error_during_execution",
    "result error_during_execution",
    "result error_during_execution",
    "state idle",
];

/// Prompt, stop reason and turns of each result.
fn results(records: &[Value]) -> Vec<(Value, Value, Value)> {
    records
        .iter()
        .filter(|record| record["type"] == "result")
        .map(|r| {
            (
                r["prompt_uuid"].clone(),
                r["stop_reason"].clone(),
                r["num_turns"].clone(),
            )
        })
        .collect()
}

fn settled_results() -> Vec<(Value, Value, Value)> {
    [(1, 1), (2, 0), (3, 0)]
        .map(|(n, turns)| (json!(uuid(n)), json!("cancelled"), json!(turns)))
        .to_vec()
}

// covers: DEC-10, WIRE-001
#[test]
fn fatal_input_settles_everything_in_order() {
    let mut b = busy(config());
    let ids = [b.question("t1"), b.question("t3")];
    b.line("{");
    let records = b.records();
    let briefs: Vec<_> = records.iter().map(brief).collect();
    assert_eq!(briefs[..9], SETTLED);
    assert_eq!(briefs[9..], ["result error_during_execution"]);
    assert_eq!(
        [&records[0]["request_id"], &records[1]["request_id"]],
        [&json!(ids[0]), &json!(ids[1])]
    );
    let mut expected = settled_results();
    expected.push((Value::Null, json!("input_error"), json!(0)));
    assert_eq!(results(&records), expected);
    assert_eq!(
        records[6]["errors"],
        json!(["the session ended before this prompt ran"])
    );
    assert_eq!(
        (b.exit, b.open.len()),
        (Some(1), 0),
        "the running tool is stopped"
    );
}

// covers: DEC-10, DEC-12
#[test]
fn fatal_input_between_turns_tells_no_state() {
    let mut b = Bench::new(config());
    b.user("one");
    b.says("first");
    b.records();
    b.line("{");
    assert_eq!(
        (b.briefs(), b.exit),
        (vec!["result error_during_execution".to_string()], Some(1))
    );
}

// covers: DEC-10, WIRE-004
#[test]
fn fatal_input_during_a_flush_still_ends_idle() {
    let mut b = Bench::new(Config {
        flush_remote: true,
        ..config()
    });
    b.prompt(1, "one");
    b.says("first");
    b.prompt(2, "two");
    b.records();
    b.line("{");
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        [
            "result error_during_execution",
            "state idle",
            "result error_during_execution"
        ]
    );
    assert_eq!(records[0]["prompt_uuid"], json!(uuid(2)));
    assert_eq!((b.exit, b.open.len()), (Some(1), 0));
}

// covers: DEC-10, DEC-41
#[test]
fn fatal_input_keeps_the_text_that_came() {
    let mut b = Bench::new(Config {
        include_partial_messages: true,
        ..config()
    });
    b.user("one");
    b.delta(Delta::Text("half".to_string()));
    b.records();
    b.line("{");
    assert_eq!(
        b.briefs(),
        [
            "stream content_block_stop",
            "stream message_delta",
            "stream message_stop",
            "assistant text",
            "result error_during_execution",
            "state idle",
            "result error_during_execution"
        ]
    );
}

// covers: DEC-20
#[test]
fn a_signal_settles_everything_and_gives_its_status() {
    let mut b = busy(config());
    b.shutdown(143);
    let records = b.records();
    assert_eq!(records.iter().map(brief).collect::<Vec<_>>(), SETTLED);
    assert_eq!(results(&records), settled_results());
    assert_eq!((b.exit, b.open.len()), (Some(143), 0));

    let mut b = Bench::new(config());
    b.shutdown(130);
    assert_eq!((b.briefs(), b.exit), (vec![], Some(130)));

    let mut b = busy(config());
    b.eof();
    b.records();
    b.shutdown(129);
    assert_eq!(b.exit, Some(129));
    let left = results(&b.records());
    assert_eq!(left.len(), 3, "{left:?}");
}

// covers: DEC-20, DEC-36
#[test]
fn what_is_being_stored_is_waited_for_before_the_exit() {
    let mut b = Bench::new(config());
    b.user("one");
    b.calls(&[("t1", "Do", "{}")]);
    let id = b.question("t1");
    let rule = json!({"type": "addRules", "rules": [{"toolName": "Do"}], "behavior": "allow", "destination": "userSettings"});
    b.respond(
        &id,
        &json!({"behavior": "allow", "updatedInput": {}, "updatedPermissions": [rule]}),
    );
    b.shutdown(143);
    assert_eq!(b.exit, None);
    let [(persist, Request::Persist(_))] = b.open.as_slice() else {
        panic!("only the store is open, not {:?}", b.open)
    };
    let persist = *persist;
    b.done(persist, Answer::Persisted(Verdict::Passed));
    assert_eq!(b.exit, Some(143));
}

// covers: DEC-14, WIRE-008, DEC-20
#[test]
fn prompts_accepted_before_the_end_still_run() {
    let mut b = busy(config());
    b.eof();
    assert_eq!(
        b.briefs(),
        ["state running", "tool_result t1", "tool_result t3"]
    );
    b.tool_says("t2", "seen");
    b.says("first");
    b.says("second");
    b.calls(&[("t4", "Do", "{}")]);
    b.says("third");
    let records = b.records();
    let expected = [(1, 2), (2, 1), (3, 2)]
        .map(|(n, turns)| (json!(uuid(n)), json!("end_turn"), json!(turns)));
    assert_eq!(results(&records), expected);
    assert_eq!(
        (records.last().map(brief), b.exit),
        (Some("state idle".to_string()), Some(0))
    );
}

// covers: DEC-14, WIRE-004
#[test]
fn the_exit_waits_for_the_flush_of_the_last_turn() {
    let mut b = Bench::new(Config {
        flush_remote: true,
        ..config()
    });
    b.user("one");
    b.eof();
    b.says("first");
    assert_eq!(
        (b.briefs().last().map(String::as_str), b.exit),
        (Some("result success"), None)
    );
    let (flush, _) = b.open[0].clone();
    b.done(flush, Answer::Flushed(Verdict::Passed));
    assert_eq!(
        (b.briefs(), b.exit),
        (vec!["state idle".to_string()], Some(0))
    );
}

fn failure(category: ErrorCategory, status: Option<u16>, message: &str) -> ModelFailure {
    ModelFailure {
        category,
        status,
        message: message.to_string(),
    }
}

// covers: DEC-20, DEC-21
#[test]
fn the_last_ordinary_result_decides_the_status() {
    type Story = fn(&mut Bench);
    let bad = |b: &mut Bench| b.line(r#"{"type":"user","message":7}"#);
    let stories: [(&str, Story, u8); 8] = [
        ("nothing asked", |_| {}, 0),
        (
            "one success",
            |b| {
                b.user("a");
                b.says("b");
            },
            0,
        ),
        (
            "one failure",
            |b| {
                b.user("a");
                b.fails(failure(ErrorCategory::Unknown, None, "no route"));
            },
            1,
        ),
        (
            "failure, then success",
            |b| {
                b.user("a");
                b.fails(failure(ErrorCategory::Unknown, None, "no route"));
                b.user("c");
                b.says("d");
            },
            0,
        ),
        (
            "success, then interrupt",
            |b| {
                b.user("a");
                b.says("b");
                b.user("c");
                b.control("i", "interrupt");
            },
            1,
        ),
        (
            "only rejected",
            |b| b.line(r#"{"type":"user","message":7}"#),
            1,
        ),
        (
            "success, then rejected",
            |b| {
                b.user("a");
                b.says("b");
                b.line(r#"{"type":"user","message":7}"#);
            },
            0,
        ),
        (
            "control requests alone",
            |b| {
                b.control("x", "nonsense");
                b.control("y", "mcp_status");
            },
            0,
        ),
    ];
    for (name, story, status) in stories {
        let mut b = Bench::new(config());
        story(&mut b);
        b.eof();
        assert_eq!(b.exit, Some(status), "{name}");
    }
    let mut b = Bench::new(config());
    bad(&mut b);
    b.user("a");
    b.says("b");
    b.eof();
    assert_eq!(b.exit, Some(0), "rejected, then success");
}

// covers: DEC-21, DEC-41, DEC-42
#[test]
fn a_provider_failure_ends_its_turn_and_no_other() {
    let mut b = Bench::new(config());
    b.prompt(1, "one");
    b.prompt(2, "two");
    b.delta(Delta::Text("half an ans".to_string()));
    b.records();
    b.fails(failure(
        ErrorCategory::ServerError,
        Some(502),
        "bad gateway",
    ));
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        [
            "assistant text",
            "assistant text",
            "result error_during_execution",
            "state idle",
            "state running"
        ]
    );
    assert_eq!(records[0]["message"]["content"][0]["text"], "half an ans");
    assert_eq!(records[0].get("error"), None);
    assert_eq!(
        (
            &records[1]["message"]["content"],
            &records[1]["error"],
            &records[1]["message"]["stop_reason"]
        ),
        (
            &json!([{"type": "text", "text": "API error: server_error (status 502)"}]),
            &json!("server_error"),
            &Value::Null
        )
    );
    assert_ne!(records[0]["message"]["id"], records[1]["message"]["id"]);
    assert_eq!(
        (&records[2]["stop_reason"], &records[2]["errors"]),
        (
            &json!("provider_error"),
            &json!(["API error: server_error (status 502): bad gateway"])
        )
    );
    let history = format!("{:?}", b.model().1.history);
    assert!(
        history.contains("half an ans") && !history.contains("API error"),
        "{history}"
    );
    b.says("second");
    assert_eq!(b.records()[1]["prompt_uuid"], json!(uuid(2)));
}

// covers: DEC-41, DEC-42, DEC-51
#[test]
fn every_stop_has_its_words() {
    for (stop, subtype, result, message, error) in [
        (
            StopReason::EndTurn,
            "success",
            "end_turn",
            json!("end_turn"),
            Value::Null,
        ),
        (
            StopReason::ToolUse,
            "success",
            "end_turn",
            json!("end_turn"),
            Value::Null,
        ),
        (
            StopReason::StopSequence,
            "success",
            "stop_sequence",
            json!("stop_sequence"),
            Value::Null,
        ),
        (
            StopReason::Refusal,
            "success",
            "refusal",
            json!("refusal"),
            Value::Null,
        ),
        (
            StopReason::MaxTokens,
            "success",
            "max_tokens",
            json!("max_tokens"),
            json!("max_output_tokens"),
        ),
    ] {
        let mut b = Bench::new(config());
        b.user("go");
        b.delta(Delta::Thinking("hm".to_string()));
        b.delta(Delta::Text("so".to_string()));
        b.finish(stop);
        let records = b.records();
        assert_eq!(
            records[1]["message"]["stop_reason"],
            Value::Null,
            "{stop:?}"
        );
        assert_eq!(
            (&records[2]["message"]["stop_reason"], &records[2]["error"]),
            (&message, &error),
            "{stop:?}"
        );
        assert_eq!(
            (
                &records[3]["subtype"],
                &records[3]["stop_reason"],
                &records[3]["result"]
            ),
            (&json!(subtype), &json!(result), &json!("so")),
            "{stop:?}"
        );
    }
}

// covers: DEC-41, DEC-42
#[test]
fn a_content_filter_is_an_error_of_the_provider() {
    let mut b = Bench::new(config());
    b.user("go");
    b.delta(Delta::Text("so".to_string()));
    b.finish(StopReason::ContentFilter);
    let records = b.records();
    assert_eq!(records[2]["error"], "invalid_request");
    assert_eq!(
        (
            &records[3]["subtype"],
            &records[3]["stop_reason"],
            &records[3]["errors"]
        ),
        (
            &json!("error_during_execution"),
            &json!("provider_error"),
            &json!(["API error: invalid_request: the provider's content filter ended the answer"])
        )
    );
}

// covers: DEC-41, DEC-42
#[test]
fn a_cut_answer_with_calls_says_so_on_its_last_record() {
    let mut b = Bench::new(config());
    b.user("go");
    b.delta(Delta::Text("I will look".to_string()));
    b.delta(Delta::CallStart {
        index: 0,
        id: "t1".to_string(),
        name: "Look".to_string(),
    });
    b.delta(Delta::CallArguments {
        index: 0,
        text: "{}".to_string(),
    });
    b.finish(StopReason::MaxTokens);
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        [
            "state running",
            "assistant text",
            "result success",
            "state idle"
        ]
    );
    assert_eq!(
        (&records[1]["message"]["stop_reason"], &records[1]["error"]),
        (&json!("max_tokens"), &json!("max_output_tokens"))
    );
    assert!(b.open.is_empty(), "half an answer runs no tool");
}

// covers: DEC-40, DEC-21
#[test]
fn a_turn_limit_ends_the_prompt_with_its_own_error() {
    let mut b = Bench::new(Config {
        max_turns: Some(2),
        ..config()
    });
    b.prompt(1, "one");
    b.calls(&[("t1", "Look", "{}")]);
    b.tool_says("t1", "a");
    b.calls(&[("t2", "Look", "{}")]);
    b.records();
    b.tool_says("t2", "b");
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        ["tool_result t2", "result error_max_turns", "state idle"]
    );
    assert_eq!(
        (
            &records[1]["stop_reason"],
            &records[1]["num_turns"],
            &records[1]["errors"]
        ),
        (
            &json!("max_turns"),
            &json!(2),
            &json!(["the limit of 2 model requests for one prompt is reached"])
        )
    );
    b.user("two");
    b.says("fresh");
    assert_eq!(b.records()[2]["num_turns"], 1);
}

// covers: DEC-14
#[test]
fn a_prompt_of_the_embedder_is_a_prompt_like_any_other() {
    let mut b = Bench::new(config());
    b.feed(Input::Command(Command::Prompt("hello".to_string())));
    b.eof();
    b.delta(Delta::Text("hi".to_string()));
    b.finish(StopReason::EndTurn);
    assert_eq!(
        b.briefs(),
        [
            "state running",
            "assistant text",
            "result success",
            "state idle"
        ]
    );
    let report = b.outputs.iter().find_map(|output| match output {
        Output::Event(Event::TurnEnded(report)) => Some((report.text.clone(), report.is_error)),
        _ => None,
    });
    assert_eq!((report, b.exit), (Some(("hi".to_string(), false)), Some(0)));
}

// covers: DEC-42
#[test]
fn an_answer_of_nothing_is_still_an_answer() {
    let mut b = Bench::new(Config {
        include_partial_messages: true,
        ..config()
    });
    b.user("go");
    let (id, _) = b.model();
    b.done(id, Answer::Model(ModelOutcome::Finished));
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        ["state running", "result success", "state idle"]
    );
    assert_eq!(
        (&records[1]["result"], &records[1]["stop_reason"]),
        (&json!(""), &json!("end_turn"))
    );
}
