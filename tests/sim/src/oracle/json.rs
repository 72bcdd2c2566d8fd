//! A small reader of JSON text, as fast as the oracles need and independent of the
//! reader that the agent has: members of objects and items of lists, as they stand.
//!
//! It reads text that a full parser has taken before; of other text it gives some
//! members or none.

use std::borrow::Cow;

/// The members of an object: raw names without their quotes, and raw values.
pub(crate) struct Members<'a> {
    text: &'a [u8],
    at: usize,
}

/// The members of the object that `text` is; none if it is something else.
pub(crate) fn members(text: &[u8]) -> Members<'_> {
    let at = blanks(text, 0);
    let at = if text.get(at) == Some(&b'{') {
        at + 1
    } else {
        text.len()
    };
    Members { text, at }
}

impl<'a> Members<'a> {
    /// The next name, and where its value begins.
    fn name(&mut self) -> Option<(&'a [u8], usize)> {
        let begin = separators(self.text, self.at);
        if self.text.get(begin) != Some(&b'"') {
            self.at = self.text.len();
            return None;
        }
        let end = string_end(self.text, begin);
        let name = self.text.get(begin + 1..end - 1)?;
        let colon = blanks(self.text, end);
        Some((name, blanks(self.text, colon + 1)))
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.name()?;
        let end = value_end(self.text, value);
        self.at = end;
        Some((name, self.text.get(value..end)?))
    }
}

/// The value of a member, the first of its name.
pub(crate) fn member<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut members = members(object);
    let found = members.find(|(found, _)| *found == name.as_bytes());
    found.map(|(_, value)| value)
}

/// The decoded text of a member, if it is a string.
pub(crate) fn text_member<'a>(object: &'a [u8], name: &str) -> Option<Cow<'a, str>> {
    text(member(object, name)?)
}

/// The items of a list.
pub(crate) struct Items<'a> {
    text: &'a [u8],
    at: usize,
}

/// The items of the list that `text` is; none if it is something else.
pub(crate) fn items(text: &[u8]) -> Items<'_> {
    let at = blanks(text, 0);
    let at = if text.get(at) == Some(&b'[') {
        at + 1
    } else {
        text.len()
    };
    Items { text, at }
}

impl<'a> Iterator for Items<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<Self::Item> {
        let begin = separators(self.text, self.at);
        if begin >= self.text.len() || self.text.get(begin) == Some(&b']') {
            self.at = self.text.len();
            return None;
        }
        let end = value_end(self.text, begin);
        self.at = end;
        self.text.get(begin..end)
    }
}

/// The text of a raw string, decoded; `None` for another value and for one that
/// holds half of a surrogate pair.
pub(crate) fn text(raw: &[u8]) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', inner).is_some() {
        return serde_json::from_slice(raw).ok().map(Cow::Owned);
    }
    std::str::from_utf8(inner).ok().map(Cow::Borrowed)
}

/// Whether `text` is one JSON value.
pub(crate) fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
}

/// A name with its escapes decoded.
pub(crate) fn decoded_name(name: &[u8]) -> Cow<'_, [u8]> {
    if !name.contains(&b'\\') {
        return Cow::Borrowed(name);
    }
    let quoted = [b"\"", name, b"\""].concat();
    let text = text(&quoted).map(|text| text.into_owned().into_bytes());
    text.map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Behind the blanks that begin at `at`, if there are some.
pub(crate) fn blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

fn separators(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\r' | b'\n' | b',')) {
        at += 1;
    }
    at
}

/// Behind the string that begins at `at`.
fn string_end(text: &[u8], mut at: usize) -> usize {
    at += 1;
    loop {
        while let Some(eight) = text.get(at..).and_then(<[u8]>::first_chunk) {
            let word = u64::from_le_bytes(*eight);
            let found =
                zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\')));
            if found != 0 {
                at += found.trailing_zeros() as usize / 8;
                break;
            }
            at += 8;
        }
        match text.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return text.len(),
        }
    }
}

/// A word with one in each byte.
pub(crate) const ONES: u64 = 0x0101_0101_0101_0101;

/// The lowest bit that is set is the highest of the first byte that is zero.
pub(crate) const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}

/// Behind the value that begins at `at`.
fn value_end(text: &[u8], mut at: usize) -> usize {
    match text.get(at) {
        Some(b'"') => string_end(text, at),
        Some(b'{' | b'[') => {
            let mut depth = 0_usize;
            while let Some(byte) = text.get(at) {
                match byte {
                    b'"' => {
                        at = string_end(text, at);
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            return at + 1;
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
            text.len()
        }
        _ => literal_end(text, at),
    }
}

/// Behind the number or the word that begins at `at`.
fn literal_end(text: &[u8], mut at: usize) -> usize {
    while !matches!(
        text.get(at),
        None | Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n' | b':')
    ) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_items_are_found_as_they_stand() {
        let object = br#" { "a" : "x\"}" , "b":[1,{"c":[]},"]"],"d":null}"#;
        let found: Vec<_> = members(object).collect();
        assert_eq!(found.len(), 3);
        assert_eq!(found[0], (&b"a"[..], &br#""x\"}""#[..]));
        assert_eq!(found[2], (&b"d"[..], &b"null"[..]));
        let list: Vec<_> = items(found[1].1).collect();
        assert_eq!(list, [&b"1"[..], br#"{"c":[]}"#, br#""]""#]);
        assert_eq!(text_member(object, "a").as_deref(), Some("x\"}"));
        assert_eq!(text_member(object, "d"), None);
        assert_eq!(member(object, "d"), Some(&b"null"[..]));
        assert_eq!(member(object, "e"), None);
    }

    #[test]
    fn text_that_is_no_json_ends_the_reading() {
        for broken in [&b""[..], b"{", b"{\"a", b"{\"a\"", b"{\"a\":", b"[1,", b"x"] {
            let _ = members(broken).count() + items(broken).count();
            assert!(!is_json(broken));
        }
    }
}
