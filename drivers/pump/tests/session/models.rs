//! Model runs that end in no good way.

use crate::support::{
    Bench, Silent, Sink, channel_of_news, configured, duplex, kinds, script, user, world,
};
use agentx_core::effect::EffectId;
use agentx_core::model::Delta;
use agentx_pump::pump::{ModelNews, News, Streams};
use serde_json::json;

fn started() -> (Bench, Sink) {
    let output = Sink::default();
    let streams = Streams {
        input: Box::new(Silent),
        output: Box::new(output.clone()),
        errors: Box::new(Sink::default()),
    };
    let bench = Bench::start(configured(), world(), duplex(), streams, channel_of_news());
    (bench, output)
}

fn say(bench: &mut Bench, line: &str) {
    bench
        .pump
        .take(News::Input(format!("{line}\n").into_bytes()));
    bench.settle();
}

#[test]
fn a_request_whose_driver_is_lost_fails_its_turn_and_the_session_goes_on() {
    let (mut bench, output) = started();
    say(
        &mut bench,
        &script(&json!([{"deltas": ["so far"], "hold": true}])),
    );
    let (id, _) = bench.drives.iter().next().unwrap();
    let id = *id;
    // As when the task that drives it panics.
    bench.drives.clear();
    while bench.step() != News::ModelLost(id) {}
    // What was on its way from it means nothing any more.
    let late = ModelNews::Delta(Delta::Text("late".into()));
    bench.pump.model(id, late);
    bench.pump.take(News::ModelLost(id));
    say(&mut bench, &user("hello"));
    bench.pump.take(News::InputEnd);
    assert_eq!(bench.end(), 0);
    let records = output.records();
    let expected = [
        "init",
        "running",
        "assistant",
        "assistant",
        "error_during_execution",
        "idle",
        "running",
        "assistant",
        "success",
        "idle",
    ];
    assert_eq!(kinds(&records), expected);
    assert_eq!(records[2]["message"]["content"][0]["text"], "so far");
    assert_eq!(records[3]["error"], "unknown");
    let told = "the request failed inside; this is a fault of AgentX";
    assert!(
        records[4]["errors"].to_string().contains(told),
        "{}",
        records[4]
    );
}

#[test]
fn news_of_a_request_that_nobody_made_mean_nothing() {
    let (mut bench, output) = started();
    let late = ModelNews::Delta(Delta::Text("late".into()));
    bench.pump.model(EffectId(7), late);
    bench.pump.take(News::ModelLost(EffectId(7)));
    bench.pump.take(News::InputEnd);
    assert_eq!(bench.end(), 0);
    assert_eq!(kinds(&output.records()), ["init"]);
}
