//! An interactive session as its user sees it, as a state machine: records and
//! lines in; text, questions to the terminal and records out. It does no IO and
//! is told the time.

mod commands;
pub(super) mod plain;
mod question;
mod show;
#[cfg(test)]
mod tests;

use crate::speak::{self, text};
use agentx_core::json::{Object, ScanLimits, Scanner, Value};
use agentx_core::machine::{Machine, Misuse, Wants};
use agentx_core::time::Instant;
use question::{Question, Reply};
use show::Screen;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// How long after an interrupt a second one ends the session (configuration,
/// "Exit status").
const AGAIN: Duration = Duration::from_secs(2);

/// Exit status of a session that SIGINT ends.
const INTERRUPTED: u8 = 130;

/// What the model is told of a call that the user refused.
const REFUSED: &str = "The user refused this call.";

/// What stays as it is for the whole process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Id of the provider.
    pub(crate) provider: String,
    /// Its model.
    pub(crate) model: String,
    /// The reasoning effort that is asked for, where the provider has efforts.
    pub(crate) effort: Option<String>,
    /// Ids of all providers.
    pub(crate) providers: Vec<String>,
    /// Whether permissions can be stored beyond the session.
    pub(crate) stores: bool,
    /// Whether colour may be used.
    pub(crate) colour: bool,
}

/// What is fed to a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input<'a> {
    /// One record of the session.
    Record(&'a [u8]),
    /// What came of asking the terminal, by the number of the asking.
    Line(u64, Line<'a>),
    /// A SIGINT; whether the line that is edited has text.
    Interrupt {
        /// Whether it has.
        typed: bool,
    },
    /// A line for the operator.
    Report(&'a str),
    /// The stored sessions, a line each, or why they cannot be told.
    Listed(Result<&'a str, &'a str>),
    /// The terminal has so many columns now.
    Columns(usize),
    /// The session is told to end.
    Ending,
    /// The terminal is gone.
    Gone,
    /// The session is over.
    Over,
    /// Time has passed; that alone changes nothing.
    #[cfg(test)]
    Tick,
}

/// What the terminal says when asked for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A line; a pasted one may have several.
    Text(&'a str),
    /// Ctrl-C was pressed instead; whether the line had text.
    Interrupted {
        /// Whether it had.
        typed: bool,
    },
    /// Ctrl-D was pressed on an empty line.
    End,
    /// What was typed is no UTF-8.
    NoText,
}

/// What a view wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// Show this.
    Show(String),
    /// Ask the terminal for a line; exactly one answer comes back.
    Ask(u64, Asked),
    /// Look which sessions are stored; one [`Input::Listed`] comes back.
    List,
    /// Send these bytes to the session.
    Send(Vec<u8>),
    /// End the session's input.
    End,
    /// End the session as a signal would, with this exit status.
    Quit(u8),
    /// Nothing more will come.
    Over,
}

/// What a line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A prompt or a command.
    Prompt,
    /// The answer to a permission question. What was typed before it was shown
    /// must not count.
    Permission {
        /// Whether "always" is one of the answers.
        always: bool,
    },
}

/// Where the session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing was said yet.
    Starting,
    /// It waits for a prompt.
    Ready,
    /// A turn runs, or will.
    Busy,
    /// It takes no more input.
    Ending,
    /// Nothing counts any more.
    Over,
}

/// What the terminal was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asking {
    Prompt,
    /// The question of this request.
    Permission(String),
}

/// The state machine.
#[derive(Debug)]
pub(crate) struct View {
    facts: Facts,
    /// A prompt to begin with.
    first: Option<String>,
    scanner: Scanner,
    outputs: VecDeque<Output>,
    now: Instant,
    phase: Phase,
    screen: Screen,
    asking: Option<(u64, Asking)>,
    /// Number of the last asking.
    asked: u64,
    /// Whether the stored sessions are being looked at.
    listing: bool,
    questions: VecDeque<Question>,
    /// Names of the calls of this turn, by id.
    calls: BTreeMap<String, String>,
    /// The answer whose text was streamed.
    streamed: Option<String>,
    /// When the last turn was interrupted.
    interrupted: Option<Instant>,
    /// Whether that turn has not ended yet.
    stopping: bool,
    interrupts: u64,
}

