//! How full the model's context is (`get_context_usage`).

use super::AgentSession;
use super::catalog::raw;
use crate::json::RawJson;
use crate::model::{Block, Message};
use crate::schema::payload::{ContextCategory, ContextUsagePayload};
use crate::tool::{ToolContent, ToolSpec};
use alloc::sync::Arc;
use alloc::vec;

/// Bytes of text that count as one token where no provider has counted.
const BYTES_PER_TOKEN: usize = 4;

impl AgentSession {
    /// Estimates by category. The newest answer's usage, which the provider
    /// counted, stands beside it as `apiUsage`.
    pub(super) fn context_usage(&self) -> RawJson {
        let system = self.config.system.as_deref().map_or(0, str::len);
        let tools: usize = self.agent_loop.tools().iter().map(tool_bytes).sum();
        let messages: usize = self
            .agent_loop
            .history()
            .iter()
            .map(|message| message_bytes(message))
            .sum();
        let categories = vec![
            category("System prompt", system, "promptBorder"),
            category("System tools", tools, "inactive"),
            category("Messages", messages, "claude"),
        ];
        raw(&ContextUsagePayload::new(
            Arc::clone(&self.config.provider.model),
            self.config.provider.context_window,
            categories,
            false,
            self.agent_loop.last_usage(),
        ))
    }
}

fn category(name: &str, bytes: usize, color: &str) -> ContextCategory {
    ContextCategory {
        name: name.into(),
        tokens: bytes.div_ceil(BYTES_PER_TOKEN) as u64,
        color: color.into(),
        is_deferred: None,
    }
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
