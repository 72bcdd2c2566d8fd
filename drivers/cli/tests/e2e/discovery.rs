//! `--list-providers`: what there is to choose from.

use crate::support::{World, control, finish, from_prompt};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

const KEY: &str = "sk-sentinel-4711";
const JSON: [&str; 3] = ["--list-providers", "--output-format", "json"];

fn efforts(declared: &[&str], default: &str) -> Value {
    json!({"capabilities": {"reasoning": {"efforts": declared, "default_effort": default}}})
}

fn azure(id: &str, deployment: &str, key: &str) -> Value {
    json!({"id": id, "type": "azure_openai", "azure_openai": {
        "endpoint": "https://sentinel-host.example", "model": "gpt", "deployment": deployment,
        "api_key": key, "api_version": "2031-01-01"}})
}

/// Three entries without a default.
fn three() -> Value {
    let mut azure = azure("sol-east", "sentinel-deployment", KEY);
    let declared = efforts(&["low", "high"], "high");
    azure["capabilities"] = declared["capabilities"].clone();
    json!([
        from_prompt("zoo", &json!({})),
        azure,
        {"id": "b", "type": "openai_compatible", "openai_compatible": {
            "base_url": "https://sentinel-route.example/v1", "model": "m", "api_key": KEY,
            "api": "responses"}},
    ])
}

// covers: WIRE-026, ACC-29, DEC-46
#[test]
fn discovery_is_one_document_of_the_whole_registry() {
    let world = World::with(&three());
    let said = world.run(&JSON, "");
    assert_eq!((said.status, said.stderr.as_str()), (Some(0), ""));
    let expected = concat!(
        r#"{"version":1,"providers":[{"value":"zoo","id":"zoo","providerType":"scripted","model":"fixture-model","#,
        r#""displayName":"zoo (fixture-model)","description":"Model endpoint configured by AgentX-home auth.json","#,
        r#""default":false,"selected":false,"supportsEffort":false,"supportedReasoningEfforts":[],"#,
        r#""reasoning":{"supported":false,"efforts":[]}},"#,
        r#"{"value":"sol-east","id":"sol-east","providerType":"azure_openai","model":"gpt","#,
        r#""displayName":"sol-east (gpt)","description":"Deployment-backed model endpoint configured by AgentX-home auth.json","#,
        r#""default":false,"selected":false,"supportsEffort":true,"supportedReasoningEfforts":["low","high"],"#,
        r#""defaultReasoningEffort":"high","reasoning":{"supported":true,"efforts":["low","high"],"defaultEffort":"high"}},"#,
        r#"{"value":"b","id":"b","providerType":"openai_compatible","model":"m","#,
        r#""displayName":"b (m)","description":"Model endpoint configured by AgentX-home auth.json","#,
        r#""default":false,"selected":false,"supportsEffort":false,"supportedReasoningEfforts":[],"#,
        r#""reasoning":{"supported":false,"efforts":[]}}]}"#,
        "\n"
    );
    assert_eq!(said.stdout, expected);
    // No store, no log, nothing new in the home folder.
    let names: Vec<_> = std::fs::read_dir(world.home())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["auth.json"]);
}

// covers: WIRE-026, ACC-29
#[test]
fn a_session_on_what_was_discovered_differs_in_the_selection_alone() {
    let world = World::with(&three());
    let document: Value = serde_json::from_str(&world.run(&JSON, "").stdout).unwrap();
    let mut discovered = document["providers"].clone();
    let id = discovered[0]["value"].as_str().unwrap().to_owned();
    let mut agent = world.duplex(&["--provider", &id]);
    agent.send(&control("i1", "initialize"));
    let answer = agent.until_type("control_response");
    assert_eq!(agent.end().status, Some(0));
    discovered[0]["selected"] = json!(true);
    assert_eq!(answer["response"]["response"]["providers"], discovered);
}

// covers: WIRE-026
#[test]
fn a_single_entry_is_the_default_and_is_not_selected() {
    let world = World::scripted();
    let document: Value = serde_json::from_str(&world.run(&JSON, "").stdout).unwrap();
    let only = &document["providers"][0];
    assert_eq!(
        (&only["default"], &only["selected"]),
        (&json!(true), &json!(false))
    );
}

// covers: WIRE-026
#[test]
fn people_get_a_line_for_each_provider() {
    let mut entries = three();
    entries[2]["default"] = json!(true);
    let world = World::with(&entries);
    let lines = "zoo       scripted           fixture-model\n\
                 sol-east  azure_openai       gpt  [effort: low, high; default high]\n\
                 b         openai_compatible  m  [default]\n";
    for arguments in [
        &["--list-providers"][..],
        &["--list-providers", "--output-format", "text"],
        &["--output-format=text", "--list-providers", "--"],
    ] {
        let said = world.run(arguments, "");
        assert_eq!(
            (said.status, said.stdout.as_str(), said.stderr.as_str()),
            (Some(0), lines, "")
        );
    }
}

