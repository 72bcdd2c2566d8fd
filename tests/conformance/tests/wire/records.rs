//! docs/records.md names every member that records have, and no result member
//! that they do not have.

use crate::scenarios;
use agentx_conformance::session::{Bench, hooked};
use agentx_conformance::tree;
use agentx_core::hook::HookEvent;
use serde_json::Value;
use std::collections::BTreeSet;

/// Members whose value is the host's or the model's, or a list that the page
/// does not go into.
const CLOSED: [&str; 12] = [
    "input",
    "tool_input",
    "tool_use_result",
    "structured_output",
    "mcp_servers",
    "plugins",
    "reasoning_capabilities",
    "models",
    "providers",
    "account",
    "categories",
    "gridRows",
];

fn page() -> String {
    let path = tree::root().join("docs/records.md");
    std::fs::read_to_string(path).expect("the document")
}

/// Adds the names of `value`, at every depth that the page goes into.
fn names(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| names(item, into)),
        Value::Object(members) => {
            for (name, value) in members {
                into.insert(name.clone());
                if name == "modelUsage" {
                    // One level of it is named after models.
                    let models = value.as_object().into_iter().flat_map(|all| all.values());
                    models.for_each(|usage| names(usage, into));
                } else if !CLOSED.contains(&name.as_str()) {
                    names(value, into);
                }
            }
        }
        _ => {}
    }
}

/// All records of the recorded scenarios, and the answers to what a host asks.
fn records() -> Vec<Value> {
    let played = scenarios::ALL.iter().map(|scenario| scenario.play());
    let mut all: Vec<_> = played.flat_map(|b| b.all_records()).collect();
    let mut b = Bench::with_init(scenarios::options(""));
    b.prompt(1, "go");
    b.says("gone");
    for operation in [
        "initialize",
        "initialize",
        "get_context_usage",
        "mcp_status",
    ] {
        b.control("any", operation);
    }
    all.extend(b.all_records());
    let mut b = Bench::with_init(hooked(&[HookEvent::PreToolUse]));
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", "{}")]);
    b.hook_says(r#"{"decision":"ask"}"#);
    all.extend(b.all_records());
    all
}

// covers: DEC-47
#[test]
fn the_document_names_every_member() {
    let page = page();
    let mut seen = BTreeSet::new();
    records().iter().for_each(|record| names(record, &mut seen));
    assert!(seen.len() > 60, "{seen:?}");
    let told = |name: &str| {
        [("`", "`"), ("\"", "\""), ("[", "]")]
            .iter()
            .any(|(open, close)| page.contains(&format!("{open}{name}{close}")))
    };
    let untold: Vec<_> = seen.iter().filter(|name| !told(name)).collect();
    assert!(untold.is_empty(), "docs/records.md lacks {untold:?}");
    for (pointer, what) in [
        ("/stop_reason", "stop reason"),
        ("/subtype", "subtype"),
        ("/error", "error"),
        ("/event/type", "event"),
        ("/event/delta/type", "delta"),
    ] {
        for record in records() {
            let word = record.pointer(pointer).and_then(Value::as_str);
            assert!(
                word.is_none_or(told),
                "docs/records.md lacks the {what} {word:?}"
            );
        }
    }
}

// covers: DEC-47
#[test]
fn results_have_what_the_document_names() {
    let page = page();
    let (_, section) = page.split_once("\n## The result\n").expect("its section");
    let section = section.split("\n## ").next().expect("its text");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let cells = rows.filter_map(|row| row.split(" |").next());
    let members = cells.flat_map(|cell| cell.split(", "));
    let members: Vec<_> = members
        .map(|name| name.trim_matches(['`', '[', ']']))
        .collect();
    let records = records();
    let mut results = records.iter().filter(|record| record["type"] == "result");
    let mut had = BTreeSet::new();
    for result in results.by_ref() {
        had.extend(result.as_object().expect("a record").keys().cloned());
    }
    let named: BTreeSet<_> = members.iter().map(|name| (*name).to_string()).collect();
    let own = ["type", "uuid", "session_id"].map(str::to_string);
    let had: BTreeSet<_> = had.into_iter().filter(|name| !own.contains(name)).collect();
    assert_eq!(named, had);
}
