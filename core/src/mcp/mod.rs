//! An MCP client, one for each server: handshake, list of tools, calls, and what
//! a server asks.
//!
//! It knows JSON-RPC and nothing of what carries it. Whoever holds it passes
//! messages on both ways, and for each request tells its answer, or that none
//! will come; where a transport does not pair answers with requests, it does
//! that by their ids. Nothing is tried twice (RT-MCPS-019).
//!
//! ```text
//!          connect            initialize, list of tools answered
//!  idle -----------> pending ------------------------------------> connected
//!                    ^  |  \                                       |   |   ^
//!           connect  |  |   +-- refused, malformed, too late --+   |   +---+ list changed
//!                    |  |                                      v   v
//!                    +--+------------------------------------ failed
//!                       +--- switched off ---> disabled
//! ```
//!
//! Requests are effects: each has an id that is never used again, and ends by one
//! answer or is given up ([`McpOutput::Abandon`]). A list of tools that changes is
//! fetched anew, and calls go on meanwhile.

mod catalog;
mod content;
mod elicit;
mod names;
mod rpc;
#[cfg(test)]
mod tests;
mod text;

pub use catalog::McpTool;
pub use elicit::{McpForm, McpQuestion, McpReply};
pub use names::{server_part, tool_names};
pub(crate) use text::cut;

use crate::correlate::Recent;
use crate::json::{Object, RawJson, Value, Writer};
use crate::limits::Limits;
use crate::machine::{Machine, Misuse, Wants};
use crate::time::Instant;
use crate::tool::ToolOutcome;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use catalog::Listing;
use core::time::Duration;

/// The version of the protocol that is asked for.
const ASKED_VERSION: &str = "2025-11-25";

/// The versions that are spoken (RT-MCPS-012).
const VERSIONS: [&str; 4] = [ASKED_VERSION, "2025-06-18", "2025-03-26", "2024-11-05"];

/// The name that a client tells of itself.
const CLIENT: &str = "agentx";

/// Requests given up whose late answer may still come, at most.
const REMEMBERED_REQUESTS: usize = 1_024;

/// Questions to be answered elsewhere whose end may still be told, at most.
const REMEMBERED_QUESTIONS: usize = 256;

/// What a client is made of; fixed for its life.
#[derive(Clone, Debug)]
pub struct McpSettings {
    /// Name of the server, for texts.
    pub name: Arc<str>,
    /// Version of the product, which the server is told.
    pub version: Arc<str>,
    /// How long a request waits for its answer (DEC-48).
    pub request_timeout: Duration,
    /// How long handshake and first list of tools may take (DEC-39).
    pub start_timeout: Duration,
    /// Bounds.
    pub limits: Limits,
}

/// What a client is fed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpInput {
    /// Time passed.
    Tick,
    /// Begin the handshake. What is connected is disconnected before.
    Connect,
    /// Switch the server off.
    Disable,
    /// The server is gone for good; why.
    Close(String),
    /// What came as the answer to a request.
    Answer {
        /// The request.
        request: u64,
        /// The message, whatever it says.
        message: RawJson,
    },
    /// No answer to a request will come; why.
    Failed {
        /// The request.
        request: u64,
        /// Why.
        why: String,
    },
    /// A message that the server sends by itself.
    Message(RawJson),
    /// Run a tool. Ends by [`McpOutput::Called`].
    Call {
        /// Name of this call, for its end; not used by another open one.
        call: u64,
        /// Name of the tool, at the server.
        tool: Arc<str>,
        /// Its input, an object.
        input: RawJson,
    },
    /// Nobody waits for this call any more; its end is not told.
    Forget {
        /// The call.
        call: u64,
    },
    /// The user answered a question of the server.
    Reply {
        /// The question; one that was taken back changes nothing.
        question: u64,
        /// What the user said.
        reply: McpReply,
    },
}

