//! The output items of one answer.
//!
//! Events name their item by its id, its place in the output, both, or, on
//! some servers, neither; a tool call also by its call id. What fits best is
//! taken, so that two calls under one id or one place stay two (DEC-35,
//! DEC-51).

use crate::failure::Failure;
use crate::limits::ANSWER_ITEMS;
use crate::stream::word;
use crate::text::Channel;
use agentx_core::json::{Kind as JsonKind, Object, RawJson, Value};
use agentx_core::model::Delta;

/// Kinds of item that mean something to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text, or the refusal to give any.
    Message,
    /// Reasoning.
    Reasoning,
    /// A tool call.
    Call,
}

/// Which item an event speaks of.
#[derive(Debug, Default)]
pub(super) struct Place {
    id: String,
    call_id: String,
    index: Option<u64>,
    /// The event has the whole item.
    whole: bool,
}

/// One item.
#[derive(Debug)]
pub(super) struct Item {
    kind: Kind,
    place: Place,
    done: bool,
    /// The lists of parts of which something was said, a bit for each.
    content: Said,
    summary: Said,
    /// What a tool call has beside.
    call: Call,
}

#[derive(Debug, Default)]
struct Call {
    key: u32,
    named: bool,
    /// Arguments that came before the name.
    held: String,
    /// Some of the arguments came.
    said: bool,
    /// Arguments that stood in the first event of the call.
    early: String,
    text: Channel,
}

/// The items of one answer, in order of their first event.
#[derive(Debug, Default)]
pub(super) struct Items {
    items: Vec<Item>,
    calls: u32,
}

/// Parts of which something was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Said(u64);

impl Said {
    /// Parts that can be told apart; there are few.
    const PARTS: u32 = u64::BITS;

    const fn bit(part: u64) -> u64 {
        if part < Self::PARTS as u64 {
            1 << part
        } else {
            1 << (Self::PARTS - 1)
        }
    }

    /// Whether something of this part was said.
    pub(super) const fn has(self, part: u64) -> bool {
        self.0 & Self::bit(part) != 0
    }

    /// Notes that something of it is.
    pub(super) const fn note(&mut self, part: u64) {
        self.0 |= Self::bit(part);
    }
}

impl Kind {
    /// The kind of an item, if it is one of ours.
    pub(super) fn of(item: Object<'_>) -> Option<Self> {
        let kind = item.get("type").and_then(Value::as_str)?;
        match &*kind.decode_lossy() {
            "message" => Some(Self::Message),
            "reasoning" => Some(Self::Reasoning),
            "function_call" => Some(Self::Call),
            _ => None,
        }
    }
}

impl Place {
    /// From an event about a part of an item.
    pub(super) fn of_part(event: Object<'_>) -> Self {
        Self {
            id: tag(event, "item_id"),
            index: index(event),
            ..Self::default()
        }
    }

    /// From an event with a whole item.
    pub(super) fn of_item(event: Object<'_>, item: Object<'_>) -> Result<Self, Failure> {
        Ok(Self {
            id: tag(item, "id"),
            call_id: word(item, "call_id")?,
            index: index(event),
            whole: true,
        })
    }

    /// How well the place that an event names fits this one; `None` if not.
    fn fit(&self, named: &Self) -> Option<Fit> {
        let known = |id: &str| !id.is_empty() && (id == self.id || id == self.call_id);
        let by_id = known(&named.id) || known(&named.call_id);
        let indices = self.index.zip(named.index);
        let by_index = indices.is_some_and(|(own, named)| own == named);
        let two_indices = indices.is_some() && !by_index;
        // A piece may go by an id that nothing else has; a whole item may not.
        let two_ids = named.whole && self.has_id() && named.has_id();
        match (by_id, by_index) {
            (false, false) if two_indices || two_ids => None,
            (by_id, by_index) => Some(Fit { by_id, by_index }),
        }
    }

    const fn has_id(&self) -> bool {
        !self.id.is_empty() || !self.call_id.is_empty()
    }
}

/// How well two places fit, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    by_id: bool,
    by_index: bool,
}

impl Fit {
    const BOTH: Self = Self {
        by_id: true,
        by_index: true,
    };
}

impl Items {
    /// Whether there are tool calls.
    pub(super) const fn has_calls(&self) -> bool {
        self.calls > 0
    }

    /// Whether nothing has come.
    pub(super) const fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Takes the first event of an item.
    pub(super) fn add(&mut self, kind: Kind, place: Place) -> Result<&mut Item, Failure> {
        if self.items.len() >= ANSWER_ITEMS {
            return Err(Failure::broken_stream(format!(
                "more than {ANSWER_ITEMS} items in one answer"
            )));
        }
        let key = self.calls;
        self.calls += u32::from(kind == Kind::Call);
        self.items.push(Item {
            kind,
            place,
            done: false,
            content: Said::default(),
            summary: Said::default(),
            call: Call {
                key,
                ..Call::default()
            },
        });
        self.at(self.items.len() - 1)
    }

    fn at(&mut self, at: usize) -> Result<&mut Item, Failure> {
        let item = self.items.get_mut(at);
        item.ok_or_else(|| Failure::broken_stream("an item was lost"))
    }

