//! The host's side of a session: what an agent may write.
//!
//! The input is the agent's stream, with turns and place holders as for [`crate::agent`]:
//! `$R1` is the id of the newest request of the host. In each turn the host answers
//! what it was asked, in another way each time, and wants something more.

use crate::{seed, stream};
use agentx_conformance::host::{Logged, Session};
use agentx_core::effect::EffectId;
use agentx_core::guard::Guard;
use agentx_core::host::{
    Answer, CallId, Command, Config, Event, HostSession, Input, Output, Request,
};
use agentx_core::ids::Seed;
use agentx_core::json::RawJson;
use agentx_core::limits::Limits;
use agentx_core::machine::Machine as _;
use agentx_core::mcp::McpReply;
use agentx_core::schema::host::{Decision, Interrupt, Prompt};
use agentx_core::time::Instant;
use agentx_laws::{Script, check};
use core::time::Duration;
use serde_json::Value;
use std::collections::BTreeSet;

/// The credential that no record to the agent may hold.
const KEY: &str = "sk-fuzz-0123456789-abcdef";

/// Inputs above this are cut.
const MOST_BYTES: usize = 8 * 1024;

/// Steps after which a session must have ended.
const MOST_STEPS: usize = 20_000;

/// Any stream: the session ends, obeys the five laws, writes records alone, and
/// tells each call and prompt once.
pub fn target(data: &[u8]) {
    let data = data.get(..MOST_BYTES).unwrap_or(data);
    let config = Config {
        credentials: Guard::new([KEY]).expect("one literal"),
        limits: Limits {
            record_bytes: 4096,
            import_record_bytes: 512,
            ..Limits::DEFAULT
        },
        ..Config::new(Seed::from_u64(1))
    };
    let script = play(&config, data);
    if let Err(broken) = check(&Session(config), &script, [seed::of(data)]) {
        panic!("{broken}; the recording is\n{}", script.to_log());
    }
}

fn play(config: &Config, data: &[u8]) -> Script<Logged> {
    let mut bench = Bench {
        session: HostSession::new(config.clone(), Instant::ZERO),
        script: Script::new(),
        now: Instant::ZERO,
        open: Vec::new(),
        asked: Vec::new(),
        waiting: BTreeSet::new(),
        calls: 0,
        turns: 0,
        ended: false,
    };
    bench.want();
    let mut rest = data;
    while !rest.is_empty() && !bench.ended {
        let (part, turns, after) = stream::next_part(rest);
        rest = after;
        let part = stream::filled(part, KEY, &bench.asked, &[]);
        if bench.session.wants().bytes {
            bench.feed(Input::Bytes(&part));
        }
        if turns > 0 {
            bench.answer();
            bench.want();
            bench.wait(stream::span(turns));
        }
    }
    bench.answer();
    bench.feed(Input::Command(Command::Close));
    bench.feed(Input::Eof);
    for _ in 0..MOST_STEPS {
        bench.answer();
        if bench.ended {
            assert!(bench.waiting.is_empty(), "{:?} are not told", bench.waiting);
            return bench.script;
        }
        let due = bench.session.deadline();
        let due = due.expect("a session that waits for nothing");
        bench.now = bench.now.max(due);
        bench.feed(Input::Tick);
    }
    panic!("the session does not end");
}

struct Bench {
    session: HostSession,
    script: Script<Logged>,
    now: Instant,
    open: Vec<(EffectId, Request)>,
    /// Ids of the host's requests, newest last.
    asked: Vec<String>,
    /// Calls that are not told.
    waiting: BTreeSet<CallId>,
    calls: u64,
    turns: usize,
    ended: bool,
}

impl Bench {
    fn feed(&mut self, input: Input<'_>) {
        if self.ended {
            return;
        }
        self.script.push(self.now, Logged::feed(&input));
        let told = self.session.handle(self.now, input);
        assert_eq!(told, Ok(()), "an input that the contract allows");
        self.drain();
    }

    fn drain(&mut self) {
        let mut written = 0;
        while let Some(output) = self.session.poll() {
            assert!(!self.ended, "{output:?} after the exit");
            match output {
                Output::Transmit(record) => {
                    written += record.as_bytes().len();
                    self.judge(record.as_bytes());
                }
                Output::Start(id, request) => self.open.push((id, request)),
                Output::Cancel(id) => self.open.retain(|(open, _)| *open != id),
                Output::Event(Event::Answered(id, _)) => {
                    assert!(self.waiting.remove(&id), "{id:?} is told twice");
                }
                Output::Diagnostic(told) => {
                    assert!(!told.text.contains(KEY) && !told.text.contains('\n'));
                }
                Output::Event(_) | Output::CloseInput => {}
                Output::Exit(_) => self.ended = true,
            }
        }
        if written > 0 {
            self.feed(Input::Sent(written));
        }
    }

    fn judge(&mut self, bytes: &[u8]) {
        let text = std::str::from_utf8(bytes).expect("UTF-8");
        let line = text.strip_suffix('\n').expect("a newline at the end");
        assert!(!line.contains(['\n', '\r', '\u{2028}', '\u{2029}']));
        let record: Value = serde_json::from_str(line).unwrap_or_default();
        assert!(!text.contains(KEY) && !record.to_string().contains(KEY));
        if record["type"] == "control_request" {
            let id = record["request_id"].as_str();
            self.asked.extend(id.map(String::from));
        }
    }

    /// Wants the next of several things.
    fn want(&mut self) {
        self.turns += 1;
        let command = match self.turns % 5 {
            1 => Command::Prompt(Prompt::text(format!("turn {}", self.turns)).into()),
            0 => Command::KeepAlive,
            3 if self.calls > 2 => Command::Forget(CallId(self.calls)),
            _ => {
                self.calls += 1;
                let id = CallId(self.calls);
                if !self.ended {
                    self.waiting.insert(id);
                }
                Command::Call {
                    id,
                    call: Box::new(Interrupt.into()),
                    timeout: Some(Duration::from_secs(20)),
                }
            }
        };
        self.feed(Input::Command(command));
    }

    /// Answers what the agent asked.
    fn answer(&mut self) {
        for _ in 0..MOST_STEPS {
            if self.open.is_empty() || self.ended {
                return;
            }
            let (id, request) = self.open.remove(0);
            let answer = match request {
                _ if id.0 % 7 == 6 => Answer::Failed(format!("it failed with {KEY}")),
                Request::Permit(_) if id.0 % 2 == 0 => Answer::Permit(Decision::deny("no")),
                Request::Permit(_) => Answer::Permit(Decision::allow()),
                Request::Hook(_) => Answer::Hook(RawJson::empty_object()),
                Request::Elicit(_) => Answer::Elicit(McpReply::Decline),
                Request::Mcp(_) => Answer::Mcp(None),
            };
            self.feed(Input::Done(id, answer));
        }
        panic!("{MOST_STEPS} answers did not settle the session");
    }

    fn wait(&mut self, span: Duration) {
        let until = self.now.after(span);
        for _ in 0..MOST_STEPS {
            let due = self.session.deadline().filter(|due| *due <= until);
            let Some(due) = due.filter(|_| !self.ended) else {
                self.now = until;
                return;
            };
            self.now = self.now.max(due);
            self.feed(Input::Tick);
        }
        panic!("{MOST_STEPS} ticks did not bring the time on");
    }
}
