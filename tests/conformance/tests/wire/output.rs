//! Records out: order, bytes, accounting.

use agentx_conformance::session::{Bench, bare, brief, config, uuid};
use agentx_core::agent::{Config, Input, Output, Provider};
use agentx_core::agent_loop::Pricing;
use agentx_core::effect::{Answer, Request};
use agentx_core::model::{Delta, ModelOutcome, StopReason, Usage};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn priced(pricing: Option<Pricing>) -> Config {
    Config {
        provider: Provider {
            pricing,
            ..config().provider
        },
        ..config()
    }
}

const FREE: Pricing = Pricing {
    input: 0,
    output: 0,
    cache_read: 0,
    cache_write: 0,
};

// covers: ACC-02, DEC-16
#[test]
fn separators_of_lines_and_paragraphs_leave_escaped() {
    let text = "a\u{2028}b\u{2029}c\u{85}\r\n\u{7f}é\u{1f600}\"\\/\u{1}";
    let mut b = Bench::new(Config {
        include_partial_messages: true,
        ..config()
    });
    b.prompt(1, "go");
    b.says(text);
    let written = r#""a\u2028b\u2029cé😀\"\\/\u0001""#;
    let written = written.replace('c', "c\u{85}\\r\\n\u{7f}");
    let bytes = String::from_utf8(b.bytes.clone()).expect("UTF-8");
    assert_eq!(
        bytes.matches(&written).count(),
        3,
        "delta, record and result: {bytes}"
    );
    assert!(!bytes.contains(['\u{2028}', '\u{2029}']));
    let records = b.records();
    let decoded: Vec<_> = records
        .iter()
        .filter_map(|record| match record["type"].as_str() {
            Some("assistant") => record["message"]["content"][0]["text"].as_str(),
            Some("result") => record["result"].as_str(),
            _ => None,
        })
        .collect();
    assert_eq!(decoded, [text, text]);
}

// covers: ACC-03, WIRE-003
#[test]
fn a_question_never_overtakes_what_the_assistant_said() {
    for vets in [false, true] {
        let mut b = Bench::with_init(Config {
            vet_records: vets,
            ..config()
        });
        b.prompt(1, "go");
        b.delta(Delta::Text("I will run it".to_string()));
        b.calls(&[("t1", "Do", "{}")]);
        if vets {
            assert_eq!(
                b.records(),
                [] as [Value; 0],
                "the first record still waits"
            );
            b.vet_all();
        }
        assert_eq!(
            b.briefs(),
            [
                "system/init",
                "state running",
                "assistant text",
                "assistant tool_use",
                "state requires_action",
                "ask t1"
            ]
        );
    }
}

