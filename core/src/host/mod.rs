//! The host's side of the wire: the other end of an agent, from bytes to records.
//!
//! ```text
//!             Close               agent's end, fault, Abandon
//!  +------+  CloseInput  +---------+  Exit  +--------+
//!  | open |------------->| closing |------->| exited |
//!  +------+              +---------+        +--------+
//!     |    a leak, a failed write  ^             ^
//!     |    CloseInput              |             |
//!     +----------------------------+             |
//!     +------------------------------------------+
//!
//!  call:    Call -> waits -> Answered: payload, error, timed out, forgotten, closed
//!  request: Start -> Done  -> the answer is written
//!                 -> Cancel   the agent took it back, or nobody can be told
//! ```
//!
//! The embedder plays the user: it writes what is transmitted, reads what the agent
//! writes, and settles each `Start` by one `Done`. Here the agent is a text.
//!
//! ```
//! use agentx_core::effect::EffectId;
//! use agentx_core::host::{
//!     Answer, CallId, Command, Config, End, Event, HostSession, Input, Output, Request,
//! };
//! use agentx_core::ids::Seed;
//! use agentx_core::machine::{Machine, Misuse};
//! use agentx_core::schema::host::{Decision, Interrupt, Prompt};
//! use agentx_core::time::Instant;
//!
//! #[derive(Default)]
//! struct World {
//!     to_agent: Vec<u8>,
//!     open: Vec<(EffectId, Request)>,
//!     told: Vec<Event>,
//!     end: Option<End>,
//! }
//!
//! impl World {
//!     /// One input, and everything that follows from it.
//!     fn feed(&mut self, host: &mut HostSession, at: u64, input: Input<'_>) -> Result<(), Misuse> {
//!         let now = Instant::from_micros(at);
//!         host.handle(now, input)?;
//!         let mut written = 0;
//!         while let Some(output) = host.poll() {
//!             match output {
//!                 Output::Transmit(record) => {
//!                     self.to_agent.extend(record.as_bytes());
//!                     written += record.as_bytes().len();
//!                 }
//!                 Output::Start(id, request) => self.open.push((id, request)),
//!                 Output::Cancel(id) => self.open.retain(|(open, _)| *open != id),
//!                 Output::Event(event) => self.told.push(event),
//!                 Output::Diagnostic(_) | Output::CloseInput => {}
//!                 Output::Exit(exit) => self.end = Some(exit.end),
//!             }
//!         }
//!         if written > 0 && self.end.is_none() {
//!             host.handle(now, Input::Sent(written))?;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), Misuse> {
//! let mut host = HostSession::new(Config::new(Seed::from_u64(1)), Instant::ZERO);
//! let mut world = World::default();
//! let prompt = Prompt::text("Delete it.");
//! world.feed(&mut host, 0, Input::Command(Command::Prompt(prompt.into())))?;
//! assert!(world.to_agent.starts_with(br#"{"type":"user","uuid":""#));
//!
//! // The agent asks; its record may be cut anywhere.
//! let asks = concat!(
//!     r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","#,
//!     r#""tool_name":"Bash","input":{"command":"rm it"},"tool_use_id":"toolu_1"}}"#,
//!     "\n",
//! );
//! let (first, rest) = asks.split_at(40);
//! world.feed(&mut host, 10, Input::Bytes(first.as_bytes()))?;
//! world.feed(&mut host, 20, Input::Bytes(rest.as_bytes()))?;
//! let Some((id, Request::Permit(asked))) = world.open.pop() else {
//!     panic!("the agent has asked");
//! };
//! assert_eq!(&*asked.tool_name, "Bash");
//! let done = || Input::Done(id, Answer::Permit(Decision::deny("Not that one.")));
//! world.feed(&mut host, 30, done())?;
//! let written = String::from_utf8_lossy(&world.to_agent);
//! assert!(written.contains(r#""response":{"behavior":"deny","message":"Not that one.""#));
//! // A second settlement is a bug of the caller; it changes nothing.
//! let now = Instant::from_micros(40);
//! assert_eq!(host.handle(now, done()), Err(Misuse::EffectSettledTwice));
//!
//! // A call has one end. Here the agent is gone before it answers.
//! let call = Command::Call {
//!     id: CallId(7),
//!     call: Box::new(Interrupt.into()),
//!     timeout: None,
//! };
//! world.feed(&mut host, 50, Input::Command(call))?;
//! // Its last record needs no newline.
//! world.feed(&mut host, 60, Input::Bytes(br#"{"type":"keep_alive"}"#))?;
//! world.feed(&mut host, 70, Input::Eof)?;
//! assert!(matches!(world.told.last(), Some(Event::Answered(CallId(7), Err(_)))));
//! assert_eq!(world.end, Some(End::Stream));
//! # Ok(())
//! # }
//! ```

