//! Tallies what the oracles find.
use agentx_sim::oracle::Oracles;
use agentx_sim::tape::Tape;
use agentx_sim::world;
use std::collections::BTreeMap;
fn main() {
    let mut args = std::env::args().skip(1).map(|a| a.parse::<u64>().unwrap());
    let (from, to) = (args.next().unwrap(), args.next().unwrap());
    if to == 0 {
        let mut watch = (agentx_sim::trace::Steps::new(700), Oracles::new());
        let outcome = world::run(Tape::of_seed(from), &mut watch);
        for line in watch.0.lines() {
            println!("{line}");
        }
        println!("{:?}", outcome.violation);
        return;
    }
    let mut found: BTreeMap<String, (u64, u64, String)> = BTreeMap::new();
    let (mut steps, mut records) = (0, 0);
    let begun = std::time::Instant::now();
    for seed in from..to {
        let mut oracles = Oracles::new();
        let outcome = world::run(Tape::of_seed(seed), &mut oracles);
        steps += outcome.steps;
        records += outcome.records;
        if let Some(violation) = outcome.violation {
            let key = format!("{} ({})", violation.rule, violation.requirement);
            let entry = found.entry(key).or_insert((0, seed, violation.what));
            entry.0 += 1;
        }
    }
    println!("{steps} steps, {records} records, {:?}", begun.elapsed());
    for (key, (count, seed, what)) in found {
        let what: String = what.chars().take(500).collect();
        println!("{count:5} {key}: seed {seed}: {what}");
    }
}
