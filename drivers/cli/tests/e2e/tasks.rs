//! Background tasks: `Bash` with `run_in_background` through the binary.

use crate::support::{
    Agent, Signal, World, auth, control, from_prompt, kinds, runs, script, tool_results,
    until_gone, user,
};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

const BOLD: [&str; 2] = ["--permission-mode", "bypassPermissions"];

/// A prompt whose first answer runs these commands in the background, and whose
/// next ones say `waiting` and `done`.
fn tasks(commands: &[&str]) -> String {
    let calls: Vec<_> = commands
        .iter()
        .map(|command| {
            let input = json!({"command": command, "description": "work", "run_in_background": true,
                               "timeout_ms": 600_000});
            json!({"name": "Bash", "input": input})
        })
        .collect();
    user(&script(&json!([
        {"tool_calls": calls}, {"text": "waiting"}, {"text": "done"}
    ])))
}

/// What stands in a file, once it is there.
fn content(path: &Path) -> String {
    loop {
        match fs::read_to_string(path) {
            Ok(text) => break text,
            Err(_) => std::thread::yield_now(),
        }
    }
}

/// A command that tells its process and that of a child, and ends by SIGKILL alone.
const STUBBORN: &str = "trap '' TERM; sleep 600 & echo $$ $! > pid.part; mv pid.part pid; \
                        while :; do sleep 600; done";

fn pids(world: &World) -> Vec<String> {
    let text = content(&world.work().join("pid"));
    text.split_whitespace().map(str::to_owned).collect()
}

fn find<'r>(records: &'r [Value], subtype: &str) -> Vec<&'r Value> {
    let is_it = |record: &&Value| record["subtype"] == subtype;
    records.iter().filter(is_it).collect()
}

fn output_file(record: &Value) -> PathBuf {
    record["output_file"].as_str().unwrap().into()
}

/// Waits for the answer to the calls, after which tasks run.
fn until_waiting(agent: &mut Agent) {
    agent.until(|record| record["message"]["content"][0]["text"] == "waiting");
}

// covers: WIRE-004, DEC-14, DEC-17
#[test]
fn a_task_holds_the_result_after_the_end_of_the_input_too() {
    let world = World::scripted();
    let mut agent = world.duplex(&BOLD);
    // Nothing can end it before the test lets it.
    agent.send(&tasks(&[
        "while [ ! -e go ]; do sleep 0.05; done; echo built; exit 0",
    ]));
    agent.close_stdin();
    until_waiting(&mut agent);
    fs::write(world.work().join("go"), "").unwrap();
    let outcome = agent.wait();
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
    let records = outcome.records();
    assert_eq!(
        kinds(&records)[1..],
        [
            "running",
            "assistant",
            "task_started",
            "user",
            "assistant",
            "task_notification",
            "assistant",
            "success",
            "idle"
        ]
    );
    let started = find(&records, "task_started")[0];
    assert_eq!(started["task_type"], "local_bash");
    let told = find(&records, "task_notification")[0];
    assert_eq!(
        (&told["status"], &told["summary"]),
        (&json!("completed"), &json!("work: built"))
    );
    let path = output_file(told);
    let (id, path_text) = (told["task_id"].as_str().unwrap(), path.to_str().unwrap());
    assert_eq!(
        tool_results(&records),
        [format!("Task {id} started; output: {path_text}")]
    );
    let result = find(&records, "success")[0];
    assert_eq!(
        (&result["result"], &result["num_turns"]),
        (&json!("done"), &json!(3))
    );
    // For its owner alone, below the system's temporary directory, and kept.
    let folder = path.parent().unwrap();
    assert_eq!(folder.parent(), Some(world.temporary().as_path()));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(folder), mode(&path)), (0o700, 0o600));
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "built\n[The task is complete.]\n"
    );
}

// covers: WIRE-004
#[test]
fn a_task_and_a_call_tell_that_they_still_run() {
    let world = World::scripted();
    let mut agent = world.duplex(&[&BOLD[..], &["--include-partial-messages"]].concat());
    let until = |file: &str| format!("while [ ! -e {file} ]; do sleep 0.05; done");
    let task = json!({"command": until("a"), "run_in_background": true});
    agent.send(&user(&script(&json!([
        {"tool_calls": [
            {"id": "t1", "name": "Bash", "input": task},
            {"id": "t2", "name": "Bash", "input": {"command": until("b")}}
        ]},
        {"text": "waiting"}, {"text": "done"}
    ]))));
    let call = agent.until(|r| r["type"] == "tool_progress" && r["tool_use_id"] == "t2");
    assert_eq!(call.get("task_id"), None);
    agent.until_type("task_progress");
    fs::write(world.work().join("b"), "").unwrap();
    until_waiting(&mut agent);
    fs::write(world.work().join("a"), "").unwrap();
    assert_eq!(agent.until_type("result")["result"], "done");
    assert_eq!(agent.end().status, Some(0));
}