mod asks;
mod calls;
mod config;
mod io;
pub mod log;
mod output;
mod prompts;

pub use config::Config;
pub use io::{
    Answer, CallError, CallId, Command, End, Event, Exit, Input, Kind, Output, Request, Unsent,
};

use crate::correlate::{Correlator, OrphanPolicy, Recent, RequestId};
use crate::diagnostic::Severity;
use crate::effect::{EffectId, Effects};
use crate::ids::IdGen;
use crate::json::Scanner;
use crate::link::{Fault, Link};
use crate::machine::{Machine, Misuse, Wants};
use crate::mark::{Marks, mark};
use crate::plant::planted;
use crate::schema::outbound::KeepAlive;
use crate::schema::received::Received;
use crate::time::Instant;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::ToString as _;
use alloc::sync::Arc;
use asks::Ask;
use calls::Waiter;

/// The other end of one agent session over a record stream.
#[derive(Debug)]
pub struct HostSession {
    config: Config,
    now: Instant,
    ids: IdGen,
    link: Link<Received>,
    /// Reads what embedders bring along, before it is written.
    scanner: Scanner,
    waiters: Correlator<Waiter>,
    /// Calls that wait, by the embedder's names.
    calls: BTreeMap<CallId, RequestId>,
    effects: Effects<Kind>,
    /// Open requests of the agent.
    asks: BTreeMap<EffectId, Ask>,
    asked: BTreeMap<Arc<str>, EffectId>,
    /// Requests of the agent that were answered; it may repeat the answer.
    answered: Recent,
    /// Prompts without a result, oldest first.
    prompts: VecDeque<Arc<str>>,
    stage: Stage,
    unsent: usize,
    out: VecDeque<Output>,
    marks: Marks,
}

/// How far the session is from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Both directions are open.
    Open,
    /// Nothing is written any more; the agent is read to its end.
    Closing,
    /// The exit was told.
    Exited,
}

impl HostSession {
    /// A session that has said nothing.
    #[must_use]
    pub fn new(config: Config, now: Instant) -> Self {
        let limits = &config.limits;
        Self {
            ids: IdGen::new(config.seed),
            link: Link::of_host(limits),
            scanner: Scanner::new(),
            waiters: Correlator::new(limits.resolved_tool_uses, OrphanPolicy::Ignore),
            calls: BTreeMap::new(),
            effects: Effects::default(),
            asks: BTreeMap::new(),
            asked: BTreeMap::new(),
            answered: Recent::new(limits.resolved_tool_uses),
            prompts: VecDeque::new(),
            stage: Stage::Open,
            unsent: 0,
            out: VecDeque::new(),
            marks: Marks::NONE,
            config,
            now,
        }
    }

    /// Calls that wait for an answer.
    #[must_use]
    pub fn waiting_calls(&self) -> usize {
        self.calls.len()
    }

    /// Prompts that wait for their result.
    #[must_use]
    pub fn waiting_prompts(&self) -> usize {
        self.prompts.len()
    }

    /// The requirement marks that were reached, here and in what it is made of.
    #[must_use]
    pub const fn marks(&self) -> Marks {
        let parts = self.link.marks().union(self.waiters.marks());
        self.marks.union(parts)
    }

    /// Whether this effect waits for its settlement.
    #[must_use]
    pub fn is_open(&self, id: EffectId) -> bool {
        self.effects.is_open(id)
    }

