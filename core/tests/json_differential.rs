//! The scanner beside serde_json on random and damaged documents.

use agentx_core::json::{Kind, RawJson, Reason, ScanError, ScanLimits, Scanner, Value, Writer};
use agentx_laws::SplitMix64;
use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt;

const DOCUMENTS: u64 = 1500;
const DAMAGED: usize = 20;

/// Writes a random value, some of it in unusual spelling.
fn value(rng: &mut SplitMix64, depth: usize, out: &mut String) {
    space(rng, out);
    match rng.below(if depth == 0 { 6 } else { 10 }) {
        0 => out.push_str(pick(rng, &["null", "true", "false"])),
        1 | 2 => out.push_str(pick(
            rng,
            &[
                "0",
                "-0",
                "7",
                "-12.50",
                "1e5",
                "1E+05",
                "0.1e-2",
                "12345678901234567890",
            ],
        )),
        3..=5 => string(rng, out),
        6 | 7 => {
            out.push('[');
            for index in 0..rng.below(5) {
                comma(index, out);
                value(rng, depth - 1, out);
            }
            space(rng, out);
            out.push(']');
        }
        _ => {
            let many = if rng.one_in(20) { 40 } else { 6 };
            out.push('{');
            for index in 0..rng.below(many) {
                comma(index, out);
                space(rng, out);
                name(rng, out);
                space(rng, out);
                out.push(':');
                value(rng, depth - 1, out);
            }
            space(rng, out);
            out.push('}');
        }
    }
    space(rng, out);
}

fn comma(index: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
}

fn space(rng: &mut SplitMix64, out: &mut String) {
    if rng.one_in(12) {
        out.push_str(pick(rng, &[" ", "\n", "\t ", "\r\n  "]));
    }
}

/// A member name; some repeat, some of those in another spelling.
fn name(rng: &mut SplitMix64, out: &mut String) {
    if rng.one_in(2) {
        out.push_str(&format!("\"name {}\"", rng.below(300)));
    } else if rng.one_in(2) {
        out.push_str(&format!(
            "\"a long name that only differs here {} and ends\"",
            rng.below(99)
        ));
    } else if rng.one_in(6) {
        out.push_str(pick(
            rng,
            &["\"a\"", "\"\\u0061\"", "\"é\"", "\"\\u00E9\"", "\"\""],
        ));
    } else {
        string(rng, out);
    }
}

fn string(rng: &mut SplitMix64, out: &mut String) {
    out.push('"');
    for _ in 0..rng.below(12) {
        out.push_str(pick(
            rng,
            &[
                "a",
                "type",
                " ",
                "0123456789abcdef",
                "é",
                "\u{2028}",
                "😀",
                "\\n",
                "\\\"",
                "\\\\",
                "\\/",
                "\\u00e9",
                "\\ud83d\\ude00",
                "\\u2029",
                "\u{7f}",
                "{",
                "]",
                ",",
                ":",
            ],
        ));
    }
    if rng.one_in(40) {
        out.push_str(pick(rng, &["\\ud800", "\\udc00\\ud800", "\\uDBFF\\n"]));
    }
    out.push('"');
}

fn pick<'a>(rng: &mut SplitMix64, choices: &[&'a str]) -> &'a str {
    choices[rng.below(choices.len())]
}

/// Changes, drops, repeats or inserts some bytes.
fn damage(rng: &mut SplitMix64, text: &mut Vec<u8>) {
    let at = rng.below(text.len() + 1);
    let to = (at + 1 + rng.below(8)).min(text.len());
    match rng.below(5) {
        0 => text.truncate(at),
        1 => drop(text.drain(at..to)),
        2 => {
            let piece = text[at..to].to_vec();
            let to = rng.below(text.len() + 1);
            text.splice(to..to, piece);
        }
        3 => {
            let bytes = b"\"\\{}[],:0-.eE+ \n\t\x00\x1f\x7f\x80\xc3\xe2\xed\xff/utrfn";
            text.insert(at, bytes[rng.below(bytes.len())]);
        }
        _ => {
            if let Some(byte) = text.get_mut(at) {
                *byte ^= 1 << rng.below(8);
            }
        }
    }
}

/// What serde_json says: its verdict on the syntax, and whether a name repeats.
#[derive(Debug, PartialEq)]
enum Verdict {
    Fine,
    Duplicate,
    Malformed,
    /// Valid grammar that serde_json cannot read as a value: a number beyond
    /// its range, an unpaired surrogate. Whether names repeat is not known.
    Unreadable,
}

fn serde_says(text: &[u8]) -> Verdict {
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

fn judge(scanner: &mut Scanner, text: &[u8]) {
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

// covers: DEC-03, DEC-04, WIRE-014, WIRE-021
#[test]
fn random_and_damaged_documents_are_judged_as_serde_json_judges_them() {
    let mut scanner = Scanner::new();
    let mut seen = [0; 4];
    for seed in 0..DOCUMENTS {
        let mut rng = SplitMix64::new(seed);
        let mut text = String::new();
        value(&mut rng, 5, &mut text);
        judge(&mut scanner, text.as_bytes());
        for _ in 0..DAMAGED {
            let mut text = text.clone().into_bytes();
            for _ in 0..=rng.below(3) {
                damage(&mut rng, &mut text);
            }
            seen[match serde_says(&text) {
                Verdict::Fine => 0,
                Verdict::Duplicate => 1,
                Verdict::Malformed => 2,
                Verdict::Unreadable => 3,
            }] += 1;
            judge(&mut scanner, &text);
        }
    }
    assert!(
        seen.iter().all(|count| *count > 50),
        "some verdicts are rare: {seen:?}"
    );
}

#[test]
fn what_is_written_reads_back() {
    for seed in 0..2000 {
        let mut rng = SplitMix64::new(seed);
        let text: String = (0..rng.below(60))
            .map(|_| {
                let most = [0x20, 0x80, 0x3000, 0x11_0000][rng.below(4)];
                let code = u32::try_from(rng.below(most)).unwrap_or(0);
                char::from_u32(code).unwrap_or('\u{2028}')
            })
            .collect();
        let mut writer = Writer::new();
        writer.begin_object();
        writer.member_str(&text, &text);
        writer.end_object();
        let written = writer.finish();
        assert!(!String::from_utf8_lossy(&written).contains(['\u{2028}', '\u{2029}', '\n']));
        let theirs: serde_json::Value = serde_json::from_slice(&written).expect("valid");
        assert_eq!(theirs[&text], text);
        let mut scanner = Scanner::new();
        let ours = scanner.scan(&written, &ScanLimits::DEFAULT).expect("valid");
        let (name, value) = ours
            .as_object()
            .and_then(|o| o.iter().next())
            .expect("a member");
        assert!(name == text.as_str() && value.as_str().is_some_and(|s| s == text.as_str()));
        let canonical = RawJson::from_value(ours);
        assert_eq!(canonical.as_str().as_bytes(), written);
    }
}

#[test]
fn faults_lie_within_the_text() {
    let mut scanner = Scanner::new();
    for seed in 0..DOCUMENTS {
        let mut rng = SplitMix64::new(seed);
        let mut text = String::new();
        value(&mut rng, 4, &mut text);
        let mut text = text.into_bytes();
        damage(&mut rng, &mut text);
        if let Err(ScanError { at, reason }) = scanner.scan(&text, &ScanLimits::DEFAULT) {
            assert!(at <= text.len());
            assert_eq!(
                reason == Reason::UnexpectedEnd,
                at == text.len() && reason != Reason::Empty
            );
        }
    }
}
