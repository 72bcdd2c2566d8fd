//! Background tasks: what begins them, what they hold, what ends them.

use agentx_conformance::session::{
    Bench, bare, brief, brief_entries, config, schema, stored, uuid,
};
use agentx_core::agent::{Config, Input};
use agentx_core::effect::{Answer, Progress, Request, Verdict};
use agentx_core::guard::Guard;
use agentx_core::limits::Limits;
use agentx_core::machine::{Machine as _, Misuse};
use agentx_core::model::{ErrorCategory, Message, ModelFailure, StopReason};
use agentx_core::schema::permission::PermissionMode;
use agentx_core::store::{Beginning, Entry, Restorer};
use agentx_core::structured::{TOOL, Validity};
use agentx_core::tool::ToolOutcome;
use serde_json::{Value, json};

/// Input of a call that becomes a task.
const BACK: &str = r#"{"command":"make","description":"build","run_in_background":true}"#;

/// A configuration that asks nobody.
fn bold() -> Config {
    Config {
        permission_mode: PermissionMode::BypassPermissions,
        ..config()
    }
}

/// A turn in which these calls were made, all of them tasks that run.
fn with_tasks(config: Config, calls: &[&str]) -> (Bench, Vec<String>) {
    let mut b = Bench::new(config);
    b.prompt(1, "go");
    b.store_all();
    let all: Vec<_> = calls.iter().map(|id| (*id, "Do", BACK)).collect();
    b.calls(&all);
    b.store_all();
    let ids = calls.iter().map(|id| b.task_begins(id)).collect();
    b.store_all();
    (b, ids)
}

/// The parts of the newest message of the open model request, a user's.
fn told(b: &Bench) -> Vec<String> {
    let (_, request) = b.model();
    match request.history.last().map(|message| &**message) {
        Some(Message::User(parts)) => parts.clone(),
        other => panic!("not a user's message: {other:?}"),
    }
}

fn asks(b: &Bench) -> bool {
    b.open
        .iter()
        .any(|(_, request)| matches!(request, Request::Model(_)))
}

fn find(records: &[Value], subtype: &str) -> Value {
    let found = records.iter().find(|record| record["subtype"] == subtype);
    bare(found.expect("a record of that kind"))
}

// covers: WIRE-004, DEC-17
#[test]
fn a_task_holds_the_result_and_is_told_to_the_model_at_its_end() {
    let (mut b, ids) = with_tasks(bold(), &["t1"]);
    let id = &ids[0];
    let digits = id.strip_prefix("task_").expect("the form of task ids");
    assert!(digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit()));
    let records = b.records();
    assert_eq!(
        find(&records, "task_started"),
        json!({"type": "system", "subtype": "task_started", "task_id": id, "tool_use_id": "t1",
               "description": "build", "task_type": "local_tool"})
    );
    let result = &records.last().expect("a record")["message"]["content"][0];
    assert_eq!(
        result["content"],
        json!([{"type": "text", "text": format!("Task {id} started; output: /tmp/tasks/t1")}])
    );
    assert_eq!(result["is_error"], false);
    b.says("waiting");
    assert_eq!(b.briefs(), ["assistant text"], "no result yet");
    assert!(!asks(&b));
    b.wait(1_500);
    b.task_ends("t1", ToolOutcome::text("compiling\n34 passed\n"));
    assert_eq!(
        find(&b.records(), "task_notification"),
        json!({"type": "system", "subtype": "task_notification", "task_id": id, "tool_use_id": "t1",
               "status": "completed", "output_file": "/tmp/tasks/t1", "summary": "build: 34 passed",
               "usage": {"total_tokens": 0, "tool_uses": 1, "duration_ms": 1500}})
    );
    assert_eq!(
        told(&b),
        [format!(
            "[Task {id} of the call t1 (Do) completed. Output file: /tmp/tasks/t1]\n\
             compiling\n34 passed\n"
        )]
    );
    b.says("it is done");
    let records = b.records();
    assert_eq!(records[1]["result"], "it is done");
    assert_eq!(records[1]["num_turns"], 3);
    assert_eq!(records[1]["prompt_uuid"], uuid(1));
    assert_eq!(records[2]["state"], "idle");
    assert_eq!(records.len(), 3);
}

