//! The command lines of hosts that already exist, in the profile `reference`.

use crate::support::{Agent, Outcome, World, control, finish, from_prompt, kinds, script, user};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

/// What every host of this kind gives: no `-p`, and no prompt.
const BEGIN: [&str; 3] = ["--output-format", "stream-json", "--verbose"];
const END: [&str; 2] = ["--input-format", "stream-json"];

/// The line of a Python program that asks for nothing.
const PLAIN: [&str; 7] = [
    "--output-format",
    "stream-json",
    "--verbose",
    "--system-prompt",
    "",
    "--input-format",
    "stream-json",
];

/// The binary under the name that hosts look for, with nothing in its environment
/// but the home folder.
pub(crate) fn linked(world: &World, arguments: &[&str]) -> Command {
    let link = name(world);
    if !link.exists() {
        symlink(env!("CARGO_BIN_EXE_agentx"), &link).unwrap();
    }
    let mut command = Command::new(link);
    command.args(arguments).env_clear();
    command.env("AGENTX_HOME", world.home());
    command.current_dir(world.work());
    command
}

fn name(world: &World) -> PathBuf {
    world.root().join("claude")
}

fn run(world: &World, options: &[&str], stdin: &str) -> Outcome {
    let arguments = [&BEGIN, options, &END].concat();
    finish(linked(world, &arguments), stdin)
}

/// Runs one prompt; gives the result record.
#[track_caller]
fn answered(outcome: &Outcome) -> Value {
    let records = outcome.records();
    let result = records.iter().rfind(|record| record["type"] == "result");
    result.unwrap_or_else(|| panic!("{outcome:?}")).clone()
}

fn line(prompt: &str) -> String {
    user(prompt) + "\n"
}