// covers: WIRE-004
#[test]
fn tasks_run_side_by_side_and_the_last_one_lets_the_turn_end() {
    let world = World::scripted();
    let mut agent = world.duplex(&BOLD);
    // Each ends only once the other has begun.
    let meet = |mine: &str, other: &str| {
        format!("touch {mine}; while [ ! -e {other} ]; do sleep 0.05; done; echo {mine}; exit 3")
    };
    let (a, b) = (meet("a", "b"), meet("b", "a"));
    agent.send(&tasks(&[&a, &b]));
    let result = agent.until_type("result");
    assert_eq!(result["result"], "done");
    let told = find(&agent.seen, "task_notification");
    assert_eq!(told.len(), 2);
    for told in told {
        assert_eq!(told["status"], "failed");
        assert_eq!(told["summary"], "work: [Exit status 3.]");
        let text = fs::read_to_string(output_file(told)).unwrap();
        assert!(text.ends_with("\n[Exit status 3.]\n"), "{text}");
    }
    agent.end();
}

// covers: ACC-12, WIRE-004
#[test]
fn an_interrupt_ends_a_task_that_ignores_sigterm() {
    let world = World::scripted();
    let mut agent = world.duplex(&BOLD);
    agent.send(&tasks(&[STUBBORN]));
    until_waiting(&mut agent);
    let pids = pids(&world);
    assert!(pids.iter().all(|pid| runs(pid)) && pids.len() == 2);
    let before = agent.seen.len();
    agent.send(&control("i1", "interrupt"));
    agent.until(|record| record["state"] == "idle");
    assert_eq!(
        kinds(&agent.seen[before..]),
        [
            "control_response",
            "task_notification",
            "error_during_execution",
            "idle"
        ]
    );
    assert_eq!(agent.seen[before + 1]["status"], "stopped");
    pids.iter().for_each(|pid| until_gone(pid));
    // The session goes on.
    agent.send(&user("hello"));
    assert_eq!(agent.until_type("result")["result"], "echo: hello");
    assert_eq!(agent.end().status, Some(0));
}

// covers: WIRE-004, DEC-20
#[test]
fn a_signal_settles_tasks_and_leaves_no_process() {
    for command in [
        STUBBORN,
        "echo $$ > pid.part; mv pid.part pid; exec sleep 600",
    ] {
        let world = World::scripted();
        let mut agent = world.duplex(&BOLD);
        agent.send(&tasks(&[command]));
        until_waiting(&mut agent);
        let pids = pids(&world);
        let before = agent.seen.len();
        agent.signal(Signal::TERM);
        let outcome = agent.wait();
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(143), ""));
        assert_eq!(
            kinds(&outcome.records()[before..]),
            ["task_notification", "error_during_execution", "idle"]
        );
        assert!(!runs(&pids[0]), "it was reaped");
        pids.iter().for_each(|pid| until_gone(pid));
    }
}

// covers: WIRE-004, DEC-11
#[test]
fn whatever_ends_the_process_leaves_none_of_a_task() {
    let world = World::scripted();
    let mut agent = world.duplex(&BOLD);
    agent.send(&tasks(&[STUBBORN]));
    until_waiting(&mut agent);
    let pids = pids(&world);
    agent.signal(Signal::TERM);
    agent.signal(Signal::INT);
    let outcome = agent.wait();
    assert!(matches!(outcome.status, Some(130 | 143)), "{outcome:?}");
    pids.iter().for_each(|pid| until_gone(pid));

    let world = World::scripted();
    let mut agent = world.duplex(&BOLD);
    agent.send(&tasks(&[STUBBORN]));
    until_waiting(&mut agent);
    let pids = self::pids(&world);
    agent.send("{");
    let outcome = agent.wait();
    assert_eq!(outcome.status, Some(1));
    pids.iter().for_each(|pid| until_gone(pid));
}

