//! `rewind_files` and `seed_read_state`: which checkpoint a prompt has, when files
//! may be put back, and what the host is told.

use agentx_conformance::session::{Bench, config, hooked, reference, uuid};
use agentx_core::agent::{Config, Profile, Reference};
use agentx_core::checkpoint::{Bookkeeping, Checkpoint, RewindReport, Seeding};
use agentx_core::effect::Request;
use agentx_core::guard::Guard;
use agentx_core::hook::HookEvent;
use agentx_core::store::Restored;
use serde_json::{Value, json};

fn operation(b: &mut Bench, id: &str, request: &Value) {
    let record = json!({"type": "control_request", "request_id": id, "request": request});
    b.line(&record.to_string());
}

fn rewind(b: &mut Bench, id: &str, message: &str) {
    let request = json!({"subtype": "rewind_files", "user_message_id": message});
    operation(b, id, &request);
}

fn seed(b: &mut Bench, id: &str) {
    let request = json!({"subtype": "seed_read_state", "path": "a.txt", "mtime": 1700000000123.75});
    operation(b, id, &request);
}

/// The newest record, which answers this request.
fn answer(b: &mut Bench, id: &str) -> Value {
    let mut record = b.records().pop().expect("an answer");
    assert_eq!(record["response"]["request_id"], id, "{record}");
    record["response"].take()
}

/// The payload of the newest record, a success.
fn payload(b: &mut Bench, id: &str) -> Value {
    let mut response = answer(b, id);
    assert_eq!(response["subtype"], "success", "{response}");
    response["response"].take()
}

/// Runs this prompt to its end, with one call of a tool; gives what is noted of
/// the files of that call.
fn run_prompt(b: &mut Bench, n: u32) -> Bookkeeping {
    b.prompt(n, "go");
    let call = format!("t{n}");
    b.calls(&[(&call, "Look", "{}")]);
    let noted = b.tool(&call).1.bookkeeping;
    b.tool_says(&call, "seen");
    b.says("done");
    b.records();
    noted
}

fn report(changed: &[&str], failures: &[&str]) -> RewindReport {
    let texts = |list: &[&str]| list.iter().map(ToString::to_string).collect();
    RewindReport {
        changed: texts(changed),
        insertions: 3,
        deletions: 2,
        failures: texts(failures),
    }
}

// covers: DEC-47
#[test]
fn files_are_put_back_to_where_a_prompt_began() {
    let mut b = Bench::new(reference());
    let first = run_prompt(&mut b, 1);
    let second = run_prompt(&mut b, 2);
    assert!(first.reads && second.reads);
    assert!(first.checkpoint < second.checkpoint);
    rewind(&mut b, "r1", &uuid(1));
    assert_eq!(b.records().len(), 0, "the answer waits");
    let (_, request) = b.rewinding().expect("files are put back");
    assert_eq!(Some(request.to), first.checkpoint);
    assert!(second.checkpoint < Some(request.at));
    assert!(!request.dry_run);
    assert_eq!(&*request.directories, ["/repo".to_string()]);
    b.rewinds(Ok(report(&["/repo/a", "/repo/b"], &[])));
    assert_eq!(
        payload(&mut b, "r1").to_string(),
        json!({"canRewind": true, "filesChanged": ["/repo/a", "/repo/b"], "insertions": 3, "deletions": 2}).to_string()
    );
    // What is changed next belongs to a checkpoint of its own.
    let after = run_prompt(&mut b, 3);
    assert!(second.checkpoint < after.checkpoint);
    let dry = json!({"subtype": "rewind_files", "user_message_id": uuid(2), "dry_run": true});
    operation(&mut b, "r2", &dry);
    let (_, request) = b.rewinding().expect("files are looked at");
    assert_eq!(Some(request.to), second.checkpoint);
    assert!(request.dry_run);
    b.rewinds(Ok(RewindReport::default()));
    assert_eq!(
        payload(&mut b, "r2"),
        json!({"canRewind": true, "filesChanged": [], "insertions": 0, "deletions": 0})
    );
}

#[test]
fn files_that_were_left_are_told() {
    let mut b = Bench::new(reference());
    run_prompt(&mut b, 1);
    rewind(&mut b, "r1", &uuid(1));
    b.rewinds(Ok(report(
        &["/repo/a"],
        &["`/repo/b` is a folder.", "`/repo/c` is a pipe."],
    )));
    let told = payload(&mut b, "r1");
    assert_eq!(told["canRewind"], true);
    assert_eq!(told["error"], "`/repo/b` is a folder. `/repo/c` is a pipe.");
    // Nothing but failures is no rewind.
    rewind(&mut b, "r2", &uuid(1));
    b.rewinds(Ok(report(&[], &["`/repo/b` is a folder."])));
    assert_eq!(payload(&mut b, "r2")["canRewind"], false);
    rewind(&mut b, "r3", &uuid(1));
    b.rewinds(Err(
        "the files of that message are no longer kept".to_string()
    ));
    assert_eq!(
        payload(&mut b, "r3"),
        json!({"canRewind": false, "error": "the files of that message are no longer kept"})
    );
}