/// What a client asks for or tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpOutput {
    /// Send this message.
    Send {
        /// The request that it is; `None` for one that nothing answers.
        request: Option<u64>,
        /// The message.
        message: RawJson,
    },
    /// An answer to this request is not waited for any more.
    Abandon {
        /// The request.
        request: u64,
    },
    /// The state changed.
    State(McpState),
    /// The list of tools changed, see [`McpClient::tools`].
    Tools,
    /// A call ended.
    Called {
        /// The call.
        call: u64,
        /// What the model is told.
        outcome: ToolOutcome,
        /// The structured content, where there is some.
        structured: Option<RawJson>,
    },
    /// The server asks its user. Ends by [`McpInput::Reply`], or is taken back.
    Ask {
        /// Name of this question.
        question: u64,
        /// The question.
        asked: McpQuestion,
    },
    /// A question is taken back.
    Withdraw {
        /// The question.
        question: u64,
    },
    /// A question was answered elsewhere.
    Completed {
        /// The server's id of it.
        id: String,
    },
    /// The server did something that is wrong and did no harm.
    Warning(String),
}

/// How a server stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpState {
    /// Nothing was begun, or it is not ready yet.
    Pending,
    /// Its tools can be called.
    Connected,
    /// It failed; why.
    Failed(String),
    /// It is switched off.
    Disabled,
}

#[derive(Debug)]
struct Pending {
    purpose: Purpose,
    due: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Initialize,
    List,
    Call(u64),
}

/// The client of one MCP server.
#[derive(Debug)]
pub struct McpClient {
    settings: McpSettings,
    now: Instant,
    state: McpState,
    /// When a start that is under way has taken too long.
    start_due: Option<Instant>,
    next_request: u64,
    pending: BTreeMap<u64, Pending>,
    given_up: VecDeque<u64>,
    tools: Arc<[McpTool]>,
    listing: Option<Listing>,
    /// Whether the list changed while it was fetched.
    list_is_old: bool,
    next_question: u64,
    /// Open questions, by the server's ids of the requests.
    questions: BTreeMap<u64, RawJson>,
    /// Questions that are answered elsewhere.
    elsewhere: Recent,
    out: VecDeque<McpOutput>,
}

impl McpClient {
    /// A client that has begun nothing (RT-MCPS-002).
    #[must_use]
    pub fn new(settings: McpSettings) -> Self {
        Self {
            settings,
            now: Instant::ZERO,
            state: McpState::Pending,
            start_due: None,
            next_request: 0,
            pending: BTreeMap::new(),
            given_up: VecDeque::new(),
            tools: Arc::new([]),
            listing: None,
            list_is_old: false,
            next_question: 0,
            questions: BTreeMap::new(),
            elsewhere: Recent::new(REMEMBERED_QUESTIONS),
            out: VecDeque::new(),
        }
    }

    /// How the server stands.
    #[must_use]
    pub const fn state(&self) -> &McpState {
        &self.state
    }

    /// Whether its start is under way.
    #[must_use]
    pub const fn is_starting(&self) -> bool {
        self.start_due.is_some()
    }

    /// Its tools; none unless it is connected.
    #[must_use]
    pub const fn tools(&self) -> &Arc<[McpTool]> {
        &self.tools
    }

    /// The call that an open request is for.
    #[must_use]
    pub fn call_of(&self, request: u64) -> Option<u64> {
        match self.pending.get(&request)?.purpose {
            Purpose::Call(call) => Some(call),
            Purpose::Initialize | Purpose::List => None,
        }
    }

    // ---- requests -------------------------------------------------------------------

    fn request(&mut self, purpose: Purpose, method: &str, params: impl FnOnce(&mut Writer)) {
        let id = self.next_request;
        self.next_request = id.saturating_add(1);
        let due = self.now.after(self.settings.request_timeout);
        self.pending.insert(id, Pending { purpose, due });
        self.out.push_back(McpOutput::Send {
            request: Some(id),
            message: rpc::request(id, method, params),
        });
    }

    fn send(&mut self, message: RawJson) {
        self.out.push_back(McpOutput::Send {
            request: None,
            message,
        });
    }

    /// Gives a request up; what it was for.
    fn give_up(&mut self, request: u64) -> Option<Purpose> {
        let pending = self.pending.remove(&request)?;
        if self.given_up.len() == REMEMBERED_REQUESTS {
            self.given_up.pop_front();
        }
        self.given_up.push_back(request);
        self.out.push_back(McpOutput::Abandon { request });
        Some(pending.purpose)
    }

