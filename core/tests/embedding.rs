//! The example of `docs/embedding.md`: short, and a session that works.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

/// Lines that the example may have.
const LINES: usize = 79;

/// The example. A run of this test alone has not built it yet.
fn example() -> PathBuf {
    let test = std::env::current_exe().expect("the path of the test");
    let build = test.ancestors().nth(2).expect("the build folder");
    let path = build.join("examples/poll_loop");
    if !path.exists() {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--example", "poll_loop"]);
        let profile = build.ends_with("release").then_some("--release");
        let built = cargo.args(profile).status().expect("cargo");
        assert!(built.success(), "the example does not build");
    }
    path
}

struct Session {
    child: Child,
    input: Option<ChildStdin>,
    records: Box<dyn BufRead>,
}

impl Session {
    fn start() -> Self {
        let mut command = Command::new(example());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the example is built");
        let output = child.stdout.take().expect("a pipe");
        Self {
            input: child.stdin.take(),
            records: Box::new(BufReader::new(output)),
            child,
        }
    }

    fn write(&mut self, text: &str) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(text.as_bytes()).expect("a reader");
    }

    /// Records up to one of this type, or to the end.
    fn until(&mut self, kind: &str) -> Vec<serde_json::Value> {
        let mut records = Vec::new();
        let mut line = String::new();
        while self.records.read_line(&mut line).expect("text") > 0 {
            let record: serde_json::Value = serde_json::from_str(&line).expect("JSON");
            let found = record["type"] == kind;
            records.push(record);
            line.clear();
            if found {
                break;
            }
        }
        records
    }

    fn end(mut self) -> i32 {
        self.input = None;
        self.until("nothing");
        let status = self.child.wait().expect("it ends");
        status.code().expect("an exit")
    }
}

fn prompt(text: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}},\"parent_tool_use_id\":null}}\n"
    )
}

#[test]
fn the_example_of_embedding_is_short_and_without_a_driver() {
    let source = include_str!("../examples/poll_loop.rs");
    assert!(source.lines().count() <= LINES, "over {LINES} lines");
    let uses = source.lines().filter(|line| line.starts_with("use "));
    let ours = ["use agentx_core::", "use rustix::", "use std::"];
    for line in uses {
        assert!(ours.iter().any(|ours| line.starts_with(ours)), "{line}");
    }
    let page = include_str!("../../docs/embedding.md");
    assert!(page.contains("core/examples/poll_loop.rs"));
}

// covers: WIRE-003
#[test]
fn the_example_of_embedding_answers_prompts_in_order() {
    let mut session = Session::start();
    assert_eq!(session.until("system").len(), 1);
    let texts = ["one two three", "four"];
    session.write(&texts.map(prompt).concat());
    for text in texts {
        let result = session.until("result").pop().expect("a result");
        assert_eq!(result["result"], text);
        assert_eq!(result["is_error"], false);
    }
    assert_eq!(session.end(), 0);
}

#[test]
fn the_example_of_embedding_can_be_interrupted() {
    let mut session = Session::start();
    // Longer than any test waits for.
    session.write(&prompt(&"word ".repeat(100_000)));
    session.until("system");
    session.write(
        "{\"type\":\"control_request\",\"request_id\":\"stop\",\"request\":{\"subtype\":\"interrupt\"}}\n",
    );
    session.until("control_response");
    let result = session.until("result").pop().expect("a result");
    assert_eq!(result["subtype"], "error_during_execution");
    session.write(&prompt("go on"));
    let result = session.until("result").pop().expect("a result");
    assert_eq!(result["result"], "go on");
    assert_eq!(session.end(), 0);
}

#[test]
fn the_example_of_embedding_ends_on_unreadable_input() {
    let mut session = Session::start();
    session.write("{\n");
    assert_eq!(session.end(), 1);
}
