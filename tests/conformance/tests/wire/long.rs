//! No record of the profile `reference` is longer than a client can read.

use agentx_conformance::session::{Bench, bare, config, hooked, reference, schema, uuid};
use agentx_conformance::stream;
use agentx_core::agent::Config;
use agentx_core::guard::Guard;
use agentx_core::limits::Limits;
use agentx_core::model::{Block, Delta, Message, StopReason};
use agentx_core::structured::{TOOL, Validity};
use serde_json::{Value, json};

/// Bytes of a record in these tests.
const LIMIT: usize = 2_000;

fn small(config: Config) -> Config {
    Config {
        include_partial_messages: true,
        replay_user_messages: true,
        limits: Limits {
            reference_record_bytes: LIMIT,
            reference_input_bytes: 900,
            ..Limits::DEFAULT
        },
        ..config
    }
}

fn bench() -> Bench {
    Bench::new(small(reference()))
}

/// All records, none of which is too long.
fn records(b: &Bench) -> Vec<Value> {
    let text = String::from_utf8_lossy(&b.bytes);
    for line in text.split_inclusive('\n') {
        assert!(line.len() <= LIMIT, "{} bytes: {line}", line.len());
    }
    b.all_records()
}

fn of<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records
        .iter()
        .filter(|record| record["type"] == kind)
        .collect()
}

/// Text with everything that takes more bytes in a record than in memory.
fn text(chars: usize) -> String {
    "aé\"\u{1}\u{2028}\\😀\n"
        .chars()
        .cycle()
        .take(chars)
        .collect()
}

/// How many bytes a text says are gone, and what is left of it.
fn cut(text: &str) -> (&str, usize) {
    let (left, note) = text.rsplit_once("[… ").expect("a note");
    let bytes = note.strip_suffix(" bytes cut]").expect("the whole note");
    (left, bytes.parse().expect("a number"))
}

// covers: DEC-34
#[test]
fn an_answer_is_split_and_loses_nothing() {
    let mut b = bench();
    b.prompt(1, "go");
    let (thought, said) = (text(3_000), text(5_000));
    b.delta(Delta::MessageId("msg_1".to_string()));
    b.delta(Delta::Thinking(thought.clone()));
    b.delta(Delta::Signature("c2ln".to_string()));
    b.delta(Delta::Text(said.clone()));
    b.finish(StopReason::MaxTokens);
    let records = records(&b);
    let assistants = of(&records, "assistant");
    assert!(assistants.len() > 4);
    assert!(
        assistants
            .iter()
            .all(|record| record["message"]["id"] == "msg_1")
    );
    let blocks: Vec<_> = assistants
        .iter()
        .map(|record| &record["message"]["content"][0])
        .collect();
    let joined = |member: &str| -> String {
        blocks
            .iter()
            .filter_map(|block| block[member].as_str())
            .collect()
    };
    assert_eq!(
        (joined("thinking"), joined("text")),
        (thought.clone(), said.clone())
    );
    assert_eq!(joined("signature"), "c2ln");
    let last = assistants.last().expect("a record");
    assert_eq!(
        (&last["message"]["stop_reason"], &last["error"]),
        (&json!("max_tokens"), &json!("max_output_tokens"))
    );
    for earlier in &assistants[..assistants.len() - 1] {
        assert!(earlier["message"]["stop_reason"].is_null() && earlier.get("error").is_none());
    }
    let uuids: std::collections::BTreeSet<_> =
        assistants.iter().map(|r| r["uuid"].as_str()).collect();
    assert_eq!(uuids.len(), assistants.len(), "each is a record of its own");
    stream::check(&records);
    let deltas = of(&records, "stream_event");
    let streamed = |member: &str| -> String {
        deltas
            .iter()
            .filter_map(|r| r["event"]["delta"][member].as_str())
            .collect()
    };
    assert_eq!(
        (streamed("thinking"), streamed("text")),
        (thought, said.clone())
    );
    let results = of(&records, "result");
    let (left, gone) = cut(results[0]["result"].as_str().expect("text"));
    assert!(said.starts_with(left) && left.len() + gone == said.len());
    // The history has the whole.
    b.prompt(2, "on");
    let (_, request) = b.model();
    let Message::Assistant(blocks) = &*request.history[1] else {
        panic!("an answer");
    };
    assert_eq!(blocks[1], Block::Text(said));
}

