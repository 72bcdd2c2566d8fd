//! The agent's side of the wire: one session, from bytes to records.
//!
//! This is the one place that knows both the wire and the agent loop, and the
//! only home of cross-machine order. Its children (queue, correlator, policy,
//! loop) know neither each other nor this.
//!
//! ```text
//!  input:  open --- Eof ---> ended --- queue empty, turn over ---> exited
//!            \                 \
//!             +-- fatal input, shutdown --> closing ----------------> exited
//!              \                             \                        /
//!               +-- leak, refusal, failed write --> latched ---------+
//!
//!  state:  idle --prompt--> running --question--> requires_action
//!            ^                ^  |                      |
//!            |                |  +---- result ----+     |
//!            |                +--last answer, interrupt-+
//!            +------------- result, [flush] ------+
//! ```

mod callbacks;
mod catalog;
mod config;
mod context_usage;
mod controls;
mod endings;
mod fit;
mod hooks;
mod io;
mod journal;
pub mod log;
mod mcp;
mod partial;
mod permission;
mod profile;
mod questions;
mod queue;
mod records;
mod requests;
mod shared;
mod storing;
mod submissions;
mod suggestion;
mod tasks;
mod turns;
mod users;

pub use crate::diagnostic::{Diagnostic, Severity};
pub use config::{Config, Provider};
pub use endings::exit_status;
pub use io::{Command, Event, Input, Output, TurnReport};
pub use profile::{Profile, Reference, StateRecords};

use crate::agent_loop::{AgentLoop, LoopConfig};
use crate::correlate::{Correlator, Recent};
use crate::effect::{Answer, EffectId, Effects, Progress, Request, Standing, Verdict};
use crate::hook::HookEvent;
use crate::ids::{IdGen, Seed};
use crate::lazy::Lazy;
use crate::link::{Fault, Link, Outgoing, Record, Refused};
use crate::machine::{Machine, Misuse, Wants};
use crate::mark::{Marks, mark};
use crate::plant::{Planted, planted};
use crate::policy::Policy;
use crate::schema::inbound::Inbound;
use crate::schema::outbound::{Outbound, SessionState};
use crate::time::Instant;
use crate::tool::Environment;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use hooks::HookBook;
use journal::Journal;
use mcp::McpBook;
use questions::Question;
use queue::Queue;
use requests::Waiter;
use shared::{Files, Initializing};
use suggestion::Suggestion;
use tasks::Tasks;
use turns::Turn;

/// One agent session over a record stream.
#[derive(Debug)]
pub struct AgentSession {
    /// Shared with the sessions that began with the same one.
    config: Arc<Config>,
    session_id: String,
    now: Instant,
    ids: IdGen,
    link: Link,
    effects: Effects,
    waiters: Correlator<Waiter>,
    /// Open questions, by the group of their hooks.
    questions: BTreeMap<u64, Question>,
    hooks: Lazy<HookBook>,
    /// MCP servers of the host.
    mcp: Lazy<McpBook>,
    agent_loop: AgentLoop,
    policy: Policy,
    environment: Arc<Environment>,
    queue: Queue,
    seen: Recent,
    /// Uuids of context that has not joined the history yet, oldest first.
    context_uuids: VecDeque<Arc<str>>,
    turn: Option<Box<Turn>>,
    /// Whether the turn that begins has told its `init`.
    told_init: bool,
    /// Background tasks of the turn.
    tasks: Lazy<Tasks>,
    /// Checkpoints, and operations on files.
    files: Lazy<Files>,
    /// What goes to the session store, where there is one.
    journal: Option<Box<Journal>>,
    /// Why the input cannot be read on, until that is told.
    fault: Option<Box<Fault>>,
    /// A remote flush that stands between a result and `idle`.
    flushing: Option<EffectId>,
    /// A suggested prompt that is on its way, between a result and `idle`.
    suggestion: Option<Box<Suggestion>>,
    state: SessionState,
    handshake: Handshake,
    /// An `initialize` that is being applied.
    initializing: Option<Initializing>,
    /// Whether the host wants the next prompt to be suggested after each turn.
    prompt_suggestions: bool,
    stage: Stage,
    books: ExitBooks,
    unsent: usize,
    out: VecDeque<Output>,
    marks: Marks,
    planted: Planted,
}

