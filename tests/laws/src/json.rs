//! The scanner of the core beside serde_json.
//!
//! Both judge the same text. They agree on grammar and UTF-8, and where both
//! read a value it is the same one. They differ, on purpose, in this: the core
//! refuses names that repeat, bounds depth, and takes numbers of any size and
//! strings with half of a surrogate pair, which it can tell.

use agentx_core::json::{Kind, RawJson, Reason, ScanLimits, Scanner, Value};
use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt;

/// What serde_json says: its verdict on the syntax, and whether a name repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A value.
    Fine,
    /// A value, but for a name that repeats.
    Duplicate,
    /// No JSON.
    Malformed,
    /// Valid grammar that serde_json cannot read as a value: a number beyond
    /// its range, an unpaired surrogate, more levels than it takes. Whether names
    /// repeat is not known.
    Unreadable,
}

/// What serde_json says of a text.
#[must_use]
pub fn serde_says(text: &[u8]) -> Verdict {
    let valid = std::str::from_utf8(text)
        .is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
    if !valid {
        return Verdict::Malformed;
    }
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    match Unique.deserialize(&mut deserializer) {
        Ok(()) => Verdict::Fine,
        Err(error) if error.to_string().starts_with("duplicate") => Verdict::Duplicate,
        Err(_) => Verdict::Unreadable,
    }
}

struct Unique;

impl<'de> DeserializeSeed<'de> for Unique {
    type Value = ();

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut names = BTreeSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if !names.insert(name) {
                return Err(de::Error::custom("duplicate"));
            }
            members.next_value_seed(Self)?;
        }
        Ok(())
    }
}

/// Whether a value reads the same as serde_json's.
fn same(ours: Value<'_>, theirs: &serde_json::Value) -> bool {
    match (ours.kind(), theirs) {
        (Kind::Null, serde_json::Value::Null) => true,
        (Kind::Bool, serde_json::Value::Bool(theirs)) => ours.as_bool() == Some(*theirs),
        (Kind::String, serde_json::Value::String(theirs)) => {
            let ours = ours.as_str().expect("a string");
            ours.decode().as_deref() == Ok(theirs) && ours == theirs.as_str()
        }
        (Kind::Number, serde_json::Value::Number(theirs)) => {
            let ours = ours.as_number().expect("a number");
            serde_json::from_str::<serde_json::Number>(ours).is_ok_and(|ours| ours == *theirs)
        }
        (Kind::Array, serde_json::Value::Array(theirs)) => {
            let ours = ours.as_array().expect("an array");
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| same(a, b))
        }
        (Kind::Object, serde_json::Value::Object(theirs)) => {
            let ours = ours.as_object().expect("an object");
            let found = |(name, theirs): (&String, &serde_json::Value)| {
                ours.get(name).is_some_and(|ours| same(ours, theirs))
            };
            ours.len() == theirs.len() && theirs.iter().all(found)
        }
        _ => false,
    }
}

/// Lets both judge a text, and the scanner once more with each smaller index.
///
/// # Panics
///
/// When they do not agree as they should.
pub fn judge(scanner: &mut Scanner, text: &[u8]) -> Verdict {
    let shown = String::from_utf8_lossy(text);
    let verdict = serde_says(text);
    let found = scanner.scan(text, &ScanLimits::DEFAULT);
    match (&verdict, found.map_err(|fault| fault.reason)) {
        (Verdict::Fine, Ok(value)) => {
            let theirs = serde_json::from_slice(text).expect("it was fine before");
            assert!(same(value, &theirs), "{shown}");
            let raw = RawJson::from_value(value);
            let again: serde_json::Value = serde_json::from_str(raw.as_str()).expect("canonical");
            assert_eq!(again, theirs, "{shown}");
            assert_eq!(RawJson::parse(raw.as_str()).as_ref(), Ok(&raw), "{shown}");
        }
        (Verdict::Duplicate, Err(Reason::DuplicateName))
        | (Verdict::Unreadable, Ok(_) | Err(Reason::DuplicateName))
        | (Verdict::Malformed, Err(_)) => {}
        (Verdict::Fine | Verdict::Duplicate | Verdict::Unreadable, Err(Reason::TooDeep)) => {
            assert!(depth(text) > ScanLimits::DEFAULT.max_depth, "{shown}");
        }
        (_, found) => panic!("{verdict:?} there, {found:?} here: {shown}"),
    }
    // A smaller index must change nothing.
    let full = scanner.scan(text, &ScanLimits::DEFAULT).map(whole);
    for node_depth in [0, 1, 2] {
        let limits = ScanLimits {
            node_depth,
            ..ScanLimits::DEFAULT
        };
        assert_eq!(scanner.scan(text, &limits).map(whole), full, "{shown}");
    }
    verdict
}

/// Arrays and objects that are open at once in a text that is JSON, at most.
fn depth(text: &[u8]) -> usize {
    let (mut open, mut most) = (0_usize, 0_usize);
    let (mut inside, mut escaped) = (false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b'[' | b'{' if !inside => {
                open += 1;
                most = most.max(open);
            }
            b']' | b'}' if !inside => open = open.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// All of a value as text that tells kinds, order and surrogates.
fn whole(value: Value<'_>) -> String {
    let mark = if value.has_unpaired_surrogate() {
        "!"
    } else {
        ""
    };
    if let Some(object) = value.as_object() {
        let members = object
            .iter()
            .map(|(name, value)| format!("{name:?}={}", whole(value)));
        return format!("{mark}{{{}}}", members.collect::<Vec<_>>().join(";"));
    }
    if let Some(array) = value.as_array() {
        let elements = array.iter().map(whole);
        return format!("{mark}[{}]", elements.collect::<Vec<_>>().join(";"));
    }
    format!("{mark}{}", value.raw())
}
