//! Runs worlds from seeds and tells what became of them.

use agentx_sim::tape::Tape;
use agentx_sim::world::run;

fn main() {
    let count: u64 = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(100);
    let (mut steps, mut records, mut bad) = (0, 0, 0);
    let mut faults = agentx_sim::fault::FaultCounts::default();
    let t = std::time::Instant::now();
    for seed in 0..count {
        let outcome = run(Tape::of_seed(seed), &mut ());
        steps += outcome.steps;
        records += outcome.records;
        faults.add(&outcome.faults);
        if let Some(v) = outcome.violation {
            bad += 1;
            if bad < 12 {
                println!(
                    "seed {seed}: {} steps {}: {v}",
                    outcome.processes, outcome.steps
                );
            }
        }
    }
    println!("{count} {steps} {records} bad {bad} {:?}", t.elapsed());
    for (f, n) in faults.iter() {
        print!("{} {n}, ", f.as_str());
    }
    println!();
}
