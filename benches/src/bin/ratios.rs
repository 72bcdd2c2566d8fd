//! Plays all jobs in turns and prints how they compare; an argument, `decode` or
//! `encode`, chooses.
//!
//! Each round runs every job once, beginning with another one; a ratio is the
//! median of the ratios of all rounds, so what slows the machine down for a
//! while slows both sides.

use agentx_benches::corpus::{self, Corpus};
use agentx_benches::output::{self, Sample};
use agentx_benches::{base, cpu, decode, encode};
use agentx_core::json::{ScanLimits, Scanner};
use serde::de::IgnoredAny;
use std::error::Error;

const ROUNDS: usize = 15;
const CHUNK: usize = 64 * 1024;

type Job<'c> = (&'static str, Box<dyn FnMut() -> usize + 'c>);

fn main() -> Result<(), Box<dyn Error>> {
    eprintln!("corpus, job, MB/s of CPU time, times the first job (median of {ROUNDS} rounds)");
    let chosen = std::env::args().nth(1);
    if let Some(other) = chosen
        .as_deref()
        .filter(|name| !["decode", "encode"].contains(name))
    {
        return Err(format!("{other:?}: expected decode, encode or nothing").into());
    }
    let chosen = |name: &str| chosen.as_deref().is_none_or(|chosen| chosen == name);
    if chosen("decode") {
        for name in corpus::NAMES {
            let corpus = corpus::load(name)?;
            let records = Some(corpus.records);
            compare(name, corpus.bytes.len(), records, decoding(&corpus));
        }
    }
    if chosen("encode") {
        for name in corpus::OUTPUT {
            let samples = output::samples(&corpus::load(name)?);
            encode::check(&samples);
            let bytes = encode::link(&encode::guard(), &samples);
            compare(name, bytes, None, encoding(&samples));
        }
    }
    Ok(())
}

fn encoding(samples: &[Sample]) -> Vec<Job<'_>> {
    let [guard, another] = [encode::guard(), encode::guard()];
    let [mut one, mut two, mut three] = [const { Vec::new() }; 3];
    vec![
        (
            "serde_json to_writer",
            Box::new(move || encode::serde_writer(&mut one, samples)),
        ),
        (
            "link, guarded",
            Box::new(move || encode::link(&guard, samples)),
        ),
        (
            "writer, guarded",
            Box::new(move || encode::writer(Some(&another), &mut two, samples)),
        ),
        (
            "writer",
            Box::new(move || encode::writer(None, &mut three, samples)),
        ),
        (
            "to_string, replace, contains",
            Box::new(|| encode::serde_usual(samples)),
        ),
    ]
}

fn decoding(corpus: &Corpus) -> Vec<Job<'_>> {
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

/// Every job tells how much it did: `expected`, or as much as in its first round.
fn compare(corpus: &str, bytes: usize, expected: Option<usize>, mut jobs: Vec<Job<'_>>) {
    let mut done = vec![expected; jobs.len()];
    let mut times = vec![Vec::new(); jobs.len()];
    for round in 0..=ROUNDS {
        for turn in 0..jobs.len() {
            let index = (round + turn) % jobs.len();
            let (name, job) = &mut jobs[index];
            let start = cpu::now();
            let now = job();
            let time = cpu::now().saturating_sub(start).as_secs_f64();
            assert_eq!(*done[index].get_or_insert(now), now, "{name}");
            // The first round warms up.
            if round > 0 {
                times[index].push(time);
            }
        }
    }
    for ((name, _), own) in jobs.iter().zip(&times) {
        let ratios = own.iter().zip(&times[0]).map(|(own, first)| first / own);
        let speed = bytes as f64 / median(own.iter().copied()) / 1e6;
        eprintln!("{corpus:10} {name:28} {speed:7.0} {:6.2}", median(ratios));
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
