//! Answers of the Responses API.
//!
//! The stream is whole when an event says how the response ended; a mark or an
//! end of the body before that is a cut. Text, reasoning and arguments are
//! taken from their pieces, else from the events that repeat them whole, so
//! that a server may leave out the ones or the others.

use super::ending::{End, why_incomplete};
use super::items::{Items, Kind, Place, Said};
use super::parts::{Part, sealed};
use crate::adapter::Step;
use crate::failure::{self, Failure};
use crate::limits::ID_BYTES;
use crate::stream::{self, Reports, Room};
use crate::text::Channel;
use agentx_core::json::{Object, Str, Value};
use agentx_core::model::{Delta, StopReason};

/// What is known of the answer so far.
#[derive(Debug, Default)]
pub(super) struct Answer {
    id_known: bool,
    reports: Reports,
    refused: bool,
    items: Items,
    text: Channel,
    thinking: Channel,
    /// The last delta was reasoning that more may follow.
    reasoning: bool,
    room: Room,
}

impl stream::Answer for Answer {
    fn event(
        &mut self,
        name: &str,
        event: Object<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<Step, Failure> {
        let kind = event.get("type").and_then(Value::as_str);
        let kind = kind.map(Str::decode_lossy);
        let kind = kind.as_deref().unwrap_or(name);
        match kind {
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => return self.ended(kind, event, out),
            "response.created" | "response.in_progress" | "response.queued" => {
                if let Some(response) = event.get("response").and_then(Value::as_object) {
                    self.response_id(response, out);
                }
            }
            "response.output_item.added" => self.item_added(event, out)?,
            "response.output_item.done" => self.item_done(event, out)?,
            "response.content_part.done" | "response.reasoning_summary_part.done" => {
                let part = event.get("part").and_then(Value::as_object);
                if let Some((part, text)) = part.and_then(Part::of) {
                    self.part_done(part, event, text, out)?;
                }
            }
            "response.output_text.delta" => self.piece(Part::Text, event, out)?,
            "response.refusal.delta" => self.piece(Part::Refusal, event, out)?,
            "response.reasoning_text.delta" => self.piece(Part::Reasoning, event, out)?,
            "response.reasoning_summary_text.delta" => self.piece(Part::Summary, event, out)?,
            "response.output_text.done" => self.repeated(Part::Text, event, out)?,
            "response.refusal.done" => self.repeated(Part::Refusal, event, out)?,
            "response.reasoning_text.done" => self.repeated(Part::Reasoning, event, out)?,
            "response.reasoning_summary_text.done" => self.repeated(Part::Summary, event, out)?,
            "response.function_call_arguments.delta" => self.arguments(event, "delta", out)?,
            "response.function_call_arguments.done" => self.arguments(event, "arguments", out)?,
            // Tools that run at the server, annotations, and what is to come.
            _ => {}
        }
        Ok(Step::More)
    }

    fn mark(&mut self, _out: &mut Vec<Delta>) -> Result<Step, Failure> {
        Err(stream::cut_short())
    }

    fn end(&mut self, _out: &mut Vec<Delta>) -> Result<Step, Failure> {
        Err(stream::cut_short())
    }
}

impl Answer {
    fn response_id(&mut self, response: Object<'_>, out: &mut Vec<Delta>) {
        let id = response.get("id").and_then(Value::as_str);
        let Some(id) = id.filter(|_| !self.id_known) else {
            return;
        };
        let id = id.decode_lossy();
        if !id.is_empty() && id.len() <= ID_BYTES {
            self.id_known = true;
            out.push(Delta::MessageId(id.into_owned()));
        }
    }

    fn item_added(&mut self, event: Object<'_>, out: &mut Vec<Delta>) -> Result<(), Failure> {
        let Some((kind, object)) = item_of(event) else {
            return Ok(());
        };
        let item = self.items.add(kind, Place::of_item(event, object)?)?;
        if kind == Kind::Call {
            self.reasoning = false;
            item.name(object, out)?;
            self.room.take(item.early(object)?)?;
        }
        Ok(())
    }

