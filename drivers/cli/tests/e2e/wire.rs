//! What a session tells of itself, and where the key goes.

use crate::server::{self, ModelServer};
use crate::support::{DUPLEX, World, control, finish, from_prompt, script, user};
use serde_json::{Value, json};

const KEY: &str = "sk-sentinel-4711";

// covers: ACC-21, ACC-25, ACC-26, WIRE-016, WIRE-023, WIRE-024
#[test]
fn both_forms_of_initialization_tell_the_selection_and_no_secret() {
    let efforts = json!({"capabilities": {"reasoning": {"efforts": ["low", "high"], "default_effort": "high"}}});
    let world = World::with(&json!([
        {"id": "first", "type": "openai_compatible", "default": true, "openai_compatible": {
            "base_url": "https://sentinel-host.example/v1", "model": "m1",
            "api_key": KEY, "api": "chat_completions"}},
        from_prompt("second", &efforts),
    ]));
    let mut agent = world.duplex(&["--provider", "second"]);
    let init = agent.until_type("init");
    assert_eq!(init["apiKeySource"], "user");
    assert_eq!(init["provider"], "second");
    assert_eq!(init["provider_type"], "scripted");
    assert_eq!(init["model"], "fixture-model");
    assert_eq!(
        init["reasoning_capabilities"],
        json!({"supported": true, "efforts": ["low", "high"], "defaultEffort": "high"})
    );
    agent.send(&control("i1", "initialize"));
    let answer = agent.until_type("control_response")["response"]["response"].clone();
    assert_eq!(answer["account"]["apiKeySource"], "user");
    assert!(answer["pid"].is_u64());
    let pick = |name: &str| -> Vec<Value> {
        let providers = answer["providers"].as_array().unwrap().iter();
        providers.map(|provider| provider[name].clone()).collect()
    };
    assert_eq!(pick("value"), ["first", "second"]);
    assert_eq!(pick("default"), [true, false]);
    assert_eq!(pick("selected"), [false, true]);
    let outcome = agent.end();
    for secret in [KEY, "sentinel-host", world.home().to_str().unwrap()] {
        assert!(!outcome.stdout.contains(secret), "{secret}");
    }
}

/// Three providers with different models and efforts, and every secret there
/// is of them.
fn three() -> (World, [&'static str; 5]) {
    let efforts = |declared: &[&str], default: &str| json!({"reasoning": {"efforts": declared, "default_effort": default}});
    let world = World::with(&json!([
        {"id": "sol-east", "type": "azure_openai", "capabilities": efforts(&["low", "max"], "max"),
         "azure_openai": {"endpoint": "https://sentinel-host.example", "model": "gpt-a",
            "deployment": "sentinel-deployment", "api_key": KEY, "api_version": "2031-sentinel"}},
        {"id": "second", "type": "scripted", "capabilities": efforts(&["high", "none"], "none"),
         "scripted": {"model": "model-b", "from_prompt": true}},
        {"id": "third", "type": "openai_compatible", "default": true, "openai_compatible": {
            "base_url": "https://sentinel-route.example/v1", "model": "model-b",
            "api_key": KEY, "api": "responses"}},
    ]));
    let secrets = [
        KEY,
        "sentinel-host",
        "sentinel-deployment",
        "2031-sentinel",
        "sentinel-route",
    ];
    (world, secrets)
}

// covers: ACC-25, WIRE-023
#[test]
fn init_tells_of_the_selected_provider_alone() {
    let (world, _) = three();
    let mut agent = world.duplex(&["--provider", "second", "--effort", "high"]);
    let init = agent.until_type("init");
    assert_eq!(agent.end().status, Some(0));
    let told = [
        "provider",
        "provider_type",
        "model",
        "reasoning_capabilities",
    ];
    assert_eq!(
        told.map(|name| init[name].clone()),
        [
            json!("second"),
            json!("scripted"),
            json!("model-b"),
            json!({"supported": true, "efforts": ["high", "none"], "defaultEffort": "none"})
        ]
    );
    let text = init.to_string();
    for other in ["sol-east", "third", "gpt-a", "azure_openai", "providers"] {
        assert!(!text.contains(other), "{other} in {text}");
    }
}

// covers: ACC-26, ACC-27, WIRE-024
#[test]
fn the_catalogue_is_whole_ordered_and_without_a_secret() {
    let (world, secrets) = three();
    let mut agent = world.duplex(&["--provider", "second"]);
    agent.send(&control("i1", "initialize"));
    let answer = agent.until_type("control_response")["response"]["response"].clone();
    let outcome = agent.end();
    for secret in secrets {
        assert!(!outcome.stdout.contains(secret), "{secret}");
    }
    let pick = |list: &str, name: &str| -> Vec<Value> {
        let entries = answer[list].as_array().unwrap().iter();
        entries.map(|entry| entry[name].clone()).collect()
    };
    assert_eq!(pick("providers", "value"), ["sol-east", "second", "third"]);
    assert_eq!(pick("providers", "id"), pick("providers", "value"));
    assert_eq!(pick("providers", "model"), ["gpt-a", "model-b", "model-b"]);
    assert_eq!(pick("providers", "default"), [false, false, true]);
    assert_eq!(pick("providers", "selected"), [false, true, false]);
    let declared = [json!(["low", "max"]), json!(["high", "none"]), json!([])];
    assert_eq!(pick("providers", "supportedReasoningEfforts"), declared);
    assert_eq!(pick("models", "provider"), ["second"]);
    assert_eq!(pick("models", "value"), ["model-b"]);
    let all = [&answer["providers"], &answer["models"]];
    for entry in all.into_iter().filter_map(Value::as_array).flatten() {
        let nested = &entry["reasoning"];
        assert_eq!(entry["supportsEffort"], nested["supported"]);
        assert_eq!(entry["supportedReasoningEfforts"], nested["efforts"]);
        assert_eq!(entry["defaultReasoningEffort"], nested["defaultEffort"]);
    }
}

// covers: DEC-30
#[test]
fn a_route_in_what_the_session_tells_is_a_registry_error() {
    let world = World::with(&json!([
        from_prompt("main", &json!({"default": true})),
        {"id": "other", "type": "azure_openai", "azure_openai": {
            "endpoint": "https://h.example", "model": "m", "deployment": "secret-deployment",
            "api_key": KEY, "api_version": "v1"}},
    ]));
    std::fs::create_dir(world.work().join("secret-deployment")).unwrap();
    let refused = world.run(&["-p", "--cwd", "secret-deployment", "x"], "");
    refused.refused(
        "auth.json: id \"other\": azure_openai.deployment: the value occurs in what would be told in public",
    );
    assert_eq!(world.run(&["-p", "x"], "").status, Some(0));
}

// covers: DEC-30
#[test]
fn a_key_in_the_output_of_a_tool_is_replaced() {
    let world = World::with(&json!([
        from_prompt("main", &json!({"default": true})),
        {"id": "other", "type": "openai", "openai": {
            "model": "m", "api_key": KEY, "api": "chat_completions"}},
    ]));
    let (left, right) = KEY.split_at(6);
    let command = format!("printf %s {left}; echo {right}");
    let prompt = script(&json!([
        {"tool_calls": [{"name": "Bash", "input": {"command": command}}]},
        {"text": "it said {results}"}
    ]));
    let arguments = [
        "--output-format",
        "stream-json",
        "--permission-mode",
        "bypassPermissions",
        &prompt,
    ];
    let outcome = world.run(&arguments, "");
    assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("it said [redacted]"),
        "{}",
        outcome.stdout
    );
    assert!(!outcome.stdout.contains(KEY));
}

