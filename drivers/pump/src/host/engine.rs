//! The loop of one client: the host session, its agent, and what they tell.
//!
//! ```text
//! stdout thread -> Piece, End   \                 / records -> mailbox
//! stderr thread -> End           >  News -> loop <  answers -> slots
//! stdin thread  -> Wrote, Failed |                \ requests -> callbacks
//! agent thread  -> Exited        |
//! client        -> Ask          /
//! ```
//!
//! The end is told when all of it is known: the exit status, the last record and
//! the last line on stderr. Whoever waits for an answer that cannot come any more
//! learns of it then, too.

use super::CALLBACKS;
use super::callbacks::Callbacks;
use super::error::{Ended, Error};
use super::mailbox::Mailbox;
use super::news::{Ask, News, Over, Shelf, UNREAD_BYTES, UNREAD_OVERHEAD_BYTES};
use super::process::Process;
use super::requests::{self, Reply};
use super::slot::Slot;
use super::tail::Tail;
use super::task::{Spawn, Stop};
use crate::contain::contained;
use crate::drive;
use crate::stdio::Writer;
use agentx_core::effect::EffectId;
use agentx_core::host::{
    Answer, CallError, CallId, Command, End, Event, HostSession, Input, Output, Request, Unsent,
};
use agentx_core::json::RawJson;
use agentx_core::machine::Machine as _;
use agentx_core::schema::received::AgentRecord;
use agentx_core::time::Instant;
use std::collections::BTreeMap;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

/// Bytes that wait for the agent to read them, above which it is sent no prompt.
pub const UNWRITTEN_BYTES: usize = 16 * 1024 * 1024;

/// How long an agent may go on after it has closed its stdout. So long, too, those
/// whom it cannot answer wait for its end where it has closed its stdin.
const EXIT_GRACE: Duration = Duration::from_secs(5);

/// How long its pipes may stay open after it has ended: a process that left its
/// group can hold them.
const PIPE_GRACE: Duration = Duration::from_secs(1);

/// What the agent is told of a request that would be one too many.
const TOO_MANY: &str = "too many callbacks of this host run";

/// A call that waits, and what it is called.
struct Waiting {
    operation: String,
    timeout: Duration,
    slot: Slot<Option<RawJson>>,
}

/// One client at work.
pub(super) struct Engine {
    pub(super) session: HostSession,
    pub(super) started: std::time::Instant,
    pub(super) callbacks: Callbacks,
    pub(super) spawn: Spawn,
    pub(super) timeout: Duration,
    pub(super) news: Sender<News>,
    pub(super) process: Process,
    pub(super) writer: Option<Writer>,
    /// Lets the reader of stdout go on.
    pub(super) gate: Sender<()>,
    pub(super) tail: Tail,
    pub(super) shelf: Shelf,
    pub(super) ended: Mailbox<Over>,
    /// Shared with every callback that runs.
    pub(super) running: Arc<()>,
    pub(super) state: State,
}

/// What changes while a client works.
#[derive(Default)]
pub(super) struct State {
    /// Bytes that were handed to the writer and not written.
    unwritten: usize,
    /// Bytes of stdout since the last record.
    unweighed: usize,
    /// The reader waits for room.
    held: bool,
    calls: BTreeMap<CallId, Waiting>,
    /// Where the event that follows from a command goes.
    prompting: Option<Slot<Arc<str>>>,
    setting: Option<Slot<()>>,
    tasks: BTreeMap<EffectId, Stop>,
    /// Those who learn of the end in place of an answer.
    bereft: Vec<Box<dyn FnOnce(Error) + Send>>,
    /// When the first of them began to wait.
    bereft_since: Option<Instant>,
    /// The session is over, and why.
    over: Option<End>,
    /// The client wanted the end.
    closed: bool,
    killed: bool,
    exited: Option<Option<ExitStatus>>,
    output_ended: bool,
    errors_ended: bool,
    /// When the last sign of life came.
    heard: Option<Instant>,
    /// It was stopped because of a fault, or because it went on without a stdout.
    stopped: bool,
    /// Its fault was told.
    told: bool,
}

impl Engine {
    /// Works until everything about the agent is known.
    pub(super) fn run(mut self, news: &Receiver<News>) {
        self.drain();
        while !self.is_done() {
            let wait = drive::wait(self.now(), self.deadline());
            let item = match wait {
                // A sender is held here, so that this cannot fail.
                None => news.recv().ok(),
                Some(wait) => news.recv_timeout(wait).ok(),
            };
            match item {
                Some(item) => self.take(item),
                None => self.tick(),
            }
        }
        self.finish();
    }