// covers: DEC-34
#[test]
fn secret_reasoning_is_cut_and_a_long_signature_left_out() {
    let mut b = bench();
    b.prompt(1, "go");
    b.delta(Delta::RedactedThinking("b3Bh".repeat(1_000)));
    b.delta(Delta::Thinking("hm".to_string()));
    b.delta(Delta::Signature("c2ln".repeat(1_000)));
    b.says("done");
    let records = records(&b);
    stream::check(&records);
    let blocks: Vec<_> = of(&records, "assistant")
        .iter()
        .map(|record| record["message"]["content"][0].clone())
        .collect();
    assert!(cut(blocks[0]["data"].as_str().expect("text")).1 > 0);
    assert_eq!(
        blocks[1],
        json!({"type": "thinking", "thinking": "hm", "signature": ""})
    );
    b.prompt(2, "on");
    let Message::Assistant(kept) = &*b.model().1.history[1] else {
        panic!("an answer");
    };
    let Block::Thinking { signature, .. } = &kept[1] else {
        panic!("{kept:?}");
    };
    assert_eq!(signature.as_ref().map(String::len), Some(4_000));
}

// covers: DEC-34
#[test]
fn a_record_at_the_limit_stays_whole() {
    let length_of = |said: &str| {
        let mut b = bench();
        b.prompt(1, "go");
        b.delta(Delta::Text(said.to_string()));
        b.finish(StopReason::EndTurn);
        let records = records(&b);
        let shown = of(&records, "assistant").len();
        let text = String::from_utf8_lossy(&b.bytes).into_owned();
        let line = text
            .lines()
            .find(|line| line.starts_with("{\"type\":\"assistant\""));
        (shown, line.expect("an answer").len() + 1)
    };
    let (_, empty) = length_of("x");
    let most = LIMIT - (empty - 1);
    assert_eq!(length_of(&"x".repeat(most)), (1, LIMIT));
    assert_eq!(length_of(&"x".repeat(most + 1)).0, 2);
}

// covers: DEC-34
#[test]
fn a_call_that_does_not_fit_is_an_error_and_shown_empty() {
    let long = json!({"command": "x".repeat(900)}).to_string();
    let mut b = bench();
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", &long), ("t2", "Look", r#"{"file_path":"a"}"#)]);
    assert_eq!(b.running(), ["t2"]);
    let all = records(&b);
    let shown: Vec<_> = of(&all, "assistant")
        .iter()
        .map(|r| r["message"]["content"][0].clone())
        .collect();
    assert_eq!(shown[0]["input"], json!({}));
    let result = of(&all, "user")
        .into_iter()
        .find(|r| r["message"]["content"][0]["tool_use_id"] == "t1");
    let result = &result.expect("a result")["message"]["content"][0];
    assert_eq!(result["is_error"], true);
    let told = result["content"][0]["text"].as_str().expect("text");
    assert!(told.contains("take 914 bytes, and at most 900"), "{told}");
    let mut strict = Bench::new(small(config()));
    strict.prompt(1, "go");
    strict.calls(&[("t1", "Do", &long)]);
    assert_eq!(strict.questions().len(), 1, "no bound in the other profile");
}

// covers: DEC-34
#[test]
fn every_record_of_the_largest_call_fits() {
    let largest = json!({"file_path": "/x".repeat(442)}).to_string();
    assert_eq!(largest.len(), 900);
    for answer in ["allow", "deny"] {
        let mut b = Bench::new(small(Config {
            profile: reference().profile,
            ..hooked(&[])
        }));
        b.prompt(1, "go");
        b.calls(&[("t1", "Change", &largest)]);
        assert_eq!(b.questions().len(), 1);
        let id = b.question("t1");
        b.respond(&id, &json!({"behavior": answer, "message": text(4_000), "updatedInput": {"file_path": text(4_000)}}));
        if answer == "allow" {
            b.tool_says("t1", &text(4_000));
        }
        b.says("done");
        let records = records(&b);
        let result = of(&records, "user")
            .into_iter()
            .find(|r| r.get("isReplay").is_none());
        let told = &result.expect("a result")["message"]["content"][0]["content"][0]["text"];
        let (left, gone) = cut(told.as_str().expect("text"));
        assert_eq!(left.len() + gone, text(4_000).len());
        assert_eq!(of(&records, "result").len(), 1);
    }
}

// covers: DEC-34
#[test]
fn what_a_host_said_is_cut_in_its_echo_alone() {
    let long = text(4_000);
    let blocks = json!([{"type": "text", "text": text(500)}, {"type": "text", "text": long}, {"type": "text", "text": "end"}]);
    for content in [json!(long), blocks] {
        let mut b = bench();
        let origin = json!({"where": "x".repeat(1_500)});
        let record = json!({"type": "user", "uuid": uuid(1), "origin": origin, "message": {"role": "user", "content": content}, "priority": "now"});
        b.line(&record.to_string());
        let (_, request) = b.model();
        let Message::User(parts) = &*request.history[0] else {
            panic!("a prompt");
        };
        let whole: usize = parts.iter().map(String::len).sum();
        b.says("done");
        let records = records(&b);
        let echo = of(&records, "user")[0];
        let texts: Vec<&str> = match &echo["message"]["content"] {
            Value::String(text) => vec![text],
            blocks => blocks
                .as_array()
                .expect("blocks")
                .iter()
                .filter_map(|b| b["text"].as_str())
                .collect(),
        };
        let (last, before) = texts.split_last().expect("a text");
        let (left, gone) = cut(last);
        let kept: usize = before.iter().map(|text| text.len()).sum();
        assert_eq!(kept + left.len() + gone, whole);
        assert_eq!(
            (&echo["uuid"], &echo["priority"]),
            (&json!(uuid(1)), &json!("now"))
        );
        assert_eq!(of(&records, "result")[0]["prompt_uuid"], uuid(1));
    }
}

