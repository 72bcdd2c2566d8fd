//! Runs worlds from seeds or tapes and tells what became of them.

use agentx_sim::bench;
use agentx_sim::judge::{self, Told};
use agentx_sim::runner::{self, Failure, Tally};
use agentx_sim::situation::{self, Situation};
use agentx_sim::tape::Tape;
use agentx_sim::text::TextTape;
use clap::Parser;
use std::error::Error;
use std::io::{self, Write as _};
use std::num::IntErrorKind;
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Ranges of so many seeds have to be complete without being told to.
const COMPLETE: u64 = 100_000;

/// Seeds in which planted faults are hunted.
const HUNTED: Range<u64> = 0..2_000;

/// Seeds in which situations are looked for.
const LOOKED_AT: u64 = 20_000;

const EXAMPLES: &str = "\
Examples:
  agentx-sim --seeds 0..2000              run 2,000 worlds
  agentx-sim --seeds 0..100000 --jobs 8   on eight threads; each mark and fault has to come up
  agentx-sim --seed 17                    run one world and tell what happens in it
  agentx-sim --tape FILE                  replay a tape that was kept as text
  agentx-sim --bench 0..3000              records per second of CPU time, without and with oracles
  agentx-sim --planted all                hunt the planted faults; built with RUSTFLAGS='--cfg agentx_planted'

A run that breaks a rule is shrunk and told: seed, commit, tape, steps. The status is 1 then, and 2 when the
command line is wrong.";

/// Simulates agents, hosts and the world around them, and holds them against the
/// rules of the protocol. A run is a pure function of its tape.
#[derive(Debug, Parser)]
#[command(name = "agentx-sim", after_help = EXAMPLES)]
struct Args {
    /// Seeds to run: first..end, the end left out
    #[arg(long, value_name = "A..B", value_parser = range, required_unless_present_any = ["seed", "tape", "planted", "situation", "bench"])]
    seeds: Option<Range<u64>>,
    /// One seed to run and tell
    #[arg(long, value_name = "N", conflicts_with = "seeds")]
    seed: Option<u64>,
    /// A tape to replay and tell
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seeds", "seed"])]
    tape: Option<PathBuf>,
    /// Hunt this planted fault, or all of them, through the seeds (0..2000 where none are given) until
    /// an oracle finds it
    #[arg(long, value_name = "FAULT", conflicts_with_all = ["seed", "tape"])]
    planted: Option<String>,
    /// Look for a situation in the first 20,000 seeds, and print a small tape of it
    #[arg(long, value_name = "NAME", conflicts_with_all = ["seeds", "seed", "tape", "planted"])]
    situation: Option<String>,
    /// Seeds to measure the simulator with, on one thread
    #[arg(long, value_name = "A..B", value_parser = range, conflicts_with_all = ["seeds", "seed", "tape", "planted", "situation"])]
    bench: Option<Range<u64>>,
    /// Threads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// Fail unless every requirement mark is reached and every fault happens 1,000 times; so it is for
    /// 100,000 seeds and more
    #[arg(long, conflicts_with_all = ["seed", "tape", "planted", "situation", "bench"])]
    require: bool,
    /// Go on behind a failure; list the seeds that fail, a line each
    #[arg(long, conflicts_with_all = ["seed", "tape", "planted", "situation", "bench"])]
    all: bool,
    /// Run each seed that this divides twice and compare what happened; 0: none
    #[arg(long, value_name = "N", default_value_t = 16)]
    twice: u64,
    /// Characters of a step that are told
    #[arg(long, value_name = "N", default_value_t = 200)]
    width: usize,
}

