//! Storing a session: on a thread, in order, and the loop goes on meanwhile.

use crate::support::{
    Bench, Door, Silent, Sink, channel_of_news, configured, control, duplex, kinds, user, world,
};
use agentx_core::agent::Config;
use agentx_core::store::{Beginning, Binding, Storing};
use agentx_core::time::WallTime;
use agentx_pump::pump::{News, Streams};
use agentx_pump::world::{Keep, World};
use std::sync::{Arc, Mutex};

/// A session that `keep` stores, with one prompt.
fn prompted(keep: Option<Keep>) -> (Bench, Sink, Sink) {
    let (output, errors) = (Sink::default(), Sink::default());
    let streams = Streams {
        input: Box::new(Silent),
        output: Box::new(output.clone()),
        errors: Box::new(errors.clone()),
    };
    let world = World {
        store: keep,
        ..world()
    };
    let config = Config {
        store: Some(Storing {
            binding: Binding {
                provider: "main".into(),
                kind: "scripted".into(),
                model: "m".into(),
                route: "00ff".into(),
            },
            epoch: WallTime(0),
            beginning: Beginning::New,
        }),
        ..configured()
    };
    let mut bench = Bench::start(config, world, duplex(), streams, channel_of_news());
    say(&mut bench, &user("hello"));
    (bench, output, errors)
}

fn say(bench: &mut Bench, line: &str) {
    let piece = format!("{line}\n").into_bytes();
    bench.pump.take(News::Input(piece));
    bench.settle();
}

// covers: DEC-32, DEC-28
#[test]
fn the_loop_goes_on_while_a_batch_is_stored_and_asks_nobody_before() {
    let door = Door::default();
    let passed = door.clone();
    let stored = Arc::new(Mutex::new(Vec::new()));
    let storing = Arc::clone(&stored);
    let (mut bench, output, errors) = prompted(Some(Box::new(move |batch| {
        passed.pass();
        storing
            .lock()
            .unwrap()
            .push((batch.first, batch.entries.len()));
        Ok(())
    })));
    say(&mut bench, &control("c1"));
    while !output.text().contains("\"c1\"") {
        bench.step();
    }
    assert!(bench.drives.is_empty(), "no model is asked yet");
    door.open();
    bench.pump.take(News::InputEnd);
    assert_eq!(bench.end(), 0);
    assert_eq!(errors.text(), "");
    assert_eq!(*stored.lock().unwrap(), [(0, 1), (1, 2)]);
    assert!(kinds(&output.records()).ends_with(&["success", "idle"]));
}

// covers: DEC-32, WIRE-015
#[test]
fn a_store_that_fails_panics_or_is_not_there_ends_the_turn_with_an_error() {
    let ends: [(Option<Keep>, &str); 3] = [
        (
            Some(Box::new(|_| Err("the disk is full".into()))),
            "the disk is full",
        ),
        (
            Some(Box::new(|_| panic!("a fault of the embedder"))),
            "it failed inside",
        ),
        (None, "there is none"),
    ];
    for (keep, why) in ends {
        let (mut bench, output, errors) = prompted(keep);
        bench.pump.take(News::InputEnd);
        assert_eq!(bench.end(), 1);
        assert_eq!(
            errors.text(),
            format!("agentx: error: the session store: {why}\n")
        );
        let records = output.records();
        assert!(kinds(&records).ends_with(&["error_during_execution", "idle"]));
        let told = records[records.len() - 2]["errors"][0].as_str().unwrap();
        assert!(
            told.starts_with("the session could not be stored"),
            "{told}"
        );
    }
}