// covers: WIRE-013, DEC-34
#[test]
fn a_credential_in_a_record_that_is_too_long_is_not_cut_in_two() {
    let key = "key-of-an-entry";
    for chars in 1_500..LIMIT {
        let mut b = Bench::new(small(Config {
            credentials: Guard::new([key]).expect("few literals"),
            ..reference()
        }));
        b.prompt(1, &format!("{}{key}{}", "x".repeat(chars), "y".repeat(500)));
        assert_eq!(b.exit, Some(1), "{chars}");
        assert!(!String::from_utf8_lossy(&b.bytes).contains("xk"), "{chars}");
    }
}

// covers: DEC-34
#[test]
fn structured_output_has_its_place_before_the_text() {
    let mut b = Bench::new(Config {
        output_schema: Some(schema("{}")),
        ..small(reference())
    });
    b.prompt(1, "go");
    b.delta(Delta::Text(text(4_000)));
    let output = json!({"a": "x".repeat(800)});
    b.calls(&[("t1", TOOL, &output.to_string())]);
    b.validated(Validity::Fits);
    b.says(&text(4_000));
    let records = records(&b);
    let result = of(&records, "result")[0];
    assert_eq!(result["structured_output"], output);
    assert!(cut(result["result"].as_str().expect("text")).1 > 0);
}

// covers: DEC-34
#[test]
fn inputs_of_denied_calls_give_way_to_the_text() {
    let mut b = bench();
    b.prompt(1, "go");
    for n in 0..4 {
        let id = format!("t{n}");
        b.calls(&[(&id, "Do", &json!({"command": "x".repeat(700)}).to_string())]);
        let question = b.question(&id);
        b.deny(&question);
    }
    b.says(&text(300));
    let records = records(&b);
    let result = of(&records, "result")[0];
    let denials = result["permission_denials"].as_array().expect("a list");
    assert_eq!(denials.len(), 4);
    assert!(
        denials
            .iter()
            .all(|denial| denial["tool_input"] == json!({}))
    );
}

// covers: DEC-19, DEC-34
#[test]
fn open_questions_are_listed_as_far_as_they_fit() {
    let mut b = bench();
    b.control("c1", "initialize");
    b.prompt(1, "go");
    let input = json!({"command": "x".repeat(500)}).to_string();
    b.calls(&[
        ("t1", "Do", &input),
        ("t2", "Do", &input),
        ("t3", "Do", &input),
    ]);
    assert_eq!(b.questions().len(), 3);
    b.control("c2", "initialize");
    records(&b);
}

// covers: DEC-34
#[test]
fn the_echo_of_a_long_answer_comes_without_its_payload() {
    let mut b = bench();
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", "{}")]);
    let id = b.question("t1");
    b.respond(
        &id,
        &json!({"behavior": "allow", "updatedInput": {"command": text(4_000)}}),
    );
    let records = records(&b);
    let echo = of(&records, "control_response");
    assert_eq!(
        bare(echo[0]),
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": id}})
    );
    assert!(b.find_tool("t1").is_some());
}

// covers: DEC-34
#[test]
fn the_other_profile_has_no_limit() {
    let mut b = Bench::new(small(config()));
    b.prompt(1, "go");
    let said = text(5_000);
    b.says(&said);
    let records = b.all_records();
    assert_eq!(of(&records, "assistant").len(), 1);
    assert_eq!(of(&records, "result")[0]["result"], said);
}

// covers: DEC-34
#[test]
fn the_limit_of_the_profile_is_a_million_bytes() {
    let mut b = Bench::new(reference());
    b.replays = false;
    b.prompt(1, "go");
    let said = "é".repeat(1_200_000);
    b.says(&said);
    let text = String::from_utf8_lossy(&b.bytes);
    let longest = text.split_inclusive('\n').map(str::len).max();
    assert!(longest.is_some_and(|longest| (900_000..=1_000_000).contains(&longest)));
    let records = b.all_records();
    let pieces = of(&records, "assistant");
    let joined: String = pieces
        .iter()
        .filter_map(|r| r["message"]["content"][0]["text"].as_str())
        .collect();
    assert_eq!((pieces.len(), joined == said), (3, true));
}
