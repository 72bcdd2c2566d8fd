//! Settings files: which count, what they do, what is refused.

use crate::support::{Outcome, World, script, tool_results, user};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

/// A prompt whose model runs one command and says what came back.
fn bash(command: &str) -> String {
    call("Bash", &json!({"command": command}))
}

fn call(tool: &str, input: &Value) -> String {
    let calls = json!([{"name": tool, "input": input}]);
    script(&json!([{"tool_calls": calls}, {"text": "{results}"}]))
}

const NOBODY: &str = "This call needs permission, and nobody can be asked.\n";
const DENIED: &str = "A permission rule denies this call.\n";

fn rules(kind: &str, rules: &[&str]) -> String {
    json!({"permissions": {kind: rules}}).to_string()
}

/// Writes a settings file of the project.
fn project(world: &World, name: &str, text: &str) -> PathBuf {
    let folder = world.work().join(".agentx");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.canonicalize().unwrap()
}

#[track_caller]
fn said(outcome: &Outcome, stdout: &str) {
    let told = (outcome.status, &*outcome.stdout, &*outcome.stderr);
    assert_eq!(told, (Some(0), stdout, ""));
}

#[test]
fn rules_of_the_user_decide() {
    let world = World::scripted();
    world.write_private(
        "settings.json",
        r#"{"permissions": {"allow": ["Bash(echo:*)", "Write(out/**)"], "deny": ["Bash(echo no:*)", "CurrentTime"]}}"#,
    );
    let run = |prompt: &str| world.run(&["-p", prompt], "");
    said(&run(&bash("echo a && echo b")), "a\nb\n\n");
    said(&run(&bash("echo a; ls")), NOBODY);
    said(&run(&bash("echo a; echo $(ls)")), NOBODY);
    said(&run(&bash("echo a; echo no b")), DENIED);
    said(&run(&call("CurrentTime", &json!({}))), DENIED);
    let write = |path: &str| call("Write", &json!({"file_path": path, "content": "x"}));
    run(&write("out/a"));
    assert_eq!(fs::read_to_string(world.work().join("out/a")).unwrap(), "x");
    said(&run(&write("other")), NOBODY);
    // A link inside leads outside; what a rule spells is not where it leads.
    symlink(world.temporary(), world.work().join("out/link")).unwrap();
    let outcome = run(&write("out/link/b"));
    assert!(!world.temporary().join("b").exists(), "{}", outcome.stdout);
}

#[test]
fn settings_of_a_project_count_in_a_trusted_workspace_alone() {
    let world = World::scripted();
    let shared = project(&world, "settings.json", &rules("allow", &["Bash(echo:*)"]));
    let note = |files: &str| format!("agentx: note: {files}\n");
    let outcome = world.run(&["-p", &bash("echo a")], "");
    assert_eq!(outcome.stdout, NOBODY);
    assert_eq!(
        outcome.stderr,
        note(&format!(
            "settings file not heeded without --trust-workspace: {}",
            shared.display()
        ))
    );
    let trusted = |prompt: &str| world.run(&["-p", "--trust-workspace", prompt], "");
    said(&trusted(&bash("echo a")), "a\n\n");
    // What is not heeded is not even read.
    let local = project(&world, "settings.local.json", "{");
    let outcome = world.run(&["-p", "x"], "");
    assert_eq!(outcome.status, Some(0));
    assert_eq!(
        outcome.stderr,
        note(&format!(
            "settings files not heeded without --trust-workspace: {}, {}",
            shared.display(),
            local.display()
        ))
    );
    trusted("x").refused(&format!(
        "{}: unexpected end of JSON at byte 2",
        local.display()
    ));
    project(
        &world,
        "settings.local.json",
        &rules("deny", &["Bash(echo a:*)"]),
    );
    said(&trusted(&bash("echo a")), DENIED);
    said(&trusted(&bash("echo b")), "b\n\n");
}

#[test]
fn settings_of_the_command_line_are_json_or_a_file() {
    let world = World::scripted();
    world.write_private("settings.json", &rules("allow", &["Bash"]));
    let prompt = bash("echo a");
    let run = |settings: &str| world.run(&["-p", "--settings", settings, &prompt], "");
    said(&run("{}"), "a\n\n");
    said(&run(&rules("deny", &["Bash(echo:*)"])), DENIED);
    fs::write(world.work().join("s.json"), rules("deny", &["Bash"])).unwrap();
    said(&run("s.json"), DENIED);
    run("t.json").refused("--settings t.json: no such file");
    run(".").refused("--settings .: not a regular file");
    run("{]").refused("--settings: unexpected character in JSON at byte 2");
    fs::write(world.work().join("s.json"), "[]").unwrap();
    run("s.json").refused("--settings s.json: an object is expected");
}