    fn item_done(&mut self, event: Object<'_>, out: &mut Vec<Delta>) -> Result<(), Failure> {
        let Some((kind, object)) = item_of(event) else {
            return Ok(());
        };
        let place = Place::of_item(event, object)?;
        self.whole_item(kind, place, object, out)
    }

    /// Takes an item that is complete: what was not said in pieces.
    fn whole_item(
        &mut self,
        kind: Kind,
        place: Place,
        object: Object<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<(), Failure> {
        let item = self.items.find(kind, place)?;
        if item.is_done() {
            return Ok(());
        }
        item.close();
        if kind == Kind::Call {
            self.reasoning = false;
            item.name(object, out)?;
            if let Some(arguments) = object.get("arguments") {
                self.room.take(item.all(arguments, out)?)?;
            }
            return Ok(());
        }
        let (content, summary) = (*item.content(), *item.summary());
        self.parts(object, "summary", summary, out)?;
        self.parts(object, "content", content, out)?;
        if let Some(signature) = sealed(object).filter(|_| kind == Kind::Reasoning) {
            self.signature(signature, out)?;
        }
        Ok(())
    }

    fn parts(
        &mut self,
        object: Object<'_>,
        list: &str,
        said: Said,
        out: &mut Vec<Delta>,
    ) -> Result<(), Failure> {
        let parts = object.get(list).and_then(Value::as_array);
        for (at, part) in (0..).zip(parts.into_iter().flatten()) {
            if said.has(at) {
                continue;
            }
            if let Some((part, text)) = part.as_object().and_then(Part::of) {
                self.say(part, true, text, out)?;
            }
        }
        Ok(())
    }

    /// A piece of a part.
    fn piece(
        &mut self,
        part: Part,
        event: Object<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<(), Failure> {
        let delta = event.get("delta").and_then(Value::as_str);
        let text = delta.ok_or_else(|| Failure::broken_stream("a piece of text is no text"))?;
        if text.raw().is_empty() {
            return Ok(());
        }
        let first = !self.note(part, event)?;
        self.say(part, first, text, out)
    }

    /// A part that is repeated whole, in the member that its kind has.
    fn repeated(
        &mut self,
        part: Part,
        event: Object<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<(), Failure> {
        let member = match part {
            Part::Refusal => "refusal",
            Part::Text | Part::Reasoning | Part::Summary => "text",
        };
        match event.get(member).and_then(Value::as_str) {
            Some(text) => self.part_done(part, event, text, out),
            None => Ok(()),
        }
    }

    fn part_done(
        &mut self,
        part: Part,
        event: Object<'_>,
        text: Str<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<(), Failure> {
        if text.raw().is_empty() || self.note(part, event)? {
            return Ok(());
        }
        self.say(part, true, text, out)
    }

    /// Notes that something of a part is said; whether something was before.
    fn note(&mut self, part: Part, event: Object<'_>) -> Result<bool, Failure> {
        let at = event.get(part.index()).and_then(Value::as_u64).unwrap_or(0);
        let item = self.items.find(part.item(), Place::of_part(event))?;
        if item.is_done() {
            return Ok(true);
        }
        let said = match part {
            Part::Summary => item.summary(),
            Part::Text | Part::Refusal | Part::Reasoning => item.content(),
        };
        let before = said.has(at);
        said.note(at);
        Ok(before)
    }

    /// Says text; `first` if nothing of its part was said before.
    fn say(
        &mut self,
        part: Part,
        first: bool,
        text: Str<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<(), Failure> {
        match part {
            Part::Text | Part::Refusal => {
                let text = self.text.add(text);
                self.refused |= part == Part::Refusal && !text.is_empty();
                self.push(text, Delta::Text, out)
            }
            Part::Reasoning | Part::Summary => {
                let mut text = self.thinking.add(text);
                if first && self.reasoning {
                    text.insert_str(0, "\n\n");
                }
                self.push(text, Delta::Thinking, out)
            }
        }
    }

    fn push(
        &mut self,
        text: String,
        delta: fn(String) -> Delta,
        out: &mut Vec<Delta>,
    ) -> Result<(), Failure> {
        if self.room.tell(text, delta, out)? {
            self.reasoning = matches!(out.last(), Some(Delta::Thinking(_)));
        }
        Ok(())
    }

    /// The opaque end of a piece of reasoning.
    fn signature(&mut self, signature: String, out: &mut Vec<Delta>) -> Result<(), Failure> {
        self.room.take(signature.len())?;
        let rest = self.thinking.finish();
        self.push(rest.to_owned(), Delta::Thinking, out)?;
        self.reasoning = false;
        out.push(Delta::Signature(signature));
        Ok(())
    }

    /// Arguments of a call: a piece of them, or all.
    fn arguments(
        &mut self,
        event: Object<'_>,
        member: &str,
        out: &mut Vec<Delta>,
    ) -> Result<(), Failure> {
        let Some(text) = event.get(member) else {
            return Ok(());
        };
        let item = self.items.find(Kind::Call, Place::of_part(event))?;
        self.reasoning = false;
        let bytes = if member == "delta" {
            item.piece(text, out)?
        } else {
            item.name(event, out)?;
            item.all(text, out)?
        };
        self.room.take(bytes)
    }

    /// The event that tells how the response ended.
    fn ended(
        &mut self,
        kind: &str,
        event: Object<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<Step, Failure> {
        let value = event.get("response");
        let response = value.and_then(Value::as_object);
        let status = response
            .and_then(|response| response.get("status"))
            .and_then(Value::as_str)
            .map(Str::decode_lossy);
        if let Some(response) = response {
            self.response_id(response, out);
            self.report(response, out);
        }
        let says = |word: &str| {
            status.as_deref() == Some(word) || kind.strip_prefix("response.") == Some(word)
        };
        if says("failed") {
            return Err(failure::of_stream(value.unwrap_or_else(|| event.value())));
        }
        if says("cancelled") {
            return Err(given_up());
        }
        let end = if says("incomplete") {
            response.and_then(why_incomplete).ok_or_else(given_up)?
        } else {
            End::Whole
        };
        if let Some(response) = response.filter(|_| self.items.is_empty()) {
            self.all_at_once(response, out)?;
        }
        self.whole(end, out)
    }

    /// Takes the output of a server that told nothing of it before.
    fn all_at_once(&mut self, response: Object<'_>, out: &mut Vec<Delta>) -> Result<(), Failure> {
        let output = response.get("output").and_then(Value::as_array);
        for item in output.into_iter().flatten().filter_map(Value::as_object) {
            if let Some(kind) = Kind::of(item) {
                let place = Place::of_item(item, item)?;
                self.whole_item(kind, place, item, out)?;
            }
        }
        Ok(())
    }

    fn report(&mut self, response: Object<'_>, out: &mut Vec<Delta>) {
        if let Some(usage) = response.get("usage").and_then(Value::as_object) {
            let report = stream::report_with_totals(usage, "input_tokens", "output_tokens");
            self.reports.take(report, out);
        }
    }

    fn whole(&mut self, end: End, out: &mut Vec<Delta>) -> Result<Step, Failure> {
        let thinking = self.thinking.finish();
        self.push(thinking.to_owned(), Delta::Thinking, out)?;
        let text = self.text.finish();
        self.push(text.to_owned(), Delta::Text, out)?;
        self.items.finish(end == End::Whole, out)?;
        out.push(Delta::Stop(match end {
            End::Length => StopReason::MaxTokens,
            End::ContentFilter => StopReason::ContentFilter,
            End::Whole if self.items.has_calls() => StopReason::ToolUse,
            End::Whole if self.refused => StopReason::Refusal,
            End::Whole => StopReason::EndTurn,
        }));
        Ok(Step::Finished)
    }
}

/// The item of an event, if it is of a kind that means something to us.
fn item_of(event: Object<'_>) -> Option<(Kind, Object<'_>)> {
    let item = event.get("item")?.as_object()?;
    Some((Kind::of(item)?, item))
}

fn given_up() -> Failure {
    Failure::broken_stream("the server gave the answer up")
}
