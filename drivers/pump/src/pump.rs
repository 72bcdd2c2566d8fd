//! The half of a driver that every runtime shares: a session, what its outputs
//! go to, and the news that come back.
//!
//! ```text
//! loop {                                  // the runtime's own
//!     wait for news, model news, the deadline
//!     pump.take(news) | pump.model(..) | pump.tick()
//!     spawn what pump.next_model() gives, stop what it cancels
//!     if pump.exit() is told: finish
//! }
//! ```
//!
//! Threads and runs answer through a [`Post`]; the runtime makes it from its
//! own channel, queues first and wakes then.

use crate::keeper::Keeper;
use crate::model::ModelRun;
use crate::pool::Pool;
use crate::signals;
use crate::stdio::{self, Flushed, Gate, Log, Writer};
use crate::world::{Host, Stdio, World};
use agentx_core::agent::{
    AgentSession, Command, Diagnostic, Event, Input, Output, Severity, TurnReport,
};
use agentx_core::effect::{Answer, EffectId, Progress, Request, Verdict};
use agentx_core::machine::Machine as _;
use agentx_core::model::{Delta, ModelOutcome};
use agentx_core::time::Instant;
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Takes news to the runtime's loop, from any thread.
pub type Post = Arc<dyn Fn(News) + Send + Sync>;

/// What threads tell the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// A piece of stdin.
    Input(Vec<u8>),
    /// stdin ended.
    InputEnd,
    /// So many bytes of stdout were written.
    Wrote(usize),
    /// stdout failed.
    WriteFailed,
    /// An effect ended.
    Answer(EffectId, Answer),
    /// A batch was stored, or why not.
    Stored(EffectId, Result<(), String>),
    /// A signal asks for the end, with this exit status.
    Signal(u8),
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

/// How long tools may take to end and be reaped after the session ended.
const REAP_GRACE: Duration = Duration::from_secs(4);

/// How long the last records may take to be written after a signal.
const FLUSH_GRACE: Duration = Duration::from_secs(2);

/// How long the session store may take to sync its last batch.
const CLOSE_GRACE: Duration = Duration::from_secs(2);

/// The host of this process stands for stdin and stdout, or neither does.
enum Wire {
    Records {
        writer: Writer,
        /// Absent where stdin is not read.
        gate: Option<Gate>,
    },
    Text {
        writer: Writer,
    },
    Host {
        host: Box<dyn Host>,
        replies: VecDeque<Vec<u8>>,
        ends: bool,
    },
}

/// A session at work.
pub struct Pump {
    session: AgentSession,
    world: World,
    pool: Pool,
    keeper: Keeper,
    wire: Wire,
    log: Log,
    started: std::time::Instant,
    /// A piece of stdin that waits until the session wants it.
    held: Option<News>,
    models: VecDeque<ModelTask>,
    signalled: bool,
    input_ended: bool,
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
    /// Takes over the process's stdin, stdout and stderr as `stdio` says, and
    /// its signals; drains what the session says first.
    ///
    /// # Errors
    ///
    /// When a thread or a signal handler cannot be set up.
    pub fn start(
        session: AgentSession,
        mut world: World,
        stdio: Stdio,
        post: &Post,
    ) -> io::Result<Self> {
        let log = Log::start(io::stderr())?;
        signals::watch(Arc::clone(post))?;
        let (wire, prompts) = open(stdio, post)?;
        let one_shot = matches!(wire, Wire::Text { .. } | Wire::Records { gate: None, .. });
        let pool = Pool::new(Arc::clone(&world.toolbox), Arc::clone(post));
        let keeper = Keeper::new(world.store.take(), Arc::clone(post));
        let mut pump = Self {
            session,
            world,
            pool,
            keeper,
            wire,
            log,
            started: std::time::Instant::now(),
            held: None,
            models: VecDeque::new(),
            signalled: false,
            input_ended: false,
            exit: None,
        };
        pump.drain();
        pump.serve_host();
        for prompt in prompts {
            pump.feed(Input::Command(Command::Prompt(prompt)));
        }
        if one_shot {
            pump.end_input();
        }
        Ok(pump)
    }

