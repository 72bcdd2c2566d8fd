//! Outputs that are slow, or fail.

use crate::support::{
    Bench, Door, Silent, Sink, channel_of_news, configured, control, duplex, input, kinds, run,
    script, user, world,
};
use agentx_core::agent::Config;
use agentx_core::limits::Limits;
use agentx_pump::pump::{News, Streams};
use agentx_pump::world::Stdio;
use serde_json::json;
use std::io::{self, Write};

/// An output that takes nothing until this door is open.
struct Slow(Door, Sink);

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.pass();
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn say(bench: &mut Bench, line: &str) {
    bench
        .pump
        .take(News::Input(format!("{line}\n").into_bytes()));
    bench.settle();
}

// covers: DEC-36
#[test]
fn unsent_output_pauses_the_model_first_and_stdin_last() {
    let limits = Limits {
        progress_pause_bytes: 5_000,
        input_pause_bytes: 20_000,
        ..Limits::DEFAULT
    };
    let config = Config {
        limits,
        ..configured()
    };
    let (door, output) = (Door::default(), Sink::default());
    let streams = Streams {
        input: Box::new(Silent),
        output: Box::new(Slow(door.clone(), output.clone())),
        errors: Box::new(Sink::default()),
    };
    let mut bench = Bench::start(config, world(), duplex(), streams, channel_of_news());
    assert!(bench.pump.wants_progress());
    let mut asked = 0;
    while bench.pump.wants_progress() {
        asked += 1;
        say(&mut bench, &control(&format!("c{asked}")));
    }
    // A prompt is taken all the same, and so is the interrupt behind it.
    let holding = script(&json!([{"hold": true}]));
    say(&mut bench, &holding);
    assert_eq!(bench.drives.len(), 1, "its request runs");
    let interrupt = json!({"type": "control_request", "request_id": "stop", "request": {"subtype": "interrupt"}});
    say(&mut bench, &interrupt.to_string());
    assert_eq!(bench.drives.len(), 0, "its request was stopped");
    assert!(!bench.pump.wants_progress());
    // Enough for the second mark: what comes now waits in front of the session.
    for n in 0..200 {
        say(&mut bench, &control(&format!("d{n}")));
    }
    say(&mut bench, &holding);
    assert_eq!(bench.drives.len(), 0, "it was not read yet");
    door.open();
    while bench.drives.is_empty() {
        bench.step();
    }
    say(&mut bench, &interrupt.to_string());
    bench.pump.take(News::InputEnd);
    assert_eq!(bench.end(), 1, "the last turn was cancelled");
    let records = output.records();
    let answers = records
        .iter()
        .filter(|record| record["type"] == "control_response");
    assert_eq!(answers.count(), asked + 200 + 2, "nothing was lost");
}

/// An output that panics at its third record.
struct Panicking(Sink, usize);

impl Write for Panicking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        self.1 += 1;
        assert!(self.1 < 3, "a fault of the writer");
        self.0.write(&bytes[..end])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

// covers: ACC-18, WIRE-015, DEC-11
#[test]
fn an_output_that_panics_has_failed() {
    let (output, errors) = (Sink::default(), Sink::default());
    let streams = Streams {
        input: Box::new(Silent),
        output: Box::new(Panicking(output.clone(), 0)),
        errors: Box::new(errors.clone()),
    };
    let mut bench = Bench::start(configured(), world(), duplex(), streams, channel_of_news());
    say(&mut bench, &script(&json!([{"hold": true}])));
    say(&mut bench, &control("c1"));
    assert_eq!(bench.end(), 1);
    assert_eq!(kinds(&output.records()), ["init", "running"]);
    let text = "agentx: error: stdout cannot be written; the session ends\n";
    assert_eq!(errors.text(), text, "told once");
}

/// An output that cannot be flushed.
struct Unflushed;

impl Write for Unflushed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::Error::other("no room"))
    }
}

// covers: DEC-11, DEC-20
#[test]
fn an_output_that_fails_after_the_exit_is_a_failure() {
    let errors = Sink::default();
    let streams = Streams {
        input: input(&[user("hello")]),
        output: Box::new(Unflushed),
        errors: Box::new(errors.clone()),
    };
    assert_eq!(run(configured(), world(), streams), 1);
    assert_eq!(errors.text(), "agentx: error: stdout cannot be written\n");
}

// covers: ACC-15, DEC-11
#[test]
fn a_remote_flush_that_passed_makes_no_success_of_records_that_were_not_written() {
    let config = Config {
        flush_remote: true,
        ..configured()
    };
    let status = |output: Box<dyn Write + Send>| {
        let streams = Streams {
            input: input(&[user("hello")]),
            output,
            errors: Box::new(Sink::default()),
        };
        run(config.clone(), world(), streams)
    };
    let written = Sink::default();
    assert_eq!(status(Box::new(written.clone())), 0);
    assert_eq!(
        kinds(&written.records()),
        ["init", "running", "assistant", "success", "idle"]
    );
    assert_eq!(status(Box::new(Unflushed)), 1);
}

/// Runs one prompt; gives what is on stdout.
fn text_of(prompt: &str, terminal: bool) -> String {
    let output = Sink::default();
    let streams = Streams {
        input: Box::new(Silent),
        output: Box::new(output.clone()),
        errors: Box::new(Sink::default()),
    };
    let stdio = Stdio::Text {
        prompts: vec![prompt.to_owned()],
        terminal,
    };
    let bench = Bench::start(configured(), world(), stdio, streams, channel_of_news());
    assert_eq!(bench.end(), 0);
    output.text()
}

#[test]
fn an_answer_steers_no_terminal_and_a_pipe_gets_it_as_it_is() {
    let prompt = "\u{1b}]0;mine\u{7}\ta\nb\r\u{9b}2J";
    assert_eq!(
        text_of(prompt, true),
        "echo: \\u{1b}]0;mine\\u{7}\ta\nb\\r\\u{9b}2J\n"
    );
    assert_eq!(text_of(prompt, false), format!("echo: {prompt}\n"));
}
