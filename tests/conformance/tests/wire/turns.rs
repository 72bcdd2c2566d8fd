//! Turns, their order and their results.

use agentx_conformance::session::{Bench, config};

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

#[test]
fn interrupt_with_two_questions() {
    let mut b = Bench::new(config());
    b.user("go");
    b.calls(&[("t1", "Do", "{\"command\":\"a\"}"), ("t2", "Do", "{}")]);
    assert_eq!(
        b.briefs(),
        [
            "state running",
            "assistant tool_use",
            "assistant tool_use",
            "state requires_action",
            "ask t1",
            "state requires_action",
            "ask t2"
        ]
    );
    b.control("i1", "interrupt");
    assert_eq!(
        b.briefs(),
        [
            "cancel",
            "cancel",
            "ack i1",
            "state running",
            "tool_result t1",
            "tool_result t2",
            "result error_during_execution",
            "state idle"
        ]
    );
    b.eof();
    assert_eq!(b.exit, Some(1));
}