// covers: DEC-30
#[test]
fn a_key_across_the_cut_of_a_tool_s_output_is_replaced() {
    let world = World::with(&json!([
        from_prompt("main", &json!({"default": true})),
        {"id": "other", "type": "openai", "openai": {
            "model": "m", "api_key": KEY, "api": "chat_completions"}},
    ]));
    let (left, right) = KEY.split_at(6);
    let fill = "head -c 14977 /dev/zero | tr '\\0' a";
    let command = format!("{fill}; printf %s {left}; printf %s {right}; {fill}; {fill}");
    let prompt = script(&json!([
        {"tool_calls": [{"name": "Bash", "input": {"command": command}}]}, {"text": "done"}
    ]));
    let mut command = world.command(&[
        "--output-format",
        "stream-json",
        "--permission-mode",
        "bypassPermissions",
        &prompt,
    ]);
    command.env("AGENTX_LOG", "trace");
    let outcome = finish(command, "");
    assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
    let records = outcome.records();
    let result = records.iter().find(|record| record["type"] == "user");
    let result = result.unwrap().to_string();
    assert!(result.contains("characters cut"), "{result}");
    assert!(!result.contains(&format!("a{}", &KEY[..3])), "{result}");
    assert!(!outcome.stderr.contains(left), "{}", outcome.stderr);
}

// covers: DEC-22, DEC-30
#[test]
fn no_log_shows_a_variable_an_input_or_what_a_tool_says() {
    let world = World::scripted();
    let mut command =
        world.command(&[&DUPLEX[..], &["--permission-mode", "bypassPermissions"]].concat());
    command.env("AGENTX_LOG", "trace");
    let update =
        json!({"type": "update_environment_variables", "variables": {"V": "hidden value"}});
    let steps = json!([
        {"tool_calls": [{"name": "Bash", "input": {"command": "printf '%s, hidden input' \"$V\""}}]},
        {"text": "it said {results}"}
    ]);
    let outcome = finish(command, &format!("{update}\n{}\n", user(&script(&steps))));
    assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
    assert!(
        outcome
            .stdout
            .contains("it said hidden value, hidden input"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stderr.contains("session starts"),
        "{}",
        outcome.stderr
    );
    assert!(!outcome.stderr.contains("hidden"), "{}", outcome.stderr);
}

// covers: ACC-21
#[test]
fn the_key_goes_to_the_provider_and_nowhere_else() {
    let server = ModelServer::start(vec![server::chat("said")]);
    let base = server.origin() + "/v1";
    let world = World::with(&json!([{
        "id": "local", "type": "openai_compatible", "openai_compatible": {
            "base_url": base, "model": "m1", "api_key": KEY, "api": "chat_completions"}
    }]));
    let mut agent = world.duplex(&[]);
    agent.send(&user("say it"));
    let result = agent.until_type("result");
    assert_eq!(result["result"], "said");
    let outcome = agent.end();
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    let head = &server.requests()[0].head;
    assert!(
        head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"),
        "{head}"
    );
    assert!(
        head.contains(&format!("authorization: Bearer {KEY}\r\n")),
        "{head}"
    );
    assert!(!outcome.stdout.contains(KEY) && !outcome.stdout.contains("127.0.0.1"));
}