    fn now(&self) -> Instant {
        let micros = self.started.elapsed().as_micros();
        Instant::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }

    fn is_done(&self) -> bool {
        let state = &self.state;
        state.exited.is_some() && state.output_ended && state.errors_ended
    }

    fn deadline(&self) -> Option<Instant> {
        let session = match self.state.over {
            None => self.session.deadline(),
            Some(_) => None,
        };
        let graces = [session, self.grace_ends(), self.patience_ends()];
        graces.into_iter().flatten().min()
    }

    /// When something that should have come by then is given up.
    fn grace_ends(&self) -> Option<Instant> {
        let state = &self.state;
        let heard = state.heard?;
        match (&state.exited, state.output_ended) {
            // What we do not read cannot end.
            (Some(_), false) if state.held => None,
            (Some(_), _) => Some(heard.after(PIPE_GRACE)),
            (None, true) if !state.stopped => Some(heard.after(EXIT_GRACE)),
            (None, _) => None,
        }
    }

    /// When nobody waits any longer for the end of an agent that lives on although
    /// nothing can be written to it.
    fn patience_ends(&self) -> Option<Instant> {
        let since = self.state.bereft_since?;
        self.state.over.is_none().then(|| since.after(EXIT_GRACE))
    }

    fn tick(&mut self) {
        if self.patience_ends().is_some_and(|ends| ends <= self.now()) {
            let ended = self.how_it_ended();
            self.tell_bereft(&Error::Ended(ended));
        }
        if self.grace_ends().is_some_and(|ends| ends <= self.now()) {
            if self.state.exited.is_some() {
                self.output_ended();
                self.state.errors_ended = true;
            } else {
                self.state.stopped = true;
                self.process.stop_beside();
            }
        }
        self.feed(Input::Tick);
    }

    fn take(&mut self, news: News) {
        if self.is_sign_of_life(&news) {
            self.state.heard = Some(self.now());
        }
        match news {
            News::Piece(piece) => {
                self.state.unweighed = self.state.unweighed.saturating_add(piece.len());
                self.feed(Input::Bytes(&piece));
                self.state.held = true;
                self.read_on();
            }
            News::Room => self.read_on(),
            News::OutputEnd => self.output_ended(),
            News::ErrorsEnd => self.state.errors_ended = true,
            News::Wrote(count) => {
                self.state.unwritten = self.state.unwritten.saturating_sub(count);
                self.feed(Input::Sent(count));
            }
            News::WriteFailed => {
                // What was not written waits no longer.
                self.state.unwritten = 0;
                self.feed(Input::WriteFailed);
            }
            News::Exited(status) => {
                self.state.exited = Some(status);
                // A reader that waits for room has not seen the end yet.
                self.read_on();
            }
            News::Answer(id, answer) => {
                self.state.tasks.remove(&id);
                self.feed(Input::Done(id, answer));
            }
            News::Ask(ask) => self.ask(ask),
        }
        if self.is_due() {
            self.tick();
        }
    }

    /// Whether the agent is worth waiting for. Once it is gone and nobody reads
    /// any more, what others write to its stdout is not.
    fn is_sign_of_life(&self, news: &News) -> bool {
        let of_agent = !matches!(news, News::Ask(_) | News::Answer(..));
        let unread = self.state.killed || self.state.over.is_some();
        of_agent && !(unread && self.state.exited.is_some())
    }

    /// However busy the news are, the clock has its turn.
    fn is_due(&self) -> bool {
        self.deadline().is_some_and(|due| due <= self.now())
    }

    fn read_on(&mut self) {
        let full = self.shelf.weight.load(Ordering::Acquire) >= UNREAD_BYTES;
        // Nobody has to read for an agent to be ended.
        let unread = self.state.killed || self.state.over.is_some();
        if self.state.held && (unread || !full) {
            self.state.held = false;
            // A reader that is gone has told its end.
            let _ = self.gate.send(());
        }
    }

    fn output_ended(&mut self) {
        if !std::mem::replace(&mut self.state.output_ended, true) {
            self.feed(Input::Eof);
        }
    }

