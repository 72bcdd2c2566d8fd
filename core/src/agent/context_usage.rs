//! How full the model's context is (`get_context_usage`).

use super::AgentSession;
use super::catalog::raw;
use crate::json::RawJson;
use crate::model::{Block, Message};
use crate::schema::payload::{ContextCategory, ContextUsagePayload, McpToolUsage};
use crate::tool::{ToolContent, ToolSpec};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// Bytes of text that count as one token where no provider has counted.
const BYTES_PER_TOKEN: usize = 4;

impl AgentSession {
    /// Estimates by category. The newest answer's usage, which the provider
    /// counted, stands beside it as `apiUsage`.
    pub(super) fn context_usage(&self) -> RawJson {
        let system = self.config.system.as_deref().map_or(0, str::len);
        let tools = self.agent_loop.tools();
        let (remote, own): (Vec<_>, Vec<_>) =
            tools.iter().partition(|tool| self.is_mcp_tool(&tool.name));
        let own: usize = own.into_iter().map(tool_bytes).sum();
        let mcp_bytes: usize = remote.iter().map(|tool| tool_bytes(tool)).sum();
        let messages: usize = self
            .agent_loop
            .history()
            .iter()
            .map(|message| message_bytes(message))
            .sum();
        let mut categories = vec![
            category("System prompt", system, "promptBorder"),
            category("System tools", own, "inactive"),
            category("Messages", messages, "claude"),
        ];
        if !remote.is_empty() {
            categories.insert(2, category("MCP tools", mcp_bytes, "cyan"));
        }
        let usage = ContextUsagePayload::new(
            Arc::clone(&self.config.provider.model),
            self.config.provider.context_window,
            categories,
            false,
            self.agent_loop.last_usage(),
        );
        let remote = remote.into_iter().map(|tool| McpToolUsage {
            name: Arc::clone(&tool.name),
            server_name: self.mcp_server_of(&tool.name).unwrap_or_default(),
            tokens: tokens(tool_bytes(tool)),
        });
        raw(&usage.with_mcp_tools(remote.collect()))
    }
}

fn category(name: &str, bytes: usize, color: &str) -> ContextCategory {
    ContextCategory {
        name: name.into(),
        tokens: tokens(bytes),
        color: color.into(),
        is_deferred: None,
    }
}

const fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN) as u64
}

fn tool_bytes(tool: &ToolSpec) -> usize {
    tool.name.len() + tool.description.len() + tool.input_schema.as_str().len()
}

fn message_bytes(message: &Message) -> usize {
    match message {
        Message::User(parts) => parts.iter().map(alloc::string::String::len).sum(),
        Message::Assistant(blocks) => blocks.iter().map(block_bytes).sum(),
        Message::ToolResults(results) => {
            let content = results.iter().flat_map(|result| &result.content);
            content.map(|ToolContent::Text(text)| text.len()).sum()
        }
    }
}

fn block_bytes(block: &Block) -> usize {
    match block {
        Block::Text(text) | Block::Thinking { text, .. } => text.len(),
        Block::RedactedThinking { data } => data.len(),
        Block::ToolCall(call) => call.name.len() + call.input.as_str().len(),
    }
}
