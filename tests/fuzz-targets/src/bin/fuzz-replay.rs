//! Runs one target over files: `fuzz-replay TARGET FILE...`. A finding ends it
//! with a panic that says what is wrong.

use agentx_fuzz_targets::TARGETS;
use std::process::ExitCode;
use std::{env, fs};

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let Some(target) = TARGETS.iter().find(|target| target.name == name) else {
        let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!(
            "usage: fuzz-replay TARGET FILE...; targets: {}",
            names.join(", ")
        );
        return ExitCode::from(2);
    };
    for path in arguments {
        match fs::read(&path) {
            Ok(input) => {
                eprintln!("{path}: {} bytes", input.len());
                (target.run)(&input);
            }
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}