/// How far `initialize` got (DEC-19, DEC-38).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handshake {
    /// Nobody asked.
    Untouched,
    /// A host asked for what is not here, and prompts wait for a better request.
    Rejected,
    /// It succeeded.
    Done,
}

/// How far the session is from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The input stream is open.
    Open,
    /// It ended; what was accepted still runs (DEC-14).
    Ended,
    /// Everything ran to its end; the exit waits for the hooks of that.
    Leaving(u8),
    /// Everything is settled; the exit waits for what is on its way.
    Closing(u8),
    /// The output is closed for good (WIRE-015); what is open is cancelled.
    Latched,
    /// The exit was told.
    Exited,
}

impl Stage {
    /// Whether nothing new is begun any more.
    const fn is_closing(self) -> bool {
        matches!(
            self,
            Self::Leaving(_) | Self::Closing(_) | Self::Latched | Self::Exited
        )
    }
}

/// What the exit status is made of (DEC-20).
#[derive(Clone, Copy, Debug, Default)]
struct ExitBooks {
    last_ordinary_is_error: Option<bool>,
    rejected: bool,
}

impl ExitBooks {
    const fn status(self) -> u8 {
        match self.last_ordinary_is_error {
            Some(is_error) => is_error as u8,
            None => self.rejected as u8,
        }
    }
}

impl AgentSession {
    /// A session that has said nothing but `system/init`, which waits to be
    /// polled. In the profile `reference` it has not said that either (DEC-39).
    #[must_use]
    pub fn new(config: impl Into<Arc<Config>>, now: Instant) -> Self {
        let config = config.into();
        let seed = config.seed;
        Self::with_seed(config, seed, now)
    }

    /// The same for a configuration that sessions share, each with a `seed` of its
    /// own in place of that of the configuration. Many idle sessions then take
    /// little memory.
    #[must_use]
    pub fn with_seed(config: Arc<Config>, seed: Seed, now: Instant) -> Self {
        let mut ids = IdGen::new(seed);
        let session_id = config.session_id.clone().unwrap_or_else(|| ids.uuid());
        let loop_ids = IdGen::new(Seed::from_u64(ids.fork()));
        let loop_config = LoopConfig {
            system: config.system.clone(),
            tools: Arc::clone(&config.tools),
            max_output_tokens: config.provider.max_output_tokens,
            effort: config.provider.effort.clone(),
            max_turns: config.max_turns,
            max_budget: config.max_budget,
            pricing: config.provider.pricing,
            guard: config.credentials.clone(),
            input_depth: config.limits.tool_input_depth,
            input_bytes: match config.profile {
                Profile::Standalone => usize::MAX,
                Profile::Reference(_) => config.limits.reference_input_bytes,
            },
            asks_before_stop: config.hooks.any(HookEvent::Stop),
        };
        let limits = &config.limits;
        let mut session = Self {
            link: Link::new(limits, session_id.clone(), config.vet_records)
                .for_reference(config.profile.is_reference()),
            effects: Effects::default(),
            waiters: Correlator::new(limits.resolved_tool_uses, config.orphans)
                .with(limits.planted()),
            questions: BTreeMap::new(),
            hooks: Lazy::NEW,
            mcp: Lazy::NEW,
            agent_loop: AgentLoop::new(loop_config, loop_ids).with(limits.planted()),
            policy: Policy::new(config.permission_mode, config.cwd.clone())
                .with(&config.directories, &config.settings),
            environment: Arc::default(),
            queue: Queue::with(limits.planted()),
            seen: Recent::new(limits.seen_prompts),
            context_uuids: VecDeque::new(),
            turn: None,
            told_init: false,
            tasks: Lazy::NEW,
            files: Lazy::NEW,
            journal: None,
            fault: None,
            flushing: None,
            suggestion: None,
            state: SessionState::Idle,
            handshake: Handshake::Untouched,
            initializing: None,
            prompt_suggestions: false,
            stage: Stage::Open,
            books: ExitBooks::default(),
            unsent: 0,
            out: VecDeque::new(),
            marks: Marks::NONE,
            planted: limits.planted(),
            config,
            session_id,
            now,
            ids,
        };
        session.take_up();
        session.require_output(None);
        session.list_configured();
        if !session.config.profile.is_reference() {
            session.send_init();
        }
        session.begin_session_hooks();
        session.connect_configured();
        // An init record that may not leave ends the session before any input.
        session.close_latched();
        session.settle_exit();
        session
    }

