//! The profile `reference`: settings that a host reads and changes.

use crate::shared::refusal;
use agentx_conformance::session::{Bench, bare, config, reference, tool};
use agentx_core::agent::{Config, Profile, Provider, Reference};
use agentx_core::guard::Guard;
use agentx_core::policy::{Layer, Layers, Settings};
use agentx_core::schema::permission::PermissionMode;
use agentx_core::tool::ToolClass;
use serde_json::{Value, json};

fn with(files: &[(Layer, Value)]) -> Config {
    let mut settings = Layers::new();
    for (layer, text) in files {
        let text = text.to_string();
        settings.set(*layer, Settings::read(text.as_bytes()).expect("settings"));
    }
    Config {
        settings,
        tools: [
            tool("Look", ToolClass::ReadOnly),
            tool("Change", ToolClass::Edit),
            tool("Bash", ToolClass::Execute),
            tool("Do", ToolClass::Execute),
        ]
        .into(),
        ..reference()
    }
}

fn settings(b: &mut Bench) -> Value {
    b.control("c", "get_settings");
    let answer = b.records().pop().expect("an answer");
    assert_eq!(answer["response"]["subtype"], "success", "{answer}");
    answer["response"]["response"].clone()
}

fn flag(settings: &Value) -> Value {
    json!({"subtype": "apply_flag_settings", "settings": settings})
}

/// Applies settings that are right; gives what follows the answer.
fn apply(b: &mut Bench, settings: &Value) -> Vec<Value> {
    let record = json!({"type": "control_request", "request_id": "c", "request": flag(settings)});
    b.line(&record.to_string());
    let mut records = b.records();
    assert_eq!(
        records.remove(0),
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": "c"}})
    );
    records.iter().map(bare).collect()
}

/// What becomes of a call: its brief if it is over or asked about, else it runs.
fn call(b: &mut Bench, id: &str, name: &str, input: &str) -> String {
    b.calls(&[(id, name, input)]);
    let records = b.briefs();
    let fate = records
        .iter()
        .find(|brief| brief.starts_with("ask") || brief.starts_with("tool_result"));
    let fate = fate.map_or("runs", String::as_str);
    let fate = fate.split(' ').next().unwrap_or_default().to_string();
    match fate.as_str() {
        "runs" => b.tool_says(id, "done"),
        "ask" => {
            let question = b.question(id);
            b.deny(&question);
        }
        _ => {}
    }
    b.records();
    fate
}

// covers: ACC-10, DEC-47
#[test]
fn sources_stand_low_to_high_and_what_is_applied_apart() {
    let user = json!({"permissions": {"allow": ["Bash(ls:*)"], "defaultMode": "plan"}});
    let local = json!({"permissions": {"allow": ["Look"]}});
    let flag = json!({"permissions": {"defaultMode": "acceptEdits"}});
    let policy = json!({"permissions": {"deny": ["Bash(rm:*)"]}});
    let mut b = Bench::new(Config {
        provider: Provider {
            effort: Some("high".into()),
            ..config().provider
        },
        ..with(&[
            (Layer::Policy, policy.clone()),
            (Layer::Flag, flag.clone()),
            (Layer::User, user.clone()),
            (Layer::Local, local.clone()),
        ])
    });
    assert_eq!(
        settings(&mut b),
        json!({
            "effective": {"permissions": {"defaultMode": "acceptEdits", "allow": ["Bash(ls:*)", "Look"], "deny": ["Bash(rm:*)"]}},
            "sources": [
                {"source": "userSettings", "settings": user},
                {"source": "localSettings", "settings": local},
                {"source": "flagSettings", "settings": flag},
                {"source": "policySettings", "settings": policy},
            ],
            "applied": {"model": "test-model", "effort": "high"},
        })
    );
    let mut b = Bench::new(reference());
    assert_eq!(
        settings(&mut b),
        json!({"effective": {"permissions": {}}, "sources": [], "applied": {"model": "test-model", "effort": null}})
    );
}

// covers: DEC-30, WIRE-013
#[test]
fn settings_are_shown_without_credentials() {
    let key = "sk-secret-key";
    let file = json!({"permissions": {"allow": [format!("Bash(curl -H {key}:*)")]}});
    let mut b = Bench::new(Config {
        credentials: Guard::new([key]).expect("few literals"),
        ..with(&[(Layer::User, file)])
    });
    let shown = settings(&mut b);
    let rule = json!({"permissions": {"allow": ["Bash(curl -H [redacted]:*)"]}});
    assert_eq!(shown["effective"], rule);
    assert_eq!(shown["sources"][0]["settings"], rule);
    // A key that JSON spells with escapes is found, but not in one piece.
    let key = r#"sk-"quoted"-key"#;
    let file = json!({"permissions": {"allow": [format!("Bash(curl -H {key}:*)")]}});
    let mut b = Bench::new(Config {
        credentials: Guard::new([key]).expect("few literals"),
        ..with(&[(Layer::User, file)])
    });
    assert_eq!(
        refusal(&mut b, json!({"subtype": "get_settings"})).as_deref(),
        Some("get_settings: the settings hold a credential and are not shown")
    );
    assert_eq!(b.exit, None);
}