fn range(text: &str) -> Result<Range<u64>, String> {
    let wrong = || format!("{text:?} is no range of seeds such as 0..2000");
    let (start, end) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str| {
        let number = text.replace('_', "").parse::<u64>();
        number.map_err(|error| match error.kind() {
            IntErrorKind::PosOverflow => format!("{text} is above {}, the largest seed", u64::MAX),
            _ => wrong(),
        })
    };
    let (start, end) = (number(start)?, number(end)?);
    if start < end {
        Ok(start..end)
    } else {
        Err(format!("the range {text:?} is empty"))
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "agentx-sim: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all is well.
fn run(args: &Args) -> Result<bool, Box<dyn Error>> {
    if let Some(seed) = args.seed {
        return tell(Tape::of_seed(seed), args.width);
    }
    if let Some(path) = &args.tape {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let tape =
            TextTape::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        return tell(Tape::of_bytes(tape.bytes), args.width);
    }
    if let Some(name) = &args.situation {
        return look(name);
    }
    if let Some(name) = &args.planted {
        let seeds = args.seeds.clone().unwrap_or(HUNTED);
        let (text, well) = hunt(name, &seeds, usize::from(args.jobs))?;
        io::stdout().lock().write_all(text.as_bytes())?;
        return Ok(well);
    }
    if let Some(seeds) = &args.bench {
        for line in bench::measure(seeds).map_err(|violation| violation.to_string())? {
            writeln!(io::stdout(), "{line}")?;
        }
        return Ok(true);
    }
    let Some(seeds) = args.seeds.clone() else {
        return Ok(true);
    };
    let complete = args.require || seeds.end - seeds.start >= COMPLETE;
    let begun = Instant::now();
    let twice = args.twice;
    let run = |seed: u64| {
        if twice > 0 && seed.is_multiple_of(twice) {
            judge::run_twice(&Tape::of_seed(seed))
        } else {
            judge::run(Tape::of_seed(seed))
        }
    };
    if args.all {
        let (tally, failures) = runner::run_all_seeds(seeds, usize::from(args.jobs), run);
        for Failure { seed, violation } in &failures {
            writeln!(io::stdout(), "seed {seed}: {violation}")?;
        }
        return Ok(sum_up(&tally, complete, begun)? && failures.is_empty());
    }
    let result = runner::run_seeds(seeds, usize::from(args.jobs), run);
    match result {
        Ok(tally) => sum_up(&tally, complete, begun),
        Err(failure) => tell_failure(&failure, args.width),
    }
}

/// Looks for a situation and prints its tape.
fn look(name: &str) -> Result<bool, Box<dyn Error>> {
    let mut all = Situation::ALL.into_iter();
    let Some(situation) = all.find(|situation| situation.name() == name) else {
        let names = Situation::ALL.map(Situation::name).join(", ");
        return Err(format!("{name:?} is no situation; there are {names}").into());
    };
    let tape = situation::find(situation, LOOKED_AT)
        .ok_or_else(|| format!("{name} did not come up in {LOOKED_AT} seeds"))?;
    write!(io::stdout().lock(), "{tape}")?;
    Ok(true)
}

#[cfg(agentx_planted)]
fn hunt(name: &str, seeds: &Range<u64>, jobs: usize) -> Result<(String, bool), String> {
    agentx_sim::planted::report(name, seeds, jobs)
}

#[cfg(not(agentx_planted))]
fn hunt(name: &str, _: &Range<u64>, _: usize) -> Result<(String, bool), String> {
    Err(format!(
        "--planted {name}: no fault is planted in this build; RUSTFLAGS='--cfg agentx_planted' builds one"
    ))
}

fn sum_up(tally: &Tally, complete: bool, begun: Instant) -> Result<bool, Box<dyn Error>> {
    let seconds = begun.elapsed().as_secs_f64().max(1e-6);
    let mut out = io::stdout().lock();
    write!(out, "{}", tally.report())?;
    let per_second = |count: u64| count as f64 / seconds;
    writeln!(
        out,
        "{seconds:.1} s, {:.0} steps per second, {:.0} records per second",
        per_second(tally.steps),
        per_second(tally.records)
    )?;
    let missing = if complete {
        tally.missing()
    } else {
        Vec::new()
    };
    for line in &missing {
        writeln!(out, "incomplete: {line}")?;
    }
    Ok(missing.is_empty())
}

/// Runs one world and tells each step.
fn tell(tape: Tape, width: usize) -> Result<bool, Box<dyn Error>> {
    let told = judge::told(tape, width);
    let mut out = io::stdout().lock();
    for line in &told.lines {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "{}", verdict(&told))?;
    Ok(told.violation.is_none())
}

/// The last line about a run. Who repeats one that broke a rule wants its hash, too.
fn verdict(told: &Told) -> String {
    let trace = format!("trace {:016x}", told.hash);
    match &told.violation {
        Some(violation) => format!("violated: {violation}; {trace}"),
        None => format!("no rule was broken; {trace}"),
    }
}

fn tell_failure(failure: &Failure, width: usize) -> Result<bool, Box<dyn Error>> {
    let Failure { seed, violation } = failure;
    let mut out = io::stdout().lock();
    writeln!(out, "violated: {violation}")?;
    writeln!(out, "seed {seed}, commit {}", commit())?;
    out.flush()?;
    let small = judge::shrunk(*seed, violation);
    let told = judge::told(Tape::of_bytes(small.tape.clone()), width);
    writeln!(
        out,
        "its tape, made small in {} runs, step by step:",
        small.runs
    )?;
    for line in &told.lines {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "violated: {}", small.violation)?;
    let text = TextTape {
        notes: vec![
            small.violation.to_string(),
            format!("shows: {}", small.violation.requirement),
            format!("seed: {seed}"),
            format!("commit: {}", commit()),
        ],
        bytes: small.tape,
    };
    writeln!(out, "the tape as text, for --tape FILE:\n{text}")?;
    Ok(false)
}

/// What was run: from the environment, or as git describes it.
fn commit() -> String {
    if let Ok(commit) = std::env::var("AGENTX_COMMIT") {
        return commit;
    }
    let git = Command::new("git")
        .args(["describe", "--always", "--dirty"])
        .output();
    let text = git.ok().filter(|git| git.status.success());
    let text = text.map(|git| String::from_utf8_lossy(&git.stdout).trim().to_string());
    text.unwrap_or_else(|| "unknown".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentx_sim::event::Violation;

    #[test]
    fn a_run_is_told_with_its_trace_whatever_came_of_it() {
        let mut told = Told {
            lines: Vec::new(),
            hash: 0x17,
            violation: None,
        };
        let trace = "; trace 0000000000000017";
        assert_eq!(verdict(&told), format!("no rule was broken{trace}"));
        told.violation = Some(Violation::new("a rule", "DEC-17", "how"));
        let broken = verdict(&told);
        assert!(broken.starts_with("violated: "), "{broken}");
        assert!(broken.ends_with(trace), "{broken}");
    }
}