    fn ask(&mut self, ask: Ask) {
        match ask {
            Ask::Prompt(prompt, slot) => {
                if let Some(slot) = self.may_send(slot) {
                    self.state.prompting = Some(slot);
                    self.feed(Input::Command(Command::Prompt(prompt)));
                }
            }
            Ask::Environment(update, slot) => {
                if let Some(slot) = self.may_send(slot) {
                    self.state.setting = Some(slot);
                    self.feed(Input::Command(Command::Environment(update)));
                    if let Some(slot) = self.state.setting.take() {
                        slot.settle(Ok(()));
                    }
                }
            }
            Ask::Call(id, call, timeout, slot) => {
                if let Some(slot) = self.may_call(slot) {
                    let timeout = timeout.unwrap_or(self.timeout);
                    let operation = call.subtype().to_owned();
                    let waiting = Waiting {
                        operation,
                        timeout,
                        slot,
                    };
                    self.state.calls.insert(id, waiting);
                    let timeout = Some(timeout);
                    self.feed(Input::Command(Command::Call { id, call, timeout }));
                }
            }
            Ask::Forget(id) => self.feed(Input::Command(Command::Forget(id))),
            Ask::Close => {
                self.state.closed = true;
                self.feed(Input::Command(Command::Close));
            }
            Ask::Kill => {
                self.killed();
                self.process.stop_beside();
                self.read_on();
            }
            Ask::Leave => {
                self.killed();
                self.feed(Input::Command(Command::Abandon));
                self.read_on();
            }
        }
    }

    fn killed(&mut self) {
        self.state.closed = true;
        if !std::mem::replace(&mut self.state.killed, true) {
            // What was held up has its time to be read.
            self.state.heard = Some(self.now());
        }
    }