#[test]
fn the_version_is_told_with_nothing_configured() {
    let world = World::empty();
    let version = format!("2.1.0 (agentx {})\n", env!("CARGO_PKG_VERSION"));
    for word in ["-v", "--version"] {
        let mut command = linked(&world, &[word]);
        command.env_remove("AGENTX_HOME");
        let outcome = finish(command, "");
        let said = (outcome.status, &*outcome.stdout, &*outcome.stderr);
        assert_eq!(said, (Some(0), &*version, ""));
    }
    let own = finish(crate::support::bare(&["-v"]), "");
    assert_eq!(
        own.stdout,
        format!("{} (agentx)\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn the_profile_goes_by_option_then_variable_then_name() {
    let world = World::scripted();
    let chosen = |mut command: Command, environment: Option<&str>| {
        environment.map(|word| command.env("AGENTX_PROFILE", word));
        finish(command, "")
    };
    // An option that one of the profiles alone has.
    let own = |words: &[&str]| world.command(&[&["-p", "--model=default"], words, &["x"]].concat());
    let hosted = |words: &[&str]| {
        linked(
            &world,
            &[&["-p", "--model=default"], words, &["x"]].concat(),
        )
    };
    for command in [
        chosen(hosted(&[]), None),
        chosen(own(&[]), Some("reference")),
        chosen(own(&["--profile", "reference"]), None),
        chosen(own(&["--profile=reference"]), Some("standalone")),
    ] {
        assert_eq!(command.stdout, "echo: x\n", "{}", command.stderr);
    }
    let unknown = "--model is an option of another profile: expected --profile reference with it";
    for command in [
        chosen(own(&[]), None),
        chosen(hosted(&[]), Some("standalone")),
        chosen(hosted(&["--profile=standalone"]), None),
    ] {
        command.refused(unknown);
    }
    let refused = chosen(hosted(&[]), Some("other"));
    refused.refused("AGENTX_PROFILE: expected standalone or reference");
}

// covers: DEC-14, DEC-20
#[test]
fn input_that_ends_at_once_still_leads_to_a_result() {
    let world = World::scripted();
    let outcome = finish(linked(&world, &PLAIN), &line("hi"));
    assert_eq!((outcome.status, &*outcome.stderr), (Some(0), ""));
    assert_eq!(answered(&outcome)["result"], "echo: hi");
    // A last line without its newline, and an initialize that nobody waits for.
    let input = control("req_1", "initialize") + "\n" + &user("one") + "\n" + &user("two");
    let outcome = finish(linked(&world, &PLAIN), &input);
    assert_eq!(outcome.status, Some(0));
    let results = kinds(&outcome.records());
    let results = results.iter().filter(|kind| *kind == "success");
    assert_eq!(results.count(), 2, "{}", outcome.stdout);
    let nothing = finish(linked(&world, &PLAIN), "");
    assert_eq!((nothing.status, &*nothing.stderr), (Some(0), ""));
}

// covers: DEC-20
#[test]
fn the_last_result_decides_the_status() {
    let world = World::scripted();
    let fails = script(&json!([{"error": {"status": 400, "message": "no"}}]));
    let outcome = run(&world, &[], &line(&fails));
    assert_eq!(outcome.status, Some(1));
    assert_eq!(answered(&outcome)["is_error"], true);
    let outcome = run(&world, &[], &(line(&fails) + &line("hi")));
    assert_eq!(outcome.status, Some(0));
}

#[test]
fn a_line_with_everything_is_taken_in_both_spellings() {
    let priced = json!({
        "pricing": {"input_per_mtok": 1, "output_per_mtok": 1},
        "capabilities": {"reasoning": {"efforts": ["none", "low"], "default_effort": "low"}}
    });
    let world = World::with(&json!([from_prompt("main", &priced)]));
    world.write_private(
        "mcp.json",
        r#"{"mcpServers":{"calc":{"type":"sdk","name":"calc"}}}"#,
    );
    let mcp = world.home().join("mcp.json").to_str().unwrap().to_owned();
    let values = [
        ("--system-prompt", "- brief"),
        ("--append-system-prompt", "--and true"),
        ("--tools", "default"),
        ("--allowedTools", "Read,Bash(ls:*)"),
        ("--disallowedTools", "Write"),
        ("--model", "fixture-model"),
        ("--fallback-model", "main"),
        ("--betas", ""),
        ("--max-turns", "4"),
        ("--max-budget-usd", "1e+1"),
        ("--thinking", "disabled"),
        ("--permission-mode", "default"),
        ("--permission-prompt-tool", "stdio"),
        ("--session-id", "5b0d3c9e-1f8a-4c55-8a8e-7f6d1c2b3a49"),
        ("--settings", r#"{"permissions":{}}"#),
        ("--setting-sources", ""),
        ("--add-dir", "/"),
        ("--mcp-config", &mcp),
        ("--driver", "tokio"),
        ("--cwd", "."),
    ];
    let flags = [
        "--allow-dangerously-skip-permissions",
        "--strict-mcp-config",
        "--include-partial-messages",
        "--include-hook-events",
        "--no-session-persistence",
        "--replay-user-messages",
        "--trust-workspace",
    ];
    let joined: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let joined: Vec<&str> = joined.iter().map(String::as_str).collect();
    let apart: Vec<&str> = values
        .iter()
        .flat_map(|(name, value)| [*name, *value])
        .collect();
    for words in [joined, apart] {
        let outcome = run(&world, &[&words[..], &flags].concat(), &line("hi"));
        assert_eq!((outcome.status, &*outcome.stderr), (Some(0), ""));
        let result = answered(&outcome);
        assert_eq!(result["result"], "echo: hi");
        assert_eq!(result["session_id"], "5b0d3c9e-1f8a-4c55-8a8e-7f6d1c2b3a49");
    }
}

#[test]
fn what_has_no_effect_is_told_once_and_what_misleads_is_refused() {
    let world = World::scripted();
    let outcome = run(
        &world,
        &[
            "--betas=a,b",
            "--task-budget=5",
            "--plugin-dir=x",
            "--plugin-dir=y",
            "--permission-mode=auto",
            "--tools=Read,WebFetch",
            "--allowedTools=Skill(pdf)",
            "--mcp-config",
            r#"{"mcpServers":{"files":{"command":"x"}}}"#,
        ],
        &line("hi"),
    );
    assert_eq!(outcome.status, Some(0));
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    for part in [
        "--permission-mode auto: taken as default",
        "--tools: no built-in tool has the name \"WebFetch\"",
        "--betas: no effect",
        "--task-budget: no effect",
        "--plugin-dir: no effect",
        "--allowedTools: rule \"Skill(pdf)\" has no effect",
        "--mcp-config: server \"files\": servers of type stdio are not available yet",
    ] {
        let told = lines.iter().filter(|line| line.contains(part));
        assert_eq!(told.count(), 1, "{part}: {lines:#?}");
    }
    assert_eq!(lines.len(), 7, "{lines:#?}");
    assert!(
        lines
            .iter()
            .all(|line| line.starts_with("agentx: warning: "))
    );
    for (option, told) in [
        ("--session-mirror", "--session-mirror is not available: "),
        (
            "--resume-session-at=x",
            "--resume-session-at is not available: ",
        ),
        (
            "--resume-drops-turn=x",
            "--resume-drops-turn is not available: ",
        ),
        ("--no-such-flag", "unknown option \"--no-such-flag\": "),
        ("--no-such-flag=--x", "unknown option \"--no-such-flag\": "),
        (
            "--model=other",
            "--model: no such model; the provider \"main\" serves",
        ),
        (
            "--disallowedTools=Bash(rm *)",
            "--disallowedTools: rule \"Bash(rm *)\": ",
        ),
        (
            r#"--settings={"sandbox":{"enabled":true}}"#,
            "--settings: sandbox.enabled: ",
        ),
        ("--mcp-config={}", "--mcp-config: mcpServers: missing"),
        (
            "--system-prompt-file=none",
            "--system-prompt-file none: No such file",
        ),
    ] {
        let outcome = run(&world, &[option], &line("hi"));
        assert_eq!(
            (outcome.status, &*outcome.stdout),
            (Some(2), ""),
            "{option}"
        );
        let begin = format!("agentx: error: {told}");
        assert!(
            outcome.stderr.starts_with(&begin),
            "{option}: {}",
            outcome.stderr
        );
        assert_eq!(outcome.stderr.lines().count(), 1);
    }
}

/// A prompt that leads to a call of `Write`, and what it would write.
fn writes(world: &World) -> (String, PathBuf) {
    let path = world.work().join("made");
    let input = json!({"file_path": &path, "content": "x"});
    let steps = json!([{"tool_calls": [{"name": "Write", "input": input}]}, {"text": "{results}"}]);
    (line(&script(&steps)), path)
}

// covers: DEC-31
#[test]
fn rules_and_modes_of_the_command_line_hold() {
    for (options, written) in [
        (&["--allowedTools", "Read,Write"][..], true),
        (&["--allowedTools=Write", "--permission-prompts=none"], true),
        (&["--permission-mode=acceptEdits"], true),
        (
            &["--permission-mode=auto", "--permission-prompts=none"],
            false,
        ),
        (&["--permission-prompts", "none"], false),
        (
            &[
                "--permission-mode=bypassPermissions",
                "--disallowedTools=Write(made)",
            ],
            false,
        ),
        (
            &[
                "--permission-mode=bypassPermissions",
                "--disallowedTools=Write",
            ],
            false,
        ),
        (
            &["--permission-mode=bypassPermissions", "--tools", "Read"],
            false,
        ),
        (&["--permission-mode=bypassPermissions", "--tools="], false),
        (&["--permission-mode=bypassPermissions"], true),
    ] {
        let world = World::scripted();
        let (prompt, path) = writes(&world);
        let outcome = run(&world, options, &prompt);
        assert_eq!(path.exists(), written, "{options:?}: {outcome:?}");
        assert!(!outcome.stdout.contains("can_use_tool"), "{options:?}");
        assert_eq!(outcome.status, Some(0));
    }
}

// covers: DEC-31
#[test]
fn the_host_is_asked_with_and_without_the_flag() {
    for options in [&[][..], &["--permission-prompt-tool", "stdio"]] {
        let world = World::scripted();
        let (prompt, path) = writes(&world);
        let arguments = [&BEGIN, options, &END].concat();
        let mut agent = Agent::start(linked(&world, &arguments));
        agent.send(prompt.trim_end());
        let question = agent.until_type("control_request");
        let allow = json!({"behavior": "allow", "updatedInput": question["request"]["input"]});
        agent.send(&crate::support::decide(&question, &allow));
        agent.until_type("result");
        assert_eq!(agent.end().status, Some(0));
        assert!(path.exists());
    }
}

#[test]
fn tools_that_are_switched_off_are_not_offered() {
    let world = World::scripted();
    let offered = |options: &[&str]| -> Vec<String> {
        let outcome = run(&world, options, &line("hi"));
        let records = outcome.records();
        let init = records.iter().find(|record| record["subtype"] == "init");
        let tools = init.unwrap()["tools"].as_array().unwrap();
        tools
            .iter()
            .map(|name| name.as_str().unwrap().to_owned())
            .collect()
    };
    let all = offered(&[]);
    assert!(all.contains(&"Bash".to_owned()));
    assert_eq!(offered(&["--tools", "default"]), all);
    assert_eq!(offered(&["--tools", "Read,Bash"]), ["Read", "Bash"]);
    assert_eq!(offered(&["--tools", ""]), Vec::<String>::new());
    assert_eq!(
        offered(&["--tools=Read,Bash", "--disallowedTools=Bash"]),
        ["Read"]
    );
}

#[test]
fn files_of_settings_count_as_the_host_says() {
    let world = World::scripted();
    let deny = r#"{"permissions":{"deny":["Write"]}}"#;
    world.write_private("settings.json", deny);
    for (options, written) in [
        (&[][..], false),
        (&["--setting-sources=user"], false),
        (&["--setting-sources="], true),
        (&["--setting-sources", "project,local"], true),
    ] {
        let (prompt, path) = writes(&world);
        let mode = ["--permission-mode=bypassPermissions"];
        run(&world, &[options, &mode].concat(), &prompt);
        assert_eq!(path.exists(), written, "{options:?}");
        drop(std::fs::remove_file(path));
    }
}

#[test]
fn a_session_is_gone_on_with_in_both_spellings() {
    let world = World::scripted();
    let first = answered(&run(&world, &[], &line("hi")));
    let id = first["session_id"].as_str().unwrap().to_owned();
    let joined = format!("--resume={id}");
    for options in [&[&*joined][..], &["--resume", &id], &["--continue"]] {
        let outcome = run(&world, options, &line("more"));
        assert_eq!((outcome.status, &*outcome.stderr), (Some(0), ""));
        assert_eq!(answered(&outcome)["session_id"], *id, "{options:?}");
    }
    let outcome = run(&world, &[&joined, "--fork-session"], &line("more"));
    assert_ne!(answered(&outcome)["session_id"], *id);
    let unknown = run(&world, &["--resume=-x"], &line("more"));
    unknown.failed("no stored session has the id \"-x\"");
}

#[test]
fn logs_of_a_host_go_to_stderr_or_into_a_file() {
    let world = World::scripted();
    let outcome = run(&world, &["--debug"], &line("hi"));
    assert_eq!(outcome.status, Some(0));
    assert!(outcome.stderr.contains("DEBUG"), "{}", outcome.stderr);
    let file = world.root().join("log");
    let option = format!("--debug-file={}", file.display());
    let outcome = run(&world, &[&option], &line("hi"));
    assert_eq!((outcome.status, &*outcome.stderr), (Some(0), ""));
    let log = std::fs::read_to_string(&file).unwrap();
    assert!(
        log.contains("DEBUG") && log.contains("session starts"),
        "{log}"
    );
    let refused = run(&world, &["--debug-file=/none/log"], &line("hi"));
    refused.refused("--debug-file /none/log: No such file or directory (os error 2)");
    // One that nobody reads is not waited for.
    let pipe = world.root().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let pipe = pipe.display().to_string();
    let refused = run(&world, &["--debug-file", &pipe], &line("hi"));
    assert_eq!(refused.status, Some(2));
    let told = format!("--debug-file {pipe}: ");
    assert!(refused.stderr.contains(&told), "{}", refused.stderr);
}

// covers: DEC-43
#[test]
fn records_tell_of_hooks_where_the_host_asks_for_them() {
    let world = World::scripted();
    let hook = json!({"type": "command", "command": ["/bin/sh", "-c", "true"]});
    let hooks = json!({"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}});
    let settings = format!("--settings={hooks}");
    for (options, told) in [
        (&[&*settings][..], 0),
        (&[&*settings, "--include-hook-events"], 2),
    ] {
        let outcome = run(&world, options, &line("hi"));
        assert_eq!((outcome.status, &*outcome.stderr), (Some(0), ""));
        let kinds = kinds(&outcome.records());
        let hooks = kinds.iter().filter(|kind| kind.starts_with("hook_"));
        assert_eq!(hooks.count(), told, "{kinds:?}");
    }
}

// covers: DEC-30, DEC-39
#[test]
fn a_route_in_what_a_turn_tells_first_is_a_registry_error() {
    let world = World::with(&json!([
        from_prompt("main", &json!({"default": true})),
        {"id": "other", "type": "azure_openai", "azure_openai": {
            "endpoint": "https://h.example", "model": "m", "deployment": "secret-deployment",
            "api_key": "sk-SENTINEL-4471-Zq9", "api_version": "v1"}},
    ]));
    let folder = world.work().join("secret-deployment");
    std::fs::create_dir(&folder).unwrap();
    let told = "azure_openai.deployment: the value occurs in what would be told in public";
    // A server of the host is spoken to before that.
    let server = "--mcp-config={\"mcpServers\":{\"calc\":{\"type\":\"sdk\"}}}";
    for more in [&[][..], &[server], &["--await-initialize"]] {
        let mut command = linked(&world, &[&PLAIN, more].concat());
        command.current_dir(&folder);
        let refused = finish(command, &line("hi"));
        assert_eq!(
            (refused.status, &*refused.stdout),
            (Some(2), ""),
            "{more:?}"
        );
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
    }
}

// covers: DEC-47
#[test]
fn existing_hosts_are_told_whose_api_it_is() {
    let key = "sk-SENTINEL-4471-Zq9";
    let azure = json!({"id": "a", "type": "azure_openai", "azure_openai": {
        "endpoint": "https://h.example", "model": "m", "deployment": "dep-4471",
        "api_key": key, "api_version": "v1"}});
    let anthropic =
        json!({"id": "a", "type": "anthropic", "anthropic": {"model": "m", "api_key": key}});
    let asked = control("req_1", "initialize") + "\n";
    for (entry, name) in [
        (azure.clone(), json!("foundry")),
        (anthropic, json!("firstParty")),
        (from_prompt("a", &json!({})), Value::Null),
    ] {
        let world = World::with(&json!([entry]));
        let outcome = finish(linked(&world, &PLAIN), &asked);
        let account = &outcome.records()[0]["response"]["response"]["account"];
        assert_eq!(account["apiKeySource"], "user", "{outcome:?}");
        assert_eq!(account["apiProvider"], name);
    }
    let world = World::with(&json!([azure]));
    let own = world.run(
        &[
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
        ],
        &asked,
    );
    let account = &own.records()[1]["response"]["response"]["account"];
    assert_eq!(account["apiKeySource"], "user", "{own:?}");
    assert_eq!(account.get("apiProvider"), None);
}
