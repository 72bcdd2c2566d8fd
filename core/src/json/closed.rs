//! Closed JSON objects of configuration files: every member is known, and every
//! fault has a place.
//!
//! ```
//! use agentx_core::json::closed::Fields;
//! use agentx_core::json::{ScanLimits, Scanner};
//!
//! let mut scanner = Scanner::new();
//! let text = scanner.scan(br#"{"limits":{"retries":-1}}"#, &ScanLimits::DEFAULT)?;
//! let file = Fields::open(text, String::new(), &["limits"])?;
//! let limits = file.object("limits", &["retries"])?.ok_or("no limits")?;
//! let fault = limits.whole("retries").unwrap_err();
//! assert_eq!(fault.to_string(), "limits.retries: a whole number is expected");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{Kind, Object, Reason, ScanError, Value};
use alloc::borrow::{Cow, ToOwned as _};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;

/// A fault in a configuration text: where, and what is expected there. Never
/// holds a value of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(String);

impl Fault {
    /// A fault at a place; in the whole text when that is empty.
    #[must_use]
    pub fn new(place: &str, what: impl fmt::Display) -> Self {
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

impl core::error::Error for Fault {}

/// What keeps a text from being JSON; names the member that stands there twice.
#[must_use]
pub fn unreadable(error: ScanError, text: &[u8]) -> Fault {
    let name = || {
        let rest = text.get(error.at.saturating_add(1)..)?;
        let end = rest.iter().position(|byte| *byte == b'"')?;
        core::str::from_utf8(rest.get(..end)?).ok()
    };
    match (error.reason, name()) {
        (Reason::DuplicateName, Some(name)) => {
            let at = error.at.saturating_add(1);
            Fault::new(
                "",
                format_args!("{}{} at byte {at}", error.reason, shown(name)),
            )
        }
        _ => Fault::new("", error),
    }
}

/// An object with a closed set of members, and its place in the text.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    object: Object<'a>,
    place: String,
}

impl<'a> Fields<'a> {
    /// Opens a value that must be an object with no member but those.
    ///
    /// # Errors
    ///
    /// Something else than an object; the first member that is not known.
    pub fn open(value: Value<'a>, place: String, members: &[&str]) -> Result<Self, Fault> {
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
    #[must_use]
    pub fn place(&self, name: &str) -> String {
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
    #[must_use]
    pub fn fault(&self, name: &str, what: impl fmt::Display) -> Fault {
        Fault::new(&self.place(name), what)
    }

    /// A fault of the object itself.
    #[must_use]
    pub fn own_fault(&self, what: impl fmt::Display) -> Fault {
        Fault::new(&self.place, what)
    }

    /// The member, if it is there.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.object.get(name)
    }

    /// The member.
    ///
    /// # Errors
    ///
    /// When it is missing.
    pub fn need(&self, name: &str) -> Result<Value<'a>, Fault> {
        self.get(name).ok_or_else(|| self.fault(name, "missing"))
    }

    /// An object member with a closed set of members of its own.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn object(&self, name: &str, members: &[&str]) -> Result<Option<Self>, Fault> {
        let value = self.get(name);
        value
            .map(|value| Self::open(value, self.place(name), members))
            .transpose()
    }

    /// The elements of an array member with their places; none when absent.
    ///
    /// # Errors
    ///
    /// Something else than an array.
    pub fn array(&self, name: &str) -> Result<Vec<(Value<'a>, String)>, Fault> {
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

    /// A text member, if it is there.
    ///
    /// # Errors
    ///
    /// As [`text`].
    pub fn text(&self, name: &str) -> Result<Option<String>, Fault> {
        let value = self.get(name);
        value
            .map(|value| text(value, &self.place(name)))
            .transpose()
    }

    /// A text member.
    ///
    /// # Errors
    ///
    /// When it is missing; as [`text`].
    pub fn need_text(&self, name: &str) -> Result<String, Fault> {
        text(self.need(name)?, &self.place(name))
    }

    /// A truth value; false when absent.
    ///
    /// # Errors
    ///
    /// Something else.
    pub fn flag(&self, name: &str) -> Result<bool, Fault> {
        let value = self.get(name).map(|value| value.as_bool().ok_or(value));
        match value {
            None => Ok(false),
            Some(Ok(flag)) => Ok(flag),
            Some(Err(_)) => Err(self.fault(name, "true or false is expected")),
        }
    }

    /// A whole number without sign, fraction or exponent, if it is there.
    ///
    /// # Errors
    ///
    /// Something else.
    pub fn whole(&self, name: &str) -> Result<Option<u64>, Fault> {
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
///
/// # Errors
///
/// Something else than a string; half of a surrogate pair in one.
pub fn text(value: Value<'_>, place: &str) -> Result<String, Fault> {
    if value.kind() != Kind::String {
        return Err(Fault::new(place, "a string is expected"));
    }
    let decoded = value.as_str().and_then(|text| text.decode().ok());
    decoded
        .map(Cow::into_owned)
        .ok_or_else(|| Fault::new(place, "an unpaired surrogate escape is no text"))
}

/// A member name, if it looks like one: a misplaced key must not be shown.
fn shown(name: &str) -> String {
    let bytes = name.as_bytes();
    let capitals_apart = bytes
        .windows(2)
        .all(|pair| !pair.iter().all(u8::is_ascii_uppercase));
    let harmless = bytes.len() <= 32
        && bytes.first().is_some_and(u8::is_ascii_lowercase)
        && bytes.iter().all(|b| b.is_ascii_alphabetic() || *b == b'_')
        && capitals_apart;
    if harmless {
        format!(" {name:?}")
    } else {
        String::new()
    }
}
