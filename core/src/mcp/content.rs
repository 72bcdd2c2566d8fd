//! The result of a call, as the model is told of it (RT-MCPS-027, RT-MCPS-031).
//!
//! Text is handed on. Of images and audio, and of resources and links, the model
//! is told what they are; nothing is opened or fetched. Structured content
//! stands behind the rest unless a text says the same already.

use super::text::Room;
use crate::guard::Guard;
use crate::json::{Object, RawJson, Value};
use crate::tool::{ToolContent, ToolOutcome};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Reads the result of `tools/call`: what the model is told, without what the
/// guard knows, cut to so many parts and characters (DEC-30, DEC-34), and the
/// structured content whole.
///
/// # Errors
///
/// What is wrong with it.
pub(super) fn outcome(
    result: Object<'_>,
    guard: &Guard,
    blocks_at_most: usize,
    chars: usize,
) -> Result<(ToolOutcome, Option<RawJson>), String> {
    let is_error = match result.get("isError") {
        None => false,
        Some(flag) => flag
            .as_bool()
            .ok_or("its isError is neither true nor false")?,
    };
    let structured = match result.get("structuredContent") {
        None => None,
        Some(value) if value.as_object().is_some() => Some(RawJson::from_value(value)),
        Some(_) => return Err("its structuredContent is no object".to_string()),
    };
    let mut left_out = 0;
    let mut texts = match result.get("content") {
        None if structured.is_some() => Vec::new(),
        None => return Err("it has no content".to_string()),
        Some(content) => {
            let blocks = content.as_array().ok_or("its content is no list")?;
            left_out = blocks.len().saturating_sub(blocks_at_most);
            let text = |(n, block): (usize, Value<'_>)| {
                block_text(block).map_err(|fault| format!("its content {n} {fault}"))
            };
            blocks
                .iter()
                .enumerate()
                .take(blocks_at_most)
                .map(text)
                .collect::<Result<Vec<_>, _>>()?
        }
    };
    if left_out > 0 {
        texts.push(format!("[… {left_out} further parts cut]"));
    }
    if let Some(structured) = &structured {
        let says_the_same =
            |text: &String| RawJson::parse(text).is_ok_and(|text| text == *structured);
        if !texts.iter().any(says_the_same) {
            texts.push(format!("Structured output: {}", structured.as_str()));
        }
    }
    let content = bounded(texts, guard, chars);
    Ok((ToolOutcome { content, is_error }, structured))
}

fn bounded(texts: Vec<String>, guard: &Guard, chars: usize) -> Vec<ToolContent> {
    let mut room = Room::new(chars);
    let mut content: Vec<_> = texts
        .iter()
        .map(|text| guard.redact(text).into_owned())
        .filter_map(|text| room.take(text).map(ToolContent::Text))
        .collect();
    content.extend(room.note().map(ToolContent::Text));
    content
}

/// One block of a content list, as text.
fn block_text(block: Value<'_>) -> Result<String, String> {
    let block = block.as_object().ok_or("is no object")?;
    match string(block, "type")?.as_ref() {
        "text" => Ok(string(block, "text")?.into_owned()),
        kind @ ("image" | "audio") => {
            let (media, data) = (string(block, "mimeType")?, string(block, "data")?);
            Ok(format!(
                "[{kind} of type {media}, {} characters of base64, not shown]",
                data.len()
            ))
        }
        "resource" => resource_text(block),
        "resource_link" => {
            let (name, uri) = (string(block, "name")?, string(block, "uri")?);
            Ok(format!("[link to resource {name}: {uri}]"))
        }
        _ => Err("is of a type that is not known".to_string()),
    }
}

fn resource_text(block: Object<'_>) -> Result<String, String> {
    let resource = block.get("resource").and_then(Value::as_object);
    let resource = resource.ok_or("has no resource")?;
    let uri = string(resource, "uri")?;
    match (resource.get("text"), resource.get("blob")) {
        (Some(_), None) => Ok(format!("[resource {uri}]\n{}", string(resource, "text")?)),
        (None, Some(_)) => Ok(format!(
            "[resource {uri}, {} characters of base64, not shown]",
            string(resource, "blob")?.len()
        )),
        _ => Err("has not either a text or a blob".to_string()),
    }
}

/// A member that has to be a text.
fn string<'a>(object: Object<'a>, name: &str) -> Result<Cow<'a, str>, String> {
    object
        .get(name)
        .and_then(Value::as_str)
        .map(crate::json::Str::decode_lossy)
        .ok_or_else(|| format!("has no text {name:?}"))
}
