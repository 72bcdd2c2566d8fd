//! User records: what is a prompt, what is context, what waits and what is refused.

use agentx_conformance::session::{Bench, bare, brief, config, uuid};
use agentx_core::agent::{Command, Config, Event, Input, Output};
use agentx_core::limits::Limits;
use agentx_core::model::Message;
use serde_json::{Value, json};

/// The one error of the one record.
fn refused(b: &mut Bench) -> String {
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        ["result error_during_execution"]
    );
    assert_eq!(
        (&records[0]["stop_reason"], &records[0]["num_turns"]),
        (&json!("input_error"), &json!(0))
    );
    records[0]["errors"][0]
        .as_str()
        .expect("a text")
        .to_string()
}

fn replaying() -> Config {
    Config {
        replay_user_messages: true,
        ..config()
    }
}

// covers: DEC-24, DEC-25, DEC-44, WIRE-021
#[test]
fn what_a_user_record_may_carry() {
    for members in [
        json!({"session_id": null}),
        json!({"session_id": ""}),
        json!({"session_id": "default"}),
        json!({"session_id": uuid(9)}),
        json!({"uuid": uuid(1).to_uppercase()}),
        json!({"uuid": "0190b2f0-6f4e-7d3a-9f21-0123456789ab"}),
        json!({"isSynthetic": true, "tool_use_result": {"a": [1]}, "timestamp": "2020-01-01T00:00:00Z", "priority": "later"}),
        json!({"parent_tool_use_id": "toolu_1"}),
    ] {
        let mut b = Bench::new(Config {
            session_id: Some(uuid(9)),
            ..config()
        });
        b.user_with("go", members.clone());
        assert_eq!(b.briefs(), ["state running"], "{members}");
    }
}

// covers: DEC-24, DEC-25, WIRE-021
#[test]
fn what_a_user_record_may_not_carry() {
    for (members, text) in [
        (
            json!({"session_id": uuid(8)}),
            "user record: session_id names another session",
        ),
        (
            json!({"session_id": 7}),
            "user record: session_id must be a string",
        ),
        (
            json!({"uuid": "prompt-1"}),
            "user record: uuid is not an RFC 4122 UUID",
        ),
        (
            json!({"uuid": null}),
            "user record: uuid is not an RFC 4122 UUID",
        ),
        (
            json!({"uuid": "00000000-0000-0000-0000-000000000000"}),
            "user record: uuid is not an RFC 4122 UUID",
        ),
        (
            json!({"priority": "soon"}),
            "user record: priority must be now, next or later",
        ),
        (
            json!({"isSynthetic": "yes"}),
            "user record: isSynthetic must be true or false",
        ),
        (
            json!({"parent_tool_use_id": 7}),
            "user record: parent_tool_use_id must be a string",
        ),
        (
            json!({"isReplay": true}),
            "user record: isReplay needs uuid and session_id",
        ),
        (
            json!({"message": {"role": "assistant", "content": "x"}}),
            "user record: role must be user",
        ),
        (
            json!({"message": {"content": []}}),
            "user record: content has no blocks",
        ),
        (
            json!({"message": {"content": [{"type": "image"}]}}),
            "content block: unsupported type \"image\"",
        ),
        (
            json!({"message": {"content": [{"type": "text", "text": "a", "cache": 1}]}}),
            "content block: unknown member \"cache\"",
        ),
        (
            json!({"mood": "good"}),
            "user record: unknown member \"mood\"",
        ),
    ] {
        let mut b = Bench::new(config());
        b.user_with("go", members.clone());
        assert_eq!(refused(&mut b), text, "{members}");
        assert_eq!(
            b.diagnostics(),
            [format!("a user record was refused: {text}")]
        );
        b.user("fine");
        assert_eq!(b.briefs(), ["state running"], "the stream goes on");
    }
}

