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

mod answers;
mod catalog;
mod content;
mod elicit;
mod incoming;
mod names;
mod rpc;
#[cfg(test)]
mod tests;
mod text;
mod vocabulary;

pub use catalog::McpTool;
pub use elicit::{McpForm, McpQuestion, McpReply};
pub use names::{server_part, tool_names};
pub use vocabulary::{McpInput, McpOutput, McpSettings, McpState};

use crate::correlate::Recent;
use crate::json::{RawJson, Writer};
use crate::machine::{Machine, Misuse, Wants};
use crate::text::cut;
use crate::time::Instant;
use crate::tool::ToolOutcome;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use catalog::Listing;

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
        let why = self.settings.guard.redact(why);
        let why = cut(&why, self.settings.limits.tool_output_chars);
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
        let safe = self.settings.guard.redact(why);
        let shown = cut(&safe, self.settings.limits.mcp_error_chars);
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
