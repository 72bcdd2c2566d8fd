//! Several providers: what `system/init` and `initialize` tell of them, and
//! what they do not.

use crate::support::{Agent, World, control, from_prompt, user};
use serde_json::{Value, json};

/// What must be seen nowhere, and whose it is.
const SENTINELS: [(&str, &str); 7] = [
    ("key of an unselected entry", "sk-sentinel-key-azure"),
    ("another key", "sk-sentinel-key-plain"),
    ("endpoint", "sentinel-endpoint"),
    ("deployment", "sentinel-deployment"),
    ("API version", "2099-01-01-sentinel"),
    ("base URL", "sentinel-base"),
    ("name of the member that holds a key", "api_key"),
];

/// Three entries of three types, each with another model and other efforts; the
/// first is the default.
fn world() -> World {
    let efforts = |efforts: Value, default: &str| json!({"reasoning": {"efforts": efforts, "default_effort": default}});
    World::with(&json!([
        {"id": "sol-east", "type": "azure_openai", "default": true,
            "capabilities": efforts(json!(["low", "medium", "high"]), "high"),
            "azure_openai": {
                "endpoint": "https://sentinel-endpoint.example", "model": "gpt-sol",
                "deployment": "sentinel-deployment", "api_version": "2099-01-01-sentinel",
                "api_key": "sk-sentinel-key-azure"}},
        {"id": "plain", "type": "openai_compatible", "openai_compatible": {
            "base_url": "https://sentinel-base.example/v1", "model": "m2",
            "api_key": "sk-sentinel-key-plain", "api": "chat_completions"}},
        from_prompt("chosen", &json!({"capabilities": efforts(json!(["max", "none", "low"]), "none")})),
    ]))
}

fn chosen(world: &World) -> Agent {
    world.duplex(&["--provider", "chosen"])
}

/// The payload of the answer to `initialize`.
fn initialized(agent: &mut Agent) -> Value {
    agent.send(&control("i1", "initialize"));
    let answer = agent.until_type("control_response");
    assert_eq!(answer["response"]["subtype"], "success", "{answer}");
    answer["response"]["response"].clone()
}

// covers: ACC-25, WIRE-023
#[test]
fn init_tells_the_selection_alone() {
    let world = world();
    let mut agent = chosen(&world);
    let init = agent.until_type("init");
    assert_eq!(init["provider"], "chosen");
    assert_eq!(init["provider_type"], "scripted");
    assert_eq!(init["model"], "fixture-model");
    assert_eq!(
        init["reasoning_capabilities"],
        json!({"supported": true, "efforts": ["max", "none", "low"], "defaultEffort": "none"})
    );
    let text = init.to_string();
    for other in [
        "sol-east",
        "azure_openai",
        "gpt-sol",
        "plain",
        "openai_compatible",
        "m2",
        "providers",
    ] {
        assert!(!text.contains(&format!("\"{other}\"")), "{other} in {text}");
    }
    // The selection is what runs, too.
    agent.send(&user("hello"));
    let result = agent.until_type("result");
    assert_eq!(result["result"], "echo: hello");
    let models: Vec<_> = result["modelUsage"].as_object().unwrap().keys().collect();
    assert_eq!(models, ["fixture-model"]);
    assert_eq!(agent.end().status, Some(0));
}