    /// Goes on from what is stored, and begins to store.
    fn take_up(&mut self) {
        if self.config.resume.is_some()
            && let Some(restored) = Arc::make_mut(&mut self.config).resume.take()
        {
            for uuid in &restored.prompts {
                self.seen.insert(Arc::clone(uuid));
            }
            self.agent_loop.resume(restored);
        }
        if let Some(storing) = &self.config.store {
            let (version, cwd) = (&self.config.version, &self.config.cwd);
            let journal = Journal::new(storing, &self.session_id, version, cwd);
            self.journal = Some(Box::new(journal));
        }
    }

    /// The session's id.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// The permission context as it stands.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Requests to the host that wait for an answer.
    #[must_use]
    pub fn pending_requests(&self) -> usize {
        self.waiters.iter().count()
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

    // ---- output ---------------------------------------------------------------------

    /// Queues a record behind all others; a record that cannot leave latches the session.
    fn send(&mut self, record: &Outbound) {
        let guard = self.config.credentials.clone();
        self.send_guarded(record, &guard);
    }

    fn send_guarded(&mut self, record: &Outbound, guard: &crate::guard::Guard) {
        if self.config.profile.is_reference() {
            let limit = self.config.limits.reference_record_bytes;
            if self.enqueue(record, guard, limit) == Err(Refused::TooLong) {
                for part in fit::fitting(record, &self.session_id, limit) {
                    let _ = self.enqueue(&part, guard, usize::MAX);
                }
            }
        } else {
            let _ = self.enqueue(record, guard, usize::MAX);
        }
        self.drain_link();
    }

    /// Hands a record of at most `limit` bytes to the link.
    fn enqueue(
        &mut self,
        record: &Outbound,
        guard: &crate::guard::Guard,
        limit: usize,
    ) -> Result<(), Refused> {
        let uuid = if record.is_session_record() && record.own_uuid().is_none() {
            self.ids.uuid()
        } else {
            String::new()
        };
        let ids = crate::schema::outbound::RecordIds {
            uuid: &uuid,
            session_id: &self.session_id,
        };
        let sent = self
            .link
            .send_within(limit, guard, |writer| record.write(ids, writer));
        if sent == Err(Refused::Credential) {
            self.latch("a record held a credential and was not written");
        }
        sent
    }

    /// Moves what the link lets go to the outputs.
    fn drain_link(&mut self) {
        while let Some(outgoing) = self.link.poll() {
            match outgoing {
                Outgoing::Transmit(record) => self.transmit(record),
                Outgoing::Vet(copy) => {
                    self.start(Request::Vet(copy));
                }
            }
        }
    }

    fn transmit(&mut self, record: Record) {
        self.unsent = self.unsent.saturating_add(record.as_bytes().len());
        if planted!(self.planted, Wire003)
            && record
                .as_bytes()
                .starts_with(b"{\"type\":\"control_request\"")
        {
            return self.out.push_front(Output::Transmit(record));
        }
        self.out.push_back(Output::Transmit(record));
    }

    /// Bytes of records that nobody has read yet.
    const fn unsent_bytes(&self) -> usize {
        self.unsent.saturating_add(self.link.waiting_bytes())
    }

    /// Whether models, tools and tasks may say more (DEC-36).
    fn progress_is_wanted(&self) -> bool {
        self.stage != Stage::Exited
            && (self.unsent_bytes() <= self.config.limits.progress_pause_bytes
                || planted!(self.planted, Dec36))
    }

    fn start(&mut self, request: Request) -> EffectId {
        let id = self.effects.open(&request);
        self.out.push_back(Output::Start(id, request));
        id
    }

    fn cancel_effect(&mut self, id: EffectId) {
        if self.effects.cancel(id) {
            self.out.push_back(Output::Cancel(id));
        }
    }

    /// Text that holds words of a peer, without credentials (DEC-30).
    fn safe(&self, text: &str) -> String {
        self.config.credentials.redact(text).into_owned()
    }

    /// An error of a provider or a diagnostic, without routing values too: a
    /// server likes to tell where it stands.
    fn placeless(&self, text: &str) -> String {
        let safe = self.config.credentials.redact(text);
        self.config.metadata.redact(&safe).into_owned()
    }

    fn warn(&mut self, text: impl Into<String>) {
        self.diagnose(Severity::Warning, text.into());
    }

    fn diagnose(&mut self, severity: Severity, text: String) {
        let guards = [&self.config.credentials, &self.config.metadata];
        let diagnostic = Diagnostic::of(severity, &text, &guards);
        self.out.push_back(Output::Diagnostic(diagnostic));
    }

    // ---- effects --------------------------------------------------------------------

    fn progress(&mut self, id: EffectId, progress: Progress) -> Result<(), Misuse> {
        if self.effects.progress(id, &progress)? == Standing::Late {
            return Ok(());
        }
        match progress {
            Progress::Delta(delta) => {
                if let Some(delta) = self.suggestion_delta(id, delta) {
                    self.model_delta(delta);
                }
            }
            Progress::Network(host) => self.ask_network(id, host),
            Progress::Hook { stdout, stderr } => self.hook_said(id, &stdout, &stderr),
            Progress::Began { output_file } => self.task_began(id, &output_file)?,
        }
        Ok(())
    }

    fn done(&mut self, id: EffectId, answer: Answer) -> Result<(), Misuse> {
        if self.effects.settle(id, &answer)? == Standing::Late {
            return Ok(());
        }
        match answer {
            Answer::Model(outcome) => {
                if let Some(outcome) = self.suggestion_done(id, outcome) {
                    self.model_done(outcome);
                }
            }
            Answer::Tool(outcome) => self.tool_done(id, outcome),
            Answer::Task(outcome) => self.task_done(id, outcome),
            Answer::Hook(report) => self.hook_done(id, &report),
            Answer::Matched(results) => self.matched(id, results),
            Answer::SchemaRead(read) => self.schema_read(id, read),
            Answer::Persisted(Verdict::Passed) => {}
            Answer::Persisted(Verdict::Failed) => {
                self.warn(
                    "permission updates could not be stored; they hold for this session only",
                );
            }
            Answer::Stored(verdict) => self.stored(id, verdict),
            Answer::Flushed(verdict) => self.flushed(id, verdict),
            Answer::Rewound(rewound) => self.rewound(id, rewound),
            Answer::Seeded(seeding) => self.seeded(id, seeding),
            Answer::Validated(validity) => self.submission_checked(id, validity),
            Answer::Vetted(Verdict::Passed) => {
                if let Some(record) = self.link.vetted() {
                    self.transmit(record);
                }
                self.drain_link();
            }
            Answer::Vetted(Verdict::Failed) if planted!(self.planted, Wire015) => {
                drop(self.link.vetted());
                self.drain_link();
            }
            Answer::Vetted(Verdict::Failed) => {
                self.latch("a record was refused by its validator");
            }
        }
        Ok(())
    }

    fn take_bytes(&mut self, mut bytes: &[u8]) {
        while matches!(self.stage, Stage::Open) {
            let (guard, limits) = (&self.config.credentials, &self.config.limits);
            let Some(read) = self.link.next(&mut bytes, guard, limits) else {
                break;
            };
            self.take(read);
        }
    }

    /// Acts on one record and on all that follows from it, so that the next one
    /// finds the same session wherever the bytes were cut (law 1).
    fn take(&mut self, read: Result<Inbound, Fault>) {
        if self.link.take_repaired() {
            self.warn("an input record has unpaired surrogate escapes, which were taken as U+FFFD");
        }
        match read {
            Ok(record) => self.record(record),
            Err(fault) => self.fatal_input(fault),
        }
        self.next_turn();
        self.store_waiting();
    }

    fn end_of_input(&mut self) {
        if planted!(self.planted, WireEof001) {
            Self::close_requests(self);
        }
        // The tail is a record like any other before the end is declared (WIRE-EOF-001).
        let (guard, limits) = (&self.config.credentials, &self.config.limits);
        if let Some(read) = self.link.end(guard, limits) {
            self.take(read);
        }
        if matches!(self.stage, Stage::Open) {
            self.give_up_initialize();
            self.stage = Stage::Ended;
            if self.is_busy() || !self.queue.is_empty() {
                mark!(self.marks, DEC_14);
            }
            if planted!(self.planted, Dec14) {
                while self.queue.pop().is_some() {}
            }
            self.close_requests();
            self.close_servers();
            self.abort_suggestion();
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Prompt(text) => self.local_prompt(text),
            Command::StopTask { task_id } => self.stop_task_command(&task_id),
            Command::Shutdown { status } => self.shutdown(status),
        }
    }

    /// Refuses news of an effect that cannot have any, before anything changes.
    fn check(&self, input: &Input<'_>) -> Result<(), Misuse> {
        match input {
            Input::Progress(id, progress) => self.effects.progress(*id, progress).map(|_| ()),
            Input::Done(id, answer) => self.effects.answered(*id, answer).map(|_| ()),
            Input::Bytes(_)
            | Input::Eof
            | Input::Tick
            | Input::Command(_)
            | Input::Sent(_)
            | Input::WriteFailed => Ok(()),
        }
    }

    /// Gives back the room for output where nothing is left to say: most sessions
    /// wait for their host most of the time.
    fn rest(&mut self) {
        if self.unsent == 0 && self.turn.is_none() && self.out.is_empty() {
            self.out = VecDeque::new();
            self.link.rest();
        }
    }

    fn dispatch(&mut self, input: Input<'_>) -> Result<(), Misuse> {
        match input {
            Input::Bytes(bytes) => self.take_bytes(bytes),
            Input::Eof => self.end_of_input(),
            Input::Tick => {}
            Input::Command(command) => self.command(command),
            Input::Progress(id, progress) => self.progress(id, progress)?,
            Input::Done(id, answer) => self.done(id, answer)?,
            Input::Sent(bytes) => {
                self.unsent = self.unsent.saturating_sub(bytes);
                self.rest();
            }
            Input::WriteFailed => {
                mark!(self.marks, DEC_11);
                self.latch("stdout cannot be written");
            }
        }
        Ok(())
    }
}

impl Machine for AgentSession {
    type Input<'a> = Input<'a>;
    type Output = Output;

