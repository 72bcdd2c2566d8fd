//! One prompt, one answer.

use crate::support::{World, kinds, script, tool_results};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd;
use std::process::Stdio;
use std::time::Duration;

#[test]
fn the_answer_is_all_there_is_on_stdout() {
    let world = World::scripted();
    for arguments in [
        &["-p", "hi"][..],
        &["--print", "--output-format=text", "hi"],
        &["hi"],
    ] {
        let outcome = world.run(arguments, "");
        assert_eq!(
            (
                outcome.status,
                outcome.stdout.as_str(),
                outcome.stderr.as_str()
            ),
            (Some(0), "echo: hi\n", "")
        );
    }
}

#[test]
fn a_prompt_may_come_on_stdin() {
    let world = World::scripted();
    let said = |arguments: &[&str], stdin: &str| world.run(arguments, stdin).stdout;
    assert_eq!(said(&["-p"], "piped\n"), "echo: piped\n");
    assert_eq!(said(&["-p", "look:"], "a\nb\n"), "echo: look:\na\nb\n");
    let long = "x".repeat(1 << 20);
    assert_eq!(said(&["-p"], &long), format!("echo: {long}\n"));
}

// covers: DEC-20
#[test]
fn an_empty_prompt_is_a_usage_error() {
    let world = World::scripted();
    let fault = "the prompt is empty: give one as an argument or on stdin";
    for (arguments, stdin) in [
        (&["-p"][..], ""),
        (&["-p", ""], "\n"),
        (&["-p", " \t"], ""),
        (&["--output-format", "stream-json"], "\n\n"),
    ] {
        world.run(arguments, stdin).refused(fault);
    }
    let long = "x".repeat((8 << 20) + 1);
    let refused = world.run(&["-p"], &long);
    refused.refused("stdin: the prompt is over 8388608 bytes");
}

// covers: DEC-20
#[test]
fn a_failed_turn_is_told_on_stderr() {
    let world = World::scripted();
    let prompt = script(&json!([{"error": {"status": 401, "message": "who are you"}}]));
    let outcome = world.run(&["-p", &prompt], "");
    assert_eq!((outcome.status, outcome.stdout.as_str()), (Some(1), ""));
    assert!(
        outcome
            .stderr
            .starts_with("agentx: error: API error: authentication_failed (status 401)"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn records_of_one_prompt_without_a_host() {
    let world = World::scripted();
    let prompt = script(&json!([
        {"tool_calls": [{"name": "Write", "input": {"file_path": "a", "content": "b"}}]},
        {"text": "refused"}
    ]));
    // stdin is the prompt's rest, never records.
    let stdin = "{\"type\":\"control_request\"}\n";
    let outcome = world.run(&["--output-format", "stream-json", &prompt], stdin);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    let records = outcome.records();
    assert_eq!(
        kinds(&records),
        [
            "init",
            "running",
            "assistant",
            "user",
            "assistant",
            "success",
            "idle"
        ]
    );
    assert_eq!(tool_results(&records).len(), 1);
    assert!(!world.work().join("a").exists());
}

#[test]
fn one_document_tells_how_the_prompt_ended() {
    let world = World::scripted();
    let run = |prompt: &str| world.run(&["-p", "--output-format", "json", prompt], "");
    let outcome = run("hi");
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    let [result] = outcome.records().try_into().unwrap();
    assert_eq!(result["subtype"], "success");
    assert_eq!(result["result"], "echo: hi");
    assert_eq!(result["num_turns"], 1);
    assert_eq!(result["session_id"].as_str().unwrap().len(), 36);
    // A tool that ran leaves no record of its own.
    let calls = json!([{"name": "CurrentTime", "input": {}}]);
    let outcome = run(&script(&json!([{"tool_calls": calls}, {"text": "done"}])));
    assert_eq!(outcome.records()[0]["result"], "done");
    assert_eq!(outcome.records().len(), 1);
    let outcome = run(&script(
        &json!([{"error": {"status": 401, "message": "who"}}]),
    ));
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(1), ""));
    let [result] = outcome.records().try_into().unwrap();
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["is_error"], true);
}

// covers: DEC-41, DEC-42
#[test]
fn an_answer_that_is_cut_at_its_limit_says_so_on_stderr() {
    let world = World::scripted();
    let prompt = script(&json!([{"text": "half a wo", "stop_reason": "max_tokens"}]));
    let outcome = world.run(&["-p", &prompt], "");
    assert_eq!(
        (
            outcome.status,
            outcome.stdout.as_str(),
            outcome.stderr.as_str()
        ),
        (
            Some(0),
            "half a wo\n",
            "agentx: warning: the answer reached its limit of tokens and is cut short (max_tokens)\n"
        )
    );
}

#[test]
fn a_pipe_gets_the_text_as_the_model_said_it() {
    let world = World::scripted();
    let outcome = world.run(&["-p", "\u{1b}[31mred\r\u{7}"], "");
    assert_eq!(outcome.stdout, "echo: \u{1b}[31mred\r\u{7}\n");
}

/// A pipe of which one end does not wait.
fn nonblocking(end: impl AsFd) {
    let flags = fcntl_getfl(&end).unwrap();
    fcntl_setfl(&end, flags | OFlags::NONBLOCK).unwrap();
}

#[test]
fn a_stdin_that_does_not_wait_is_read_to_its_end() {
    let world = World::scripted();
    let (reader, mut writer) = std::io::pipe().unwrap();
    nonblocking(&reader);
    let mut command = world.command(&["-p"]);
    command.stdin(reader).stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    drop(command);
    for piece in ["a prompt ", "in pieces\n"] {
        std::thread::sleep(Duration::from_millis(100));
        writer.write_all(piece.as_bytes()).unwrap();
    }
    drop(writer);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"echo: a prompt in pieces\n");
}

#[test]
fn a_stdout_that_does_not_wait_gets_all_there_is() {
    let world = World::scripted();
    let expected = world.run(&["schema"], "").stdout;
    let (mut reader, writer) = std::io::pipe().unwrap();
    nonblocking(&writer);
    let mut command = world.command(&["schema"]);
    command.stdout(writer);
    let mut child = command.spawn().unwrap();
    drop(command);
    // More than a pipe holds, so it comes to wait for this.
    std::thread::sleep(Duration::from_millis(100));
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(text.len(), expected.len());
}
