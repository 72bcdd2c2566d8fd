//! The types of provider, each against a server.

use crate::server::{self, ModelServer};
use crate::support::{World, from_prompt};
use serde_json::{Value, json};

const KEY: &str = "sk-sentinel-4711";

/// One run against a server with this answer: the head and the body it got,
/// and the init record of the session.
fn ask(entry: &Value, stream: String, arguments: &[&str]) -> (String, Value, Value) {
    let server = ModelServer::start(vec![stream]);
    let entry = entry.to_string().replace("ORIGIN", &server.origin());
    let entry: Value = serde_json::from_str(&entry).unwrap();
    let world = World::with(&json!([entry]));
    let arguments = [&["--output-format", "stream-json"], arguments, &["say it"]].concat();
    let outcome = world.run(&arguments, "");
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    assert!(!outcome.stdout.contains(KEY) && !outcome.stdout.contains("127.0.0.1"));
    let records = outcome.records();
    let result = records
        .iter()
        .find(|record| record["type"] == "result")
        .unwrap();
    assert_eq!(result["result"], "said");
    let mut requests = server.requests();
    let request = requests.remove(0);
    (request.head, request.body, records[0].clone())
}

fn openai(kind: &str, api: &str, extra: &Value) -> Value {
    let own = json!({"base_url": "ORIGIN/v1", "model": "m1", "api_key": KEY, "api": api});
    let mut entry = json!({"id": "main", "type": kind, kind: own});
    let members = entry.as_object_mut().unwrap();
    members.extend(extra.as_object().unwrap().clone());
    entry
}

fn azure(version: &str) -> Value {
    json!({"id": "main", "type": "azure_openai", "azure_openai": {
        "endpoint": "ORIGIN/openai/v1/", "model": "m1", "deployment": "d1",
        "api_key": KEY, "api_version": version}})
}

fn anthropic(extra: &Value) -> Value {
    let own = json!({"base_url": "ORIGIN", "model": "m1", "api_key": KEY});
    let mut entry = json!({"id": "main", "type": "anthropic", "anthropic": own});
    let members = entry.as_object_mut().unwrap();
    members.extend(extra.as_object().unwrap().clone());
    entry
}

#[test]
fn every_type_has_its_route_and_its_header() {
    let bearer = format!("authorization: Bearer {KEY}\r\n");
    let azure_key = format!("\r\napi-key: {KEY}\r\n");
    let anthropic_key = format!("\r\nx-api-key: {KEY}\r\n");
    for (entry, route, header, model) in [
        (
            openai("openai", "chat_completions", &json!({})),
            "/v1/chat/completions",
            &bearer,
            "m1",
        ),
        (
            openai("openai", "responses", &json!({})),
            "/v1/responses",
            &bearer,
            "m1",
        ),
        (
            openai("openai_compatible", "responses", &json!({})),
            "/v1/responses",
            &bearer,
            "m1",
        ),
        (azure(""), "/openai/v1/responses", &azure_key, "d1"),
        (
            azure("v1"),
            "/openai/v1/responses?api-version=v1",
            &azure_key,
            "d1",
        ),
        (
            azure("preview"),
            "/openai/v1/responses?api-version=preview",
            &azure_key,
            "d1",
        ),
        (
            azure("2025-04-01-preview"),
            "/openai/responses?api-version=2025-04-01-preview",
            &azure_key,
            "d1",
        ),
        (anthropic(&json!({})), "/v1/messages", &anthropic_key, "m1"),
    ] {
        let stream = match route {
            "/v1/chat/completions" => server::chat("said"),
            "/v1/messages" => server::messages("said"),
            _ => server::responses("said"),
        };
        let (head, body, init) = ask(&entry, stream, &[]);
        let start = format!("POST {route} HTTP/1.1\r\n");
        assert!(head.starts_with(&start), "{head}");
        assert!(head.contains(header.as_str()), "{head}");
        assert_eq!(head.matches(KEY).count(), 1, "{head}");
        assert_eq!(body["model"], model);
        // The session tells the model, never the deployment.
        assert_eq!(
            (&init["model"], &init["provider_type"]),
            (&json!("m1"), &entry["type"])
        );
    }
}

