//! The command: what it takes, what it prints, how it ends.

use std::process::{Command, Output};

fn sim(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_agentx-sim"))
        .args(arguments)
        .output()
        .expect("the simulator starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The report without its last line, which tells times.
fn report(output: &Output) -> String {
    let text = text(&output.stdout);
    let (report, times) = text.trim_end().rsplit_once('\n').expect("two lines");
    assert!(times.contains("records per second"), "{times}");
    report.to_string()
}

#[test]
fn help_has_examples() {
    let help = sim(&["--help"]);
    assert!(help.status.success());
    let help = text(&help.stdout);
    for part in ["Examples:", "--seeds 0..2000", "--tape FILE", "--jobs"] {
        assert!(help.contains(part), "{part} in {help}");
    }
}

#[test]
fn threads_change_nothing() {
    let one = sim(&["--seeds", "100..110"]);
    let three = sim(&["--seeds", "100..110", "--jobs", "3"]);
    assert!(one.status.success(), "{}", text(&one.stdout));
    assert_eq!(report(&one), report(&three));
    let report = report(&one);
    assert!(report.starts_with("runs                 10\n"), "{report}");
    assert!(report.contains("malformed bytes"), "{report}");
}

#[test]
fn a_range_that_has_to_be_complete_and_is_not_fails() {
    let few = sim(&["--seeds", "0..3", "--require"]);
    assert_eq!(few.status.code(), Some(1));
    let told = text(&few.stdout);
    assert!(
        told.contains("incomplete: the fault \"crash\" happened"),
        "{told}"
    );
}

#[test]
fn one_seed_is_told_step_by_step_and_the_same_each_time() {
    let told = sim(&["--seed", "5", "--width", "90"]);
    assert!(told.status.success());
    let lines = text(&told.stdout);
    assert!(lines.lines().count() > 50, "{lines}");
    let last = lines.lines().last().unwrap_or_default();
    assert!(last.starts_with("no rule was broken; trace "), "{last}");
    assert_eq!(text(&sim(&["--seed", "5", "--width", "90"]).stdout), lines);
}

#[test]
fn what_cannot_be_run_is_told() {
    for (arguments, word) in [
        (&["--seeds", "5..5"][..], "is empty"),
        (&["--seeds", "many"], "is no range of seeds"),
        (&["--seeds", "0..99999999999999999999"], "the largest seed"),
        (&["--seed", "1", "--require"], "cannot be used with"),
        (&[], "required"),
        (&["--seeds", "0..2", "--seed", "1"], "cannot be used with"),
        (&["--seeds", "0..2", "--jobs", "0"], "0 is not in 1..=1024"),
    ] {
        let refused = sim(arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        let why = text(&refused.stderr);
        assert!(why.contains(word), "{arguments:?}: {why}");
    }
    let absent = sim(&["--tape", "/nowhere/at/all"]);
    assert_eq!(absent.status.code(), Some(1));
    assert!(text(&absent.stderr).contains("/nowhere/at/all"));
}
