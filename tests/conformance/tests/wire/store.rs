//! What is stored when, and a session that goes on from it (DEC-32).

use agentx_conformance::session::{Bench, brief_entries, config, stored, uuid};
use agentx_core::agent::{Config, Output};
use agentx_core::effect::Request;
use agentx_core::guard::Guard;
use agentx_core::model::{Block, Delta, Message, StopReason};
use agentx_core::store::{Beginning, Entry, Origin, Restored, Restorer, UNCONFIRMED};
use agentx_core::tool::ToolContent;
use serde_json::json;

fn new() -> Bench {
    Bench::new(stored(Beginning::New))
}

/// The kinds of entries in the batch that waits.
fn waiting(b: &Bench) -> String {
    b.storing().map_or_else(
        || "nothing".to_string(),
        |(_, batch)| brief_entries(&batch.entries),
    )
}

fn asks_model(b: &Bench) -> bool {
    b.open
        .iter()
        .any(|(_, request)| matches!(request, Request::Model(_)))
}

fn restore(entries: Vec<Entry>) -> Restored {
    let mut restorer = Restorer::new();
    for entry in entries {
        restorer.push(entry).expect("entries follow one another");
    }
    restorer.finish()
}

// covers: DEC-32
#[test]
fn each_step_waits_for_what_led_to_it() {
    let mut b = new();
    b.prompt(1, "go");
    assert_eq!((waiting(&b).as_str(), asks_model(&b)), ("prompt", false));
    let mut entries = b.store_all();
    assert!(asks_model(&b));
    b.calls(&[("t1", "Look", "{}"), ("t2", "Look", "{}")]);
    assert_eq!((waiting(&b).as_str(), b.running().len()), ("answer", 0));
    entries.extend(b.store_all());
    assert_eq!(b.running(), ["t1", "t2"]);
    b.tool_says("t2", "second");
    assert_eq!(waiting(&b), "result");
    b.tool_says("t1", "first");
    assert!(asks_model(&b), "a request with results waits for nothing");
    b.says("done");
    entries.extend(b.store_all());
    assert_eq!(
        brief_entries(&entries),
        "prompt answer result result answer turn"
    );
    let briefs = b.briefs();
    assert_eq!(
        briefs[briefs.len() - 3..],
        ["assistant text", "result success", "state idle"]
    );
}

// covers: DEC-32
#[test]
fn a_result_leaves_once_the_entries_of_its_turn_are_stored() {
    let mut b = new();
    b.prompt(1, "go");
    b.store_all();
    b.says("done");
    b.prompt(2, "next");
    assert_eq!(waiting(&b), "answer turn");
    assert_eq!(
        b.briefs(),
        ["state running", "assistant text"],
        "neither the result nor the next turn"
    );
    let (_, batch) = b.storing().unwrap();
    assert!(batch.opening.is_none());
    assert_eq!((batch.first, batch.time.0), (1, 1_000_000));
    b.store_all();
    assert_eq!(b.briefs()[..2], ["result success", "state idle"]);
}

// covers: DEC-32, DEC-20
#[test]
fn a_prompt_that_cannot_be_stored_ends_its_turn_before_anything_is_asked() {
    let mut b = new();
    b.prompt(1, "go");
    b.store_fails();
    assert!(b.open.is_empty());
    let result = b
        .records()
        .into_iter()
        .find(|r| r["type"] == "result")
        .unwrap();
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["stop_reason"], "cancelled");
    assert_eq!(
        result["errors"],
        json!([
            "the session could not be stored; what this turn did may be lost when the process ends"
        ])
    );
    // The entries go with the next turn, so that nothing is missing between.
    b.prompt(2, "again");
    assert_eq!(waiting(&b), "prompt turn prompt");
    let (_, batch) = b.storing().unwrap();
    assert_eq!((batch.first, batch.opening.is_some()), (0, true));
    b.store_all();
    b.says("done");
    b.store_all();
    assert_eq!(b.briefs().last().map(String::as_str), Some("state idle"));
    b.eof();
    assert_eq!(b.exit, Some(0));
}

// covers: DEC-32
#[test]
fn a_store_that_fails_in_a_turn_stops_what_runs() {
    let mut b = new();
    b.prompt(1, "go");
    b.store_all();
    b.calls(&[("t1", "Do", "{}"), ("t2", "Look", "{}")]);
    b.briefs();
    b.store_fails();
    assert!(b.open.is_empty(), "{:?}", b.open);
    assert_eq!(
        b.briefs(),
        [
            "cancel",
            "state running",
            "tool_result t1",
            "tool_result t2",
            "result error_during_execution",
            "state idle"
        ]
    );
}

