//! docs/ordering.md tells the order that sessions show.

use crate::scenarios;
use agentx_conformance::servers::{Host, with_servers};
use agentx_conformance::session::{Bench, hooked, reference, uuid};
use agentx_conformance::tree;
use agentx_core::agent::{Config, Profile, Reference, StateRecords};
use agentx_core::hook::HookEvent;
use agentx_core::model::{Delta, ErrorCategory, ModelFailure};
use agentx_core::schema::permission::PermissionMode;
use serde_json::{Value, json};

/// A line of a timeline in the document.
#[derive(Debug)]
struct Line {
    /// What the record's full name begins with.
    name: String,
    optional: bool,
    many: bool,
}

/// How the note of a line begins that stands for several records.
const MANY: [&str; 5] = [
    "for each",
    "of each",
    "one for each",
    "every call",
    "exactly one for each call",
];

/// The timeline of a section.
fn timeline(title: &str) -> Vec<Line> {
    let path = tree::root().join("docs/ordering.md");
    let text = std::fs::read_to_string(path).expect("the document");
    let mut sections = text.split("\n## ").skip(1);
    let section = sections
        .find(|section| section.lines().next() == Some(title))
        .unwrap_or_else(|| panic!("docs/ordering.md has no section {title}"));
    let lines = section.lines().filter_map(|line| line.strip_prefix("    "));
    lines
        .filter(|line| !line.trim_start().starts_with("<-") && !line.starts_with('…'))
        .map(|line| {
            let (name, note) = line.split_once("  ").unwrap_or((line, ""));
            let inner = name
                .strip_prefix('[')
                .and_then(|name| name.strip_suffix(']'));
            let note = note.trim_start();
            let begins = |words: &[&str]| words.iter().any(|word| note.starts_with(word));
            Line {
                name: inner.unwrap_or(name).trim_end_matches(" …").to_string(),
                optional: inner.is_some() || note.starts_with("for each"),
                many: name.contains('…') || begins(&MANY),
            }
        })
        .collect()
}

/// The whole name of a record, as the document spells it.
fn full_name(record: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let kind = word(&record["type"]);
    match kind.as_str() {
        "system" if record["state"].is_string() => {
            format!("{} {}", word(&record["subtype"]), word(&record["state"]))
        }
        "user" if record["isReplay"] == true => "user, isReplay".to_string(),
        "user" | "assistant" => {
            format!("{kind} {}", word(&record["message"]["content"][0]["type"]))
        }
        "control_request" => format!("{kind} {}", word(&record["request"]["subtype"])),
        "control_response" => format!("{kind} {}", word(&record["response"]["subtype"])),
        _ => format!("{kind} {}", word(&record["subtype"])),
    }
}

/// Holds the records of `b`, from the one that `from` begins with, against a
/// timeline. Gives how many records were left over.
fn follow(title: &str, b: &Bench, from: &str) -> usize {
    let records = b.all_records();
    let names: Vec<_> = records.iter().map(full_name).collect();
    let start = names.iter().position(|name| name.starts_with(from));
    let mut left = &names[start.expect("the first record")..];
    let mut between: Option<String> = None;
    for line in timeline(title) {
        // What may stand before each of several records may stand between them.
        let is_next = |name: &&String| {
            name.starts_with(&line.name) || between.as_ref().is_some_and(|n| name.starts_with(n))
        };
        let hits = left.iter().take_while(is_next).count();
        let hits = hits.min(if line.many { usize::MAX } else { 1 });
        assert!(
            hits > 0 || line.optional,
            "{title}: {line:?} is not next in {left:?}"
        );
        left = &left[hits..];
        between = (line.optional && line.many).then_some(line.name);
    }
    left.len()
}

// covers: WIRE-003, WIRE-004, WIRE-011, WIRE-PERM-023, DEC-10, DEC-12, DEC-50
#[test]
fn the_document_tells_the_order_that_sessions_show() {
    for (title, scenario, from, left) in [
        ("A turn", "turn", "session_state_changed", 0),
        ("A turn", "turn-watched", "session_state_changed", 0),
        ("An interrupt", "interrupt", "control_cancel_request", 0),
        (
            "An interrupt",
            "interrupt-mid-answer",
            "control_response",
            0,
        ),
        (
            "An interrupt",
            "interrupt-task",
            "control_cancel_request",
            4,
        ),
        ("A background task", "task", "system task_started", 0),
        (
            "Input that cannot be read",
            "fatal-input",
            "control_cancel_request",
            0,
        ),
    ] {
        let b = scenarios::named(scenario).play();
        let over = follow(title, &b, from);
        if scenario != "interrupt-mid-answer" {
            assert_eq!(over, left, "{title}, {scenario}");
        }
    }
    let mut b = Bench::new(scenarios::options(""));
    b.prompt(1, "go");
    b.calls(&[("t1", "Look", "{}"), ("t2", "Look", "{}")]);
    b.tool_says("t2", "seen");
    b.tool_says("t1", "seen");
    let tools = "Tool calls without a question";
    assert_eq!(follow(tools, &b, "assistant tool_use"), 0);
    let mut b = Bench::new(scenarios::options("replay"));
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", "{}")]);
    let id = b.questions();
    b.allow(&id[0]);
    b.tool_says("t1", "seen");
    assert_eq!(follow("A permission question", &b, "assistant tool_use"), 0);
}