    /// The item that an event speaks of, the latest that fits best; a new one if
    /// none does, since not every server tells the beginning. An item that is
    /// done is meant by a part only if that names it, by a whole item only if
    /// it is the same in id and place.
    pub(super) fn find(&mut self, kind: Kind, place: Place) -> Result<&mut Item, Failure> {
        let mut best = None;
        for (at, item) in self.items.iter().enumerate().rev() {
            let Some(fit) = item.place.fit(&place).filter(|_| item.kind == kind) else {
                continue;
            };
            let named = fit.by_id || fit.by_index;
            let meant = !item.done || if place.whole { fit == Fit::BOTH } else { named };
            let rank = (fit, !item.done);
            if meant && best.is_none_or(|(known, _)| rank > known) {
                best = Some((rank, at));
            }
            if rank == (Fit::BOTH, true) {
                break;
            }
        }
        match best {
            Some((_, at)) => self.at(at),
            None => self.add(kind, place),
        }
    }

    /// Gives what was kept back. A call that never got a name is a fault,
    /// unless the answer was broken off.
    pub(super) fn finish(&mut self, whole: bool, out: &mut Vec<Delta>) -> Result<(), Failure> {
        for item in &mut self.items {
            if item.kind != Kind::Call {
                continue;
            }
            let call = &mut item.call;
            if !call.named {
                if whole {
                    return Err(Failure::broken_stream("a tool call without a name"));
                }
                continue;
            }
            if !call.said {
                let early = std::mem::take(&mut call.early);
                call.push(early, out);
            }
            let rest = call.text.finish().to_owned();
            call.push(rest, out);
        }
        Ok(())
    }
}

impl Item {
    /// Parts of its content of which something was said.
    pub(super) const fn content(&mut self) -> &mut Said {
        &mut self.content
    }

    /// The same for the summaries of reasoning.
    pub(super) const fn summary(&mut self) -> &mut Said {
        &mut self.summary
    }

    /// Whether it has come whole, so that only repetitions follow.
    pub(super) const fn is_done(&self) -> bool {
        self.done
    }

    /// It has come whole.
    pub(super) const fn close(&mut self) {
        self.done = true;
    }

    /// Takes name and ids of a call, as far as they are known and new.
    pub(super) fn name(&mut self, item: Object<'_>, out: &mut Vec<Delta>) -> Result<(), Failure> {
        let call = &mut self.call;
        if call.named {
            return Ok(());
        }
        let name = word(item, "name")?;
        if name.is_empty() {
            return Ok(());
        }
        call.named = true;
        let call_id = word(item, "call_id")?;
        if !call_id.is_empty() {
            self.place.call_id = call_id;
        }
        let ids = [&self.place.call_id, &self.place.id];
        let id = ids.into_iter().find(|id| !id.is_empty());
        let id = id.cloned().unwrap_or_default();
        out.push(Delta::CallStart {
            index: call.key,
            id,
            name,
        });
        let held = std::mem::take(&mut call.held);
        call.push(held, out);
        Ok(())
    }

    /// Takes arguments that stand in the first event of a call, to be used if
    /// no others come.
    pub(super) fn early(&mut self, item: Object<'_>) -> Result<usize, Failure> {
        let Some(arguments) = item.get("arguments") else {
            return Ok(0);
        };
        self.call.early = whole_text(arguments)?;
        Ok(self.call.early.len())
    }

    /// Takes a piece of the arguments. Returns its bytes.
    pub(super) fn piece(
        &mut self,
        piece: Value<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<usize, Failure> {
        let text = piece
            .as_str()
            .ok_or_else(|| Failure::broken_stream("the arguments of a tool call are no text"))?;
        let text = self.call.text.add(text);
        let bytes = text.len();
        self.call.said |= bytes > 0;
        self.call.push(text, out);
        Ok(bytes)
    }

    /// Takes all of the arguments, for a server that sends no pieces.
    pub(super) fn all(
        &mut self,
        arguments: Value<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<usize, Failure> {
        if self.call.said {
            return Ok(0);
        }
        let text = whole_text(arguments)?;
        let bytes = text.len();
        self.call.said |= bytes > 0;
        self.call.push(text, out);
        Ok(bytes)
    }
}

impl Call {
    fn push(&mut self, text: String, out: &mut Vec<Delta>) {
        if !self.named {
            self.held.push_str(&text);
        } else if !text.is_empty() {
            out.push(Delta::CallArguments {
                index: self.key,
                text,
            });
        }
    }
}

/// Argument text that is whole. Some servers put the object itself where its
/// text belongs.
fn whole_text(arguments: Value<'_>) -> Result<String, Failure> {
    match arguments.kind() {
        JsonKind::Null => Ok(String::new()),
        JsonKind::Object => Ok(RawJson::from_value(arguments).as_str().to_owned()),
        _ => match arguments.as_str() {
            Some(text) => Ok(text.decode_lossy().into_owned()),
            None => Err(Failure::broken_stream(
                "the arguments of a tool call are no text",
            )),
        },
    }
}

fn index(event: Object<'_>) -> Option<u64> {
    event.get("output_index").and_then(Value::as_u64)
}

/// An id that only tells items apart; empty when it is absent or very long.
fn tag(object: Object<'_>, name: &str) -> String {
    word(object, name).unwrap_or_default()
}
