//! Whether what `docs/compat.md` names as its tests is there.

use crate::source;
use crate::tree::File;
use std::collections::BTreeMap;

/// The page that lists what clients of existing hosts do.
pub const PAGE: &str = "docs/compat.md";

/// The script that runs the drivers, and names those of the test material.
const RUNNER: &str = "tests/sdk.py";

/// What may hold a fact: how it is named on the page, and how often there is one of that name.
type Holders = BTreeMap<String, usize>;

/// What is wrong with the page: names of drivers and tests that are not there
/// or ambiguous, facts without one, and drivers that no fact names.
#[must_use]
pub fn audit(files: &[File]) -> Vec<String> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        return vec![format!("{PAGE} is missing")];
    };
    let holders = holders(files);
    let mut wrong = Vec::new();
    let mut named = Vec::new();
    let mut column = false;
    for (at, line) in page.text().lines().enumerate() {
        let place = format!("{PAGE}:{}", at + 1);
        let names = names(line);
        for name in &names {
            match holders.get(name).copied().unwrap_or(0) {
                0 => wrong.push(format!("{place}: there is no {name}")),
                1 => {}
                count => wrong.push(format!("{place}: there are {count} {name}")),
            }
        }
        let is_row = line.starts_with('|');
        if line.ends_with("| held by |") {
            column = true;
        } else if !is_row {
            column = false;
        } else if column && names.is_empty() && !line.starts_with("|---") {
            wrong.push(format!("{place}: nothing holds this fact"));
        }
        named.extend(names);
    }
    let drivers = holders.keys().filter(|name| !name.starts_with("test:"));
    for driver in drivers.filter(|driver| !named.contains(driver)) {
        wrong.push(format!("{PAGE}: no fact names {driver}"));
    }
    wrong
}

/// The drivers and tests that a line names, in code spans.
fn names(line: &str) -> Vec<String> {
    let kinds = ["py:", "js:", "given:", "test:"];
    let spans = line.split('`').skip(1).step_by(2);
    spans
        .filter(|span| {
            kinds
                .iter()
                .any(|kind| span.strip_prefix(kind).is_some_and(|rest| !rest.is_empty()))
        })
        .map(str::to_owned)
        .collect()
}

fn holders(files: &[File]) -> Holders {
    let mut found = Holders::new();
    for file in files {
        let (kind, drivers) = if file.path.starts_with("tests/sdk/py/") {
            ("py", python(file.text()))
        } else if file.path.starts_with("tests/sdk/js/") {
            ("js", javascript(file.text()))
        } else if file.path == RUNNER {
            ("given", given(file.text()))
        } else if file.has_extension("rs") {
            let (tests, _) = source::tests(&file.path, file.text());
            let last = |name: String| name.rsplit("::").next().map(str::to_owned);
            let tests = tests.into_iter().filter_map(|test| last(test.name));
            ("test", tests.collect())
        } else {
            continue;
        };
        for driver in drivers {
            *found.entry(format!("{kind}:{driver}")).or_default() += 1;
        }
    }
    found
}

/// `async def NAME(` right below `@drives`.
fn python(text: &str) -> Vec<String> {
    let below = |(_, line): (&str, &str)| {
        let name = line.strip_prefix("async def ")?.split('(').next()?;
        Some(name.to_owned())
    };
    let pairs = text.lines().zip(text.lines().skip(1));
    pairs
        .filter(|(line, _)| *line == "@drives")
        .filter_map(below)
        .collect()
}

/// `drives("NAME", …` at the start of a line.
fn javascript(text: &str) -> Vec<String> {
    let lines = text.lines();
    let names = lines.filter_map(|line| line.strip_prefix("drives(\"")?.split('"').next());
    names.map(str::to_owned).collect()
}

/// The strings of the tuple `GIVEN`.
fn given(text: &str) -> Vec<String> {
    let tuple = text
        .split_once("\nGIVEN = (")
        .and_then(|(_, rest)| rest.split(')').next());
    let strings = tuple.unwrap_or_default().split('"').skip(1).step_by(2);
    strings.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{PAGE, RUNNER, audit};
    use crate::tree::File;

    fn tree(page: &str) -> Vec<File> {
        vec![
            File::of(PAGE, page),
            File::of(RUNNER, "X = (1)\nGIVEN = (\"one\",\n  \"two\")\n"),
            File::of(
                "tests/sdk/py/a.py",
                "@drives\nasync def three():\n    pass\n\nasync def helper():\n",
            ),
            File::of(
                "tests/sdk/js/b.mjs",
                "drives(\"four\", async () => {\n  drives(\"no\")\n});\n",
            ),
            File::of("core/src/c.rs", "#[test]\nfn five() {}\nfn six() {}\n"),
        ]
    }

    const GOOD: &str = "| fact | held by |\n|---|---|\n| a | `given:one`, `given:two` |\n| b | `py:three`, `test:five` |\n\n`js:four`\n\n| what | why |\n|---|---|\n| c | d |\n";

    #[test]
    fn what_is_there_is_found() {
        assert_eq!(audit(&tree(GOOD)), [""; 0]);
    }

    #[test]
    fn what_is_not_there_is_told() {
        let page = GOOD
            .replace("test:five", "test:six")
            .replace("py:three", "py:helper");
        let wrong = audit(&tree(&page));
        assert_eq!(
            wrong,
            [
                "docs/compat.md:4: there is no py:helper",
                "docs/compat.md:4: there is no test:six",
                "docs/compat.md: no fact names py:three",
            ]
        );
    }

    #[test]
    fn a_fact_needs_a_name_that_is_clear() {
        let mut files = tree(&GOOD.replace("`given:one`, `given:two`", "`given:`"));
        files.push(File::of("tools/src/d.rs", "#[test]\nfn five() {}\n"));
        assert_eq!(
            audit(&files),
            [
                "docs/compat.md:3: nothing holds this fact",
                "docs/compat.md:4: there are 2 test:five",
                "docs/compat.md: no fact names given:one",
                "docs/compat.md: no fact names given:two",
            ]
        );
        assert_eq!(audit(&[]), ["docs/compat.md is missing"]);
    }
}
