//! House rules that can be read off the files: sizes, purity of the core, what
//! a source must not contain, manifests, links.

use crate::source::{Layers, is_test_file, test_lines};
use crate::tree::File;
use std::collections::BTreeSet;

/// Non-test lines from which a file is listed.
pub const SOFT_LINES: usize = 400;
/// Non-test lines that a file may have, and lines of a file of tests.
pub const HARD_LINES: usize = 800;
/// Lines that an inline test module may have before it moves to its own file.
pub const INLINE_TEST_LINES: usize = 150;
/// Bytes that a file of the repository may have.
pub const FILE_BYTES: u64 = 1_048_576;

/// Lines of a Rust file that are no tests.
#[must_use]
pub fn production_lines(file: &File) -> usize {
    if is_test_file(&file.path) {
        return 0;
    }
    let marks = test_lines(&Layers::of(file.text()).code);
    marks.iter().filter(|test| !**test).count()
}

/// What is too large.
#[must_use]
pub fn sizes(file: &File) -> Vec<String> {
    let mut wrong = Vec::new();
    let path = &file.path;
    if file.size > FILE_BYTES {
        wrong.push(format!("{path}: {} bytes, {FILE_BYTES} at most", file.size));
    }
    if file.has_extension("rs") {
        let lines = production_lines(file);
        if lines > HARD_LINES {
            wrong.push(format!("{path}: {lines} lines, {HARD_LINES} at most"));
        }
        let tests = file.text().lines().count();
        if is_test_file(path) && tests > HARD_LINES {
            wrong.push(format!("{path}: {tests} lines, {HARD_LINES} at most"));
        }
        let inline = file.text().lines().count() - lines;
        if !is_test_file(path) && inline > INLINE_TEST_LINES {
            wrong.push(format!(
                "{path}: {inline} lines of inline tests, {INLINE_TEST_LINES} at most before they move to a file"
            ));
        }
    }
    wrong
}

/// What no Rust source may contain, and what production code of the core may not.
#[must_use]
pub fn source(file: &File) -> Vec<String> {
    if !file.has_extension("rs") {
        return Vec::new();
    }
    let code = Layers::of(file.text()).code;
    let pure = file.path.starts_with("core/src/") && !is_test_file(&file.path);
    let mut wrong = Vec::new();
    for (at, (line, test)) in code.lines().zip(test_lines(&code)).enumerate() {
        for word in ["todo!", "unimplemented!", "#[ignore"] {
            if line.contains(word) {
                wrong.push(format!("{}:{}: `{word}`", file.path, at + 1));
            }
        }
        for word in ["std::", "HashMap", "HashSet", "async ", ".await"] {
            if pure && !test && has_word(line, word) {
                wrong.push(format!("{}:{}: `{word}` in the core", file.path, at + 1));
            }
        }
    }
    wrong
}

/// Whether `word` stands in `line` without being the tail of a longer name.
fn has_word(line: &str, word: &str) -> bool {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let cut_before = !before.is_some_and(part_of_name) || word.starts_with('.');
        cut_before && (!word.ends_with(char::is_alphanumeric) || !after.is_some_and(part_of_name))
    })
}

/// Paths of one machine, and mentions of material outside the repository by
/// anything but the scripts that use it.
#[must_use]
pub fn places(file: &File) -> Vec<String> {
    if file.path.starts_with("tests/conformance/") {
        return Vec::new();
    }
    let script = file.path.starts_with(".ci/")
        || file.path.starts_with("benches/")
        || file.path == "docs/performance.md"
        || file.path.starts_with("tests/")
            && (file.has_extension("sh") || file.has_extension("py"));
    let mut wrong = Vec::new();
    for (at, line) in file.text().lines().enumerate() {
        let place = format!("{}:{}", file.path, at + 1);
        let outside = ["../shared", "AGENTX_SHARED"];
        if !script && outside.iter().any(|name| line.contains(name)) {
            wrong.push(format!("{place}: names material outside the repository"));
        }
        let homes = ["/root/", "/work/", "/Users/", "/tmp/wt", "/tmp/target"];
        // What goes on before it is another path, such as `../work/`.
        let starts = |at: usize| {
            let before = line.get(..at).and_then(|text| text.chars().next_back());
            !before.is_some_and(|c| c.is_alphanumeric() || "./_-".contains(c))
        };
        let named = |home: &&str| line.match_indices(*home).any(|(at, _)| starts(at));
        if homes.iter().any(named) {
            wrong.push(format!("{place}: a path of one machine"));
        }
    }
    wrong
}

