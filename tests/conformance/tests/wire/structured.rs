//! Structured output: the tool, its checks, and the results of turns (DEC-42).

use agentx_conformance::session::{Bench, config, schema, stored, tool, uuid};
use agentx_core::agent::{Config, Event, Input, Output};
use agentx_core::effect::{Answer, Request};
use agentx_core::guard::Guard;
use agentx_core::limits::Limits;
use agentx_core::machine::Machine as _;
use agentx_core::model::{Delta, Message, ModelOutcome, StopReason};
use agentx_core::schema::permission::PermissionMode;
use agentx_core::store::{Beginning, Entry, Restorer};
use agentx_core::structured::{TOOL, Validity};
use agentx_core::time::Instant;
use agentx_core::tool::ToolClass;
use serde_json::{Value, json};

const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;

fn structured() -> Config {
    Config {
        output_schema: Some(schema(SCHEMA)),
        ..config()
    }
}

fn bench(config: Config) -> Bench {
    let mut b = Bench::new(config);
    b.prompt(1, "go");
    b
}

fn breaks(fault: &str) -> Validity {
    Validity::Breaks(vec![fault.to_string()])
}

/// One submission under this id, judged so.
fn submits(b: &mut Bench, id: &str, validity: Validity) {
    b.calls(&[(id, TOOL, r#"{"n":1}"#)]);
    b.validated(validity);
}

/// The newest result record.
fn result(b: &Bench) -> Value {
    let records = b.all_records();
    let mut results = records.iter().rev().filter(|r| r["type"] == "result");
    results.next().expect("a result").clone()
}

/// What the result of a call says, and whether it is an error.
fn told(b: &Bench, call: &str) -> (String, bool) {
    let records = b.all_records();
    let blocks = records.iter().map(|r| &r["message"]["content"][0]);
    let mut blocks = blocks.filter(|block| block["tool_use_id"] == call);
    let block = blocks.next().expect("the call has a result").clone();
    assert!(blocks.next().is_none(), "{call} has two results");
    let text = match &block["content"] {
        Value::String(text) => text.clone(),
        parts => parts[0]["text"].as_str().expect("a text").to_string(),
    };
    (text, block["is_error"] == true)
}

/// What the model was told last on the user's side.
fn reminder(b: &Bench) -> String {
    match &**b.model().1.history.last().expect("a history") {
        Message::User(parts) => parts.join(""),
        other => panic!("no reminder: {other:?}"),
    }
}

// covers: DEC-42, RT-RES-007, RT-RES-008, RT-RES-011, RT-LOOP-001
#[test]
fn a_valid_submission_becomes_the_structured_output() {
    let mut b = Bench::with_init(structured());
    let init = b.records().remove(0);
    let tools = init["tools"].as_array().expect("tools");
    assert_eq!(tools.last(), Some(&json!(TOOL)));
    b.prompt(1, "go");
    let offered = b.model().1.tools.last().expect("a tool").clone();
    assert_eq!(
        (&*offered.name, offered.input_schema.as_str()),
        (TOOL, SCHEMA)
    );
    b.calls(&[("t1", TOOL, r#"{ "n": 12345678901234567890123, "m": 1.50 }"#)]);
    let [(_, validation)] = b.validating()[..] else {
        panic!("one check");
    };
    assert_eq!(validation.schema, schema(SCHEMA));
    b.validated(Validity::Fits);
    b.says("done");
    assert_eq!(
        b.briefs(),
        [
            "state running",
            "assistant tool_use",
            "tool_result t1",
            "assistant text",
            "result success",
            "state idle"
        ]
    );
    let (text, is_error) = told(&b, "t1");
    assert!(text.starts_with("Accepted") && !is_error);
    let text = String::from_utf8_lossy(&b.bytes).into_owned();
    // Digits stay as the model wrote them.
    let output = r#""permission_denials":[],"structured_output":{"n":12345678901234567890123,"m":1.50},"prompt_uuid""#;
    assert!(text.contains(output), "{text}");
    let record = result(&b);
    assert_eq!(
        (&record["stop_reason"], &record["result"]),
        (&json!("end_turn"), &json!("done"))
    );
    let reports = b.outputs.iter().filter_map(|output| match output {
        Output::Event(Event::TurnEnded(report)) => report.structured_output.clone(),
        _ => None,
    });
    assert_eq!(reports.count(), 1);
}

// covers: DEC-42, RT-RES-005, RT-RES-010
#[test]
fn five_retries_tell_the_model_why_and_the_sixth_failure_ends_the_turn() {
    let mut b = bench(structured());
    for n in 0..6 {
        submits(
            &mut b,
            &format!("t{n}"),
            breaks(&format!("at /n: fault {n}")),
        );
        let (text, is_error) = told(&b, &format!("t{n}"));
        assert!(text.starts_with("Error: ") && is_error, "{text}");
        assert!(text.ends_with(&format!("\n- at /n: fault {n}")), "{text}");
    }
    let record = result(&b);
    assert_eq!(record["subtype"], "error_max_structured_output_retries");
    assert_eq!(record["stop_reason"], "max_structured_output_retries");
    assert_eq!(
        (&record["is_error"], &record["num_turns"]),
        (&json!(true), &json!(6))
    );
    assert!(record.get("structured_output").is_none());
    let text = record["errors"][0].as_str().expect("a text");
    assert!(
        text.contains("after 5 retries") && text.contains("fault 5"),
        "{text}"
    );
    // The next prompt has all its tries again.
    b.prompt(2, "again");
    submits(&mut b, "u", breaks("no"));
    submits(&mut b, "v", Validity::Fits);
    b.says("done");
    assert_eq!(result(&b)["structured_output"], json!({"n": 1}));
    b.eof();
    assert_eq!(b.exit, Some(0));
}

// covers: DEC-42, DEC-20
#[test]
fn an_answer_without_a_submission_is_reminded_and_counts() {
    let mut b = bench(structured());
    for n in 0..5 {
        b.says("here you are");
        let stop = b.all_records().last().expect("a record")["message"]["stop_reason"].clone();
        assert_eq!((stop, n), (json!("end_turn"), n));
        assert!(reminder(&b).contains("needs a call of the tool StructuredOutput"));
    }
    b.says("still none");
    let record = result(&b);
    assert_eq!(record["subtype"], "error_max_structured_output_retries");
    assert!(
        record["errors"][0]
            .as_str()
            .expect("a text")
            .contains("without a call")
    );
    let users = b.records().iter().filter(|r| r["type"] == "user").count();
    assert_eq!(users, 0, "a reminder is between us and the model");
    b.eof();
    assert_eq!(b.exit, Some(1));
}

#[test]
fn failures_of_every_kind_are_counted_together() {
    let mut b = bench(structured());
    b.says("text");
    b.calls(&[("t1", TOOL, r#"{"n":"#)]);
    b.calls(&[("t2", TOOL, "[1]")]);
    submits(&mut b, "t3", breaks("no"));
    submits(&mut b, "t4", Validity::Unknown);
    submits(&mut b, "t5", Validity::Fits);
    b.says("done");
    assert_eq!(result(&b)["structured_output"], json!({"n": 1}));
    assert!(
        told(&b, "t1")
            .0
            .starts_with("Error: The arguments of this call are not valid JSON")
    );
    assert!(told(&b, "t2").0.contains("not a JSON object"));
    assert!(told(&b, "t4").0.contains("not accepted"));
}

// covers: RT-RES-009
#[test]
fn the_last_accepted_submission_counts_whichever_was_checked_first() {
    let mut b = bench(structured());
    b.calls(&[("t1", TOOL, r#"{"n":1}"#), ("t2", TOOL, r#"{"n":2}"#)]);
    let ids: Vec<_> = b.validating().iter().map(|(id, _)| *id).collect();
    b.done(ids[1], Answer::Validated(Validity::Fits));
    b.done(ids[0], Answer::Validated(Validity::Fits));
    b.says("done");
    assert_eq!(result(&b)["structured_output"], json!({"n": 2}));

    let mut b = bench(structured());
    submits(&mut b, "t1", Validity::Fits);
    b.calls(&[("t2", TOOL, r#"{"n":2}"#)]);
    b.validated(Validity::Fits);
    // What fails later takes nothing away, and is no retry.
    for n in 3..12 {
        submits(&mut b, &format!("t{n}"), breaks("no"));
        assert!(told(&b, &format!("t{n}")).1);
    }
    b.says("done");
    assert_eq!(result(&b)["structured_output"], json!({"n": 2}));
}

#[test]
fn a_refused_submission_beside_an_accepted_one_is_no_failure() {
    let mut b = bench(Config {
        limits: Limits {
            structured_retries: 0,
            ..Limits::DEFAULT
        },
        ..structured()
    });
    b.calls(&[("t1", TOOL, "{}"), ("t2", TOOL, "{}")]);
    b.validated(Validity::Fits);
    b.validated(breaks("no"));
    b.says("done");
    assert_eq!(result(&b)["structured_output"], json!({}));
}

// covers: DEC-26
#[test]
fn a_submission_stands_beside_other_calls() {
    let mut b = bench(structured());
    b.calls(&[
        ("t1", "Do", "{}"),
        ("t2", TOOL, r#"{"n":1}"#),
        ("t3", "Look", "{}"),
    ]);
    let question = b.question("t1");
    b.validated(breaks("no"));
    b.tool_says("t3", "seen");
    b.allow(&question);
    b.tool_says("t1", "did");
    submits(&mut b, "t4", Validity::Fits);
    b.says("done");
    let record = result(&b);
    assert_eq!(record["structured_output"], json!({"n": 1}));
    assert_eq!(record["permission_denials"], json!([]));
}

// covers: DEC-42, RT-SCHM-011
#[test]
fn a_submission_never_asks_for_permission_whatever_the_mode() {
    for mode in PermissionMode::ALL {
        let mut b = bench(Config {
            permission_mode: *mode,
            host_answers: false,
            ..structured()
        });
        submits(&mut b, "t1", Validity::Fits);
        b.says("done");
        assert_eq!(result(&b)["structured_output"], json!({"n": 1}), "{mode:?}");
        assert!(b.questions().is_empty());
    }
}

// covers: DEC-42
#[test]
fn the_tool_is_there_without_other_tools_and_alone_has_its_name() {
    let tools = [vec![], vec![tool(TOOL, ToolClass::Execute)]];
    for tools in tools {
        let mut b = bench(Config {
            tools: tools.into(),
            ..structured()
        });
        assert_eq!(b.model().1.tools.len(), 1);
        submits(&mut b, "t1", Validity::Fits);
        b.says("done");
        assert!(b.running().is_empty() && b.questions().is_empty());
    }
    // Without a schema a call of it is a call of a tool that nobody knows.
    let mut b = bench(config());
    b.calls(&[("t1", TOOL, "{}")]);
    assert!(
        told(&b, "t1")
            .0
            .starts_with("Unknown tool: StructuredOutput")
    );
    b.says("done");
    assert!(result(&b).get("structured_output").is_none());
}

// covers: RT-SCHM-010
#[test]
fn a_submission_over_its_bounds_is_not_even_checked() {
    let limits = Limits {
        structured_bytes: 100,
        structured_depth: 3,
        ..Limits::DEFAULT
    };
    let mut b = bench(Config {
        limits,
        ..structured()
    });
    let long = |bytes: usize| format!("{{\"n\":\"{}\"}}", "x".repeat(bytes - 8));
    b.calls(&[("t1", TOOL, &long(101))]);
    assert_eq!(
        told(&b, "t1"),
        ("Error: the input is over 100 bytes".to_string(), true)
    );
    b.calls(&[("t2", TOOL, r#"{"a":[{"b":[]}]}"#)]);
    assert!(told(&b, "t2").0.contains("nested deeper than 3 levels"));
    b.calls(&[("t3", TOOL, &("[".repeat(500)))]);
    assert!(told(&b, "t3").1);
    assert!(b.validating().is_empty());
    b.calls(&[("t4", TOOL, &long(100)), ("t5", TOOL, r#"{"a":[{"b":1}]}"#)]);
    assert_eq!(b.validating().len(), 2);
}

// covers: DEC-30, DEC-42
#[test]
fn what_the_model_is_told_is_bounded_and_redacted() {
    let limits = Limits {
        structured_faults: 2,
        structured_fault_chars: 40,
        structured_retries: 1,
        ..Limits::DEFAULT
    };
    let mut b = bench(Config {
        limits,
        credentials: Guard::new(["sk-secret-0123"]).expect("a key"),
        ..structured()
    });
    b.calls(&[("t1", TOOL, r#"{"n":"sk-secret-0123"}"#)]);
    let [(_, validation)] = b.validating()[..] else {
        panic!("one check");
    };
    assert!(!validation.value.as_str().contains("secret"));
    b.validated(breaks("no"));
    let faults = [
        "at /a-path-of-34-characters-0123456/sk-secret-0123: no\n",
        &"y".repeat(500),
        "a third one",
    ];
    let faults = faults.map(ToString::to_string).to_vec();
    submits(&mut b, "t2", Validity::Breaks(faults));
    let (text, _) = told(&b, "t2");
    assert!(
        text.contains(&format!("\n- {}…\n- and more", "y".repeat(40))),
        "{text}"
    );
    assert!(!text.contains("third"));
    // The cut would go through the key.
    assert!(!text.contains("/sk-"), "{text}");
    assert!(!String::from_utf8_lossy(&b.bytes).contains("sk-secret-0123"));
    let record = result(&b);
    assert_eq!(record["subtype"], "error_max_structured_output_retries");
    assert!(
        record["errors"][0]
            .as_str()
            .expect("a text")
            .contains("at /")
    );
}

// covers: RT-SCHM-009
#[test]
fn a_check_that_is_not_done_in_time_is_given_up() {
    let mut b = bench(structured());
    b.wait(10);
    b.calls(&[("t1", TOOL, r#"{"n":1}"#)]);
    b.wait(5);
    let (late, _) = b.validating()[0];
    let due = Instant::from_micros(3_010_000);
    assert_eq!(b.session.deadline(), Some(due));
    b.wait(2_994);
    b.feed(Input::Tick);
    assert_eq!(b.validating().len(), 1, "a millisecond too early");
    b.wait(1);
    b.feed(Input::Tick);
    assert!(b.validating().is_empty());
    assert!(told(&b, "t1").0.contains("could not be checked in time"));
    assert_eq!(b.session.deadline(), None);
    b.done(late, Answer::Validated(Validity::Fits));
    b.says("done");
    assert!(
        reminder(&b).contains("StructuredOutput"),
        "the late word means nothing"
    );
    // An answer that comes with the deadline is late, too.
    b.calls(&[("t2", TOOL, r#"{"n":1}"#)]);
    let (late, _) = b.validating()[0];
    b.wait(3_000);
    b.done(late, Answer::Validated(Validity::Fits));
    assert!(told(&b, "t2").1);
    submits(&mut b, "t3", Validity::Fits);
    b.says("done");
    assert_eq!(result(&b)["structured_output"], json!({"n": 1}));
}

// covers: DEC-42, RT-SCHM-009
#[test]
fn a_deadline_that_ends_the_turn_begins_the_next_one() {
    let mut b = bench(Config {
        limits: Limits {
            structured_retries: 0,
            ..Limits::DEFAULT
        },
        ..structured()
    });
    b.calls(&[("t1", TOOL, "{}")]);
    b.user_with("second", json!({"uuid": uuid(2), "priority": "later"}));
    b.wait(3_000);
    // This record comes after the deadline, when the second prompt runs already.
    b.user_with("third", json!({"uuid": uuid(3), "priority": "next"}));
    b.says("text");
    assert_eq!(result(&b)["prompt_uuid"], uuid(2));
}

// covers: WIRE-010, WIRE-011
#[test]
fn an_interrupt_cancels_the_check() {
    let mut b = bench(structured());
    b.calls(&[("t1", TOOL, "{}"), ("t2", "Do", "{}")]);
    let (late, _) = b.validating()[0];
    b.records();
    b.control("r1", "interrupt");
    assert_eq!(
        b.briefs(),
        [
            "cancel",
            "ack r1",
            "state running",
            "tool_result t1",
            "tool_result t2",
            "result error_during_execution",
            "state idle"
        ]
    );
    assert!(b.open.is_empty());
    assert!(b.outputs.contains(&Output::Cancel(late)));
    b.done(late, Answer::Validated(Validity::Fits));
    assert_eq!(b.briefs(), Vec::<String>::new());
    assert_eq!(result(&b)["stop_reason"], "cancelled");
    assert!(result(&b).get("structured_output").is_none());
    // The session is usable.
    b.prompt(2, "again");
    submits(&mut b, "t3", Validity::Fits);
    b.says("done");
    assert_eq!(result(&b)["structured_output"], json!({"n": 1}));
}

#[test]
fn the_end_of_input_waits_for_the_check_and_a_failed_output_does_not() {
    let mut b = bench(structured());
    b.calls(&[("t1", TOOL, "{}")]);
    b.eof();
    assert_eq!(b.exit, None);
    b.validated(Validity::Fits);
    b.says("done");
    assert_eq!(
        (&result(&b)["structured_output"], b.exit),
        (&json!({}), Some(0))
    );

    let mut b = bench(structured());
    b.calls(&[("t1", TOOL, "{}")]);
    b.feed(Input::WriteFailed);
    assert!(b.open.is_empty());
    assert_eq!(b.exit, Some(1));
}

// covers: DEC-40, DEC-42
#[test]
fn the_turn_limit_counts_retries_and_takes_nothing_accepted_away() {
    let limited = |max_turns| Config {
        max_turns: Some(max_turns),
        ..structured()
    };
    // Accepted with the last request, and nothing else to be looked at.
    let mut b = bench(limited(1));
    b.delta(Delta::Text("Here it is.".to_string()));
    submits(&mut b, "t1", Validity::Fits);
    let record = result(&b);
    assert_eq!(
        (&record["subtype"], &record["stop_reason"]),
        (&json!("success"), &json!("end_turn"))
    );
    assert_eq!(
        (&record["result"], &record["num_turns"]),
        (&json!("Here it is."), &json!(1))
    );
    assert_eq!(record["structured_output"], json!({"n": 1}));

    for (calls, refused) in [
        (&[("t1", TOOL, "{}"), ("t2", "Look", "{}")][..], false),
        (&[("t1", TOOL, "{}")], true),
    ] {
        let mut b = bench(limited(1));
        b.calls(calls);
        b.validated(if refused {
            breaks("no")
        } else {
            Validity::Fits
        });
        if b.find_tool("t2").is_some() {
            b.tool_says("t2", "seen");
        }
        assert_eq!(result(&b)["subtype"], "error_max_turns", "{calls:?}");
        assert!(result(&b).get("structured_output").is_none());
    }
    let mut b = bench(limited(2));
    b.says("one");
    b.says("two");
    assert_eq!(result(&b)["subtype"], "error_max_turns");
}

// covers: DEC-41, DEC-42
#[test]
fn a_cut_answer_is_tried_again_and_a_refusal_stands() {
    let mut b = bench(structured());
    b.delta(Delta::CallStart {
        index: 0,
        id: "t1".to_string(),
        name: TOOL.to_string(),
    });
    b.finish(StopReason::MaxTokens);
    assert!(reminder(&b).contains("reached the output limit"));
    b.delta(Delta::Text("No.".to_string()));
    b.finish(StopReason::Refusal);
    let record = result(&b);
    assert_eq!(
        (&record["subtype"], &record["stop_reason"]),
        (&json!("success"), &json!("refusal"))
    );
    assert!(record.get("structured_output").is_none());
    b.eof();
    assert_eq!(b.exit, Some(0));
}

// covers: DEC-40
#[test]
fn a_spent_budget_checks_and_accepts_nothing() {
    let mut b = bench(Config {
        max_budget: Some(1),
        provider: agentx_core::agent::Provider {
            pricing: Some(agentx_core::agent_loop::Pricing {
                input: 1_000,
                output: 1_000,
                cache_read: 1_000,
                cache_write: 1_000,
            }),
            ..config().provider
        },
        ..structured()
    });
    b.calls(&[("t1", TOOL, "{}")]);
    assert!(b.validating().is_empty());
    assert_eq!(result(&b)["subtype"], "error_max_budget_usd");
}

// covers: DEC-32, DEC-42
#[test]
fn a_stored_session_keeps_submissions_and_reminders_and_goes_on_with_a_schema() {
    let config = Config {
        output_schema: Some(schema(SCHEMA)),
        ..stored(Beginning::New)
    };
    let mut b = Bench::new(config.clone());
    b.prompt(1, "go");
    let mut entries = b.store_all();
    b.says("no call");
    entries.extend(b.store_all());
    let asked = b.model().1.history.clone();
    let restore = |entries: &[Entry]| {
        let mut restorer = Restorer::new();
        for entry in entries {
            restorer
                .push(entry.clone())
                .expect("entries follow one another");
        }
        restorer.finish()
    };
    assert_eq!(
        restore(&entries).history,
        asked,
        "a resumed session says the same"
    );
    submits(&mut b, "t1", Validity::Fits);
    entries.extend(b.store_all());
    b.says("done");
    entries.extend(b.store_all());
    assert_eq!(result(&b)["structured_output"], json!({"n": 1}));
    let restored = restore(&entries);
    assert_eq!(
        restored.prompts,
        [uuid(1).into()],
        "a reminder is nobody's prompt"
    );

    let known = restored.entries;
    let mut b = Bench::new(Config {
        resume: Some(restored),
        store: stored(Beginning::Resumed(known)).store,
        ..config
    });
    b.prompt(2, "once more");
    b.store_all();
    submits(&mut b, "t9", Validity::Fits);
    b.store_all();
    b.says("done");
    b.store_all();
    assert_eq!(result(&b)["structured_output"], json!({"n": 1}));
}

#[test]
fn a_check_that_nobody_asked_for_is_a_misuse_and_changes_nothing() {
    let mut b = bench(structured());
    b.calls(&[("t1", TOOL, "{}")]);
    let (id, _) = b.validating()[0];
    b.wait(3_000);
    let wrong = Input::Done(id, Answer::Model(ModelOutcome::Finished));
    assert!(b.try_feed(wrong).is_err());
    assert_eq!(b.validating().len(), 1, "not even the deadline");
    b.feed(Input::Tick);
    assert!(b.validating().is_empty());
    let requests = b
        .open
        .iter()
        .filter(|(_, r)| matches!(r, Request::Model(_)));
    assert_eq!(requests.count(), 1);
}
