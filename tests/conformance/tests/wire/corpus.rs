//! Recorded sessions: each log in tests/corpus/session replays to the bytes that
//! stand beside it, and keeps the laws.
//!
//! `AGENTX_RECORD=1 cargo test -p agentx-conformance --test wire corpus` writes
//! the logs of the scenarios and the bytes of all logs anew; the diff is then to
//! be read like any other change of the wire.

use crate::scenarios;
use agentx_conformance::replay::{Logged, Session};
use agentx_conformance::tree;
use agentx_core::agent::Output;
use agentx_laws::{Event, Script};
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    tree::root().join("tests/corpus/session")
}

fn records_anew() -> bool {
    std::env::var_os("AGENTX_RECORD").is_some()
}

/// What `file` must hold; written there when recording.
fn same(file: &Path, text: &str) {
    if records_anew() {
        fs::write(file, text).expect("the corpus can be written");
    }
    let kept = fs::read_to_string(file).unwrap_or_default();
    assert!(kept == text, "{} should be\n{text}", file.display());
}

/// The configuration and the inputs of a log.
fn read(log: &str) -> (Session, Script<Logged>) {
    let with = log.lines().find_map(|line| line.strip_prefix("# with:"));
    let session = Session(scenarios::options(with.unwrap_or_default()));
    (session, Script::parse(log).expect("a log"))
}

fn bytes(session: &Session, script: &Script<Logged>) -> String {
    let events = agentx_laws::replay(session, script).expect("a replay without a fault");
    let mut bytes = Vec::new();
    for (_, event) in events {
        match event {
            Event::Output(Output::Transmit(record)) => bytes.extend_from_slice(record.as_bytes()),
            Event::Output(_) => {}
            Event::Refused(step, misuse) => panic!("input {step} was refused: {misuse}"),
        }
    }
    String::from_utf8(bytes).expect("UTF-8")
}

/// Every log of the corpus.
fn logs() -> Vec<PathBuf> {
    let files = fs::read_dir(folder()).expect("the corpus");
    let paths = files.map(|entry| entry.expect("a file").path());
    let is_log = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "log");
    let mut logs: Vec<_> = paths.filter(is_log).collect();
    logs.sort();
    logs
}

// covers: DEC-17, DEC-02, WIRE-003
#[test]
fn recorded_sessions_replay_byte_for_byte() {
    for scenario in scenarios::ALL {
        let b = scenario.play();
        let log = format!("# with:{}\n{}", scenario.with, b.log());
        same(&folder().join(scenario.name).with_extension("log"), &log);
        let (session, script) = read(&log);
        assert_eq!(bytes(&session, &script).as_bytes(), b.bytes);
    }
    let logs = logs();
    assert!(logs.len() >= scenarios::ALL.len());
    for path in logs {
        let (session, script) = read(&fs::read_to_string(&path).expect("a text"));
        same(&path.with_extension("ndjson"), &bytes(&session, &script));
        if let Err(broken) = agentx_laws::check(&session, &script, 0..16) {
            panic!("{}: {broken}", path.display());
        }
    }
}