// covers: WIRE-004, DEC-42
#[test]
fn no_output_is_missing_while_a_task_runs() {
    let (mut b, _) = with_tasks(
        Config {
            output_schema: Some(schema(r#"{"type":"object"}"#)),
            ..bold()
        },
        &["t1"],
    );
    b.says("waiting");
    assert!(!asks(&b), "a task may bring what the output needs");
    b.task_ends("t1", ToolOutcome::text("34 passed"));
    assert!(told(&b)[0].contains("34 passed"), "{:?}", told(&b));
    b.says("it is done");
    let reminder = told(&b).join("");
    assert!(reminder.contains("StructuredOutput"), "{reminder}");
    b.calls(&[("s1", TOOL, "{}")]);
    b.validated(Validity::Fits);
    b.says("there it is");
    let records = b.records();
    let result = records.iter().find(|record| record["type"] == "result");
    let result = result.expect("a result");
    assert_eq!(result["structured_output"], json!({}));
    assert_eq!(result["num_turns"], 5);
}

// covers: WIRE-004, DEC-14, DEC-20
#[test]
fn the_end_of_the_input_ends_no_task() {
    let (mut b, _) = with_tasks(bold(), &["t1", "t2"]);
    b.eof();
    b.says("waiting");
    b.task_ends("t2", ToolOutcome::error("no\n"));
    assert!(!asks(&b), "the first still runs");
    assert_eq!(b.exit, None);
    b.task_ends("t1", ToolOutcome::text(""));
    let parts = told(&b);
    assert_eq!(parts.len(), 2, "one message, and both in it");
    assert!(parts[0].contains("(Do) failed.") && parts[0].ends_with("]\nno\n"));
    assert!(parts[1].contains("(Do) completed.") && parts[1].ends_with("/tmp/tasks/t1]"));
    b.says("done");
    let briefs = b.briefs();
    assert_eq!(briefs[briefs.len() - 2..], ["result success", "state idle"]);
    assert_eq!(b.exit, Some(0));
}

// covers: WIRE-004
#[test]
fn a_task_that_ends_before_the_turn_would_is_told_all_the_same() {
    let (mut b, _) = with_tasks(bold(), &["t1"]);
    b.task_ends("t1", ToolOutcome::text("quick"));
    b.calls(&[("t2", "Look", "{}")]);
    b.tool_says("t2", "seen");
    let (_, request) = b.model();
    assert!(
        matches!(
            &**request.history.last().expect("a message"),
            Message::ToolResults(_)
        ),
        "what a turn asks does not depend on when a task ends"
    );
    b.says("so far");
    assert_eq!(told(&b).len(), 1);
    // And a task of that answer is waited for, too.
    b.calls(&[("t3", "Do", BACK)]);
    b.task_begins("t3");
    b.says("more");
    assert!(!asks(&b));
    b.task_ends("t3", ToolOutcome::text("slow"));
    assert!(told(&b)[0].ends_with("slow"));
    b.says("end");
    assert_eq!(
        b.all_records()
            .iter()
            .filter(|r| r["type"] == "result")
            .count(),
        1
    );
}

// covers: WIRE-004, ACC-09, DEC-36
#[test]
fn progress_is_told_every_five_seconds_while_somebody_reads() {
    let (mut b, ids) = with_tasks(bold(), &["t1"]);
    b.says("waiting");
    b.records();
    let began = b.now;
    let five = |n: u64| began.after(std::time::Duration::from_secs(5 * n));
    assert_eq!(b.session.deadline(), Some(five(1)));
    b.wait(4_999);
    b.feed(Input::Tick);
    assert_eq!(b.briefs(), Vec::<String>::new());
    b.wait(1);
    b.feed(Input::Tick);
    assert_eq!(
        find(&b.records(), "task_progress"),
        json!({"type": "system", "subtype": "task_progress", "task_id": ids[0], "tool_use_id": "t1",
               "description": "build", "last_tool_name": "Do",
               "usage": {"total_tokens": 0, "tool_uses": 1, "duration_ms": 5000}})
    );
    assert_eq!(b.session.deadline(), Some(five(2)));
    b.task_ends("t1", ToolOutcome::text("ok"));
    b.says("done");
    assert_eq!(
        b.briefs(),
        [
            "system/task_notification",
            "assistant text",
            "result success",
            "state idle"
        ]
    );
    assert_eq!(b.session.deadline(), None);

    let config = Config {
        limits: Limits {
            progress_pause_bytes: 1,
            ..Limits::DEFAULT
        },
        ..bold()
    };
    let (mut b, _) = with_tasks(config, &["t1"]);
    b.records();
    b.wait(5_000);
    b.feed(Input::Tick);
    assert_eq!(b.briefs(), Vec::<String>::new(), "nobody reads");
    let sent = b.bytes.len();
    b.feed(Input::Sent(sent));
    b.wait(5_000);
    b.feed(Input::Tick);
    assert_eq!(b.briefs(), ["system/task_progress"]);
}

// covers: DEC-47
#[test]
fn with_partial_messages_calls_and_tasks_tell_that_they_run() {
    let watched = || Config {
        include_partial_messages: true,
        ..bold()
    };
    let mut b = Bench::new(watched());
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", "{}")]);
    b.records();
    b.wait(12_000);
    b.feed(Input::Tick);
    assert_eq!(
        bare(&b.records()[0]),
        json!({"type": "tool_progress", "tool_use_id": "t1", "tool_name": "Do",
               "parent_tool_use_id": null, "elapsed_time_seconds": 12})
    );
    b.wait(3_000);
    b.feed(Input::Tick);
    assert_eq!(b.records()[0]["elapsed_time_seconds"], 15, "in even steps");
    b.tool_says("t1", "done");
    b.wait(9_000);
    b.feed(Input::Tick);
    assert!(!b.briefs().contains(&"tool_progress".to_string()));

    let (mut b, ids) = with_tasks(watched(), &["t1"]);
    b.records();
    b.wait(5_000);
    b.feed(Input::Tick);
    let records = b.records();
    assert_eq!(
        (&records[0]["type"], &records[0]["task_id"]),
        (&json!("tool_progress"), &json!(ids[0]))
    );
    assert_eq!(records[1]["subtype"], "task_progress");
    assert_eq!(records.len(), 2);
}

// covers: ACC-12, WIRE-004, WIRE-010, WIRE-011
#[test]
fn an_interrupt_settles_questions_calls_tasks_and_the_turn() {
    let mut b = Bench::new(Config {
        flush_remote: true,
        ..config()
    });
    b.prompt(1, "go");
    b.calls(&[
        ("t1", "Do", BACK),
        ("t2", "Look", "{}"),
        ("t3", "Do", "{}"),
        ("t4", "Do", "{}"),
    ]);
    let question = b.question("t1");
    b.allow(&question);
    b.task_begins("t1");
    let open = [b.question("t3"), b.question("t4")];
    b.records();
    b.control("i1", "interrupt");
    let records = b.records();
    for (record, id) in records.iter().zip(&open) {
        assert_eq!(record["request_id"], *id);
    }
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        [
            "cancel",
            "cancel",
            "ack i1",
            "state running",
            "tool_result t2",
            "tool_result t3",
            "tool_result t4",
            "system/task_notification",
            "result error_during_execution"
        ]
    );
    let notification = find(&b.all_records(), "task_notification");
    assert_eq!(
        (&notification["status"], &notification["summary"]),
        (&json!("stopped"), &json!("build: stopped before it ended"))
    );
    let [(flush, Request::FlushRemote)] = b.open.as_slice() else {
        panic!("nothing runs but {:?}", b.open)
    };
    let flush = *flush;
    b.done(flush, Answer::Flushed(Verdict::Passed));
    assert_eq!(b.briefs(), ["state idle"]);
    // The model learns of it with the next prompt.
    b.prompt(2, "what now");
    let (_, request) = b.model();
    let before = &request.history[request.history.len() - 2];
    assert!(
        matches!(&**before, Message::User(parts) if parts[0].contains("(Do) stopped.")),
        "{before:?}"
    );
}

// covers: ACC-12, WIRE-004
#[test]
fn an_interrupt_ends_a_turn_that_waits_for_its_tasks() {
    let (mut b, _) = with_tasks(bold(), &["t1", "t2"]);
    let late = b.task("t2").0;
    b.says("waiting");
    b.task_ends("t1", ToolOutcome::text("ok"));
    b.records();
    b.control("i1", "interrupt");
    assert_eq!(
        b.briefs(),
        [
            "ack i1",
            "system/task_notification",
            "result error_during_execution",
            "state idle"
        ]
    );
    b.done(late, Answer::Task(ToolOutcome::text("late")));
    assert_eq!(b.briefs(), Vec::<String>::new());
    b.prompt(2, "again");
    let (_, request) = b.model();
    let told = &request.history[request.history.len() - 2];
    assert!(
        matches!(&**told, Message::User(parts) if parts.len() == 2),
        "the one that ended, and the one that was stopped: {told:?}"
    );
    b.says("done");
}

// covers: WIRE-004, DEC-10
#[test]
fn whatever_else_ends_a_turn_stops_its_tasks_before_the_result() {
    let ends: [fn(&mut Bench); 3] = [
        |b| b.shutdown(143),
        |b| b.line("{"),
        |b| b.user_with("now", json!({"priority": "now"})),
    ];
    for end in ends {
        let (mut b, _) = with_tasks(bold(), &["t1"]);
        b.says("waiting");
        b.records();
        end(&mut b);
        let briefs = b.briefs();
        let expected = ["system/task_notification", "result error_during_execution"];
        assert_eq!(briefs[..2], expected, "{briefs:?}");
    }
    let (mut b, _) = with_tasks(bold(), &["t1"]);
    b.feed(Input::WriteFailed);
    assert_eq!((b.exit, b.open.len()), (Some(1), 0));
}

// covers: WIRE-004, DEC-21, DEC-40
#[test]
fn a_turn_that_failed_waits_for_its_tasks_and_asks_nothing_more() {
    let (mut b, _) = with_tasks(bold(), &["t1"]);
    b.fails(ModelFailure {
        category: ErrorCategory::ServerError,
        status: Some(500),
        message: "down".to_string(),
    });
    assert_eq!(
        b.briefs().last().map(String::as_str),
        Some("assistant text")
    );
    b.task_ends("t1", ToolOutcome::text("ok"));
    assert_eq!(
        b.briefs(),
        [
            "system/task_notification",
            "result error_during_execution",
            "state idle"
        ]
    );
    let (mut b, _) = with_tasks(
        Config {
            max_turns: Some(2),
            ..bold()
        },
        &["t1"],
    );
    b.says("waiting");
    b.task_ends("t1", ToolOutcome::text("ok"));
    let briefs = b.briefs();
    assert_eq!(
        briefs[briefs.len() - 2..],
        ["result error_max_turns", "state idle"],
        "the request that was due may not be made"
    );
    b.prompt(2, "so?");
    assert!(b.model().1.history.iter().any(
        |message| matches!(&**message, Message::User(parts) if parts[0].contains("completed."))
    ));
}

// covers: WIRE-004
#[test]
fn stop_task_ends_one_task_and_the_turn_goes_on() {
    let (mut b, ids) = with_tasks(bold(), &["t1", "t2"]);
    b.says("waiting");
    b.records();
    b.stop_task(&ids[0]);
    assert_eq!(b.briefs(), ["system/task_notification"]);
    assert!(!asks(&b) && b.open.len() == 1);
    b.stop_task(&ids[0]);
    b.stop_task("task_\u{7}nobody");
    let expected = [
        format!("no task `{}` runs", ids[0]),
        "no task `task_\\u{7}nobody` runs".to_string(),
    ];
    assert_eq!(b.diagnostics(), expected);
    b.stop_task(&ids[1]);
    assert_eq!(told(&b).len(), 2, "the last one lets the turn go on");
    b.says("stopped both");
    assert_eq!(
        b.briefs()[1..],
        ["assistant text", "result success", "state idle"]
    );
}

// covers: DEC-26, WIRE-004
#[test]
fn a_call_counts_as_ended_once_its_task_began() {
    let mut b = Bench::new(bold());
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", BACK), ("t2", "Do", "{}"), ("t3", "Do", BACK)]);
    assert_eq!(b.running(), Vec::<String>::new());
    b.task_begins("t1");
    assert_eq!(b.running(), ["t2"], "one at a time, in call order");
    b.tool_says("t2", "ok");
    // What cannot begin is the result of its call.
    b.task_ends("t3", ToolOutcome::error("`command` is empty."));
    let records = b.records();
    let last = records.last().expect("a record");
    assert_eq!(last["message"]["content"][0]["tool_use_id"], "t3");
    assert_eq!(last["message"]["content"][0]["is_error"], true);
    assert_eq!(
        records
            .iter()
            .filter(|r| r["subtype"] == "task_started")
            .count(),
        1
    );
    b.says("waiting");
    b.task_ends("t1", ToolOutcome::text("ok"));
    assert_eq!(told(&b).len(), 1);
}

// covers: WIRE-004
#[test]
fn an_input_that_a_host_edits_decides_whether_it_is_a_task() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", BACK)]);
    let id = b.question("t1");
    let input = json!({"command": "make", "run_in_background": false});
    b.respond(&id, &json!({"behavior": "allow", "updatedInput": input}));
    assert_eq!(b.running(), ["t1"], "it runs in front");
    b.tool_says("t1", "ok");
    b.calls(&[("t2", "Do", r#"{"run_in_background":"yes"}"#)]);
    let id = b.question("t2");
    b.allow(&id);
    assert_eq!(b.running(), ["t2"], "true and nothing else");
}

// covers: WIRE-004
#[test]
fn tasks_are_bounded() {
    let config = Config {
        limits: Limits {
            tasks: 2,
            untold_tasks: 3,
            task_output_chars: 4,
            task_line_chars: 3,
            ..Limits::DEFAULT
        },
        ..bold()
    };
    let (mut b, _) = with_tasks(config, &["t1", "t2"]);
    b.records();
    let refused = |b: &mut Bench| {
        let records = b.records();
        let result = records
            .iter()
            .find(|r| r["type"] == "user")
            .expect("a result");
        assert_eq!(result["message"]["content"][0]["is_error"], true);
        result["message"]["content"][0]["content"][0]["text"].to_string()
    };
    b.calls(&[("t3", "Do", BACK)]);
    assert!(refused(&mut b).contains("2 background tasks run already"));
    b.task_ends("t1", ToolOutcome::text("12345678"));
    let notification = find(&b.records(), "task_notification");
    assert_eq!(notification["summary"], "bui…: 123…");
    b.calls(&[("t4", "Do", BACK)]);
    b.task_begins("t4");
    b.records();
    b.task_ends("t4", ToolOutcome::text("ok"));
    b.records();
    b.calls(&[("t5", "Do", BACK)]);
    assert!(refused(&mut b).contains("this turn began 3 background tasks"));
    b.says("waiting");
    b.task_ends("t2", ToolOutcome::text("ok"));
    assert!(told(&b)[0].ends_with("\n[… 4 characters cut]\n5678"));
    // Room again, now that they are told.
    b.calls(&[("t6", "Do", BACK)]);
    b.task_begins("t6");
    // However many are refused at once, and each by its own result.
    let ids: Vec<_> = (0..2_000).map(|n| format!("x{n}")).collect();
    let calls: Vec<_> = ids.iter().map(|id| (id.as_str(), "Do", BACK)).collect();
    b.replays = false;
    b.calls(&calls);
    b.task_begins("x0");
    let results = b.briefs();
    let results = results
        .iter()
        .filter(|brief| brief.starts_with("tool_result"));
    assert_eq!(results.count(), 2_001);
}

// covers: DEC-30, WIRE-004
#[test]
fn what_a_task_says_is_redacted_and_its_description_too() {
    let key = "key-of-the-registry";
    let guard = Guard::new([key]).expect("one literal");
    let mut b = Bench::new(Config {
        credentials: guard,
        ..bold()
    });
    b.prompt(1, "go");
    b.calls(&[(
        "t1",
        "Do",
        r#"{"description":"use key-of-the-registry","run_in_background":true}"#,
    )]);
    b.task_begins("t1");
    b.says("waiting");
    b.task_ends("t1", ToolOutcome::text(format!("it is {key}")));
    assert!(told(&b)[0].ends_with("it is [redacted]"));
    let text = String::from_utf8_lossy(&b.bytes).into_owned();
    assert!(!text.contains(key));
    assert!(text.contains("use [redacted]: it is [redacted]"));
    b.says("done");
}

// covers: DEC-32, WIRE-004
#[test]
fn a_task_that_ran_when_the_process_died_is_unconfirmed() {
    let mut b = Bench::new(Config {
        permission_mode: PermissionMode::BypassPermissions,
        ..stored(Beginning::New)
    });
    let mut entries = Vec::new();
    b.prompt(1, "go");
    entries.extend(b.store_all());
    b.calls(&[("t1", "Do", BACK), ("t2", "Do", BACK)]);
    entries.extend(b.store_all());
    let ids = [b.task_begins("t1"), b.task_begins("t2")];
    entries.extend(b.store_all());
    assert_eq!(
        brief_entries(&entries),
        "prompt answer task result task result"
    );
    // What a process finds that comes after a kill.
    let restore = |entries: &[Entry]| {
        let mut restorer = Restorer::new();
        for entry in entries {
            restorer.push(entry.clone()).expect("entries follow");
        }
        restorer.finish()
    };
    let restored = restore(&entries);
    let Some(Message::User(parts)) = restored.history.last().map(|m| (**m).clone()) else {
        panic!("{:?}", restored.history)
    };
    for (part, (id, call)) in parts.iter().zip(ids.iter().zip(["t1", "t2"])) {
        assert!(part.contains(&format!("Task {id} of the call {call}: unconfirmed")));
        assert!(part.contains(&format!("/tmp/tasks/{call}")));
    }
    assert_eq!(parts.len(), 2);
    let mut further = entries.clone();
    further.push(match &entries[0] {
        Entry::Prompt(prompt) => Entry::Prompt(agentx_core::store::PromptEntry {
            uuid: uuid(2).into(),
            ..prompt.clone()
        }),
        other => panic!("{other:?}"),
    });
    let again = restore(&further).history;
    assert_eq!(again[..again.len() - 1], restored.history[..]);

    // Without a kill the model is told, and nothing is left to confirm.
    b.says("waiting");
    b.task_ends("t1", ToolOutcome::text("ok"));
    b.task_ends("t2", ToolOutcome::text("ok"));
    assert!(!asks(&b), "before that is stored");
    entries.extend(b.store_all());
    let history = b.model().1.history.clone();
    assert_eq!(restore(&entries).history, history);
    b.finish(StopReason::EndTurn);
    entries.extend(b.store_all());
    assert_eq!(
        brief_entries(&entries[6..]),
        "answer notice turn",
        "a notice is a message of its own"
    );
    let mut wrong = Restorer::new();
    assert!(wrong.push(entries[7].clone()).is_err(), "of no task");
}

// covers: WIRE-004
#[test]
fn news_of_a_task_that_do_not_fit_change_nothing() {
    let (mut b, _) = with_tasks(bold(), &["t1"]);
    let id = b.task("t1").0;
    let output_file = String::new();
    let began = || {
        Input::Progress(
            id,
            Progress::Began {
                output_file: output_file.clone(),
            },
        )
    };
    assert_eq!(b.try_feed(began()), Err(Misuse::WrongState));
    let wrong = Answer::Tool(ToolOutcome::text("x"));
    assert_eq!(b.try_feed(Input::Done(id, wrong)), Err(Misuse::WrongAnswer));
    let model = b.model().0;
    let began_model = Input::Progress(
        model,
        Progress::Began {
            output_file: String::new(),
        },
    );
    assert_eq!(b.try_feed(began_model), Err(Misuse::WrongAnswer));
    b.says("waiting");
    b.task_ends("t1", ToolOutcome::text("ok"));
    assert_eq!(b.try_feed(began()), Err(Misuse::EffectSettledTwice));
    b.says("done");
    // A script cannot tell an answer of the wrong kind from one that settles.
    b.replays = false;
}
