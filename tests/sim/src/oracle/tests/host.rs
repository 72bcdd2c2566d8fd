//! The host's machine: each rule with a sound sequence, and with one that a change
//! to what the host says has spoiled.

use super::Found;
use crate::event::{Event, Violation, Watch as _};
use crate::oracle::Oracles;
use agentx_core::effect::EffectId;
use agentx_core::guard::Guard;
use agentx_core::host::{
    self, Answer, CallError, CallId, Command, Config, HostSession, Input, Output,
};
use agentx_core::ids::Seed;
use agentx_core::limits::Limits;
use agentx_core::link::{Link, Outgoing};
use agentx_core::machine::{Machine as _, Misuse};
use agentx_core::schema::host::{Decision, Interrupt, Prompt};
use agentx_core::time::Instant;
use std::time::Duration;

/// What becomes of an output before the oracle sees it.
type Spoil = fn(Output) -> Vec<Output>;

/// A host on its stage, and whoever changes what it says.
struct Stage {
    oracles: Oracles,
    session: HostSession,
    spoil: Spoil,
    found: Option<Violation>,
}

const UUID: &str = "00000000-0000-4000-8000-000000000001";

fn same(output: Output) -> Vec<Output> {
    vec![output]
}

impl Stage {
    fn new(spoil: Spoil) -> Self {
        Self {
            oracles: Oracles::new(),
            session: HostSession::new(Config::new(Seed::from_u64(1)), Instant::ZERO),
            spoil,
            found: None,
        }
    }

    fn see(&mut self, at: u64, event: &Event<'_>) {
        let seen = self.oracles.see(Instant::from_micros(at), event);
        if self.found.is_none() {
            self.found = seen.err();
        }
    }

    /// The host is fed and says what it has to say.
    fn feed(&mut self, at: u64, input: Input<'_>) -> &mut Self {
        self.see(at, &Event::HostInput(&input));
        let fed = self.session.handle(Instant::from_micros(at), input);
        if let Err(misuse) = fed {
            self.see(at, &Event::HostRefused(misuse));
        }
        while let Some(output) = self.session.poll() {
            for output in (self.spoil)(output) {
                self.see(at, &Event::HostOutput(&output));
            }
        }
        let session = std::mem::replace(&mut self.session, Self::new(same).session);
        self.see(at, &Event::HostDrained(&session));
        self.session = session;
        self
    }

    fn wants(&mut self, at: u64, command: Command) -> &mut Self {
        self.feed(at, Input::Command(command))
    }

    fn agent(&mut self, at: u64, line: &str) -> &mut Self {
        self.feed(at, Input::Bytes(format!("{line}\n").as_bytes()))
    }

    fn prompts(&mut self, at: u64, uuid: &str) -> &mut Self {
        let prompt = Prompt::text("go").with_uuid(uuid);
        self.wants(at, Command::Prompt(Box::new(prompt)))
    }

    fn calls(&mut self, at: u64, id: u64, timeout: u64) -> &mut Self {
        self.wants(
            at,
            Command::Call {
                id: CallId(id),
                call: Box::new(Interrupt.into()),
                timeout: Some(Duration::from_micros(timeout)),
            },
        )
    }

    fn asks(&mut self, at: u64, id: &str) -> &mut Self {
        self.agent(
            at,
            &format!(
                r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"can_use_tool","tool_name":"Do","input":{{}},"tool_use_id":"t-{id}"}}}}"#
            ),
        )
    }

    /// Says something that the session never said.
    fn lies(&mut self, at: u64, input: &Input<'_>, output: &Output) -> &mut Self {
        self.see(at, &Event::HostInput(input));
        self.see(at, &Event::HostOutput(output));
        self
    }

    fn verdict(&self) -> Found {
        match &self.found {
            None => Ok(()),
            Some(violation) => Err(violation.requirement),
        }
    }
}

fn deny() -> Answer {
    Answer::Permit(Decision::deny("no"))
}

/// A record as it leaves a host.
fn transmit(line: &str) -> Output {
    let mut link = Link::of_host(&Limits::DEFAULT);
    assert_eq!(link.send_raw(&Guard::default(), line), Ok(()), "{line}");
    match link.poll() {
        Some(Outgoing::Transmit(record)) => Output::Transmit(record),
        other => panic!("{other:?}"),
    }
}

fn reply(id: &str) -> Output {
    transmit(&format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}"}}}}"#
    ))
}