// covers: DEC-30, WIRE-004
#[test]
fn no_key_reaches_an_output_file() {
    let key = "sk-very-secret-0123456789";
    let world = World::empty();
    world.make_home();
    let other = json!({"id": "other", "type": "openai_compatible", "openai_compatible":
        {"base_url": "http://127.0.0.1:1/v1", "model": "m", "api_key": key, "api": "responses"}});
    let main = from_prompt("main", &json!({"default": true}));
    world.write_private("auth.json", &auth(&json!([main, other])));
    let mut agent = world.duplex(&BOLD);
    agent.send(&tasks(&[
        "printf 'sk-very-%s' secret-; sleep 0.1; echo 0123456789; printf 'sk-very-%s' sec >&2",
    ]));
    let told = agent.until_type("task_notification");
    let text = fs::read_to_string(output_file(&told)).unwrap();
    assert!(text.starts_with("[redacted]\n"), "{text}");
    let outcome = agent.end();
    assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
    assert!(!outcome.stdout.contains(key) && !text.contains(key));
}

// covers: WIRE-004
#[test]
fn a_command_tool_of_the_settings_runs_as_a_task() {
    let world = World::scripted();
    let script = "read line; while [ ! -e go ]; do sleep 0.05; done; echo note >&2; \
                  echo \"{\\\"content\\\":[{\\\"type\\\":\\\"text\\\",\\\"text\\\":\\\"answer\\\"}]}\"";
    let settings = json!({"tools": [{
        "name": "lookup", "description": "Looks up.", "input_schema": {"type": "object"},
        "command": ["/bin/sh", "-c", script], "background": true, "permission": "allow"
    }]});
    world.write_private("settings.json", &settings.to_string());
    let mut agent = world.duplex(&[]);
    agent.send(&user(&crate::support::script(&json!([
        {"tool_calls": [{"name": "lookup", "input": {"n": 1}}]}, {"text": "waiting"}, {"text": "done"}
    ]))));
    until_waiting(&mut agent);
    let started = find(&agent.seen, "task_started")[0].clone();
    assert_eq!(
        (&started["task_type"], &started["description"]),
        (&json!("local_tool"), &json!("lookup"))
    );
    fs::write(world.work().join("go"), "").unwrap();
    let told = agent.until_type("task_notification");
    assert_eq!(told["summary"], "lookup: answer");
    let text = fs::read_to_string(output_file(&told)).unwrap();
    assert!(
        text.contains("note\n") && text.contains("\"text\":\"answer\""),
        "{text}"
    );
    assert_eq!(agent.until_type("result")["result"], "done");
    assert_eq!(agent.end().status, Some(0));
}

// covers: WIRE-004
#[test]
fn a_run_of_one_prompt_waits_for_its_tasks() {
    let world = World::scripted();
    let prompt = script(&json!([
        {"tool_calls": [{"name": "Bash", "input": {"command": "sleep 0.3; touch made", "run_in_background": true}}]},
        {"text": "waiting"}, {"text": "it is there"}
    ]));
    let outcome = world.run(&[&["--print"], &BOLD[..], &[&prompt]].concat(), "");
    assert_eq!(
        (outcome.status, outcome.stdout.as_str()),
        (Some(0), "it is there\n")
    );
    assert!(world.work().join("made").exists());
}

// covers: DEC-32, WIRE-004
#[test]
fn a_session_that_was_killed_calls_its_task_unconfirmed() {
    let world = World::scripted();
    let mut agent = world.duplex(&BOLD);
    agent.send(&tasks(&[
        "echo $$ > pid.part; mv pid.part pid; exec sleep 600",
    ]));
    until_waiting(&mut agent);
    let pids = pids(&world);
    let started = find(&agent.seen, "task_started")[0].clone();
    let id = started["session_id"].as_str().unwrap().to_owned();
    agent.signal(Signal::KILL);
    agent.wait();
    // What nobody is left to end goes on; the next session does not claim it.
    let pid = rustix::process::Pid::from_raw(pids[0].parse().unwrap()).unwrap();
    rustix::process::kill_process_group(pid, Signal::KILL).unwrap();
    let shown = world.run(&["sessions", "show", &id], "");
    let task = started["task_id"].as_str().unwrap();
    assert!(
        shown.stdout.contains(&format!("task {task} of ")),
        "{}",
        shown.stdout
    );
    let outcome = world.run(&["--print", "--resume", &id, "what became of it?"], "");
    assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
}
