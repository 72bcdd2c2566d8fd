//! docs/limits.md names every limit with the value that the code has.

use crate::complain;
use agentx_conformance::{source, tree};
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

// ---- everything but `Limits` of the core: constants, and fields of limits.rs --------

/// Constants that bound nothing, each with its reason.
const NO_LIMITS: &[(&str, &str)] = &[
    ("core/src/schema/payload/context", "the shape of a picture"),
    ("core/src/json/text::STEP", "a stride"),
    ("core/src/hook/report::DENIES", "an exit status"),
    ("core/src/json/stops::BLOCK", "a stride"),
    (
        "core/src/guard::FEW",
        "where one way becomes faster than the other",
    ),
    (
        "core/src/json/names::LINEAR",
        "where one way becomes faster than the other",
    ),
    ("core/src/json/token::ONES", "a bit pattern"),
    ("core/src/json/token::HIGHS", "a bit pattern"),
    (
        "core/src/agent/context_usage::BYTES_PER_TOKEN",
        "an estimate",
    ),
    ("core/src/agent/endings::LATCHED", "an exit status"),
    ("core/src/agent/endings::INPUT_LOST", "an exit status"),
    ("core/src/agent/turns::TOO_MANY_REQUESTS", "a status"),
    (
        "provider-adapters/src/call/exchange::TOO_MANY_REQUESTS",
        "a status",
    ),
    (
        "core/src/agent/fit/text::NOTE",
        "room that is left for a note",
    ),
    ("core/src/agent/fit/text::BLOCK", "what a record takes"),
    (
        "core/src/agent/shared/settings::ENVELOPE",
        "what a record adds to a payload",
    ),
    (
        "core/src/limits::RECORD_LEVELS",
        "a relation between two limits",
    ),
    ("core/src/mcp/names::DIGEST_CHARS", "the length of a digest"),
    ("tools/src/folder::OWNER_ONLY", "permissions"),
    ("core/src/frame::FIRST", "a first size, which grows"),
    ("core/src/link::FIRST_BYTES", "a first size, which grows"),
    (
        "drivers/pump/src/http1/exchange::SEND_AGAIN_BYTES",
        "half of a limit",
    ),
    (
        "drivers/pump/src/http1/exchange::FIRST_STATUS_WITHOUT_NEED",
        "a status",
    ),
    ("drivers/cli/src/refusal::STATUS", "an exit status"),
    ("drivers/cli/src/main::FAILED", "an exit status"),
    (
        "drivers/cli/src/sessions::VERSION",
        "the version of a document",
    ),
    ("drivers/cli/src/money", "the grammar of a number"),
    ("drivers/cli/src/demo/transcript::COLUMN", "a layout"),
    ("drivers/cli/src/interactive::HUNG_UP", "an exit status"),
    (
        "drivers/cli/src/interactive/view::INTERRUPTED",
        "an exit status",
    ),
    ("drivers/cli/src/interactive/view/show::COLUMNS", "a layout"),
    (
        "drivers/cli/src/interactive/view/show::FEWEST_COLUMNS",
        "a layout",
    ),
    (
        "tools/src/body/read::NOTE_CHARS",
        "room that is left for a note",
    ),
    (
        "tools/src/body/command::LEAST_ROOM",
        "room below which nothing is shown in part",
    ),
    (
        "tools/src/text::LEFT_OUT_CHARS",
        "room that is left for a note",
    ),
];

/// What a limit counts: things or bytes, or milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Amount {
    Number(u128),
    Millis(u128),
}

/// A limit of the code: its file without `.rs`, its name, its value.
#[derive(Debug)]
struct InCode {
    file: String,
    name: String,
    amount: Option<Amount>,
}

impl InCode {
    fn path(&self) -> String {
        format!("{}::{}", self.file, self.name)
    }

    /// Whether a row of the document, which may name modules, too, means this.
    fn is_meant_by(&self, row: &Row) -> bool {
        let within = row
            .folders
            .iter()
            .any(|folder| self.file.starts_with(folder));
        let written = row.name.replace("::", "/").replace('.', "/");
        let (modules, name) = written.rsplit_once('/').unwrap_or(("", &written));
        let is_field = name.chars().any(|c| c.is_ascii_lowercase());
        let modules = if is_field { "" } else { modules };
        let fits = modules.is_empty() || self.file.ends_with(&format!("/{modules}"));
        within && fits && name == self.name
    }
}

/// One name of a table, with the folders that the heading above it names.
#[derive(Debug)]
struct Row {
    folders: Vec<String>,
    name: String,
    told: String,
}

/// The value of `8 << 20`, `10 * 60` or `Duration::from_secs(30)`.
fn computed(expression: &str) -> Option<Amount> {
    let inside = |name: &str| expression.strip_prefix(name)?.strip_suffix(')');
    if let Some(seconds) = inside("Duration::from_secs(") {
        return Some(Amount::Millis(number(seconds)? * 1_000));
    }
    if let Some(millis) = inside("Duration::from_millis(") {
        return Some(Amount::Millis(number(millis)?));
    }
    number(expression).map(Amount::Number)
}

fn number(expression: &str) -> Option<u128> {
    if let Some((value, shift)) = expression.split_once(" << ") {
        return Some(number(value)? << number(shift)?);
    }
    let factors = expression.split(" * ");
    let mut factors = factors.map(|factor| factor.trim().replace('_', "").parse::<u128>().ok());
    factors.try_fold(1, |product, factor| Some(product * factor?))
}

