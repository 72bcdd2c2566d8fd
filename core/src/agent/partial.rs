//! Partial messages: the streamed answer as block-style events.

use crate::agent_loop::{Opened, Piece, Streamed};
use crate::json::RawJson;
use crate::model::Usage;
use crate::schema::outbound::{
    AssistantMessage, BlockDelta, ContentBlock, ContentBlockDelta, ContentBlockStart,
    ContentBlockStop, InputJsonDelta, MessageChange, MessageDelta, MessageEnd, MessageEvent,
    MessageStart, MessageStop, RedactedThinkingBlock, SignatureDelta, TextBlock, TextDelta,
    ThinkingBlock, ThinkingDelta, ToolUseBlock,
};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// The events that one step of a streamed answer makes.
pub(super) fn events(streamed: Streamed, id: Arc<str>, model: Arc<str>) -> Vec<MessageEvent> {
    match streamed {
        Streamed::Started => vec![start(id, model)],
        Streamed::Opened { block, kind } => vec![MessageEvent::BlockStart(ContentBlockStart {
            index: block as u64,
            content_block: opened(kind),
        })],
        Streamed::Piece { block, piece } => vec![MessageEvent::BlockDelta(ContentBlockDelta {
            index: block as u64,
            delta: delta(piece),
        })],
        Streamed::Closed { block } => {
            vec![MessageEvent::BlockStop(ContentBlockStop {
                index: block as u64,
            })]
        }
        Streamed::Ended { stop, usage } => vec![
            MessageEvent::MessageDelta(MessageDelta {
                delta: MessageChange {
                    stop_reason: stop.and_then(MessageStop::of),
                    stop_sequence: None,
                },
                usage,
            }),
            MessageEvent::MessageStop(MessageEnd {}),
        ],
        Streamed::Block(_) => Vec::new(),
    }
}

fn start(id: Arc<str>, model: Arc<str>) -> MessageEvent {
    MessageEvent::MessageStart(MessageStart {
        message: AssistantMessage {
            id,
            model,
            content: Vec::new(),
            stop_reason: None,
            stop_sequence: None,
            usage: Usage::default(),
        },
    })
}

fn opened(kind: Opened) -> ContentBlock {
    match kind {
        Opened::Text => ContentBlock::Text(TextBlock {
            text: String::new(),
        }),
        Opened::Thinking => ContentBlock::Thinking(ThinkingBlock {
            thinking: String::new(),
            signature: String::new(),
        }),
        Opened::RedactedThinking { data } => {
            ContentBlock::RedactedThinking(RedactedThinkingBlock { data })
        }
        Opened::Call { id, name } => ContentBlock::ToolUse(ToolUseBlock {
            id,
            name,
            input: RawJson::empty_object(),
        }),
    }
}

fn delta(piece: Piece) -> BlockDelta {
    match piece {
        Piece::Text(text) => BlockDelta::Text(TextDelta { text }),
        Piece::Thinking(thinking) => BlockDelta::Thinking(ThinkingDelta { thinking }),
        Piece::Signature(signature) => BlockDelta::Signature(SignatureDelta { signature }),
        Piece::Arguments(partial_json) => BlockDelta::InputJson(InputJsonDelta { partial_json }),
    }
}
