//! Holds the records that a binary wrote against the schema that it prints.
//!
//! `wire-records AGENT EVIDENCE` asks AGENT for its schema and reads the outcome
//! of the black-box cases that `tests/case_runner.py --json EVIDENCE` left. A
//! record without a schema is a failure, and so is evidence without records.

use agentx_conformance::schema::Schemas;
use serde_json::Value;
use std::io::{self, Write as _};
use std::process::{Command, ExitCode};
use std::{env, fs};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let checked = match arguments.as_slice() {
        [agent, evidence] => check(agent, evidence),
        _ => Err("usage: wire-records AGENT EVIDENCE".to_owned()),
    };
    match checked {
        Ok(text) => {
            let _ = writeln!(io::stdout(), "{text}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            let _ = writeln!(io::stderr(), "{text}");
            ExitCode::FAILURE
        }
    }
}

fn check(agent: &str, evidence: &str) -> Result<String, String> {
    let schema = Command::new(agent).arg("schema").env_clear().output();
    let schema = schema.map_err(|fault| format!("{agent}: {fault}"))?;
    if !schema.status.success() {
        return Err(format!("{agent} schema: {}", schema.status));
    }
    let schemas = Schemas::new(&schema.stdout)?;
    let text = fs::read_to_string(evidence).map_err(|fault| format!("{evidence}: {fault}"))?;
    let evidence: Value = serde_json::from_str(&text).map_err(|fault| fault.to_string())?;
    let cases = evidence["cases"].as_array().ok_or("no cases")?;
    let (mut records, mut wrong) = (0, Vec::new());
    for case in cases {
        let Some(wire) = case["evidence"]["wire"].as_array() else {
            continue;
        };
        records += wire.len();
        let faults = wire.iter().filter_map(|record| schemas.check(record).err());
        wrong.extend(faults.map(|fault| format!("{}: {fault}", case["id"])));
    }
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    if records == 0 {
        return Err("the evidence has no records".to_owned());
    }
    Ok(format!("{records} records of {} cases fit", cases.len()))
}