// covers: WIRE-026
#[test]
fn nothing_else_may_stand_beside_it() {
    let world = World::with(&three());
    let plain = world.run(&JSON, "").stdout;
    assert_eq!(
        world
            .run(&["--output-format", "json", "--list-providers"], "")
            .stdout,
        plain
    );
    assert_eq!(
        world
            .run(&["--list-providers", "--output-format=json", "--"], "")
            .stdout,
        plain
    );
    let unexpected = |name: &str| {
        format!(
            "--list-providers: unexpected argument {name:?}: \
             nothing but --output-format text or json may stand beside it"
        )
    };
    let format = "--list-providers: expected --output-format text or --output-format json";
    for (arguments, text) in [
        (&["--list-providers", "hello"][..], unexpected("hello")),
        (&["--list-providers", "--", "hello"], unexpected("--")),
        (&["--list-providers", "--", "--"], unexpected("--")),
        (&["--list-providers", "--help"], unexpected("--help")),
        (&["-v", "--list-providers"], unexpected("-v")),
        (
            &["--provider=zoo", "--list-providers"],
            unexpected("--provider"),
        ),
        (&["demo", "--list-providers"], unexpected("demo")),
        (&["-p", "--list-providers"], unexpected("-p")),
        (&["--list-providers", ""], unexpected("")),
        (
            &["--list-providers", "--list-providers"],
            "--list-providers: --list-providers stands twice".into(),
        ),
        (
            &[
                "--output-format",
                "json",
                "--list-providers",
                "--output-format",
                "json",
            ],
            "--list-providers: --output-format stands twice".into(),
        ),
        (&["--list-providers", "--output-format"], format.into()),
        (
            &["--list-providers", "--output-format", "stream-json"],
            format.into(),
        ),
        (&["--list-providers", "--output-format="], format.into()),
    ] {
        world.run(arguments, "").refused(&text);
    }
    // Behind the end of options it is a prompt like any other.
    let prompt = world.run(&["-p", "--provider", "zoo", "--", "--list-providers"], "");
    assert_eq!(prompt.stdout, "echo: --list-providers\n");
}

// covers: WIRE-026, ACC-29, DEC-30
#[test]
fn a_document_that_would_tell_a_secret_is_not_written() {
    // Keys that equal pieces of the document, its framing included.
    for key in [
        r#"{"version":1,"providers":[{"value":""#,
        r#""version":1,"#,
        r#"[]}},{"value":"#,
        "supportsEffort",
        r#"","displayName":"#,
        "endpoint",
        "AgentX-home",
        r#"false,"efforts":["#,
        r#"efforts":[]}}]}"#,
        "sol-east",
        "(fixture-model)",
    ] {
        let mut entries = three();
        entries[1] = azure("sol-east", "sentinel-deployment", key);
        let world = World::with(&entries);
        for arguments in [&JSON[..], &["--list-providers"]] {
            let said = world.run(arguments, "");
            assert_eq!((said.status, said.stdout.as_str()), (Some(2), ""), "{key}");
            assert!(
                said.stderr.contains("azure_openai.api_key"),
                "{}",
                said.stderr
            );
        }
    }
    for deployment in ["providerType", "fixture-mod", r#""selected":false"#] {
        let mut entries = three();
        entries[1] = azure("sol-east", deployment, KEY);
        let said = World::with(&entries).run(&JSON, "");
        assert_eq!(
            (said.status, said.stdout.as_str()),
            (Some(2), ""),
            "{deployment}"
        );
        assert!(
            said.stderr.contains("azure_openai.deployment"),
            "{}",
            said.stderr
        );
    }
}

// covers: WIRE-026, DEC-30
#[test]
fn the_exact_text_is_looked_at_before_it_is_written() {
    // What stands in one form alone, the registry itself cannot know.
    let mut entries = three();
    entries[0]["default"] = json!(true);
    entries[1] = azure("sol-east", "sentinel-deployment", "[default]");
    let world = World::with(&entries);
    world.run(&["--list-providers"], "").refused(
        "auth.json: id \"sol-east\": azure_openai.api_key: \
         the value occurs in what would be told in public",
    );
    assert_eq!(world.run(&JSON, "").status, Some(0));
    entries[1] = azure("sol-east", "Model endpoint", KEY);
    let world = World::with(&entries);
    world.run(&JSON, "").refused(
        "auth.json: id \"sol-east\": azure_openai.deployment: \
         the value occurs in what would be told in public",
    );
    assert_eq!(world.run(&["--list-providers"], "").status, Some(0));
}

// covers: WIRE-026
#[test]
fn a_registry_that_is_none_gives_no_document() {
    let world = World::empty();
    let said = world.run(&JSON, "");
    assert_eq!((said.status, said.stdout.as_str()), (Some(2), ""));
    let world = World::with(&json!([]));
    world
        .run(&JSON, "")
        .refused("auth.json: providers: 1 to 32 entries are expected");
}

// covers: WIRE-026
#[test]
fn a_document_that_cannot_be_written_is_a_failure() {
    let world = World::with(&three());
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command: Command = world.command(&JSON);
    command.stdout(writer).stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    // Without a reader's haste it is whole.
    assert_eq!(finish(world.command(&JSON), "").status, Some(0));
}
