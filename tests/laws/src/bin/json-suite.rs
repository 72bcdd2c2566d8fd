//! Checks the scanner on a copy of JSONTestSuite.
//!
//! `json-suite FOLDER` reads every file of the suite's `test_parsing` folder.
//! A `y_` file must be accepted and an `n_` file refused; the two `y_` files
//! with duplicate names must be refused by that name (DEC-03). What an `i_`
//! file does is up to the parser: each must do what `docs/json.md` says. A
//! missing folder, file or kind of file is a failure.

use agentx_core::json::{Reason, ScanError, ScanLimits, Scanner};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

/// Valid by the grammar, but ambiguous (DEC-03).
const DUPLICATES: [&str; 2] = [
    "y_object_duplicated_key.json",
    "y_object_duplicated_key_and_value.json",
];

/// How many files of each kind the suite has.
const EXPECTED: [(char, usize); 3] = [('i', 35), ('n', 188), ('y', 95)];

/// What is expected of an `i_` file.
fn implementation_defined(name: &str) -> Result<(), Reason> {
    match name {
        "i_structure_500_nested_arrays.json" => Err(Reason::TooDeep),
        "i_structure_UTF-8_BOM_empty_object.json" => Err(Reason::ByteOrderMark),
        "i_string_UTF-16LE_with_BOM.json"
        | "i_string_UTF-8_invalid_sequence.json"
        | "i_string_UTF8_surrogate_U+D800.json"
        | "i_string_invalid_utf-8.json"
        | "i_string_iso_latin_1.json"
        | "i_string_lone_utf8_continuation_byte.json"
        | "i_string_not_in_unicode_range.json"
        | "i_string_overlong_sequence_2_bytes.json"
        | "i_string_overlong_sequence_6_bytes.json"
        | "i_string_overlong_sequence_6_bytes_null.json"
        | "i_string_truncated-utf-8.json" => Err(Reason::InvalidUtf8),
        "i_string_utf16BE_no_BOM.json" | "i_string_utf16LE_no_BOM.json" => {
            Err(Reason::UnexpectedByte)
        }
        _ => Ok(()),
    }
}

fn expected(name: &str) -> Option<Expected> {
    Some(match name.chars().next()? {
        'y' if DUPLICATES.contains(&name) => Expected::Exactly(Err(Reason::DuplicateName)),
        'y' => Expected::Exactly(Ok(())),
        'n' => Expected::AnyFault,
        'i' => Expected::Exactly(implementation_defined(name)),
        _ => return None,
    })
}

enum Expected {
    Exactly(Result<(), Reason>),
    AnyFault,
}

fn main() -> ExitCode {
    let mut out = io::stdout().lock();
    let outcome = match env::args_os().nth(1).map(PathBuf::from) {
        Some(folder) => run(&folder, &mut out),
        None => Err("usage: json-suite FOLDER".into()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("json-suite: {error}");
            ExitCode::FAILURE
        }
    }
}

/// True when all files did what they should.
fn run(folder: &Path, out: &mut impl Write) -> Result<bool, Box<dyn std::error::Error>> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        names.push(
            name.into_string()
                .map_err(|_| "a file name that is no text")?,
        );
    }
    names.sort();
    let (mut passed, mut failed) = (0, 0);
    let mut kinds: BTreeMap<char, usize> = BTreeMap::new();
    let mut scanner = Scanner::new();
    for name in &names {
        let found = fs::read(folder.join(name))
            .map_err(|error| format!("{name}: {error}"))
            .map(|text| scanner.scan(&text, &ScanLimits::DEFAULT).map(|_| ()));
        *kinds.entry(name.chars().next().unwrap_or('?')).or_default() += 1;
        if name.starts_with("i_") {
            writeln!(out, "{name}: {}", told(&found))?;
        }
        let good = match (expected(name), &found) {
            (Some(Expected::Exactly(wanted)), Ok(found)) => wanted == found.map_err(|e| e.reason),
            (Some(Expected::AnyFault), Ok(found)) => found.is_err(),
            (None, _) | (_, Err(_)) => false,
        };
        if good {
            passed += 1;
        } else {
            failed += 1;
            writeln!(out, "FAILED {name}: {}", told(&found))?;
        }
    }
    for (kind, wanted) in EXPECTED {
        let found = kinds.get(&kind).copied().unwrap_or(0);
        if found < wanted {
            failed += wanted - found;
            writeln!(out, "FAILED {} files `{kind}_` are missing", wanted - found)?;
        }
    }
    writeln!(out, "{passed} passed, {failed} failed, 0 skipped")?;
    Ok(failed == 0)
}

fn told(found: &Result<Result<(), ScanError>, String>) -> String {
    match found {
        Ok(Ok(())) => "accepted".to_owned(),
        Ok(Err(fault)) => format!("refused, {fault}"),
        Err(error) => error.clone(),
    }
}
