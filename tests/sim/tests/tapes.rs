//! The tapes that are kept: none breaks a rule, and each still shows what it is kept
//! for. Where the world has changed, `agentx-sim --situation NAME` makes a tape anew.

use agentx_sim::judge;
use agentx_sim::situation::{Situation, reaches};
use agentx_sim::tape::Tape;
use agentx_sim::text::TextTape;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tapes")
}

fn read(name: &str) -> TextTape {
    let path = folder().join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    TextTape::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn no_tape_breaks_a_rule() {
    let mut replayed = 0;
    for file in std::fs::read_dir(folder()).expect("a folder of tapes") {
        let name = file.expect("a file").file_name();
        let name = name.to_str().expect("a name");
        let tape = read(name);
        assert!(
            !tape.shows().is_empty(),
            "{name} does not say what it shows"
        );
        let run = judge::run_twice(&Tape::of_bytes(tape.bytes));
        assert!(run.is_ok(), "{name}: {:?}", run.err());
        replayed += 1;
    }
    assert!(replayed >= Situation::ALL.len());
}

// covers: WIRE-010, WIRE-011, DEC-32, WIRE-EOF-001, WIRE-008, WIRE-PERM-001, WIRE-020, WIRE-013
#[test]
fn every_situation_is_on_its_tape() {
    for situation in Situation::ALL {
        let name = situation.name();
        let tape = read(&format!("{name}.tape"));
        let reached = reaches(Tape::of_bytes(tape.bytes), situation);
        assert_eq!(
            reached,
            Ok(true),
            "make it anew: agentx-sim --situation {name}"
        );
    }
}

/// A planted fault shows on the tape that is kept for what it breaks.
#[cfg(agentx_planted)]
#[test]
fn planted_faults_break_the_tapes_of_their_situations() {
    use agentx_core::plant::{Plant, Planted};
    use agentx_sim::oracle::Oracles;
    use agentx_sim::world;

    for (situation, plant) in [
        (Situation::TwoQuestions, Plant::Wire011),
        (Situation::TornPromise, Plant::Dec32),
        (Situation::LastWords, Plant::WireEof001),
    ] {
        let name = situation.name();
        let tape = Tape::of_bytes(read(&format!("{name}.tape")).bytes);
        let planted = Planted::of(plant);
        let outcome = world::run_with(
            tape,
            |config| config.limits.planted = planted,
            &mut Oracles::new(),
        );
        assert!(outcome.violation.is_some(), "{name} with {}", plant.name());
    }
}
