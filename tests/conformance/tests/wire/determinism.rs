//! A session is a function of configuration, seed, inputs and times.

use agentx_conformance::session::{Bench, brief, config};
use agentx_core::agent::Config;
use agentx_core::ids::Seed;
use agentx_core::model::Delta;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Two turns: a question that is allowed, one that is denied, tools that run,
/// an interrupt. `tick` milliseconds pass between the steps.
fn drive(seed: u64, tick: u64) -> Bench {
    let mut b = Bench::with_init(Config {
        seed: Seed::from_u64(seed),
        include_partial_messages: true,
        replay_user_messages: true,
        ..config()
    });
    b.control("c1", "initialize");
    b.user("without a uuid");
    b.wait(tick);
    b.delta(Delta::Text("I look".to_string()));
    b.calls(&[
        ("", "Look", "{}"),
        ("t2", "Do", r#"{"command":"a"}"#),
        ("t2", "Do", "{}"),
    ]);
    b.wait(tick);
    let asked = b.questions();
    b.allow(&asked[0]);
    b.deny(&asked[1]);
    b.wait(tick);
    for id in b.running() {
        b.tool_says(&id, "seen");
    }
    b.wait(tick);
    b.says("done");
    b.prompt(2, "again");
    b.wait(tick);
    b.delta(Delta::Text("half".to_string()));
    b.control("i1", "interrupt");
    b.wait(tick);
    b.eof();
    b
}

/// The records with every generated id named by the order of its appearance,
/// and durations left out when `timeless`.
fn named(b: &Bench, timeless: bool) -> String {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let text = String::from_utf8(b.bytes.clone()).expect("UTF-8");
    let mut out = String::new();
    for line in text.lines() {
        let mut record: Value = serde_json::from_str(line).expect("JSON");
        rename(&mut record, &mut names, timeless);
        out.push_str(&record.to_string());
        out.push('\n');
    }
    out
}

fn rename(value: &mut Value, names: &mut BTreeMap<String, String>, timeless: bool) {
    match value {
        Value::String(text) => {
            let generated = text.len() == 36 && text.as_bytes()[14] == b'4' && text.contains('-')
                || ["req_", "msg_", "toolu_"]
                    .iter()
                    .any(|tag| text.starts_with(tag) && text.len() > 30);
            if generated && !text.starts_with("00000000-") {
                let next = format!("id-{}", names.len());
                *text = names.entry(text.clone()).or_insert(next).clone();
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| rename(item, names, timeless)),
        Value::Object(members) => {
            if timeless {
                members.retain(|name, _| !name.starts_with("duration_"));
            }
            members
                .values_mut()
                .for_each(|item| rename(item, names, timeless));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

// covers: DEC-17
#[test]
fn the_same_seed_and_times_give_the_same_bytes() {
    let (one, two) = (drive(7, 20), drive(7, 20));
    assert_eq!(
        String::from_utf8_lossy(&one.bytes),
        String::from_utf8_lossy(&two.bytes)
    );
    assert_eq!(
        one.outputs, two.outputs,
        "effects, events and diagnostics too"
    );
    assert!(
        one.all_records()
            .iter()
            .any(|r| brief(r).starts_with("ask"))
    );
    assert!(
        one.all_records()
            .iter()
            .any(|r| brief(r).starts_with("tool_result"))
    );
}

// covers: DEC-17
#[test]
fn another_seed_gives_other_ids_and_the_same_records_otherwise() {
    let (one, two) = (drive(7, 20), drive(8, 20));
    assert_ne!(one.bytes, two.bytes);
    assert_eq!(named(&one, false), named(&two, false));
}

// covers: DEC-17
#[test]
fn another_clock_gives_other_durations_alone() {
    let (one, two) = (drive(7, 20), drive(7, 35));
    assert_ne!(one.bytes, two.bytes);
    assert_eq!(named(&one, true), named(&two, true));
    let durations = |b: &Bench| -> Vec<Value> {
        let text = String::from_utf8(b.bytes.clone()).expect("UTF-8");
        let records = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        records
            .filter(|record| record["type"] == "result")
            .map(|record| json!([record["duration_ms"], record["duration_api_ms"]]))
            .collect()
    };
    assert_eq!(durations(&one), [json!([80, 40]), json!([20, 20])]);
    assert_eq!(durations(&two), [json!([140, 70]), json!([35, 35])]);
}
