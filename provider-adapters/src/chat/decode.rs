//! Answers of the Chat Completions API.
//!
//! The stream is whole when `[DONE]` comes, or when the body ends after a
//! finish reason, since not every server sends the former. A body that the
//! transport cuts is lost even after a finish reason: the report of tokens
//! comes behind it. Between the two, usage is still read, and the last report
//! that is not all zeros counts; one that cannot be read makes it unknown.

use super::calls::Calls;
use crate::adapter::Step;
use crate::failure::Failure;
use crate::limits::ID_BYTES;
use crate::stream::{self, Reports, Room};
use crate::text::Channel;
use agentx_core::json::{Kind, Object, Value};
use agentx_core::model::{Delta, StopReason};

/// What is known of the answer so far.
#[derive(Debug, Default)]
pub(super) struct Answer {
    id_known: bool,
    finish: Option<Finish>,
    reports: Reports,
    refused: bool,
    text: Channel,
    thinking: Channel,
    calls: Calls,
    room: Room,
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

impl stream::Answer for Answer {
    fn event(
        &mut self,
        _name: &str,
        event: Object<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<Step, Failure> {
        self.chunk(event, out)?;
        Ok(Step::More)
    }

    fn mark(&mut self, out: &mut Vec<Delta>) -> Result<Step, Failure> {
        self.whole(out)
    }

    fn end(&mut self, out: &mut Vec<Delta>) -> Result<Step, Failure> {
        if self.finish.is_none() {
            return Err(stream::cut_short());
        }
        self.whole(out)
    }
}

impl Answer {
    fn chunk(&mut self, chunk: Object<'_>, out: &mut Vec<Delta>) -> Result<(), Failure> {
        if !self.id_known {
            self.message_id(chunk, out);
        }
        if let Some(usage) = chunk.get("usage").and_then(Value::as_object) {
            let report = stream::report_with_totals(usage, "prompt_tokens", "completion_tokens");
            self.reports.take(report, out);
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
            self.room.take(bytes)?;
        }
        if let Some(function) = delta.get("function_call").and_then(Value::as_object) {
            let bytes = self.calls.function(function, out)?;
            self.room.take(bytes)?;
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
        self.room.tell(text, delta, out).map(drop)
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
