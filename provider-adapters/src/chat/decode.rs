//! Answers of the Chat Completions API.
//!
//! The stream is whole when `[DONE]` comes, or when the body ends after a
//! finish reason, since not every server sends the former. A body that the
//! transport cuts is lost even after a finish reason: the report of tokens
//! comes behind it. Between the two, usage is still read, and the last report
//! that is not all zeros counts.

use super::calls::Calls;
use crate::adapter::{Decode, Step};
use crate::failure::{self, Failure};
use crate::limits::{ANSWER_BYTES, ID_BYTES};
use crate::sse;
use crate::text::Channel;
use agentx_core::json::{Kind, Object, ScanLimits, Scanner, Value};
use agentx_core::model::{Delta, StopReason, Usage};
use std::ops::ControlFlow;

#[derive(Debug, Default)]
pub(super) struct Decoder {
    sse: sse::Decoder,
    scanner: Scanner,
    answer: Answer,
}

impl Decode for Decoder {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<Delta>) -> Step {
        let Self {
            sse,
            scanner,
            answer,
        } = self;
        let mut step = Step::More;
        let fed = sse.feed(bytes, |event| {
            step = answer
                .event(event, scanner, out)
                .unwrap_or_else(Step::Failed);
            match step {
                Step::More => ControlFlow::Continue(()),
                Step::Finished | Step::Failed(_) => ControlFlow::Break(()),
            }
        });
        match fed {
            Ok(_) => step,
            Err(fault) => Step::Failed(Failure::broken_stream(fault.to_string())),
        }
    }

    fn end(&mut self, out: &mut Vec<Delta>) -> Step {
        if self.answer.finish.is_none() {
            let failure = Failure::broken_stream("the answer ended before it was complete");
            return Step::Failed(failure.transient());
        }
        self.answer.whole(out).unwrap_or_else(Step::Failed)
    }

    fn begun(&self) -> bool {
        self.answer.begun
    }
}

/// What is known of the answer so far.
#[derive(Debug, Default)]
struct Answer {
    begun: bool,
    id_known: bool,
    finish: Option<Finish>,
    usage: Usage,
    refused: bool,
    text: Channel,
    thinking: Channel,
    calls: Calls,
    bytes: usize,
}

/// Finish reasons that stand for themselves; the others follow from what the
/// answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finish {
    /// `stop`, `tool_calls`, `function_call` and words that nobody knows.
    Done,
    Length,
    ContentFilter,
}

impl Answer {
    fn event(
        &mut self,
        event: sse::Event<'_>,
        scanner: &mut Scanner,
        out: &mut Vec<Delta>,
    ) -> Result<Step, Failure> {
        let data = event.data.trim();
        if data.is_empty() {
            return Ok(Step::More);
        }
        if data == "[DONE]" {
            if !self.begun {
                return Err(Failure::broken_stream("the answer is empty").transient());
            }
            return self.whole(out);
        }
        let value = scanner.scan(data.as_bytes(), &ScanLimits::DEFAULT);
        let value = value
            .map_err(|error| Failure::broken_stream(format!("an event is no JSON: {error}")))?;
        let chunk = value
            .as_object()
            .ok_or_else(|| Failure::broken_stream("an event is no JSON object"))?;
        let error = chunk.get("error").is_some_and(|error| !error.is_null());
        if error || event.event == "error" {
            return Err(failure::of_stream(value));
        }
        self.begun = true;
        self.chunk(chunk, out)?;
        Ok(Step::More)
    }

    fn chunk(&mut self, chunk: Object<'_>, out: &mut Vec<Delta>) -> Result<(), Failure> {
        if !self.id_known {
            self.message_id(chunk, out);
        }
        if let Some(usage) = chunk
            .get("usage")
            .and_then(Value::as_object)
            .map(read_usage)
            && usage != Usage::default()
            && usage != self.usage
        {
            self.usage = usage;
            out.push(Delta::Usage(usage));
        }
        // One answer is asked for, so one choice is looked at.
        let choices = chunk.get("choices").and_then(Value::as_array);
        let choice = choices
            .and_then(|choices| choices.get(0))
            .and_then(Value::as_object);
        let Some(choice) = choice else {
            return Ok(());
        };
        if let Some(delta) = choice.get("delta").and_then(Value::as_object) {
            self.delta(delta, out)?;
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            match &*reason.decode_lossy() {
                "" => {}
                "length" | "max_tokens" | "model_length" => self.finish = Some(Finish::Length),
                "content_filter" => self.finish = Some(Finish::ContentFilter),
                "error" | "abort" | "insufficient_system_resource" => {
                    return Err(Failure::broken_stream("the server gave the answer up"));
                }
                _ => self.finish = Some(Finish::Done),
            }
        }
        Ok(())
    }

    fn message_id(&mut self, chunk: Object<'_>, out: &mut Vec<Delta>) {
        let Some(id) = chunk.get("id").and_then(Value::as_str) else {
            return;
        };
        let id = id.decode_lossy();
        if !id.is_empty() && id.len() <= ID_BYTES {
            self.id_known = true;
            out.push(Delta::MessageId(id.into_owned()));
        }
    }

