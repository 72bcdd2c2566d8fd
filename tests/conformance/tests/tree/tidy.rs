//! The house rules that a machine can read off the tree.

use crate::complain;
use agentx_conformance::{graph, rules, tree};

/// Crates that may stand in the graph in several versions, each with its reason.
const SEVERAL_VERSIONS: &[(&str, &str)] = &[
    (
        "async-channel",
        "async-std still takes 1, what is under it 2; in the async-std driver alone",
    ),
    (
        "bit-vec",
        "fancy-regex under jsonschema takes 0.8, yasna under rcgen (tests only) 0.9",
    ),
    (
        "event-listener",
        "under both versions of async-channel, 2 and 5; in the async-std driver alone",
    ),
    (
        "getrandom",
        "ring still takes 0.2, tempfile (tests only) 0.4",
    ),
    (
        "syn",
        "build time only: zerocopy-derive under criterion still takes 2",
    ),
];

/// What may be built into `agentx-core`: nothing that brings a clock, an
/// environment, threads or randomness.
const CORE_MAY_USE: &[&str] = &["aho-corasick", "memchr", "smallvec", "uuid"];

#[test]
fn files_keep_their_size() {
    let files = tree::files(&tree::root()).unwrap();
    let mut wrong = Vec::new();
    for file in &files {
        let lines = rules::production_lines(file);
        if file.has_extension("rs") && lines > rules::SOFT_LINES {
            eprintln!("large: {} has {lines} lines", file.path);
        }
        wrong.extend(rules::sizes(file));
    }
    complain(&wrong);
}

/// What a runtime adds to the pump: lines of one module, such as that with the
/// loop, the wait and the spawning; tests aside.
const RUNTIME_LINES: usize = 300;

#[test]
fn what_a_runtime_adds_is_little() {
    let files = tree::files(&tree::root()).unwrap();
    let mut wrong = Vec::new();
    for runtime in ["tokio", "async-std", "mio"] {
        let folder = format!("drivers/{runtime}/src/");
        for own in files.iter().filter(|file| file.path.starts_with(&folder)) {
            let lines = rules::production_lines(own);
            if lines > RUNTIME_LINES {
                let path = &own.path;
                wrong.push(format!("{path}: {lines} lines, {RUNTIME_LINES} at most"));
            }
        }
    }
    complain(&wrong);
}

#[test]
fn sources_are_finished_and_the_core_is_pure() {
    let files = tree::files(&tree::root()).unwrap();
    complain(&files.iter().flat_map(rules::source).collect::<Vec<_>>());
}

#[test]
fn files_speak_of_the_project_alone() {
    let files = tree::files(&tree::root()).unwrap();
    complain(&files.iter().flat_map(rules::places).collect::<Vec<_>>());
}

#[test]
fn manifests_take_what_the_workspace_says() {
    let files = tree::files(&tree::root()).unwrap();
    let manifests = files
        .iter()
        .filter(|file| file.path.ends_with("Cargo.toml"));
    complain(&manifests.flat_map(rules::manifest).collect::<Vec<_>>());
}

#[test]
fn links_lead_somewhere() {
    let files = tree::files(&tree::root()).unwrap();
    let pages = files.iter().filter(|file| file.has_extension("md"));
    complain(
        &pages
            .flat_map(|page| rules::links(page, &files))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn dependencies_are_licensed_and_single() {
    let metadata = graph::metadata().unwrap();
    let mut wrong = graph::licences(&metadata);
    wrong.extend(graph::duplicates(&metadata, SEVERAL_VERSIONS));
    complain(&wrong);
}

/// A crate that nobody looks after any more stays where it is
/// (docs/decisions/async-std.md).
#[test]
fn async_std_is_under_its_driver_alone() {
    let metadata = graph::metadata().unwrap();
    let users = graph::users(&metadata, "async-std");
    assert_eq!(users.into_iter().collect::<Vec<_>>(), ["agentx-async-std"]);
    let users = graph::users(&metadata, "agentx-async-std");
    let allowed = ["agentx", "agentx-benches", "agentx-equivalence"];
    let foreign = users
        .iter()
        .filter(|name| !allowed.contains(&name.as_str()));
    complain(
        &foreign
            .map(|name| format!("{name} depends on agentx-async-std"))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn the_core_is_built_of_little() {
    let metadata = graph::metadata().unwrap();
    let used = graph::built_into(&metadata, "agentx-core");
    let foreign = used
        .iter()
        .filter(|name| !CORE_MAY_USE.contains(&name.as_str()));
    complain(
        &foreign
            .map(|name| format!("agentx-core depends on {name}"))
            .collect::<Vec<_>>(),
    );
}