/// Rust files that no module declares: nobody compiles them, so what they test
/// is not tested.
#[must_use]
pub fn orphans(files: &[File]) -> Vec<String> {
    let roots = ["lib.rs", "main.rs", "build.rs"];
    let declares = |path: &str, module: &str| {
        files
            .iter()
            .find(|file| file.path == path)
            .is_some_and(|file| {
                let code = Layers::of(file.text()).code;
                let named = |line: &str| has_word(line, &format!("mod {module}"));
                code.lines().any(named)
            })
    };
    let mut wrong = Vec::new();
    for file in files.iter().filter(|file| file.has_extension("rs")) {
        let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
        let (above, folder_name) = folder.rsplit_once('/').unwrap_or(("", folder));
        let target = ["bin", "tests", "benches", "examples", "fuzz_targets"].contains(&folder_name)
            && !above.ends_with("src");
        if roots.contains(&name) || target || above.ends_with("src") && folder_name == "bin" {
            continue;
        }
        let (module, parents) = if name == "mod.rs" {
            (
                folder_name,
                [format!("{above}.rs"), format!("{above}/mod.rs")],
            )
        } else {
            let parents = [format!("{folder}.rs"), format!("{folder}/mod.rs")];
            (name.trim_end_matches(".rs"), parents)
        };
        let place = if name == "mod.rs" { above } else { folder };
        let roots = roots.map(|root| format!("{place}/{root}"));
        if !parents
            .iter()
            .chain(&roots)
            .any(|path| declares(path, module))
        {
            wrong.push(format!("{}: no module declares it", file.path));
        }
    }
    wrong
}

/// What a member's manifest must say.
#[must_use]
pub fn manifest(file: &File) -> Vec<String> {
    let path = &file.path;
    let table: toml::Table = match toml::from_str(file.text()) {
        Ok(table) => table,
        Err(e) => return vec![format!("{path}: {e}")],
    };
    let inherits = |keys: &[&str]| {
        let mut value = table.get(keys[0]);
        for key in &keys[1..] {
            value = value.and_then(|v| v.get(key));
        }
        value.and_then(toml::Value::as_bool) == Some(true)
    };
    let mut wrong = Vec::new();
    if table.contains_key("workspace") {
        let lint = |name: &str| {
            table["workspace"]
                .get("lints")
                .and_then(|l| l.get("rust"))
                .and_then(|l| l.get(name))
                .and_then(toml::Value::as_str)
        };
        if lint("unsafe_code") != Some("forbid") {
            wrong.push(format!("{path}: the workspace does not forbid unsafe code"));
        }
        return wrong;
    }
    if !inherits(&["lints", "workspace"]) {
        wrong.push(format!("{path}: does not take the lints of the workspace"));
    }
    for key in ["version", "edition", "rust-version", "license", "publish"] {
        if !inherits(&["package", key, "workspace"]) {
            wrong.push(format!("{path}: does not take `{key}` from the workspace"));
        }
    }
    wrong
}

/// Links of a Markdown file that lead to no file of the repository or to no
/// heading of it.
#[must_use]
pub fn links(file: &File, files: &[File]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut fenced = false;
    for (at, line) in file.text().lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for part in line.split("](").skip(1) {
            let target = part.split(')').next().unwrap_or_default();
            if !target.contains("://") && !leads_somewhere(&file.path, target, files) {
                wrong.push(format!("{}:{}: dead link {target}", file.path, at + 1));
            }
        }
    }
    wrong
}

fn leads_somewhere(from: &str, target: &str, files: &[File]) -> bool {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let mut parts: Vec<&str> = from.split('/').collect();
    if !path.is_empty() {
        parts.pop();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.pop().is_none() => return false,
                ".." => {}
                name => parts.push(name),
            }
        }
    }
    let path = parts.join("/");
    let folder = format!("{path}/");
    match files.iter().find(|file| file.path == path) {
        Some(file) => anchor.is_empty() || anchors(file.text()).contains(anchor),
        None => anchor.is_empty() && files.iter().any(|file| file.path.starts_with(&folder)),
    }
}

/// The anchors that headings of a Markdown text get.
fn anchors(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            line.trim_start_matches('#')
                .trim()
                .chars()
                .filter_map(|c| match c {
                    ' ' => Some('-'),
                    c if c.is_alphanumeric() || matches!(c, '-' | '_') => {
                        Some(c.to_ascii_lowercase())
                    }
                    _ => None,
                })
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests;
