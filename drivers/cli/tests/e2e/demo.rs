//! `agentx demo`.

use crate::support::{World, bare, finish, kinds, tool_results};
use std::fs;
use std::process::Stdio;

#[test]
fn a_session_is_shown_with_nothing_configured() {
    let world = World::empty();
    let mut command = bare(&["demo"]);
    command.env("TMPDIR", world.temporary());
    let shown = finish(command, "");
    assert_eq!((shown.status, shown.stderr.as_str()), (Some(0), ""));
    let heads: Vec<&str> = shown
        .stdout
        .lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|word| !word.is_empty())
        .collect();
    assert_eq!(
        heads,
        [
            "session", "user", "agent", "call", "question", "host", "result", "agent", "call",
            "result", "agent", "end"
        ]
    );
    for part in [
        "May Write run?",
        "\"behavior\":\"allow\"",
        "success: 3 model requests",
    ] {
        assert!(shown.stdout.contains(part), "{part} in {}", shown.stdout);
    }
    assert!(!shown.stdout.contains('\x1b'));
    assert_eq!(fs::read_dir(world.temporary()).unwrap().count(), 0);
}

#[test]
fn a_demo_may_show_its_records() {
    let world = World::empty();
    let shown = world.run(&["demo", "--output-format", "stream-json"], "");
    assert_eq!((shown.status, shown.stderr.as_str()), (Some(0), ""));
    let records = shown.records();
    let kinds = kinds(&records);
    assert_eq!(kinds[0], "init");
    assert_eq!(
        kinds
            .iter()
            .filter(|kind| *kind == "control_request")
            .count(),
        1
    );
    assert_eq!(tool_results(&records).len(), 2);
    assert_eq!(fs::read_dir(world.temporary()).unwrap().count(), 0);
}

#[test]
fn a_demo_that_nobody_reads_ends_without_a_crash_text() {
    let world = World::empty();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = world.command(&["demo"]);
    command
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(fs::read_dir(world.temporary()).unwrap().count(), 0);
}

#[test]
fn a_demo_needs_a_temporary_folder() {
    let world = World::empty();
    let mut command = bare(&["demo"]);
    command.env("TMPDIR", world.temporary().join("missing"));
    finish(command, "")
        .refused("a temporary folder cannot be made: No such file or directory (os error 2)");
}
