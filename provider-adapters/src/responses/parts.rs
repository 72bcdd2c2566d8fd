//! Parts of the items of an answer.

use super::items::Kind;
use agentx_core::json::{Object, Str, Value, Writer};

/// What a part of an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text,
    Refusal,
    /// Reasoning as it is.
    Reasoning,
    /// Reasoning in short.
    Summary,
}

impl Part {
    pub(super) const fn item(self) -> Kind {
        match self {
            Self::Text | Self::Refusal => Kind::Message,
            Self::Reasoning | Self::Summary => Kind::Reasoning,
        }
    }

    /// The member with the place of the part in its item.
    pub(super) const fn index(self) -> &'static str {
        match self {
            Self::Text | Self::Refusal | Self::Reasoning => "content_index",
            Self::Summary => "summary_index",
        }
    }

    /// The kind and the text of an element of an item's parts.
    pub(super) fn of<'a>(part: Object<'a>) -> Option<(Self, Str<'a>)> {
        let kind = part.get("type").and_then(Value::as_str)?;
        let (kind, member) = match &*kind.decode_lossy() {
            "output_text" | "text" => (Self::Text, "text"),
            "refusal" => (Self::Refusal, "refusal"),
            "reasoning_text" => (Self::Reasoning, "text"),
            "summary_text" => (Self::Summary, "text"),
            _ => return None,
        };
        Some((kind, part.get(member)?.as_str()?))
    }
}

/// A reasoning item in the form in which it is sent back: without what the API
/// tells and does not take. `None` when it is not encrypted.
pub(super) fn sealed(item: Object<'_>) -> Option<String> {
    let sealed = item.get("encrypted_content").and_then(Value::as_str)?;
    if sealed.raw().is_empty() {
        return None;
    }
    let mut writer = Writer::new();
    writer.begin_object();
    for (name, value) in item {
        if !value.is_null() && !name.eq("status") {
            writer.member_value(&name.decode_lossy(), value);
        }
    }
    writer.end_object();
    String::from_utf8(writer.finish()).ok()
}