// covers: WIRE-017, WIRE-021
#[test]
fn every_form_of_text_reaches_the_model() {
    for (message, parts) in [
        (json!("hello"), vec!["hello"]),
        (json!({"content": "hello"}), vec!["hello"]),
        (
            json!({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "input_text", "text": "b"}]}),
            vec!["a", "b"],
        ),
        (
            json!({"content_version": 1, "content": [{"text": "a", "type": "text"}]}),
            vec!["a"],
        ),
    ] {
        let mut b = Bench::new(replaying());
        b.line(&json!({"type": "user", "uuid": uuid(1), "message": message}).to_string());
        let parts: Vec<_> = parts.into_iter().map(String::from).collect();
        assert_eq!(*b.model().1.history[0], Message::User(parts.clone()));
        let echo = bare(&b.records()[1]);
        let content = if parts.len() == 1 && message["content_version"].is_null() {
            json!(parts[0])
        } else {
            parts
                .iter()
                .map(|text| json!({"type": "text", "text": text}))
                .collect()
        };
        assert_eq!(
            echo,
            json!({"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": null, "isReplay": true})
        );
    }
}

// covers: DEC-44, DEC-50
#[test]
fn replay_mode_echoes_a_prompt_when_it_runs_and_context_at_once() {
    let mut b = Bench::new(replaying());
    b.user_with("one", json!({"uuid": uuid(1), "priority": "later", "timestamp": "T", "isSynthetic": true, "parent_tool_use_id": "toolu_0"}));
    b.prompt(2, "two");
    b.user_with(
        "old",
        json!({"uuid": uuid(3), "session_id": "default", "isReplay": true}),
    );
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        ["state running", "replay", "replay"]
    );
    assert_eq!(
        bare(&records[1]),
        json!({"type": "user", "message": {"role": "user", "content": "one"}, "parent_tool_use_id": "toolu_0", "isReplay": true, "isSynthetic": true, "priority": "later", "timestamp": "T"})
    );
    assert_eq!(
        (&records[1]["uuid"], &records[2]["uuid"]),
        (&json!(uuid(1)), &json!(uuid(3)))
    );
    b.says("first");
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        [
            "assistant text",
            "result success",
            "state idle",
            "state running",
            "replay"
        ]
    );
    assert_eq!(records[4]["uuid"], json!(uuid(2)));
    // Context is no turn; it reaches the model with the next request.
    let (_, request) = b.model();
    let users: Vec<_> = request
        .history
        .iter()
        .filter_map(|m| match &**m {
            Message::User(parts) => Some(parts.concat()),
            _ => None,
        })
        .collect();
    assert_eq!(users, ["one", "old", "two"]);
}

// covers: DEC-44
#[test]
fn a_uuid_seen_before_is_no_new_prompt() {
    for replay in [false, true] {
        let mut b = Bench::new(Config {
            replay_user_messages: replay,
            ..config()
        });
        b.prompt(1, "one");
        b.prompt(2, "two");
        b.records();
        for n in [1, 2] {
            b.prompt(n, "again");
            b.user_with(
                "again",
                json!({"uuid": uuid(n), "session_id": "", "isReplay": true}),
            );
        }
        let echoes = if replay { vec!["replay"; 4] } else { vec![] };
        assert_eq!(b.briefs(), echoes);
        assert_eq!(b.diagnostics().len(), if replay { 0 } else { 4 });
        b.says("first");
        b.says("second");
        b.prompt(1, "once more");
        b.eof();
        let results = b
            .briefs()
            .iter()
            .filter(|brief| brief.starts_with("result"))
            .count();
        assert_eq!(
            (results, b.exit),
            (2, Some(0)),
            "one result for each prompt"
        );
    }
}

// covers: DEC-25
#[test]
fn uuids_are_compared_byte_for_byte_and_told_as_they_came() {
    let lower = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee";
    let upper = lower.to_uppercase();
    let mut b = Bench::new(config());
    for uuid in [lower, &upper, lower] {
        b.user_with("go", json!({"uuid": uuid}));
    }
    b.says("first");
    b.says("second");
    let results = b.records().into_iter();
    let results: Vec<_> = results
        .filter(|record| record["type"] == "result")
        .map(|record| record["prompt_uuid"].clone())
        .collect();
    assert_eq!(results, [lower, &upper]);
    assert!(b.open.is_empty(), "the third repeats the first");
}

// covers: DEC-44
#[test]
fn only_so_many_uuids_are_remembered() {
    let limits = Limits {
        seen_prompts: 2,
        ..Limits::DEFAULT
    };
    let mut b = Bench::new(Config { limits, ..config() });
    for n in [1, 2, 3] {
        b.user_with(
            "context",
            json!({"uuid": uuid(n), "session_id": "", "isReplay": true}),
        );
    }
    b.prompt(3, "known");
    assert_eq!(b.briefs(), Vec::<String>::new());
    b.prompt(1, "forgotten");
    assert_eq!(b.briefs(), ["state running"]);
}

