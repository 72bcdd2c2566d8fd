//! The remote flush: an effect between a result and `idle`. It is not the
//! delivery of either, and nothing takes it for that.

use agentx_conformance::session::{Bench, config};
use agentx_core::agent::{Config, Event, Input, Output, exit_status};
use agentx_core::effect::{Answer, EffectId, Request, Verdict};
use agentx_core::limits::Limits;
use agentx_core::machine::Machine as _;

/// A turn that has ended, and its flush.
fn ended_turn(limits: Limits) -> (Bench, EffectId) {
    let mut b = Bench::new(Config {
        flush_remote: true,
        limits,
        ..config()
    });
    b.prompt(1, "go");
    b.says("done");
    assert_eq!(
        b.briefs(),
        ["state running", "assistant text", "result success"]
    );
    let [(flush, Request::FlushRemote)] = b.open.as_slice() else {
        panic!("the flush is open alone: {:?}", b.open)
    };
    let flush = *flush;
    (b, flush)
}

/// What the embedder was told.
fn events(b: &Bench) -> usize {
    let event = |output: &&Output| matches!(output, Output::Event(Event::TurnEnded(_)));
    b.outputs.iter().filter(event).count()
}

// covers: ACC-15, WIRE-004
#[test]
fn a_flush_that_passed_is_no_word_that_anybody_has_read_anything() {
    let (mut b, flush) = ended_turn(Limits {
        progress_pause_bytes: 1,
        ..Limits::DEFAULT
    });
    let (told, outputs) = (events(&b), b.outputs.len());
    assert_eq!(told, 1);
    b.done(flush, Answer::Flushed(Verdict::Passed));
    assert_eq!(b.briefs(), ["state idle"]);
    assert_eq!(b.outputs.len(), outputs, "nobody is told of a delivery");
    assert!(!b.session.wants().progress, "all of it is on its way still");
    let text = String::from_utf8_lossy(&b.bytes).to_lowercase();
    for claim in ["flush", "durab", "deliver"] {
        assert!(!text.contains(claim), "{claim}");
    }
    // Only the writer knows what was written.
    let mut written = Bench::new(Config {
        limits: Limits {
            progress_pause_bytes: 1,
            ..Limits::DEFAULT
        },
        ..config()
    });
    assert!(!written.session.wants().progress);
    let sent = written.bytes.len();
    written.feed(Input::Sent(sent));
    assert!(written.session.wants().progress);
    // The host closes at once. The session is over; whether the process did well
    // depends on the writer alone, not on the flush.
    b.eof();
    assert_eq!((b.exit, events(&b)), (Some(0), told));
    assert_eq!(exit_status(b.exit, false, true), 1);
    assert_eq!(exit_status(b.exit, false, false), 0);
}

// covers: ACC-15, WIRE-004
#[test]
fn whatever_becomes_of_a_flush_idle_follows_and_prompts_wait_for_it() {
    for verdict in [Verdict::Passed, Verdict::Failed] {
        let (mut b, flush) = ended_turn(Limits::DEFAULT);
        b.prompt(2, "next");
        b.control("i", "interrupt");
        assert_eq!(b.briefs(), ["ack i"], "nothing runs, and nothing begins");
        b.done(flush, Answer::Flushed(verdict));
        assert_eq!(b.briefs(), ["state idle", "state running"]);
        let failed = ["the remote flush of a turn failed"];
        let warned = if verdict == Verdict::Failed { 1 } else { 0 };
        assert_eq!(b.diagnostics(), failed[..warned]);
    }
}

// covers: ACC-15, DEC-11
#[test]
fn an_output_that_fails_beside_a_flush_has_failed() {
    // While it goes on, and after it has passed.
    let (mut b, _) = ended_turn(Limits::DEFAULT);
    b.feed(Input::WriteFailed);
    assert_eq!((b.exit, b.open.len()), (Some(1), 0));
    assert!(b.briefs().is_empty());
    let (mut b, flush) = ended_turn(Limits::DEFAULT);
    b.done(flush, Answer::Flushed(Verdict::Passed));
    b.feed(Input::WriteFailed);
    assert_eq!(b.exit, Some(1));
}
