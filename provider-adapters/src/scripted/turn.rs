//! One scripted answer.

use crate::failure;
use agentx_core::json::closed::{self, Fault, Fields};
use agentx_core::json::{RawJson, Value};
use agentx_core::model::{Delta, ErrorCategory, ModelFailure, ModelOutcome, StopReason, Usage};
use std::time::Duration;

const MEMBERS: [&str; 9] = [
    "text",
    "deltas",
    "thinking",
    "tool_calls",
    "usage",
    "stop_reason",
    "delay_ms",
    "hold",
    "error",
];

/// What stands for the tool results of the step before.
const RESULTS: &str = "{results}";

/// One answer: reasoning, text and calls in this order, then its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Pieces of text, `text` before `deltas`.
    texts: Vec<String>,
    thinking: Vec<String>,
    calls: Vec<Call>,
    usage: Option<Usage>,
    stop: Option<StopReason>,
    /// Time before the first piece.
    pub(super) delay: Duration,
    /// Keeps the stream open after the last piece; `error` has no effect then.
    hold: bool,
    error: Option<ModelFailure>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    id: String,
    name: String,
    input: RawJson,
}

impl Turn {
    /// An answer that only says something.
    pub(super) fn saying(text: String) -> Self {
        Self {
            texts: vec![text],
            ..Self::default()
        }
    }

    pub(super) fn read_all(turns: Vec<(Value<'_>, String)>) -> Result<Vec<Self>, Fault> {
        turns
            .into_iter()
            .map(|(value, place)| Self::read(value, place))
            .collect()
    }

    fn read(value: Value<'_>, place: String) -> Result<Self, Fault> {
        let fields = Fields::open(value, place, &MEMBERS)?;
        let texts_of = |name| {
            let items = fields.array(name)?.into_iter();
            items
                .map(|(value, place)| closed::text(value, &place))
                .collect::<Result<Vec<_>, _>>()
        };
        let calls = fields.array("tool_calls")?.into_iter();
        Ok(Self {
            texts: fields
                .text("text")?
                .into_iter()
                .chain(texts_of("deltas")?)
                .collect(),
            thinking: texts_of("thinking")?,
            calls: calls
                .map(|(value, place)| Call::read(value, place))
                .collect::<Result<_, _>>()?,
            usage: read_usage(&fields)?,
            stop: read_stop(&fields)?,
            delay: Duration::from_millis(fields.whole("delay_ms")?.unwrap_or(0)),
            hold: fields.flag("hold")?,
            error: read_error(&fields)?,
        })
    }

    /// Everything but the end.
    pub(super) fn deltas(&self, results: &str) -> Vec<Delta> {
        let fill = |text: &String| text.replace(RESULTS, results);
        let mut out: Vec<Delta> = self
            .thinking
            .iter()
            .map(fill)
            .map(Delta::Thinking)
            .collect();
        out.extend(self.texts.iter().map(fill).map(Delta::Text));
        for (index, call) in (0..).zip(&self.calls) {
            out.push(Delta::CallStart {
                index,
                id: call.id.clone(),
                name: call.name.clone(),
            });
            out.push(Delta::CallArguments {
                index,
                text: call.input.as_str().to_owned(),
            });
        }
        out.extend(self.usage.map(Delta::Usage));
        if !self.hold && self.error.is_none() {
            let natural = if self.calls.is_empty() {
                StopReason::EndTurn
            } else {
                StopReason::ToolUse
            };
            out.push(Delta::Stop(self.stop.unwrap_or(natural)));
        }
        out
    }

    /// The end, or `None` when the stream stays open.
    pub(super) fn outcome(&self) -> Option<ModelOutcome> {
        let end = match &self.error {
            Some(failure) => ModelOutcome::Failed(failure.clone()),
            None => ModelOutcome::Finished,
        };
        (!self.hold).then_some(end)
    }
}

impl Call {
    fn read(value: Value<'_>, place: String) -> Result<Self, Fault> {
        let fields = Fields::open(value, place, &["id", "name", "input"])?;
        Ok(Self {
            id: fields.text("id")?.unwrap_or_default(),
            name: fields.need_text("name")?,
            input: RawJson::from_value(fields.need("input")?),
        })
    }
}

fn read_usage(fields: &Fields<'_>) -> Result<Option<Usage>, Fault> {
    let Some(usage) = fields.object("usage", &["input_tokens", "output_tokens"])? else {
        return Ok(None);
    };
    Ok(Some(Usage {
        input_tokens: usage.whole("input_tokens")?.unwrap_or(0),
        output_tokens: usage.whole("output_tokens")?.unwrap_or(0),
        ..Usage::default()
    }))
}

fn read_stop(fields: &Fields<'_>) -> Result<Option<StopReason>, Fault> {
    let Some(word) = fields.text("stop_reason")? else {
        return Ok(None);
    };
    match word.as_str() {
        "end_turn" => Ok(Some(StopReason::EndTurn)),
        "tool_use" => Ok(Some(StopReason::ToolUse)),
        "max_tokens" => Ok(Some(StopReason::MaxTokens)),
        "stop_sequence" => Ok(Some(StopReason::StopSequence)),
        "refusal" => Ok(Some(StopReason::Refusal)),
        "content_filter" => Ok(Some(StopReason::ContentFilter)),
        _ => Err(fields.fault(
            "stop_reason",
            "expected end_turn, tool_use, max_tokens, stop_sequence, refusal or content_filter",
        )),
    }
}

/// Fails as a model API would that answers so.
fn read_error(fields: &Fields<'_>) -> Result<Option<ModelFailure>, Fault> {
    let Some(error) = fields.object("error", &["status", "message"])? else {
        return Ok(None);
    };
    let status = match error.whole("status")? {
        None => None,
        Some(status) => match u16::try_from(status) {
            Ok(status) if (300..600).contains(&status) => Some(status),
            _ => return Err(error.fault("status", "expected a number from 300 to 599")),
        },
    };
    let told = error.text("message")?;
    let mut message = match status {
        Some(status) => format!("the model API answered with status {status}"),
        None => "no answer from the model API".to_owned(),
    };
    if let Some(words) = told.as_deref().and_then(failure::excerpt) {
        message.push_str(": ");
        message.push_str(&words);
    }
    Ok(Some(ModelFailure {
        category: status.map_or(ErrorCategory::Unknown, ErrorCategory::of_status),
        status,
        message,
    }))
}
