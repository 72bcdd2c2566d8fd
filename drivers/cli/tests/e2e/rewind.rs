//! Files put back for a host, in the profile `reference`.

use crate::support::{Agent, DUPLEX, World, kinds, script, tool_results};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

const HOSTED: [&str; 4] = ["--profile", "reference", "--permission-mode", "acceptEdits"];

fn uuid(n: u32) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

/// A prompt of this number whose model calls these tools, one after another.
fn prompt(n: u32, calls: &[(&str, Value)]) -> String {
    let step =
        |(name, input): &(&str, Value)| json!({"tool_calls": [{"name": name, "input": input}]});
    let mut steps: Vec<Value> = calls.iter().map(step).collect();
    steps.push(json!({"text": "done"}));
    let message = json!({"role": "user", "content": script(&json!(steps))});
    json!({"type": "user", "uuid": uuid(n), "message": message, "parent_tool_use_id": null})
        .to_string()
}

fn turn(agent: &mut Agent, n: u32, calls: &[(&str, Value)]) {
    agent.send(&prompt(n, calls));
    agent.until(|record| record["prompt_uuid"] == uuid(n).as_str());
}

/// Asks for an operation; gives the response.
fn ask(agent: &mut Agent, request: &Value) -> Value {
    let record = json!({"type": "control_request", "request_id": "r", "request": request});
    agent.send(&record.to_string());
    agent.until_type("control_response")["response"].take()
}

fn rewind(agent: &mut Agent, n: u32, dry_run: bool) -> Value {
    let request =
        json!({"subtype": "rewind_files", "user_message_id": uuid(n), "dry_run": dry_run});
    let mut response = ask(agent, &request);
    assert_eq!(response["subtype"], "success", "{response}");
    response["response"].take()
}

fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("Write", json!({"file_path": path, "content": content}))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

// covers: DEC-47
#[test]
fn files_go_back_to_where_a_prompt_began() {
    let world = World::scripted();
    let work = fs::canonicalize(world.work()).unwrap();
    let (old, new) = (work.join("old.txt"), work.join("deep/new.txt"));
    fs::write(&old, "one\ntwo\nthree\n").unwrap();
    let mut agent = world.duplex(&HOSTED);
    let edit = json!({"file_path": "old.txt", "old_string": "two", "new_string": "2\n2b"});
    turn(
        &mut agent,
        1,
        &[("Edit", edit), write("deep/new.txt", "first\n")],
    );
    turn(&mut agent, 2, &[write("deep/new.txt", "second\nmore\n")]);
    let shown = |path: &Path| path.to_str().unwrap().to_owned();
    let all = json!({"canRewind": true, "filesChanged": [shown(&new), shown(&old)], "insertions": 1, "deletions": 4});
    assert_eq!(rewind(&mut agent, 1, true), all);
    assert_eq!(read(&old), "one\n2\n2b\nthree\n");
    assert_eq!(
        rewind(&mut agent, 2, false),
        json!({"canRewind": true, "filesChanged": [shown(&new)], "insertions": 1, "deletions": 2})
    );
    assert_eq!(read(&new), "first\n");
    let rest = json!({"canRewind": true, "filesChanged": [shown(&new), shown(&old)], "insertions": 1, "deletions": 3});
    assert_eq!(rewind(&mut agent, 1, false), rest);
    assert_eq!(read(&old), "one\ntwo\nthree\n");
    assert!(!new.exists());
    let unknown = rewind(&mut agent, 9, false);
    assert_eq!(unknown["canRewind"], false);
    assert!(unknown["error"].as_str().unwrap().contains(&uuid(9)));
    // Nothing of what was kept lies about, and the session goes on.
    assert_eq!(fs::read_dir(world.temporary()).unwrap().count(), 0);
    turn(&mut agent, 3, &[write("old.txt", "again\n")]);
    let outcome = agent.end();
    assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
    assert_eq!(outcome.stderr, "");
}

#[test]
fn what_the_host_has_seen_and_others_changed_is_kept() {
    let world = World::scripted();
    let path = world.work().join("f");
    let at = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let change = |content: &str, seconds| {
        fs::write(&path, content).unwrap();
        let file = fs::File::options().append(true).open(&path).unwrap();
        file.set_modified(at(seconds)).unwrap();
    };
    change("seen", 1_000);
    let mut agent = world.duplex(&HOSTED);
    let seed = |mtime: f64| json!({"subtype": "seed_read_state", "path": "f", "mtime": mtime});
    let done = json!({"subtype": "success", "request_id": "r"});
    assert_eq!(ask(&mut agent, &seed(1_000_000.5)), done);
    change("theirs", 2_000);
    turn(&mut agent, 1, &[write("f", "mine")]);
    assert_eq!(read(&path), "theirs");
    let results = tool_results(&agent.seen);
    assert_eq!(
        results.last().unwrap(),
        "`f` changed since it was read; read it again."
    );
    assert_eq!(
        ask(&mut agent, &seed(1_000_000.5)),
        done,
        "newer, and so not seen"
    );
    turn(&mut agent, 2, &[write("f", "mine")]);
    assert_eq!(read(&path), "theirs");
    assert_eq!(ask(&mut agent, &seed(2_000_000.0)), done);
    turn(&mut agent, 3, &[write("f", "mine")]);
    assert_eq!(read(&path), "mine");
    change("theirs again", 3_000);
    let told = rewind(&mut agent, 3, false);
    assert_eq!(told["canRewind"], false);
    let error = told["error"].as_str().unwrap();
    assert!(error.contains("/f` was left as it is"), "{error}");
    assert_eq!(read(&path), "theirs again");
    let bad = json!({"subtype": "seed_read_state", "path": "none", "mtime": 1});
    let refused = ask(&mut agent, &bad);
    assert_eq!(refused["error"], "seed_read_state: `none` does not exist.");
    assert_eq!(agent.end().status, Some(0));
}

#[test]
fn a_later_process_and_a_host_that_does_not_want_it_keep_nothing() {
    let world = World::scripted();
    let mut agent = world.duplex(&HOSTED);
    turn(&mut agent, 1, &[write("f", "new")]);
    agent.end();
    let mut agent = world.duplex(&[&HOSTED[..], &["--continue"]].concat());
    turn(&mut agent, 2, &[]);
    let told = rewind(&mut agent, 1, false);
    assert_eq!(told["canRewind"], false);
    let error = told["error"].as_str().unwrap();
    assert!(error.contains("did not run in this process"), "{error}");
    assert_eq!(read(&world.work().join("f")), "new");
    agent.end();
    let mut command = world.command(&[&DUPLEX[..], &HOSTED].concat());
    command.env("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "false");
    let mut agent = Agent::start(command);
    turn(&mut agent, 3, &[write("g", "new")]);
    let told = rewind(&mut agent, 3, false);
    assert_eq!(
        told,
        json!({"canRewind": false, "error": "file checkpoints are switched off for this session"})
    );
    agent.end();
    // The other profile has no such operation.
    let mut agent = world.duplex(&[]);
    let request = json!({"subtype": "rewind_files", "user_message_id": uuid(1)});
    let refused = ask(&mut agent, &request);
    assert_eq!(
        refused["error"],
        "unsupported control request \"rewind_files\""
    );
    let records = agent.end().records();
    assert!(kinds(&records).contains(&"control_response".to_owned()));
}
