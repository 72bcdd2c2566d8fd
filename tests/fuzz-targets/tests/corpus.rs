//! Every target over the inputs that are kept for it, and over damaged copies.

use agentx_fuzz_targets::{TARGETS, Target};
use agentx_laws::SplitMix64;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes that all kept inputs may take together.
const CORPUS_BYTES: usize = 300_000;
/// Bytes that one may take.
const INPUT_BYTES: usize = 8 * 1024;
/// Bytes that mean something somewhere.
const SPECIAL: &[u8] = b"\"\\{}[],:\n\r \x00\x80\xff$";
/// Damaged copies of each.
const COPIES: usize = 4;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz")
}

/// Names of what is in a folder.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let name = |entry: std::io::Result<fs::DirEntry>| {
        let name = entry.expect("an entry").file_name();
        name.into_string().expect("a name in UTF-8")
    };
    entries.map(name).collect()
}

/// The kept inputs of a target, by name.
fn inputs(target: &Target) -> Vec<(String, Vec<u8>)> {
    let folder = fuzz().join("corpus").join(target.name);
    let read = |name: String| {
        let bytes = fs::read(folder.join(&name)).expect("an input");
        (name, bytes)
    };
    names(&folder).into_iter().map(read).collect()
}

fn damaged(rng: &mut SplitMix64, input: &[u8]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=rng.below(3) {
        let at = rng.below(bytes.len() + 1);
        let to = (at + 1 + rng.below(12)).min(bytes.len());
        match rng.below(4) {
            0 => drop(bytes.drain(at..to)),
            1 => {
                let piece = bytes[at..to].to_vec();
                let to = rng.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            2 => bytes.insert(at, SPECIAL[rng.below(SPECIAL.len())]),
            _ => bytes.truncate(at),
        }
    }
    bytes
}

#[test]
fn every_target_takes_its_inputs_and_damaged_copies_of_them() {
    for target in &TARGETS {
        for (name, input) in inputs(target) {
            // Shown when the target panics.
            eprintln!("{}/{name}", target.name);
            (target.run)(&input);
            let mut rng = SplitMix64::new(input.len() as u64);
            for _ in 0..COPIES {
                let copy = damaged(&mut rng, &input);
                eprintln!("damaged: {}", copy.escape_ascii());
                (target.run)(&copy);
            }
        }
    }
}

#[test]
fn every_target_has_a_wrapper_and_small_inputs() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|target| target.name.into()).collect();
    let wrappers = names(&fuzz().join("fuzz_targets"));
    let stem = |name: &String| name.trim_end_matches(".rs").to_owned();
    assert_eq!(wrappers.iter().map(stem).collect::<BTreeSet<_>>(), targets);
    assert_eq!(names(&fuzz().join("corpus")), targets);
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).expect("the manifest");
    let mut all = 0;
    for target in &TARGETS {
        let path = format!("path = \"fuzz_targets/{}.rs\"", target.name);
        assert!(manifest.contains(&path), "{path} is not in the manifest");
        let inputs = inputs(target);
        assert!(inputs.len() >= 5, "{} has too few inputs", target.name);
        for (name, input) in inputs {
            assert!(input.len() <= INPUT_BYTES, "{}/{name} is long", target.name);
            all += input.len();
        }
    }
    assert!(all <= CORPUS_BYTES, "the inputs take {all} bytes");
}
