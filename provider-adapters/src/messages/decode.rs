//! Answers of the Messages API.
//!
//! The stream is whole at `message_stop`, or when the body ends after a stop
//! reason: that stands in the last event before it, behind all blocks and with
//! the final count of tokens. A body that the transport cuts is lost. Pings,
//! events and blocks of unknown kinds are passed over, since the API may add
//! some at any time.

use super::blocks::{Blocks, word};
use crate::adapter::Step;
use crate::failure::Failure;
use crate::limits::ID_BYTES;
use crate::stream::{self, Unreadable, token_count};
use agentx_core::json::{Object, Value};
use agentx_core::model::{Delta, StopReason, Usage};

/// What is known of the answer so far.
#[derive(Debug, Default)]
pub(super) struct Answer {
    begun: bool,
    id_known: bool,
    stop: Option<Stop>,
    usage: Usage,
    counted: Counted,
    blocks: Blocks,
}

/// How far the counts of tokens go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Counted {
    /// The final count of the answer is still to come.
    #[default]
    Begun,
    Final,
    /// One of the counts could not be read.
    Unreadable,
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

impl stream::Answer for Answer {
    /// Anything else may come before an error that another attempt mends.
    fn begins(name: &str, event: Object<'_>) -> bool {
        matches!(
            &*kind(name, event),
            "message_start" | "content_block_start" | "content_block_delta" | "message_delta"
        )
    }

    fn event(
        &mut self,
        name: &str,
        event: Object<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<Step, Failure> {
        self.begun |= Self::begins(name, event);
        match &*kind(name, event) {
            "message_start" => {
                if let Some(message) = event.get("message").and_then(Value::as_object) {
                    self.message_start(message, out);
                }
            }
            "content_block_start" => {
                if let Some((index, block)) = part(event, "content_block") {
                    self.blocks.start(index, block, out)?;
                }
            }
            "content_block_delta" => {
                if let Some((index, delta)) = part(event, "delta") {
                    self.blocks.delta(index, delta, out)?;
                }
            }
            "content_block_stop" => {
                if let Some(index) = event.get("index").and_then(Value::as_u64) {
                    self.blocks.stop(index, out);
                }
            }
            "message_delta" => self.message_delta(event, out)?,
            "message_stop" if !self.begun => return Err(stream::empty()),
            "message_stop" => return Ok(self.whole(out)),
            _ => {}
        }
        Ok(Step::More)
    }

    /// No part of this API, but some servers end every stream with it.
    fn mark(&mut self, out: &mut Vec<Delta>) -> Result<Step, Failure> {
        self.end(out)
    }

    fn end(&mut self, out: &mut Vec<Delta>) -> Result<Step, Failure> {
        if self.stop.is_none() {
            return Err(stream::cut_short());
        }
        Ok(self.whole(out))
    }
}

impl Answer {
    fn message_start(&mut self, message: Object<'_>, out: &mut Vec<Delta>) {
        let id = message.get("id").and_then(word).unwrap_or_default();
        if !self.id_known && !id.is_empty() && id.len() <= ID_BYTES {
            self.id_known = true;
            out.push(Delta::MessageId(id));
        }
        self.usage(message, Counted::Begun, out);
    }

    fn message_delta(&mut self, event: Object<'_>, out: &mut Vec<Delta>) -> Result<(), Failure> {
        self.usage(event, Counted::Final, out);
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
    fn usage(&mut self, of: Object<'_>, reach: Counted, out: &mut Vec<Delta>) {
        let Some(usage) = of.get("usage").and_then(Value::as_object) else {
            return;
        };
        match counts(usage, &self.usage) {
            Err(Unreadable) => self.counted = Counted::Unreadable,
            Ok(new) => {
                if reach == Counted::Final
                    && self.counted == Counted::Begun
                    && usage.get("output_tokens").is_some()
                {
                    self.counted = Counted::Final;
                }
                if new != self.usage {
                    self.usage = new;
                    out.push(Delta::Usage(new));
                }
            }
        }
    }

    /// Ends the answer.
    fn whole(&mut self, out: &mut Vec<Delta>) -> Step {
        self.blocks.finish(out);
        if self.counted != Counted::Final {
            out.push(Delta::UsageUnknown);
        }
        out.push(Delta::Stop(self.stop_reason()));
        Step::Finished
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

/// Counts that go on from `old`.
fn counts(usage: Object<'_>, old: &Usage) -> Result<Usage, Unreadable> {
    let count = |name| token_count(Some(usage), name).map(Option::unwrap_or_default);
    let details = usage.get("output_tokens_details");
    let thinking = token_count(details.and_then(Value::as_object), "thinking_tokens")?;
    Ok(Usage {
        input_tokens: old.input_tokens.max(count("input_tokens")?),
        output_tokens: old.output_tokens.max(count("output_tokens")?),
        cache_creation_input_tokens: old
            .cache_creation_input_tokens
            .max(count("cache_creation_input_tokens")?),
        cache_read_input_tokens: old
            .cache_read_input_tokens
            .max(count("cache_read_input_tokens")?),
        reasoning_output_tokens: old
            .reasoning_output_tokens
            .max(thinking.unwrap_or_default()),
    })
}

/// What an event is: its type, else its name.
fn kind(name: &str, event: Object<'_>) -> String {
    let kind = event.get("type").and_then(word);
    kind.unwrap_or_else(|| name.to_owned())
}

/// An event's index and the object that belongs to it.
fn part<'a>(event: Object<'a>, name: &str) -> Option<(u64, Object<'a>)> {
    let index = event.get("index").and_then(Value::as_u64)?;
    Some((index, event.get(name)?.as_object()?))
}
