//! How hosts of the profile `reference` begin.

use agentx_conformance::session::{Bench, reference};
use agentx_core::agent::{Config, Profile, Reference};
use agentx_core::limits::Limits;

/// A session whose first turn waits for `initialize`.
fn awaiting() -> Config {
    let asked = Reference {
        await_initialize: true,
        ..Reference::default()
    };
    Config {
        profile: Profile::Reference(asked),
        ..reference()
    }
}

#[test]
fn the_first_turn_waits_until_initialize_or_the_end_of_input() {
    let mut b = Bench::new(awaiting());
    b.user("one");
    b.user("two");
    assert_eq!(b.records(), Vec::<serde_json::Value>::new());
    b.eof();
    b.says("done");
    b.says("done");
    let results = b.records().into_iter();
    let results = results.filter(|record| record["type"] == "result");
    assert_eq!(results.count(), 2);
}

// covers: WIRE-020
#[test]
fn prompts_that_wait_for_initialize_take_places_of_the_queue() {
    let mut b = Bench::new(Config {
        limits: Limits {
            queue_records: 2,
            ..Limits::default()
        },
        ..awaiting()
    });
    for text in ["one", "two", "three"] {
        b.user(text);
    }
    let records = b.records();
    assert_eq!(records.len(), 1, "{records:?}");
    assert_eq!(records[0]["stop_reason"], "input_error");
}