// covers: DEC-44
#[test]
fn records_of_other_roles_are_told_and_ignored() {
    let mut b = Bench::new(config());
    b.line(r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Do","input":{}}]}}"#);
    b.line(r#"{"type":"system","subtype":"init"}"#);
    assert_eq!(
        (b.briefs(), b.open.len()),
        (vec![], 0),
        "no historical call is run"
    );
    assert_eq!(
        b.diagnostics(),
        [
            "a replayed assistant record was ignored",
            "a replayed system record was ignored"
        ]
    );
}

// covers: DEC-15
#[test]
fn next_goes_before_later_and_arrival_decides_the_rest() {
    let mut b = Bench::new(config());
    b.prompt(1, "running");
    for (n, priority) in [
        (2, json!("later")),
        (3, json!("next")),
        (4, Value::Null),
        (5, json!("later")),
        (6, json!("next")),
    ] {
        let mut members = json!({"uuid": uuid(n)});
        if !priority.is_null() {
            members["priority"] = priority;
        }
        b.user_with("waits", members);
    }
    for _ in 0..6 {
        b.says("x");
    }
    let order: Vec<_> = b
        .records()
        .into_iter()
        .filter(|r| r["type"] == "result")
        .map(|r| r["prompt_uuid"].clone())
        .collect();
    assert_eq!(order, [1, 3, 4, 6, 2, 5].map(|n| json!(uuid(n))));
}

// covers: WIRE-020, DEC-45
#[test]
fn the_queue_has_its_bounds_and_the_running_prompt_takes_no_place() {
    let line =
        r#"{"message":{"content":"waits","role":"user"},"parent_tool_use_id":null,"type":"user"}"#;
    let weight = line.len() + 256;
    let bounded = |queue_records, queue_bytes| Config {
        limits: Limits {
            queue_records,
            queue_bytes,
            ..Limits::DEFAULT
        },
        ..config()
    };
    for (limits, text) in [
        (
            bounded(3, 1 << 20),
            "input queue is full: 3 prompts are waiting".to_string(),
        ),
        (
            bounded(128, 3 * weight),
            format!(
                "input queue is full: waiting prompts may weigh {} bytes",
                3 * weight
            ),
        ),
        (
            bounded(128, 4 * weight - 1),
            format!(
                "input queue is full: waiting prompts may weigh {} bytes",
                4 * weight - 1
            ),
        ),
    ] {
        let mut b = Bench::new(limits);
        for _ in 0..4 {
            b.line(line);
        }
        assert_eq!(b.briefs(), ["state running"]);
        b.line(line);
        assert_eq!(refused(&mut b), text);
        b.says("one is done");
        b.records();
        b.line(line);
        assert_eq!(b.briefs(), Vec::<String>::new(), "there is room again");
    }
    let mut b = Bench::new(bounded(128, weight - 1));
    b.line(line);
    assert_eq!(
        refused(&mut b),
        format!(
            "user record: weighs {weight} bytes, at most {} can be admitted",
            weight - 1
        )
    );
    b.feed(Input::Command(Command::Prompt("x".repeat(weight))));
    assert_eq!(
        refused(&mut b),
        format!(
            "user record weighs more than the {} bytes a queue may hold",
            weight - 1
        )
    );
}

// covers: WIRE-020, WIRE-021, DEC-20
#[test]
fn a_refused_record_is_reported_to_the_embedder_too() {
    let mut b = Bench::new(config());
    b.user_with("x", json!({"uuid": uuid(7), "surprise": "\u{1b}[31m\n"}));
    let records = b.records();
    assert_eq!(records[0]["prompt_uuid"], json!(uuid(7)));
    let report = b.outputs.iter().find_map(|output| match output {
        Output::Event(Event::TurnEnded(report)) => Some(report.clone()),
        _ => None,
    });
    assert!(report.is_some_and(|report| report.is_error && report.errors.len() == 1));
    b.user_with("x", json!({"a\n\u{1b}\u{2028}b": 1}));
    let told = b.diagnostics();
    assert_eq!(
        told.last(),
        Some(&r#"a user record was refused: user record: unknown member "a\n\u{1b}\u{2028}b""#),
        "a diagnostic is one line and moves no terminal"
    );
}
