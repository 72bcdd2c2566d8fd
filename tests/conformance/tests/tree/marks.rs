//! Every requirement mark stands at a line of production code, and names a
//! requirement that is built and that a test covers.

use crate::complain;
use agentx_conformance::source::{self, Layers, is_test_file, test_lines};
use agentx_conformance::{register, tree};
use agentx_core::mark::Mark;
use std::collections::{BTreeMap, BTreeSet};

/// The names that the macro is given in production code, and how often.
fn sites(path: &str, text: &str) -> Vec<String> {
    if is_test_file(path) || path == "core/src/mark.rs" {
        return Vec::new();
    }
    let code = Layers::of(text).code;
    let lines = code.lines().zip(test_lines(&code));
    let production: String = lines
        .filter(|(_, test)| !test)
        .flat_map(|(line, _)| line.chars())
        .filter(|c| !c.is_whitespace())
        .collect();
    let calls = production.split("mark!(").skip(1);
    let names = calls.filter_map(|call| call.split(')').next()?.rsplit(',').next());
    names.map(str::to_string).collect()
}

#[test]
fn each_mark_stands_at_a_line_and_names_a_requirement() {
    let files = tree::files(&tree::root()).unwrap();
    let text = |path: &str| {
        let file = files.iter().find(|file| file.path == path);
        file.map_or("", |file| file.text()).to_string()
    };
    let register = register::read(&text("docs/requirements.toml")).unwrap();
    let mut used: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut covered = BTreeSet::new();
    for file in files.iter().filter(|file| file.has_extension("rs")) {
        if file.path.starts_with("core/src/") {
            for name in sites(&file.path, file.text()) {
                used.entry(name).or_default().push(&file.path);
            }
        }
        let (tests, _) = source::tests(&file.path, file.text());
        covered.extend(tests.into_iter().flat_map(|test| test.covers));
    }
    let mut wrong = Vec::new();
    for mark in Mark::ALL {
        let id = mark.id();
        if !used.contains_key(&format!("{mark:?}")) {
            wrong.push(format!("{id} is a mark, and no line has it"));
        }
        let built = register.get(id).is_some_and(|entry| {
            use register::Status;
            matches!(entry.status, Status::Built | Status::Partly)
        });
        if !built {
            wrong.push(format!(
                "{id} is a mark, and docs/requirements.toml has nothing built"
            ));
        }
        if !covered.contains(id) {
            wrong.push(format!("{id} is a mark, and no test covers it"));
        }
    }
    complain(&wrong);
}
