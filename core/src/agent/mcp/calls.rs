//! Calls of tools of MCP servers, and the request that waits for servers.

use super::super::AgentSession;
use super::super::requests::Purpose;
use super::super::tasks::Beat;
use crate::agent_loop::LoopInput;
use crate::json::RawJson;
use crate::mcp::{McpInput, McpReply, McpState, McpTool};
use crate::model::ModelRequest;
use crate::structured::OutputSchema;
use crate::time::Instant;
use crate::tool::{ToolCall, ToolOutcome};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use core::time::Duration;

/// What a name stands for that the model was offered.
#[derive(Debug)]
pub(super) struct Binding {
    server: u64,
    /// Which connection of it.
    connection: u64,
    tool: McpTool,
}

impl Binding {
    pub(super) const fn new(server: u64, connection: u64, tool: McpTool) -> Self {
        Self {
            server,
            connection,
            tool,
        }
    }
}

/// Calls at servers, of one turn.
#[derive(Debug, Default)]
pub(in crate::agent) struct RemoteCalls {
    open: BTreeMap<u64, RemoteCall>,
    /// The first request of the turn, while it waits for servers (DEC-39).
    request: Option<Box<ModelRequest>>,
}

#[derive(Debug)]
struct RemoteCall {
    server: u64,
    place: usize,
    beat: Beat,
    /// What its structured content has to fit.
    schema: Option<OutputSchema>,
}

impl RemoteCalls {
    /// When a call is to be told of next.
    pub(in crate::agent) fn next_progress(&self) -> Option<Instant> {
        self.open.values().map(|call| call.beat.next()).min()
    }

    /// Places of the calls that are to be told of now, and how long each has run.
    pub(in crate::agent) fn due_progress(
        &mut self,
        now: Instant,
        every: Duration,
    ) -> impl Iterator<Item = (usize, Duration)> {
        let due = self.open.values_mut();
        due.filter_map(move |call| Some((call.place, call.beat.due(now, every)?)))
    }
}

impl AgentSession {
    /// Whether a call is of a server's tool.
    pub(in crate::agent) fn is_mcp_tool(&self, name: &str) -> bool {
        self.mcp.bindings.contains_key(name)
    }

    /// The name of the server that a tool is of.
    pub(in crate::agent) fn mcp_server_of(&self, name: &str) -> Option<Arc<str>> {
        let server = self.mcp.bindings.get(name)?.server;
        Some(Arc::clone(&self.mcp.server(server)?.name))
    }

    /// Runs a call of a server's tool; gives its result if it cannot run.
    pub(in crate::agent) fn run_mcp_tool(
        &mut self,
        place: usize,
        call: &ToolCall,
    ) -> Option<LoopInput> {
        let (server, tool, schema) = match self.bound(&call.name) {
            Ok((server, tool)) => (server, Arc::clone(&tool.name), tool.output_schema.clone()),
            Err(text) => {
                let outcome = ToolOutcome::error(text);
                return Some(LoopInput::Settle { place, outcome });
            }
        };
        let id = self.mcp.next_call;
        self.mcp.next_call = id.saturating_add(1);
        let beat = Beat::new(self.now, self.config.limits.progress_every);
        if let Some(turn) = &mut self.turn {
            let call = RemoteCall {
                server,
                place,
                beat,
                schema,
            };
            turn.remote.open.insert(id, call);
        }
        let input = call.input.clone();
        self.tell_server(
            server,
            McpInput::Call {
                call: id,
                tool,
                input,
            },
        );
        None
    }

    /// The server and its tool behind a name, if they still are what the model
    /// was offered (RT-MCPS-007).
    fn bound(&self, name: &str) -> Result<(u64, &McpTool), String> {
        let binding = self.mcp.bindings.get(name);
        let server = binding.and_then(|binding| self.mcp.server(binding.server));
        let (Some(binding), Some(server)) = (binding, server) else {
            return Err("The MCP server of this tool was removed.".to_string());
        };
        if *server.client.state() != McpState::Connected {
            return Err(format!("MCP server {:?} is not connected.", server.name));
        }
        let tools = server.client.tools();
        if server.connections != binding.connection || !tools.contains(&binding.tool) {
            return Err(format!(
                "MCP server {:?} has changed this tool since it was offered.",
                server.name
            ));
        }
        Ok((server.id, &binding.tool))
    }

    /// A call at a server has ended. What it says is held against what the tool
    /// declares, unless it says that it failed (RT-MCPS-015, RT-MCPS-027).
    pub(super) fn mcp_called(
        &mut self,
        call: u64,
        outcome: ToolOutcome,
        structured: Option<RawJson>,
    ) {
        let turn = self.turn.as_mut();
        let Some(call) = turn.and_then(|turn| turn.remote.open.remove(&call)) else {
            return;
        };
        let (Some(schema), false) = (call.schema, outcome.is_error) else {
            return self.call_ended(call.place, outcome);
        };
        let most = self.config.limits.structured_bytes;
        let fault = match structured {
            None => "it is missing".to_string(),
            Some(value) if value.as_str().len() > most => format!("it is over {most} bytes"),
            Some(value) => return self.check_outcome(call.place, schema, value, outcome),
        };
        let text = format!("The structured content of this result cannot be used: {fault}.");
        self.call_ended(call.place, ToolOutcome::error(text));
    }

    // ---- the start ------------------------------------------------------------------

    /// Keeps the first request of a turn while servers are starting (DEC-39);
    /// else gives it back.
    pub(in crate::agent) fn wait_for_servers(
        &mut self,
        request: Box<ModelRequest>,
    ) -> Option<Box<ModelRequest>> {
        if request.round > 0 || !self.mcp.is_starting() {
            return Some(request);
        }
        let turn = self.turn.as_mut()?;
        turn.remote.request = Some(request);
        None
    }

    /// Goes on with the request that waited, once no server is starting.
    pub(super) fn go_on_after_start(&mut self) {
        if self.mcp.setting || self.mcp.is_starting() {
            return;
        }
        let turn = self.turn.as_mut();
        if let Some(request) = turn.and_then(|turn| turn.remote.request.take()) {
            self.ask_model(request);
        }
    }

    // ---- endings --------------------------------------------------------------------

    /// A message or question of a server was taken back.
    pub(in crate::agent) fn server_withdrawn(&mut self, purpose: &Purpose) {
        match *purpose {
            Purpose::Elicitation { server, question } => {
                self.mcp.unanswered.push((server, question));
            }
            Purpose::Mcp {
                server,
                call: Some(call),
                ..
            } => self.tell_server(server, McpInput::Forget { call }),
            Purpose::Mcp { call: None, .. } | Purpose::Question(_) | Purpose::Hook(_) => {}
        }
    }

    /// Tells servers that their questions were taken back.
    pub(in crate::agent) fn answer_withdrawn(&mut self) {
        let mcp = self.mcp.made();
        let unanswered = mcp.map(|mcp| core::mem::take(&mut mcp.unanswered));
        for (server, question) in unanswered.unwrap_or_default() {
            let reply = McpReply::Cancel;
            self.tell_server(server, McpInput::Reply { question, reply });
        }
    }

    /// Gives up whatever the turn has at servers.
    pub(in crate::agent) fn drop_remote_calls(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        for (call, remote) in core::mem::take(&mut turn.remote).open {
            self.tell_server(remote.server, McpInput::Forget { call });
        }
    }
}
