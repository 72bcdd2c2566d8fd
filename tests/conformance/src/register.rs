//! The register of requirements, `docs/requirements.toml`, held against the
//! tests and the sources.

use crate::source::{Layers, Test, is_test_file, test_lines};
use crate::tree::File;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// How far a requirement is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Nothing holds it yet.
    Planned,
    /// At least one test covers some of it.
    Partly,
    /// Built and tested.
    Built,
    /// No requirement of this system.
    Out,
}

/// What the register says about one id.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// How far it is met.
    pub status: Status,
    /// What it asks, in a few words.
    pub title: Option<String>,
    /// Why it is out.
    pub reason: Option<String>,
    /// What a partly met one lacks, once somebody has looked.
    pub missing: Option<String>,
    /// Tests that hold it, each `FILE::FUNCTION`.
    #[serde(default)]
    pub tests: Vec<String>,
    /// `FILE:FRAGMENT`, the line of production code that decides it.
    pub line: Option<String>,
    /// What to put in the place of the fragment to break it; without this the
    /// whole line goes.
    pub becomes: Option<String>,
}

impl Entry {
    const fn bare(status: Status) -> Self {
        Self {
            status,
            title: None,
            reason: None,
            missing: None,
            tests: Vec::new(),
            line: None,
            becomes: None,
        }
    }
}

/// All entries by id.
pub type Register = BTreeMap<String, Entry>;

/// Reads a register.
///
/// # Errors
///
/// Everything that keeps it from being read, each with the id it is about.
pub fn read(text: &str) -> Result<Register, Vec<String>> {
    let table: toml::Table = toml::from_str(text).map_err(|e| vec![e.to_string()])?;
    let mut register = Register::new();
    let mut wrong = Vec::new();
    collect(table, &mut register, &mut wrong);
    if wrong.is_empty() {
        Ok(register)
    } else {
        Err(wrong)
    }
}

fn collect(table: toml::Table, register: &mut Register, wrong: &mut Vec<String>) {
    for (id, value) in table {
        let entry = match value {
            toml::Value::Table(inner) if !inner.contains_key("status") => {
                collect(inner, register, wrong);
                continue;
            }
            toml::Value::Table(inner) => Entry::deserialize(inner),
            bare => Status::deserialize(bare).map(Entry::bare),
        };
        match entry {
            Ok(entry) if register.contains_key(&id) => {
                wrong.push(format!(
                    "{id}: stands twice, the second time as {:?}",
                    entry.status
                ));
            }
            Ok(entry) => {
                register.insert(id, entry);
            }
            Err(e) => wrong.push(format!("{id}: {}", e.message())),
        }
    }
}

/// Everything in which register, tests and sources contradict each other.
#[must_use]
pub fn audit(register: &Register, tests: &[Test], files: &[File]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut covered = BTreeSet::new();
    for test in tests {
        for id in &test.covers {
            covered.insert(id.as_str());
            let fault = match register.get(id).map(|entry| entry.status) {
                None => "is no id of the register",
                Some(Status::Planned) => "is still `planned` in the register",
                Some(Status::Out) => "is `out` in the register",
                Some(Status::Partly | Status::Built) => continue,
            };
            wrong.push(format!("{id} {fault}, but {} covers it", test.name));
        }
    }
    for (id, entry) in register {
        let claims = matches!(entry.status, Status::Partly | Status::Built);
        if claims && !covered.contains(id.as_str()) {
            wrong.push(format!("{id} is built, but no test covers it"));
        }
        explained(id, entry, &mut wrong);
        for name in &entry.tests {
            match tests.iter().find(|test| test.name == *name) {
                None => wrong.push(format!("{id}: there is no test {name}")),
                Some(test) if !test.covers.contains(id) => {
                    wrong.push(format!("{id}: {name} does not say that it covers it"));
                }
                Some(_) => {}
            }
        }
        if id.starts_with("ACC-") && entry.status == Status::Built {
            if entry.tests.is_empty() {
                wrong.push(format!("{id}: a built scenario names its tests"));
            }
            if entry.line.is_none() {
                wrong.push(format!(
                    "{id}: a built scenario names the line that decides it"
                ));
            }
        }
        if let Some(line) = &entry.line
            && let Err(fault) = deciding_line(line, files)
        {
            wrong.push(format!("{id}: {fault}"));
        }
    }
    wrong
}

/// Each status is explained by its own member and by no other.
fn explained(id: &str, entry: &Entry, wrong: &mut Vec<String>) {
    if (entry.status == Status::Out) != entry.reason.is_some() {
        wrong.push(format!(
            "{id}: `reason` stands exactly where the status is `out`"
        ));
    }
    if entry.status != Status::Partly && entry.missing.is_some() {
        wrong.push(format!(
            "{id}: `missing` stands only where the status is `partly`"
        ));
    }
    if entry.becomes.is_some() && entry.line.is_none() {
        wrong.push(format!("{id}: `becomes` without `line`"));
    }
}

/// Finds the one line of production code that `FILE:FRAGMENT` means.
///
/// # Errors
///
/// Why there is not exactly one.
pub fn deciding_line(line: &str, files: &[File]) -> Result<usize, String> {
    let (path, fragment) = line
        .split_once(':')
        .ok_or_else(|| format!("`{line}` is not FILE:FRAGMENT"))?;
    let file = files
        .iter()
        .find(|file| file.path == path)
        .ok_or_else(|| format!("there is no file {path}"))?;
    if is_test_file(path) {
        return Err(format!("{path} is not production code"));
    }
    let layers = Layers::of(file.text());
    let marks = test_lines(&layers.code);
    let mut hits = file
        .text()
        .lines()
        .zip(layers.code.lines())
        .zip(marks)
        .enumerate()
        .filter(|(_, ((text, code), test))| {
            !test && !code.trim().is_empty() && text.contains(fragment)
        })
        .map(|(at, _)| at + 1);
    match (hits.next(), hits.next()) {
        (Some(at), None) => Ok(at),
        (None, _) => Err(format!("no line of {path} has `{fragment}`")),
        (Some(a), Some(b)) => Err(format!(
            "lines {a} and {b} of {path} both have `{fragment}`"
        )),
    }
}

#[cfg(test)]
mod tests;