    /// Refuses news of a request that cannot have any; nothing changes.
    fn check(&self, input: &McpInput) -> Result<(), Misuse> {
        let (McpInput::Answer { request, .. } | McpInput::Failed { request, .. }) = input else {
            return Ok(());
        };
        if self.pending.contains_key(request) || self.given_up.contains(request) {
            Ok(())
        } else if *request < self.next_request {
            Err(Misuse::EffectSettledTwice)
        } else {
            Err(Misuse::UnknownEffect)
        }
    }

    /// Takes a request whose answer came; `None` if that is late.
    fn settle(&mut self, request: u64) -> Option<Purpose> {
        self.given_up.retain(|late| *late != request);
        self.pending.remove(&request).map(|pending| pending.purpose)
    }

    /// Gives up what is due.
    fn expire(&mut self) {
        let now = self.now;
        if self.start_due.is_some_and(|due| due <= now) {
            let span = self.settings.start_timeout;
            self.fail(&format!("it was not ready within {span:?}"));
        }
        let due = self
            .pending
            .iter()
            .filter(|(_, pending)| pending.due <= now);
        let due: Vec<u64> = due.map(|(id, _)| *id).collect();
        for request in due {
            if let Some(purpose) = self.give_up(request) {
                let span = self.settings.request_timeout;
                self.unanswered(purpose, &format!("it did not answer within {span:?}"));
            }
        }
    }

    /// A request has no answer that could be used.
    fn unanswered(&mut self, purpose: Purpose, why: &str) {
        match purpose {
            Purpose::Initialize | Purpose::List => self.fail(why),
            Purpose::Call(call) => self.call_failed(call, why),
        }
    }

    fn call_failed(&mut self, call: u64, why: &str) {
        let name = &self.settings.name;
        let why = cut(why, self.settings.limits.tool_output_chars);
        let outcome = ToolOutcome::error(format!("MCP server {name:?} failed: {why}."));
        self.out.push_back(McpOutput::Called {
            call,
            outcome,
            structured: None,
        });
    }

    // ---- states ---------------------------------------------------------------------

    fn connect(&mut self) {
        self.leave("it is connected anew", McpState::Pending);
        self.start_due = Some(self.now.after(self.settings.start_timeout));
        let version = Arc::clone(&self.settings.version);
        self.request(Purpose::Initialize, "initialize", |w| {
            w.member_str("protocolVersion", ASKED_VERSION);
            w.key("capabilities");
            w.begin_object();
            w.key("elicitation");
            w.begin_object();
            for form in ["form", "url"] {
                w.member_raw(form, &RawJson::empty_object());
            }
            w.end_object();
            w.end_object();
            w.key("clientInfo");
            w.begin_object();
            w.member_str("name", CLIENT);
            w.member_str("version", &version);
            w.end_object();
        });
    }

    fn fail(&mut self, why: &str) {
        let shown = cut(why, self.settings.limits.mcp_error_chars);
        self.leave(why, McpState::Failed(shown.into_owned()));
    }

    /// Ends whatever is open with the server. Calls come last: what goes on once
    /// they have ended finds the new state.
    fn leave(&mut self, why: &str, state: McpState) {
        self.start_due = None;
        self.listing = None;
        self.list_is_old = false;
        let open: Vec<u64> = self.pending.keys().copied().collect();
        let ended: Vec<_> = open.into_iter().filter_map(|id| self.give_up(id)).collect();
        for question in core::mem::take(&mut self.questions).into_keys() {
            self.out.push_back(McpOutput::Withdraw { question });
        }
        self.elsewhere = Recent::new(REMEMBERED_QUESTIONS);
        self.set_tools(Arc::new([]));
        self.set_state(state);
        for purpose in ended {
            if let Purpose::Call(call) = purpose {
                self.call_failed(call, why);
            }
        }
    }

    fn set_state(&mut self, state: McpState) {
        if self.state != state {
            self.state = state.clone();
            self.out.push_back(McpOutput::State(state));
        }
    }

    fn set_tools(&mut self, tools: Arc<[McpTool]>) {
        if self.tools != tools {
            self.tools = tools;
            self.out.push_back(McpOutput::Tools);
        }
    }

