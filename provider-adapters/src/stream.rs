//! What the decoders of all event streams share: events whose data are JSON
//! objects, the end mark, and the room that an answer may take.

use crate::adapter::{Decode, Step};
use crate::failure::{self, Failure};
use crate::limits::{ANSWER_BYTES, ID_BYTES};
use crate::sse;
use agentx_core::json::{Object, ScanLimits, Scanner, Value};
use agentx_core::model::{Delta, Usage};
use std::fmt;
use std::ops::ControlFlow;

/// An answer under construction, in one dialect.
pub(crate) trait Answer: fmt::Debug + Send {
    /// Whether an event belongs to the answer. Before the first that does, the
    /// request may still be sent again.
    fn begins(_name: &str, _event: Object<'_>) -> bool {
        true
    }

    /// Takes one event that is no error; `name` is its `event` field, often
    /// empty.
    fn event(
        &mut self,
        name: &str,
        event: Object<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<Step, Failure>;

    /// Takes the mark `[DONE]`, behind at least one event.
    fn mark(&mut self, out: &mut Vec<Delta>) -> Result<Step, Failure>;

    /// Takes the end of a body that is complete as its framing says.
    fn end(&mut self, out: &mut Vec<Delta>) -> Result<Step, Failure>;
}

/// Decodes the event stream of one answer.
#[derive(Debug, Default)]
pub(crate) struct Decoder<A> {
    sse: sse::Decoder,
    scanner: Scanner,
    begun: bool,
    answer: A,
}

impl<A: Answer> Decode for Decoder<A> {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<Delta>) -> Step {
        let Self {
            sse,
            scanner,
            begun,
            answer,
        } = self;
        let mut step = Step::More;
        let fed = sse.feed(bytes, |event| {
            step = take(answer, begun, event, scanner, out).unwrap_or_else(Step::Failed);
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
        self.answer.end(out).unwrap_or_else(Step::Failed)
    }

    fn begun(&self) -> bool {
        self.begun
    }
}

fn take<A: Answer>(
    answer: &mut A,
    begun: &mut bool,
    event: sse::Event<'_>,
    scanner: &mut Scanner,
    out: &mut Vec<Delta>,
) -> Result<Step, Failure> {
    let data = event.data.trim();
    // A ping keeps the connection open; what it carries means nothing.
    if data.is_empty() || event.event == "ping" {
        return Ok(Step::More);
    }
    if data == "[DONE]" {
        if !*begun {
            return Err(empty());
        }
        return answer.mark(out);
    }
    let value = scanner.scan(data.as_bytes(), &ScanLimits::DEFAULT);
    let value =
        value.map_err(|error| Failure::broken_stream(format!("an event is no JSON: {error}")))?;
    let object = value
        .as_object()
        .ok_or_else(|| Failure::broken_stream("an event is no JSON object"))?;
    if event.event == "error" || is_error(object) {
        return Err(failure::of_stream(value));
    }
    *begun |= A::begins(event.event, object);
    answer.event(event.event, object, out)
}

fn is_error(object: Object<'_>) -> bool {
    let kind = object.get("type").and_then(Value::as_str);
    object.get("error").is_some_and(|error| !error.is_null())
        || kind.is_some_and(|kind| kind.eq("error"))
}

/// An answer that ended before it began.
pub(crate) fn empty() -> Failure {
    Failure::broken_stream("the answer is empty").transient()
}

/// An answer that ended before its dialect says so.
pub(crate) fn cut_short() -> Failure {
    Failure::broken_stream("the answer ended before it was complete").transient()
}

/// Bytes of text, reasoning and call arguments that an answer has taken.
#[derive(Debug, Default)]
pub(crate) struct Room(usize);

impl Room {
    /// Takes more of it; fails past [`ANSWER_BYTES`].
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), Failure> {
        self.0 = self.0.saturating_add(bytes);
        if self.0 > ANSWER_BYTES {
            return Err(Failure::broken_stream(format!(
                "the answer is over {ANSWER_BYTES} bytes"
            )));
        }
        Ok(())
    }

    /// Tells a piece of text or reasoning, which takes room; whether there was
    /// anything to tell.
    pub(crate) fn tell(
        &mut self,
        text: String,
        delta: fn(String) -> Delta,
        out: &mut Vec<Delta>,
    ) -> Result<bool, Failure> {
        if text.is_empty() {
            return Ok(false);
        }
        self.take(text.len())?;
        out.push(delta(text));
        Ok(true)
    }
}

/// A short word about a tool call; empty when it is absent or null.
pub(crate) fn word(object: Object<'_>, name: &str) -> Result<String, Failure> {
    let Some(text) = object.get(name).and_then(Value::as_str) else {
        return Ok(String::new());
    };
    let text = text.decode_lossy();
    if text.len() > ID_BYTES {
        return Err(Failure::broken_stream(format!(
            "the {name} of a tool call is over {ID_BYTES} bytes"
        )));
    }
    Ok(text.into_owned())
}

/// The provider's reports of tokens for one answer. The last that says
/// something counts.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    last: Option<Usage>,
}

impl Reports {
    /// Takes what one event reports. A report of noughts says nothing: there is
    /// no prompt without tokens.
    pub(crate) fn take(&mut self, report: Result<Option<Usage>, Unreadable>, out: &mut Vec<Delta>) {
        match report {
            Ok(None) => {}
            Ok(Some(usage)) => {
                if usage != Usage::ZERO && self.last != Some(usage) {
                    self.last = Some(usage);
                    out.push(Delta::Usage(usage));
                }
            }
            Err(Unreadable) => {
                self.last = None;
                out.push(Delta::UsageUnknown);
            }
        }
    }
}

/// A count of tokens that is no count: negative, broken or too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable;

/// Reads a report whose total for the prompt holds what was read from and
/// written to a cache. `None` when it names neither of its two totals.
pub(crate) fn report_with_totals(
    usage: Object<'_>,
    prompt: &str,
    answer: &str,
) -> Result<Option<Usage>, Unreadable> {
    let totals = (
        token_count(Some(usage), prompt)?,
        token_count(Some(usage), answer)?,
    );
    let (total, output) = match totals {
        (None, None) => return Ok(None),
        (Some(prompt), Some(answer)) => (prompt, answer),
        _ => return Err(Unreadable),
    };
    let details = |of: &str| {
        let group = usage.get(&format!("{of}_details"));
        group.and_then(Value::as_object)
    };
    let count = |of, name| token_count(details(of), name).map(Option::unwrap_or_default);
    let read = count(prompt, "cached_tokens")?.min(total);
    let written = count(prompt, "cache_write_tokens")?.min(total - read);
    Ok(Some(Usage {
        input_tokens: total - read - written,
        output_tokens: output,
        cache_creation_input_tokens: written,
        cache_read_input_tokens: read,
        reasoning_output_tokens: count(answer, "reasoning_tokens")?,
    }))
}

/// A number of tokens; `None` when it is absent or null. Some servers write it
/// with a fraction of zero.
pub(crate) fn token_count(of: Option<Object<'_>>, name: &str) -> Result<Option<u64>, Unreadable> {
    let Some(value) = of.and_then(|of| of.get(name)) else {
        return Ok(None);
    };
    if value.is_null() {
        return Ok(None);
    }
    let text = value.as_number().ok_or(Unreadable)?;
    let whole = text.split_once('.').map_or(text, |(whole, zeros)| {
        if zeros.bytes().all(|b| b == b'0') {
            whole
        } else {
            text
        }
    });
    whole.parse().map(Some).map_err(|_| Unreadable)
}
