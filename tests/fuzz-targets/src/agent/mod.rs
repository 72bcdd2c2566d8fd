//! A whole session: what a host may write on its stdin.
//!
//! The input is the stream. Where two newlines stand together the world gets its
//! turn: everything that the session asked for is answered, and a second passes,
//! four times as long with each newline more. What only a running session can
//! tell has a place holder: `$R1` is the id of the newest request of the session,
//! `$R2` of the one before, `$T1` of the newest tool call, `$K` the credential.
//! Each letter of a prompt chooses one answer of the model, see `world.rs`.

mod world;

use crate::{seed, stream};
use agentx_conformance::replay::{Logged, Session};
use agentx_conformance::session::{config, reference, stored};
use agentx_core::agent::{AgentSession, Config, Input, Output, Profile, Reference};
use agentx_core::effect::{EffectId, Request};
use agentx_core::guard::Guard;
use agentx_core::hook::{Hook, HookEvent, Hooks, Matcher};
use agentx_core::limits::Limits;
use agentx_core::machine::Machine as _;
use agentx_core::store::Beginning;
use agentx_core::time::Instant;
use agentx_laws::{Script, check};
use core::time::Duration;
use serde_json::Value;
use world::World;

/// The credential that no record may hold.
const KEY: &str = "sk-fuzz-0123456789-abcdef";

/// Inputs above this are cut: time is better spent on many short ones.
const MOST_BYTES: usize = 8 * 1024;

/// Settlements and ticks after which a session must have ended.
const MOST_STEPS: usize = 20_000;

/// Any stream, in three sessions: one with small limits, one as existing hosts
/// see it, one that is stored and whose records are vetted. Each must end, obey
/// the five laws, and write records alone.
pub fn target(data: &[u8]) {
    let data = data.get(..MOST_BYTES).unwrap_or(data);
    for config in [small(), existing(), watched()] {
        let script = play(&config, data);
        if let Err(broken) = check(&Session(config), &script, [seed::of(data)]) {
            panic!("{broken}; the recording is\n{}", script.to_log());
        }
    }
}

fn small() -> Config {
    let mut limits = Limits {
        record_bytes: 2048,
        import_record_bytes: 512,
        environment_entries: 4,
        environment_bytes: 256,
        environment_total_bytes: 512,
        queue_records: 3,
        queue_bytes: 2048,
        seen_prompts: 4,
        resolved_tool_uses: 2,
        tasks: 1,
        untold_tasks: 2,
        ..Limits::DEFAULT
    };
    (limits.upload.chunk_bytes, limits.upload.chunk_chars) = (48, 64);
    assert_eq!(limits.check(), Ok(()));
    Config {
        replay_user_messages: true,
        include_partial_messages: true,
        credentials: keys(),
        max_turns: Some(6),
        limits,
        ..config()
    }
}

fn existing() -> Config {
    let hook = |event| Hook {
        event,
        matcher: Matcher::All,
        pattern: None,
        timeout: Duration::from_secs(60),
        callback: None,
    };
    let events = [
        HookEvent::PermissionRequest,
        HookEvent::PreToolUse,
        HookEvent::UserPromptSubmit,
        HookEvent::Stop,
    ];
    Config {
        profile: Profile::Reference(Reference {
            sdk_servers: vec!["own".into()],
            may_bypass_permissions: true,
            ..Reference::default()
        }),
        include_partial_messages: true,
        credentials: keys(),
        hooks: Hooks {
            list: events.map(hook).into(),
            ..Hooks::default()
        },
        ..reference()
    }
}

fn watched() -> Config {
    Config {
        credentials: keys(),
        vet_records: true,
        flush_remote: true,
        ..stored(Beginning::New)
    }
}

fn keys() -> Guard {
    Guard::new([KEY]).expect("one literal")
}

/// Plays the stream to the end of the session; gives what was fed.
fn play(config: &Config, data: &[u8]) -> Script<Logged> {
    let mut bench = Bench::new(config);
    let mut rest = data;
    while !rest.is_empty() && bench.exit.is_none() {
        let (part, turns, after) = stream::next_part(rest);
        rest = after;
        let part = stream::filled(part, KEY, &bench.asked, &bench.calls);
        if bench.session.wants().bytes {
            bench.feed(Input::Bytes(&part));
        }
        if turns > 0 {
            bench.settle(false);
            bench.wait(stream::span(turns));
        }
    }
    if bench.exit.is_none() {
        bench.feed(Input::Eof);
    }
    bench.end();
    bench.script
}

