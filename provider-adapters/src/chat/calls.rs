//! Tool calls that arrive in pieces.

use crate::failure::Failure;
use crate::limits::ANSWER_CALLS;
use crate::stream::word;
use crate::text::Channel;
use agentx_core::json::{Kind, Object, RawJson, Value};
use agentx_core::model::Delta;

/// The calls of one answer, in order of their first piece.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Call>);

#[derive(Debug)]
struct Call {
    key: u32,
    slot: Option<Slot>,
    id: String,
    named: bool,
    /// Arguments that came before the name.
    held: String,
    text: Channel,
}

/// How a piece says which call it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    /// By the `index` of a `tool_calls` element.
    Index(u64),
    /// The one call of the older `function_call`.
    Function,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes one element of `tool_calls`. Returns the bytes of argument text.
    pub(super) fn element(
        &mut self,
        piece: Object<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<usize, Failure> {
        let slot = piece.get("index").and_then(Value::as_u64).map(Slot::Index);
        let id = word(piece, "id")?;
        let function = piece.get("function").and_then(Value::as_object);
        self.piece(slot, id, function, out)
    }

    /// Takes a `function_call`. Returns the bytes of argument text.
    pub(super) fn function(
        &mut self,
        function: Object<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<usize, Failure> {
        self.piece(Some(Slot::Function), String::new(), Some(function), out)
    }

    fn piece(
        &mut self,
        slot: Option<Slot>,
        id: String,
        function: Option<Object<'_>>,
        out: &mut Vec<Delta>,
    ) -> Result<usize, Failure> {
        let name = function.map_or_else(|| Ok(String::new()), |f| word(f, "name"))?;
        let call = self.find_or_start(slot, id, &name)?;
        if !call.named && !name.is_empty() {
            call.named = true;
            out.push(Delta::CallStart {
                index: call.key,
                id: call.id.clone(),
                name,
            });
        }
        let Some(arguments) = function.and_then(|f| f.get("arguments")) else {
            return Ok(0);
        };
        let text = match arguments.kind() {
            Kind::Null => return Ok(0),
            // Some servers put the object itself where its text belongs.
            Kind::Object => RawJson::from_value(arguments).as_str().to_owned(),
            _ => match arguments.as_str() {
                Some(text) => call.text.add(text),
                None => {
                    return Err(Failure::broken_stream(
                        "the arguments of a tool call are no text",
                    ));
                }
            },
        };
        let bytes = text.len();
        call.arguments(text, out);
        Ok(bytes)
    }

    /// The call that a piece belongs to. A new id under a known index is a new
    /// call (DEC-51); a piece without an index belongs to the call of its id,
    /// else starts one if it has a name, else continues the last.
    fn find_or_start(
        &mut self,
        slot: Option<Slot>,
        id: String,
        name: &str,
    ) -> Result<&mut Call, Failure> {
        let at = match slot {
            Some(_) => self.0.iter().rposition(|call| call.slot == slot),
            None if !id.is_empty() => self.0.iter().rposition(|call| call.id == id),
            None if name.is_empty() => self.0.len().checked_sub(1),
            None => None,
        };
        let known = at.and_then(|at| self.0.get(at));
        let another = known.is_none_or(|call| {
            let other_id = !id.is_empty() && call.id != id;
            other_id && (!call.id.is_empty() || (call.named && !name.is_empty()))
        });
        if another {
            let key = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
            if self.0.len() >= ANSWER_CALLS {
                return Err(Failure::broken_stream(format!(
                    "more than {ANSWER_CALLS} tool calls in one answer"
                )));
            }
            self.0.push(Call {
                key,
                slot,
                id: String::new(),
                named: false,
                held: String::new(),
                text: Channel::default(),
            });
        }
        let at = if another {
            self.0.len().checked_sub(1)
        } else {
            at
        };
        let call = at.and_then(|at| self.0.get_mut(at));
        let call =
            call.ok_or_else(|| Failure::broken_stream("a piece of a tool call that never began"))?;
        if call.id.is_empty() {
            call.id = id;
        }
        Ok(call)
    }

    /// Gives what was kept back. A call that never got a name is a fault.
    pub(super) fn finish(&mut self, out: &mut Vec<Delta>) -> Result<(), Failure> {
        for call in &mut self.0 {
            if !call.named {
                return Err(Failure::broken_stream("a tool call without a name"));
            }
            let rest = call.text.finish().to_owned();
            call.arguments(rest, out);
        }
        Ok(())
    }
}

impl Call {
    fn arguments(&mut self, text: String, out: &mut Vec<Delta>) {
        if !self.named {
            self.held.push_str(&text);
            return;
        }
        for text in [std::mem::take(&mut self.held), text] {
            if !text.is_empty() {
                out.push(Delta::CallArguments {
                    index: self.key,
                    text,
                });
            }
        }
    }
}
