//! Structured output with a real validator on real threads.

use crate::support::{
    Bench, PATIENCE, Sink, channel_of_news, configured, duplex, input, script, world,
};
use agentx_core::agent::Config;
use agentx_core::limits::Limits;
use agentx_core::structured::OutputSchema;
use agentx_pump::drive::Drive;
use agentx_pump::pump::Streams;
use serde_json::{Value, json};
use std::time::Duration;

fn asked(schema: &Value, limits: Limits) -> Config {
    let schema = OutputSchema::parse(schema.to_string().as_bytes(), &limits);
    Config {
        output_schema: Some(schema.unwrap()),
        limits,
        ..configured()
    }
}

fn call(input: &Value) -> Value {
    json!({"tool_calls": [{"name": "StructuredOutput", "input": input}]})
}

/// Runs a session to its end, with the ticks it asks for.
fn run(config: Config, steps: &Value) -> (u8, Vec<Value>) {
    let output = Sink::default();
    let streams = Streams {
        input: input(&[script(steps)]),
        output: Box::new(output.clone()),
        errors: Box::new(Sink::default()),
    };
    let mut bench = Bench::start(config, world(), duplex(), streams, channel_of_news());
    while bench.pump.exit().is_none() {
        bench.settle();
        let waits = bench.drives.values().filter_map(Drive::wait);
        let wait = waits.chain(bench.pump.wait()).min().unwrap_or(PATIENCE);
        match bench.news.recv_timeout(wait) {
            Ok(news) => bench.pump.take(news),
            Err(_) => bench.pump.tick(),
        }
    }
    (bench.pump.finish(), output.records())
}

// covers: DEC-42, RT-SCHM-008
#[test]
fn the_validator_says_what_is_wrong_until_it_fits() {
    let schema = json!({"properties": {"a": {"items": {"enum": ["x", "y"]}}}, "required": ["a"]});
    let steps = json!([
        call(&json!({})),
        call(&json!({"a": ["x", "z"]})),
        call(&json!({"a": ["x", "y"]})),
        {"text": "done"}
    ]);
    let (status, records) = run(asked(&schema, Limits::DEFAULT), &steps);
    let result = records
        .iter()
        .find(|record| record["type"] == "result")
        .unwrap();
    assert_eq!(
        (status, &result["structured_output"]),
        (0, &json!({"a": ["x", "y"]}))
    );
    let told: String = records.iter().map(ToString::to_string).collect();
    assert!(
        told.contains("\\\"a\\\" is a required property") && told.contains("at /a/1: "),
        "{told}"
    );
}

// covers: RT-SCHM-008, RT-SCHM-009
#[test]
fn a_check_that_never_ends_holds_up_neither_the_turn_nor_the_end() {
    // Twice as much for each level.
    let schema = json!({"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}});
    let mut deep = json!({});
    for _ in 0..60 {
        deep = json!({"a": deep});
    }
    let limits = Limits {
        structured_retries: 2,
        validation_timeout: Duration::from_millis(50),
        ..Limits::DEFAULT
    };
    // More of them than there are threads.
    let steps = json!([call(&deep), call(&deep), call(&deep)]);
    let (status, records) = run(asked(&schema, limits), &steps);
    let result = records
        .iter()
        .find(|record| record["type"] == "result")
        .unwrap();
    assert_eq!(
        (status, &result["subtype"]),
        (1, &json!("error_max_structured_output_retries"))
    );
    assert!(
        result["errors"][0]
            .as_str()
            .unwrap()
            .contains("could not be checked in time")
    );
}