#[test]
fn faults_name_file_member_and_rule() {
    let world = World::scripted();
    let path = world.home().join("settings.json");
    let refused = |text: &str, fault: &str| {
        let _ = fs::remove_file(&path);
        world.write_private("settings.json", text);
        let expected = format!("{}: {fault}", path.display());
        world.run(&["-p", "x"], "").refused(&expected);
    };
    refused("{\"a\":1}", "unknown member \"a\"");
    refused(
        r#"{"permissions":{"allow":["Read"],"allow":["Bash"]}}"#,
        "ambiguous JSON: duplicate member name \"allow\" at byte 34",
    );
    refused(
        r#"{"permissions":{"deny":["Read","Bash(rm"]}}"#,
        "permissions.deny[1]: rule \"Bash(rm\": expected `)` at the end, and nothing after it",
    );
    refused(
        r#"{"permissions":{"ask":["CurrentTime(x)"]}}"#,
        "permissions.ask[0]: rule \"CurrentTime(x)\": brackets are for Bash and for tools that name a path",
    );
    let hook = |event: &str, group: &str| format!(r#"{{"hooks":{{"{event}":[{group}]}}}}"#);
    refused(
        &hook(
            "PreToolUse",
            r#"{"hooks":[{"type":"command","command":["./x"]}]}"#,
        ),
        "hooks.PreToolUse[0].hooks[0].command: expected a program that is an absolute path, or a name to be found in PATH; `~` and relative paths are not followed",
    );
    refused(
        &hook(
            "PreToolUse",
            r#"{"matcher":"(","hooks":[{"type":"command","command":["x"]}]}"#,
        ),
        "hooks.PreToolUse[0].matcher: not a regular expression (without look-around and back-references)",
    );
    refused(
        &hook(
            "Stop",
            r#"{"hooks":[{"type":"command","command":["x"],"timeout_ms":0}]}"#,
        ),
        "hooks.Stop[0].hooks[0].timeout_ms: expected 1 to 600000",
    );
    refused(
        &hook("stop", ""),
        "hooks: unknown event; expected one of PermissionRequest, PreToolUse, PostToolUse, UserPromptSubmit, Stop, PreCompact, SessionStart, SessionEnd",
    );
    refused(r#"{"mcpServers":{}}"#, "mcpServers: not available yet");
    refused(
        r#"{"tools":[{"name":"Read","description":"","input_schema":{"type":"object"},"command":["x"]}]}"#,
        "tools[0].name: Read is a built-in tool",
    );
    refused(
        r#"{"tools":[{"name":"a","description":"","input_schema":{"type":"object"},"command":["./x"]}]}"#,
        "tools[0].command: expected a program that is an absolute path, or a name to be found in PATH; `~` and relative paths are not followed",
    );
    refused(&" ".repeat((1 << 20) + 1), "over 1048576 bytes");
}

#[test]
fn a_key_in_a_settings_file_is_not_shown() {
    let key = "sk-0123456789-secret";
    let entry = json!([{
        "id": "main", "type": "openai",
        "openai": {"model": "m", "api_key": key, "api": "chat_completions"}
    }]);
    let world = World::with(&entry);
    world.write_private(
        "settings.json",
        &rules("allow", &[&format!("Bash(x {key}")]),
    );
    let outcome = world.run(&["-p", "x"], "");
    assert_eq!(outcome.status, Some(2));
    assert!(!outcome.stderr.contains(key), "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("permissions.allow[0]: rule \"Bash(x [redacted]\"")
    );
}

#[test]
fn a_rule_for_a_tool_that_nobody_has_is_told() {
    let world = World::scripted();
    world.write_private("settings.json", &rules("deny", &["Bsh(rm:*)"]));
    let path = world.home().join("settings.json");
    world.run(&["-p", "x"], "").refused(&format!(
        "{}: permissions.deny[0]: rule \"Bsh(rm:*)\": brackets are for Bash and for tools that name a path",
        path.display()
    ));
    fs::remove_file(&path).unwrap();
    world.write_private("settings.json", &rules("deny", &["Bsh", "mcp__files"]));
    let outcome = world.run(&["-p", "x"], "");
    assert_eq!(outcome.stdout, "echo: x\n");
    assert_eq!(
        outcome.stderr,
        format!(
            "agentx: warning: {}: permissions.deny[0]: no tool has the name \"Bsh\"\n",
            path.display()
        )
    );
}

#[test]
fn the_users_file_is_the_users_alone() {
    let world = World::scripted();
    world.write_private("settings.json", "{}");
    let path = world.home().join("settings.json");
    let run = || world.run(&["-p", "x"], "");
    for mode in [0o600, 0o644] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        said(&run(), "echo: x\n");
    }
    fs::set_permissions(&path, Permissions::from_mode(0o620)).unwrap();
    run().refused(&format!(
        "{}: mode 0620, others than its owner may write it",
        path.display()
    ));
    fs::remove_file(&path).unwrap();
    symlink("auth.json", &path).unwrap();
    run().refused(&format!(
        "{}: a symbolic link, expected a regular file",
        path.display()
    ));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    run().refused(&format!("{}: not a regular file", path.display()));
}

