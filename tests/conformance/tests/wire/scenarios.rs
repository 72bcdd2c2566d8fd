//! Whole sessions that are told in more than one place: in the corpus of
//! recorded logs and in docs/ordering.md.

use agentx_conformance::session::{Bench, config, hooked, schema, stored, uuid};
use agentx_core::agent::{Config, Input};
use agentx_core::effect::{Answer, Request, Verdict};
use agentx_core::hook::HookEvent;
use agentx_core::model::{Delta, ErrorCategory, ModelFailure, StopReason};
use agentx_core::store::Beginning;
use agentx_core::structured::{TOOL, Validity};
use agentx_core::tool::ToolOutcome;
use serde_json::json;

/// A session by name: the options of its configuration and what happens in it.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Options as [`options`] reads them.
    pub(crate) with: &'static str,
    pub(crate) story: fn(&mut Bench),
}

impl Scenario {
    /// The session, played to its end.
    pub(crate) fn play(&self) -> Bench {
        let mut b = Bench::with_init(options(self.with));
        (self.story)(&mut b);
        b
    }
}

/// The scenario of that name.
pub(crate) fn named(name: &str) -> &'static Scenario {
    let found = ALL.iter().find(|scenario| scenario.name == name);
    found.expect("a scenario of that name")
}

/// A configuration with the options that are named.
pub(crate) fn options(names: &str) -> Config {
    let mut config = config();
    for name in names.split_whitespace() {
        match name {
            "replay" => config.replay_user_messages = true,
            "partial" => config.include_partial_messages = true,
            "vet" => config.vet_records = true,
            "flush" => config.flush_remote = true,
            "structured" => config.output_schema = Some(schema("{}")),
            "store" => config.store = stored(Beginning::New).store,
            "hooks" => config.hooks = hooked(HookEvent::ALL).hooks,
            "race" => config.hooks = hooked(&[HookEvent::PermissionRequest; 2]).hooks,
            other => panic!("unknown option {other}"),
        }
    }
    config
}

pub(crate) const ALL: &[Scenario] = &[
    Scenario {
        name: "structured",
        with: "structured partial store",
        story: structured,
    },
    Scenario {
        name: "turn",
        with: "",
        story: turn,
    },
    Scenario {
        name: "turn-watched",
        with: "replay partial",
        story: turn,
    },
    Scenario {
        name: "question",
        with: "replay",
        story: question,
    },
    Scenario {
        name: "interrupt",
        with: "",
        story: interrupt,
    },
    Scenario {
        name: "interrupt-mid-answer",
        with: "partial",
        story: interrupt_mid_answer,
    },
    Scenario {
        name: "interrupts-in-one-read",
        with: "",
        story: interrupts_in_one_read,
    },
    Scenario {
        name: "now",
        with: "flush",
        story: now,
    },
    Scenario {
        name: "task",
        with: "partial",
        story: task,
    },
    Scenario {
        name: "interrupt-task",
        with: "store",
        story: interrupt_task,
    },
    Scenario {
        name: "end-of-input",
        with: "",
        story: end_of_input,
    },
    Scenario {
        name: "fatal-input",
        with: "",
        story: fatal_input,
    },
    Scenario {
        name: "signal",
        with: "",
        story: signal,
    },
    Scenario {
        name: "refused-record",
        with: "vet",
        story: refused_record,
    },
    Scenario {
        name: "provider-failure",
        with: "partial",
        story: provider_failure,
    },
    Scenario {
        name: "stored",
        with: "store",
        story: stored_turns,
    },
    Scenario {
        name: "hooks",
        with: "hooks store",
        story: hooks,
    },
    Scenario {
        name: "race",
        with: "race",
        story: race,
    },
    Scenario {
        name: "stored-fatal",
        with: "store",
        story: stored_fatal,
    },
];

fn text(text: &str) -> Delta {
    Delta::Text(text.to_string())
}

fn turn(b: &mut Bench) {
    b.prompt(1, "say hello");
    b.wait(120);
    b.delta(Delta::MessageId("msg_1".to_string()));
    b.delta(Delta::Thinking("hm".to_string()));
    b.delta(text("hel"));
    b.says("lo");
    b.eof();
}

