//! The records of a corpus in both shapes, those of the core and the plain ones.

use crate::corpus::Corpus;
use crate::plain;
use agentx_core::json::RawJson;
use agentx_core::model::Usage;
use agentx_core::schema::outbound::{
    Accounting, AssistantMessage, AssistantRecord, BlockDelta, ContentBlock, ContentBlockDelta,
    ContentBlockStart, ContentBlockStop, InputJsonDelta, MessageChange, MessageDelta, MessageEnd,
    MessageEvent, MessageStart, MessageStop, ModelUsage, Outbound, RecordIds, ResultRecord,
    ResultStop, ResultSuccess, StreamEvent, TextBlock, TextDelta, Timing, ToolResultRecord,
    ToolUseBlock,
};
use agentx_core::tool::ToolContent;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Context window and output limit that results tell.
const LIMITS: (u64, u64) = (200_000, 64_000);

/// One record in both shapes.
#[derive(Debug)]
pub struct Sample {
    /// As the core holds it.
    pub record: Outbound,
    /// As plain types with derived serialization.
    pub plain: plain::Record,
    uuid: String,
    session_id: String,
}

impl Sample {
    /// The ids that the core's shape is written with.
    #[must_use]
    pub fn ids(&self) -> RecordIds<'_> {
        RecordIds {
            uuid: &self.uuid,
            session_id: &self.session_id,
        }
    }

    /// Reads one output record of a corpus; `None` for `system` records, which
    /// come once in many turns.
    #[must_use]
    pub fn read(line: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(line).ok()?;
        let ids = (text(&value["uuid"]), text(&value["session_id"]));
        let (record, plain) = match value["type"].as_str()? {
            "stream_event" => stream_event(&value, ids.clone())?,
            "assistant" => assistant(&value, ids.clone())?,
            "user" => tool_result(&value, ids.clone())?,
            "result" => result(&value, ids.clone())?,
            _ => return None,
        };
        Some(Self {
            record,
            plain,
            uuid: ids.0,
            session_id: ids.1,
        })
    }
}

/// All records of a corpus of output.
#[must_use]
pub fn samples(corpus: &Corpus) -> Vec<Sample> {
    let lines = corpus.bytes.split(|byte| *byte == b'\n');
    lines.filter_map(Sample::read).collect()
}

type Ids = (String, String);
type Both = Option<(Outbound, plain::Record)>;

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn raw(value: &Value) -> Option<(RawJson, Box<RawValue>)> {
    let text = value.to_string();
    let core = RawJson::parse(&text).ok()?;
    Some((core, RawValue::from_string(text).ok()?))
}

fn usage(value: &Value) -> (Usage, plain::Usage) {
    let count = |name: &str| value[name].as_u64().unwrap_or(0);
    let core = Usage {
        input_tokens: count("input_tokens"),
        output_tokens: count("output_tokens"),
        cache_creation_input_tokens: count("cache_creation_input_tokens"),
        cache_read_input_tokens: count("cache_read_input_tokens"),
        reasoning_output_tokens: 0,
    };
    let plain = plain::Usage {
        input_tokens: core.input_tokens,
        output_tokens: core.output_tokens,
        cache_creation_input_tokens: core.cache_creation_input_tokens,
        cache_read_input_tokens: core.cache_read_input_tokens,
        reasoning_output_tokens: core.reasoning_output_tokens,
        total_tokens: core.total(),
    };
    (core, plain)
}

fn block(value: &Value) -> Option<(ContentBlock, plain::Block)> {
    match value["type"].as_str()? {
        "text" => {
            let text = text(&value["text"]);
            let core = ContentBlock::Text(TextBlock { text: text.clone() });
            Some((core, plain::Block::Text { text }))
        }
        "tool_use" => {
            let (input, plain) = raw(&value["input"])?;
            let (id, name) = (text(&value["id"]), text(&value["name"]));
            let core = ContentBlock::ToolUse(ToolUseBlock {
                id: id.as_str().into(),
                name: name.as_str().into(),
                input,
            });
            let input = plain;
            Some((core, plain::Block::ToolUse { id, name, input }))
        }
        _ => None,
    }
}

fn message(value: &Value) -> Option<(AssistantMessage, plain::Message)> {
    let blocks = value["content"].as_array()?.iter().map(block);
    let (content, plain): (Vec<_>, Vec<_>) =
        blocks.collect::<Option<Vec<_>>>()?.into_iter().unzip();
    let (id, model) = (text(&value["id"]), text(&value["model"]));
    let (core_usage, plain_usage) = usage(&value["usage"]);
    let core = AssistantMessage {
        id: id.as_str().into(),
        model: model.as_str().into(),
        content,
        stop_reason: None,
        stop_sequence: None,
        usage: core_usage,
    };
    let plain = plain::Message {
        id,
        kind: "message",
        role: "assistant",
        model,
        content: plain,
        stop_reason: None,
        stop_sequence: None,
        usage: plain_usage,
    };
    Some((core, plain))
}

fn stream_event(value: &Value, (uuid, session_id): Ids) -> Both {
    let (core, event) = event(&value["event"])?;
    let core = Outbound::StreamEvent(StreamEvent {
        event: core,
        parent_tool_use_id: None,
    });
    let plain = plain::Record::StreamEvent {
        event,
        parent_tool_use_id: None,
        uuid,
        session_id,
    };
    Some((core, plain))
}