    fn take_bytes(&mut self, mut bytes: &[u8]) {
        while self.stage != Stage::Exited {
            let (guard, limits) = (&self.config.credentials, &self.config.limits);
            let Some(read) = self.link.next(&mut bytes, guard, limits) else {
                break;
            };
            self.take(read);
        }
    }

    fn take(&mut self, read: Result<Received, Fault>) {
        match read {
            Ok(Received::Record(record)) => self.told(record),
            Ok(Received::Request(request)) => self.asked(request),
            Ok(Received::Response(response)) => self.response(response),
            Ok(Received::Cancel(id)) => self.taken_back(&id),
            Ok(Received::KeepAlive) => {}
            Err(fault) => {
                mark!(self.marks, HOST_WIRE_001);
                self.diagnose(Severity::Error, &fault.to_string());
                let Fault {
                    line, byte, reason, ..
                } = fault;
                self.exit(End::Fault { line, byte, reason });
            }
        }
    }

    fn end_of_stream(&mut self) {
        // The tail is a record like any other before the end is declared (WIRE-EOF-001).
        let (guard, limits) = (&self.config.credentials, &self.config.limits);
        if let Some(read) = self.link.end(guard, limits)
            && !planted!(self.config.limits.planted(), HostWireEof001)
        {
            mark!(self.marks, HOST_WIRE_EOF_001);
            self.take(read);
        }
        if self.stage != Stage::Exited {
            self.exit(End::Stream);
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Prompt(prompt) => self.prompt(*prompt),
            Command::Call { id, call, timeout } => self.call(id, *call, timeout),
            Command::Forget(id) => self.forget(id),
            Command::Environment(update) => {
                if let Err(why) = self.send(&update) {
                    self.tell(Event::Unsent { uuid: None, why });
                }
            }
            // One that does not leave is not missed.
            Command::KeepAlive => drop(self.send(&KeepAlive)),
            Command::Close => self.close_output(),
            Command::Abandon => self.exit(End::Abandoned),
        }
    }

    /// Refuses what cannot be taken, before anything changes.
    fn check(&self, input: &Input<'_>) -> Result<(), Misuse> {
        match input {
            Input::Done(id, answer) => self.effects.standing(*id, answer.kind()).map(|_| ()),
            Input::Command(Command::Call { id, .. }) if self.calls.contains_key(id) => {
                Err(Misuse::WrongState)
            }
            Input::Bytes(_)
            | Input::Eof
            | Input::Tick
            | Input::Command(_)
            | Input::Sent(_)
            | Input::WriteFailed => Ok(()),
        }
    }
}

impl Machine for HostSession {
    type Input<'a> = Input<'a>;
    type Output = Output;

    fn handle(&mut self, now: Instant, input: Input<'_>) -> Result<(), Misuse> {
        if now < self.now {
            return Err(Misuse::TimeReversed);
        }
        if self.stage == Stage::Exited {
            return Err(Misuse::InputAfterExit);
        }
        self.check(&input)?;
        self.now = now;
        // What is due was due before this input, which may be its answer.
        self.give_up_calls();
        match input {
            Input::Bytes(bytes) => self.take_bytes(bytes),
            Input::Eof => self.end_of_stream(),
            Input::Tick => {}
            Input::Command(command) => self.command(command),
            Input::Done(id, answer) => self.settle(id, answer)?,
            Input::Sent(bytes) => self.unsent = self.unsent.saturating_sub(bytes),
            Input::WriteFailed => self.fail_output("the agent's input cannot be written"),
        }
        Ok(())
    }

    fn poll(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        if self.out.is_empty() {
            self.calls_due()
        } else {
            Some(self.now)
        }
    }

    /// Bytes are wanted until the agent's stream ends: one end of a pipe has to
    /// read whatever happens. `progress` tells whether commands are welcome.
    fn wants(&self) -> Wants {
        let limits = &self.config.limits;
        Wants {
            bytes: self.stage != Stage::Exited,
            progress: self.stage == Stage::Open
                && self.unsent <= limits.progress_pause_bytes
                && self.prompts.len() < limits.host_prompts,
        }
    }
}