// covers: WIRE-003, DEC-16, DEC-47
#[test]
fn a_turn_with_a_tool_byte_for_byte() {
    let mut b = Bench::new(Config {
        session_id: Some(uuid(9)),
        ..config()
    });
    b.prompt(1, "go");
    b.wait(1_500);
    b.delta(Delta::MessageId("msg_1".to_string()));
    b.delta(Delta::Thinking("hm".to_string()));
    b.delta(Delta::Signature("c2ln".to_string()));
    b.calls(&[("t1", "Look", r#"{ "file_path" : "a" , "n" : 1.0 }"#)]);
    b.wait(250);
    b.tool_says("t1", "seen");
    b.wait(250);
    b.delta(Delta::MessageId("msg_2".to_string()));
    b.says("done");
    let usage = r#"{"input_tokens":11,"output_tokens":4,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"reasoning_output_tokens":0,"total_tokens":15}"#;
    let twice = usage
        .replace("11", "22")
        .replace(":4,", ":8,")
        .replace("15", "30");
    let message = |id: &str, content: &str, stop: &str, usage: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"{id}","type":"message","role":"assistant","model":"test-model","content":[{content}],"stop_reason":{stop},"stop_sequence":null,"usage":{usage}}},"parent_tool_use_id":null,IDS}}"#
        )
    };
    let expected = [
        r#"{"type":"system","subtype":"session_state_changed","state":"running",IDS}"#.to_string(),
        message("msg_1", r#"{"type":"thinking","thinking":"hm","signature":"c2ln"}"#, "null", usage),
        message("msg_1", r#"{"type":"tool_use","id":"t1","name":"Look","input":{"file_path":"a","n":1.0}}"#, r#""tool_use""#, usage),
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"seen"}],"is_error":false}]},"parent_tool_use_id":null,"isSynthetic":true,IDS}"#.to_string(),
        message("msg_2", r#"{"type":"text","text":"done"}"#, r#""end_turn""#, usage),
        format!(r#"{{"type":"result","subtype":"success","is_error":false,"duration_ms":2000,"duration_api_ms":1750,"num_turns":2,"result":"done","stop_reason":"end_turn","total_cost_usd":null,"usage":{twice},"modelUsage":{{"test-model":{{"inputTokens":22,"outputTokens":8,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"webSearchRequests":0,"costUSD":null,"contextWindow":128000,"maxOutputTokens":128000}}}},"permission_denials":[],"prompt_uuid":"{}",IDS}}"#, uuid(1)),
        r#"{"type":"system","subtype":"session_state_changed","state":"idle",IDS}"#.to_string(),
    ];
    let text = String::from_utf8(b.bytes.clone()).expect("UTF-8");
    let written: Vec<_> = text
        .lines()
        .skip(1)
        .map(|line| {
            let (members, ids) = line.split_once(r#","uuid":""#).expect("ids at the end");
            assert!(
                ids.ends_with(&format!(r#"","session_id":"{}"}}"#, uuid(9))),
                "{ids}"
            );
            format!("{members},IDS}}")
        })
        .collect();
    assert_eq!(written, expected);
}

// covers: DEC-17, WIRE-003
#[test]
fn every_session_record_has_a_uuid_of_its_own() {
    let mut b = Bench::with_init(Config {
        include_partial_messages: true,
        ..config()
    });
    b.prompt(1, "go");
    b.calls(&[("t1", "Look", "{}"), ("t2", "Do", "{}")]);
    b.control("i1", "interrupt");
    let records = b.records();
    let ids: Vec<_> = records
        .iter()
        .filter_map(|record| record["uuid"].as_str())
        .collect();
    let distinct: BTreeSet<_> = ids.iter().collect();
    assert_eq!((distinct.len(), ids.len() > 15), (ids.len(), true));
    for record in &records {
        let _ = bare(record);
        let of_session = record.get("session_id").is_some();
        let is_control = record["type"]
            .as_str()
            .is_some_and(|kind| kind.starts_with("control_"));
        assert_eq!(of_session, !is_control, "{record}");
        if of_session {
            assert_eq!(record["session_id"], b.session.session_id());
        }
    }
}

// covers: DEC-34
#[test]
fn a_record_may_be_as_long_as_its_text() {
    let text = "word ".repeat(3 << 18);
    let mut b = Bench::new(Config {
        replay_user_messages: true,
        ..config()
    });
    b.replays = false;
    b.user(&text);
    b.says(&text);
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        [
            "state running",
            "replay",
            "assistant text",
            "result success",
            "state idle"
        ]
    );
    for told in [
        &records[1]["message"]["content"],
        &records[2]["message"]["content"][0]["text"],
        &records[3]["result"],
    ] {
        assert_eq!(told.as_str().map(str::len), Some(text.len()));
    }
}

// covers: ACC-16, WIRE-012
#[test]
fn an_unknown_price_is_null_and_a_known_zero_is_zero() {
    for (pricing, cost) in [(None, Value::Null), (Some(FREE), json!(0))] {
        let mut b = Bench::new(priced(pricing));
        b.prompt(1, "go");
        b.says("x");
        b.line("7");
        for record in b
            .records()
            .iter()
            .filter(|record| record["type"] == "result")
        {
            assert_eq!(
                (
                    &record["total_cost_usd"],
                    &record["modelUsage"]["test-model"]["costUSD"]
                ),
                (&cost, &cost)
            );
        }
    }
}

// covers: DEC-27, DEC-40, WIRE-012
#[test]
fn accounting_belongs_to_one_prompt() {
    // 3 and 15 USD for a million tokens.
    let pricing = Pricing {
        input: 3_000_000,
        output: 15_000_000,
        cache_read: 300_000,
        cache_write: 0,
    };
    let mut b = Bench::new(priced(Some(pricing)));
    b.prompt(1, "one");
    b.calls(&[("t1", "Do", "{}")]);
    let id = b.question("t1");
    b.deny(&id);
    b.says("first");
    b.wait(100);
    b.prompt(2, "two");
    b.wait(30);
    b.delta(Delta::Usage(Usage {
        input_tokens: 7,
        ..Usage::default()
    }));
    let usage = Usage {
        input_tokens: 1_000_000,
        output_tokens: 1,
        cache_read_input_tokens: 10,
        cache_creation_input_tokens: 5,
        reasoning_output_tokens: 1,
    };
    b.delta(Delta::Usage(usage));
    b.delta(Delta::Text("x".to_string()));
    b.delta(Delta::Stop(StopReason::EndTurn));
    let (id, _) = b.model();
    b.done(id, Answer::Model(ModelOutcome::Finished));
    let results: Vec<_> = b
        .records()
        .into_iter()
        .filter(|record| record["type"] == "result")
        .collect();
    let text = String::from_utf8_lossy(&b.bytes).into_owned();
    assert_eq!(
        (
            &results[0]["num_turns"],
            &results[0]["usage"]["total_tokens"]
        ),
        (&json!(2), &json!(30))
    );
    assert_eq!(
        results[0]["permission_denials"].as_array().map(Vec::len),
        Some(1)
    );
    // 2 x (11 x 3 + 4 x 15) = 186 millionths.
    assert_eq!(text.matches(r#""total_cost_usd":0.000186,"#).count(), 1);
    assert_eq!(
        (
            &results[1]["num_turns"],
            &results[1]["permission_denials"],
            &results[1]["duration_ms"],
            &results[1]["duration_api_ms"]
        ),
        (&json!(1), &json!([]), &json!(30), &json!(30))
    );
    assert_eq!(
        results[1]["usage"],
        json!({"input_tokens": 1_000_000, "output_tokens": 1, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 10, "reasoning_output_tokens": 1, "total_tokens": 1_000_016})
    );
    assert_eq!(
        text.matches(r#""costUSD":3.000018,"#).count(),
        1,
        "the last report of an answer counts: {text}"
    );
}

// covers: DEC-40, DEC-21
#[test]
fn a_spent_budget_ends_prompts_before_they_ask() {
    let pricing = Pricing {
        input: 1_000_000,
        ..FREE
    };
    let mut b = Bench::new(Config {
        max_budget: Some(11_000_000),
        ..priced(Some(pricing))
    });
    b.prompt(1, "one");
    b.prompt(2, "two");
    b.calls(&[("t1", "Look", "{}")]);
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        [
            "state running",
            "assistant tool_use",
            "tool_result t1",
            "result error_max_budget_usd",
            "state idle",
            "state running",
            "result error_max_budget_usd",
            "state idle"
        ]
    );
    assert_eq!(
        records[2]["message"]["content"][0]["content"][0]["text"],
        "Not run: the budget of this process is spent."
    );
    assert_eq!(
        (
            &records[6]["stop_reason"],
            &records[6]["num_turns"],
            &records[6]["prompt_uuid"]
        ),
        (&json!("max_budget"), &json!(0), &json!(uuid(2)))
    );
    let asked = b
        .outputs
        .iter()
        .filter(|o| matches!(o, Output::Start(_, Request::Model(_))));
    assert_eq!(asked.count(), 1);
    b.eof();
    assert_eq!(b.exit, Some(1));
}

// covers: DEC-12
#[test]
fn states_tell_when_a_turn_runs_and_when_it_asks() {
    let mut b = Bench::with_init(config());
    b.control("c", "mcp_status");
    b.line(r#"{"type":"user","message":7}"#);
    let states = |b: &mut Bench| -> Vec<String> {
        let briefs = b.briefs();
        briefs
            .into_iter()
            .filter(|brief| brief.starts_with("state"))
            .collect()
    };
    assert_eq!(
        states(&mut b),
        Vec::<String>::new(),
        "none before the first prompt"
    );
    b.prompt(1, "one");
    b.prompt(2, "two");
    b.line(r#"{"type":"user","message":7}"#);
    b.calls(&[("t1", "Do", "{}")]);
    b.allow(&b.question("t1"));
    b.tool_says("t1", "x");
    b.says("first");
    b.says("second");
    b.feed(Input::Eof);
    assert_eq!(
        states(&mut b),
        [
            "state running",
            "state requires_action",
            "state running",
            "state idle",
            "state running",
            "state idle"
        ]
    );
}
