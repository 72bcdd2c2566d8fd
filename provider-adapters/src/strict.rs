//! Closed JSON objects: every member is known, and every fault has a place.

use agentx_core::json::{Kind, Object, Value};
use std::fmt;

/// A fault in a configuration text: where, and what is expected there. Never
/// holds a value of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault(String);

impl Fault {
    /// A fault at a place; the whole text when that is empty.
    pub(crate) fn new(place: &str, what: impl fmt::Display) -> Self {
        if place.is_empty() {
            return Self(what.to_string());
        }
        Self(format!("{place}: {what}"))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An object with a closed set of members, and its place in the text.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    object: Object<'a>,
    place: String,
}

impl<'a> Fields<'a> {
    /// Opens a value that must be an object with no member but those.
    pub(crate) fn open(value: Value<'a>, place: String, members: &[&str]) -> Result<Self, Fault> {
        let Some(object) = value.as_object() else {
            return Err(Fault::new(&place, "an object is expected"));
        };
        let fields = Self { object, place };
        for (name, _) in object {
            if !members.iter().any(|known| name == **known) {
                let what = format!("unknown member{}", shown(&name.decode_lossy()));
                return Err(Fault::new(&fields.place, what));
            }
        }
        Ok(fields)
    }

    /// The place of a member.
    pub(crate) fn place(&self, name: &str) -> String {
        if self.place.is_empty() {
            name.to_owned()
        } else if self.place.ends_with(')') {
            // An entry with its id, which reads better apart.
            format!("{}: {name}", self.place)
        } else {
            format!("{}.{name}", self.place)
        }
    }

    /// A fault of a member.
    pub(crate) fn fault(&self, name: &str, what: impl fmt::Display) -> Fault {
        Fault::new(&self.place(name), what)
    }

    /// A fault of the object itself.
    pub(crate) fn own_fault(&self, what: impl fmt::Display) -> Fault {
        Fault::new(&self.place, what)
    }

    pub(crate) fn get(&self, name: &str) -> Option<Value<'a>> {
        self.object.get(name)
    }

    pub(crate) fn need(&self, name: &str) -> Result<Value<'a>, Fault> {
        self.get(name).ok_or_else(|| self.fault(name, "missing"))
    }

    /// An object member with a closed set of members of its own.
    pub(crate) fn object(&self, name: &str, members: &[&str]) -> Result<Option<Self>, Fault> {
        let value = self.get(name);
        value
            .map(|value| Self::open(value, self.place(name), members))
            .transpose()
    }

    /// The elements of an array member with their places; none when absent.
    pub(crate) fn array(&self, name: &str) -> Result<Vec<(Value<'a>, String)>, Fault> {
        let Some(value) = self.get(name) else {
            return Ok(Vec::new());
        };
        let array = value
            .as_array()
            .ok_or_else(|| self.fault(name, "an array is expected"))?;
        let place = |index| format!("{}[{index}]", self.place(name));
        Ok(array
            .iter()
            .enumerate()
            .map(|(index, value)| (value, place(index)))
            .collect())
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Fault> {
        let value = self.get(name);
        value
            .map(|value| text(value, &self.place(name)))
            .transpose()
    }

    pub(crate) fn need_text(&self, name: &str) -> Result<String, Fault> {
        text(self.need(name)?, &self.place(name))
    }

    /// A truth value; false when absent.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Fault> {
        let value = self.get(name).map(|value| value.as_bool().ok_or(value));
        match value {
            None => Ok(false),
            Some(Ok(flag)) => Ok(flag),
            Some(Err(_)) => Err(self.fault(name, "true or false is expected")),
        }
    }

    pub(crate) fn whole(&self, name: &str) -> Result<Option<u64>, Fault> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let number = value
            .as_u64()
            .ok_or_else(|| self.fault(name, "a whole number is expected"))?;
        Ok(Some(number))
    }
}

/// A string that is text.
pub(crate) fn text(value: Value<'_>, place: &str) -> Result<String, Fault> {
    if value.kind() != Kind::String {
        return Err(Fault::new(place, "a string is expected"));
    }
    let decoded = value.as_str().and_then(|text| text.decode().ok());
    decoded
        .map(std::borrow::Cow::into_owned)
        .ok_or_else(|| Fault::new(place, "an unpaired surrogate escape is no text"))
}

/// A member name, if it looks like one: a misplaced key must not be shown.
fn shown(name: &str) -> String {
    let harmless = name.len() <= 32 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    if harmless && !name.is_empty() {
        format!(" {name:?}")
    } else {
        String::new()
    }
}