// covers: ACC-26, WIRE-024, DEC-46
#[test]
fn the_catalogue_is_complete_in_order_and_agrees_with_itself() {
    let world = world();
    let mut agent = chosen(&world);
    let payload = initialized(&mut agent);
    let description = "Model endpoint configured by AgentX-home auth.json";
    let none = json!({"supported": false, "efforts": []});
    assert_eq!(
        payload["providers"],
        json!([
            {"value": "sol-east", "id": "sol-east", "providerType": "azure_openai", "model": "gpt-sol",
             "displayName": "sol-east (gpt-sol)",
             "description": "Deployment-backed model endpoint configured by AgentX-home auth.json",
             "default": true, "selected": false, "supportsEffort": true,
             "supportedReasoningEfforts": ["low", "medium", "high"], "defaultReasoningEffort": "high",
             "reasoning": {"supported": true, "efforts": ["low", "medium", "high"], "defaultEffort": "high"}},
            {"value": "plain", "id": "plain", "providerType": "openai_compatible", "model": "m2",
             "displayName": "plain (m2)", "description": description,
             "default": false, "selected": false, "supportsEffort": false,
             "supportedReasoningEfforts": [], "reasoning": none},
            {"value": "chosen", "id": "chosen", "providerType": "scripted", "model": "fixture-model",
             "displayName": "chosen (fixture-model)", "description": description,
             "default": false, "selected": true, "supportsEffort": true,
             "supportedReasoningEfforts": ["max", "none", "low"], "defaultReasoningEffort": "none",
             "reasoning": {"supported": true, "efforts": ["max", "none", "low"], "defaultEffort": "none"}},
        ])
    );
    assert_eq!(
        payload["models"],
        json!([
            {"value": "fixture-model", "displayName": "fixture-model", "description": description,
             "provider": "chosen", "providerType": "scripted", "supportsEffort": true,
             "supportedReasoningEfforts": ["max", "none", "low"], "defaultReasoningEffort": "none",
             "reasoning": {"supported": true, "efforts": ["max", "none", "low"], "defaultEffort": "none"}},
        ])
    );
    assert_eq!(
        payload["account"],
        json!({"apiKeySource": "user", "provider": "chosen", "providerType": "scripted"})
    );
    assert!(payload["pid"].is_u64());
    assert_eq!(agent.end().status, Some(0));
}

// covers: ACC-21, ACC-27, WIRE-016, WIRE-024, DEC-30
#[test]
fn neither_form_of_initialization_tells_a_credential_or_a_route() {
    let world = world();
    // The first of them runs on an entry with a route and a key of its own.
    for id in ["plain", "chosen"] {
        let mut agent = world.duplex(&["--provider", id]);
        assert_eq!(agent.until_type("init")["apiKeySource"], "user");
        let payload = initialized(&mut agent);
        assert_eq!(payload["account"]["apiKeySource"], "user");
        assert_eq!(payload["account"]["provider"], id);
        let ids = payload["providers"].as_array().unwrap().iter();
        let ids: Vec<_> = ids.map(|provider| provider["id"].clone()).collect();
        assert_eq!(ids, ["sol-east", "plain", "chosen"], "all of them");
        let outcome = agent.end();
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
        assert_eq!(outcome.records().len(), 2);
        let home = world.home();
        let path = ("path of the credential", home.to_str().unwrap());
        for (what, sentinel) in SENTINELS.into_iter().chain([path]) {
            assert!(!outcome.stdout.contains(sentinel), "{what}");
        }
    }
}

// covers: ACC-28, WIRE-025
#[test]
fn no_request_changes_the_selection() {
    let world = world();
    let mut agent = chosen(&world);
    let mut ask = |request: Value| {
        let record = json!({"type": "control_request", "request_id": "c", "request": request});
        agent.send(&record.to_string());
        let answer = agent.until_type("control_response");
        assert_eq!(answer["response"]["subtype"], "error");
        answer["response"]["error"].as_str().unwrap().to_owned()
    };
    for model in ["m2", "sol-east"] {
        let text = ask(json!({"subtype": "set_model", "model": model}));
        assert!(text.contains("--provider <id>"), "{text}");
    }
    assert_eq!(
        ask(json!({"subtype": "set_provider", "provider": "plain"})),
        "unsupported control request \"set_provider\""
    );
    let payload = initialized(&mut agent);
    assert_eq!(payload["account"]["provider"], "chosen");
    assert_eq!(payload["models"][0]["value"], "fixture-model");
    agent.send(&user("who?"));
    assert_eq!(agent.until_type("result")["result"], "echo: who?");
    assert_eq!(agent.end().status, Some(0));
}
