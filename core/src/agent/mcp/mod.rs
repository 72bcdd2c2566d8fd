//! MCP servers of the host: one client for each, and the requests that carry
//! what the client says.
//!
//! ```text
//! add, reconnect, toggle -> client: handshake, list of tools
//! client says            -> control_request mcp_message    <- its answer
//! host says              -> control_request of the host: the client's message
//! tools of all servers   -> offered to the model with the next request
//! ```
//!
//! The first request of a turn waits for servers that are starting (DEC-39).
//! What an interrupt ends is what the turn waits for: calls and questions to the
//! user. A handshake and a list are of the session, and go on (DEC-37).

mod calls;
mod messages;
mod operations;
mod tools;

pub(super) use calls::RemoteCalls;

use super::requests::Purpose;
use super::{AgentSession, Stage};
use crate::lazy::Empty;
use crate::machine::Machine as _;
use crate::mcp::{McpClient, McpInput, McpOutput, McpSettings, McpState, server_part};
use crate::schema::outbound::{McpServer, McpStatus};
use crate::schema::payload::McpServerStatus;
use crate::text::cut;
use crate::time::Instant;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use calls::Binding;

/// Why nothing can be sent to a server any more.
const ENDED: &str = "the input has ended, so that its host cannot be asked";

/// The servers of a session.
#[derive(Debug, Default)]
pub(super) struct McpBook {
    /// In the order in which they were added.
    servers: Vec<Server>,
    next_server: u64,
    next_call: u64,
    /// What clients said and nobody has acted on, oldest first.
    said: VecDeque<(u64, McpOutput)>,
    /// Whether somebody acts on that now.
    acting: bool,
    /// What the model calls tools by that it was offered last.
    bindings: BTreeMap<Arc<str>, Binding>,
    /// Whether tools have changed since.
    changed: bool,
    /// Whether the set of servers is being changed.
    setting: bool,
    /// Questions that were taken back, and whose servers are not told yet.
    unanswered: Vec<(u64, u64)>,
}

impl Empty for McpBook {
    const EMPTY: &'static Self = &Self {
        servers: Vec::new(),
        next_server: 0,
        next_call: 0,
        said: VecDeque::new(),
        acting: false,
        bindings: BTreeMap::new(),
        changed: false,
        setting: false,
        unanswered: Vec::new(),
    };
}

/// A server.
#[derive(Debug)]
struct Server {
    /// Never used again in a session.
    id: u64,
    name: Arc<str>,
    /// How it reads in names of tools; or why it can never be connected.
    part: Result<String, String>,
    /// How often it was connected.
    connections: u64,
    client: McpClient,
}

impl McpBook {
    fn server(&self, id: u64) -> Option<&Server> {
        self.servers.iter().find(|server| server.id == id)
    }

    fn named(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| *server.name == *name)
    }

    /// Whether a start is under way.
    fn is_starting(&self) -> bool {
        self.servers
            .iter()
            .any(|server| server.client.is_starting())
    }

    /// When a client wants to be woken.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let clients = self.servers.iter().map(|server| &server.client);
        clients.filter_map(McpClient::deadline).min()
    }

    /// Forgets everything; a closed output asks nobody.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

const fn status(state: &McpState) -> McpStatus {
    match state {
        McpState::Pending => McpStatus::Pending,
        McpState::Connected => McpStatus::Connected,
        McpState::Failed(_) => McpStatus::Failed,
        McpState::Disabled => McpStatus::Disabled,
    }
}

impl AgentSession {
    // ---- what is told of servers ----------------------------------------------------

    /// The servers as `system/init` lists them.
    pub(super) fn mcp_servers(&self) -> Vec<McpServer> {
        let servers = self.mcp.servers.iter().map(|server| McpServer {
            name: Arc::clone(&server.name),
            status: status(server.client.state()),
        });
        servers.collect()
    }

