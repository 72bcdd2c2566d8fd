use super::*;
use crate::json::{ScanLimits, Scanner};
use crate::limits::Limits;
use crate::model::Usage;
use crate::schema::Fraction;
use crate::schema::declare::Json;
use crate::schema::declare::fits::fits;
use crate::schema::outbound::{ApiKeySource, InputCapabilities, McpStatus, ReasoningCapabilities};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The text of a value, which fits the shape its type declares.
fn written<T: Json>(value: &T) -> String {
    let raw = value.to_raw().unwrap();
    let mut scanner = Scanner::new();
    let scanned = scanner.scan(raw.as_str().as_bytes(), &ScanLimits::DEFAULT);
    assert!(fits(&T::SHAPE, scanned.unwrap()));
    raw.as_str().into()
}

fn east(default: bool, selected: bool) -> ProviderDescriptor {
    let efforts = vec!["low".into(), "medium".into(), "high".into()];
    ProviderDescriptor::from(ProviderIdentity {
        id: "sol-east".into(),
        provider_type: "azure_openai".into(),
        model: "gpt-5.6-sol".into(),
        default,
        selected,
        reasoning: ReasoningCapabilities::new(efforts, "high".into()).unwrap(),
    })
}

fn local(selected: bool) -> ProviderDescriptor {
    ProviderDescriptor::from(ProviderIdentity {
        id: "local".into(),
        provider_type: "openai_compatible".into(),
        model: "qwen".into(),
        default: false,
        selected,
        reasoning: ReasoningCapabilities::none(),
    })
}

fn session() -> InitializeSession {
    InitializeSession {
        commands: vec![Command {
            name: "compact".into(),
            description: "d".into(),
            argument_hint: "[note]".into(),
        }],
        agents: vec![],
        output_style: "default".into(),
        available_output_styles: vec!["default".into()],
        api_key_source: ApiKeySource::User,
        api_provider: Some("foundry".into()),
        pid: 42,
        input_capabilities: None,
    }
}

const EAST: &str = r#"{"value":"sol-east","id":"sol-east","providerType":"azure_openai","model":"gpt-5.6-sol","displayName":"sol-east (gpt-5.6-sol)","description":"Deployment-backed model endpoint configured by AgentX-home auth.json","default":true,"selected":true,"supportsEffort":true,"supportedReasoningEfforts":["low","medium","high"],"defaultReasoningEffort":"high","reasoning":{"supported":true,"efforts":["low","medium","high"],"defaultEffort":"high"}}"#;
const LOCAL: &str = r#"{"value":"local","id":"local","providerType":"openai_compatible","model":"qwen","displayName":"local (qwen)","description":"Model endpoint configured by AgentX-home auth.json","default":false,"selected":false,"supportsEffort":false,"supportedReasoningEfforts":[],"reasoning":{"supported":false,"efforts":[]}}"#;

// covers: WIRE-024, DEC-46
#[test]
fn a_provider_as_clients_see_it() {
    assert_eq!(written(&east(true, true)), EAST);
    assert_eq!(written(&local(false)), LOCAL);
}

// covers: WIRE-024, WIRE-016
#[test]
fn the_initialize_answer_follows_from_the_catalogue() {
    let payload = InitializePayload::new(vec![local(false), east(true, true)], session()).unwrap();
    let expected = [
        r#"{"commands":[{"name":"compact","description":"d","argumentHint":"[note]"}],"agents":[],"output_style":"default","available_output_styles":["default"],"models":[{"value":"gpt-5.6-sol","displayName":"gpt-5.6-sol","description":"Deployment-backed model endpoint configured by AgentX-home auth.json","provider":"sol-east","providerType":"azure_openai","supportsEffort":true,"supportedReasoningEfforts":["low","medium","high"],"defaultReasoningEffort":"high","reasoning":{"supported":true,"efforts":["low","medium","high"],"defaultEffort":"high"}}],"providers":["#,
        LOCAL,
        ",",
        EAST,
        r#"],"account":{"apiKeySource":"user","apiProvider":"foundry","provider":"sol-east","providerType":"azure_openai"},"pid":42}"#,
    ];
    assert_eq!(written(&payload), expected.concat());
}

