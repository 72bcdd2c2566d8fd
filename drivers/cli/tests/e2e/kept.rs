//! Answers of a host that are kept in settings files (WIRE-PERM-030).

use crate::support::{Agent, World, decide, script, tool_results, user};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

fn bash(command: &str) -> String {
    let calls = json!([{"name": "Bash", "input": {"command": command}}]);
    user(&script(&json!([{"tool_calls": calls}, {"text": "done"}])))
}

fn add_rule(rule: &Value, destination: &str) -> Value {
    json!({"type": "addRules", "rules": [rule], "behavior": "allow", "destination": destination})
}

/// Asks once, allows with these updates; gives the agent back, idle.
fn always(mut agent: Agent, updates: &Value) -> Agent {
    agent.send(&bash("echo first"));
    let question = agent.until_type("control_request");
    agent.send(&decide(
        &question,
        &json!({"behavior": "allow", "updatedInput": {}, "updatedPermissions": updates,
            "decisionClassification": "user_permanent"}),
    ));
    agent.until(|record| record["state"] == "idle");
    agent
}

/// Whether a session asks before it runs this.
fn asks(world: &World, further: &[&str], command: &str) -> bool {
    let mut agent = world.duplex(further);
    agent.send(&bash(command));
    let record =
        agent.until(|record| record["type"] == "control_request" || record["type"] == "result");
    let asked = record["type"] == "control_request";
    if asked {
        agent.send(&decide(
            &record,
            &json!({"behavior": "deny", "message": "no"}),
        ));
    } else {
        assert_eq!(tool_results(&agent.seen).len(), 1);
    }
    agent.end();
    asked
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn echo() -> Value {
    json!({"toolName": "Bash", "ruleContent": "echo:*"})
}

// covers: WIRE-PERM-030, WIRE-PERM-A01
#[test]
fn what_is_always_allowed_is_allowed_after_a_restart() {
    let world = World::scripted();
    assert!(asks(&world, &[], "echo a"));
    let agent = always(
        world.duplex(&[]),
        &json!([add_rule(&echo(), "userSettings")]),
    );
    let outcome = agent.end();
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    let path = world.home().join("settings.json");
    assert_eq!(
        text(&path),
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(echo:*)\"\n    ]\n  }\n}\n"
    );
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o600
    );
    assert!(!asks(&world, &[], "echo b"));
    assert!(asks(&world, &[], "ls"));
}

// covers: WIRE-PERM-030
#[test]
fn an_update_persists_only_where_its_destination_does() {
    let world = World::scripted();
    let updates = json!([
        add_rule(&echo(), "session"),
        add_rule(&echo(), "cliArg"),
        {"type": "setMode", "mode": "plan", "destination": "session"},
        {"type": "addDirectories", "directories": ["/data"], "destination": "cliArg"},
    ]);
    let agent = always(world.duplex(&[]), &updates);
    assert_eq!(agent.end().status, Some(0));
    assert!(!world.home().join("settings.json").exists());
    assert!(!world.work().join(".agentx").exists());
    assert!(asks(&world, &[], "echo b"));
    // The project's two files, made with their folder.
    let updates = json!([
        {"type": "addRules", "rules": [{"toolName": "Write"}], "behavior": "deny", "destination": "projectSettings"},
        add_rule(&echo(), "localSettings"),
        {"type": "addDirectories", "directories": ["../x"], "destination": "localSettings"},
    ]);
    assert_eq!(always(world.duplex(&[]), &updates).end().status, Some(0));
    let folder = world.work().join(".agentx");
    let parsed = |name: &str| -> Value { serde_json::from_str(&text(&folder.join(name))).unwrap() };
    assert_eq!(
        parsed("settings.json"),
        json!({"permissions": {"deny": ["Write"]}})
    );
    assert_eq!(
        parsed("settings.local.json"),
        json!({"permissions": {"allow": ["Bash(echo:*)"], "additionalDirectories": ["../x"]}})
    );
    assert!(!asks(&world, &["--trust-workspace"], "echo b"));
    // Nothing else is left behind.
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
}