    /// The servers as `mcp_status` lists them.
    pub(super) fn mcp_statuses(&self) -> Vec<McpServerStatus> {
        let status = |server: &Server| McpServerStatus {
            name: Arc::clone(&server.name),
            status: status(server.client.state()),
            error: match server.client.state() {
                McpState::Failed(why) => Some(self.shown(why)),
                McpState::Pending | McpState::Connected | McpState::Disabled => None,
            },
        };
        self.mcp.servers.iter().map(status).collect()
    }

    /// Words of a server on one line, without credentials and places.
    fn shown(&self, text: &str) -> String {
        crate::text::one_line(&self.placeless(text))
    }

    // ---- clients --------------------------------------------------------------------

    /// Takes up the servers that the command line lists.
    pub(super) fn list_configured(&mut self) {
        let reference = self.config.profile.reference();
        let names = reference.map(|reference| reference.sdk_servers.clone());
        self.list_servers(names.unwrap_or_default());
    }

    /// Connects what is listed so far.
    pub(super) fn connect_configured(&mut self) {
        let ids: Vec<u64> = self.mcp.servers.iter().map(|server| server.id).collect();
        for id in ids {
            self.connect_server(id);
        }
    }

    /// Adds servers of the host that are not known yet, and connects them. Names
    /// that no server may have are shown as failed. Whether each can be had.
    pub(super) fn add_sdk_servers(&mut self, names: Vec<Arc<str>>) -> bool {
        let (new, listed) = self.list_servers(names);
        let mut accepted = listed;
        for id in new {
            accepted &= self.mcp.server(id).is_some_and(|new| new.part.is_ok());
            self.connect_server(id);
        }
        accepted
    }

    /// Takes up servers that are not known yet; gives the new ones, and whether
    /// none was left out.
    fn list_servers(&mut self, names: Vec<Arc<str>>) -> (Vec<u64>, bool) {
        let (mut new, mut faults) = (Vec::new(), Vec::new());
        for name in names {
            if self.mcp.named(&name).is_some() {
                continue;
            }
            match self.may_add(&name) {
                Ok(()) => new.push(self.add_server(name)),
                Err(fault) => faults.push(fault),
            }
        }
        let listed = faults.is_empty();
        self.warn_of_servers(faults.into_iter());
        (new, listed)
    }

    /// Tells why servers cannot be had; of many only the first.
    pub(super) fn warn_of_servers(&mut self, mut faults: impl ExactSizeIterator<Item = String>) {
        let count = faults.len();
        match faults.next() {
            Some(fault) if count == 1 => self.warn(fault),
            Some(fault) => self.warn(format!(
                "{count} MCP servers were left out; the first: {fault}"
            )),
            None => {}
        }
    }

    /// Whether a server of that name can be listed at all.
    fn may_add(&self, name: &str) -> Result<(), String> {
        let most = self.config.limits.mcp_servers;
        if self.mcp.servers.len() >= most {
            return Err(format!("a session has {most} MCP servers at most"));
        }
        let chars = self.config.limits.mcp_server_name_chars;
        if name.chars().count() > chars {
            return Err(format!(
                "the name of an MCP server is longer than {chars} characters: {:?}",
                cut(&self.placeless(name), chars)
            ));
        }
        if self.placeless(name) != name {
            return Err(
                "the name of an MCP server holds a credential or where a provider stands".into(),
            );
        }
        Ok(())
    }

    /// The part of that server in names of tools, which no other server has.
    fn part_of(&self, name: &str) -> Result<String, String> {
        let part = server_part(name, self.config.limits.mcp_server_name_chars)?;
        let alike = |server: &&Server| server.part.as_ref() == Ok(&part);
        match self.mcp.servers.iter().find(alike) {
            Some(other) => Err(format!(
                "in names of tools, this MCP server reads like {:?}",
                other.name
            )),
            None => Ok(part),
        }
    }

    fn add_server(&mut self, name: Arc<str>) -> u64 {
        let part = self.part_of(&name);
        let id = self.mcp.next_server;
        self.mcp.next_server = id.saturating_add(1);
        let limits = self.config.limits;
        let client = McpClient::new(McpSettings {
            name: Arc::clone(&name),
            version: self.config.version.as_str().into(),
            request_timeout: limits.mcp_message_timeout,
            start_timeout: limits.mcp_start_timeout,
            guard: self.config.credentials.clone(),
            limits,
        });
        self.mcp.servers.push(Server {
            id,
            name,
            part,
            connections: 0,
            client,
        });
        id
    }

