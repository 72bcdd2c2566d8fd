//! Tokens that no provider reported, guessed on the high side.

use super::LoopConfig;
use crate::model::{Block, Message};
use crate::tool::ToolContent;
use alloc::sync::Arc;

/// Prompt tokens of a request with this history. No tokenizer in use makes
/// more tokens than bytes; of plain text they make about a quarter.
pub(super) fn request(config: &LoopConfig, history: &[Arc<Message>]) -> u64 {
    let system = config.system.as_ref().map_or(0, |text| text.len());
    let tools = config.tools.iter().map(|tool| {
        let schema = tool.input_schema.as_str().len();
        tool.name.len() + tool.description.len() + schema
    });
    let messages = history.iter().map(|message| bytes(message));
    let sum = tools.chain(messages).fold(system, usize::saturating_add);
    u64::try_from(sum).unwrap_or(u64::MAX)
}

fn bytes(message: &Message) -> usize {
    match message {
        Message::User(parts) => parts.iter().map(|part| part.len()).sum(),
        Message::Assistant(blocks) => blocks.iter().map(block_bytes).sum(),
        Message::ToolResults(results) => results
            .iter()
            .flat_map(|result| &result.content)
            .map(|ToolContent::Text(text)| text.len())
            .sum(),
    }
}

fn block_bytes(block: &Block) -> usize {
    match block {
        Block::Text(text) => text.len(),
        Block::Thinking { text, signature } => {
            text.len() + signature.as_ref().map_or(0, |text| text.len())
        }
        Block::RedactedThinking { data } => data.len(),
        Block::ToolCall(call) => call.name.len() + call.input.as_str().len(),
    }
}
