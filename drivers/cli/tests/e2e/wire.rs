//! What a session tells of itself, and where the key goes.

use crate::server::{self, ModelServer};
use crate::support::{DUPLEX, World, finish, from_prompt, script, user};
use serde_json::json;

const KEY: &str = "sk-sentinel-4711";

// covers: ACC-27, DEC-30
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