// covers: WIRE-023, DEC-23
#[test]
fn input_capabilities_stand_last_when_there_are_any() {
    let session = InitializeSession {
        api_provider: None,
        input_capabilities: Some(InputCapabilities::native(&Limits::DEFAULT).into()),
        agents: vec![AgentDescriptor {
            name: "n".into(),
            description: "d".into(),
        }],
        ..session()
    };
    let payload = InitializePayload::new(vec![local(true)], session).unwrap();
    let text = written(&payload);
    assert!(text.contains(r#""agents":[{"name":"n","description":"d"}]"#));
    assert!(text.contains(
        r#""account":{"apiKeySource":"user","provider":"local","providerType":"openai_compatible"},"pid":42,"input_capabilities":{"attachments":{"protocol_version":1,"#
    ));
}

// covers: WIRE-024
#[test]
fn exactly_one_provider_is_selected() {
    for catalogue in [
        vec![],
        vec![local(false), east(true, false)],
        vec![local(true), east(true, true)],
    ] {
        let payload = InitializePayload::new(catalogue, session());
        assert_eq!(payload, Err(NotOneSelected));
    }
}

// covers: WIRE-026
#[test]
fn discovery_selects_nothing() {
    let document = DiscoveryDocument::new(vec![east(false, true), local(false)]);
    let east = EAST
        .replace(r#""default":true"#, r#""default":false"#)
        .replace(r#""selected":true"#, r#""selected":false"#);
    let expected = [r#"{"version":1,"providers":["#, &east, ",", LOCAL, "]}"].concat();
    assert_eq!(written(&document), expected);
}

fn category(name: &str, tokens: u64, is_deferred: Option<bool>) -> ContextCategory {
    ContextCategory {
        name: name.into(),
        tokens,
        color: "blue".into(),
        is_deferred,
    }
}

fn usage(max_tokens: u64, categories: Vec<ContextCategory>) -> String {
    let api_usage = Some(Usage::default());
    written(&ContextUsagePayload::new(
        "m".into(),
        max_tokens,
        categories,
        true,
        api_usage,
    ))
}

// covers: DEC-47
#[test]
fn totals_follow_from_the_categories() {
    let text = usage(
        1000,
        vec![
            category("Messages", 104, None),
            category("MCP tools", 500, Some(true)),
            category("Tools", 10, Some(false)),
        ],
    );
    assert!(text.starts_with(
        r#"{"categories":[{"name":"Messages","tokens":104,"color":"blue"},{"name":"MCP tools","tokens":500,"color":"blue","isDeferred":true},{"name":"Tools","tokens":10,"color":"blue","isDeferred":false},{"name":"Free space","tokens":886,"color":"promptBorder"}],"totalTokens":114,"maxTokens":1000,"rawMaxTokens":1000,"percentage":11,"gridRows":[["#
    ), "{text}");
    assert!(text.ends_with(
        r#"]],"model":"m","memoryFiles":[],"mcpTools":[],"agents":[],"isAutoCompactEnabled":true,"apiUsage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"reasoning_output_tokens":0,"total_tokens":0}}"#
    ), "{text}");
}

/// (category, filled, fullness) of every square.
fn squares(text: &str) -> Vec<(String, bool, String)> {
    let mut scanner = Scanner::new();
    let payload = scanner.scan(text.as_bytes(), &ScanLimits::DEFAULT).unwrap();
    let rows = payload.as_object().unwrap().get("gridRows").unwrap();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), GRID_ROWS);
    let mut all = Vec::new();
    for row in rows {
        let row = row.as_array().unwrap();
        assert_eq!(row.len(), GRID_COLUMNS);
        for square in row {
            let square = square.as_object().unwrap();
            let name = square.get("categoryName").unwrap().as_str().unwrap();
            all.push((
                name.raw().into(),
                square.get("isFilled").unwrap().as_bool().unwrap(),
                square.get("squareFullness").unwrap().raw().into(),
            ));
        }
    }
    all
}

// covers: DEC-47
#[test]
fn squares_show_what_their_tokens_hold() {
    let text = usage(1000, vec![category("A", 25, None), category("B", 10, None)]);
    let squares = squares(&text);
    let expected = [
        ("A", true, "1"),
        ("A", true, "1"),
        ("A", true, "1"),
        ("B", true, "0.5"),
        ("Free space", false, "0"),
    ];
    for (square, (name, filled, fullness)) in squares.iter().zip(expected) {
        assert_eq!(*square, (name.into(), filled, fullness.into()));
    }
    assert!(
        squares
            .iter()
            .skip(4)
            .all(|(name, filled, _)| name == "Free space" && !filled)
    );
}

// covers: DEC-47
#[test]
fn a_context_of_nothing_or_too_much_is_no_fault() {
    let none = usage(0, vec![category("A", 0, None)]);
    assert!(none.contains(r#""percentage":0,"gridRows""#));
    assert!(
        squares(&none)
            .iter()
            .all(|(_, filled, full)| !filled && full == "0")
    );
    let over = usage(100, vec![category("A", 250, None)]);
    assert!(over.contains(r#"{"name":"Free space","tokens":0,"#));
    assert!(over.contains(r#""percentage":250,"gridRows""#));
    assert!(
        squares(&over)
            .iter()
            .all(|(name, filled, _)| name == "A" && *filled)
    );
    let most = usage(u64::MAX, vec![category("A", u64::MAX, None); 2]);
    assert!(most.contains(r#""percentage":100,"gridRows""#));
}

// covers: DEC-47
#[test]
fn a_square_as_it_is_written() {
    let square = GridSquare {
        color: "blue".into(),
        is_filled: true,
        category_name: "A".into(),
        tokens: 5,
        percentage: 50,
        square_fullness: Fraction(500_000),
    };
    assert_eq!(
        written(&square),
        r#"{"color":"blue","isFilled":true,"categoryName":"A","tokens":5,"percentage":50,"squareFullness":0.5}"#
    );
}

// covers: DEC-47
#[test]
fn servers_and_how_they_stand() {
    let server = |status, error: Option<&str>| McpServerStatus {
        name: "files".into(),
        status,
        error: error.map(Into::into),
    };
    let payload = McpStatusPayload {
        servers: vec![
            server(McpStatus::Connected, None),
            server(McpStatus::Failed, Some("gone")),
        ],
    };
    assert_eq!(
        written(&payload),
        r#"{"mcpServers":[{"name":"files","status":"connected"},{"name":"files","status":"failed","error":"gone"}]}"#
    );
}

// covers: DEC-47, DEC-16
#[test]
fn what_settings_and_modes_are_answered_with() {
    use crate::json::RawJson;
    use crate::schema::outbound::Plugin;
    use crate::schema::permission::PermissionMode;
    let settings = |source| SettingsSource {
        source,
        settings: RawJson::empty_object(),
    };
    let payload = SettingsPayload {
        effective: RawJson::empty_object(),
        sources: Layer::ALL.iter().copied().map(settings).collect(),
        applied: Some(AppliedSettings {
            model: "m".into(),
            effort: None,
        }),
    };
    assert_eq!(
        written(&payload),
        r#"{"effective":{},"sources":[{"source":"userSettings","settings":{}},{"source":"projectSettings","settings":{}},{"source":"localSettings","settings":{}},{"source":"flagSettings","settings":{}},{"source":"policySettings","settings":{}}],"applied":{"model":"m","effort":null}}"#
    );
    let mode = PermissionMode::Plan;
    assert_eq!(written(&ModePayload { mode }), r#"{"mode":"plan"}"#);
    let cancelled = CancelledPayload { cancelled: true };
    assert_eq!(written(&cancelled), r#"{"cancelled":true}"#);
    let payload = ReloadPluginsPayload {
        commands: session().commands,
        agents: vec![],
        plugins: vec![Plugin {
            name: "n".into(),
            path: "/p".into(),
            source: "user".into(),
        }],
        mcp_servers: vec![],
        error_count: 0,
    };
    assert_eq!(
        written(&payload),
        r#"{"commands":[{"name":"compact","description":"d","argumentHint":"[note]"}],"agents":[],"plugins":[{"name":"n","path":"/p","source":"user"}],"mcpServers":[],"error_count":0}"#
    );
}
