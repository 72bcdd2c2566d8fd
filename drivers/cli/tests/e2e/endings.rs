//! Signals, closed pipes, slow readers.

use crate::support::{
    Agent, DUPLEX, Signal, World, control, finish, kinds, runs, script, until_gone, user,
};
use serde_json::json;
use std::fs;
use std::io::Read as _;
use std::process::Command;

/// A prompt whose turn does not end by itself.
fn holding() -> String {
    user(&script(&json!([{"deltas": ["begun"], "hold": true}])))
}

// covers: DEC-20
#[test]
fn a_signal_settles_the_turn_and_the_queue() {
    for (signal, status) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let world = World::scripted();
        let mut agent = world.duplex(&["--include-partial-messages"]);
        agent.send(&holding());
        agent.send(&user("waiting"));
        agent.until_type("stream_event");
        // The second prompt is in the queue when an answer to a later record came.
        agent.send(&control("c1", "mcp_status"));
        agent.until_type("control_response");
        let before = agent.seen.len();
        agent.signal(signal);
        let outcome = agent.wait();
        assert_eq!(outcome.status, Some(status), "{}", outcome.stderr);
        assert_eq!(outcome.stderr, "");
        let records = outcome.records();
        let after = kinds(&records[before..]);
        let settled = [
            "assistant",
            "error_during_execution",
            "error_during_execution",
            "idle",
        ];
        assert!(after.ends_with(&settled.map(str::to_owned)), "{after:?}");
    }
}

#[test]
fn a_signal_ends_the_processes_of_tools() {
    let world = World::scripted();
    let mut agent = world.duplex(&["--permission-mode", "bypassPermissions"]);
    let command = "echo $$ > pid.part; mv pid.part pid; exec sleep 600";
    agent.send(&user(&script(&json!([
        {"tool_calls": [{"name": "Bash", "input": {"command": command, "timeout_ms": 600_000}}]}
    ]))));
    let pid = loop {
        match fs::read_to_string(world.work().join("pid")) {
            Ok(pid) => break pid,
            Err(_) => std::thread::yield_now(),
        }
    };
    assert!(runs(&pid));
    agent.signal(Signal::TERM);
    let outcome = agent.wait();
    assert_eq!(outcome.status, Some(143), "{}", outcome.stderr);
    assert!(!runs(&pid));
}

/// The binary, started by a program that hands something of its own down.
fn started_by(parent: &[&str], world: &World, arguments: &[&str]) -> Command {
    let binary = world.command(arguments);
    let mut command = Command::new(parent[0]);
    command.args(&parent[1..]).arg(binary.get_program());
    command.args(binary.get_args()).current_dir(world.work());
    for (name, value) in binary.get_envs() {
        command.env(name, value.unwrap());
    }
    command
}