/// The value of `64 KiB`, `1,024 tool calls`, `4,500 ms` or `10^9`.
fn told(text: &str) -> Option<Amount> {
    let mut words = text.split_whitespace();
    let digits = words.next()?.replace(',', "");
    let value = match digits.split_once('^') {
        Some((base, power)) => base.parse::<u128>().ok()?.pow(power.parse().ok()?),
        None => digits.parse().ok()?,
    };
    Some(match words.next() {
        Some("KiB") => Amount::Number(value << 10),
        Some("MiB") => Amount::Number(value << 20),
        Some("USD") => Amount::Number(value * 1_000_000_000_000),
        Some("ms") => Amount::Millis(value),
        Some("s") => Amount::Millis(value * 1_000),
        Some("min") => Amount::Millis(value * 60_000),
        _ => Amount::Number(value),
    })
}

/// Constants of numbers and spans, and the defaults of fields in `limits.rs`.
fn constants() -> Vec<InCode> {
    const TYPES: [&str; 7] = ["usize", "u8", "u16", "u32", "u64", "u128", "Duration"];
    let files = tree::files(&tree::root()).unwrap();
    let production = files.iter().filter(|file| {
        file.has_extension("rs")
            && file.path.contains("src/")
            && !file.path.starts_with("tests/")
            && !file.path.starts_with("benches/")
            && !source::is_test_file(&file.path)
    });
    let mut found = Vec::new();
    for file in production {
        let stem = file.path.trim_end_matches(".rs").trim_end_matches("/mod");
        let mut push = |name: &str, amount| {
            found.push(InCode {
                file: stem.to_string(),
                name: name.to_string(),
                amount,
            });
        };
        // Definitions that rustfmt broke are joined; those of blocks are indented.
        let text = file.text().replace("=\n    ", "= ");
        for line in text.lines() {
            let constant = line.split_once("const ").filter(|(before, _)| {
                before.is_empty() || before.starts_with("pub") && !before.contains("fn")
            });
            let parts = constant.and_then(|(_, rest)| rest.strip_suffix(';'));
            if let Some((name, rest)) = parts.and_then(|rest| rest.split_once(": "))
                && let Some((kind, value)) = rest.split_once(" = ")
                && TYPES.contains(&kind)
            {
                push(name, computed(value));
            } else if stem.ends_with("/limits")
                && stem != "core/src/limits"
                && let Some((name, value)) = line.trim().trim_end_matches(',').split_once(": ")
                && line.ends_with(',')
                && let Some(amount) = computed(value)
            {
                push(name, Some(amount));
            }
        }
    }
    found
}

/// The tables whose heading names folders.
fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(tree::root().join("docs/limits.md")).unwrap();
    let mut folders = Vec::new();
    let mut rows = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            let quoted = heading.split('`').skip(1).step_by(2);
            let folder = |path: &str| path.trim_end_matches("/limits.rs").to_string();
            folders = quoted.map(folder).collect();
        }
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [names, values, _] = cells[..] else {
            continue;
        };
        if folders.is_empty() || names.starts_with(['`', '-']) || names == "name" {
            continue;
        }
        let each = values.contains(" each");
        let values: Vec<&str> = values.split(", ").collect();
        for (at, name) in names.split(", ").enumerate() {
            let value = values.get(if each { 0 } else { at });
            rows.push(Row {
                folders: folders.clone(),
                name: name.to_string(),
                told: value.copied().unwrap_or_default().to_string(),
            });
        }
    }
    rows
}

#[test]
fn the_document_names_every_other_limit_with_its_value() {
    let (code, rows) = (constants(), rows());
    assert!(
        code.len() > 80 && rows.len() > 80,
        "not read: {code:?} {rows:?}"
    );
    let mut wrong = Vec::new();
    for limit in &code {
        let path = limit.path();
        if NO_LIMITS
            .iter()
            .any(|(no_limit, _)| path.starts_with(no_limit))
        {
            continue;
        }
        let meant: Vec<&Row> = rows.iter().filter(|row| limit.is_meant_by(row)).collect();
        match meant[..] {
            [row] if limit.amount.is_some() && told(&row.told) == limit.amount => {}
            [row] => wrong.push(format!(
                "{path} is {:?}, docs/limits.md says {:?}",
                limit.amount, row.told
            )),
            [] => wrong.push(format!("docs/limits.md does not name {path}")),
            _ => wrong.push(format!("docs/limits.md names {path} more than once")),
        }
    }
    for row in &rows {
        match code.iter().filter(|limit| limit.is_meant_by(row)).count() {
            1 => {}
            0 => wrong.push(format!(
                "docs/limits.md names {}, which is no limit",
                row.name
            )),
            _ => wrong.push(format!(
                "docs/limits.md: {} may be several limits",
                row.name
            )),
        }
    }
    for (no_limit, _) in NO_LIMITS {
        if !code.iter().any(|limit| limit.path().starts_with(no_limit)) {
            wrong.push(format!("{no_limit} is excepted and does not exist"));
        }
    }
    complain(&wrong);
}

#[test]
fn amounts_are_read_as_they_are_written() {
    let number = |value| Some(Amount::Number(value));
    let millis = |value| Some(Amount::Millis(value));
    assert_eq!(computed("8 << 20"), number(8 << 20));
    assert_eq!(computed("4 * 1024 * 1_024"), number(4 << 20));
    assert_eq!(computed("Duration::from_secs(10 * 60)"), millis(600_000));
    assert_eq!(computed("Duration::from_millis(4_500)"), millis(4_500));
    assert_eq!(computed("OTHER / 2"), None);
    assert_eq!(told("8 MiB each"), number(8 << 20));
    assert_eq!(told("1,024 tool calls"), number(1_024));
    assert_eq!(told("10 min"), millis(600_000));
    assert_eq!(told("4,500 ms"), millis(4_500));
    assert_eq!(told("10^9"), number(1_000_000_000));
    assert_eq!(told("several"), None);
}
