//! What servers offer, as the model is offered it.

use super::super::AgentSession;
use super::calls::Binding;
use crate::mcp::{McpTool, tool_names};
use crate::tool::{Background, ToolClass, ToolSpec};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

impl AgentSession {
    /// Offers the model what the servers have now, if that has changed. Only
    /// where no call is open, which must not see another tool than the model did
    /// (RT-MCPS-007, RT-MCPS-021).
    pub(in crate::agent) fn offer_mcp_tools(&mut self) {
        let mcp = self.mcp.made();
        if !mcp.is_some_and(|mcp| core::mem::take(&mut mcp.changed)) {
            return;
        }
        let mut bindings = BTreeMap::new();
        let mut specs = Vec::new();
        let mut left_out = Vec::new();
        for server in &self.mcp.servers {
            let Ok(part) = &server.part else { continue };
            let tools = server.client.tools();
            let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
            for (tool, name) in tools.iter().zip(tool_names(part, &names)) {
                let name = name.filter(|name| self.placeless(name) == **name);
                match name {
                    Some(name) if !self.has_own_tool(&name) => {
                        specs.push(spec(Arc::clone(&name), tool));
                        let binding = Binding::new(server.id, server.connections, tool.clone());
                        bindings.insert(name, binding);
                    }
                    _ => left_out.push(format!(
                        "tool {:?} of MCP server {:?} is not offered: its name is taken or holds a \
                         credential",
                        tool.name, server.name
                    )),
                }
            }
        }
        self.mcp.bindings = bindings;
        self.agent_loop.offer_remote(specs);
        self.tools_changed();
        for text in left_out {
            self.warn(text);
        }
    }

    /// Whether a tool of that name is offered that is no server's.
    fn has_own_tool(&self, name: &str) -> bool {
        self.agent_loop.tool(name).is_some() && !self.mcp.bindings.contains_key(name)
    }
}

/// How a tool of a server is offered. What it says of itself permits nothing
/// (RT-MCPS-010): it counts as one that may do anything.
fn spec(name: Arc<str>, tool: &McpTool) -> ToolSpec {
    ToolSpec {
        name,
        description: Arc::clone(&tool.description),
        input_schema: tool.input_schema.clone(),
        class: ToolClass::Execute,
        path_member: None,
        parallel: tool.reads_only,
        background: Background::Never,
    }
}