// covers: DEC-34, DEC-06
#[test]
fn settings_that_fit_no_record_are_an_error() {
    let rule = |n: usize| format!("Bash({}{n}:*)", "x".repeat(10_000));
    let rules: Vec<_> = (0..60).map(rule).collect();
    let mut b = Bench::new(with(&[(
        Layer::User,
        json!({"permissions": {"allow": rules}}),
    )]));
    assert_eq!(
        refusal(&mut b, json!({"subtype": "get_settings"})).as_deref(),
        Some("get_settings: the settings take more than 998976 bytes")
    );
    for (levels, error) in [
        (100, None),
        (
            122,
            Some("get_settings: the settings nest too deep for one record"),
        ),
    ] {
        let levels = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        let file = format!(
            r#"{{"tools":[{{"name":"deep","description":"d","command":["c"],"input_schema":{{"x":{levels}}}}}]}}"#
        );
        let mut settings = Layers::new();
        settings.set(
            Layer::User,
            Settings::read(file.as_bytes()).expect("settings"),
        );
        let mut b = Bench::new(Config {
            settings,
            ..reference()
        });
        let told = refusal(&mut b, json!({"subtype": "get_settings"}));
        assert_eq!(told.as_deref(), error);
    }
}

// covers: DEC-47, DEC-31
#[test]
fn rules_of_the_flag_layer_change_while_the_session_runs() {
    let mut b = Bench::new(with(&[
        (
            Layer::Flag,
            json!({"permissions": {"allow": ["Do"], "deny": ["Bash(rm:*)"]}}),
        ),
        (
            Layer::Policy,
            json!({"permissions": {"deny": ["Bash(dd:*)"]}}),
        ),
    ]));
    b.prompt(1, "go");
    b.records();
    assert_eq!(call(&mut b, "t1", "Do", "{}"), "runs");
    assert_eq!(
        call(&mut b, "t2", "Bash", r#"{"command":"rm a"}"#),
        "tool_result"
    );
    let new = json!({"permissions": {"allow": ["Bash(rm:*)"], "deny": ["Do"], "additionalDirectories": ["/data"]}});
    assert_eq!(apply(&mut b, &new), Vec::<Value>::new());
    assert_eq!(call(&mut b, "t3", "Do", "{}"), "tool_result");
    assert_eq!(call(&mut b, "t4", "Bash", r#"{"command":"rm a"}"#), "runs");
    assert_eq!(
        call(&mut b, "t5", "Bash", r#"{"command":"dd"}"#),
        "tool_result"
    );
    assert_eq!(
        call(&mut b, "t6", "Look", r#"{"file_path":"/data/a"}"#),
        "runs"
    );
    assert_eq!(settings(&mut b)["sources"][0]["settings"], new);
    // Without the member nothing changes, and null takes it away.
    apply(&mut b, &json!({}));
    assert_eq!(call(&mut b, "t7", "Do", "{}"), "tool_result");
    apply(&mut b, &json!({"permissions": null}));
    assert_eq!(call(&mut b, "t8", "Do", "{}"), "ask");
    assert_eq!(
        call(&mut b, "t9", "Look", r#"{"file_path":"/data/a"}"#),
        "ask"
    );
    assert_eq!(settings(&mut b)["sources"][0]["settings"], json!({}));
}

// covers: DEC-47
#[test]
fn a_mode_of_the_flag_layer_is_in_force_at_once() {
    let mode = |mode: &str| json!({"permissions": {"defaultMode": mode}});
    let mut b = Bench::new(with(&[]));
    let told = apply(&mut b, &mode("plan"));
    assert_eq!(
        told,
        [json!({"type": "system", "subtype": "status", "status": null, "permissionMode": "plan"})]
    );
    assert_eq!(apply(&mut b, &mode("plan")), Vec::<Value>::new());
    // Taking it back leaves the mode as it is.
    assert_eq!(
        apply(&mut b, &json!({"permissions": {}})),
        Vec::<Value>::new()
    );
    assert_eq!(b.session.policy().mode(), PermissionMode::Plan);
    // The layer above has the last word.
    let mut b = Bench::new(with(&[(Layer::Policy, mode("dontAsk"))]));
    assert_eq!(apply(&mut b, &mode("plan")), Vec::<Value>::new());
    assert_eq!(b.session.policy().mode(), PermissionMode::Default);
    let bypass = mode("bypassPermissions");
    assert_eq!(
        refusal(&mut Bench::new(with(&[])), flag(&bypass)).as_deref(),
        Some(
            "apply_flag_settings: permissions.defaultMode: bypassPermissions is not permitted in \
             this session; start it with --allow-dangerously-skip-permissions"
        )
    );
    let mut b = Bench::new(Config {
        profile: Profile::Reference(Reference {
            may_bypass_permissions: true,
            ..Reference::default()
        }),
        ..with(&[])
    });
    apply(&mut b, &bypass);
    assert_eq!(b.session.policy().mode(), PermissionMode::BypassPermissions);
}

// covers: DEC-47
#[test]
fn settings_that_are_wrong_change_nothing() {
    let old = json!({"permissions": {"allow": ["Do"]}});
    let mut b = Bench::new(with(&[(Layer::Flag, old.clone())]));
    let fixed = "is fixed while the session runs; start a new session with --settings to change it";
    for (settings, error) in [
        (json!({"permissions": {"deny": ["Do"]}, "hooks": {}}), format!("hooks: {fixed}")),
        (json!({"tools": []}), format!("tools: {fixed}")),
        (json!({"mcpServers": {}}), format!("mcpServers: {fixed}")),
        (
            json!({"permissions": {"deny": ["Do"]}, "model": "x"}),
            "unknown member \"model\"".to_string(),
        ),
        (
            json!({"permissions": {"deny": ["Do", "Bash("]}}),
            "permissions.deny[1]: rule \"Bash(\": ".to_string(),
        ),
        (
            json!({"permissions": {"deny": ["Do(x)"]}}),
            "permissions.deny[0]: rule \"Do(x)\": brackets are for Bash and for tools that name a path"
                .to_string(),
        ),
        (
            json!({"permissions": {"deny": ["mcp__files(x)"]}}),
            "permissions.deny[0]: rule \"mcp__files(x)\": ".to_string(),
        ),
        (
            json!({"permissions": {"defaultMode": "auto"}}),
            "permissions.defaultMode: expected one of".to_string(),
        ),
    ] {
        let told = refusal(&mut b, flag(&settings)).expect("an error");
        let expected = format!("apply_flag_settings: {error}");
        assert!(told.starts_with(&expected), "{settings}: {told}");
    }
    assert_eq!(
        refusal(
            &mut b,
            json!({"subtype": "apply_flag_settings", "settings": null})
        )
        .as_deref(),
        Some("apply_flag_settings: invalid settings")
    );
    assert_eq!(settings(&mut b)["sources"][0]["settings"], old);
    b.prompt(1, "go");
    b.records();
    assert_eq!(call(&mut b, "t1", "Do", "{}"), "runs");
    assert_eq!(b.diagnostics(), Vec::<&str>::new());
    apply(
        &mut b,
        &json!({"permissions": {"deny": ["Dance", "mcp__files"]}}),
    );
    assert_eq!(
        b.diagnostics(),
        ["apply_flag_settings: permissions.deny[0]: no tool has the name \"Dance\""]
    );
}

// covers: ACC-10, WIRE-PERM-030
#[test]
fn what_answers_store_shows_in_its_layer() {
    let mut b = Bench::new(with(&[(
        Layer::User,
        json!({"permissions": {"allow": ["Look"]}}),
    )]));
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", "{}")]);
    let question = b.question("t1");
    let rules = |tool: &str, destination: &str| json!({"type": "addRules", "rules": [{"toolName": tool}], "behavior": "allow", "destination": destination});
    b.respond(
        &question,
        &json!({"behavior": "allow", "updatedInput": {}, "updatedPermissions": [
            rules("Do", "userSettings"), rules("Change", "localSettings"), rules("Bash", "session"),
            {"type": "setMode", "mode": "acceptEdits", "destination": "localSettings"}]}),
    );
    b.records();
    let shown = settings(&mut b);
    assert_eq!(
        shown["sources"],
        json!([
            {"source": "userSettings", "settings": {"permissions": {"allow": ["Look", "Do"]}}},
            {"source": "localSettings", "settings": {"permissions": {"allow": ["Change"], "defaultMode": "acceptEdits"}}},
        ])
    );
    assert_eq!(
        shown["effective"]["permissions"]["allow"],
        json!(["Look", "Do", "Change"])
    );
}