// covers: WIRE-PERM-030, WIRE-PERM-031
#[test]
fn a_mode_and_a_folder_are_there_after_a_restart() {
    let world = World::scripted();
    let data = world.temporary().join("data");
    fs::create_dir(&data).unwrap();
    let updates = json!([
        {"type": "addDirectories", "directories": ["../tmp/data"], "destination": "userSettings"},
        {"type": "setMode", "mode": "acceptEdits", "destination": "userSettings"},
    ]);
    always(world.duplex(&[]), &updates).end();
    let stored: Value = serde_json::from_str(&text(&world.home().join("settings.json"))).unwrap();
    let data = data.canonicalize().unwrap();
    assert_eq!(
        stored,
        json!({"permissions": {"additionalDirectories": [data.to_str()], "defaultMode": "acceptEdits"}})
    );
    // Write passes in that mode, and in that folder.
    let file = data.join("made");
    let calls = json!([{"name": "Write", "input": {"file_path": file.to_str(), "content": "x"}}]);
    let prompt = script(&json!([{"tool_calls": calls}, {"text": "done"}]));
    assert_eq!(world.run(&["-p", &prompt], "").stdout, "done\n");
    assert_eq!(text(&file), "x");
}

// covers: WIRE-PERM-030
#[test]
fn a_file_keeps_what_an_update_does_not_change() {
    let world = World::scripted();
    let before =
        "{ \"permissions\" : {\"allow\":[\"Read\" ],\n\t\"deny\":[\"Write\"]},\"tools\":[] }\n\n";
    world.write_private("settings.json", before);
    let path = world.home().join("settings.json");
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let remove = json!({"type": "removeRules", "rules": [{"toolName": "Write"}], "behavior": "deny", "destination": "userSettings"});
    let updates = json!([add_rule(&echo(), "userSettings"), remove]);
    always(world.duplex(&[]), &updates).end();
    assert_eq!(
        text(&path),
        "{ \"permissions\" : {\"allow\":[\"Read\", \"Bash(echo:*)\"],\n\t\"deny\":[]},\"tools\":[] }\n\n"
    );
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o600
    );
}

// covers: WIRE-PERM-030
#[test]
fn what_cannot_be_stored_holds_for_the_session_and_is_told() {
    const TOLD: &str = "agentx: warning: permission updates could not be stored; they hold for this session only\n";
    let world = World::scripted();
    let folder = world.work().join(".agentx");
    let shown = world.work().canonicalize().unwrap().join(".agentx");
    let failed = |destination: &str, rule: &Value, name: &Path, fault: &str| {
        let mut agent = always(world.duplex(&[]), &json!([add_rule(rule, destination)]));
        // In memory it counts.
        agent.send(&bash("echo second"));
        agent.until_type("result");
        let outcome = agent.end();
        assert_eq!(outcome.status, Some(0));
        let expected = format!("agentx: warning: {}: {fault}\n", name.display());
        assert!(outcome.stderr.contains(&expected), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(TOLD), "{}", outcome.stderr);
    };
    // A link in the place of the folder, of a file.
    symlink(world.temporary(), &folder).unwrap();
    let local = shown.join("settings.local.json");
    failed("localSettings", &echo(), &local, "not a folder");
    fs::remove_file(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    let target = world.temporary().join("target");
    fs::write(&target, "{}").unwrap();
    symlink(&target, folder.join("settings.local.json")).unwrap();
    let fault = "a symbolic link, expected a regular file";
    failed("localSettings", &echo(), &local, fault);
    assert_eq!(text(&target), "{}");
    fs::remove_file(folder.join("settings.local.json")).unwrap();
    // A file that is broken stays as it is.
    fs::write(folder.join("settings.local.json"), "{\"x\":1}").unwrap();
    failed("localSettings", &echo(), &local, "unknown member \"x\"");
    assert_eq!(text(&folder.join("settings.local.json")), "{\"x\":1}");
}

// covers: WIRE-PERM-030
#[test]
fn many_answers_at_once_are_all_stored() {
    let world = World::scripted();
    let mut agent = world.duplex(&[]);
    let calls: Vec<Value> = (0..6)
        .map(|n| json!({"name": "Bash", "input": {"command": format!("echo {n}")}}))
        .collect();
    agent.send(&user(&script(
        &json!([{"tool_calls": calls}, {"text": "done"}]),
    )));
    for n in 0..6 {
        let question = agent.until_type("control_request");
        let rule = json!({"toolName": "Bash", "ruleContent": format!("echo {n}")});
        agent.send(&decide(
            &question,
            &json!({"behavior": "allow", "updatedInput": {}, "updatedPermissions": [add_rule(&rule, "userSettings")]}),
        ));
    }
    agent.until(|record| record["state"] == "idle");
    assert_eq!(agent.end().stderr, "");
    let stored: Value = serde_json::from_str(&text(&world.home().join("settings.json"))).unwrap();
    let mut rules: Vec<&str> = stored["permissions"]["allow"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule.as_str().unwrap())
        .collect();
    rules.sort_unstable();
    let expected: Vec<String> = (0..6).map(|n| format!("Bash(echo {n})")).collect();
    assert_eq!(rules, expected);
}
