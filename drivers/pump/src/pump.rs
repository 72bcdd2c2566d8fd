//! The half of a driver that every runtime shares: a session, what its outputs
//! go to, and the news that come back.
//!
//! ```text
//! loop {                                  // the runtime's own
//!     wait for news, model news, the deadline
//!     pump.take(news) | pump.model(..) | pump.tick()
//!     pump.take_turns(..)
//!     spawn what pump.next_model() gives, stop what it cancels
//!     if pump.exit() is told: finish
//! }
//! ```
//!
//! Threads and runs answer through a [`Post`]; the runtime makes it from its
//! own channel, queues first and wakes then.

mod trace;
mod wire;
mod workers;

use crate::clock::Running;
use crate::contain::contained;
use crate::drive;
use crate::keeper::Keeper;
use crate::model::ModelRun;
use crate::signals;
use crate::stdio::{Flushed, Log};
use crate::terminal::printable;
use crate::world::{Host, Stdio, World};
use agentx_core::agent::{
    self, AgentSession, Command, Diagnostic, Event, Input, Output, Severity, TurnReport,
};
use agentx_core::effect::{Answer, EffectId, Progress, Request, Verdict};
use agentx_core::machine::Machine as _;
use agentx_core::model::{Delta, ModelOutcome, ModelRequest};
use agentx_core::time::Instant;
use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use wire::{Fate, Wire};
use workers::{Workers, verdict};

pub use wire::Streams;

/// Takes news to the runtime's loop, from any thread.
pub type Post = Arc<dyn Fn(News) + Send + Sync>;

/// What threads tell the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// A piece of stdin.
    Input(Vec<u8>),
    /// stdin ended.
    InputEnd,
    /// stdin cannot be read on, and why.
    InputFailed(String),
    /// So many bytes of stdout were written.
    Wrote(usize),
    /// stdout failed.
    WriteFailed,
    /// A background task runs, and its output goes to this file.
    TaskBegan(EffectId, String),
    /// A hook has written this to stdout and stderr so far.
    HookSaid(EffectId, String, String),
    /// A tool asks whether it may connect to this host.
    NetworkAsked(EffectId, String),
    /// An effect ended.
    Answer(EffectId, Answer),
    /// The driver of a model run is gone, maybe before it could say how it ended.
    ModelLost(EffectId),
    /// A batch was stored, or why not.
    Stored(EffectId, Result<(), String>),
    /// A signal asks for the end, with this exit status.
    Signal(u8),
    /// A logical clock was moved.
    ClockMoved,
}

/// What a model run tells the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelNews {
    /// The answer goes on.
    Delta(Delta),
    /// A line for the operator.
    Warn(String),
    /// The request ended.
    Done(ModelOutcome),
}

/// What the runtime has to do about model requests.
#[derive(Debug)]
pub enum ModelTask {
    /// Drive this run.
    Run(EffectId, Box<ModelRun>),
    /// Drop the run of this effect.
    Cancel(EffectId),
}

/// How long tools and tasks may take to end and be reaped after the session ended.
const REAP_GRACE: Duration = Duration::from_secs(4);

/// How long the last records may take to be written after a signal.
const FLUSH_GRACE: Duration = Duration::from_secs(2);

/// How long the session store may take to sync its last batch.
const CLOSE_GRACE: Duration = Duration::from_secs(2);

/// How long tools may take to be reaped after they were killed.
const KILL_GRACE: Duration = Duration::from_millis(250);

/// What a run of one prompt says about an answer that is cut at its limit.
const CUT_SHORT: &str =
    "agentx: warning: the answer reached its limit of tokens and is cut short (max_tokens)";

/// A session at work.
pub struct Pump {
    session: AgentSession,
    world: World,
    workers: Workers,
    keeper: Keeper,
    wire: Wire,
    log: Log,
    post: Post,
    clock: Running,
    /// Pieces of the input that wait until the session wants them.
    held: VecDeque<News>,
    /// What follows at once from outputs that are being drained.
    echoes: VecDeque<Input<'static>>,
    tasks: VecDeque<ModelTask>,
    /// Model runs that were begun and have not ended.
    runs: BTreeSet<EffectId>,
    signalled: bool,
    input_ended: bool,
    input_failed: bool,
    /// That stdout failed was told already.
    failure_told: bool,
    exit: Option<u8>,
}

impl std::fmt::Debug for Pump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pump")
            .field("exit", &self.exit)
            .finish_non_exhaustive()
    }
}

