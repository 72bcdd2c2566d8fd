//! The command line and the environment.

use crate::support::{World, auth, bare, finish, from_prompt};
use serde_json::json;
use std::process::Stdio;

#[test]
fn help_and_version_need_nothing() {
    let help = finish(bare(&["--help"]), "");
    assert_eq!((help.status, help.stderr.as_str()), (Some(0), ""));
    assert!(help.stdout.contains("agentx demo"), "{}", help.stdout);
    let version = format!("{} (agentx)\n", env!("CARGO_PKG_VERSION"));
    for option in ["--version", "-v"] {
        let said = finish(bare(&[option]), "");
        assert_eq!(
            (said.status, said.stdout.as_str(), said.stderr.as_str()),
            (Some(0), version.as_str(), "")
        );
    }
}

#[test]
fn help_that_cannot_be_written_is_a_failure_without_a_crash_text() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = bare(&["--help"]);
    command.stdout(writer).stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn what_is_not_there_yet_is_refused_by_name() {
    let refused = finish(bare(&["-p", "--attachment", "x"]), "");
    refused.refused("--attachment is not available yet");
}

#[test]
fn what_nobody_knows_is_refused_with_what_was_expected() {
    let refused = finish(bare(&["-p", "--driver", "smol", "x"]), "");
    refused
        .refused("invalid value 'smol' for '--driver <DRIVER>': expected tokio, async-std or mio");
    let refused = finish(bare(&["--nonsense"]), "");
    assert_eq!((refused.status, refused.stdout.as_str()), (Some(2), ""));
    let start = "agentx: error: unknown option \"--nonsense\": expected one of --print, ";
    assert!(refused.stderr.starts_with(start), "{}", refused.stderr);
    let refused = finish(bare(&["-p", "--max-turns", "1", "--max-turns", "2"]), "");
    refused.refused("the argument '--max-turns <N>' cannot be used multiple times");
    let refused = finish(bare(&["--input-format", "stream-json"]), "");
    refused.refused("--input-format stream-json needs --output-format stream-json");
}

#[test]
fn the_environment_is_checked() {
    let world = World::scripted();
    let with = |name: &str, value: &str, prompt: &str| {
        let mut command = world.command(&["-p", prompt]);
        command.env(name, value);
        finish(command, "")
    };
    let refused = with("AGENTX_HOME", "relative/home", "x");
    refused.refused("AGENTX_HOME: expected an absolute path");
    let refused = with("AGENTX_PROFILE", "other", "x");
    refused.refused("AGENTX_PROFILE: expected standalone or reference");
    for profile in ["standalone", "reference", "", " "] {
        assert_eq!(with("AGENTX_PROFILE", profile, "x").stdout, "echo: x\n");
    }
    // What the command line says is not looked for elsewhere.
    let mut command = world.command(&["-p", "--profile", "standalone", "x"]);
    command.env("AGENTX_PROFILE", "other");
    assert_eq!(finish(command, "").stdout, "echo: x\n");
}

#[test]
fn logs_go_to_stderr_and_only_when_asked_for() {
    let world = World::scripted();
    let logged = |filter: &str| {
        let mut command = world.command(&["-p", "x"]);
        command.env("AGENTX_LOG", filter);
        finish(command, "")
    };
    let said = logged("info");
    assert_eq!((said.status, said.stdout.as_str()), (Some(0), "echo: x\n"));
    assert!(said.stderr.contains("session starts"), "{}", said.stderr);
    assert_eq!(logged("").stderr, "");
    let refused = logged("a=b=c");
    assert_eq!((refused.status, refused.stdout.as_str()), (Some(2), ""));
    let start = "agentx: error: AGENTX_LOG: ";
    assert!(refused.stderr.starts_with(start), "{}", refused.stderr);
}

#[test]
fn the_working_folder_is_checked() {
    let world = World::scripted();
    let there = world.work().join("there");
    std::fs::create_dir(&there).unwrap();
    std::fs::write(world.work().join("file"), "").unwrap();
    let init = world.run(
        &["--output-format", "stream-json", "--cwd", "there", "x"],
        "",
    );
    let there = there.canonicalize().unwrap();
    assert_eq!(init.records()[0]["cwd"], there.to_str().unwrap());
    let refused = world.run(&["-p", "--cwd", "elsewhere", "x"], "");
    refused.refused("--cwd elsewhere: No such file or directory (os error 2)");
    let file = world.work().canonicalize().unwrap().join("file");
    let refused = world.run(&["-p", "--cwd", "file", "x"], "");
    refused.refused(&format!("--cwd {}: not a folder", file.display()));
}

// covers: DEC-40
#[test]
fn a_budget_needs_prices() {
    let world = World::scripted();
    let refused = world.run(&["-p", "--max-budget-usd", "1", "x"], "");
    refused
        .refused("--max-budget-usd: expected prices, but auth.json has no pricing for id \"main\"");
}

#[test]
fn the_ca_file_of_the_selected_entry_is_checked_at_start() {
    let world = World::empty();
    let file = world.work().join("roots.pem");
    let entry =
        |id: &str, path: &std::path::Path| from_prompt(id, &json!({"ca_file": path.to_str()}));
    let none = world.work().join("none.pem");
    world.make_home();
    let providers = json!([
        entry("bad", &file),
        entry("none", &none),
        from_prompt("good", &json!({}))
    ]);
    world.write_private("auth.json", &auth(&providers));
    std::fs::write(&file, "no certificate").unwrap();
    for (id, fault) in [
        ("bad", "no certificate in PEM form"),
        ("none", "No such file or directory (os error 2)"),
    ] {
        let refused = world.run(&["-p", "--provider", id, "x"], "");
        refused.refused(&format!("auth.json: id {id:?}: ca_file: {fault}"));
    }
    let outcome = world.run(&["-p", "--provider", "good", "x"], "");
    assert_eq!((outcome.status, &*outcome.stdout), (Some(0), "echo: x\n"));
}

#[test]
fn a_stdout_that_takes_nothing_is_told() {
    let world = World::scripted();
    for arguments in [&["--help"][..], &["demo"], &["-p", "x"]] {
        let mut command = world.command(arguments);
        command.stdin(Stdio::null());
        command.stdout(std::fs::File::create("/dev/full").unwrap());
        let output = command.output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(
            stderr.starts_with("agentx: error: stdout cannot be written"),
            "{arguments:?}: {stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

// covers: DEC-30
#[test]
fn a_key_that_records_spell_by_themselves_is_refused_before_any_output() {
    for key in [r#"","type":""#, "parent_tool_use_id"] {
        let world = World::with(&json!([{
            "id": "main", "type": "openai",
            "openai": {"model": "m", "api_key": key, "api": "responses"}
        }]));
        let refused = world.run(&["--output-format", "stream-json", "x"], "");
        refused.refused(
            "auth.json: id \"main\": openai.api_key: the key occurs in the records of every session",
        );
    }
}
