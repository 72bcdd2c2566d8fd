use super::super::slot::slot;
use super::super::task::threads;
use super::*;
use agentx_core::host::Config;
use agentx_core::ids::Seed;
use agentx_core::schema::host::Interrupt;
use std::process::Command;
use std::sync::mpsc::channel;

/// A loop whose agent has ended, and writes nothing.
fn engine() -> Engine {
    let child = Command::new("/bin/true").spawn().unwrap();
    let (news, (gate, _)) = (channel().0, channel());
    Engine {
        session: HostSession::new(Config::new(Seed::from_u64(1)), Instant::ZERO),
        started: std::time::Instant::now(),
        callbacks: Callbacks::new(),
        spawn: threads(),
        timeout: Duration::from_secs(60),
        news,
        process: Process::watch(child, drop).unwrap(),
        writer: None,
        gate,
        tail: Tail::default(),
        shelf: Shelf::default(),
        ended: Mailbox::default(),
        running: Arc::default(),
        state: State::default(),
    }
}

// covers: WIRE-008
#[test]
fn a_call_that_is_forgotten_waits_for_no_end() {
    let mut engine = engine();
    let (slot, _outcome) = slot();
    let call = Box::new(Interrupt {}.into());
    engine.ask(Ask::Call(CallId(0), call, None, slot));
    assert!(engine.deadline().is_some());
    engine.ask(Ask::Forget(CallId(0)));
    // Else those who really wait for the end would have less time for it.
    assert_eq!(engine.deadline(), None);
    assert!(engine.state.bereft.is_empty());
}