    fn delta(&mut self, delta: Object<'_>, out: &mut Vec<Delta>) -> Result<(), Failure> {
        // Servers that know both names send the same text under both.
        let reasoning = ["reasoning_content", "reasoning"]
            .into_iter()
            .filter_map(|name| delta.get(name)?.as_str())
            .find(|text| !text.raw().is_empty());
        if let Some(text) = reasoning {
            let text = self.thinking.add(text);
            self.push(text, Delta::Thinking, out)?;
        }
        if let Some(content) = delta.get("content") {
            self.content(content, out)?;
        }
        if let Some(refusal) = delta.get("refusal").and_then(Value::as_str) {
            let text = self.text.add(refusal);
            self.refused |= !text.is_empty();
            self.push(text, Delta::Text, out)?;
        }
        let elements = delta.get("tool_calls").and_then(Value::as_array);
        for piece in elements.into_iter().flatten().filter_map(Value::as_object) {
            let bytes = self.calls.element(piece, out)?;
            self.count(bytes)?;
        }
        if let Some(function) = delta.get("function_call").and_then(Value::as_object) {
            let bytes = self.calls.function(function, out)?;
            self.count(bytes)?;
        }
        Ok(())
    }

    /// Text, or a list of parts, which are text or hold reasoning.
    fn content(&mut self, content: Value<'_>, out: &mut Vec<Delta>) -> Result<(), Failure> {
        match content.kind() {
            Kind::Null => Ok(()),
            Kind::Array => {
                let parts = content.as_array().into_iter().flatten();
                for part in parts.filter_map(Value::as_object) {
                    self.part(part, out)?;
                }
                Ok(())
            }
            _ => {
                let text = content
                    .as_str()
                    .ok_or_else(|| Failure::broken_stream("the content of an answer is no text"))?;
                let text = self.text.add(text);
                self.push(text, Delta::Text, out)
            }
        }
    }

    fn part(&mut self, part: Object<'_>, out: &mut Vec<Delta>) -> Result<(), Failure> {
        if let Some(text) = part.get("text").and_then(Value::as_str) {
            let text = self.text.add(text);
            self.push(text, Delta::Text, out)?;
        }
        let thoughts = part.get("thinking").and_then(Value::as_array);
        for thought in thoughts.into_iter().flatten().filter_map(Value::as_object) {
            if let Some(text) = thought.get("text").and_then(Value::as_str) {
                let text = self.thinking.add(text);
                self.push(text, Delta::Thinking, out)?;
            }
        }
        Ok(())
    }

    fn push(
        &mut self,
        text: String,
        delta: fn(String) -> Delta,
        out: &mut Vec<Delta>,
    ) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        self.count(text.len())?;
        out.push(delta(text));
        Ok(())
    }

    fn count(&mut self, bytes: usize) -> Result<(), Failure> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > ANSWER_BYTES {
            return Err(Failure::broken_stream(format!(
                "the answer is over {ANSWER_BYTES} bytes"
            )));
        }
        Ok(())
    }

    /// Ends the answer.
    fn whole(&mut self, out: &mut Vec<Delta>) -> Result<Step, Failure> {
        for (rest, delta) in [
            (
                self.thinking.finish(),
                Delta::Thinking as fn(String) -> Delta,
            ),
            (self.text.finish(), Delta::Text),
        ] {
            self.push(rest.to_owned(), delta, out)?;
        }
        self.calls.finish(out)?;
        out.push(Delta::Stop(self.stop_reason()));
        Ok(Step::Finished)
    }

    /// Servers disagree on the reason to give with tool calls, so what counts
    /// is whether there are any (DEC-51).
    fn stop_reason(&self) -> StopReason {
        match self.finish {
            Some(Finish::Length) => StopReason::MaxTokens,
            Some(Finish::ContentFilter) => StopReason::ContentFilter,
            Some(Finish::Done) | None if !self.calls.is_empty() => StopReason::ToolUse,
            Some(Finish::Done) | None if self.refused => StopReason::Refusal,
            Some(Finish::Done) | None => StopReason::EndTurn,
        }
    }
}

/// The prompt's total holds what was read from and written to a cache.
fn read_usage(usage: Object<'_>) -> Usage {
    let count = |of: Object<'_>, name: &str| of.get(name).and_then(read_count).unwrap_or(0);
    let detail = |group: &str, name: &str| {
        let group = usage.get(group).and_then(Value::as_object);
        group.map_or(0, |group| count(group, name))
    };
    let prompt = count(usage, "prompt_tokens");
    let read = detail("prompt_tokens_details", "cached_tokens").min(prompt);
    let written = detail("prompt_tokens_details", "cache_write_tokens").min(prompt - read);
    Usage {
        input_tokens: prompt - read - written,
        output_tokens: count(usage, "completion_tokens"),
        cache_creation_input_tokens: written,
        cache_read_input_tokens: read,
        reasoning_output_tokens: detail("completion_tokens_details", "reasoning_tokens"),
    }
}

/// A number of tokens. Some servers write it with a fraction of zero.
fn read_count(value: Value<'_>) -> Option<u64> {
    let text = value.as_number()?;
    let whole = text.split_once('.').map_or(text, |(whole, zeros)| {
        if zeros.bytes().all(|b| b == b'0') {
            whole
        } else {
            text
        }
    });
    whole.parse().ok()
}