#[test]
fn an_unknown_message_is_a_success_that_says_no() {
    let mut b = Bench::new(reference());
    b.user_with("old", json!({"uuid": uuid(7), "session_id": b.session.session_id().to_string(), "isReplay": true}));
    b.records();
    run_prompt(&mut b, 1);
    for (message, why) in [
        (uuid(9), "there is no such prompt"),
        (uuid(7), "did not run in this process, or too long ago"),
        ("\"\n".to_string(), r#"message "\"\n": there is no"#),
        ("é".repeat(1_000_000), &format!("\"{}\":", "é".repeat(128))),
    ] {
        rewind(&mut b, "r", &message);
        let told = payload(&mut b, "r");
        assert_eq!(told["canRewind"], false);
        let error = told["error"].as_str().unwrap();
        assert!(error.contains(why), "{error}");
        assert_eq!(told.as_object().unwrap().len(), 2);
    }
    assert!(b.open.is_empty());
    operation(&mut b, "r", &json!({"subtype": "rewind_files"}));
    assert_eq!(
        answer(&mut b, "r")["error"],
        "rewind_files: missing user_message_id"
    );
}

#[test]
fn prompts_of_an_earlier_process_have_no_checkpoint() {
    let mut restored = Restored::default();
    restored.prompts.push(uuid(4).into());
    let mut b = Bench::new(Config {
        resume: Some(restored),
        ..reference()
    });
    rewind(&mut b, "r", &uuid(4));
    let told = payload(&mut b, "r");
    assert_eq!(told["canRewind"], false);
    let error = told["error"].as_str().unwrap();
    assert!(error.contains("did not run in this process"), "{error}");
}

#[test]
fn no_file_is_put_back_while_a_prompt_runs() {
    let busy = "a turn is running; files can be put back when it is over";
    let mut b = Bench::new(reference());
    run_prompt(&mut b, 1);
    b.prompt(2, "go");
    b.records();
    rewind(&mut b, "r1", &uuid(1));
    assert_eq!(
        payload(&mut b, "r1"),
        json!({"canRewind": false, "error": busy})
    );
    b.says("done");
    b.records();
    rewind(&mut b, "r2", &uuid(1));
    assert!(b.rewinding().is_some(), "after its result it may be");
    // A prompt whose own hooks still look at it is about to run.
    let mut b = Bench::new(Config {
        profile: Profile::Reference(Reference::default()),
        ..hooked(&[HookEvent::UserPromptSubmit])
    });
    b.prompt(1, "go");
    rewind(&mut b, "r3", &uuid(1));
    assert_eq!(payload(&mut b, "r3")["error"], busy);
}

#[test]
fn prompts_wait_for_files_that_are_put_back() {
    let mut b = Bench::new(reference());
    run_prompt(&mut b, 1);
    rewind(&mut b, "r1", &uuid(1));
    seed(&mut b, "s1");
    rewind(&mut b, "r2", &uuid(1));
    b.prompt(2, "go");
    b.user_with("urgent", json!({"uuid": uuid(3), "priority": "now"}));
    b.control("i", "interrupt");
    assert_eq!(b.briefs(), ["ack i"], "nothing runs that it would end");
    b.rewinds(Ok(RewindReport::default()));
    b.seeds(Seeding::Seeded);
    assert_eq!(b.briefs(), ["ack r1", "ack s1"]);
    b.rewinds(Ok(RewindReport::default()));
    assert_eq!(b.briefs()[..3], ["ack r2", "system/init", "state running"]);
    b.says("urgent first");
    b.says("then the other");
}

#[test]
fn the_end_of_the_input_waits_for_files() {
    let mut b = Bench::new(reference());
    run_prompt(&mut b, 1);
    rewind(&mut b, "r1", &uuid(1));
    b.eof();
    assert_eq!(b.exit, None);
    b.rewinds(Ok(report(&["/repo/a"], &[])));
    assert_eq!(payload(&mut b, "r1")["canRewind"], true);
    assert_eq!(b.exit, Some(0));
}

#[test]
fn whatever_ends_the_session_answers_first() {
    let ended = "the session ended before this was done";
    for end in [|b: &mut Bench| b.shutdown(143), |b: &mut Bench| b.line("{")] {
        let mut b = Bench::new(reference());
        run_prompt(&mut b, 1);
        rewind(&mut b, "r1", &uuid(1));
        seed(&mut b, "s1");
        end(&mut b);
        assert!(b.open.is_empty());
        assert!(b.exit.is_some());
        let records = b.records();
        for (record, id) in records.iter().zip(["r1", "s1"]) {
            assert_eq!(record["response"]["request_id"], id);
            assert_eq!(record["response"]["error"], ended);
        }
    }
    let mut b = Bench::new(reference());
    run_prompt(&mut b, 1);
    rewind(&mut b, "r1", &uuid(1));
    b.feed(agentx_core::agent::Input::WriteFailed);
    assert!(b.open.is_empty());
    assert_eq!(b.exit, Some(1));
}

// covers: DEC-34
#[test]
fn a_long_list_is_cut_and_says_so() {
    let mut config = reference();
    config.limits.rewind_list_bytes = 14;
    config.limits.rewind_failures = 1;
    let mut b = Bench::new(config);
    run_prompt(&mut b, 1);
    rewind(&mut b, "r1", &uuid(1));
    b.rewinds(Ok(report(
        &["/repo/a", "/repo/b", "/repo/c"],
        &["first.", "second.", "third."],
    )));
    let told = payload(&mut b, "r1");
    assert_eq!(told["filesChanged"], json!(["/repo/a", "/repo/b"]));
    assert_eq!(
        told["error"],
        "first. 2 more files were left as they are. 1 more files were put back than are listed."
    );
}

#[test]
fn only_so_many_prompts_are_remembered() {
    let mut config = reference();
    config.limits.checkpoints = 2;
    let mut b = Bench::new(config);
    for n in 1..=3 {
        run_prompt(&mut b, n);
    }
    rewind(&mut b, "r1", &uuid(1));
    let error = payload(&mut b, "r1")["error"].take();
    assert!(error.as_str().unwrap().contains("too long ago"), "{error}");
    rewind(&mut b, "r2", &uuid(2));
    assert!(b.rewinding().is_some());
}

#[test]
fn nothing_is_noted_where_nobody_can_ask_for_it() {
    let mut b = Bench::new(config());
    assert_eq!(run_prompt(&mut b, 1), Bookkeeping::default());
    for request in [
        json!({"subtype": "rewind_files", "user_message_id": uuid(1)}),
        json!({"subtype": "seed_read_state", "path": "a", "mtime": 1}),
    ] {
        operation(&mut b, "r", &request);
        let name = request["subtype"].as_str().unwrap();
        assert_eq!(
            answer(&mut b, "r")["error"],
            format!("unsupported control request \"{name}\"")
        );
    }
    let mut b = Bench::new(Config {
        profile: Profile::Reference(Reference {
            file_checkpoints: false,
            ..Reference::default()
        }),
        ..config()
    });
    assert_eq!(run_prompt(&mut b, 1).checkpoint, None::<Checkpoint>);
    rewind(&mut b, "r", &uuid(1));
    let told = payload(&mut b, "r");
    assert_eq!(
        told,
        json!({"canRewind": false, "error": "file checkpoints are switched off for this session"})
    );
}

#[test]
fn no_credential_is_told_with_a_file() {
    let secret = "sk-12345678";
    let mut b = Bench::new(Config {
        credentials: Guard::new([secret.to_string()]).expect("a key"),
        ..reference()
    });
    run_prompt(&mut b, 1);
    rewind(&mut b, "r0", &format!("x{secret}"));
    rewind(&mut b, "r1", &uuid(1));
    b.rewinds(Ok(report(&[&format!("/{secret}")], &[secret])));
    seed(&mut b, "s1");
    b.seeds(Seeding::Refused(format!("`{secret}` does not exist.")));
    assert!(!String::from_utf8_lossy(&b.bytes).contains(secret));
    assert_eq!(b.records().len(), 3, "all were answered");
}

#[test]
fn only_so_many_operations_are_under_way() {
    let mut config = reference();
    config.limits.file_operations = 2;
    let mut b = Bench::new(config);
    run_prompt(&mut b, 1);
    rewind(&mut b, "r1", &uuid(1));
    seed(&mut b, "s1");
    let told = "too many operations on files are under way; try again when one is over";
    seed(&mut b, "s2");
    assert_eq!(
        answer(&mut b, "s2")["error"],
        format!("seed_read_state: {told}")
    );
    rewind(&mut b, "r2", &uuid(1));
    assert_eq!(
        payload(&mut b, "r2"),
        json!({"canRewind": false, "error": told})
    );
    b.seeds(Seeding::Seeded);
    b.records();
    seed(&mut b, "s3");
    assert!(b.seeding().is_some());
}

// covers: DEC-47
#[test]
fn a_seed_is_answered_without_a_payload() {
    let mut b = Bench::new(reference());
    for seeding in [Seeding::Seeded, Seeding::Newer] {
        seed(&mut b, "s1");
        let (_, request) = b.seeding().expect("a file is looked at");
        assert_eq!(request.path, "a.txt");
        assert_eq!(request.mtime_ms, 1_700_000_000_123);
        assert_eq!(&*request.directories, ["/repo".to_string()]);
        b.seeds(seeding);
        assert_eq!(
            answer(&mut b, "s1"),
            json!({"subtype": "success", "request_id": "s1"})
        );
    }
    seed(&mut b, "s2");
    b.seeds(Seeding::Refused("`a.txt` does not exist.".to_string()));
    assert_eq!(
        answer(&mut b, "s2")["error"],
        "seed_read_state: `a.txt` does not exist."
    );
    // A turn that runs is no obstacle.
    b.prompt(1, "go");
    b.records();
    seed(&mut b, "s3");
    b.seeds(Seeding::Seeded);
    assert_eq!(b.briefs(), ["ack s3"]);
    assert!(matches!(b.open.as_slice(), [(_, Request::Model(_))]));
}
