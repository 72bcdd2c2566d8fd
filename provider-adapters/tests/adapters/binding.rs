//! What a stored session is bound to.

use crate::support::registry;
use agentx_core::store::Binding;

fn binding(entry: &str) -> Binding {
    let registry = registry(&format!(r#"{{"version":2,"providers":[{entry}]}}"#));
    registry.entries()[0].binding()
}

fn azure(endpoint: &str, more: &str) -> String {
    format!(
        r#"{{"id":"east","type":"azure_openai","azure_openai":{{"endpoint":"{endpoint}",{more}}}}}"#
    )
}

const DEPLOYED: &str =
    r#""model":"gpt","deployment":"dep","api_key":"sk-SENTINEL-1","api_version":"preview""#;

// covers: WIRE-025
#[test]
fn a_binding_is_the_digest_of_the_route_beside_id_type_and_model() {
    for (entry, kind, model, route) in [
        (
            r#"{"id":"east","type":"scripted","scripted":{"model":"m","script":"play.json"}}"#,
            "scripted",
            "m",
            "4c42cadd43d9a58704d10e4aa7f301f35886043900ce63b091fe0aba2b8b23f2",
        ),
        (
            &azure("https://res.example", DEPLOYED),
            "azure_openai",
            "gpt",
            "4966229a0e98ceba8057ae62a218c84cc888b14b9301ae063e4e044a4c4e135e",
        ),
        (
            r#"{"id":"east","type":"openai","openai":{"model":"gpt","api_key":"sk-SENTINEL-2","api":"responses"}}"#,
            "openai",
            "gpt",
            "a0946f05314a67307ef48dfee94e8e4c51db4a1aeaf6a69e21a71d5c4820b426",
        ),
        (
            r#"{"id":"east","type":"anthropic","anthropic":{"model":"cl","api_key":"sk-SENTINEL-3"}}"#,
            "anthropic",
            "cl",
            "7b4d45311f9c4b865dedd4377fd69ab8a83f1420dd65f32a87d0551ced4aed52",
        ),
    ] {
        let expected = Binding {
            provider: "east".into(),
            kind: kind.into(),
            model: model.into(),
            route: route.into(),
        };
        assert_eq!(binding(entry), expected);
    }
}

// covers: WIRE-025
#[test]
fn another_spelling_or_key_is_the_same_route_and_anything_else_another() {
    let bound = binding(&azure("https://res.example", DEPLOYED));
    for endpoint in [
        "HTTPS://RES.example:443/",
        "https://res.example/openai/v1",
        "https://res.example/openai/v1/responses",
    ] {
        assert_eq!(binding(&azure(endpoint, DEPLOYED)), bound, "{endpoint}");
    }
    let rotated = DEPLOYED.replace("SENTINEL-1", "SENTINEL-9");
    assert_eq!(binding(&azure("https://res.example", &rotated)), bound);
    assert_ne!(binding(&azure("https://other.example", DEPLOYED)), bound);
    for (from, to) in [
        ("\"gpt\"", "\"gpt-2\""),
        ("\"dep\"", "\"other\""),
        ("\"preview\"", "\"\""),
    ] {
        let moved = DEPLOYED.replace(from, to);
        let moved = binding(&azure("https://res.example", &moved));
        assert_ne!(moved.route, bound.route, "{to}");
    }
    let compatible = |api: &str| {
        binding(&format!(
            r#"{{"id":"x","type":"openai_compatible","openai_compatible":{{"base_url":"http://127.0.0.1:1/v1","model":"m","api":"{api}"}}}}"#
        ))
    };
    assert_ne!(compatible("responses"), compatible("chat_completions"));
    let prompted =
        binding(r#"{"id":"x","type":"scripted","scripted":{"model":"m","from_prompt":true}}"#);
    let filed =
        binding(r#"{"id":"x","type":"scripted","scripted":{"model":"m","script":"from_prompt"}}"#);
    assert_ne!(prompted, filed);
}