    /// Whether messages of the server are taken.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.start_due.is_some() || matches!(self.state, McpState::Connected)
    }

    // ---- answers --------------------------------------------------------------------

    fn answered(&mut self, request: u64, message: &RawJson) {
        let Some(purpose) = self.settle(request) else {
            return;
        };
        let chars = self.settings.limits.tool_output_chars;
        let read = rpc::with(message, |value| {
            match rpc::answer(value, request, chars)? {
                Ok(result) => self.result(purpose, result)?,
                Err(error) => self.unanswered(purpose, &error),
            }
            Ok(())
        });
        if let Err(fault) = read {
            self.unanswered(purpose, &format!("its answer is malformed: {fault}"));
        }
    }

    /// Takes a result.
    ///
    /// # Errors
    ///
    /// What is wrong with it; then nothing has changed.
    fn result(&mut self, purpose: Purpose, result: Object<'_>) -> Result<(), String> {
        match purpose {
            Purpose::Initialize => self.initialized(result),
            Purpose::List => self.listed(result),
            Purpose::Call(call) => {
                let limits = &self.settings.limits;
                let (blocks, chars) = (limits.mcp_content_blocks, limits.tool_output_chars);
                let (outcome, structured) = content::outcome(result, blocks, chars)?;
                self.out.push_back(McpOutput::Called {
                    call,
                    outcome,
                    structured,
                });
                Ok(())
            }
        }
    }

    fn initialized(&mut self, result: Object<'_>) -> Result<(), String> {
        let version = result.get("protocolVersion").and_then(Value::as_str);
        let version = version.ok_or("it names no version of the protocol")?;
        if !VERSIONS.iter().any(|known| version == **known) {
            return Err("it speaks a version of the protocol that is not known here".to_string());
        }
        let capabilities = result.get("capabilities").and_then(Value::as_object);
        let capabilities = capabilities.ok_or("it names no capabilities")?;
        let has_tools = capabilities.get("tools").is_some();
        self.send(rpc::notification("notifications/initialized"));
        if has_tools {
            self.list();
        } else {
            self.ready(Arc::new([]));
        }
        Ok(())
    }

    fn list(&mut self) {
        self.list_is_old = false;
        self.listing = Some(Listing::default());
        self.request(Purpose::List, "tools/list", |_| {});
    }

    fn listed(&mut self, result: Object<'_>) -> Result<(), String> {
        let Some(listing) = &mut self.listing else {
            return Ok(());
        };
        if let Some(cursor) = listing.page(result, &self.settings.limits)? {
            self.request(Purpose::List, "tools/list", |w| {
                w.member_str("cursor", &cursor);
            });
            return Ok(());
        }
        let (tools, left_out) = self.listing.take().unwrap_or_default().finish();
        if let Some(text) = left_out {
            self.warn(&text);
        }
        self.ready(tools);
        if self.list_is_old {
            self.list();
        }
        Ok(())
    }

    fn ready(&mut self, tools: Arc<[McpTool]>) {
        self.start_due = None;
        self.set_tools(tools);
        self.set_state(McpState::Connected);
    }

    // ---- what the server sends by itself --------------------------------------------

    fn message(&mut self, message: &RawJson) {
        if !self.is_open() {
            return self.warn("it sent a message while it is not connected");
        }
        let read = rpc::with(message, |value| {
            rpc::sent(value, |sent| {
                match sent.id.map(RawJson::from_value) {
                    Some(id) => self.asked(id, sent),
                    None => self.notified(sent),
                }
                Ok(())
            })
        });
        if let Err(fault) = read {
            self.warn(&format!("a message of it was ignored: {fault}"));
        }
    }

    fn asked(&mut self, id: RawJson, sent: rpc::Sent<'_>) {
        let refused = match sent.method {
            "ping" => return self.send(rpc::reply(&id, |_| {})),
            "elicitation/create" if self.questions.values().any(|open| *open == id) => {
                // An answer now would be taken for that of the open one.
                return self.warn("it used the id of an open question once more");
            }
            "elicitation/create" if self.questions.len() >= self.settings.limits.mcp_questions => {
                (rpc::OVERLOADED, "too many questions are open".to_string())
            }
            "elicitation/create" => match elicit::question(sent.params) {
                Ok(asked) => return self.ask(id, asked),
                Err(fault) => (rpc::INVALID_PARAMS, fault),
            },
            _ => (rpc::METHOD_NOT_FOUND, "method not found".to_string()),
        };
        self.send(rpc::refusal(&id, refused.0, &refused.1));
    }

    fn ask(&mut self, id: RawJson, asked: McpQuestion) {
        if let McpForm::Url { id, .. } = &asked.form {
            self.elsewhere.insert(id.as_str().into());
        }
        let question = self.next_question;
        self.next_question = question.saturating_add(1);
        self.questions.insert(question, id);
        self.out.push_back(McpOutput::Ask { question, asked });
    }

    fn notified(&mut self, sent: rpc::Sent<'_>) {
        let params = sent.params;
        match sent.method {
            "notifications/tools/list_changed" if self.listing.is_some() => {
                self.list_is_old = true;
            }
            "notifications/tools/list_changed" if self.state == McpState::Connected => self.list(),
            "notifications/cancelled" => {
                let id = params.and_then(|params| params.get("requestId"));
                let id = id.map(RawJson::from_value);
                let of = |(question, open): (&u64, &RawJson)| {
                    (Some(open) == id.as_ref()).then_some(*question)
                };
                if let Some(question) = self.questions.iter().find_map(of) {
                    self.questions.remove(&question);
                    self.out.push_back(McpOutput::Withdraw { question });
                }
            }
            "notifications/elicitation/complete" => {
                let id = params.and_then(|params| elicit::string(params, "elicitationId").ok());
                if let Some(id) = id.filter(|id| self.elsewhere.contains(id)) {
                    let id = id.into_owned();
                    self.elsewhere.remove(&id);
                    self.out.push_back(McpOutput::Completed { id });
                }
            }
            // Progress, log and whatever else is told only (RT-MCPS-032).
            _ => {}
        }
    }

    fn reply(&mut self, question: u64, reply: &McpReply) {
        if let Some(id) = self.questions.remove(&question) {
            let message = reply.message(&id);
            self.send(message);
        }
    }

    fn warn(&mut self, text: &str) {
        let name = &self.settings.name;
        let text = format!("MCP server {name:?}: {text}");
        self.out.push_back(McpOutput::Warning(text));
    }

    // ---- calls ----------------------------------------------------------------------

    fn call(&mut self, call: u64, tool: &str, input: &RawJson) {
        if self.state != McpState::Connected {
            return self.call_failed(call, "it is not connected");
        }
        self.request(Purpose::Call(call), "tools/call", |w| {
            w.member_str("name", tool);
            w.member_raw("arguments", input);
        });
    }

    fn forget(&mut self, call: u64) {
        let of = |(request, pending): (&u64, &Pending)| {
            (pending.purpose == Purpose::Call(call)).then_some(*request)
        };
        if let Some(request) = self.pending.iter().find_map(of) {
            self.give_up(request);
        }
    }
}