// covers: DEC-37, DEC-48
#[test]
fn the_document_tells_where_servers_of_the_host_stand() {
    let allowed = r#"{"permissions":{"allow":["mcp__calc"]}}"#;
    let called = || {
        let mut h = Host::ready(with_servers(&["calc"], allowed), &["add"]);
        h.prompt(1, "go");
        h.calls(&[("t1", "mcp__calc__add", "{}")]);
        h
    };
    let mut h = called();
    let call = h.oldest();
    h.says_at(&call, "3");
    let title = "A call at a server of the host";
    assert_eq!(follow(title, &h, "assistant tool_use"), 0);
    let mut h = called();
    let off = serde_json::json!({"subtype": "mcp_toggle", "serverName": "calc", "enabled": false});
    h.operation("c", &off);
    let title = "A server that is switched off";
    assert_eq!(follow(title, &h, "control_response"), 0);
    let mut h = called();
    h.control("c", "interrupt");
    assert_eq!(follow("An interrupt", &h, "control_cancel_request"), 0);
}

// covers: DEC-12, DEC-39, DEC-43, WIRE-004, WIRE-006
#[test]
fn the_document_tells_a_turn_of_the_profile_reference() {
    let title = "A turn in the profile `reference`";
    type Story = fn(&mut Bench);
    let stories: [(&str, Story); 3] = [
        ("replay partial", |b| {
            b.delta(Delta::Thinking("hm".to_string()));
            b.says("done");
        }),
        ("", |b| {
            b.calls(&[("t1", "Do", "{}")]);
            let id = b.questions();
            b.allow(&id[0]);
            b.tool_says("t1", "ran");
            b.says("done");
        }),
        ("", |b| {
            b.calls(&[("t1", "Change", "{}")]);
            let id = b.questions();
            b.deny(&id[0]);
            b.fails(ModelFailure {
                category: ErrorCategory::RateLimit,
                status: Some(429),
                message: "slower".to_string(),
            });
        }),
    ];
    for states in [
        StateRecords::Plain,
        StateRecords::HostOnly,
        StateRecords::Off,
    ] {
        for (with, story) in &stories {
            let reference = Reference {
                states,
                ..Reference::default()
            };
            let mut b = Bench::with_init(Config {
                profile: Profile::Reference(reference),
                ..scenarios::options(with)
            });
            b.control("c1", "get_context_usage");
            b.prompt(1, "go");
            story(&mut b);
            let left = follow(title, &b, "control_response");
            assert_eq!(left, 0, "{states:?}, {with}");
        }
    }
}

// covers: WIRE-PERM-001, WIRE-PERM-023, DEC-43
#[test]
fn the_document_tells_where_hooks_stand() {
    let mut b = Bench::new(hooked(&[HookEvent::PermissionRequest]));
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", "{}")]);
    b.hook_says(r#"{"decision":"deny","message":"no"}"#);
    let title = "A hook that decides a question";
    assert_eq!(follow(title, &b, "assistant tool_use"), 0);
    let events = [
        HookEvent::SessionStart,
        HookEvent::UserPromptSubmit,
        HookEvent::PreToolUse,
        HookEvent::PostToolUse,
        HookEvent::Stop,
        HookEvent::SessionEnd,
    ];
    let mut b = Bench::with_init(hooked(&events));
    b.hook_says("");
    b.prompt(1, "go");
    b.hook_says("");
    b.calls(&[("t1", "Look", "{}")]);
    b.hook_says("");
    b.tool_says("t1", "seen");
    b.hook_says("");
    b.says("done");
    b.hook_says("");
    b.eof();
    b.hook_says("");
    let title = "Hooks around the rest of a session";
    assert_eq!(follow(title, &b, "system hook_started"), 0);
    assert_eq!(b.exit, Some(0));
}

// covers: DEC-21, DEC-43
#[test]
fn the_document_tells_what_follows_a_control_request() {
    let ask = |b: &mut Bench, request: Value| {
        let record = json!({"type": "control_request", "request_id": "c", "request": request});
        b.line(&record.to_string());
    };
    let mut b = Bench::new(Config {
        profile: reference().profile,
        ..hooked(&[HookEvent::UserPromptSubmit])
    });
    b.prompt(1, "go");
    ask(
        &mut b,
        json!({"subtype": "cancel_async_message", "message_uuid": uuid(1)}),
    );
    let title = "A prompt that is taken back";
    assert_eq!(follow(title, &b, "control_response success"), 0);
    let mut b = Bench::new(Config {
        permission_mode: PermissionMode::BypassPermissions,
        ..reference()
    });
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", r#"{"run_in_background":true}"#)]);
    let task = b.task_begins("t1");
    ask(&mut b, json!({"subtype": "stop_task", "task_id": task}));
    let title = "A task that the host stops";
    assert_eq!(follow(title, &b, "control_response success"), 0);
    let mut b = Bench::new(reference());
    ask(
        &mut b,
        json!({"subtype": "set_permission_mode", "mode": "plan"}),
    );
    let title = "A mode that the host changes";
    assert_eq!(follow(title, &b, "control_response success"), 0);
    let mut b = Bench::new(reference());
    ask(
        &mut b,
        json!({"subtype": "initialize", "promptSuggestions": true}),
    );
    b.prompt(1, "go");
    b.says("done");
    b.says("and now?");
    assert_eq!(follow("A turn", &b, "session_state_changed running"), 0);
    assert_eq!(follow("A prompt suggestion", &b, "result"), 0);
}
