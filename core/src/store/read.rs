//! Stored text back into entries. Whatever is not exactly what
//! [`Entry::to_json`] writes is a fault: a store that is damaged must not
//! become a history.

use super::{
    AnswerEntry, CallEntry, ContextEntry, Entry, EntryBlock, PromptEntry, ResultEntry,
    ThinkingEntry, TurnEntry,
};
use crate::json::{Object, RawJson, ScanLimits, Scanner, Value};
use crate::model::Usage;
use crate::schema::outbound::{RedactedThinkingBlock, ResultStop, TextBlock};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// A text that is no entry. Names what is wrong, and quotes nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryFault(pub(super) &'static str);

impl fmt::Display for EntryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl core::error::Error for EntryFault {}

impl Entry {
    /// Reads what [`Entry::to_json`] wrote.
    ///
    /// # Errors
    ///
    /// What the text lacks, or has beside an entry.
    pub fn parse(text: &[u8]) -> Result<Self, EntryFault> {
        let mut scanner = Scanner::new();
        let value = scanner
            .scan(text, &ScanLimits::DEFAULT)
            .map_err(|_| EntryFault("an entry is no JSON"))?;
        let fields = Fields::of(value)?;
        Ok(match &*fields.text("type")? {
            "prompt" => Self::Prompt(PromptEntry {
                time_ms: fields.number("time_ms")?,
                uuid: fields.shared("uuid")?,
                content: fields.list("content", text_of)?,
            }),
            "context" => Self::Context(ContextEntry {
                time_ms: fields.number("time_ms")?,
                uuid: fields.shared("uuid")?,
                content: fields.list("content", text_of)?,
            }),
            "answer" => Self::Answer(AnswerEntry {
                time_ms: fields.number("time_ms")?,
                content: fields.list("content", block_of)?,
                usage: fields.get("usage").map(usage_of).transpose()?,
            }),
            "tool_result" => Self::Result(ResultEntry {
                time_ms: fields.number("time_ms")?,
                tool_use_id: fields.shared("tool_use_id")?,
                content: fields.list("content", text_block_of)?,
                is_error: fields.flag("is_error")?,
            }),
            "turn" => Self::Turn(TurnEntry {
                time_ms: fields.number("time_ms")?,
                prompt_uuid: fields.shared("prompt_uuid")?,
                stop_reason: ResultStop::from_word(&fields.text("stop_reason")?)
                    .ok_or(EntryFault("an entry has an unknown stop reason"))?,
                is_error: fields.flag("is_error")?,
                num_turns: fields.number("num_turns")?,
                usage: usage_of(fields.need("usage")?)?,
                dropped_calls: fields.list("dropped_calls", |id| text_of(id).map(Arc::from))?,
            }),
            _ => return Err(EntryFault("an entry is of an unknown type")),
        })
    }
}

/// The members of one object.
#[derive(Clone, Copy)]
struct Fields<'a>(Object<'a>);

impl<'a> Fields<'a> {
    fn of(value: Value<'a>) -> Result<Self, EntryFault> {
        let object = value.as_object();
        object
            .map(Self)
            .ok_or(EntryFault("an entry has a value that is no object"))
    }

    fn get(self, name: &str) -> Option<Value<'a>> {
        self.0.get(name)
    }

    fn need(self, name: &str) -> Result<Value<'a>, EntryFault> {
        self.get(name)
            .ok_or(EntryFault("an entry lacks one of its members"))
    }

    fn text(self, name: &str) -> Result<String, EntryFault> {
        text_of(self.need(name)?)
    }

    fn shared(self, name: &str) -> Result<Arc<str>, EntryFault> {
        self.text(name).map(Arc::from)
    }

    fn number(self, name: &str) -> Result<u64, EntryFault> {
        let number = self.need(name)?.as_u64();
        number.ok_or(EntryFault("an entry has a value that is no whole number"))
    }

    fn flag(self, name: &str) -> Result<bool, EntryFault> {
        let flag = self.need(name)?.as_bool();
        flag.ok_or(EntryFault("an entry has a value that is no boolean"))
    }

    fn list<T>(
        self,
        name: &str,
        item: impl Fn(Value<'a>) -> Result<T, EntryFault>,
    ) -> Result<Vec<T>, EntryFault> {
        let list = self.need(name)?.as_array();
        let list = list.ok_or(EntryFault("an entry has a value that is no list"))?;
        list.iter().map(item).collect()
    }
}

fn text_of(value: Value<'_>) -> Result<String, EntryFault> {
    let text = value.as_str().and_then(|text| text.decode().ok());
    text.map(String::from)
        .ok_or(EntryFault("an entry has a value that is no text"))
}

fn text_block_of(value: Value<'_>) -> Result<TextBlock, EntryFault> {
    let fields = Fields::of(value)?;
    match &*fields.text("type")? {
        "text" => Ok(TextBlock {
            text: fields.text("text")?,
        }),
        _ => Err(EntryFault("an entry has a block of an unknown type")),
    }
}

fn block_of(value: Value<'_>) -> Result<EntryBlock, EntryFault> {
    let fields = Fields::of(value)?;
    Ok(match &*fields.text("type")? {
        "thinking" => EntryBlock::Thinking(ThinkingEntry {
            thinking: fields.text("thinking")?,
            signature: fields.get("signature").map(text_of).transpose()?,
        }),
        "redacted_thinking" => EntryBlock::RedactedThinking(RedactedThinkingBlock {
            data: fields.text("data")?,
        }),
        "tool_use" => EntryBlock::Call(CallEntry {
            id: fields.shared("id")?,
            name: fields.shared("name")?,
            input: RawJson::from_value(fields.need("input")?),
        }),
        _ => EntryBlock::Text(text_block_of(value)?),
    })
}

fn usage_of(value: Value<'_>) -> Result<Usage, EntryFault> {
    let fields = Fields::of(value)?;
    Ok(Usage {
        input_tokens: fields.number("input_tokens")?,
        output_tokens: fields.number("output_tokens")?,
        cache_creation_input_tokens: fields.number("cache_creation_input_tokens")?,
        cache_read_input_tokens: fields.number("cache_read_input_tokens")?,
        reasoning_output_tokens: fields.number("reasoning_output_tokens")?,
    })
}