impl Machine for McpClient {
    type Input<'a> = McpInput;
    type Output = McpOutput;

    fn handle(&mut self, now: Instant, input: McpInput) -> Result<(), Misuse> {
        if now < self.now {
            return Err(Misuse::TimeReversed);
        }
        self.check(&input)?;
        self.now = now;
        // What is due was due before this input, which may be its answer.
        self.expire();
        match input {
            McpInput::Tick => {}
            McpInput::Connect => self.connect(),
            McpInput::Disable => self.leave("it was switched off", McpState::Disabled),
            McpInput::Close(why) => self.fail(&why),
            McpInput::Answer { request, message } => self.answered(request, &message),
            McpInput::Failed { request, why } => {
                if let Some(purpose) = self.settle(request) {
                    self.unanswered(purpose, &why);
                }
            }
            McpInput::Message(message) => self.message(&message),
            McpInput::Call { call, tool, input } => self.call(call, &tool, &input),
            McpInput::Forget { call } => self.forget(call),
            McpInput::Reply { question, reply } => self.reply(question, &reply),
        }
        Ok(())
    }

    fn poll(&mut self) -> Option<McpOutput> {
        self.out.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        if !self.out.is_empty() {
            return Some(self.now);
        }
        let requests = self.pending.values().map(|pending| pending.due);
        requests.chain(self.start_due).min()
    }

    fn wants(&self) -> Wants {
        Wants::NOTHING
    }
}
