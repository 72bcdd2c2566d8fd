//! Answers of the Messages API.
//!
//! The stream is whole at `message_stop`, or when the body ends after a stop
//! reason: that stands in the last event before it, behind all blocks and with
//! the final count of tokens. A body that the transport cuts is lost. Pings,
//! events and blocks of unknown kinds are passed over, since the API may add
//! some at any time.

use super::blocks::{Blocks, word};
use crate::adapter::{Decode, Step};
use crate::failure::{self, Failure};
use crate::limits::{ANSWER_BYTES, ID_BYTES};
use crate::sse;
use agentx_core::json::{Object, ScanLimits, Scanner, Value};
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
        self.answer.ended(out).unwrap_or_else(Step::Failed)
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
    stop: Option<Stop>,
    usage: Usage,
    blocks: Blocks,
    bytes: usize,
}

/// Stop reasons that stand for themselves; the others follow from what the
/// answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// `end_turn`, `tool_use` and words that nobody knows.
    Done,
    Length,
    Sequence,
    Refusal,
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
        if data.is_empty() || event.event == "ping" {
            return Ok(Step::More);
        }
        // No part of this API, but some servers end every stream with it.
        if data == "[DONE]" {
            return self.ended(out);
        }
        let value = scanner.scan(data.as_bytes(), &ScanLimits::DEFAULT);
        let value = value
            .map_err(|error| Failure::broken_stream(format!("an event is no JSON: {error}")))?;
        let object = value
            .as_object()
            .ok_or_else(|| Failure::broken_stream("an event is no JSON object"))?;
        let kind = object.get("type").and_then(word);
        let before = out.len();
        match kind.as_deref().unwrap_or(event.event) {
            "error" => return Err(failure::of_stream(value)),
            "message_start" => {
                self.begun = true;
                if let Some(message) = object.get("message").and_then(Value::as_object) {
                    self.message_start(message, out);
                }
            }
            "content_block_start" => {
                self.begun = true;
                if let Some((index, block)) = part(object, "content_block") {
                    self.blocks.start(index, block, out)?;
                }
            }
            "content_block_delta" => {
                self.begun = true;
                if let Some((index, delta)) = part(object, "delta") {
                    self.blocks.delta(index, delta, out)?;
                }
            }
            "content_block_stop" => {
                if let Some(index) = object.get("index").and_then(Value::as_u64) {
                    self.blocks.stop(index, out);
                }
            }
            "message_delta" => {
                self.begun = true;
                self.message_delta(object, out)?;
            }
            "message_stop" => return self.whole(out),
            _ => {}
        }
        self.count(out.get(before..).unwrap_or_default())?;
        Ok(Step::More)
    }

    fn message_start(&mut self, message: Object<'_>, out: &mut Vec<Delta>) {
        let id = message.get("id").and_then(word).unwrap_or_default();
        if !self.id_known && !id.is_empty() && id.len() <= ID_BYTES {
            self.id_known = true;
            out.push(Delta::MessageId(id));
        }
        self.usage(message, out);
    }

    fn message_delta(&mut self, event: Object<'_>, out: &mut Vec<Delta>) -> Result<(), Failure> {
        self.usage(event, out);
        let delta = event.get("delta").and_then(Value::as_object);
        let Some(reason) = delta.and_then(|delta| delta.get("stop_reason")?.as_str()) else {
            return Ok(());
        };
        self.stop = Some(match &*reason.decode_lossy() {
            "max_tokens" | "model_context_window_exceeded" => Stop::Length,
            "stop_sequence" => Stop::Sequence,
            "refusal" => Stop::Refusal,
            "content_filter" => Stop::ContentFilter,
            "pause_turn" => {
                // What it would go on with are blocks that are passed over.
                return Err(Failure::broken_stream(
                    "the server paused the answer for tools of its own",
                ));
            }
            _ => Stop::Done,
        });
        Ok(())
    }

    /// Reads the counts of tokens, which only grow. A later report may leave
    /// some out, or say nought for what an earlier one told.
    fn usage(&mut self, of: Object<'_>, out: &mut Vec<Delta>) {
        let Some(usage) = of.get("usage").and_then(Value::as_object) else {
            return;
        };
        let count = |of: Object<'_>, name: &str| of.get(name).and_then(Value::as_u64).unwrap_or(0);
        let details = usage.get("output_tokens_details");
        let details = details.and_then(Value::as_object);
        let old = self.usage;
        self.usage = Usage {
            input_tokens: old.input_tokens.max(count(usage, "input_tokens")),
            output_tokens: old.output_tokens.max(count(usage, "output_tokens")),
            cache_creation_input_tokens: old
                .cache_creation_input_tokens
                .max(count(usage, "cache_creation_input_tokens")),
            cache_read_input_tokens: old
                .cache_read_input_tokens
                .max(count(usage, "cache_read_input_tokens")),
            reasoning_output_tokens: old
                .reasoning_output_tokens
                .max(details.map_or(0, |details| count(details, "thinking_tokens"))),
        };
        if self.usage != old {
            out.push(Delta::Usage(self.usage));
        }
    }

    /// Counts what was said.
    fn count(&mut self, said: &[Delta]) -> Result<(), Failure> {
        let bytes = said.iter().map(|delta| match delta {
            Delta::Text(text)
            | Delta::Thinking(text)
            | Delta::Signature(text)
            | Delta::RedactedThinking(text)
            | Delta::CallArguments { text, .. } => text.len(),
            _ => 0,
        });
        self.bytes = bytes.fold(self.bytes, usize::saturating_add);
        if self.bytes.saturating_add(self.blocks.held()) > ANSWER_BYTES {
            return Err(Failure::broken_stream(format!(
                "the answer is over {ANSWER_BYTES} bytes"
            )));
        }
        Ok(())
    }

    /// The end of the body.
    fn ended(&mut self, out: &mut Vec<Delta>) -> Result<Step, Failure> {
        if self.stop.is_none() {
            let failure = Failure::broken_stream("the answer ended before it was complete");
            return Err(failure.transient());
        }
        self.whole(out)
    }

    /// Ends the answer.
    fn whole(&mut self, out: &mut Vec<Delta>) -> Result<Step, Failure> {
        if !self.begun {
            return Err(Failure::broken_stream("the answer is empty").transient());
        }
        self.blocks.finish(out);
        out.push(Delta::Stop(self.stop_reason()));
        Ok(Step::Finished)
    }

    /// What counts for a call is whether there is one (DEC-51).
    const fn stop_reason(&self) -> StopReason {
        match self.stop {
            Some(Stop::Length) => StopReason::MaxTokens,
            Some(Stop::Sequence) => StopReason::StopSequence,
            Some(Stop::Refusal) => StopReason::Refusal,
            Some(Stop::ContentFilter) => StopReason::ContentFilter,
            Some(Stop::Done) | None if self.blocks.has_calls() => StopReason::ToolUse,
            Some(Stop::Done) | None => StopReason::EndTurn,
        }
    }
}

/// An event's index and the object that belongs to it.
fn part<'a>(event: Object<'a>, name: &str) -> Option<(u64, Object<'a>)> {
    let index = event.get("index").and_then(Value::as_u64)?;
    Some((index, event.get(name)?.as_object()?))
}
