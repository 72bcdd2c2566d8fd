//! User records we send: tool results and echoes.

use crate::json::{RawJson, Value, Writer};
use crate::schema::declare::{
    Fields, FromJson, FromMembers, Json, Record, Shape, readable, record,
};
use crate::schema::inbound::{Priority, UserContent, UserRecord};
use crate::schema::outbound::assistant::TextBlock;
use crate::tool::ToolContent;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

record! {
    /// The result of one call, as host and model see it.
    pub struct ToolResultRecord {
        "type" = "user",
        /// The message with the result.
        required message: ToolResultMessage,
        /// The call this message belongs to.
        nullable parent_tool_use_id: Option<Arc<str>>,
        "isSynthetic" = true,
        /// Structured result for the host.
        optional tool_use_result: Option<RawJson>,
    }
}

record! {
    /// A user message that is one tool result.
    pub struct ToolResultMessage {
        "role" = "user",
        /// The result.
        required content: [ToolResultBlock; 1],
    }
}

record! {
    /// A tool result.
    pub struct ToolResultBlock {
        "type" = "tool_result",
        /// The call it answers.
        required tool_use_id: Arc<str>,
        /// What the tool said.
        required content: Vec<ToolContent>,
        /// Whether it failed, was denied or was cancelled.
        required is_error: bool,
    }
}

impl ToolResultRecord {
    /// The result of a call of the main conversation.
    #[must_use]
    pub const fn new(
        tool_use_id: Arc<str>,
        content: Vec<ToolContent>,
        is_error: bool,
        tool_use_result: Option<RawJson>,
    ) -> Self {
        Self {
            message: ToolResultMessage {
                content: [ToolResultBlock {
                    tool_use_id,
                    content,
                    is_error,
                }],
            },
            parent_tool_use_id: None,
            tool_use_result,
        }
    }
}

impl Json for ToolContent {
    const SHAPE: Shape = TextBlock::SHAPE;

    fn write(&self, w: &mut Writer) {
        match self {
            Self::Text(text) => write_text_block(text, w),
        }
    }
}

impl FromJson for ToolContent {
    fn read(value: Value<'_>) -> Option<Self> {
        TextBlock::read(value).map(|block| Self::Text(block.text))
    }
}

fn write_text_block(text: &str, w: &mut Writer) {
    w.begin_object();
    w.constant(",\"type\":\"text\"");
    w.named(",\"text\":");
    w.string(text);
    w.end_object();
}

/// An echo of a user record in replay mode. It stands under the prompt's own
/// UUID, not a fresh one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserReplay {
    /// The prompt's UUID.
    pub uuid: Arc<str>,
    /// What is echoed.
    pub echo: UserEcho,
}

record! {
    /// The members of an echo.
    pub struct UserEcho {
        "type" = "user",
        /// The message, texts in canonical form (WIRE-017).
        required message: UserMessage,
        /// The call this message belongs to.
        nullable parent_tool_use_id: Option<Arc<str>>,
        "isReplay" = true,
        /// Whether a machine wrote it.
        flag is_synthetic as "isSynthetic": bool,
        /// Its priority, where the record named one.
        optional priority: Option<Priority>,
        /// When it was written, as the host said.
        optional timestamp: Option<String>,
        /// Where it came from, as the host said.
        optional origin: Option<RawJson>,
    }
}

record! {
    /// A user message.
    pub struct UserMessage {
        "role" = "user",
        /// What the user said.
        required content: UserContent,
    }
}

impl UserReplay {
    /// The echo of `record` under the UUID of its prompt.
    #[must_use]
    pub fn of(record: &UserRecord, uuid: Arc<str>) -> Self {
        Self {
            uuid,
            echo: UserEcho {
                message: UserMessage {
                    content: record.content.clone(),
                },
                parent_tool_use_id: record.parent_tool_use_id.as_deref().map(Arc::from),
                is_synthetic: record.is_synthetic,
                priority: record.priority_given.then_some(record.priority),
                timestamp: record.timestamp.clone(),
                origin: record.origin.clone(),
            },
        }
    }
}

impl Json for UserReplay {
    const SHAPE: Shape = UserEcho::SHAPE;

    fn write(&self, w: &mut Writer) {
        self.echo.write(w);
    }
}

impl Record for UserReplay {
    fn write_members(&self, w: &mut Writer) {
        self.echo.write_members(w);
    }
}

readable!(UserReplay);

impl FromMembers for UserReplay {
    fn read_members(fields: &mut Fields<'_>) -> Option<Self> {
        Some(Self {
            echo: UserEcho::read_members(fields)?,
            uuid: FromJson::read(fields.take("uuid")?)?,
        })
    }
}

impl Json for UserContent {
    const SHAPE: Shape = Shape::OneOf(&[Shape::String, Shape::List(&TextBlock::SHAPE)]);

    fn write(&self, w: &mut Writer) {
        match self {
            Self::Text(text) => w.string(text),
            Self::Blocks(blocks) => {
                w.begin_array();
                blocks.iter().for_each(|text| write_text_block(text, w));
                w.end_array();
            }
        }
    }
}

impl FromJson for UserContent {
    fn read(value: Value<'_>) -> Option<Self> {
        let Some(blocks) = value.as_array() else {
            return String::read(value).map(Self::Text);
        };
        let texts = blocks
            .iter()
            .map(|block| Some(TextBlock::read(block)?.text));
        texts.collect::<Option<_>>().map(Self::Blocks)
    }
}
