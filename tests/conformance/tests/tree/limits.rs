//! docs/limits.md names every limit with the value that the code has.

use crate::complain;
use agentx_conformance::tree;
use agentx_core::limits::Limits;
use std::collections::BTreeMap;

/// Names and values as `Debug` tells them.
fn in_code() -> BTreeMap<String, String> {
    let told = format!("{:?}", Limits::DEFAULT);
    let flat = told
        .replace("upload: UploadLimits {", "")
        .replace(['{', '}'], "");
    let pairs = flat.trim_start_matches("Limits").split(',');
    pairs
        .filter_map(|pair| pair.split_once(": "))
        .map(|(name, value)| (name.trim().to_string(), value.trim().to_string()))
        .collect()
}

/// Names and values of the tables, `1,000` and `60 s` as the code writes them.
fn in_document() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(tree::root().join("docs/limits.md")).unwrap_or_default();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split_once("` | "))
        .map(|(name, rest)| {
            let value = rest.split(" |").next().unwrap_or_default();
            (name.to_string(), value.replace([',', ' '], ""))
        })
        .collect()
}

#[test]
fn the_document_names_every_limit_with_its_value() {
    let (code, document) = (in_code(), in_document());
    assert!(code.len() > 35, "the limits were not read: {code:?}");
    let mut wrong = Vec::new();
    for (name, value) in &code {
        match document.get(name) {
            Some(told) if told == value => {}
            Some(told) => wrong.push(format!("{name} is {value}, docs/limits.md says {told}")),
            None => wrong.push(format!("docs/limits.md does not name {name}")),
        }
    }
    let unknown = document.keys().filter(|name| !code.contains_key(*name));
    wrong.extend(unknown.map(|name| format!("docs/limits.md names {name}, which is no limit")));
    complain(&wrong);
}