    /// Connects a server, anew where it was connected.
    fn connect_server(&mut self, id: u64) {
        let server = self.mcp.servers.iter_mut().find(|server| server.id == id);
        let Some(server) = server else { return };
        let input = match &server.part {
            Ok(_) => {
                server.connections = server.connections.saturating_add(1);
                McpInput::Connect
            }
            Err(fault) => McpInput::Close(fault.clone()),
        };
        self.tell_server(id, input);
    }

    /// Feeds a client, and acts on what it says, unless that is done already
    /// further out.
    fn tell_server(&mut self, id: u64, input: McpInput) {
        let book = &mut *self.mcp;
        let server = book.servers.iter_mut().find(|server| server.id == id);
        let Some(server) = server else { return };
        // A client refuses only an answer to what it never asked.
        if server.client.handle(self.now, input).is_err() {
            return;
        }
        while let Some(output) = server.client.poll() {
            book.said.push_back((id, output));
        }
        if !core::mem::replace(&mut self.mcp.acting, true) {
            while let Some((id, output)) = self.mcp.said.pop_front() {
                self.act_for_server(id, output);
            }
            self.mcp.acting = false;
        }
    }

    fn act_for_server(&mut self, server: u64, output: McpOutput) {
        match output {
            McpOutput::Send { request, message } => self.send_to_server(server, request, message),
            McpOutput::Abandon { request } => self.take_back(&|purpose| {
                matches!(purpose, Purpose::Mcp { server: of, request: Some(id), .. }
                    if *of == server && *id == request)
            }),
            McpOutput::State(state) => {
                // Nobody needs to be told that a host that has left answers no more.
                if let (McpState::Failed(why), Some(of)) = (state, self.mcp.server(server))
                    && self.stage == Stage::Open
                {
                    let text = format!("MCP server {:?} failed: {why}", of.name);
                    self.warn(text);
                }
                self.go_on_after_start();
            }
            McpOutput::Tools => {
                self.mcp.changed = true;
                if self.turn.is_none() {
                    self.offer_mcp_tools();
                }
            }
            McpOutput::Called {
                call,
                outcome,
                structured,
            } => self.mcp_called(call, outcome, structured),
            McpOutput::Ask { question, asked } => self.ask_for_server(server, question, asked),
            McpOutput::Withdraw { question } => self.take_back(&|purpose| {
                matches!(purpose, Purpose::Elicitation { server: of, question: id }
                    if *of == server && *id == question)
            }),
            McpOutput::Completed { id } => self.tell_completed(server, &id),
            McpOutput::Warning(text) => self.warn(text),
        }
    }

    /// Wakes the clients whose time has come.
    pub(super) fn tick_servers(&mut self) {
        let now = self.now;
        let due = |server: &&Server| server.client.deadline().is_some_and(|due| due <= now);
        let due: Vec<u64> = self
            .mcp
            .servers
            .iter()
            .filter(due)
            .map(|server| server.id)
            .collect();
        if due.is_empty() {
            return;
        }
        for id in due {
            self.tell_server(id, McpInput::Tick);
        }
        // As after a tick, so that one before this input changes nothing (law 3).
        self.next_turn();
        self.store_waiting();
    }

    /// The host cannot be asked any more: what waits for a server has failed
    /// (DEC-37).
    pub(super) fn close_servers(&mut self) {
        let ids: Vec<u64> = self.mcp.servers.iter().map(|server| server.id).collect();
        for id in ids {
            let state = self.mcp.server(id).map(|server| server.client.state());
            if state.is_some_and(|state| !matches!(state, McpState::Failed(_) | McpState::Disabled))
            {
                self.tell_server(id, McpInput::Close(ENDED.into()));
            }
        }
    }
}
