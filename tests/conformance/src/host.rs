//! A host session on the bench: records of an agent in, records of a host out, the
//! embedder played by the test.
//!
//! Every input is recorded, and held against the five laws when the test is done,
//! as on the bench of the other end.

mod pair;

pub use pair::Pair;

use agentx_core::effect::EffectId;
use agentx_core::host::{
    Answer, CallError, CallId, Command, Config, Event, Exit, HostSession, Input, Output, Request,
    log,
};
use agentx_core::ids::Seed;
use agentx_core::json::{RawJson, ScanLimits, Scanner, Writer};
use agentx_core::machine::{Machine as _, Misuse};
use agentx_core::schema::host::{Call, Prompt};
use agentx_core::schema::outbound::{Outbound, RecordIds};
use agentx_core::time::Instant;
use agentx_laws::{Effect, Feed, Recorded, Script, Subject};
use core::time::Duration;
use serde_json::Value;
use std::thread;

/// An input that is neither bytes of the stream, its end nor a tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged(Input<'static>);

impl Logged {
    /// Any input, as a script keeps it.
    #[must_use]
    pub fn feed(input: &Input<'_>) -> Feed<Self> {
        match input {
            Input::Bytes(bytes) => Feed::Bytes(bytes.to_vec()),
            Input::Eof => Feed::Eof,
            Input::Tick => Feed::Tick,
            other => {
                let line = log::write(other).unwrap_or_default();
                Feed::Other(Self(log::read(&line).expect("a log reads back")))
            }
        }
    }
}

impl Recorded for Logged {
    fn write(&self, out: &mut String) {
        out.push_str(&log::write(&self.0).unwrap_or_default());
    }

    fn parse(text: &str) -> Result<Self, String> {
        log::read(text).map(Self).map_err(|fault| fault.to_string())
    }
}

/// A host session of this configuration, from its beginning.
pub struct Session(pub Config);

impl Subject for Session {
    type Machine = HostSession;
    type Other = Logged;

    fn machine(&self) -> HostSession {
        HostSession::new(self.0.clone(), Instant::ZERO)
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

    fn other<'a>(&self, other: &'a Logged) -> Input<'a> {
        other.0.clone()
    }

    fn effect(&self, output: &Output) -> Effect {
        match output {
            Output::Start(id, _) => Effect::Start(id.0),
            Output::Cancel(id) => Effect::Cancel(id.0),
            Output::Exit(_) => Effect::Exit,
            Output::Transmit(_) | Output::Event(_) | Output::Diagnostic(_) | Output::CloseInput => {
                Effect::None
            }
        }
    }

    fn settles(&self, other: &Logged) -> Option<u64> {
        match &other.0 {
            Input::Done(id, _) => Some(id.0),
            _ => None,
        }
    }

    fn answer(&self, effect: u64) -> Option<Logged> {
        let answer = Answer::Failed("late".to_string());
        Some(Logged(Input::Done(EffectId(effect), answer)))
    }
}

/// Holds what an agent wrote against its readers: each record is a known one, and
/// written again it is the same bytes.
///
/// # Panics
///
/// When it is not.
pub fn hold_transcript(bytes: &[u8]) {
    let mut scanner = Scanner::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let shown = String::from_utf8_lossy(line);
        let value = scanner.scan(line, &ScanLimits::DEFAULT).expect("JSON");
        let object = value.as_object().expect("an object");
        let record = Outbound::read(object).unwrap_or_else(|| panic!("not read: {shown}"));
        let id = |name| object.get(name).and_then(|id| id.as_str()?.decode().ok());
        let ids = RecordIds {
            uuid: &id("uuid").unwrap_or_default(),
            session_id: &id("session_id").unwrap_or_default(),
        };
        let mut writer = Writer::new();
        record.write(ids, &mut writer);
        assert_eq!(String::from_utf8_lossy(&writer.finish()), shown.trim_end());
    }
    let mut host = HostSession::new(Config::new(Seed::from_u64(1)), Instant::ZERO);
    host.handle(Instant::ZERO, Input::Bytes(bytes))
        .expect("it fits");
    while let Some(output) = host.poll() {
        let fits = match &output {
            Output::Event(Event::Record(record)) => record.body.known().is_some(),
            Output::Exit(_) => false,
            _ => true,
        };
        assert!(fits, "{output:?}");
    }
}

