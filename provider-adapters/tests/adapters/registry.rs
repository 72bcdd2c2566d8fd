//! `auth.json`.

use crate::support::{GOOD_FILE, registry};
use agentx_core::model::Usage;
use agentx_providers::provider::Provider;
use agentx_providers::registry::{FileFacts, ProviderType, Registry};
use std::fs;
use std::path::Path;

const KEY: &str = "sk-SENTINEL-4471-Zq9";

fn error_of(text: &str) -> String {
    let error = Registry::parse(text.as_bytes(), &GOOD_FILE)
        .unwrap_err()
        .to_string();
    assert!(!error.contains("SENTINEL"), "{error}");
    error
}

/// The error of one entry, between the file's name and the end.
fn entry_error(entry: &str) -> String {
    let error = error_of(&format!(r#"{{"version":2,"providers":[{entry}]}}"#));
    error.strip_prefix("auth.json: ").unwrap().to_owned()
}

fn scripted(id: &str, more: &str) -> String {
    format!(
        r#"{{"id":"{id}","type":"scripted","scripted":{{"model":"model-of-{id}","from_prompt":true}}{more}}}"#
    )
}

fn compatible(members: &str) -> String {
    format!(r#"{{"id":"x","type":"openai_compatible","openai_compatible":{{{members}}}}}"#)
}

fn azure(members: &str) -> String {
    format!(r#"{{"id":"x","type":"azure_openai","azure_openai":{{{members}}}}}"#)
}

fn file(entries: &[String]) -> String {
    format!(r#"{{"version":2,"providers":[{}]}}"#, entries.join(","))
}

#[test]
fn every_type_is_read() {
    let registry = registry(&file(&[
        r#"{"id":"a","type":"azure_openai","default":true,"media":true,
            "capabilities":{"reasoning":{"efforts":["low","high"],"default_effort":"high"}},
            "azure_openai":{"endpoint":"https://res.example","model":"gpt","deployment":"dep","api_key":"sk-SENTINEL-1","api_version":""}}"#
            .into(),
        r#"{"id":"b","type":"openai","openai":{"model":"gpt","api_key":"sk-SENTINEL-2","api":"responses"}}"#.into(),
        r#"{"id":"c","type":"anthropic","anthropic":{"model":"cl","api_key":"sk-SENTINEL-3"},
            "limits":{"context_window":1000,"max_output_tokens":10},"pricing":{"input_per_mtok":3,"output_per_mtok":15.5}}"#
            .into(),
        compatible(r#""base_url":"http://localhost:1/v1","model":"m","api":"chat_completions""#),
        scripted("e", ""),
    ]));
    let types: Vec<_> = registry
        .entries()
        .iter()
        .map(|e| e.provider_type.as_str())
        .collect();
    assert_eq!(
        types,
        [
            "azure_openai",
            "openai",
            "anthropic",
            "openai_compatible",
            "scripted"
        ]
    );
    let keys: Vec<_> = registry
        .credentials()
        .map(|key| key.expose().to_owned())
        .collect();
    assert_eq!(keys, ["sk-SENTINEL-1", "sk-SENTINEL-2", "sk-SENTINEL-3"]);
    assert!(!format!("{registry:?}").contains("SENTINEL"));
    let [azure, openai, anthropic, ..] = registry.entries() else {
        panic!("five entries");
    };
    assert!(azure.media && azure.default && !openai.media && !openai.default);
    assert_eq!(azure.default_effort.as_deref(), Some("high"));
    assert_eq!(
        (azure.limits.context_window, azure.limits.max_output_tokens),
        (128_000, 128_000)
    );
    assert_eq!(
        (
            anthropic.limits.context_window,
            anthropic.limits.max_output_tokens
        ),
        (1000, 10)
    );
    let pricing = anthropic.pricing.unwrap();
    assert_eq!(
        (pricing.input, pricing.output, pricing.cache_read),
        (3_000_000, 15_500_000, 3_000_000)
    );
    assert_eq!(azure.pricing, None);
}

// covers: WIRE-024, WIRE-026, DEC-46
#[test]
fn the_catalog_keeps_order_and_declarations() {
    let efforts =
        r#","capabilities":{"reasoning":{"efforts":["max","none","low"],"default_effort":"none"}}"#;
    let none = r#","capabilities":{"reasoning":{"efforts":[]}}"#;
    let registry = registry(&file(&[scripted("z", efforts), scripted("a", none)]));
    let catalog = registry.catalog();
    let ids: Vec<_> = catalog.iter().map(|d| (&*d.id, d.default)).collect();
    assert_eq!(ids, [("z", false), ("a", false)]);
    let words: Vec<_> = catalog[0].efforts.iter().map(|effort| &**effort).collect();
    assert_eq!(words, ["max", "none", "low"]);
    assert_eq!(catalog[0].default_effort.as_deref(), Some("none"));
    assert!(catalog[1].efforts.is_empty() && catalog[1].default_effort.is_none());
    assert!(self::registry(&file(&[scripted("only", "")])).catalog()[0].default);
}

#[test]
fn selection_is_by_id_then_alone_then_default() {
    let pair = registry(&file(&[
        scripted("a", ""),
        scripted("b", r#","default":true"#),
    ]));
    assert_eq!(&*pair.select(None).unwrap().id, "b");
    assert_eq!(&*pair.select(Some("a")).unwrap().id, "a");
    assert_eq!(
        pair.select(Some(KEY)).unwrap_err().to_string(),
        "auth.json: no provider has the id given by --provider; there are: a, b"
    );
    let undecided = registry(&file(&[
        scripted("a", ""),
        scripted("b", r#","default":false"#),
    ]));
    assert_eq!(
        undecided.select(None).unwrap_err().to_string(),
        "auth.json: several providers and no default: name one with --provider (a, b), \
         or mark one entry \"default\": true"
    );
    assert_eq!(
        &*registry(&file(&[scripted("a", "")]))
            .select(None)
            .unwrap()
            .id,
        "a"
    );
}

#[test]
fn every_type_and_api_has_its_provider() {
    let openai = |id: &str, kind: &str, api: &str| {
        format!(
            r#"{{"id":"{id}","type":"{kind}","{kind}":{{"base_url":"https://h.example/v1","model":"m","api_key":"sk-SENTINEL-1","api":"{api}"}}}}"#
        )
    };
    let registry = registry(&file(&[
        azure(
            r#""endpoint":"https://h.example","model":"m","deployment":"d","api_key":"sk-SENTINEL-1","api_version":"v1""#,
        ),
        r#"{"id":"y","type":"anthropic","anthropic":{"model":"m","api_key":"sk-SENTINEL-1"}}"#
            .into(),
        openai("a", "openai", "responses"),
        openai("b", "openai", "chat_completions"),
        openai("c", "openai_compatible", "responses"),
        openai("d", "openai_compatible", "chat_completions"),
        scripted("e", ""),
    ]));
    let built = registry.entries().iter().map(|entry| {
        let provider = Provider::build(entry, None).map_err(|error| error.to_string());
        provider.map(|_| entry.provider_type)
    });
    let built = built.collect::<Result<Vec<_>, _>>().unwrap();
    for kind in ProviderType::ALL {
        assert!(built.contains(&kind), "{kind:?}");
    }
}

#[test]
fn the_registries_that_the_documents_show_can_be_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut kinds = Vec::new();
    for document in ["README.md", "docs/guide.md"] {
        let text = fs::read_to_string(root.join(document)).unwrap();
        let shown = text.split("```json\n").skip(1);
        for block in shown.filter_map(|rest| rest.split("\n```").next()) {
            if !block.starts_with("{\"version\": 2,") {
                continue;
            }
            let registry = Registry::parse(block.as_bytes(), &GOOD_FILE);
            let registry = registry.unwrap_or_else(|error| panic!("{document}: {error}: {block}"));
            for entry in registry.entries() {
                Provider::build(entry, None).unwrap();
                kinds.push(entry.provider_type);
            }
        }
    }
    for kind in ProviderType::ALL {
        let shown = kinds.contains(&kind) || kind == ProviderType::Scripted;
        assert!(shown, "{kind:?}");
    }
}

#[test]
fn the_file_itself_is_checked() {
    let text = file(&[scripted("a", "")]);
    for (facts, fault) in [
        (
            FileFacts {
                regular: false,
                ..GOOD_FILE
            },
            "not a regular file",
        ),
        (
            FileFacts {
                links: 2,
                ..GOOD_FILE
            },
            "2 hard links, exactly one is expected",
        ),
        (
            FileFacts {
                owned: false,
                ..GOOD_FILE
            },
            "owned by another user",
        ),
        (
            FileFacts {
                mode: 0o644,
                ..GOOD_FILE
            },
            "mode 0644, expected 0600",
        ),
        (
            FileFacts {
                mode: 0o4600,
                ..GOOD_FILE
            },
            "mode 4600, expected 0600",
        ),
        (
            FileFacts {
                home_owned: false,
                ..GOOD_FILE
            },
            "its folder is owned by another user",
        ),
        (
            FileFacts {
                home_mode: 0o755,
                ..GOOD_FILE
            },
            "its folder has mode 0755, expected 0700",
        ),
    ] {
        let error = Registry::parse(text.as_bytes(), &facts).unwrap_err();
        assert_eq!(error.to_string(), format!("auth.json: {fault}"));
    }
    let mut long = text;
    long.push_str(&" ".repeat(65_536));
    assert_eq!(error_of(&long), "auth.json: over 65536 bytes");
}

#[test]
fn the_text_is_strict_json() {
    for (text, fault) in [
        ("", "no JSON value at byte 1"),
        (
            "\u{FEFF}{}",
            "byte order mark before the JSON value at byte 1",
        ),
        ("{} {}", "unexpected data after the JSON value at byte 4"),
        (
            r#"{"version":2,"\u0076ersion":2}"#,
            "ambiguous JSON: duplicate member name at byte 14",
        ),
        ("[]", "an object is expected"),
        ("{}", "version: missing"),
        (r#"{"version":2.0}"#, "version: the number 2 is expected"),
        (r#"{"version":"2"}"#, "version: the number 2 is expected"),
        (r#"{"version":2}"#, "providers: missing"),
        (
            r#"{"version":2,"providers":[]}"#,
            "providers: 1 to 32 entries are expected",
        ),
        (
            r#"{"version":2,"providers":[],"note":1}"#,
            "unknown member \"note\"",
        ),
        (
            r#"{"version":2,"providers":[],"sk-SENTINEL":1}"#,
            "unknown member",
        ),
        (
            r#"{"version":2,"providers":["\ud800"]}"#,
            "an unpaired surrogate escape",
        ),
        (
            r#"{"version":2,"providers":[1]}"#,
            "providers[0]: an object is expected",
        ),
    ] {
        assert_eq!(error_of(text), format!("auth.json: {fault}"), "{text}");
    }
    let invalid = Registry::parse(b"{\"a\":\"\xFF\"}", &GOOD_FILE).unwrap_err();
    assert_eq!(invalid.to_string(), "auth.json: invalid UTF-8 at byte 7");
    let many: Vec<_> = (0..33).map(|n| scripted(&format!("p{n}"), "")).collect();
    assert!(error_of(&file(&many)).contains("1 to 32 entries"));
    assert_eq!(registry(&file(&many[..32])).entries().len(), 32);
}

#[test]
fn members_of_every_entry_are_checked() {
    let long_id = "a".repeat(65);
    let id_rule = "expected 1 to 64 of A-Z a-z 0-9 . _ -, the first a letter or digit";
    for (entry, fault) in [
        ("{}".to_owned(), "providers[0].id: missing".to_owned()),
        (r#"{"id":5}"#.into(), "providers[0].id: a string is expected".into()),
        (scripted("", ""), format!("providers[0].id: {id_rule}")),
        (scripted("-a", ""), format!("providers[0].id: {id_rule}")),
        (scripted("a b", ""), format!("providers[0].id: {id_rule}")),
        (scripted(&long_id, ""), format!("providers[0].id: {id_rule}")),
        (r#"{"id":"x"}"#.into(), "providers[0].type: missing".into()),
        (
            r#"{"id":"x","type":"other"}"#.into(),
            "providers[0] (id \"x\"): type: expected one of azure_openai, openai, anthropic, openai_compatible, scripted".into(),
        ),
        (
            r#"{"id":"x","type":"scripted"}"#.into(),
            "providers[0] (id \"x\"): scripted: missing".into(),
        ),
        (
            scripted("x", r#","openai":{}"#),
            "providers[0] (id \"x\"): unknown member \"openai\"".into(),
        ),
        (
            scripted("x", r#","default":null"#),
            "providers[0] (id \"x\"): default: true or false is expected".into(),
        ),
        (
            scripted("x", r#","media":1"#),
            "providers[0] (id \"x\"): media: true or false is expected".into(),
        ),
        (
            scripted("x", r#","ca_file":"ca.pem""#),
            "providers[0] (id \"x\"): ca_file: an absolute path is expected".into(),
        ),
        (
            scripted("x", r#","limits":{"context_window":0}"#),
            "providers[0] (id \"x\"): limits.context_window: expected 1 to 1000000000".into(),
        ),
        (
            scripted("x", r#","limits":{"max_output_tokens":"9"}"#),
            "providers[0] (id \"x\"): limits.max_output_tokens: a whole number is expected".into(),
        ),
        (
            scripted("x", r#","pricing":{"input_per_mtok":1}"#),
            "providers[0] (id \"x\"): pricing.output_per_mtok: missing".into(),
        ),
        (
            scripted("x", r#","pricing":{"input_per_mtok":1,"output_per_mtok":0.0000001}"#),
            "providers[0] (id \"x\"): pricing.output_per_mtok: more than 6 decimals".into(),
        ),
    ] {
        assert_eq!(entry_error(&entry), fault, "{entry}");
    }
    let twice = file(&[scripted("x", ""), scripted("x", "")]);
    assert_eq!(
        error_of(&twice),
        "auth.json: providers[1].id: another entry has the same id"
    );
    let defaults = file(&[
        scripted("x", r#","default":true"#),
        scripted("y", r#","default":true"#),
    ]);
    assert_eq!(
        error_of(&defaults),
        "auth.json: providers[1].default: another entry is the default"
    );
}

// covers: DEC-46
#[test]
fn efforts_are_checked() {
    let with = |reasoning: &str| scripted("x", &format!(r#","capabilities":{reasoning}"#));
    for (capabilities, fault) in [
        ("{}", "capabilities.reasoning: missing"),
        (
            r#"{"reasoning":{}}"#,
            "capabilities.reasoning.efforts: missing",
        ),
        (
            r#"{"reasoning":{"efforts":["low"]}}"#,
            "capabilities.reasoning.default_effort: missing",
        ),
        (
            r#"{"reasoning":{"efforts":["low"],"default_effort":"high"}}"#,
            "capabilities.reasoning.default_effort: must be one of the efforts",
        ),
        (
            r#"{"reasoning":{"efforts":[],"default_effort":"high"}}"#,
            "capabilities.reasoning.default_effort: must be one of the efforts",
        ),
        (
            r#"{"reasoning":{"efforts":["low","low"],"default_effort":"low"}}"#,
            "capabilities.reasoning.efforts[1]: the same effort twice",
        ),
        (
            r#"{"reasoning":{"efforts":["huge"],"default_effort":"huge"}}"#,
            "capabilities.reasoning.efforts[0]: expected one of none, minimal, low, medium, high, xhigh, max",
        ),
    ] {
        let error = entry_error(&with(capabilities));
        assert_eq!(
            error,
            format!("providers[0] (id \"x\"): {fault}"),
            "{capabilities}"
        );
    }
}

// covers: DEC-30
#[test]
fn the_objects_of_the_types_are_checked() {
    let own = "providers[0] (id \"x\"): openai_compatible";
    let base = r#""base_url":"https://h/v1","api":"chat_completions""#;
    for (members, fault) in [
        (
            r#""base_url":"http://example.com/v1","model":"m","api":"responses""#.to_owned(),
            format!("{own}.base_url: plain http is allowed for loopback only"),
        ),
        (
            r#""base_url":"https://u:sk-SENTINEL@h/v1","model":"m","api":"responses""#.into(),
            format!("{own}.base_url: user info is not allowed"),
        ),
        (
            r#""model":"m","api":"responses""#.into(),
            format!("{own}.base_url: missing"),
        ),
        (base.into(), format!("{own}.model: missing")),
        (
            format!(r#"{base},"model":"""#),
            format!("{own}.model: must not be empty"),
        ),
        (
            format!(r#"{base},"model":" m""#),
            format!("{own}.model: blanks around the text are not allowed"),
        ),
        (
            format!(r#"{base},"model":"m\u200b""#),
            format!("{own}.model: control and formatting characters are not allowed"),
        ),
        (
            format!(r#"{base},"model":"{}""#, "m".repeat(257)),
            format!("{own}.model: over 256 bytes"),
        ),
        (
            r#""base_url":"https://h/v1","model":"m","api":"chat""#.into(),
            format!("{own}.api: expected responses or chat_completions"),
        ),
        (
            format!(r#"{base},"model":"m","api_key":"SENTINE""#),
            format!("{own}.api_key: at least 8 bytes are expected"),
        ),
        (
            format!(r#"{base},"model":"m","api_key":"sk SENTINEL""#),
            format!("{own}.api_key: white space is not allowed"),
        ),
        (
            format!(r#"{base},"model":"m","api_key":"sk-SENTIN\u00c9L""#),
            format!("{own}.api_key: only visible ASCII characters can be sent in a header"),
        ),
        (
            format!(r#"{base},"model":"m","api_key":"sk-SENTINEL-\u0001""#),
            format!("{own}.api_key: control and formatting characters are not allowed"),
        ),
        (
            format!(r#"{base},"model":"m","api_key":"sk-SENTINEL-\u00a0x""#),
            format!("{own}.api_key: white space is not allowed"),
        ),
        (
            format!(r#"{base},"model":"m","api_key":["sk-SENTINEL"]"#),
            format!("{own}.api_key: a string is expected"),
        ),
        (
            format!(r#"{base},"model":"m","api_key":"{}""#, "k".repeat(16_385)),
            format!("{own}.api_key: over 16384 bytes"),
        ),
        (
            format!(r#"{base},"model":"m","deployment":"d""#),
            format!("{own}: unknown member \"deployment\""),
        ),
    ] {
        assert_eq!(entry_error(&compatible(&members)), fault, "{members}");
    }
    let azure_base =
        r#""endpoint":"https://h.example","model":"m","deployment":"d","api_key":"sk-SENTINEL""#;
    assert_eq!(
        entry_error(&azure(azure_base)),
        "providers[0] (id \"x\"): azure_openai.api_version: missing"
    );
    let plain = azure_base.replace("https://h.example", "http://127.0.0.1:9");
    registry(&file(&[azure(&format!(r#"{plain},"api_version":"""#))]));
}

// covers: DEC-30
#[test]
fn a_key_that_no_header_can_carry_is_refused_in_every_type_without_showing_it() {
    let openai = |kind: &str, key: &str| {
        format!(
            r#"{{"id":"x","type":"{kind}","{kind}":{{"base_url":"https://h.example","model":"m","api":"chat_completions","api_key":"{key}"}}}}"#
        )
    };
    for key in [
        "sk-SENTIN\u{c9}L",
        "sk-SENTINEL\u{fffd}",
        "\u{43a}\u{43b}\u{44e}\u{447}-SENTINEL",
    ] {
        let entries = [
            ("openai", openai("openai", key)),
            ("openai_compatible", openai("openai_compatible", key)),
            (
                "anthropic",
                format!(
                    r#"{{"id":"x","type":"anthropic","anthropic":{{"model":"m","api_key":"{key}"}}}}"#
                ),
            ),
            (
                "azure_openai",
                azure(&format!(
                    r#""endpoint":"https://h.example","model":"m","deployment":"d","api_key":"{key}","api_version":"""#
                )),
            ),
        ];
        for (kind, entry) in entries {
            let told = entry_error(&entry);
            let what = "only visible ASCII characters can be sent in a header";
            assert_eq!(
                told,
                format!("providers[0] (id \"x\"): {kind}.api_key: {what}")
            );
        }
    }
}

#[test]
fn a_script_comes_from_one_place() {
    let own = "providers[0] (id \"x\"): scripted";
    let entry = |members: &str| {
        format!(r#"{{"id":"x","type":"scripted","scripted":{{"model":"m"{members}}}}}"#)
    };
    for (members, fault) in [
        ("", ": expected either script, or from_prompt: true"),
        (
            r#","from_prompt":false"#,
            ": expected either script, or from_prompt: true",
        ),
        (
            r#","from_prompt":true,"script":"s.json""#,
            ": expected either script, or from_prompt: true",
        ),
        (
            r#","script":"../s.json""#,
            ".script: a plain file name is expected",
        ),
        (
            r#","script":"..""#,
            ".script: a plain file name is expected",
        ),
        (r#","script":"""#, ".script: must not be empty"),
    ] {
        assert_eq!(
            entry_error(&entry(members)),
            format!("{own}{fault}"),
            "{members}"
        );
    }
}

// covers: DEC-30
#[test]
fn routing_values_are_listed_but_for_public_ones() {
    let registry = registry(&file(&[
        azure(
            r#""endpoint":"https://res.example","model":"gpt-5-large","deployment":"gpt-5-large","api_key":"sk-SENTINEL-1","api_version":"preview""#,
        ),
        r#"{"id":"y","type":"azure_openai","azure_openai":{"endpoint":"https://res2.example","model":"m",
            "deployment":"private-7","api_key":"sk-SENTINEL-1","api_version":"2025-04-01-preview"}}"#
            .into(),
        r#"{"id":"z","type":"azure_openai","azure_openai":{"endpoint":"https://res3.example","model":"m",
            "deployment":"short","api_key":"sk-SENTINEL-1","api_version":""}}"#
            .into(),
        r#"{"id":"w","type":"openai","openai":{"model":"m","api_key":"sk-SENTINEL-1","api":"responses"}}"#.into(),
    ]));
    let values: Vec<_> = registry.routing_values().collect();
    assert_eq!(
        values,
        [
            "https://res.example",
            "https://res2.example",
            "private-7",
            "2025-04-01-preview",
            "https://res3.example",
        ]
    );
}

// covers: DEC-30
#[test]
fn what_is_public_must_not_hold_a_key_or_a_route() {
    let key = |key: &str, model: &str| {
        compatible(&format!(
            r#""base_url":"https://h.example/v1","model":"{model}","api":"responses","api_key":"{key}""#
        ))
    };
    let place = "id \"x\": openai_compatible.api_key";
    let catalog = format!("{place}: the key occurs in the public catalog");
    assert_eq!(entry_error(&key("fixture-", "my-fixture-model")), catalog);
    // Names of members and the quotes around them are public too.
    assert_eq!(entry_error(&key("providerType", "m")), catalog);
    assert_eq!(entry_error(&key(r#"\"version\":1,"#, "m")), catalog);
    assert_eq!(entry_error(&key("(model-m)", "model-m")), catalog);
    assert_eq!(
        entry_error(&key("h.example", "m")),
        format!("{place}: the key occurs in a routing value")
    );
    let deployment = |name: &str| {
        azure(&format!(
            r#""endpoint":"https://h.example","model":"gpt-5-large","deployment":"{name}","api_key":"sk-SENTINEL-1","api_version":"v1""#
        ))
    };
    assert_eq!(
        entry_error(&deployment("gpt-5-la")),
        "id \"x\": azure_openai.deployment: the value occurs in the public catalog"
    );
    registry(&file(&[deployment("gpt-5-large")]));
    registry(&file(&[deployment("gpt-5-l")]));
}

// covers: DEC-30
#[test]
fn a_key_in_the_place_of_an_id_is_not_shown() {
    let compatible = |id: &str, key: &str| {
        format!(
            r#"{{"id":"{id}","type":"openai_compatible","openai_compatible":{{"base_url":"https://h.example/private-7/",
                "model":"m","api":"responses","api_key":"{key}"}}}}"#
        )
    };
    // The two were mixed up; or they are the same.
    let long = "sk-SENTINEL-4471-Zq9-0123";
    let short = "at least 8 bytes are expected";
    assert_eq!(
        entry_error(&compatible(long, "main")),
        format!("providers[0].openai_compatible.api_key: {short}")
    );
    assert_eq!(
        entry_error(&compatible(&long[12..], "main")),
        format!("providers[0] (id \"4471-Zq9-0123\"): openai_compatible.api_key: {short}")
    );
    assert_eq!(
        error_of(&file(&[
            scripted("a", ""),
            compatible(&format!("x-{KEY}"), KEY)
        ])),
        "auth.json: providers[1]: openai_compatible.api_key: the key occurs in the public catalog"
    );
    // A server tells its place without the slash at its end, too.
    let registry = registry(&file(&[compatible("x", KEY)]));
    let values: Vec<_> = registry.routing_values().collect();
    assert_eq!(values, ["https://h.example/private-7"]);
    assert!(registry.key_spellings().any(|spelling| spelling == KEY));
}

// covers: DEC-30
#[test]
fn what_a_session_tells_must_not_hold_a_key_or_a_route() {
    let registry = registry(&file(&[azure(
        r#""endpoint":"https://h.example","model":"m","deployment":"private-7","api_key":"sk-SENTINEL-1","api_version":"v1""#,
    )]));
    assert_eq!(
        registry.check_public(r#"{"cwd":"/home/u/private"}"#),
        Ok(())
    );
    for (public, member) in [
        (r#"{"cwd":"/home/u/private-7"}"#, "deployment"),
        (r#"{"cwd":"/sk-SENTINEL-1/x"}"#, "api_key"),
    ] {
        let error = registry.check_public(public).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "auth.json: id \"x\": azure_openai.{member}: the value occurs in what would be told in public"
            )
        );
    }
}

// covers: DEC-30
#[test]
fn a_key_that_every_record_spells_is_refused() {
    let words = r#"{"title":"assistant","required":["parent_tool_use_id"]}"#;
    let with_key = |key: &str| {
        let key = key.replace('\\', "\\\\").replace('"', "\\\"");
        registry(&file(&[format!(
            r#"{{"id":"x","type":"openai","openai":{{"model":"m","api_key":"{key}","api":"responses"}}}}"#
        )]))
    };
    for key in [
        r#"","type":""#,
        r#"}],"usage":{"#,
        r#"null,"error"#,
        r#""abcdefgh"#,
        r#"abcdefgh""#,
        "parent_tool_use_id",
        "tool_use_id",
    ] {
        let error = with_key(key).check_frames(words).unwrap_err();
        assert_eq!(
            error.to_string(),
            "auth.json: id \"x\": openai.api_key: the key occurs in the records of every session",
            "{key}"
        );
    }
    for key in ["sk-SENTINEL-1", r#"ab"c\d12345/x"#, "12345678", "{}{}{}{}"] {
        assert_eq!(with_key(key).check_frames(words), Ok(()), "{key}");
    }
}

// covers: WIRE-012
#[test]
fn a_known_price_of_nothing_is_not_an_unknown_price() {
    let free = r#","pricing":{"input_per_mtok":0,"output_per_mtok":0}"#;
    let registry = registry(&file(&[scripted("free", free), scripted("unknown", "")]));
    let usage = Usage {
        input_tokens: 9,
        output_tokens: 9,
        ..Usage::default()
    };
    let costs: Vec<_> = registry
        .entries()
        .iter()
        .map(|entry| entry.pricing.map(|pricing| pricing.cost(&usage)))
        .collect();
    assert_eq!(costs, [Some(0), None]);
}
