//! The same tapes for every driver and for the straight loop.

use agentx_equivalence::{Bare, Driven, Run, Scene, Tape, Transcript, play};
use std::path::Path;

/// Tapes of a test.
const TAPES: u64 = 50;

/// Choices on a tape; what follows them is the way to the end.
const CHOICES: usize = 200;

/// The tape of a number, and its scene: each third one has a validator.
fn of_seed(root: &Path, seed: u64) -> (Scene, Tape) {
    let scene = Scene::set(root, seed % 3 == 2);
    (scene, Tape::of_seed(seed, CHOICES))
}

fn bare(root: &Path, seed: u64) -> Transcript {
    let (scene, tape) = of_seed(root, seed);
    play(Bare::start(&scene), tape)
}

fn driven(root: &Path, seed: u64, run: Run) -> Transcript {
    let (scene, tape) = of_seed(root, seed);
    play(Driven::start(&scene, run), tape)
}

/// Fails with the first line in which both differ.
fn same(seed: u64, driven: &Transcript, bare: &Transcript) {
    let lines = |transcript: &Transcript| -> Vec<String> {
        let stdout = transcript.stdout.lines().map(str::to_owned);
        let parts = [&transcript.steps, &transcript.effects, &transcript.requests];
        parts.into_iter().flatten().cloned().chain(stdout).collect()
    };
    for (at, (driven, bare)) in lines(driven).iter().zip(&lines(bare)).enumerate() {
        assert_eq!(driven, bare, "tape {seed}, line {at}");
    }
    assert_eq!(driven, bare, "tape {seed}");
}

fn equal_to_the_straight_loop(run: Run) {
    let root = tempfile::tempdir().unwrap();
    for seed in 0..TAPES {
        let bare = bare(root.path(), seed);
        same(seed, &driven(root.path(), seed, run), &bare);
    }
}

#[test]
fn tokio_is_equal_to_the_straight_loop() {
    equal_to_the_straight_loop(agentx_tokio::run);
}

#[test]
fn async_std_is_equal_to_the_straight_loop() {
    equal_to_the_straight_loop(agentx_async_std::run);
}

#[test]
fn mio_is_equal_to_the_straight_loop() {
    equal_to_the_straight_loop(agentx_mio::run);
}

/// A comparison that finds no difference could be one that sees none.
#[test]
fn a_world_that_does_one_thing_otherwise_is_told_apart() {
    let root = tempfile::tempdir().unwrap();
    let bare = bare(root.path(), 1);
    assert_eq!(driven(root.path(), 1, agentx_tokio::run), bare);
    let forgetful: Run = |session, mut world, stdio| {
        world.store = Some(Box::new(|_| Err("no room".to_owned())));
        agentx_tokio::run(session, world, stdio)
    };
    let other = driven(root.path(), 1, forgetful);
    assert_ne!(other.stdout, bare.stdout);
    assert_ne!(other.effects, bare.effects);
}

/// Whether an effect told something after it was cancelled.
fn has_late_news(play: &Transcript) -> bool {
    let cancelled = |line: &str| {
        let id = line.strip_prefix("Cancel(EffectId(")?.strip_suffix("))")?;
        Some(format!("done {id} "))
    };
    let lines = play.effects.iter().enumerate();
    let mut cancelled = lines.filter_map(|(at, line)| Some((at, cancelled(line)?)));
    cancelled.any(|(at, done)| {
        play.effects[at..]
            .iter()
            .any(|line| line.starts_with(&done))
    })
}

/// Whether the tapes hold what the others are compared in.
#[test]
fn the_tapes_reach_what_they_are_for() {
    let root = tempfile::tempdir().unwrap();
    let plays: Vec<Transcript> = (0..TAPES).map(|seed| bare(root.path(), seed)).collect();
    assert!(plays.iter().any(has_late_news), "no news come too late");
    let plays = plays.into_iter();
    let all: String = plays
        .map(|play| {
            [play.steps, play.effects, vec![play.stdout]]
                .concat()
                .join("\n")
        })
        .collect();
    for part in [
        "Prompt",
        "Interrupt",
        "Wait",
        "Deny)",
        "Always)",
        " Model(",
        "\"subtype\":\"can_use_tool\"",
        "\"type\":\"control_cancel_request\"",
        "\"request_id\":\"interrupt-2\"",
        "\"subtype\":\"error_during_execution\"",
        "\"subtype\":\"task_notification\"",
        "\"type\":\"stream_event\"",
        "Persist(",
        "Store(",
        "Hook(",
        "Task(",
        "Cancel(",
        "Vet(",
        "model failed",
    ] {
        assert!(all.contains(part), "no tape comes to {part}");
    }
}
