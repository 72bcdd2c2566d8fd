//! Turns, their order and their results.

use agentx_conformance::session::{Bench, brief, config};
use agentx_core::agent::{AgentSession, Input};
use agentx_core::effect::{Answer, EffectId, Verdict};
use agentx_core::machine::{Machine as _, Misuse};
use agentx_core::model::{Delta, StopReason};
use agentx_core::time::Instant;
use serde_json::{Value, json};

// covers: DEC-12, DEC-39
#[test]
fn a_turn_runs_from_running_to_idle() {
    let mut b = Bench::with_init(config());
    assert_eq!(b.briefs(), ["system/init"]);
    b.user("hello");
    b.says("hi");
    assert_eq!(
        b.briefs(),
        [
            "state running",
            "assistant text",
            "result success",
            "state idle"
        ]
    );
    b.eof();
    assert_eq!((b.briefs(), b.exit), (vec![], Some(0)));
}

// covers: DEC-42, DEC-47
#[test]
fn a_block_is_shown_once_it_is_known_not_to_be_the_last() {
    let mut b = Bench::new(config());
    b.user("go");
    b.delta(Delta::Text("one".to_string()));
    b.delta(Delta::Thinking("two".to_string()));
    assert_eq!(b.briefs(), ["state running", "assistant text"]);
    b.delta(Delta::Text("three".to_string()));
    assert_eq!(b.briefs(), ["assistant thinking"]);
    // An answer can lose its calls, so what stands before one may be its last.
    b.delta(Delta::CallStart {
        index: 0,
        id: "t1".to_string(),
        name: "Look".to_string(),
    });
    b.delta(Delta::CallArguments {
        index: 0,
        text: "{}".to_string(),
    });
    assert_eq!(b.briefs(), Vec::<String>::new());
    b.finish(StopReason::ToolUse);
    let records = b.records();
    let stops: Vec<_> = records
        .iter()
        .map(|record| (brief(record), record["message"]["stop_reason"].clone()))
        .collect();
    assert_eq!(
        stops,
        [
            ("assistant text".to_string(), Value::Null),
            ("assistant tool_use".to_string(), json!("tool_use"))
        ]
    );
}

#[test]
fn a_refused_input_changes_nothing() {
    let late = Instant::from_micros(50);
    let mut session = AgentSession::new(config(), Instant::from_micros(10));
    let before = (session.deadline(), session.wants());
    let never = Answer::Flushed(Verdict::Passed);
    for (at, input, misuse) in [
        (Instant::ZERO, Input::Tick, Misuse::TimeReversed),
        (late, Input::Done(EffectId(3), never), Misuse::UnknownEffect),
    ] {
        assert_eq!(session.handle(at, input), Err(misuse));
        assert_eq!((session.deadline(), session.wants()), before, "{misuse}");
    }
    assert_eq!(before.0, Some(Instant::from_micros(10)), "init waits");
    assert_eq!(session.handle(late, Input::Eof), Ok(()));
    assert_eq!(
        session.handle(late, Input::Bytes(b"{}")),
        Err(Misuse::InputAfterExit)
    );

    let mut session = AgentSession::new(config(), Instant::ZERO);
    let prompt = Input::Bytes(br#"{"type":"user","message":"go"}"#);
    assert_eq!(session.handle(Instant::ZERO, prompt), Ok(()));
    assert_eq!(session.handle(Instant::ZERO, Input::Eof), Ok(()));
    for input in [Input::Bytes(b"{}"), Input::Eof] {
        let refused = session.handle(Instant::ZERO, input);
        assert_eq!(refused, Err(Misuse::InputAfterEnd), "the turn still runs");
    }
}
