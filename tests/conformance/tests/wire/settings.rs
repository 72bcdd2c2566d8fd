//! Settings in a session: which calls they decide, and what no answer changes.

use agentx_conformance::session::{Bench, brief, config, tool};
use agentx_core::agent::Config;
use agentx_core::policy::{Layer, Layers, Settings};
use agentx_core::tool::{Access, ToolClass};
use serde_json::json;

fn with(files: &[(Layer, &str)]) -> Config {
    let mut settings = Layers::new();
    for (layer, text) in files {
        settings.set(*layer, Settings::read(text.as_bytes()).expect("settings"));
    }
    Config {
        settings,
        directories: vec!["/more".to_string()],
        tools: [
            tool("Look", ToolClass::ReadOnly),
            tool("Change", ToolClass::Edit),
            tool("Bash", ToolClass::Execute),
        ]
        .into(),
        ..config()
    }
}

fn briefs(b: &mut Bench) -> Vec<String> {
    b.records().iter().map(brief).collect()
}

// covers: DEC-31
#[test]
fn only_what_no_rule_decides_is_asked() {
    let mut b = Bench::new(with(&[
        (
            Layer::User,
            r#"{"permissions":{"allow":["Bash(ls:*)","Change"],"additionalDirectories":["../data"]}}"#,
        ),
        (
            Layer::Policy,
            r#"{"permissions":{"ask":["Bash(ls /secret:*)"],"deny":["Change(/repo/locked/**)"]}}"#,
        ),
    ]));
    b.prompt(1, "go");
    b.records();
    b.calls(&[
        ("t1", "Bash", r#"{"command":"ls; ls -l"}"#),
        ("t2", "Bash", r#"{"command":"ls /secret"}"#),
        ("t3", "Bash", r#"{"command":"ls; pwd"}"#),
        ("t4", "Change", r#"{"file_path":"locked/a"}"#),
        ("t5", "Look", r#"{"file_path":"/data/a"}"#),
        ("t6", "Look", r#"{"file_path":"/more/a"}"#),
    ]);
    let said = briefs(&mut b);
    let asked: Vec<&String> = said.iter().filter(|b| b.starts_with("ask")).collect();
    assert_eq!(asked.len(), 2, "{said:?}");
    assert!(said.contains(&"tool_result t4".to_string()), "{said:?}");
    assert_eq!(b.tool("t1").1.access, Access::Granted);
    let (_, request) = b.tool("t5");
    assert_eq!(request.access, Access::WorkingDirectories);
    assert_eq!(*request.directories, ["/repo", "/more", "/data"]);
    assert!(b.find_tool("t6").is_some());
    assert_ne!(b.question("t2"), b.question("t3"));
}

// covers: WIRE-PERM-030
#[test]
fn an_answer_changes_no_rule_of_the_policy() {
    let mut b = Bench::new(with(&[(
        Layer::Policy,
        r#"{"permissions":{"deny":["Bash(rm:*)"]}}"#,
    )]));
    b.prompt(1, "go");
    b.calls(&[("t1", "Bash", r#"{"command":"ls"}"#)]);
    b.records();
    let id = b.question("t1");
    let update = |kind: &str, behavior: &str, destination: &str| {
        json!({"type": kind, "behavior": behavior, "destination": destination,
            "rules": [{"toolName": "Bash", "ruleContent": "rm:*"}]})
    };
    let mut updates =
        vec![json!({"type": "setMode", "mode": "bypassPermissions", "destination": "session"})];
    for destination in [
        "userSettings",
        "projectSettings",
        "localSettings",
        "session",
        "cliArg",
    ] {
        updates.push(update("removeRules", "deny", destination));
        updates.push(update("addRules", "allow", destination));
    }
    b.respond(
        &id,
        &json!({"behavior": "allow", "updatedInput": {}, "updatedPermissions": updates}),
    );
    b.tool_says("t1", "ok");
    b.calls(&[
        ("t2", "Bash", r#"{"command":"sudo rm x"}"#),
        ("t3", "Bash", r#"{"command":"pwd"}"#),
    ]);
    let said = briefs(&mut b);
    assert!(said.contains(&"tool_result t2".to_string()), "{said:?}");
    assert!(b.find_tool("t3").is_some());
}