impl View {
    /// A view that sends `first` as soon as the session stands ready.
    pub(crate) fn new(facts: Facts, first: Option<String>) -> Self {
        Self {
            screen: Screen::new(facts.colour),
            facts,
            first: first.filter(|prompt| !prompt.trim().is_empty()),
            scanner: Scanner::new(),
            outputs: VecDeque::new(),
            now: Instant::ZERO,
            phase: Phase::Starting,
            asking: None,
            asked: 0,
            listing: false,
            questions: VecDeque::new(),
            calls: BTreeMap::new(),
            streamed: None,
            interrupted: None,
            stopping: false,
            interrupts: 0,
        }
    }

    /// What the terminal has been asked and has not answered.
    pub(crate) fn asked(&self) -> Option<u64> {
        self.asking.as_ref().map(|(id, _)| *id)
    }

    fn send(&mut self, bytes: Vec<u8>) {
        self.outputs.push_back(Output::Send(bytes));
    }

    fn end(&mut self, output: Output) {
        if self.phase != Phase::Over {
            self.phase = Phase::Ending;
            self.outputs.push_back(output);
        }
    }

    fn record(&mut self, record: Object<'_>) {
        match text(record, "type").unwrap_or_default().as_str() {
            "system" => self.system(record),
            "stream_event" => self.streamed(record),
            "assistant" => self.assistant(record),
            "user" => self.results(record),
            "control_request" => {
                if let Some(question) = Question::read(record, self.facts.stores) {
                    self.questions.push_back(question);
                }
            }
            "control_cancel_request" => {
                self.withdrawn(&text(record, "request_id").unwrap_or_default());
            }
            "control_response" => self.answered(record),
            "result" => self.result(record),
            _ => {}
        }
    }

    fn system(&mut self, record: Object<'_>) {
        let word = |member: &str| text(record, member).unwrap_or_default();
        match (word("subtype").as_str(), word("state").as_str()) {
            ("init", _) => self.begin(record),
            ("session_state_changed", "running") if self.phase == Phase::Ready => {
                self.phase = Phase::Busy;
            }
            ("session_state_changed", "idle") => self.rest(),
            _ => {}
        }
    }

    fn begin(&mut self, init: Object<'_>) {
        self.screen.greeting(init, &self.facts);
        self.phase = Phase::Ready;
        if let Some(prompt) = self.first.take() {
            self.screen.said(&prompt);
            self.prompt(&prompt);
        }
    }

    /// No turn runs.
    fn rest(&mut self) {
        self.calls.clear();
        self.streamed = None;
        self.stopping = false;
        if self.phase == Phase::Busy {
            self.phase = Phase::Ready;
        }
    }

    fn prompt(&mut self, prompt: &str) {
        self.phase = Phase::Busy;
        self.stopping = false;
        self.interrupted = None;
        self.send(speak::user(prompt));
    }

    fn streamed(&mut self, record: Object<'_>) {
        let Some(event) = record.get("event").and_then(Value::as_object) else {
            return;
        };
        let inner = |member: &str| event.get(member).and_then(Value::as_object);
        match text(event, "type").unwrap_or_default().as_str() {
            "message_start" => {
                self.streamed = inner("message").and_then(|message| text(message, "id"));
            }
            "content_block_start" => {
                let kind = inner("content_block").and_then(|block| text(block, "type"));
                if kind.is_some_and(|kind| kind.ends_with("thinking")) {
                    self.screen.aside("(thinking)");
                }
            }
            "content_block_delta" => {
                if let Some(piece) = inner("delta").and_then(|delta| text(delta, "text")) {
                    self.screen.piece(&piece);
                }
            }
            "content_block_stop" | "message_stop" => self.screen.fresh_line(),
            _ => {}
        }
    }

