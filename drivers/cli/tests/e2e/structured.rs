//! Structured output: the option, and what comes out in each format.

use crate::support::{World, script, user};
use serde_json::{Value, json};
use std::fs;

const SCHEMA: &str = r#"{"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}},
    "required": ["n"], "additionalProperties": false}"#;

fn call(input: &Value) -> Value {
    json!({"tool_calls": [{"name": "StructuredOutput", "input": input}]})
}

/// A model that is reminded, corrected, and then ends well.
fn prompt() -> String {
    script(&json!([
        {"text": "three"},
        call(&json!({"n": 2})),
        call(&json!({"n": 3})),
        {"text": "{results}"}
    ]))
}

// covers: DEC-42
#[test]
fn text_output_is_the_json_and_nothing_else() {
    let world = World::scripted();
    fs::write(world.work().join("schema.json"), SCHEMA).unwrap();
    for schema in [SCHEMA, "schema.json"] {
        for further in [&[][..], &["--no-tools"]] {
            let prompt = prompt();
            let arguments = [&["-p", "--json-schema", schema], further, &[&prompt]].concat();
            let outcome = world.run(&arguments, "");
            assert_eq!(
                (
                    outcome.status,
                    outcome.stdout.as_str(),
                    outcome.stderr.as_str()
                ),
                (Some(0), "{\"n\":3}\n", "")
            );
        }
    }
}

// covers: DEC-42, RT-RES-011
#[test]
fn both_json_formats_have_the_member() {
    let world = World::scripted();
    let prompt = prompt();
    let run = |format: &str| {
        let arguments = ["--output-format", format, "--json-schema", SCHEMA, &prompt];
        let outcome = world.run(&arguments, "");
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
        outcome.records()
    };
    let document = run("json");
    assert_eq!(document.len(), 1);
    assert_eq!(document[0]["structured_output"], json!({"n": 3}));
    assert_eq!(document[0]["num_turns"], 4);
    let records = run("stream-json");
    let tools = records[0]["tools"].as_array().unwrap();
    assert_eq!(tools.last(), Some(&json!("StructuredOutput")));
    let result = &records[records.len() - 2];
    assert_eq!(result["structured_output"], json!({"n": 3}));
    assert_eq!(result["permission_denials"], json!([]));
    let refusals = records
        .iter()
        .filter(|record| record["message"]["content"][0]["is_error"] == true);
    let refusals: Vec<String> = refusals
        .map(|record| record["message"].to_string())
        .collect();
    assert_eq!(refusals.len(), 1);
    assert!(
        refusals[0].contains("at /n: the value is less than the minimum of 3"),
        "{refusals:?}"
    );
}

// covers: DEC-42, DEC-20
#[test]
fn a_model_that_never_fits_ends_the_run_with_status_1() {
    let world = World::scripted();
    let prompt = script(&json!(vec![call(&json!({"n": "many"})); 7]));
    let outcome = world.run(&["-p", "--json-schema", SCHEMA, &prompt], "");
    assert_eq!((outcome.status, outcome.stdout.as_str()), (Some(1), ""));
    let start = "agentx: error: no structured output was accepted after 5 retries";
    assert!(outcome.stderr.starts_with(start), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("not of type \"integer\""),
        "{}",
        outcome.stderr
    );
}

// covers: DEC-42
#[test]
fn a_session_of_a_host_and_a_resumed_one_have_it_too() {
    let world = World::scripted();
    let first = world.run(&["--output-format", "json", "hello"], "");
    let id = first.records()[0]["session_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let prompt = prompt();
    let arguments = [
        "--output-format",
        "json",
        "--resume",
        &id,
        "--json-schema",
        SCHEMA,
        &prompt,
    ];
    let resumed = world.run(&arguments, "");
    assert_eq!(resumed.records()[0]["structured_output"], json!({"n": 3}));

    let mut agent = world.duplex(&["--json-schema", SCHEMA]);
    for _ in 0..2 {
        agent.send(&user(&prompt));
        let result = agent.until_type("result");
        assert_eq!(result["structured_output"], json!({"n": 3}));
    }
    assert_eq!(agent.end().status, Some(0));
}

// covers: RT-SCHM-004, RT-SCHM-005, RT-SCHM-010
#[test]
fn a_schema_that_cannot_be_used_is_a_usage_error() {
    let world = World::scripted();
    let file = |name: &str, text: &str| fs::write(world.work().join(name), text).unwrap();
    file("cut.json", "{\"type\": \"object\"");
    file(
        "long.json",
        &format!("{{\"title\": \"{}\"}}", "x".repeat(256 << 10)),
    );
    file("latin.json", "{\"title\": \"x\"}");
    fs::write(world.work().join("latin.json"), b"{\"title\": \"\xe9\"}").unwrap();
    fs::create_dir(world.work().join("folder")).unwrap();
    let deep = "{\"not\":".repeat(100) + "{}" + &"}".repeat(100);
    for (schema, fault) in [
        (
            "none.json",
            "--json-schema none.json: No such file or directory",
        ),
        ("folder", "--json-schema folder: not a regular file"),
        ("cut.json", "--json-schema cut.json: "),
        ("long.json", "--json-schema long.json: over 262144 bytes"),
        ("latin.json", "--json-schema latin.json: "),
        ("", "expected a file, or JSON that starts with {"),
        (
            "{\"type\": \"array\"}",
            "--json-schema: at /type: expected \"object\"",
        ),
        (&deep, "--json-schema: "),
        (
            "{\"properties\": {\"a\": {\"type\": \"objekt\"}}}",
            "--json-schema: at /properties/a/type: \"objekt\"",
        ),
        (
            "{\"$ref\": \"https://example.org/s.json\"}",
            "Retrieval is disabled",
        ),
        (
            "{\"properties\": {\"a\": {\"pattern\": \"(?=a)\"}}}",
            "at /properties/a/pattern",
        ),
    ] {
        let outcome = world.run(&["-p", "--json-schema", schema, "x"], "");
        assert_eq!(
            (outcome.status, outcome.stdout.as_str()),
            (Some(2), ""),
            "{schema}"
        );
        assert!(
            outcome.stderr.contains(fault),
            "{schema}: {}",
            outcome.stderr
        );
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    }
}

#[test]
fn a_command_tool_of_that_name_is_a_configuration_error() {
    let world = World::scripted();
    let settings = json!({"tools": [{"name": "StructuredOutput", "description": "mine",
        "input_schema": {"type": "object"}, "command": ["/bin/true"]}]});
    let outcome = world.run(&["-p", "--settings", &settings.to_string(), "x"], "");
    outcome.refused(
        "--settings: tools[0].name: StructuredOutput is the tool that takes structured output",
    );
}
