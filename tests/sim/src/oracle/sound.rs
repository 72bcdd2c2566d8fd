//! Whether text is JSON in which no object names a member twice: in one pass, since
//! every record of a world is looked at so, and without the reader of the agent.

use super::json::{ONES, literal_end};
use super::json::{blanks, decoded_name, zeros};
use std::borrow::Cow;

/// Names and open values for which there is room at once.
const ROOM: usize = 32;

/// What is open.
enum Open {
    List,
    /// Where its names begin, and which kinds of names it has.
    Object(usize, u64),
}

/// Whether `text` is one JSON value, blanks around it, and no object anywhere in it
/// names a member twice.
pub(crate) fn is_sound(text: &[u8]) -> bool {
    walk(text).is_some_and(|end| end == text.len())
}

/// Where the value and the blanks behind it end; `None` where it is not sound.
fn walk(text: &[u8]) -> Option<usize> {
    let mut names: Vec<Cow<'_, [u8]>> = Vec::with_capacity(ROOM);
    let mut opened: Vec<Open> = Vec::with_capacity(ROOM);
    let mut at = blanks(text, 0);
    loop {
        // A value begins here.
        let closes = match text.get(at)? {
            b'{' => {
                opened.push(Open::Object(names.len(), 0));
                b'}'
            }
            b'[' => {
                opened.push(Open::List);
                b']'
            }
            b'"' => {
                at = string_end(text, at)?;
                0
            }
            _ => {
                at = scalar_end(text, at)?;
                0
            }
        };
        if closes != 0 {
            at = blanks(text, at + 1);
            if text.get(at) != Some(&closes) {
                if closes == b'}' {
                    at = name_end(text, at, &mut names, &mut opened)?;
                }
                continue;
            }
        }
        // A value has ended here, or the last of what is open does.
        loop {
            at = blanks(text, at);
            let Some(last) = opened.last() else {
                return Some(at);
            };
            let object = matches!(last, Open::Object(..));
            match text.get(at)? {
                b',' => {
                    at = blanks(text, at + 1);
                    if object {
                        at = name_end(text, at, &mut names, &mut opened)?;
                    }
                    break;
                }
                b'}' if object => {}
                b']' if !object => {}
                _ => return None,
            }
            if let Some(Open::Object(begin, _)) = opened.pop() {
                names.truncate(begin);
            }
            at += 1;
        }
    }
}

/// Where the value begins whose name begins at `at`, unless the object has that
/// name already.
fn name_end<'a>(
    text: &'a [u8],
    at: usize,
    names: &mut Vec<Cow<'a, [u8]>>,
    opened: &mut [Open],
) -> Option<usize> {
    if text.get(at) != Some(&b'"') {
        return None;
    }
    let end = string_end(text, at)?;
    let name = decoded_name(text.get(at + 1..end - 1)?);
    let Some(Open::Object(begin, kinds)) = opened.last_mut() else {
        return None;
    };
    let ends = [name.first(), name.last()];
    let kind = ends.into_iter().flatten().fold(name.len(), |kind, byte| {
        kind.wrapping_mul(7) ^ usize::from(*byte)
    });
    let kind = 1_u64 << (kind % 64);
    if *kinds & kind != 0 && names.iter().skip(*begin).any(|known| *known == name) {
        return None;
    }
    *kinds |= kind;
    names.push(name);
    let colon = blanks(text, end);
    (text.get(colon) == Some(&b':')).then(|| blanks(text, colon + 1))
}

/// Behind the string that begins at `at`.
fn string_end(text: &[u8], mut at: usize) -> Option<usize> {
    at += 1;
    loop {
        while let Some(eight) = text.get(at..).and_then(<[u8]>::first_chunk) {
            let word = u64::from_le_bytes(*eight);
            let control = word.wrapping_sub(ONES * 0x20) & !word & (ONES << 7);
            let found = control
                | zeros(word ^ (ONES * u64::from(b'"')))
                | zeros(word ^ (ONES * u64::from(b'\\')));
            if found != 0 {
                at += found.trailing_zeros() as usize / 8;
                break;
            }
            at += 8;
        }
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => match text.get(at + 1)? {
                b'u' => {
                    let digits = text.get(at + 2..at + 6)?;
                    if !digits.iter().all(u8::is_ascii_hexdigit) {
                        return None;
                    }
                    at += 6;
                }
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                _ => return None,
            },
            ..0x20 => return None,
            _ => at += 1,
        }
    }
}