struct Bench {
    session: AgentSession,
    world: World,
    script: Script<Logged>,
    now: Instant,
    open: Vec<(EffectId, Request)>,
    /// Ids of requests of the session, newest last.
    asked: Vec<String>,
    /// Ids of tool calls, newest last.
    calls: Vec<String>,
    reference: bool,
    exit: Option<u8>,
}

impl Bench {
    fn new(config: &Config) -> Self {
        let mut bench = Self {
            session: AgentSession::new(config.clone(), Instant::ZERO),
            world: World::default(),
            script: Script::new(),
            now: Instant::ZERO,
            open: Vec::new(),
            asked: Vec::new(),
            calls: Vec::new(),
            reference: config.profile.is_reference(),
            exit: None,
        };
        bench.drain();
        bench
    }

    fn feed(&mut self, input: Input<'_>) {
        if self.exit.is_some() {
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
            assert_eq!(self.exit, None, "{output:?} after the exit");
            match output {
                Output::Transmit(record) => {
                    written += record.as_bytes().len();
                    self.judge(record.as_bytes());
                }
                Output::Start(id, request) => self.open.push((id, request)),
                Output::Cancel(id) => self.open.retain(|(open, _)| *open != id),
                Output::Diagnostic(diagnostic) => {
                    let text = diagnostic.text;
                    assert!(!text.contains(KEY) && !text.contains('\n'), "{text}");
                }
                Output::Exit(status) => self.exit = Some(status),
                Output::Reply(..) | Output::Event(_) => {}
            }
        }
        if written > 0 {
            self.feed(Input::Sent(written));
        }
    }

    /// What is true of every record: one line of JSON, without the credential.
    fn judge(&mut self, bytes: &[u8]) {
        let text = std::str::from_utf8(bytes).expect("UTF-8");
        let line = text.strip_suffix('\n').expect("a newline at the end");
        assert!(!line.contains(['\n', '\r', '\u{2028}', '\u{2029}']));
        assert!(!self.reference || bytes.len() <= Limits::DEFAULT.reference_record_bytes);
        // Numbers of a peer may be beyond what serde_json takes.
        let record: Value = serde_json::from_str(line).unwrap_or_default();
        let shown = record.to_string();
        assert!(!text.contains(KEY) && !shown.contains(KEY), "{text}");
        if record["type"] == "control_request" {
            self.asked
                .extend(record["request_id"].as_str().map(String::from));
        }
        let content = record["message"]["content"].as_array();
        for block in content.into_iter().flatten() {
            if block["type"] == "tool_use" {
                self.calls.extend(block["id"].as_str().map(String::from));
            }
        }
    }

    /// Answers what is open, oldest first; what the world holds back only at the end.
    fn settle(&mut self, all: bool) {
        for _ in 0..MOST_STEPS {
            let held = |request: &Request| !all && self.world.holds(request);
            let next = self.open.iter().position(|(_, request)| !held(request));
            let Some(at) = next.filter(|_| self.exit.is_none()) else {
                return;
            };
            let (id, request) = self.open.remove(at);
            let (news, answer) = self.world.answer(request);
            for progress in news {
                self.feed(Input::Progress(id, progress));
            }
            // The last of the news may have been the reason to cancel it.
            self.feed(Input::Done(id, answer));
        }
        panic!("{MOST_STEPS} answers did not settle the session");
    }

    /// Lets time pass, with a tick at each deadline.
    fn wait(&mut self, span: Duration) {
        let until = self.now.after(span);
        for _ in 0..MOST_STEPS {
            let due = self.session.deadline().filter(|due| *due <= until);
            let Some(due) = due.filter(|_| self.exit.is_none()) else {
                self.now = until;
                return;
            };
            self.now = self.now.max(due);
            self.feed(Input::Tick);
        }
        panic!("{MOST_STEPS} ticks did not bring the time on");
    }

    /// After the end of the input a session ends once everything is answered
    /// and no answer of the host can come any more.
    fn end(&mut self) {
        for _ in 0..MOST_STEPS {
            if self.exit.is_some() {
                return;
            }
            self.settle(true);
            if self.exit.is_none() {
                let due = self
                    .session
                    .deadline()
                    .expect("a session that waits for nothing");
                self.now = self.now.max(due);
                self.feed(Input::Tick);
            }
        }
        panic!("the session does not end");
    }
}