// covers: DEC-32
#[test]
fn a_success_whose_end_cannot_be_stored_is_an_error() {
    let mut b = new();
    b.prompt(1, "go");
    b.store_all();
    b.says("done");
    b.briefs();
    b.store_fails();
    assert_eq!(b.briefs(), ["result error_during_execution", "state idle"]);
    b.prompt(2, "go on");
    let entries = b.store_all();
    assert_eq!(brief_entries(&entries), "answer turn prompt");
    let Entry::Turn(turn) = &entries[1] else {
        panic!("{entries:?}");
    };
    assert!(turn.is_error, "as its result record says");
    b.control("i", "interrupt");
    b.store_all();
    b.eof();
    assert_eq!(b.exit, Some(1));
}

// covers: DEC-32, WIRE-010
#[test]
fn an_interrupt_is_acknowledged_while_the_store_works() {
    let mut b = new();
    b.prompt(1, "go");
    b.briefs();
    b.control("i", "interrupt");
    assert_eq!(b.briefs(), ["ack i"]);
    assert!(!asks_model(&b));
    let entries = b.store_all();
    assert!(!asks_model(&b), "the turn is over");
    assert_eq!(brief_entries(&entries), "prompt turn");
    assert_eq!(b.briefs(), ["result error_during_execution", "state idle"]);
}

// covers: DEC-32, DEC-10
#[test]
fn what_closes_a_session_follows_the_result_that_waits() {
    let mut b = new();
    b.prompt(1, "go");
    b.prompt(2, "next");
    b.store_all();
    b.delta(Delta::Text("half".to_string()));
    b.briefs();
    b.line("{");
    assert_eq!(b.briefs(), ["assistant text"]);
    assert_eq!(b.exit, None);
    let entries = b.store_all();
    assert_eq!(brief_entries(&entries), "answer turn");
    let results = b.records();
    let told: Vec<_> = results
        .iter()
        .map(|r| (r["prompt_uuid"].as_str(), r["stop_reason"].as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (Some(uuid(1).as_str()), Some("cancelled")),
            (Some(uuid(2).as_str()), Some("cancelled")),
            (None, None),
            (None, Some("input_error")),
        ]
    );
    assert_eq!(b.exit, Some(1));
}

// covers: DEC-32, DEC-11
#[test]
fn a_closed_output_still_stores_what_was_said() {
    let mut b = new();
    b.prompt(1, "go");
    b.store_all();
    b.delta(Delta::Text("half".to_string()));
    b.feed(agentx_core::agent::Input::WriteFailed);
    assert_eq!(waiting(&b), "answer turn");
    assert_eq!(b.exit, None);
    b.store_all();
    assert_eq!(b.exit, Some(1));
}

// covers: DEC-32, DEC-35, DEC-41, DEC-44, WIRE-025
#[test]
fn a_resumed_session_goes_on_where_the_stored_one_stopped() {
    let mut b = new();
    b.prompt(1, "go");
    let mut entries = b.store_all();
    b.calls(&[("t1", "Look", "{}"), ("t2", "Do", "{}")]);
    entries.extend(b.store_all());
    b.tool_says("t1", "seen");
    entries.extend(b.store_all());
    // The process is gone here; t2 was never answered.
    b.replays = false;
    let restored = restore(entries);
    let mut b = Bench::with_init(Config {
        resume: Some(restored.clone()),
        ..stored(Beginning::Resumed(restored.entries))
    });
    let init = b.records().remove(0);
    assert_eq!(init["session_id"], uuid(77).as_str());
    // A prompt of the first run is none any more; a new one is.
    b.prompt(1, "go");
    assert!(b.open.is_empty());
    b.prompt(2, "on");
    let (_, batch) = b.storing().unwrap();
    assert_eq!(
        (batch.first, batch.opening.is_none()),
        (restored.entries, true)
    );
    b.store_all();
    let (_, request) = b.model();
    let [go, called, results, on] = request.history.as_slice() else {
        panic!("{:?}", request.history);
    };
    assert_eq!(request.prompt, 3);
    assert_eq!(**go, Message::User(vec!["go".to_string()]));
    assert!(matches!(&**called, Message::Assistant(blocks) if blocks.len() == 2));
    assert_eq!(**on, Message::User(vec!["on".to_string()]));
    let Message::ToolResults(results) = &**results else {
        panic!("{results:?}");
    };
    let texts: Vec<_> = results
        .iter()
        .map(|r| (r.is_error, r.content.as_slice()))
        .collect();
    assert_eq!(
        texts,
        [
            (false, [ToolContent::Text("seen".to_string())].as_slice()),
            (
                true,
                [ToolContent::Text(UNCONFIRMED.to_string())].as_slice()
            )
        ]
    );
    // The model may spell a used id again; it is another call.
    b.calls(&[("t1", "Look", "{}")]);
    b.store_all();
    assert_eq!(b.running().len(), 1);
    assert!(b.find_tool("t1").is_none());
}