/// The answer to a call, as it was told.
pub type Answered = Result<Option<RawJson>, CallError>;

/// A host session, everything it said, and the effects that wait for the test.
pub struct HostBench {
    /// The session.
    pub session: HostSession,
    config: Config,
    script: Script<Logged>,
    /// The time the session is told with the next input.
    pub now: Instant,
    /// Every output, in order.
    pub outputs: Vec<Output>,
    /// Every transmitted record, as bytes.
    pub bytes: Vec<u8>,
    taken: usize,
    /// Effects started and neither settled nor cancelled, oldest first.
    pub open: Vec<(EffectId, Request)>,
    /// Whether the agent's input was closed.
    pub closed: bool,
    /// The exit, once told.
    pub exit: Option<Exit>,
    /// Whether the recording is held against the laws at the end; not one with
    /// bugs of the embedder that the suite does not know.
    pub replays: bool,
    calls: u64,
}

impl HostBench {
    /// A host with seed 1 at time zero.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Config::new(Seed::from_u64(1)))
    }

    /// A host of this configuration at time zero.
    #[must_use]
    pub fn with(config: Config) -> Self {
        Self {
            session: HostSession::new(config.clone(), Instant::ZERO),
            config,
            script: Script::new(),
            now: Instant::ZERO,
            outputs: Vec::new(),
            bytes: Vec::new(),
            taken: 0,
            open: Vec::new(),
            closed: false,
            exit: None,
            replays: true,
            calls: 0,
        }
    }

    /// Feeds one input and drains.
    ///
    /// # Errors
    ///
    /// What the session refuses.
    pub fn try_feed(&mut self, input: Input<'_>) -> Result<(), Misuse> {
        self.script.push(self.now, Logged::feed(&input));
        let result = self.session.handle(self.now, input);
        self.drain();
        result
    }

    /// Feeds one input that must fit.
    pub fn feed(&mut self, input: Input<'_>) {
        self.try_feed(input).expect("the input fits");
    }

    fn drain(&mut self) {
        while let Some(output) = self.session.poll() {
            assert_eq!(self.exit, None, "nothing follows an exit");
            match &output {
                Output::Transmit(record) => {
                    assert!(!self.closed, "nothing is written behind the end");
                    self.bytes.extend_from_slice(record.as_bytes());
                }
                Output::Start(id, request) => self.open.push((*id, request.clone())),
                Output::Cancel(id) => {
                    assert!(self.open.iter().any(|(open, _)| open == id));
                    self.open.retain(|(open, _)| open != id);
                }
                Output::CloseInput => {
                    assert!(!self.closed, "the end is told once");
                    self.closed = true;
                }
                Output::Exit(exit) => self.exit = Some(exit.clone()),
                Output::Event(_) | Output::Diagnostic(_) => {}
            }
            self.outputs.push(output);
        }
        // What was settled by an answer is no longer open.
        let session = &self.session;
        self.open.retain(|(id, _)| session.is_open(*id));
    }

    /// Lets time pass, in milliseconds, and tells so.
    pub fn wait(&mut self, milliseconds: u64) {
        self.now = self.now.after(Duration::from_millis(milliseconds));
        self.feed(Input::Tick);
    }

    /// One line of the agent; the newline is added.
    pub fn line(&mut self, line: &str) {
        self.feed(Input::Bytes(line.as_bytes()));
        self.feed(Input::Bytes(b"\n"));
    }

    /// One record of the agent.
    pub fn record(&mut self, record: &Value) {
        self.line(&record.to_string());
    }

    /// The agent asks for this under that id.
    pub fn asks(&mut self, id: &str, request: &Value) {
        let record =
            serde_json::json!({"type": "control_request", "request_id": id, "request": request});
        self.record(&record);
    }

    /// The agent asks whether the call `tool_use_id` may run.
    pub fn asks_leave(&mut self, id: &str, tool_use_id: &str) {
        let request = serde_json::json!({"subtype": "can_use_tool", "tool_name": "Do", "input": {"a": 1}, "tool_use_id": tool_use_id});
        self.asks(id, &request);
    }

    /// The agent answers this request of ours.
    pub fn answers(&mut self, id: &str, payload: &Value) {
        let mut response = serde_json::json!({"subtype": "success", "request_id": id});
        if !payload.is_null() {
            response["response"] = payload.clone();
        }
        self.record(&serde_json::json!({"type": "control_response", "response": response}));
    }

    /// The embedder wants something.
    pub fn command(&mut self, command: Command) {
        self.feed(Input::Command(command));
    }

    /// A prompt.
    pub fn prompt(&mut self, prompt: Prompt) {
        self.command(Command::Prompt(Box::new(prompt)));
    }

    /// A call under the next free name.
    pub fn call(&mut self, call: impl Into<Call>) -> CallId {
        self.call_within(call, None)
    }

    /// The same, with its own time.
    pub fn call_within(&mut self, call: impl Into<Call>, timeout: Option<Duration>) -> CallId {
        self.calls += 1;
        let id = CallId(self.calls);
        self.command(Command::Call {
            id,
            call: Box::new(call.into()),
            timeout,
        });
        id
    }

    /// Settles an effect.
    pub fn done(&mut self, id: EffectId, answer: Answer) {
        self.feed(Input::Done(id, answer));
    }

    /// Settles the oldest effect.
    pub fn settle(&mut self, answer: Answer) {
        let (id, _) = self.open.first().expect("an effect is open");
        self.done(*id, answer);
    }

    /// The records written since the last call.
    pub fn written(&mut self) -> Vec<Value> {
        let fresh = self.bytes.get(self.taken..).unwrap_or_default();
        self.taken = self.bytes.len();
        let text = String::from_utf8_lossy(fresh);
        text.lines()
            .map(|line| serde_json::from_str(line).expect("records are JSON"))
            .collect()
    }

    /// The request id of the newest call.
    #[must_use]
    pub fn request_id(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let records = text.lines().rev();
        let mut ids = records.filter_map(|line| {
            let record: Value = serde_json::from_str(line).ok()?;
            Some(record["request_id"].as_str()?.to_string())
        });
        ids.next().expect("a call was written")
    }

    /// All events so far.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.outputs.iter().filter_map(|output| match output {
            Output::Event(event) => Some(event),
            _ => None,
        })
    }

    /// The known records that the agent has told so far.
    pub fn told(&self) -> impl Iterator<Item = &Outbound> {
        self.events().filter_map(|event| match event {
            Event::Record(record) => record.body.known(),
            _ => None,
        })
    }

    /// What became of a call, each time it was told.
    #[must_use]
    pub fn answers_to(&self, call: CallId) -> Vec<&Answered> {
        let answers = self.events().filter_map(|event| match event {
            Event::Answered(id, answer) if *id == call => Some(answer),
            _ => None,
        });
        answers.collect()
    }

    /// Texts of all diagnostics so far.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<&str> {
        let texts = self.outputs.iter().filter_map(|output| match output {
            Output::Diagnostic(diagnostic) => Some(diagnostic.text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

impl Default for HostBench {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for HostBench {
    fn drop(&mut self) {
        if thread::panicking() || !self.replays {
            return;
        }
        let log = self.script.to_log();
        let script = Script::parse(&log).unwrap_or_else(|fault| panic!("{fault}:\n{log}"));
        if let Err(broken) = agentx_laws::check(&Session(self.config.clone()), &script, 0..3) {
            panic!("{broken}; the recording is\n{log}");
        }
    }
}