impl Pump {
    /// Takes over the streams as `stdio` says, and the signals of the process;
    /// drains what the session says first.
    ///
    /// # Errors
    ///
    /// When a thread or a signal handler cannot be set up.
    pub fn start(
        session: AgentSession,
        world: World,
        stdio: Stdio,
        post: &Post,
    ) -> io::Result<Self> {
        let clock = Running::start(world.clock.clone());
        let (mut pump, prompts) = Self::open(session, world, stdio, post, clock)?;
        let pools = pump.workers.pools();
        signals::watch(
            Arc::clone(&pump.post),
            Box::new(move || pools.abandon(KILL_GRACE)),
        )?;
        pump.settle();
        for prompt in prompts {
            pump.feed(Input::Command(Command::Prompt(prompt)));
        }
        if pump.wire.is_one_shot() {
            pump.end_input();
        }
        Ok(pump)
    }

    /// Goes on with a session that began elsewhere, at `started`, and asks for
    /// something now: `outputs` are what it said last. The signals of the process
    /// stay with whoever has them.
    ///
    /// # Errors
    ///
    /// When a thread cannot be set up.
    pub fn adopt(
        session: AgentSession,
        world: World,
        host: Box<dyn Host>,
        post: &Post,
        started: std::time::Instant,
        outputs: Vec<Output>,
    ) -> io::Result<Self> {
        let clock = Running::since(started, world.clock.clone());
        let (mut pump, _) = Self::open(session, world, Stdio::Host(host), post, clock)?;
        for output in outputs {
            pump.carry_out(output);
        }
        pump.settle();
        Ok(pump)
    }

    fn open(
        session: AgentSession,
        mut world: World,
        stdio: Stdio,
        post: &Post,
        clock: Running,
    ) -> io::Result<(Self, Vec<String>)> {
        let streams = world.streams.take().unwrap_or_else(Streams::of_process);
        let log = Log::start(streams.errors)?;
        let road = Arc::clone(post);
        let post = &match &mut world.watch {
            Some(watch) => watch.road(road),
            None => road,
        };
        let toolbox = Arc::clone(&world.toolbox);
        let workers = Workers::new(toolbox, world.persist.take(), world.validator.take(), post);
        let keeper = Keeper::new(world.store.take(), Arc::clone(post));
        let (wire, prompts) = Wire::open(stdio, streams.input, streams.output, post)?;
        let pump = Self {
            session,
            world,
            workers,
            keeper,
            wire,
            log,
            post: Arc::clone(post),
            clock,
            held: VecDeque::new(),
            echoes: VecDeque::new(),
            tasks: VecDeque::new(),
            runs: BTreeSet::new(),
            signalled: false,
            input_ended: false,
            input_failed: false,
            failure_told: false,
            exit: None,
        };
        Ok((pump, prompts))
    }

    /// Time since the start, as the session is told it.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// The exit status, once the session is over.
    #[must_use]
    pub const fn exit(&self) -> Option<u8> {
        self.exit
    }

    /// How long until the session wants a tick; for ever without one.
    #[must_use]
    pub fn wait(&self) -> Option<Duration> {
        self.clock.wait(self.session.deadline())
    }

    /// Whether more input may be taken now (DEC-36).
    #[must_use]
    pub fn wants_input(&self) -> bool {
        self.held.is_empty() && self.session.wants().bytes
    }

    /// Whether model news may be taken now (DEC-36).
    #[must_use]
    pub fn wants_progress(&self) -> bool {
        self.session.wants().progress
    }

    /// What the runtime has to do next about model requests.
    pub fn next_model(&mut self) -> Option<ModelTask> {
        self.tasks.pop_front()
    }

    /// Takes news of a thread.
    pub fn take(&mut self, news: News) {
        match news {
            News::Input(_) | News::InputEnd | News::InputFailed(_) => {
                self.held.push_back(news);
                self.take_held();
            }
            News::Wrote(count) => {
                self.feed(Input::Sent(count));
                self.take_held();
            }
            News::WriteFailed => {
                self.failure_told |= self.exit.is_none();
                self.feed(Input::WriteFailed);
            }
            News::TaskBegan(id, output_file) => {
                self.feed(Input::Progress(id, Progress::Began { output_file }));
            }
            News::HookSaid(id, stdout, stderr) => {
                self.feed(Input::Progress(id, Progress::Hook { stdout, stderr }));
            }
            News::NetworkAsked(id, host) => {
                self.feed(Input::Progress(id, Progress::Network(host)));
            }
            News::Answer(id, answer) => {
                self.workers.ended(id);
                self.feed(Input::Done(id, answer));
            }
            News::ModelLost(id) => self.model(id, ModelNews::Done(drive::lost())),
            News::Stored(id, kept) => {
                if let Err(why) = &kept {
                    self.log
                        .line(&format!("agentx: error: the session store: {why}"));
                }
                self.feed(Input::Done(id, Answer::Stored(verdict(kept.is_ok()))));
            }
            News::Signal(status) => {
                self.signalled = true;
                self.feed(Input::Command(Command::Shutdown { status }));
            }
            News::ClockMoved => self.tick(),
        }
    }

