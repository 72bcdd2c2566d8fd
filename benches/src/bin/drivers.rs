//! What a driver adds to the way of a record from stdin to stdout, beside the
//! bare core, in CPU time of all threads.
//!
//! Each round runs every job once, beginning with another one. What is printed
//! is the median of all rounds.

use agentx_benches::cpu;
use agentx_benches::drivers::{DRIVERS, Pace, core, driven, questions};
use std::error::Error;

const ROUNDS: usize = 15;

type Job<'q> = (&'static str, Box<dyn Fn() -> usize + 'q>);

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).is_some() {
        return Err("expected no argument".into());
    }
    eprintln!("pace, job, ns of CPU time a record, times the core (median of {ROUNDS} rounds)");
    for (name, pace, count) in [
        ("stream", Pace::Stream, 100_000),
        ("one by one", Pace::OneByOne, 10_000),
    ] {
        let questions = questions(count);
        let mut jobs: Vec<Job<'_>> = vec![("core", Box::new(|| core(&questions, pace)))];
        for (driver, run) in DRIVERS {
            let questions = &questions;
            jobs.push((driver, Box::new(move || driven(run, questions, pace))));
        }
        compare(name, count, &jobs);
    }
    Ok(())
}

/// Each job says one record for each question, and those that open a session.
fn compare(pace: &str, count: usize, jobs: &[Job<'_>]) {
    let mut times = vec![Vec::new(); jobs.len()];
    let expected = jobs[0].1();
    assert!(expected >= count, "{expected} records");
    for round in 0..=ROUNDS {
        for turn in 0..jobs.len() {
            let index = (round + turn) % jobs.len();
            let (name, job) = &jobs[index];
            let start = cpu::of_all_threads();
            assert_eq!(job(), expected, "{name}");
            let time = cpu::of_all_threads().saturating_sub(start).as_secs_f64();
            // The first round warms up.
            if round > 0 {
                times[index].push(time);
            }
        }
    }
    for ((name, _), own) in jobs.iter().zip(&times) {
        let ratios = own.iter().zip(&times[0]).map(|(own, first)| own / first);
        let each = median(own.iter().copied()) * 1e9 / (2 * count) as f64;
        eprintln!("{pace:12} {name:12} {each:8.0} {:7.2}", median(ratios));
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