fn event(value: &Value) -> Option<(MessageEvent, plain::Event)> {
    let index = value["index"].as_u64().unwrap_or(0);
    Some(match value["type"].as_str()? {
        "message_start" => {
            let (core, message) = message(&value["message"])?;
            let core = MessageEvent::MessageStart(MessageStart { message: core });
            (core, plain::Event::MessageStart { message })
        }
        "content_block_start" => {
            let (core, content_block) = block(&value["content_block"])?;
            let core = MessageEvent::BlockStart(ContentBlockStart {
                index,
                content_block: core,
            });
            let plain = plain::Event::ContentBlockStart {
                index,
                content_block,
            };
            (core, plain)
        }
        "content_block_delta" => {
            let (core, delta) = delta(&value["delta"])?;
            let core = MessageEvent::BlockDelta(ContentBlockDelta { index, delta: core });
            (core, plain::Event::ContentBlockDelta { index, delta })
        }
        "content_block_stop" => {
            let core = MessageEvent::BlockStop(ContentBlockStop { index });
            (core, plain::Event::ContentBlockStop { index })
        }
        "message_delta" => {
            let (core, plain) = usage(&value["usage"]);
            let core = MessageEvent::MessageDelta(MessageDelta {
                delta: MessageChange {
                    stop_reason: Some(MessageStop::ToolUse),
                    stop_sequence: None,
                },
                usage: core,
            });
            let delta = plain::Change {
                stop_reason: Some("tool_use".to_owned()),
                stop_sequence: None,
            };
            (
                core,
                plain::Event::MessageDelta {
                    delta,
                    usage: plain,
                },
            )
        }
        "message_stop" => (
            MessageEvent::MessageStop(MessageEnd {}),
            plain::Event::MessageStop,
        ),
        _ => return None,
    })
}

fn delta(value: &Value) -> Option<(BlockDelta, plain::Delta)> {
    Some(if value["type"] == "text_delta" {
        let text = text(&value["text"]);
        let core = BlockDelta::Text(TextDelta { text: text.clone() });
        (core, plain::Delta::TextDelta { text })
    } else {
        let partial_json = text(&value["partial_json"]);
        let core = BlockDelta::InputJson(InputJsonDelta {
            partial_json: partial_json.clone(),
        });
        (core, plain::Delta::InputJsonDelta { partial_json })
    })
}

fn assistant(value: &Value, (uuid, session_id): Ids) -> Both {
    let (core, message) = message(&value["message"])?;
    let core = Outbound::Assistant(AssistantRecord {
        message: core,
        parent_tool_use_id: None,
        error: None,
    });
    let plain = plain::Record::Assistant {
        message,
        parent_tool_use_id: None,
        uuid,
        session_id,
    };
    Some((core, plain))
}

fn tool_result(value: &Value, (uuid, session_id): Ids) -> Both {
    let block = &value["message"]["content"][0];
    let (told, tool_use_result) = raw(&value["tool_use_result"])?;
    let (id, said) = (text(&block["tool_use_id"]), text(&block["content"]));
    let content = vec![ToolContent::Text(said.clone())];
    let core = ToolResultRecord::new(id.as_str().into(), content, false, Some(told));
    let result = plain::Block::ToolResult {
        tool_use_id: id,
        content: vec![plain::Block::Text { text: said }],
        is_error: false,
    };
    let plain = plain::Record::User {
        message: plain::UserMessage {
            role: "user",
            content: vec![result],
        },
        parent_tool_use_id: None,
        is_synthetic: true,
        tool_use_result,
        uuid,
        session_id,
    };
    Some((Outbound::ToolResult(core), plain))
}

fn result(value: &Value, (uuid, session_id): Ids) -> Both {
    let count = |name: &str| value[name].as_u64().unwrap_or(0);
    let (core_usage, plain_usage) = usage(&value["usage"]);
    let said = text(&value["result"]);
    let timing = Timing {
        duration_ms: count("duration_ms"),
        duration_api_ms: count("duration_api_ms"),
        num_turns: count("num_turns"),
    };
    let of_model = plain::ModelUsage {
        input_tokens: core_usage.input_tokens,
        output_tokens: core_usage.output_tokens,
        cache_read_input_tokens: core_usage.cache_read_input_tokens,
        cache_creation_input_tokens: core_usage.cache_creation_input_tokens,
        web_search_requests: 0,
        cost_usd: None,
        context_window: LIMITS.0,
        max_output_tokens: LIMITS.1,
    };
    let plain = plain::Record::Result {
        subtype: "success".to_owned(),
        is_error: false,
        duration_ms: timing.duration_ms,
        duration_api_ms: timing.duration_api_ms,
        num_turns: timing.num_turns,
        result: said.clone(),
        stop_reason: Some("end_turn".to_owned()),
        total_cost_usd: None,
        usage: plain_usage,
        model_usage: BTreeMap::from([("model-large-2".to_owned(), of_model)]),
        permission_denials: Vec::new(),
        uuid,
        session_id,
    };
    let of_model = ModelUsage::new(&core_usage, None, LIMITS.0, LIMITS.1);
    let accounting = Accounting {
        stop_reason: Some(ResultStop::EndTurn),
        total_cost_usd: None,
        usage: core_usage,
        model_usage: BTreeMap::from([(Arc::from("model-large-2"), of_model)]),
        permission_denials: Vec::new(),
    };
    let core = ResultRecord::Success(ResultSuccess {
        timing,
        result: said,
        accounting,
        structured_output: None,
        prompt_uuid: None,
        origin: None,
    });
    Some((Outbound::Result(core), plain))
}