// covers: DEC-32, DEC-41
#[test]
fn thinking_is_stored_with_its_signature_and_half_a_call_only_by_its_id() {
    let mut b = new();
    b.prompt(1, "go");
    b.store_all();
    b.delta(Delta::Thinking("hm".to_string()));
    b.delta(Delta::Signature("c2ln".to_string()));
    b.delta(Delta::CallStart {
        index: 0,
        id: "t1".to_string(),
        name: "Look".to_string(),
    });
    b.control("i", "interrupt");
    let restored = restore(b.store_all());
    assert!(restored.tool_use_ids.contains("t1"));
    let Message::Assistant(blocks) = &*restored.history[0] else {
        panic!("{:?}", restored.history);
    };
    assert_eq!(
        *blocks,
        [Block::Thinking {
            text: "hm".to_string(),
            signature: Some("c2ln".to_string())
        }]
    );
}

// covers: DEC-44, DEC-32
#[test]
fn context_is_stored_with_its_uuid_where_it_joins_the_history() {
    let mut b = new();
    let replay = json!({"uuid": uuid(5), "session_id": uuid(77), "isReplay": true});
    b.user_with("earlier", replay);
    assert!(b.storing().is_none(), "no session without a prompt");
    b.prompt(1, "go");
    let mut entries = b.store_all();
    b.user_with(
        "meanwhile",
        json!({"uuid": uuid(6), "session_id": uuid(77), "isReplay": true}),
    );
    b.calls(&[("t1", "Look", "{}")]);
    entries.extend(b.store_all());
    b.tool_says("t1", "seen");
    entries.extend(b.store_all());
    assert_eq!(
        brief_entries(&entries),
        "context prompt answer result context"
    );
    let restored = restore(entries);
    let uuids: Vec<String> = restored.prompts.iter().map(ToString::to_string).collect();
    assert_eq!(uuids, [uuid(5), uuid(1), uuid(6)]);
    let (_, request) = b.model();
    assert_eq!(request.history, restored.history);
}

// covers: DEC-32
#[test]
fn a_fork_names_its_origin_and_numbers_on() {
    let origin = Origin {
        session_id: uuid(3).into(),
        entries: 9,
    };
    let mut b = Bench::new(stored(Beginning::Forked(origin.clone())));
    b.prompt(1, "  another\nway ");
    let (_, batch) = b.storing().unwrap();
    assert_eq!((&*batch.session_id, batch.first), (uuid(77).as_str(), 9));
    let opening = batch.opening.as_ref().unwrap();
    assert_eq!(opening.origin, Some(origin));
    assert_eq!(
        (opening.title.as_str(), opening.cwd.as_str()),
        ("another way", "/repo")
    );
    b.store_all();
    b.says("done");
    assert!(b.storing().unwrap().1.opening.is_none());
}

// covers: DEC-30, WIRE-013
#[test]
fn no_credential_reaches_the_store() {
    let key = "sk-1234567890";
    let guarded = || Config {
        credentials: Guard::new([key]).unwrap(),
        ..stored(Beginning::New)
    };
    let mut b = Bench::new(guarded());
    b.prompt(1, &format!("use {key} please"));
    let (_, batch) = b.storing().unwrap();
    let text = String::from_utf8(batch.entries[0].to_json()).unwrap();
    assert!(text.contains("use [redacted] please"), "{text}");
    assert_eq!(
        batch.opening.as_ref().unwrap().title,
        "use [redacted] please"
    );
    // Characters that a title leaves out stand between two halves.
    let mut b = Bench::new(guarded());
    b.prompt(1, "use sk-12345\u{7}67890 please");
    let (_, batch) = b.storing().unwrap();
    assert_eq!(
        batch.opening.as_ref().unwrap().title,
        "use [redacted] please"
    );
    // Put together from two parts that are safe alone.
    let mut b = Bench::new(Config {
        credentials: Guard::new(["aaaa\",\"bbbb"]).unwrap(),
        ..stored(Beginning::New)
    });
    b.line(r#"{"type":"user","message":{"content":[{"type":"text","text":"aaaa"},{"type":"text","text":"bbbb"}]}}"#);
    assert!(b.storing().is_none());
    assert_eq!(b.exit, Some(1));
    assert!(b.outputs.iter().any(
        |output| matches!(output, Output::Diagnostic(d) if d.text.contains("was not stored"))
    ));
}

#[test]
fn a_session_without_a_store_stores_nothing() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    assert!(b.storing().is_none() && asks_model(&b));
    b.finish(StopReason::EndTurn);
    assert_eq!(b.briefs().last().map(String::as_str), Some("state idle"));
}
