//! The hunt for planted faults: does a world bring each of them about, and does an
//! oracle see it?
//!
//! A fault is hunted through the seeds in order until an oracle objects. The seed
//! that finds it is then run once more, and both runs have to be the same: the same
//! objection after the same steps, and the same hash of everything that happened.
//! A panic is no objection: an oracle has to say what is wrong.

use crate::event::{Violation, Watch};
use crate::oracle::Oracles;
use crate::runner::contained;
use crate::tape::Tape;
use crate::trace::Hash;
use crate::world::run_with;
use agentx_core::plant::{Plant, Planted};
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Mutex;
use std::thread;

/// What became of the hunt for one fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunt {
    /// The fault.
    pub plant: Plant,
    /// How it was found, if it was.
    pub found: Option<Found>,
}

/// How a fault was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The seed.
    pub seed: u64,
    /// What an oracle had against its run.
    pub violation: Violation,
    /// Hash of all that happened in it.
    pub trace: u64,
}

/// One run of a seed with a fault planted: what an oracle has against it.
fn live(plant: Plant, seed: u64, watch: &mut impl Watch) -> Option<Violation> {
    let planted = Planted::of(plant);
    let change = |config: &mut agentx_core::agent::Config| config.limits.planted = planted;
    let mut panicked = true;
    let outcome = contained(|| {
        let outcome = run_with(Tape::of_seed(seed), change, watch);
        panicked = false;
        Ok(outcome)
    });
    outcome.err().filter(|_| !panicked)
}

/// One run of a seed with a fault planted, and the hash of all that happened in it.
#[must_use]
pub fn trial(plant: Plant, seed: u64) -> Option<Found> {
    let mut watch = (Hash::default(), Oracles::new());
    let violation = live(plant, seed, &mut watch)?;
    let trace = watch.0.value();
    Some(Found {
        seed,
        violation,
        trace,
    })
}

/// Hunts one fault.
#[must_use]
pub fn hunt(plant: Plant, mut seeds: Range<u64>) -> Hunt {
    // Hashing takes longer than the run.
    let seed = seeds.find(|seed| live(plant, *seed, &mut Oracles::new()).is_some());
    let found = seed.and_then(|seed| trial(plant, seed));
    Hunt { plant, found }
}

/// Hunts these faults on several threads. In their order.
#[must_use]
pub fn hunt_all(plants: &[Plant], seeds: &Range<u64>, jobs: usize) -> Vec<Hunt> {
    let next = Mutex::new(plants.iter().copied().enumerate());
    let done = Mutex::new(Vec::new());
    let hunter = || {
        loop {
            let taken = next.lock().ok().and_then(|mut next| next.next());
            let Some((place, plant)) = taken else { break };
            let hunt = hunt(plant, seeds.clone());
            if let Ok(mut done) = done.lock() {
                done.push((place, hunt));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, plants.len().max(1)) {
            scope.spawn(hunter);
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, hunt)| hunt).collect()
}

/// The hunts as a table of Markdown.
#[must_use]
pub fn table(hunts: &[Hunt]) -> String {
    let mut table = String::from(
        "| fault | breaks | what it does | seed | found by |\n|---|---|---|---|---|\n",
    );
    for Hunt { plant, found } in hunts {
        let (name, id, breaks) = (plant.name(), plant.requirement(), plant.breaks());
        // Writing to a String cannot fail.
        let _ = match found {
            Some(Found {
                seed,
                violation: Violation {
                    rule, requirement, ..
                },
                ..
            }) => writeln!(
                table,
                "| `{name}` | {id} | {breaks} | {seed} | {rule} ({requirement}) |"
            ),
            None => writeln!(table, "| `{name}` | {id} | {breaks} | not found | |"),
        };
    }
    table
}

/// Hunts the fault of this name, or `all` of them. Gives what is to be told of that,
/// and whether each was found and happened again.
///
/// # Errors
///
/// No fault has that name.
pub fn report(name: &str, seeds: &Range<u64>, jobs: usize) -> Result<(String, bool), String> {
    let plants = if name == "all" {
        Plant::ALL.to_vec()
    } else {
        let names: Vec<&str> = Plant::ALL.iter().map(|plant| plant.name()).collect();
        let unknown = || {
            let names = names.join(", ");
            format!("no planted fault is called {name:?}; there are {names}, and `all`")
        };
        vec![Plant::named(name).ok_or_else(unknown)?]
    };
    let hunts = hunt_all(&plants, seeds, jobs);
    let mut text = table(&hunts);
    let mut well = true;
    for Hunt { plant, found } in &hunts {
        let name = plant.name();
        let fault = match found {
            None => format!("{name} was not found in the seeds {seeds:?}"),
            Some(found) if trial(*plant, found.seed).as_ref() != Some(found) => {
                format!("{name}: seed {} does not repeat itself", found.seed)
            }
            Some(_) => continue,
        };
        well = false;
        text.push_str(&fault);
        text.push('\n');
    }
    let found = hunts.iter().filter(|hunt| hunt.found.is_some()).count();
    let _ = writeln!(text, "{found} of {} planted faults were found", hunts.len());
    Ok((text, well))
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: DEC-17
    #[test]
    fn a_fault_that_is_found_is_found_again() {
        for plant in [Plant::Wire011, Plant::Wire003, Plant::Dec32] {
            let Hunt { found, .. } = hunt(plant, 0..2_000);
            let found = found.expect("an oracle sees it");
            assert_eq!(trial(plant, found.seed), Some(found));
        }
    }

    #[test]
    fn a_fault_has_a_name_and_breaks_a_requirement() {
        for plant in Plant::ALL {
            assert_eq!(Plant::named(plant.name()), Some(*plant));
            let tag = plant.requirement().replace('-', "").to_lowercase();
            let name = plant.name();
            // What is planted in the host's machine says so.
            let name = name.strip_prefix("Host").unwrap_or(name).to_lowercase();
            assert!(name.starts_with(&tag), "{name} breaks {tag}");
        }
        assert!(report("Nonsense", &(0..1), 1).is_err());
    }

    #[test]
    fn a_world_without_a_fault_is_the_same_world() {
        let mut with = (Hash::default(), Oracles::new());
        let mut without = (Hash::default(), Oracles::new());
        for seed in 0..5 {
            let none = |config: &mut agentx_core::agent::Config| {
                config.limits.planted = Planted::NONE;
            };
            run_with(Tape::of_seed(seed), none, &mut with);
            crate::world::run(Tape::of_seed(seed), &mut without);
        }
        assert_eq!(with.0, without.0);
    }
}
