//! The five laws on a small machine over [`Framer`], and on machines that break
//! each of them.

use agentx_core::frame::Framer;
use agentx_core::limits::Limits;
use agentx_core::machine::{Machine, Misuse, Wants};
use agentx_core::time::Instant;
use agentx_laws::{Effect, Event, Law, Nothing, Recorded, Script, Subject, check, replay};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

const SEEDS: std::ops::Range<u64> = 0..40;
const IDLE: Duration = Duration::from_millis(100);
const TIMEOUT: Duration = Duration::from_secs(1);

/// A way to break the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    TellsReads,
    StampsInPoll,
    TickRestartsIdle,
    DueTickStays,
    TickIsOutput,
    WakesAfterNone,
    HidesOutput,
    WantsAfterEnd,
    RefusesButActs,
    SettlesTwice,
    TakesUnknown,
    AnswersLate,
    StartsTwice,
    CancelsTwice,
    LeavesOpen,
    SpeaksAfterExit,
}

#[derive(Clone, Copy, Debug)]
enum Input<'a> {
    Bytes(&'a [u8]),
    Eof,
    Tick,
    Done(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Output {
    Start(u64, String),
    Finished(u64, Instant),
    Cancel(u64),
    Idle,
    Read,
    Fault(String),
    Exit,
}

/// Starts an effect for each line, gives it up after a second, tells when
/// nothing has come for a while, and ends when the stream and all effects have.
struct Lines {
    flaw: Flaw,
    now: Instant,
    framer: Framer,
    out: VecDeque<Output>,
    started: u64,
    open: BTreeMap<u64, Instant>,
    cancelled: BTreeSet<u64>,
    idle: Option<Instant>,
    ended: bool,
    exited: bool,
    polled_none: bool,
}

impl Lines {
    fn new(flaw: Flaw) -> Self {
        let limits = Limits {
            record_bytes: 40,
            ..Limits::DEFAULT
        };
        Self {
            flaw,
            now: Instant::ZERO,
            framer: Framer::new(&limits),
            out: VecDeque::new(),
            started: 0,
            open: BTreeMap::new(),
            cancelled: BTreeSet::new(),
            idle: None,
            ended: false,
            exited: false,
            polled_none: false,
        }
    }

    fn bytes(&mut self, mut bytes: &[u8]) {
        if !bytes.is_empty() {
            self.idle = Some(self.now.after(IDLE));
        }
        if self.flaw == Flaw::TellsReads {
            self.out.push_back(Output::Read);
        }
        let mut found = Vec::new();
        while let Some(line) = self.framer.next(&mut bytes) {
            found.push(match line {
                Ok(line) => Ok(String::from_utf8_lossy(line.bytes).into_owned()),
                Err(error) => Err(error.to_string()),
            });
        }
        self.lines(found);
    }

    fn lines(&mut self, found: Vec<Result<String, String>>) {
        for line in found {
            match line {
                Ok(line) => {
                    self.open.insert(self.started, self.now.after(TIMEOUT));
                    self.out.push_back(Output::Start(self.started, line));
                    if self.flaw != Flaw::StartsTwice || self.started != 1 {
                        self.started += 1;
                    }
                }
                Err(fault) => {
                    self.out.push_back(Output::Fault(fault));
                    self.give_up(Instant::from_micros(u64::MAX));
                    self.exit();
                }
            }
        }
    }

    fn give_up(&mut self, until: Instant) {
        for (id, _) in self.open.extract_if(.., |_, due| *due <= until) {
            self.cancelled.insert(id);
            self.out.push_back(Output::Cancel(id));
            if self.flaw == Flaw::CancelsTwice {
                self.out.push_back(Output::Cancel(id));
            }
        }
    }

    fn done(&mut self, id: u64) -> Result<(), Misuse> {
        if self.open.remove(&id).is_some() {
            self.out.push_back(Output::Finished(id, self.now));
        } else if self.cancelled.remove(&id) {
            if self.flaw == Flaw::AnswersLate {
                self.out.push_back(Output::Finished(id, self.now));
            }
        } else if id >= self.started {
            if self.flaw != Flaw::TakesUnknown {
                return Err(Misuse::UnknownEffect);
            }
        } else if self.flaw != Flaw::SettlesTwice {
            if self.flaw == Flaw::RefusesButActs {
                self.out.push_back(Output::Idle);
            }
            return Err(Misuse::EffectSettledTwice);
        }
        Ok(())
    }

    fn exit(&mut self) {
        self.exited = true;
        self.idle = None;
        self.out.push_back(Output::Exit);
        if self.flaw == Flaw::SpeaksAfterExit {
            self.out.push_back(Output::Idle);
        }
    }
}

impl Machine for Lines {
    type Input<'a> = Input<'a>;
    type Output = Output;

    fn handle(&mut self, now: Instant, input: Input<'_>) -> Result<(), Misuse> {
        if now < self.now {
            return Err(Misuse::TimeReversed);
        }
        if self.exited {
            return Err(Misuse::InputAfterExit);
        }
        match input {
            Input::Bytes(_) | Input::Eof if self.ended => return Err(Misuse::InputAfterEnd),
            Input::Done(id) => {
                let before = std::mem::replace(&mut self.now, now);
                self.done(id).inspect_err(|_| self.now = before)?;
            }
            Input::Bytes(bytes) => {
                self.now = now;
                self.bytes(bytes);
            }
            Input::Eof => {
                self.now = now;
                self.ended = true;
                self.idle = None;
                let last = self.framer.end().map(|line| match line {
                    Ok(line) => Ok(String::from_utf8_lossy(line.bytes).into_owned()),
                    Err(error) => Err(error.to_string()),
                });
                self.lines(last.into_iter().collect());
            }
            Input::Tick => {
                self.now = now;
                self.give_up(now);
                if self.idle.is_some_and(|due| due <= now) {
                    self.out.push_back(Output::Idle);
                    self.idle = (self.flaw == Flaw::DueTickStays).then_some(now);
                } else if self.flaw == Flaw::TickRestartsIdle && self.idle.is_some() {
                    self.idle = Some(now.after(IDLE));
                } else if self.flaw == Flaw::TickIsOutput {
                    self.out.push_back(Output::Read);
                }
            }
        }
        let open = !self.open.is_empty() && self.flaw != Flaw::LeavesOpen;
        if self.ended && !open && !self.exited {
            self.exit();
        }
        Ok(())
    }

    fn poll(&mut self) -> Option<Output> {
        let output = self.out.pop_front();
        if self.flaw == Flaw::WakesAfterNone && output.is_none() && self.started == 2 {
            self.polled_none = !self.polled_none;
            return (!self.polled_none).then_some(Output::Idle);
        }
        match output {
            Some(Output::Finished(id, _)) if self.flaw == Flaw::StampsInPoll => {
                Some(Output::Finished(id, self.now))
            }
            other => other,
        }
    }

    fn deadline(&self) -> Option<Instant> {
        if !self.out.is_empty() && self.flaw != Flaw::HidesOutput {
            return Some(self.now);
        }
        self.open.values().copied().chain(self.idle).min()
    }

    fn wants(&self) -> Wants {
        Wants {
            bytes: !self.ended && !self.exited || self.flaw == Flaw::WantsAfterEnd,
            progress: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Done(u64);

impl Recorded for Done {
    fn write(&self, out: &mut String) {
        out.push_str("done ");
        out.push_str(&self.0.to_string());
    }

    fn parse(text: &str) -> Result<Self, String> {
        let id = text.strip_prefix("done ").and_then(|id| id.parse().ok());
        id.map(Self).ok_or_else(|| format!("no answer: {text}"))
    }
}

struct LinesSubject(Flaw);

impl Subject for LinesSubject {
    type Machine = Lines;
    type Other = Done;

    fn machine(&self) -> Lines {
        Lines::new(self.0)
    }

    fn bytes<'a>(&self, bytes: &'a [u8]) -> Input<'a> {
        Input::Bytes(bytes)
    }

    fn eof<'a>(&self) -> Input<'a> {
        Input::Eof
    }

    fn tick<'a>(&self) -> Input<'a> {
        Input::Tick
    }

    fn other<'a>(&self, other: &'a Done) -> Input<'a> {
        Input::Done(other.0)
    }

    fn effect(&self, output: &Output) -> Effect {
        match output {
            Output::Start(id, _) => Effect::Start(*id),
            Output::Cancel(id) => Effect::Cancel(*id),
            Output::Exit => Effect::Exit,
            Output::Finished(..) | Output::Idle | Output::Read | Output::Fault(_) => Effect::None,
        }
    }

    fn settles(&self, other: &Done) -> Option<u64> {
        Some(other.0)
    }

    fn answer(&self, effect: u64) -> Option<Done> {
        Some(Done(effect))
    }
}

/// Effects that finish, time out and are answered late, an idle time, a line
/// over two instants, and a last line without its newline.
fn ordinary() -> Script<Done> {
    Script::new()
        .bytes("one\n\n")
        .bytes("two\nthr")
        .at(50_000)
        .other(Done(0))
        .at(300_000)
        .bytes("ee\nfour")
        .at(1_200_000)
        .other(Done(1))
        .other(Done(2))
        .at(1_250_000)
        .eof()
        .at(1_300_000)
        .other(Done(3))
}

/// A fault in the middle of the bytes, with effects open.
fn faulty() -> Script<Done> {
    Script::new()
        .bytes("one\ntwo\n")
        .at(10)
        .other(Done(0))
        .bytes(format!("three\n{}\nfour\n", "x".repeat(41)))
        .at(20)
        .bytes("more\n")
        .eof()
}

#[test]
fn a_correct_machine_keeps_all_five() {
    for script in [ordinary(), faulty()] {
        if let Err(broken) = check(&LinesSubject(Flaw::None), &script, SEEDS) {
            panic!("{broken}");
        }
    }
}

#[test]
fn each_flaw_is_found_as_its_law() {
    for (flaw, law) in [
        (Flaw::TellsReads, Law::Chunk),
        (Flaw::StampsInPoll, Law::Drain),
        (Flaw::TickRestartsIdle, Law::Tick),
        (Flaw::DueTickStays, Law::Tick),
        (Flaw::TickIsOutput, Law::Tick),
        (Flaw::WakesAfterNone, Law::Silence),
        (Flaw::HidesOutput, Law::Silence),
        (Flaw::WantsAfterEnd, Law::Silence),
        (Flaw::RefusesButActs, Law::Silence),
        (Flaw::SettlesTwice, Law::Settlement),
        (Flaw::TakesUnknown, Law::Settlement),
        (Flaw::AnswersLate, Law::Settlement),
        (Flaw::StartsTwice, Law::Settlement),
        (Flaw::CancelsTwice, Law::Settlement),
        (Flaw::LeavesOpen, Law::Settlement),
        (Flaw::SpeaksAfterExit, Law::Settlement),
    ] {
        let broken = check(&LinesSubject(flaw), &ordinary(), SEEDS);
        let broken = broken.expect_err(&format!("{flaw:?} is not found"));
        assert_eq!(broken.law, law, "{flaw:?}: {broken}");
    }
}

#[test]
fn a_recorded_log_replays() {
    let log = "# the second answer comes too late\n\
               0 bytes one\\ntw\n\
               5 bytes o\\n\n\
               9 other done 0\n\
               2000000 other done 1\n\
               2000000 eof\n";
    let script = Script::parse(log).expect("a log");
    assert_eq!(Script::parse(&script.to_log()), Ok(script.clone()));
    let events = replay(&LinesSubject(Flaw::None), &script).expect("all laws hold");
    let at = Instant::from_micros;
    assert_eq!(
        events,
        [
            (at(0), Event::Output(Output::Start(0, "one".into()))),
            (at(5), Event::Output(Output::Start(1, "two".into()))),
            (at(9), Event::Output(Output::Finished(0, at(9)))),
            (at(100_005), Event::Output(Output::Idle)),
            (at(1_000_005), Event::Output(Output::Cancel(1))),
            (at(2_000_000), Event::Output(Output::Exit)),
        ]
    );
}

/// A machine that knows bytes alone.
struct Count(u64);

impl Machine for Count {
    type Input<'a> = &'a [u8];
    type Output = u64;

    fn handle(&mut self, _: Instant, input: &[u8]) -> Result<(), Misuse> {
        self.0 += input.len() as u64;
        Ok(())
    }

    fn poll(&mut self) -> Option<u64> {
        None
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn wants(&self) -> Wants {
        Wants::ALL
    }
}

struct CountSubject;

impl Subject for CountSubject {
    type Machine = Count;
    type Other = Nothing;

    fn machine(&self) -> Count {
        Count(0)
    }

    fn bytes<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        bytes
    }

    fn eof<'a>(&self) -> &'a [u8] {
        &[]
    }

    fn tick<'a>(&self) -> &'a [u8] {
        &[]
    }

    fn other<'a>(&self, other: &'a Nothing) -> &'a [u8] {
        match *other {}
    }
}

#[test]
fn a_machine_may_know_bytes_alone() {
    let script = Script::new().bytes("abc").at(5).bytes("").bytes("d");
    assert_eq!(check(&CountSubject, &script, SEEDS), Ok(()));
}