    fn handle(&mut self, now: Instant, input: Input<'_>) -> Result<(), Misuse> {
        if now < self.now {
            return Err(Misuse::TimeReversed);
        }
        match (self.stage, &input) {
            (Stage::Exited, _) => return Err(Misuse::InputAfterExit),
            (Stage::Ended, Input::Bytes(_) | Input::Eof) => return Err(Misuse::InputAfterEnd),
            // The hooks of the end can still be cut short.
            (Stage::Leaving(_), Input::Command(Command::Shutdown { .. })) => {}
            // What else arrives while the session closes means nothing.
            (
                Stage::Leaving(_) | Stage::Closing(_) | Stage::Latched,
                Input::Bytes(_) | Input::Eof | Input::Command(_),
            ) => return Ok(()),
            _ => {}
        }
        self.check(&input)?;
        let before = core::mem::replace(&mut self.now, now);
        // What is due was due before this input, which may be its answer.
        self.give_up_submissions();
        self.give_up_requests();
        self.tick_servers();
        self.give_up_late_suggestion();
        if let Err(misuse) = self.dispatch(input) {
            self.now = before;
            return Err(misuse);
        }
        self.tell_progress();
        self.close_latched();
        self.next_turn();
        self.store_waiting();
        // What has begun only now may have closed the output.
        self.close_latched();
        self.store_waiting();
        self.settle_exit();
        Ok(())
    }

    fn poll(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        if self.out.is_empty() {
            [
                self.next_progress(),
                self.submissions_due(),
                self.requests_due(),
                self.mcp.deadline(),
                self.suggestion_due(),
            ]
            .into_iter()
            .flatten()
            .min()
        } else {
            Some(self.now)
        }
    }

    fn wants(&self) -> Wants {
        let limits = &self.config.limits;
        Wants {
            bytes: self.stage == Stage::Open && self.unsent_bytes() <= limits.input_pause_bytes,
            progress: self.progress_is_wanted(),
        }
    }
}