// covers: WIRE-023, DEC-46
#[test]
fn the_effort_of_the_process_goes_with_every_request() {
    let declared = json!({"capabilities": {"reasoning": {"efforts": ["low", "high"], "default_effort": "high"}}});
    for (api, stream) in [
        ("chat_completions", server::chat("said")),
        ("responses", server::responses("said")),
    ] {
        let sent = |extra: &Value, arguments: &[&str]| {
            let entry = openai("openai", api, extra);
            let (_, body, init) = ask(&entry, stream.clone(), arguments);
            let effort = match api {
                "responses" => body["reasoning"]["effort"].clone(),
                _ => body["reasoning_effort"].clone(),
            };
            let include = &body["include"];
            let asks = include == &json!(["reasoning.encrypted_content"]);
            assert_eq!(asks, api == "responses" && !effort.is_null(), "{body}");
            (effort, init["reasoning_capabilities"].clone())
        };
        // What is declared does not depend on what is used.
        let told = json!({"supported": true, "efforts": ["low", "high"], "defaultEffort": "high"});
        assert_eq!(
            sent(&declared, &["--effort", "low"]),
            (json!("low"), told.clone())
        );
        assert_eq!(
            sent(&declared, &["--effort=high"]),
            (json!("high"), told.clone())
        );
        assert_eq!(sent(&declared, &[]), (json!("high"), told));
        let told = json!({"supported": false, "efforts": []});
        assert_eq!(sent(&json!({}), &[]), (Value::Null, told));
    }
}

// covers: WIRE-023, DEC-46
#[test]
fn anthropic_is_asked_to_think_with_the_effort() {
    let declared = json!({"capabilities": {"reasoning": {"efforts": ["none", "high"], "default_effort": "high"}}});
    let sent = |extra: &Value, arguments: &[&str]| {
        let (head, body, _) = ask(&anthropic(extra), server::messages("said"), arguments);
        assert!(
            head.contains("\r\nanthropic-version: 2023-06-01\r\n"),
            "{head}"
        );
        (
            body["thinking"]["type"].clone(),
            body["output_config"]["effort"].clone(),
        )
    };
    assert_eq!(sent(&declared, &[]), (json!("adaptive"), json!("high")));
    assert_eq!(
        sent(&declared, &["--effort", "none"]),
        (json!("disabled"), Value::Null)
    );
    assert_eq!(sent(&json!({}), &[]), (Value::Null, Value::Null));
}

// covers: DEC-46
#[test]
fn an_effort_that_is_not_declared_is_refused() {
    let declared = json!({"capabilities": {"reasoning": {"efforts": ["low", "high"], "default_effort": "low"}}});
    let world = World::with(&json!([
        from_prompt("east", &declared),
        from_prompt("west", &json!({})),
    ]));
    let run =
        |id: &str, effort: &str| world.run(&["-p", "--provider", id, "--effort", effort, "x"], "");
    assert_eq!(run("east", "high").stdout, "echo: x\n");
    for effort in ["medium", "HIGH", ""] {
        run("east", effort).refused(
            "auth.json: id \"east\" does not declare the effort given by --effort; it declares: low, high",
        );
    }
    run("west", "high").refused(
        "auth.json: id \"west\" declares no efforts, so --effort has nothing to choose from",
    );
}

#[test]
fn sealed_reasoning_goes_back_with_the_result_of_its_call() {
    let sealed =
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x+/="});
    let call = json!({"type": "function_call", "call_id": "call_1", "name": "CurrentTime", "arguments": "{}"});
    let server = ModelServer::start(vec![
        server::response_of(&[sealed.clone(), call]),
        server::responses("done"),
    ]);
    let base = server.origin() + "/v1";
    let efforts = json!({"reasoning": {"efforts": ["low"], "default_effort": "low"}});
    let world = World::with(&json!([{
        "id": "main", "type": "openai", "capabilities": efforts,
        "openai": {"base_url": base, "model": "m1", "api_key": KEY, "api": "responses"}
    }]));
    let outcome = world.run(&["-p", "what time is it"], "");
    assert_eq!(
        (outcome.status, outcome.stdout.as_str()),
        (Some(0), "done\n")
    );
    let requests = server.requests();
    let input = requests[1].body["input"].as_array().unwrap();
    let kinds: Vec<&str> = input
        .iter()
        .map(|item| item["type"].as_str().unwrap_or("user"))
        .collect();
    assert_eq!(
        kinds,
        ["user", "reasoning", "function_call", "function_call_output"]
    );
    assert_eq!(input[1], sealed);
    assert_eq!(input[2]["call_id"], input[3]["call_id"]);
    assert_eq!(requests[0].body["store"], false);
}
