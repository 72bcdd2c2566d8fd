//! Storing permission updates: on a thread, in order, and whatever it does the
//! turn goes on.

use crate::support::{
    Bench, Door, PATIENCE, Silent, Sink, channel_of_news, configured, control, duplex, kinds,
    script, world,
};
use agentx_pump::pump::{News, Streams};
use agentx_pump::world::{Persist, World};
use serde_json::{Value, json};
use std::sync::mpsc::channel;

/// A session whose updates go to `persist`; it asked about one call.
fn asked(persist: Persist) -> (Bench, Sink, Sink) {
    let (output, errors) = (Sink::default(), Sink::default());
    let streams = Streams {
        input: Box::new(Silent),
        output: Box::new(output.clone()),
        errors: Box::new(errors.clone()),
    };
    let world = World {
        persist: Some(persist),
        ..world()
    };
    let mut bench = Bench::start(configured(), world, duplex(), streams, channel_of_news());
    let call = json!({"name": "Bash", "input": {"command": "true"}});
    let prompt = script(&json!([{"tool_calls": [call]}, {"text": "done"}]));
    say(&mut bench, &prompt);
    while question(&output).is_none() {
        bench.step();
    }
    (bench, output, errors)
}

fn question(output: &Sink) -> Option<Value> {
    let mut records = output.records().into_iter();
    records.find(|record| record["type"] == "control_request")
}

fn say(bench: &mut Bench, line: &str) {
    bench
        .pump
        .take(News::Input(format!("{line}\n").into_bytes()));
    bench.settle();
}

/// Allows the call with these directories to be stored, one update each.
fn allow(bench: &mut Bench, output: &Sink, directories: &[&str]) {
    let update = |directory| json!({"type": "addDirectories", "directories": [directory], "destination": "userSettings"});
    let updates: Vec<_> = directories.iter().map(update).collect();
    let decision = json!({"behavior": "allow", "updatedInput": {}, "updatedPermissions": updates});
    let id = question(output).unwrap()["request_id"].clone();
    let response = json!({"subtype": "success", "request_id": id, "response": decision});
    let answer = json!({"type": "control_response", "response": response});
    say(bench, &answer.to_string());
}

// covers: WIRE-PERM-030, DEC-28
#[test]
fn the_loop_goes_on_while_updates_are_stored() {
    let door = Door::default();
    let passed = door.clone();
    let (stored, storing) = channel();
    let (mut bench, output, errors) = asked(Box::new(move |updates| {
        passed.pass();
        stored.send(updates.len()).unwrap();
        true
    }));
    allow(&mut bench, &output, &["/data", "/more"]);
    say(&mut bench, &control("c1"));
    while !output.text().contains("\"c1\"") {
        bench.step();
    }
    assert!(storing.try_recv().is_err(), "it waits on its own thread");
    door.open();
    assert_eq!(storing.recv_timeout(PATIENCE), Ok(2));
    bench.pump.take(News::InputEnd);
    assert_eq!(bench.end(), 0);
    assert_eq!(errors.text(), "");
}

// covers: WIRE-PERM-030, WIRE-015
#[test]
fn updates_that_cannot_be_stored_are_told_and_the_turn_goes_on() {
    let ends: [Persist; 2] = [
        Box::new(|_| false),
        Box::new(|_| panic!("a fault of the embedder")),
    ];
    for persist in ends {
        let (mut bench, output, errors) = asked(persist);
        allow(&mut bench, &output, &["/data"]);
        bench.pump.take(News::InputEnd);
        assert_eq!(bench.end(), 0);
        let text = "agentx: warning: permission updates could not be stored; \
                    they hold for this session only\n";
        assert_eq!(errors.text(), text);
        assert!(kinds(&output.records()).ends_with(&["success", "idle"]));
    }
}