#[cfg(target_os = "linux")]
#[test]
fn a_parent_that_ignores_its_children_hides_no_status_of_a_tool() {
    let world = World::scripted();
    let steps = json!([
        {"tool_calls": [{"name": "Bash", "input": {"command": "echo told; exit 3"}}]},
        {"text": "{results}"}
    ]);
    let prompt = script(&steps);
    let arguments = ["-p", "--permission-mode", "bypassPermissions", &prompt];
    let parent = ["env", "--ignore-signal=CHLD"];
    let outcome = finish(started_by(&parent, &world, &arguments), "");
    assert_eq!(outcome.stdout, "told\n[Exit status 3.]\n");
    assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_hangup_that_the_parent_ignores_ends_nothing() {
    let world = World::scripted();
    let steps = json!([
        {"tool_calls": [{"name": "Bash", "input": {"command": "kill -HUP $PPID; echo hung up"}}]},
        {"text": "{results}"}
    ]);
    let prompt = script(&steps);
    let arguments = ["-p", "--permission-mode", "bypassPermissions", &prompt];
    let outcome = finish(started_by(&["env"], &world, &arguments), "");
    assert_eq!(outcome.status, Some(129), "{}", outcome.stderr);
    let parent = ["env", "--ignore-signal=HUP"];
    let outcome = finish(started_by(&parent, &world, &arguments), "");
    assert_eq!(outcome.stdout.trim(), "hung up");
    assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
}

// covers: DEC-11
#[test]
fn a_file_that_may_not_grow_is_an_output_that_cannot_be_written() {
    let world = World::scripted();
    let parent = ["sh", "-c", "ulimit -f 1; exec \"$@\" >out", "-"];
    let prompt = "x".repeat(4_096);
    let arguments = ["-p", "--no-session-persistence", &prompt];
    let outcome = finish(started_by(&parent, &world, &arguments), "");
    let told = "agentx: error: stdout cannot be written\n";
    assert_eq!((outcome.status, &*outcome.stderr), (Some(1), told));
}

/// Starts a command that SIGTERM does not end, with a child of the same kind;
/// their process ids once both run.
fn stubborn_tool(world: &World, agent: &mut Agent) -> Vec<String> {
    let command = "trap '' TERM; sleep 600 & echo $$ $! > pid.part; mv pid.part pid; \
                   while :; do sleep 600; done";
    agent.send(&user(&script(&json!([
        {"tool_calls": [{"name": "Bash", "input": {"command": command, "timeout_ms": 600_000}}]}
    ]))));
    loop {
        match fs::read_to_string(world.work().join("pid")) {
            Ok(pids) => break pids.split_whitespace().map(str::to_owned).collect(),
            Err(_) => std::thread::yield_now(),
        }
    }
}

// covers: DEC-11
#[test]
fn a_second_signal_leaves_no_process_of_a_tool_behind() {
    let world = World::scripted();
    let mut agent = world.duplex(&["--permission-mode", "bypassPermissions"]);
    let pids = stubborn_tool(&world, &mut agent);
    assert!(pids.iter().all(|pid| runs(pid)) && pids.len() == 2);
    agent.signal(Signal::TERM);
    agent.signal(Signal::INT);
    let outcome = agent.wait();
    assert!(matches!(outcome.status, Some(130 | 143)), "{outcome:?}");
    pids.iter().for_each(|pid| until_gone(pid));
}

// covers: DEC-11
#[test]
fn a_closed_stdout_stops_and_reaps_the_tools() {
    let world = World::scripted();
    let arguments = [&DUPLEX[..], &["--permission-mode", "bypassPermissions"]].concat();
    let (mut agent, stdout) = Agent::start_unread(world.command(&arguments));
    let pids = stubborn_tool(&world, &mut agent);
    drop(stdout);
    agent.try_send(&control("c1", "get_context_usage"));
    let outcome = agent.wait();
    assert_eq!(outcome.status, Some(1));
    assert_eq!(
        outcome.stderr,
        "agentx: error: stdout cannot be written; the session ends\n"
    );
    pids.iter().for_each(|pid| until_gone(pid));
}

#[test]
fn a_second_signal_ends_at_once() {
    let world = World::scripted();
    let arguments = [&DUPLEX[..], &["--replay-user-messages"]].concat();
    let (mut agent, stdout) = Agent::start_unread(world.command(&arguments));
    // More than a pipe holds, so that the end waits for a reader.
    agent.send(&user(&"x".repeat(1 << 20)));
    wait_for_output(&stdout);
    // Two kinds, which cannot fall together into one.
    agent.signal(Signal::TERM);
    agent.signal(Signal::INT);
    let outcome = agent.wait();
    assert!(matches!(outcome.status, Some(130 | 143)), "{outcome:?}");
    // Nobody waited for the reader: that would have been told.
    assert_eq!(outcome.stderr, "");
    drop(stdout);
}

#[test]
fn a_signal_before_the_session_ends_the_process_with_its_status() {
    let world = World::scripted();
    let (agent, stdout) = Agent::start_unread(world.command(&["-p"]));
    // It reads its prompt from stdin, which stays open.
    wait_until_signals_are_taken(&agent);
    agent.signal(Signal::TERM);
    let outcome = agent.wait();
    assert_eq!(outcome.status, Some(143), "{}", outcome.stderr);
    drop(stdout);
}

/// Waits until a first byte can be read, without reading it.
fn wait_for_output(stdout: &std::io::PipeReader) {
    let mut waited = [rustix::event::PollFd::new(
        stdout,
        rustix::event::PollFlags::IN,
    )];
    assert_eq!(rustix::event::poll(&mut waited, None), Ok(1));
}

/// Waits until the process has a handler for SIGTERM.
fn wait_until_signals_are_taken(agent: &Agent) {
    let path = format!("/proc/{}/status", agent.pid());
    let taken = || {
        let status = fs::read_to_string(&path).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
        // Bit 14 is SIGTERM; the three are installed in this order, HUP first.
        caught & (1 << 14) != 0
    };
    while !taken() {
        std::thread::yield_now();
    }
}

// covers: DEC-11, WIRE-015
#[test]
fn a_closed_stdout_ends_the_session_without_a_crash_text() {
    let world = World::scripted();
    let (mut agent, mut stdout) = Agent::start_unread(world.command(&DUPLEX));
    agent.send(&holding());
    let mut piece = [0; 64];
    assert!(stdout.read(&mut piece).unwrap() > 0);
    drop(stdout);
    agent.try_send(&control("c1", "get_context_usage"));
    let outcome = agent.wait();
    assert_eq!(outcome.status, Some(1));
    assert_eq!(
        outcome.stderr,
        "agentx: error: stdout cannot be written; the session ends\n"
    );
}

// covers: DEC-11
#[test]
fn an_answer_that_nobody_takes_is_a_failure() {
    let world = World::scripted();
    let (agent, stdout) = Agent::start_unread(world.command(&["-p", "x"]));
    drop(stdout);
    let outcome = agent.end();
    assert_eq!(outcome.status, Some(1));
    assert_eq!(outcome.stderr, "agentx: error: stdout cannot be written\n");
}

// covers: DEC-36
#[test]
fn a_slow_reader_loses_nothing() {
    let world = World::scripted();
    let (mut agent, stdout) = Agent::start_unread(world.command(&DUPLEX));
    let long = "0123456789abcdef".repeat(1 << 17);
    for _ in 0..3 {
        agent.send(&user(&long));
    }
    agent.close_stdin();
    wait_for_output(&stdout);
    agent.read(stdout);
    let outcome = agent.wait();
    assert_eq!(outcome.status, Some(0));
    let records = outcome.records();
    let results: Vec<_> = records
        .iter()
        .filter(|record| record["type"] == "result")
        .map(|record| record["result"].as_str().unwrap())
        .collect();
    assert_eq!(results, vec![format!("echo: {long}"); 3]);
}

#[test]
fn a_closed_stderr_changes_nothing() {
    let world = World::scripted();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = world.command(&["-p", "x"]);
    command.env("AGENTX_LOG", "trace");
    command.stdin(std::process::Stdio::null()).stderr(writer);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, b"echo: x\n");
}

// covers: DEC-14, DEC-20
#[test]
fn an_input_that_cannot_be_read_is_told_and_is_no_success() {
    let world = World::scripted();
    let mut command = world.command(&DUPLEX);
    // A folder can be opened, but not read.
    command.stdin(fs::File::open(world.work()).unwrap());
    let output = command.output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap().as_str()
        ),
        (
            Some(1),
            "agentx: error: stdin cannot be read: Is a directory (os error 21)\n"
        )
    );
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
}