/// A session in which everything happens that a host knows.
fn play(spoil: Spoil) -> Stage {
    let mut stage = Stage::new(spoil);
    stage
        .prompts(0, UUID)
        .prompts(1, "no uuid")
        .calls(2, 1, 1_000)
        .calls(3, 2, 10)
        .calls(4, 3, 1_000)
        .calls(5, 4, 1_000)
        .feed(6, Input::Tick)
        .feed(13, Input::Tick)
        .wants(14, Command::Forget(CallId(3)))
        .agent(15, r#"{"type":"news","uuid":"a","is":[1]}"#)
        .agent(16, r#"{"type":"news","uuid":"b","is":[2]}"#);
    assert_eq!(stage.session.waiting_calls(), 2);
    stage
        .asks(20, "r1")
        .asks(21, "r2")
        .agent(22, r#"{"type":"control_cancel_request","request_id":"r1"}"#)
        .feed(23, Input::Done(EffectId(0), deny()))
        .feed(24, Input::Done(EffectId(1), deny()))
        .asks(25, "r3")
        .feed(26, Input::Done(EffectId(2), Answer::Failed("why".into())))
        .asks(27, "r4")
        .wants(28, Command::Close)
        .wants(29, Command::KeepAlive)
        .calls(30, 5, 1_000)
        .feed(31, Input::Bytes(br#"{"type":"news","uuid":"c"}"#))
        .feed(32, Input::Eof);
    stage
}

// covers: WIRE-003, WIRE-006, WIRE-EOF-001
#[test]
fn a_whole_session_breaks_nothing() {
    let stage = play(same);
    assert_eq!(stage.found, None);
}

/// Drops the outputs that `is` chooses.
macro_rules! without {
    ($is:pat) => {
        |output| {
            if matches!(output, $is) {
                Vec::new()
            } else {
                vec![output]
            }
        }
    };
}

/// Says the outputs that `is` chooses twice.
macro_rules! twice {
    ($is:pat) => {
        |output| {
            if matches!(output, $is) {
                vec![output.clone(), output]
            } else {
                vec![output]
            }
        }
    };
}

// covers: WIRE-003, WIRE-007, WIRE-008, WIRE-015, WIRE-PERM-070, DEC-21
#[test]
fn what_a_host_leaves_out_is_seen() {
    use host::Event as E;
    let cases: [(Spoil, &str); 9] = [
        (without!(Output::Event(E::Record(_))), "WIRE-003"),
        (
            without!(Output::Event(E::Answered(_, Err(CallError::TimedOut)))),
            "WIRE-007",
        ),
        (
            without!(Output::Event(E::Answered(_, Err(CallError::Forgotten)))),
            "WIRE-007",
        ),
        (
            without!(Output::Event(E::Answered(_, Err(CallError::Closed)))),
            "WIRE-008",
        ),
        (without!(Output::Event(E::Prompted(_))), "DEC-21"),
        (without!(Output::Event(E::Unsent { .. })), "DEC-21"),
        (without!(Output::Start(..)), "law 5"),
        (without!(Output::Cancel(_)), "WIRE-PERM-070"),
        (without!(Output::CloseInput), "WIRE-015"),
    ];
    for (place, (spoil, requirement)) in cases.into_iter().enumerate() {
        assert_eq!(play(spoil).verdict(), Err(requirement), "case {place}");
    }
}

// covers: WIRE-003, WIRE-007, WIRE-015, DEC-21
#[test]
fn what_a_host_says_twice_is_seen() {
    use host::Event as E;
    let cases: [(Spoil, &str); 7] = [
        (twice!(Output::Event(E::Record(_))), "WIRE-003"),
        (
            twice!(Output::Event(E::Answered(_, Err(CallError::TimedOut)))),
            "WIRE-007",
        ),
        (twice!(Output::Event(E::Prompted(_))), "DEC-21"),
        (twice!(Output::Start(..)), "law 5"),
        (twice!(Output::Cancel(_)), "law 5"),
        (twice!(Output::CloseInput), "WIRE-015"),
        (twice!(Output::Exit(_)), "law 5"),
    ];
    for (place, (spoil, requirement)) in cases.into_iter().enumerate() {
        assert_eq!(play(spoil).verdict(), Err(requirement), "case {place}");
    }
}

// covers: WIRE-EOF-001, DEC-21
#[test]
fn an_end_that_is_told_wrongly_is_seen() {
    let no_prompts: Spoil = |output| match output {
        Output::Exit(mut exit) => {
            exit.prompts.clear();
            vec![Output::Exit(exit)]
        }
        output => vec![output],
    };
    assert_eq!(play(no_prompts).verdict(), Err("DEC-21"));
    let no_tail: Spoil = |output| match &output {
        Output::Event(host::Event::Record(record)) if record.uuid.as_deref() == Some("c") => {
            Vec::new()
        }
        _ => vec![output],
    };
    assert_eq!(play(no_tail).verdict(), Err("WIRE-EOF-001"));
    // Half a record is a fault of the agent, not the end of its stream.
    let cut = |spoil: Spoil| {
        let mut stage = Stage::new(spoil);
        stage
            .feed(1, Input::Bytes(b"{\"type\":\"ne"))
            .feed(2, Input::Eof);
        stage.verdict()
    };
    assert_eq!(cut(same), Ok(()));
    let smooth: Spoil = |output| match output {
        Output::Exit(mut exit) => {
            exit.end = host::End::Stream;
            vec![Output::Exit(exit)]
        }
        output => vec![output],
    };
    assert_eq!(cut(smooth), Err("DEC-10"));
}

// covers: WIRE-PERM-010
#[test]
fn an_answer_that_goes_to_another_call_is_seen() {
    let answered = |spoil: Spoil| {
        let mut stage = Stage::new(spoil);
        stage.calls(1, 1, 1_000);
        // The first call of a host has the same id in every session of that seed.
        let mut wire = String::new();
        let mut twin = Stage::new(same).session;
        let call = Command::Call {
            id: CallId(1),
            call: Box::new(Interrupt.into()),
            timeout: None,
        };
        assert_eq!(twin.handle(Instant::ZERO, Input::Command(call)), Ok(()));
        if let Some(Output::Transmit(record)) = twin.poll() {
            let text = String::from_utf8_lossy(record.as_bytes()).into_owned();
            let (_, rest) = text.split_once(r#""request_id":""#).expect("an id");
            wire = rest.split('"').next().unwrap_or_default().to_string();
        }
        stage.agent(
            2,
            &format!(
                r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{wire}","response":{{"a":1}}}}}}"#
            ),
        );
        stage.verdict()
    };
    assert_eq!(answered(same), Ok(()));
    let empty: Spoil = |output| match output {
        Output::Event(host::Event::Answered(call, Ok(Some(_)))) => {
            vec![Output::Event(host::Event::Answered(call, Ok(None)))]
        }
        output => vec![output],
    };
    assert_eq!(answered(empty), Err("WIRE-PERM-010"));
    let other: Spoil = |output| match output {
        Output::Event(host::Event::Answered(_, answer)) => {
            vec![Output::Event(host::Event::Answered(CallId(2), answer))]
        }
        output => vec![output],
    };
    assert_eq!(answered(other), Err("WIRE-PERM-010"));
}

// covers: WIRE-PERM-002, WIRE-PERM-010, WIRE-PERM-070
#[test]
fn an_answer_that_nobody_gave_is_seen() {
    let told = |play: fn(&mut Stage)| {
        let mut stage = Stage::new(same);
        stage.asks(1, "r1").asks(2, "r2");
        play(&mut stage);
        stage.verdict()
    };
    let failed = || Input::Done(EffectId(0), Answer::Failed("why".into()));
    let quiet = |s: &mut Stage| {
        s.feed(3, Input::Done(EffectId(0), Answer::Failed("why".into())));
    };
    assert_eq!(told(quiet), Ok(()));
    let mut leave = Stage::new(same);
    leave.asks(1, "r1").lies(3, &failed(), &reply("r1"));
    assert_eq!(leave.verdict(), Err("WIRE-PERM-002"));
    let other = |s: &mut Stage| {
        s.lies(3, &Input::Done(EffectId(0), deny()), &reply("r2"));
    };
    assert_eq!(told(other), Err("WIRE-PERM-010"));
    let late = |s: &mut Stage| {
        s.agent(3, r#"{"type":"control_cancel_request","request_id":"r1"}"#)
            .lies(4, &Input::Done(EffectId(0), deny()), &reply("r1"));
    };
    assert_eq!(told(late), Err("WIRE-PERM-070"));
    let again = |s: &mut Stage| {
        s.feed(3, Input::Done(EffectId(0), deny()))
            .lies(4, &Input::Tick, &reply("r1"));
    };
    assert_eq!(told(again), Err("law 3"));
}

// covers: WIRE-015
#[test]
fn laws_of_a_host_are_seen_to_be_broken() {
    let told = |play: fn(&mut Stage)| {
        let mut stage = Stage::new(same);
        play(&mut stage);
        stage.verdict()
    };
    let alive = r#"{"type":"keep_alive"}"#;
    let sound = |s: &mut Stage| {
        s.feed(1, Input::Tick);
    };
    assert_eq!(told(sound), Ok(()));
    let early = |s: &mut Stage| {
        s.calls(1, 1, 50).lies(2, &Input::Tick, &Output::CloseInput);
    };
    assert_eq!(told(early), Err("law 3"));
    // The session never hears of the call that the oracle knows.
    let late = |s: &mut Stage| {
        s.calls(1, 1, 50).feed(2, Input::Tick);
        s.session = Stage::new(same).session;
        s.feed(3, Input::Sent(0));
    };
    assert_eq!(told(late), Err("law 3"));
    let misuse = |s: &mut Stage| s.see(1, &Event::HostRefused(Misuse::WrongState));
    assert_eq!(told(misuse), Err("law 5"));
    let mut behind = Stage::new(same);
    behind.wants(1, Command::Close);
    let kept = Input::Command(Command::KeepAlive);
    behind.lies(2, &kept, &transmit(alive));
    assert_eq!(behind.verdict(), Err("WIRE-015"));
    let mut gone = Stage::new(same);
    gone.wants(1, Command::Abandon);
    gone.lies(2, &Input::Tick, &Output::CloseInput);
    assert_eq!(gone.verdict(), Err("law 5"));
}