/// Behind the word or the number that begins at `at`.
fn scalar_end(text: &[u8], at: usize) -> Option<usize> {
    let end = literal_end(text, at);
    let literal = text.get(at..end)?;
    let sound = matches!(literal, b"true" | b"false" | b"null") || is_number(literal);
    sound.then_some(end)
}

fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest.first() == Some(&b'0')) {
        return false;
    }
    rest = rest.get(whole..).unwrap_or_default();
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = fraction.get(count..).unwrap_or_default();
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = match exponent {
            [b'+' | b'-', digits @ ..] => digits,
            digits => digits,
        };
        return !exponent.is_empty() && digits(exponent) == exponent.len();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
    use std::collections::BTreeSet;
    use std::fmt;

    /// Any value, if no object of it names a member twice.
    struct Sound;

    impl<'de> Deserialize<'de> for Sound {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            from.deserialize_any(Self)
        }
    }

    impl<'de> Visitor<'de> for Sound {
        type Value = Self;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a value")
        }
        fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
            Ok(self)
        }
        fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
            Ok(self)
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
            Ok(self)
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
            Ok(self)
        }
        fn visit_str<E>(self, _: &str) -> Result<Self, E> {
            Ok(self)
        }
        fn visit_unit<E>(self) -> Result<Self, E> {
            Ok(self)
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
            while list.next_element::<Self>()?.is_some() {}
            Ok(self)
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
            let mut names = BTreeSet::new();
            while let Some((name, _)) = map.next_entry::<String, Self>()? {
                if !names.insert(name) {
                    return Err(A::Error::custom("twice"));
                }
            }
            Ok(self)
        }
    }

    #[test]
    fn a_full_parser_agrees_whatever_one_byte_is() {
        let texts: [&str; 6] = [
            r#" {"a":[1,-2.5e+3,0.25,true],"b":{"a":"x\n\u00e9","c":{}},"d":[],"e":null} "#,
            r#"[{"long name":1,"long nam":2},{"long name":3},[[]],"",false]"#,
            r#"{"type":"user","t\u0079pe":"keep_alive"}"#,
            r#"{"a":{"b":1,"b":2}}"#,
            "-0.1e9",
            r#""text""#,
        ];
        let mut sound = 0;
        for text in texts {
            for at in 0..text.len() {
                for byte in (0..0x80).filter(|byte| *byte != 0x7f) {
                    let mut bytes = text.as_bytes().to_vec();
                    bytes[at] = byte;
                    let expected = serde_json::from_slice::<Sound>(&bytes).is_ok();
                    let shown = String::from_utf8_lossy(&bytes);
                    assert_eq!(is_sound(&bytes), expected, "{shown}");
                    sound += u32::from(expected);
                    bytes.truncate(at);
                    assert_eq!(
                        is_sound(&bytes),
                        serde_json::from_slice::<Sound>(&bytes).is_ok()
                    );
                }
            }
        }
        assert!(sound > 1_000, "{sound}");
    }

    #[test]
    fn names_are_compared_decoded() {
        assert!(!is_sound(br#"{"a":1,"\u0061":2}"#));
        assert!(!is_sound(br#"[{"b":{"a":1,"a":2}}]"#));
        assert!(is_sound(br#"{"a":{"a":[]},"b":[{"a":1},{"a":1}]}"#));
    }

    #[test]
    fn half_a_pair_and_deep_lists_are_json() {
        assert!(is_sound(br#""\ud800""#));
        let deep = ["[".repeat(10_000), "]".repeat(10_000)].concat();
        assert!(is_sound(deep.as_bytes()));
        assert!(!is_sound(b""));
    }
}