    fn assistant(&mut self, record: Object<'_>) {
        let message = record.get("message").and_then(Value::as_object);
        let id = message.and_then(|message| text(message, "id"));
        // What failed is told by the result, with its cause.
        let told = text(record, "error").is_some_and(|error| error != "max_output_tokens");
        let shown = told || (id.is_some() && id == self.streamed);
        for block in speak::content(record) {
            match text(block, "type").unwrap_or_default().as_str() {
                "text" if !shown => {
                    self.screen.piece(&text(block, "text").unwrap_or_default());
                    self.screen.fresh_line();
                }
                "tool_use" => {
                    let name = text(block, "name").unwrap_or_default();
                    self.screen.call(&name, block.get("input"));
                    let id = text(block, "id").unwrap_or_default();
                    self.calls.insert(id, name);
                }
                _ => {}
            }
        }
    }

    /// Outcomes of calls; echoes of prompts have none.
    fn results(&mut self, record: Object<'_>) {
        for block in speak::content(record) {
            let Some(id) = text(block, "tool_use_id") else {
                continue;
            };
            let failed = block.get("is_error").and_then(Value::as_bool) == Some(true);
            let said: Vec<String> = speak::parts(block).collect();
            let name = self.calls.get(&id).map_or("call", String::as_str);
            self.screen.outcome(name, &said.join("\n"), failed);
        }
    }

    fn result(&mut self, record: Object<'_>) {
        self.stopping = false;
        self.screen.result(record);
        let reason = text(record, "stop_reason");
        // A prompt that was refused changes no state, so no `idle` follows.
        if reason.is_some_and(|reason| reason == "input_error") {
            self.rest();
        }
    }

    fn withdrawn(&mut self, request_id: &str) {
        self.questions
            .retain(|question| question.request_id != request_id);
    }

    /// An answer to what this host asked; all it asks for is an interrupt.
    fn answered(&mut self, record: Object<'_>) {
        let response = record.get("response").and_then(Value::as_object);
        if let Some(error) = response.and_then(|response| text(response, "error")) {
            self.screen.error(&error);
        }
    }

    /// Whether the terminal may answer this asking.
    fn awaits(&self, id: u64) -> Result<(), Misuse> {
        match &self.asking {
            Some((asked, _)) if *asked == id => Ok(()),
            _ if (1..=self.asked).contains(&id) => Err(Misuse::EffectSettledTwice),
            _ => Err(Misuse::UnknownEffect),
        }
    }

    fn line(&mut self, line: Line<'_>) {
        let Some((_, asking)) = self.asking.take() else {
            return;
        };
        // Whatever it was, the terminal stands at the start of a line.
        self.screen.returned();
        match (line, asking) {
            _ if self.phase == Phase::Ending => {}
            (Line::Text(line), Asking::Prompt) => self.typed(line),
            (Line::Text(line), Asking::Permission(request)) => self.decided(&request, line),
            (Line::Interrupted { typed }, _) => self.interrupt(typed),
            (Line::End, _) => self.end(Output::End),
            (Line::NoText, _) => self.screen.error("the line is no UTF-8 and was dropped"),
        }
    }

    /// A line at the prompt.
    fn typed(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        match line.strip_prefix('/') {
            Some(command) => self.command(command),
            None => self.prompt(line),
        }
    }

    /// A line at a permission question.
    fn decided(&mut self, request: &str, line: &str) {
        let at = self
            .questions
            .iter()
            .position(|question| question.request_id == request);
        let Some(question) = at.and_then(|at| self.questions.remove(at)) else {
            self.screen.aside("(the question was withdrawn)");
            return;
        };
        let answer = match (Reply::read(line), &question.always) {
            (Reply::Allow, _) => speak::allow(request, None),
            (Reply::Always, Some(always)) => speak::allow(request, Some(&always.updates)),
            (Reply::Deny(None), _) => speak::deny(request, REFUSED),
            (Reply::Deny(Some(reason)), _) => speak::deny(request, &format!("{REFUSED} {reason}")),
            (Reply::Show, _) => {
                self.screen.question(&question, true);
                return self.questions.push_front(question);
            }
            (Reply::Always | Reply::Unclear, _) => {
                let choices = question.choices();
                self.screen.error(&format!("expected {choices}"));
                return self.questions.push_front(question);
            }
        };
        self.send(answer);
    }

