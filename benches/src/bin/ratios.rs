//! Plays all jobs in turns and prints how they compare.
//!
//! Each round runs every job once, beginning with another one; a ratio is the
//! median of the ratios of all rounds, so what slows the machine down for a
//! while slows both sides.

use agentx_benches::corpus::{self, Corpus};
use agentx_benches::{base, cpu, decode};
use agentx_core::json::{ScanLimits, Scanner};
use serde::de::IgnoredAny;
use std::error::Error;

const ROUNDS: usize = 15;
const CHUNK: usize = 64 * 1024;

type Job<'c> = (&'static str, Box<dyn FnMut() -> usize + 'c>);

fn main() -> Result<(), Box<dyn Error>> {
    eprintln!("corpus, job, MB/s of CPU time, times the first job (median of {ROUNDS} rounds)");
    for name in corpus::NAMES {
        let corpus = corpus::load(name)?;
        compare(&corpus, jobs(&corpus));
    }
    Ok(())
}

fn jobs(corpus: &Corpus) -> Vec<Job<'_>> {
    let bytes = &corpus.bytes;
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let [mut one, mut two, mut three, mut four, mut five] = [const { Scanner::new() }; 5];
    vec![
        (
            "lines + serde, owned",
            Box::new(|| base::decode(bytes.chunks(CHUNK))),
        ),
        (
            "frame + scan + read",
            Box::new(move || decode::borrowed(&mut one, bytes.chunks(CHUNK))),
        ),
        (
            "the same, unescaped",
            Box::new(move || decode::unescaped(&mut two, bytes.chunks(CHUNK))),
        ),
        (
            "the same in 4 KiB chunks",
            Box::new(move || decode::borrowed(&mut three, bytes.chunks(4096))),
        ),
        (
            "frame + scan + route",
            Box::new(move || decode::routed(&mut five, bytes.chunks(CHUNK))),
        ),
        (
            "scan alone",
            Box::new(move || {
                let fits = |line: &&&[u8]| four.scan(line, &ScanLimits::DEFAULT).is_ok();
                lines.iter().filter(fits).count()
            }),
        ),
        (
            "serde_json, syntax only",
            Box::new(|| {
                let values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
                values.filter(Result::is_ok).count()
            }),
        ),
    ]
}

fn compare(corpus: &Corpus, mut jobs: Vec<Job<'_>>) {
    let mut times = vec![Vec::new(); jobs.len()];
    for round in 0..=ROUNDS {
        for turn in 0..jobs.len() {
            let index = (round + turn) % jobs.len();
            let (name, job) = &mut jobs[index];
            let start = cpu::now();
            let records = job();
            let time = cpu::now().saturating_sub(start).as_secs_f64();
            assert_eq!(records, corpus.records, "{name} lost records");
            // The first round warms up.
            if round > 0 {
                times[index].push(time);
            }
        }
    }
    for ((name, _), own) in jobs.iter().zip(&times) {
        let ratios = own.iter().zip(&times[0]).map(|(own, first)| first / own);
        let speed = corpus.bytes.len() as f64 / median(own.iter().copied()) / 1e6;
        eprintln!(
            "{:10} {name:26} {speed:7.0} {:6.2}",
            corpus.name,
            median(ratios)
        );
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