    /// Time since the start, as the session is told it.
    #[must_use]
    pub fn now(&self) -> Instant {
        let micros = self.started.elapsed().as_micros();
        Instant::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }

    /// The exit status, once the session is over.
    #[must_use]
    pub const fn exit(&self) -> Option<u8> {
        self.exit
    }

    /// When the session wants a tick.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.session.deadline()
    }

    /// Whether model news may be taken now (DEC-36).
    #[must_use]
    pub fn wants_progress(&self) -> bool {
        self.session.wants().progress
    }

    /// What the runtime has to do next about model requests.
    pub fn next_model(&mut self) -> Option<ModelTask> {
        self.models.pop_front()
    }

    /// Takes news of a thread.
    pub fn take(&mut self, news: News) {
        match news {
            News::Input(_) | News::InputEnd => {
                self.held = Some(news);
                self.take_held();
            }
            News::Wrote(count) => {
                self.feed(Input::Sent(count));
                self.take_held();
            }
            News::WriteFailed => self.feed(Input::WriteFailed),
            News::Answer(id, answer) => self.feed(Input::Done(id, answer)),
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
        }
    }

    /// Takes news of a model run.
    pub fn model(&mut self, id: EffectId, news: ModelNews) {
        match news {
            ModelNews::Delta(delta) => self.feed(Input::Progress(id, Progress::Delta(delta))),
            ModelNews::Warn(text) => self.log.line(&format!("agentx: warning: {text}")),
            ModelNews::Done(outcome) => self.feed(Input::Done(id, Answer::Model(outcome))),
        }
    }

    /// Time passed.
    pub fn tick(&mut self) {
        self.feed(Input::Tick);
    }

    /// Writes what is left, waits for tools to be reaped; gives the exit status.
    /// A session that ended well has failed after all when its last records
    /// cannot be written (DEC-11, DEC-20).
    #[must_use]
    pub fn finish(mut self) -> u8 {
        let mut status = self.exit.unwrap_or(1);
        if !self.pool.join(REAP_GRACE) {
            self.log.line("agentx: warning: a tool did not end in time");
        }
        let deadline = self
            .signalled
            .then(|| std::time::Instant::now() + FLUSH_GRACE);
        match &mut self.wire {
            Wire::Records { writer, .. } | Wire::Text { writer } => match writer.finish(deadline) {
                Flushed::Whole => {}
                Flushed::Failed if status == 0 => {
                    self.log.line("agentx: error: stdout cannot be written");
                    status = 1;
                }
                Flushed::Failed => {}
                Flushed::Late => {
                    self.log
                        .line("agentx: warning: the last records could not be written in time");
                }
            },
            Wire::Host { .. } => {}
        }
        if !self.keeper.close(CLOSE_GRACE) {
            self.log
                .line("agentx: warning: the session store was not closed in time");
        }
        self.log.finish();
        status
    }

    /// Feeds the piece of stdin that waits, if the session wants it.
    fn take_held(&mut self) {
        if !self.session.wants().bytes && self.exit.is_none() {
            return;
        }
        match self.held.take() {
            Some(News::Input(piece)) => {
                self.feed(Input::Bytes(&piece));
                if let Wire::Records {
                    gate: Some(gate), ..
                } = &self.wire
                {
                    gate.open();
                }
            }
            Some(_) => self.end_input(),
            None => {}
        }
    }

    fn end_input(&mut self) {
        if !std::mem::replace(&mut self.input_ended, true) {
            self.feed(Input::Eof);
        }
    }

    /// One input, and everything that follows from it.
    fn feed(&mut self, input: Input<'_>) {
        if self.exit.is_some() {
            return;
        }
        let now = self.now();
        if let Err(misuse) = self.session.handle(now, input) {
            // A bug of ours; the session has not changed.
            self.log.line(&format!("agentx: internal fault: {misuse}"));
        }
        self.drain();
        self.serve_host();
    }

    fn drain(&mut self) {
        while let Some(output) = self.session.poll() {
            match output {
                Output::Transmit(record) => self.transmit(record.into_bytes()),
                Output::Start(id, request) => self.start_effect(id, request),
                Output::Cancel(id) => {
                    self.pool.cancel(id);
                    self.models.push_back(ModelTask::Cancel(id));
                }
                Output::Event(event) => self.event(event),
                Output::Diagnostic(diagnostic) => self.diagnose(&diagnostic),
                Output::Exit(status) => self.exit = Some(status),
            }
        }
    }

    fn start_effect(&mut self, id: EffectId, request: Request) {
        match request {
            Request::Model(request) => {
                let call = self.world.provider.begin(
                    *request,
                    self.world.seed.wrapping_add(id.0),
                    self.world.epoch,
                );
                let run = ModelRun::new(call, self.world.credential.clone(), self.world.http);
                self.models.push_back(ModelTask::Run(id, Box::new(run)));
            }
            Request::Tool(request) => self.pool.start(id, request),
            Request::Persist(updates) => {
                let stored = self
                    .world
                    .persist
                    .as_ref()
                    .is_some_and(|persist| persist(&updates));
                self.answer(id, Answer::Persisted(verdict(stored)));
            }
            Request::Store(batch) => self.keeper.store(id, batch),
            Request::FlushRemote => self.answer(id, Answer::Flushed(Verdict::Passed)),
            Request::Vet(mut copy) => {
                let passed = match &mut self.world.validator {
                    Some(validator) => {
                        catch_unwind(AssertUnwindSafe(|| validator(&mut copy))).unwrap_or(false)
                    }
                    None => true,
                };
                self.answer(id, Answer::Vetted(verdict(passed)));
            }
        }
    }

    fn answer(&mut self, id: EffectId, answer: Answer) {
        // Outputs of this answer are drained by the loop that called.
        let now = self.now();
        if let Err(misuse) = self.session.handle(now, Input::Done(id, answer)) {
            self.log.line(&format!("agentx: internal fault: {misuse}"));
        }
    }

    fn transmit(&mut self, record: Vec<u8>) {
        let size = record.len();
        match &mut self.wire {
            Wire::Records { writer, .. } => writer.send(record),
            Wire::Text { .. } => self.sent(size),
            Wire::Host {
                host,
                replies,
                ends,
            } => {
                let reply = host.record(&record);
                if !reply.input.is_empty() {
                    replies.push_back(reply.input);
                }
                *ends |= reply.end;
                self.sent(size);
            }
        }
    }

    fn sent(&mut self, size: usize) {
        let now = self.now();
        // After the exit nobody counts any more.
        let _ = self.session.handle(now, Input::Sent(size));
    }

    /// Feeds what a host in this process answered.
    fn serve_host(&mut self) {
        let Wire::Host { replies, ends, .. } = &mut self.wire else {
            return;
        };
        if let Some(reply) = replies.pop_front() {
            self.feed(Input::Bytes(&reply));
        } else if *ends {
            self.end_input();
        }
    }

    fn event(&mut self, event: Event) {
        let Event::TurnEnded(TurnReport { text, errors, .. }) = event else {
            return;
        };
        if let Wire::Text { writer } = &self.wire {
            if !text.is_empty() {
                writer.send(format!("{text}\n").into_bytes());
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
        self.log
            .line(&format!("agentx: {severity}: {}", diagnostic.text));
    }
}

/// Opens the streams; gives the prompts to run first, too.
fn open(stdio: Stdio, post: &Post) -> io::Result<(Wire, Vec<String>)> {
    let writer = || Writer::start(io::stdout(), Arc::clone(post));
    Ok(match stdio {
        Stdio::Records { prompts, stdin } => {
            let reader = || stdio::read(io::stdin(), Arc::clone(post));
            let wire = Wire::Records {
                writer: writer()?,
                gate: stdin.then(reader).transpose()?,
            };
            (wire, prompts)
        }
        Stdio::Text { prompts } => (Wire::Text { writer: writer()? }, prompts),
        Stdio::Host(host) => {
            let wire = Wire::Host {
                host,
                replies: VecDeque::new(),
                ends: false,
            };
            (wire, Vec::new())
        }
    })
}

const fn verdict(passed: bool) -> Verdict {
    if passed {
        Verdict::Passed
    } else {
        Verdict::Failed
    }
}