/// A turn that waits for its store, one that fails with it, and one behind that.
fn stored_turns(b: &mut Bench) {
    b.prompt(1, "look");
    b.wait(1);
    b.store_all();
    b.calls(&[("t1", "Look", "{}")]);
    b.wait(1);
    b.store_all();
    b.tool_says("t1", "seen");
    b.says("so it is");
    b.wait(1);
    b.store_all();
    b.prompt(2, "go on");
    b.store_fails();
    b.prompt(3, "again");
    b.store_all();
    b.says("done");
    b.eof();
    b.wait(1);
    b.store_all();
}

/// Input that cannot be read, while a result waits for its store.
fn stored_fatal(b: &mut Bench) {
    b.prompt(1, "go");
    b.prompt(2, "next");
    b.store_all();
    b.says("done");
    b.line("{");
    b.wait(1);
    b.store_all();
}

/// Every hook has something to say, and one fails; then an interrupt.
fn hooks(b: &mut Bench) {
    let context = |text: &str| json!({"additionalContext": text}).to_string();
    b.hook_says(&context("Be brief."));
    b.prompt(1, "go");
    b.hook_says(&context("It is Monday."));
    b.store_all();
    b.calls(&[("t1", "Look", "{}"), ("t2", "Do", "{}")]);
    b.store_all();
    b.hook_says(r#"{"updatedInput":{"file_path":"b"}}"#);
    b.hook_says(r#"{"decision":"ask","message":"sure?"}"#);
    b.hook_fails("it is gone");
    b.tool_says("t1", "seen");
    b.hook_says(&context("and checked"));
    b.store_all();
    b.says("done");
    b.hook_says(r#"{"continue":true}"#);
    b.store_all();
    b.calls(&[("t3", "Look", "{}")]);
    b.control("i", "interrupt");
    b.store_all();
    b.eof();
    b.hook_says("");
}

/// Two questions: hooks win one, the host the other, and hooks end behind it.
fn race(b: &mut Bench) {
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", r#"{"n":1}"#), ("t2", "Do", r#"{"n":2}"#)]);
    b.hook_says(r#"{"decision":"allow","updatedInput":{"n":3}}"#);
    b.hook_says("");
    let ids = b.questions();
    b.deny(&ids[1]);
    b.allow(&ids[0]);
    b.hook_says(r#"{"decision":"allow"}"#);
    b.tool_says("t1", "done");
    b.says("so be it");
    b.eof();
    b.hook_fails("it came too late");
}

fn question(b: &mut Bench) {
    b.prompt(1, "list the files");
    b.wait(80);
    b.calls(&[
        ("t1", "Do", r#"{"command":"ls"}"#),
        ("t2", "Do", r#"{"command":"rm -r a"}"#),
    ]);
    b.wait(4_000);
    let ids = b.questions();
    b.allow(&ids[0]);
    b.deny(&ids[1]);
    b.tool_says("t1", "a\nb\u{2028}c");
    b.says("two files");
    b.eof();
}

/// A turn with two open questions, a running tool and two prompts that wait.
fn busy(b: &mut Bench) {
    b.prompt(1, "one");
    b.prompt(2, "two");
    b.user_with("three", json!({"uuid": uuid(3), "priority": "later"}));
    b.calls(&[
        ("t1", "Do", "{}"),
        ("t2", "Look", r#"{"file_path":"a"}"#),
        ("t3", "Do", "{}"),
    ]);
    b.wait(30);
}

fn interrupt(b: &mut Bench) {
    b.prompt(1, "one");
    b.calls(&[
        ("t1", "Do", "{}"),
        ("t2", "Look", r#"{"file_path":"a"}"#),
        ("t3", "Do", "{}"),
    ]);
    let ids = b.questions();
    b.control("i1", "interrupt");
    b.allow(&ids[0]);
    b.eof();
}

fn interrupt_mid_answer(b: &mut Bench) {
    b.prompt(1, "one");
    b.delta(text("half"));
    b.delta(Delta::CallStart {
        index: 0,
        id: "t1".to_string(),
        name: "Look".to_string(),
    });
    b.control("i1", "interrupt");
    b.prompt(2, "two");
    b.says("whole");
    b.eof();
}

fn interrupts_in_one_read(b: &mut Bench) {
    b.prompt(1, "one");
    b.prompt(2, "two");
    let line = r#"{"type":"control_request","request_id":"i","request":{"subtype":"interrupt"}}"#;
    b.feed(Input::Bytes(format!("{line}\n{line}\n").as_bytes()));
    b.eof();
}

fn now(b: &mut Bench) {
    b.prompt(1, "one");
    b.delta(text("so "));
    b.user_with("two", json!({"uuid": uuid(2), "priority": "now"}));
    flush(b);
    b.says("urgent");
    flush(b);
    b.eof();
}

fn flush(b: &mut Bench) {
    let flush = b.open.iter().find(|(_, r)| *r == Request::FlushRemote);
    let (id, _) = flush.expect("a flush is open");
    b.done(*id, Answer::Flushed(Verdict::Passed));
}

const BACKGROUND: &str = r#"{"command":"make","run_in_background":true}"#;

/// A background task that outlives the answer and the input.
fn task(b: &mut Bench) {
    b.prompt(1, "build it");
    b.calls(&[("t1", "Do", BACKGROUND)]);
    let id = b.question("t1");
    b.allow(&id);
    b.task_begins("t1");
    b.says("it builds");
    b.eof();
    b.wait(5_000);
    b.feed(Input::Tick);
    b.wait(1_000);
    b.task_ends("t1", ToolOutcome::text("built\n"));
    b.says("it is built");
}

/// An interrupt while a task and a call run and a question is open.
fn interrupt_task(b: &mut Bench) {
    b.prompt(1, "build it");
    b.store_all();
    b.calls(&[
        ("t1", "Do", BACKGROUND),
        ("t2", "Look", "{}"),
        ("t3", "Do", "{}"),
    ]);
    let id = b.question("t1");
    b.allow(&id);
    b.store_all();
    b.task_begins("t1");
    b.control("i1", "interrupt");
    b.store_all();
    b.prompt(2, "why?");
    b.store_all();
    b.says("you said so");
    b.eof();
    b.store_all();
}

fn end_of_input(b: &mut Bench) {
    busy(b);
    b.eof();
    b.tool_says("t2", "seen");
    b.says("first");
    b.says("second");
    b.calls(&[("t4", "Do", "{}")]);
    b.says("third");
}

fn fatal_input(b: &mut Bench) {
    busy(b);
    b.line(r#"{"type":"user","type":"user"}"#);
}

fn signal(b: &mut Bench) {
    busy(b);
    b.shutdown(143);
}

fn refused_record(b: &mut Bench) {
    let (init, _) = b.vetting().expect("init waits");
    b.done(init, Answer::Vetted(Verdict::Passed));
    b.prompt(1, "one");
    b.calls(&[("t1", "Look", "{}"), ("t2", "Do", "{}")]);
    let (running, _) = b.vetting().expect("running waits");
    b.done(running, Answer::Vetted(Verdict::Passed));
    let (call, _) = b.vetting().expect("the call waits");
    b.done(call, Answer::Vetted(Verdict::Failed));
}

fn provider_failure(b: &mut Bench) {
    b.prompt(1, "one");
    b.delta(text("half an ans"));
    b.fails(ModelFailure {
        category: ErrorCategory::RateLimit,
        status: Some(429),
        message: "slow down".to_string(),
    });
    b.prompt(2, "two");
    b.delta(text("as far as"));
    b.finish(StopReason::MaxTokens);
    b.eof();
}

/// No submission, a refused one, one that is not checked in time, an accepted one.
fn structured(b: &mut Bench) {
    b.prompt(1, "count");
    b.store_all();
    b.says("three");
    b.store_all();
    b.calls(&[("t1", TOOL, r#"{"n":"three"}"#)]);
    b.store_all();
    b.validated(Validity::Breaks(vec!["at /n: \"no number\"".to_string()]));
    b.store_all();
    b.calls(&[("t2", TOOL, r#"{"n":4}"#)]);
    b.store_all();
    b.wait(3_000);
    b.feed(Input::Tick);
    b.store_all();
    b.calls(&[("t3", TOOL, r#"{"n":3}"#), ("t4", "Look", "{}")]);
    b.store_all();
    b.validated(Validity::Fits);
    b.tool_says("t4", "seen");
    b.store_all();
    b.says("counted");
    b.store_all();
    b.eof();
}