    /// SIGINT or Ctrl-C (configuration, "Exit status").
    fn interrupt(&mut self, typed: bool) {
        let again = self
            .interrupted
            .is_some_and(|at| self.now.since(at) < AGAIN);
        match self.phase {
            Phase::Over => {}
            Phase::Busy if !again => {
                self.interrupted = Some(self.now);
                self.stopping = true;
                self.interrupts += 1;
                self.send(speak::interrupt(&format!("interrupt-{}", self.interrupts)));
                self.screen.interrupting();
            }
            // Somebody gave up what they were typing.
            Phase::Ready if typed && !again => {}
            Phase::Starting | Phase::Ready | Phase::Busy | Phase::Ending => {
                self.end(Output::Quit(INTERRUPTED));
            }
        }
    }

    /// Nobody is there any more: the turn ends, and so does the session.
    fn gone(&mut self) {
        if self.phase == Phase::Busy && !self.stopping {
            self.interrupts += 1;
            self.send(speak::interrupt(&format!("interrupt-{}", self.interrupts)));
        }
        self.end(Output::End);
    }

    fn over(&mut self) {
        self.phase = Phase::Over;
        self.screen.fresh_line();
    }

    /// Shows what has to be shown, then asks for what has to be asked.
    fn settle(&mut self) {
        let wanted = match (self.phase, self.questions.front_mut()) {
            _ if self.asking.is_some() || self.listing => None,
            (Phase::Busy, Some(question)) if !self.stopping => {
                if !std::mem::replace(&mut question.told, true) {
                    self.screen.question(question, false);
                }
                let always = question.always.is_some();
                let asking = Asking::Permission(question.request_id.clone());
                Some((Asked::Permission { always }, asking))
            }
            (Phase::Ready, _) => Some((Asked::Prompt, Asking::Prompt)),
            _ => None,
        };
        if wanted.is_some() {
            self.screen.fresh_line();
        }
        if let Some(text) = self.screen.take() {
            // Before what is asked for: a user reads what they answer.
            self.outputs.push_back(Output::Show(text));
        }
        if let Some((kind, asking)) = wanted {
            self.asked += 1;
            self.asking = Some((self.asked, asking));
            self.outputs.push_back(Output::Ask(self.asked, kind));
        }
        if self.phase == Phase::Over {
            self.outputs.push_back(Output::Over);
        }
    }
}

impl Machine for View {
    type Input<'a> = Input<'a>;
    type Output = Output;

    fn handle(&mut self, now: Instant, input: Input<'_>) -> Result<(), Misuse> {
        if now < self.now {
            return Err(Misuse::TimeReversed);
        }
        if self.phase == Phase::Over {
            return Err(Misuse::InputAfterExit);
        }
        if let Input::Line(id, _) = input {
            self.awaits(id)?;
        }
        self.now = now;
        match input {
            Input::Record(bytes) => {
                let mut scanner = std::mem::take(&mut self.scanner);
                let scanned = scanner.scan(bytes, &ScanLimits::DEFAULT);
                if let Some(record) = scanned.ok().and_then(Value::as_object) {
                    self.record(record);
                }
                self.scanner = scanner;
            }
            Input::Line(_, line) => self.line(line),
            Input::Interrupt { typed } => self.interrupt(typed),
            Input::Report(line) => self.screen.report(line),
            Input::Listed(listed) => self.listed(listed),
            Input::Columns(columns) => self.screen.resize(columns),
            Input::Ending => self.phase = Phase::Ending,
            Input::Gone => self.gone(),
            Input::Over => self.over(),
            #[cfg(test)]
            Input::Tick => {}
        }
        self.settle();
        Ok(())
    }

    fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        (!self.outputs.is_empty()).then_some(self.now)
    }

    fn wants(&self) -> Wants {
        Wants::NOTHING
    }
}
