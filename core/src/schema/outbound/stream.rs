//! Partial messages: what happens inside an answer while it comes.

use crate::model::Usage;
use crate::schema::declare::{record, union};
use crate::schema::outbound::assistant::{AssistantMessage, ContentBlock, MessageStop};
use alloc::string::String;
use alloc::sync::Arc;

record! {
    /// One event of a streamed answer.
    pub struct StreamEvent {
        "type" = "stream_event",
        /// The event.
        required event: MessageEvent,
        /// The call this message belongs to.
        nullable parent_tool_use_id: Option<Arc<str>>,
    }
}

union! {
    /// What happened, whatever the provider's dialect.
    pub enum MessageEvent {
        /// A message begins.
        MessageStart(MessageStart),
        /// A block begins.
        BlockStart(ContentBlockStart),
        /// A block goes on.
        BlockDelta(ContentBlockDelta),
        /// A block is done.
        BlockStop(ContentBlockStop),
        /// The message as a whole changes.
        MessageDelta(MessageDelta),
        /// The message is done.
        MessageStop(MessageEnd),
    }
}

record! {
    /// A message begins.
    pub struct MessageStart {
        "type" = "message_start",
        /// The message, still without blocks.
        required message: AssistantMessage,
    }
}

record! {
    /// A block begins.
    pub struct ContentBlockStart {
        "type" = "content_block_start",
        /// Number of the block in its message, from 0.
        required index: u64,
        /// The block, still empty.
        required content_block: ContentBlock,
    }
}

record! {
    /// A block goes on.
    pub struct ContentBlockDelta {
        "type" = "content_block_delta",
        /// Number of the block in its message, from 0.
        required index: u64,
        /// What is added.
        required delta: BlockDelta,
    }
}

record! {
    /// A block is done.
    pub struct ContentBlockStop {
        "type" = "content_block_stop",
        /// Number of the block in its message, from 0.
        required index: u64,
    }
}

record! {
    /// The message as a whole changes.
    pub struct MessageDelta {
        "type" = "message_delta",
        /// What changes.
        required delta: MessageChange,
        /// Tokens so far.
        required usage: Usage,
    }
}

record! {
    /// Why a message stopped.
    pub struct MessageChange {
        /// The reason.
        nullable stop_reason: Option<MessageStop>,
        /// The stop sequence that was met.
        nullable stop_sequence: Option<String>,
    }
}

record! {
    /// The message is done.
    pub struct MessageEnd {
        "type" = "message_stop",
    }
}

union! {
    /// What is added to a block.
    pub enum BlockDelta {
        /// Text.
        Text(TextDelta),
        /// Reasoning text.
        Thinking(ThinkingDelta),
        /// The signature of reasoning text.
        Signature(SignatureDelta),
        /// A piece of a call's input.
        InputJson(InputJsonDelta),
    }
}

record! {
    /// More text.
    pub struct TextDelta {
        "type" = "text_delta",
        /// The text.
        required text: String,
    }
}

record! {
    /// More reasoning text.
    pub struct ThinkingDelta {
        "type" = "thinking_delta",
        /// The text.
        required thinking: String,
    }
}

record! {
    /// The signature of reasoning text.
    pub struct SignatureDelta {
        "type" = "signature_delta",
        /// The signature.
        required signature: String,
    }
}

record! {
    /// A piece of a call's input.
    pub struct InputJsonDelta {
        "type" = "input_json_delta",
        /// The piece, JSON only when all are joined.
        required partial_json: String,
    }
}