    /// The slot, unless what waits for the agent is too much already.
    fn may_send<T: Send + 'static>(&mut self, slot: Slot<T>) -> Option<Slot<T>> {
        let slot = self.may_call(slot)?;
        if self.state.unwritten > UNWRITTEN_BYTES {
            slot.settle(Err(Error::Stalled));
            return None;
        }
        Some(slot)
    }

    /// The slot, unless nothing can be sent any more.
    fn may_call<T: Send + 'static>(&mut self, slot: Slot<T>) -> Option<Slot<T>> {
        if self.state.closed {
            slot.settle(Err(Error::Closed));
        } else if self.state.over.is_some() {
            self.bereave(slot);
        } else {
            return Some(slot);
        }
        None
    }

    /// Tells of the end once it is known.
    fn bereave<T: Send + 'static>(&mut self, slot: Slot<T>) {
        let tell = move |why| slot.settle(Err(why));
        self.state.bereft.push(Box::new(tell));
        let now = self.now();
        self.state.bereft_since.get_or_insert(now);
    }

    fn tell_bereft(&mut self, why: &Error) {
        self.state.bereft_since = None;
        for tell in std::mem::take(&mut self.state.bereft) {
            tell(why.clone());
        }
    }

    /// One input, and everything that follows from it.
    fn feed(&mut self, input: Input<'_>) {
        if self.state.over.is_some() {
            return;
        }
        let now = self.now();
        if let Err(misuse) = self.session.handle(now, input) {
            // A bug of ours; the session has not changed.
            tracing::error!(%misuse, "the host session refused an input");
        }
        self.drain();
    }

    fn drain(&mut self) {
        let mut records = Vec::new();
        while let Some(output) = self.session.poll() {
            match output {
                Output::Transmit(record) => self.transmit(record.into_bytes()),
                // What the agent wrote before it asked or answered can be taken then.
                Output::Start(id, request) => {
                    self.put(std::mem::take(&mut records));
                    self.start(id, request);
                }
                Output::Cancel(id) => {
                    if let Some(stop) = self.state.tasks.remove(&id) {
                        contained(stop);
                    }
                }
                Output::Event(Event::Record(record)) => records.push(record),
                Output::Event(event) => {
                    self.put(std::mem::take(&mut records));
                    self.event(event);
                }
                Output::Diagnostic(diagnostic) => tracing::warn!(text = diagnostic.text, "host"),
                Output::CloseInput => self.writer = None,
                Output::Exit(exit) => self.state.over = Some(exit.end),
            }
        }
        self.put(records);
        // What is wrong with half a record at the end depends on how the agent ends.
        if let Some(fault) = self.fault()
            && !self.state.output_ended
            && !std::mem::replace(&mut self.state.told, true)
        {
            self.state.stopped = true;
            self.shelf.records.put((0, Err(fault)));
            self.process.stop_beside();
        }
    }

    /// Hands records over, with the bytes since the last ones shared among them.
    fn put(&mut self, records: Vec<AgentRecord>) {
        if records.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.state.unweighed) / records.len();
        let weight = bytes.saturating_add(UNREAD_OVERHEAD_BYTES);
        for record in records {
            self.shelf.weight.fetch_add(weight, Ordering::AcqRel);
            self.shelf.records.put((weight, Ok(record)));
        }
    }

    fn transmit(&mut self, record: Vec<u8>) {
        self.state.unwritten = self.state.unwritten.saturating_add(record.len());
        if let Some(writer) = &self.writer {
            writer.send(record);
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Prompted(uuid) => {
                if let Some(slot) = self.state.prompting.take() {
                    slot.settle(Ok(uuid));
                }
            }
            Event::Unsent { why, .. } => {
                if let Some(slot) = self.state.prompting.take() {
                    self.refuse(slot, why);
                } else if let Some(slot) = self.state.setting.take() {
                    self.refuse(slot, why);
                }
            }
            Event::Answered(id, answer) => {
                if let Some(waiting) = self.state.calls.remove(&id) {
                    self.answered(waiting, answer);
                }
            }
            // Told by `drain` already.
            Event::Record(_) => {}
        }
    }

    fn answered(&mut self, waiting: Waiting, answer: Result<Option<RawJson>, CallError>) {
        let Waiting {
            operation,
            timeout,
            slot,
        } = waiting;
        let why = match answer {
            Ok(payload) => return slot.settle(Ok(payload)),
            Err(CallError::Refused { message, .. }) => Error::Refused { operation, message },
            Err(CallError::Invalid(message)) => Error::Protocol { message },
            Err(CallError::TimedOut) => Error::TimedOut {
                operation,
                after: timeout,
            },
            Err(CallError::Unsent(why)) => return self.refuse(slot, why),
            Err(CallError::Closed) => return self.bereave(slot),
            // Nobody waits, neither for this nor for the end.
            Err(CallError::Forgotten) => return,
        };
        slot.settle(Err(why));
    }

    fn refuse<T: Send + 'static>(&mut self, slot: Slot<T>, why: Unsent) {
        match why {
            Unsent::Closed => self.bereave(slot),
            Unsent::TooMany => slot.settle(Err(Error::TooMany)),
            Unsent::TooLarge | Unsent::Credential | Unsent::BadUuid => {
                let message = why.to_string();
                slot.settle(Err(Error::Invalid { message }));
            }
        }
    }

    fn start(&mut self, id: EffectId, request: Request) {
        // Those that were taken back may run on, and count.
        let running = Arc::strong_count(&self.running);
        let reply = Reply::new(id, self.news.clone(), Arc::clone(&self.running));
        if running > CALLBACKS {
            return reply.send(Answer::Failed(TOO_MANY.to_owned()));
        }
        let Some(task) = requests::task(&self.callbacks, request, reply) else {
            return;
        };
        // A task that cannot be started is dropped, which answers for it.
        if let Some(stop) = contained(|| (self.spawn)(task)) {
            self.state.tasks.insert(id, stop);
        }
    }

    /// The fault of the agent that ended the session.
    fn fault(&self) -> Option<Error> {
        let Some(End::Fault { line, byte, reason }) = self.state.over else {
            return None;
        };
        let message = format!("line {line} of its output, byte {byte}: {reason}");
        Some(Error::Protocol { message })
    }

    /// How the agent ended, as far as that is known.
    fn how_it_ended(&self) -> Ended {
        Ended {
            status: self.state.exited.flatten(),
            stderr: self.tail.lines(),
        }
    }

    /// Everything is known: whoever waits learns of it.
    fn finish(&mut self) {
        let ended = self.how_it_ended();
        let state = &self.state;
        // An end that the client did not ask for is told, and so is a crash behind
        // one that it did ask for, and half a record that nobody had killed.
        let crashed = ended.code().is_none() && !state.killed;
        let fault = self.fault().filter(|_| state.told || !state.killed);
        let expected = state.closed && !crashed && fault.is_none();
        let told = state.told;
        let why = match fault {
            // An agent that failed did not mean to end there.
            Some(fault) if told || ended.success() => fault,
            _ => Error::Ended(ended.clone()),
        };
        let over = Over {
            ended,
            why: if expected { Error::Closed } else { why.clone() },
        };
        // First, so that whoever learns of the end can ask for all of it.
        self.ended.put(over);
        self.tell_bereft(&why);
        if !told && !expected {
            self.shelf.records.put((0, Err(why)));
        }
        self.shelf.records.close();
    }
}

/// A loop that ends by a panic leaves nobody waiting, and no process.
impl Drop for Engine {
    fn drop(&mut self) {
        self.shelf.records.close();
        self.ended.close();
        if !self.is_done() {
            self.process.stop_beside();
        }
    }
}

#[cfg(test)]
mod tests;