    /// Takes news of a model run. Those of one that has ended, or was cancelled,
    /// mean nothing.
    pub fn model(&mut self, id: EffectId, news: ModelNews) {
        if !self.runs.contains(&id) {
            return;
        }
        match news {
            ModelNews::Delta(delta) => self.feed(Input::Progress(id, Progress::Delta(delta))),
            ModelNews::Warn(text) => self.report(&format!("agentx: warning: {text}")),
            ModelNews::Done(outcome) => {
                self.runs.remove(&id);
                self.feed(Input::Done(id, Answer::Model(outcome)));
            }
        }
    }

    /// For the end of each turn of the loop: however busy threads are, news of a
    /// model, which `next` gives without waiting, and the clock have their turn
    /// too (DEC-28).
    pub fn take_turns(&mut self, next: impl FnOnce() -> Option<(EffectId, ModelNews)>) {
        if self.wants_progress()
            && let Some((id, news)) = next()
        {
            self.model(id, news);
        }
        if self.wait().is_some_and(|wait| wait.is_zero()) {
            self.tick();
        }
    }

    /// Time passed.
    pub fn tick(&mut self) {
        self.feed(Input::Tick);
    }

    /// Writes what is left, waits for tools to be reaped; gives the exit status.
    #[must_use]
    pub fn finish(mut self) -> u8 {
        if !self.workers.join(REAP_GRACE) {
            self.workers.abandon(KILL_GRACE);
            self.report("agentx: warning: a tool or a hook did not end in time");
        }
        let deadline = self
            .signalled
            .then(|| std::time::Instant::now() + FLUSH_GRACE);
        let flushed = self.wire.writer().map(|writer| writer.finish(deadline));
        match flushed {
            Some(Flushed::Failed) if !self.failure_told => {
                self.log.line("agentx: error: stdout cannot be written");
            }
            Some(Flushed::Late) => {
                self.log
                    .line("agentx: warning: the last records could not be written in time");
            }
            Some(Flushed::Whole | Flushed::Failed) | None => {}
        }
        if !self.keeper.close(CLOSE_GRACE) {
            self.log
                .line("agentx: warning: the session store was not closed in time");
        }
        self.log.finish();
        let output_failed = flushed == Some(Flushed::Failed);
        agent::exit_status(self.exit, self.input_failed, output_failed)
    }

    /// Feeds the pieces of input that wait, while the session wants them.
    fn take_held(&mut self) {
        while self.session.wants().bytes
            && let Some(news) = self.held.pop_front()
        {
            match news {
                News::Input(piece) => {
                    self.feed(Input::Bytes(&piece));
                    self.wire.taken();
                }
                News::InputFailed(cause) => {
                    self.input_failed = true;
                    let text = format!("agentx: error: stdin cannot be read: {cause}");
                    self.log.line(&text);
                    self.end_input();
                }
                _ => self.end_input(),
            }
        }
    }

    fn end_input(&mut self) {
        if !std::mem::replace(&mut self.input_ended, true) {
            self.feed(Input::Eof);
        }
    }

    /// One input, and everything that follows from it.
    fn feed(&mut self, input: Input<'_>) {
        self.tell(input);
        self.settle();
    }

    /// Drains what the session says, and what follows from that at once.
    fn settle(&mut self) {
        self.drain();
        while let Some(echo) = self.echoes.pop_front() {
            self.tell(echo);
            self.drain();
        }
        if let Some(watch) = &mut self.world.watch {
            watch.settled(self.session.deadline());
        }
    }