#[test]
fn files_of_a_project_are_not_reached_through_links() {
    let world = World::scripted();
    fs::write(world.temporary().join("settings.json"), "{}").unwrap();
    let folder = world.work().canonicalize().unwrap().join(".agentx");
    let run = || world.run(&["-p", "--trust-workspace", "x"], "");
    symlink(world.temporary(), &folder).unwrap();
    run().refused(&format!("{}: not a folder", folder.display()));
    fs::remove_file(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    let file = folder.join("settings.json");
    symlink(world.temporary().join("settings.json"), &file).unwrap();
    run().refused(&format!(
        "{}: a symbolic link, expected a regular file",
        file.display()
    ));
}

#[test]
fn a_home_folder_in_the_working_folder_is_no_project() {
    let world = World::scripted();
    world.write_private("settings.json", &rules("allow", &["Bash"]));
    let home = world.work().join(".agentx");
    fs::rename(world.home(), &home).unwrap();
    for arguments in [&["-p"][..], &["-p", "--trust-workspace"]] {
        let mut command = world.command(&[arguments, &[&*bash("echo a")]].concat());
        command.env("AGENTX_HOME", &home);
        said(&crate::support::finish(command, ""), "a\n\n");
    }
}

#[test]
fn the_mode_comes_from_settings_unless_the_command_line_says_it() {
    let world = World::scripted();
    let mode = |word: &str| json!({"permissions": {"defaultMode": word}}).to_string();
    world.write_private("settings.json", &mode("plan"));
    let told = |arguments: &[&str]| {
        let arguments = [&["--output-format", "stream-json"], arguments, &["x"]].concat();
        world.run(&arguments, "").records()[0]["permissionMode"].clone()
    };
    assert_eq!(told(&[]), "plan");
    assert_eq!(told(&["--settings", &mode("dontAsk")]), "dontAsk");
    let both = [
        "--settings",
        &mode("dontAsk"),
        "--permission-mode",
        "default",
    ];
    assert_eq!(told(&both), "default");
}

#[test]
fn further_folders_are_worked_in() {
    let world = World::scripted();
    let (data, more) = (
        world.temporary().join("data"),
        world.temporary().join("more"),
    );
    fs::create_dir(&data).unwrap();
    fs::create_dir(&more).unwrap();
    for folder in [&data, &more] {
        fs::write(folder.join("f"), "inside").unwrap();
    }
    let read = call("Read", &json!({"file_path": data.join("f").to_str()}));
    let read_more = call("Read", &json!({"file_path": more.join("f").to_str()}));
    let run = |arguments: &[&str], prompt: &str| {
        world
            .run(&[&["-p"], arguments, &[prompt]].concat(), "")
            .stdout
    };
    assert_eq!(run(&[], &read), NOBODY);
    let dirs = [
        "--add-dir",
        data.to_str().unwrap(),
        "--add-dir",
        "../tmp/more",
    ];
    assert!(run(&dirs, &read).contains("inside"));
    assert!(run(&dirs, &read_more).contains("inside"));
    let settings = json!({"permissions": {"additionalDirectories": ["../tmp/data"]}});
    assert!(run(&["--settings", &settings.to_string()], &read).contains("inside"));
    assert_eq!(
        run(&["--settings", &settings.to_string()], &read_more),
        NOBODY
    );
    let refused = |path: &str, fault: &str| {
        let outcome = world.run(&["-p", "--add-dir", path, "x"], "");
        outcome.refused(&format!("--add-dir {path}: {fault}"));
    };
    refused("nowhere", "No such file or directory (os error 2)");
    refused("../tmp/more/f", "not a folder");
}

#[test]
fn built_in_tools_are_chosen_or_switched_off() {
    let world = World::scripted();
    let tools = |arguments: &[&str]| {
        let arguments = [&["--output-format", "stream-json"], arguments, &["x"]].concat();
        world.run(&arguments, "").records()[0]["tools"].clone()
    };
    assert_eq!(tools(&["--tools", "Bash,Read"]), json!(["Read", "Bash"]));
    assert_eq!(tools(&["--no-tools"]), json!([]));
    assert_eq!(tools(&[]).as_array().unwrap().len(), 7);
    let arguments = [
        "-p",
        "--tools",
        "Read",
        "--permission-mode",
        "bypassPermissions",
    ];
    let prompt = bash("touch made");
    let outcome = world.run(&[&arguments[..], &[&prompt]].concat(), "");
    assert!(!world.work().join("made").exists(), "{outcome:?}");
}

// covers: DEC-31
#[test]
fn a_host_is_asked_what_no_rule_decides() {
    let world = World::scripted();
    world.write_private(
        "settings.json",
        &json!({"permissions": {"allow": ["Bash(echo:*)"], "ask": ["Bash(echo ask:*)"], "deny": ["Write"]}})
            .to_string(),
    );
    let mut agent = world.duplex(&[]);
    agent.send(&user(&bash("echo a")));
    agent.until_type("result");
    assert_eq!(tool_results(&agent.seen), ["a\n"]);
    agent.send(&user(&bash("echo ask")));
    let question = agent.until_type("control_request");
    assert_eq!(question["request"]["input"]["command"], "echo ask");
    agent.send(&crate::support::decide(
        &question,
        &json!({"behavior": "deny", "message": "no"}),
    ));
    agent.until_type("result");
    agent.send(&user(&call(
        "Write",
        &json!({"file_path": "a", "content": ""}),
    )));
    agent.until_type("result");
    let questions = agent.seen.iter().filter(|r| r["type"] == "control_request");
    assert_eq!(questions.count(), 1);
    assert_eq!(agent.end().status, Some(0));
}

/// A declaration of a tool that answers with what it is told.
fn echo_tool(name: &str, permission: &str) -> Value {
    json!({
        "name": name, "description": "Echoes.", "permission": permission,
        "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
        "command": ["/bin/sh", "-c", "read line; echo \"$0 $line\"", name], "timeout_ms": 20000
    })
}

#[test]
fn tools_of_settings_are_offered_and_run() {
    let world = World::scripted();
    let tools = json!({
        "tools": [echo_tool("zeta", "allow"), echo_tool("alpha", "ask"), echo_tool("never", "deny")],
        "permissions": {"allow": ["never"]}
    });
    world.write_private("settings.json", &tools.to_string());
    let run = |further: &[&str], tool: &str| {
        let prompt = call(tool, &json!({"text": "a"}));
        world.run(&[&["-p"], further, &[&*prompt]].concat(), "")
    };
    said(&run(&[], "zeta"), "zeta {\"text\":\"a\"}\n\n");
    said(&run(&[], "alpha"), NOBODY);
    let denied = "The settings that declare this tool deny its calls.\n";
    said(&run(&[], "never"), denied);
    said(
        &run(&["--permission-mode", "bypassPermissions"], "never"),
        denied,
    );
    let allowed = json!({"permissions": {"allow": ["alpha"], "deny": ["zeta"]}}).to_string();
    said(
        &run(&["--settings", &allowed], "alpha"),
        "alpha {\"text\":\"a\"}\n\n",
    );
    said(&run(&["--settings", &allowed], "zeta"), DENIED);
    // Built-in tools can be switched off, those of settings are declared.
    let arguments = ["--output-format", "stream-json", "--no-tools", "x"];
    let init = &world.run(&arguments, "").records()[0];
    assert_eq!(init["tools"], json!(["alpha", "never", "zeta"]));
}

#[test]
fn a_higher_layer_replaces_a_tool_of_the_same_name() {
    let world = World::scripted();
    let user = json!({"tools": [echo_tool("lookup", "allow")]});
    world.write_private("settings.json", &user.to_string());
    let flag = json!({"tools": [echo_tool("lookup", "deny")]}).to_string();
    let prompt = call("lookup", &json!({}));
    said(&world.run(&["-p", &prompt], ""), "lookup {}\n\n");
    said(
        &world.run(&["-p", "--settings", &flag, &prompt], ""),
        "The settings that declare this tool deny its calls.\n",
    );
}

// covers: DEC-26
#[test]
fn a_host_that_is_asked_about_a_tool_of_settings_may_always_allow_it() {
    let world = World::scripted();
    let tools = json!({"tools": [echo_tool("lookup", "ask")]}).to_string();
    let prompt = user(&call("lookup", &json!({})));
    let mut agent = world.duplex(&["--settings", &tools]);
    agent.send(&prompt);
    let question = agent.until_type("control_request");
    assert_eq!(question["request"]["tool_name"], "lookup");
    let rule = json!({"type": "addRules", "rules": [{"toolName": "lookup"}], "behavior": "allow", "destination": "userSettings"});
    agent.send(&crate::support::decide(
        &question,
        &json!({"behavior": "allow", "updatedInput": {"a": 1}, "updatedPermissions": [rule]}),
    ));
    agent.until_type("result");
    assert_eq!(tool_results(&agent.seen), ["lookup {\"a\":1}\n"]);
    agent.end();
    let mut agent = world.duplex(&["--settings", &tools]);
    agent.send(&prompt);
    agent.until_type("result");
    assert_eq!(tool_results(&agent.seen), ["lookup {}\n"]);
    agent.end();
}
