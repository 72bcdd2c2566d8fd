//! The examples of the drivers, run beside the binary that they start.

use crate::support::{World, script};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines that an example may have at most: fewer than 40.
const LINES: usize = 39;

/// Each example by its name here and its file.
const EXAMPLES: [(&str, &str); 3] = [
    ("client_tokio", "tokio/examples/host.rs"),
    ("client_async_std", "async-std/examples/host_async_std.rs"),
    ("client_blocking", "mio/examples/host_blocking.rs"),
];

/// The example's program. Cargo builds it along with the tests, unless it was told
/// to build these alone.
fn built(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_agentx")).parent().unwrap();
    let program = folder.join("examples").join(name);
    if !program.exists() {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package", "agentx", "--example", name]);
        if folder.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().unwrap().success(), "{name} cannot be built");
    }
    program
}

#[test]
fn an_example_drives_the_binary_and_decides_about_its_calls() {
    let call = |tool: &str, input| json!({"name": tool, "input": input});
    let file = json!({"file_path": "file", "content": "text"});
    let steps = json!([
        {"tool_calls": [call("Bash", json!({"command": "echo hi"})), call("Write", file)]},
        {"text": "it said {results}"}
    ]);
    for (name, _) in EXAMPLES {
        let world = World::scripted();
        let output = Command::new(built(name))
            .args([env!("CARGO_BIN_EXE_agentx"), &script(&steps)])
            .env_clear()
            .env("AGENTX_HOME", world.home())
            .current_dir(world.work())
            .output()
            .unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{name}: {errors}");
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said, "it said hi\n|Write may not run here\n", "{name}");
        assert!(!world.work().join("file").exists());
    }
}

#[test]
fn an_example_tells_of_an_agent_that_ends() {
    for (name, _) in EXAMPLES {
        let output = Command::new(built(name))
            .args([env!("CARGO_BIN_EXE_agentx"), "hello"])
            .env_clear()
            .env("AGENTX_HOME", "/nowhere")
            .output()
            .unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}: {errors}");
        assert!(errors.contains("Ended("), "{name}: {errors}");
        assert!(errors.contains("auth.json"), "{name}: {errors}");
    }
}

#[test]
fn an_example_is_short() {
    let drivers = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (_, file) in EXAMPLES {
        let lines = std::fs::read_to_string(drivers.join(file)).unwrap();
        let lines = lines.lines().count();
        assert!(lines <= LINES, "{file}: {lines} lines");
    }
}