    /// One input; its outputs wait. After the exit nobody counts any more.
    fn tell(&mut self, input: Input<'_>) {
        if self.exit.is_some() {
            return;
        }
        trace::input(&input);
        let now = self.now();
        if let Some(watch) = &mut self.world.watch {
            watch.input(now, &input);
        }
        if let Err(misuse) = self.session.handle(now, input) {
            // A bug of ours; the session has not changed.
            self.report(&format!("agentx: internal fault: {misuse}"));
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.session.poll() {
            self.carry_out(output);
        }
    }

    fn carry_out(&mut self, output: Output) {
        trace::output(&output);
        if let Some(watch) = &mut self.world.watch {
            watch.output(&output);
        }
        match output {
            Output::Transmit(record) => self.transmit(record.into_bytes()),
            Output::Start(id, request) => self.start_effect(id, request),
            Output::Reply(id, reply) => self.workers.reply(id, reply),
            Output::Cancel(id) => self.cancel(id),
            Output::Event(event) => self.event(event),
            Output::Diagnostic(diagnostic) => self.diagnose(&diagnostic),
            Output::Exit(status) => self.exit = Some(status),
        }
    }

    fn start_effect(&mut self, id: EffectId, request: Request) {
        match request {
            Request::Model(request) => self.begin(id, *request),
            Request::Tool(request) => self.workers.start_tool(id, request, &self.post),
            Request::Task(task) => self.workers.tasks.start(id, (id, task)),
            Request::Hook(request) => self.workers.hooks.start(id, (id, request)),
            Request::Persist(updates) => match &self.workers.persist {
                Some(persist) => persist.start(id, updates),
                None => self.answer(id, Answer::Persisted(Verdict::Failed)),
            },
            Request::Store(batch) => self.keeper.store(id, batch),
            Request::FlushRemote => self.answer(id, Answer::Flushed(Verdict::Passed)),
            Request::Validate(validation) => self.workers.schemas.start(id, validation),
            Request::Match(matching) => self.workers.matchers.start(id, matching),
            Request::ReadSchema(schema) => self.workers.readers.start(id, schema),
            Request::Rewind(request) => self.workers.rewinds.start(id, request),
            Request::Seed(request) => self.workers.seeds.start(id, request),
            Request::Vet(copy) => match &self.workers.validator {
                Some(validator) => validator.start(id, copy),
                None => self.answer(id, Answer::Vetted(Verdict::Passed)),
            },
        }
    }

    fn begin(&mut self, id: EffectId, request: ModelRequest) {
        let World {
            provider,
            credential,
            http,
            seed,
            epoch,
            ..
        } = &mut self.world;
        let begun = contained(|| {
            let call = provider.begin(request, seed.wrapping_add(id.0), *epoch);
            ModelRun::new(call, credential.clone(), *http)
        });
        match begun {
            Some(run) => {
                self.runs.insert(id);
                self.tasks.push_back(ModelTask::Run(id, Box::new(run)));
            }
            None => self.answer(id, Answer::Model(drive::lost())),
        }
    }

    fn cancel(&mut self, id: EffectId) {
        if self.runs.remove(&id) {
            self.tasks.push_back(ModelTask::Cancel(id));
        } else {
            self.workers.cancel(id);
        }
    }

    /// An answer at once.
    fn answer(&mut self, id: EffectId, answer: Answer) {
        self.echoes.push_back(Input::Done(id, answer));
    }

    fn transmit(&mut self, record: Vec<u8>) {
        let size = record.len();
        match self.wire.transmit(record, &self.post) {
            Fate::Queued => {}
            Fate::Taken => self.echoes.push_back(Input::Sent(size)),
            Fate::Failed => self.echoes.push_back(Input::WriteFailed),
        }
    }

    fn event(&mut self, event: Event) {
        let Event::TurnEnded(report) = event else {
            return;
        };
        tracing::info!(failed = report.is_error, "turn ended");
        let TurnReport {
            text,
            structured_output,
            errors,
            at_limit,
            ..
        } = report;
        // Who asks for data wants nothing else on stdout.
        let text = structured_output.map_or(text, |output| output.as_str().to_owned());
        if let Wire::Text { writer, terminal } = &self.wire {
            if !text.is_empty() {
                let shown = if *terminal {
                    printable(&text)
                } else {
                    text.as_str().into()
                };
                writer.send(format!("{shown}\n").into_bytes());
            }
            if at_limit {
                self.log.line(CUT_SHORT);
            }
            for error in errors {
                self.log.line(&format!("agentx: error: {error}"));
            }
        }
    }

    fn diagnose(&mut self, diagnostic: &Diagnostic) {
        let severity = match diagnostic.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        self.report(&format!("agentx: {severity}: {}", diagnostic.text));
    }

    /// A line for the operator.
    fn report(&mut self, line: &str) {
        if !self.wire.report(line) {
            self.log.line(line);
        }
    }
}

/// A loop that ends by a panic leaves no process of a tool behind.
impl Drop for Pump {
    fn drop(&mut self) {
        self.workers.abandon(KILL_GRACE);
    }
}
