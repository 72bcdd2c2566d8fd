//! JSON text, read once: whether it is one value in which no object names a member
//! twice, and where everything in it stands. In one pass, since every record of a
//! world is looked at so, and without the reader of the agent.

use super::json::{ONES, blanks, decoded_name, text, zeros};
use std::borrow::Cow;
use std::fmt;

/// Values for which there is room at once.
const ROOM: usize = 64;

/// A part of the text.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    at: usize,
    end: usize,
}

impl Span {
    fn of(self, text: &[u8]) -> &[u8] {
        text.get(self.at..self.end).unwrap_or_default()
    }
}

/// Where a value stands.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its name without the quotes, if it is a member.
    name: Span,
    value: Span,
    /// The place of what follows behind it and all that is in it.
    next: usize,
}

/// An object or a list that is open.
#[derive(Clone, Copy, Debug)]
struct Open {
    place: usize,
    /// What closes it.
    closes: u8,
    /// Which kinds of names it has.
    kinds: u64,
}

/// Where everything in a text stands, each value before those in it. What one text
/// needed is used again for the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    places: Vec<Place>,
    open: Vec<Open>,
    /// How deep it nests.
    depth: usize,
    /// Whether a name is spelled with escapes.
    escapes: bool,
}

impl Tree {
    /// A tree with room for most records.
    pub(crate) fn with_room() -> Self {
        Self {
            places: Vec::with_capacity(ROOM),
            open: Vec::with_capacity(ROOM),
            ..Self::default()
        }
    }

    /// Reads `text`; `None` unless it is one JSON value, blanks around it, and no
    /// object anywhere in it names a member twice.
    pub(crate) fn read<'a>(&'a mut self, text: &'a [u8]) -> Option<Node<'a>> {
        self.places.clear();
        self.open.clear();
        (self.depth, self.escapes) = (0, false);
        let end = self.walk(text);
        if end != Some(text.len()) {
            self.places.clear();
        }
        self.of(text)
    }

    /// The value that was read from `text` before, if it was one.
    pub(crate) fn of<'a>(&'a self, text: &'a [u8]) -> Option<Node<'a>> {
        let read = !self.places.is_empty();
        read.then_some(Node {
            text,
            tree: self,
            place: 0,
        })
    }

    /// Where the value and the blanks behind it end; `None` where it is not sound.
    fn walk(&mut self, text: &[u8]) -> Option<usize> {
        let mut at = blanks(text, 0);
        let mut name = Span::default();
        loop {
            // A value begins here.
            let place = self.places.len();
            let (begin, first) = (at, *text.get(at)?);
            let holds = matches!(first, b'{' | b'[');
            at = match first {
                b'"' => string_end(text, at)?.0,
                b'{' | b'[' => blanks(text, at + 1),
                _ => scalar_end(text, at)?,
            };
            self.places.push(Place {
                name,
                value: Span { at: begin, end: at },
                next: place + 1,
            });
            if holds {
                let closes = first + 2;
                self.open.push(Open {
                    place,
                    closes,
                    kinds: 0,
                });
                self.depth = self.depth.max(self.open.len());
                if text.get(at) != Some(&closes) {
                    name = Span::default();
                    if first == b'{' {
                        (name, at) = self.name(text, at)?;
                    }
                    continue;
                }
            }
            // A value has ended here, or the last of what is open does.
            let mut ended = place;
            loop {
                at = blanks(text, at);
                let Some(Open { place, closes, .. }) = self.open.last().copied() else {
                    return Some(at);
                };
                let byte = *text.get(at)?;
                at += 1;
                if byte == closes {
                    self.open.pop();
                    ended = place;
                    let next = self.places.len();
                    let value = self.places.get_mut(place)?;
                    (value.value.end, value.next) = (at, next);
                } else if byte != b',' {
                    return None;
                } else if closes == b'}' {
                    (name, at) = self.name(text, blanks(text, at))?;
                    break;
                } else {
                    at = blanks(text, at);
                    let Some(again) = self.again(text, ended, at) else {
                        name = Span::default();
                        break;
                    };
                    (ended, at) = again;
                }
            }
        }
    }

    /// If the item at `at` is the last item once more: its place and where it ends. It
    /// is as sound then, and everything in it stands as much later.
    fn again(&mut self, text: &[u8], last: usize, at: usize) -> Option<(usize, usize)> {
        let item = self.places.get(last)?.value;
        let holds = matches!(text.get(item.at), Some(b'{' | b'['));
        if !holds || !text.get(at..)?.starts_with(item.of(text)) {
            return None;
        }
        let (by, end) = (at - item.at, self.places.len());
        let later = |span: Span| Span {
            at: span.at + by,
            end: span.end + by,
        };
        for place in last..end {
            let Place { name, value, next } = *self.places.get(place)?;
            self.places.push(Place {
                name: later(name),
                value: later(value),
                next: next + end - last,
            });
        }
        Some((end, item.end + by))
    }

    /// The name at `at` and where its value begins; `None` if the object has that name
    /// already.
    fn name(&mut self, text: &[u8], at: usize) -> Option<(Span, usize)> {
        if text.get(at) != Some(&b'"') {
            return None;
        }
        let (end, escaped) = string_end(text, at)?;
        let span = Span {
            at: at + 1,
            end: end - 1,
        };
        self.escapes |= escaped;
        let name = if escaped {
            decoded_name(span.of(text))
        } else {
            Cow::Borrowed(span.of(text))
        };
        let kind = kind(&name);
        let open = self.open.last_mut()?;
        let first = open.place + 1;
        let maybe = open.kinds & kind != 0;
        open.kinds |= kind;
        if maybe && self.has(text, first, &name) {
            return None;
        }
        let colon = blanks(text, end);
        (text.get(colon) == Some(&b':')).then(|| (span, blanks(text, colon + 1)))
    }

    /// Whether a member from this place on has the name.
    fn has(&self, text: &[u8], mut place: usize, name: &[u8]) -> bool {
        while let Some(known) = self.places.get(place) {
            let spelled = known.name.of(text);
            if spelled == name || (self.escapes && *decoded_name(spelled) == *name) {
                return true;
            }
            place = known.next;
        }
        false
    }
}

/// One value of a text.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    text: &'a [u8],
    tree: &'a Tree,
    place: usize,
}

impl<'a> Node<'a> {
    fn place(self) -> Option<&'a Place> {
        self.tree.places.get(self.place)
    }

    /// How deep the whole text nests.
    pub(crate) const fn depth(self) -> usize {
        self.tree.depth
    }

    /// The value as it stands.
    pub(crate) fn raw(self) -> &'a [u8] {
        self.place().map_or(&[], |place| place.value.of(self.text))
    }

    /// Its decoded text, if it is a string that can be decoded.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        text(self.raw())
    }

    pub(crate) fn is_object(self) -> bool {
        self.raw().first() == Some(&b'{')
    }

    pub(crate) fn is_list(self) -> bool {
        self.raw().first() == Some(&b'[')
    }

    /// What is in it, with names as they are spelled.
    fn held(self, opens: u8) -> impl Iterator<Item = (&'a [u8], Self)> {
        let holds = self.raw().first() == Some(&opens);
        let end = self.place().map_or(0, |place| place.next);
        let mut next = if holds { self.place + 1 } else { end };
        std::iter::from_fn(move || {
            let place = self.tree.places.get(next).filter(|_| next < end)?;
            let node = Self {
                place: next,
                ..self
            };
            next = place.next;
            Some((place.name.of(self.text), node))
        })
    }

    /// Its members if it is an object.
    pub(crate) fn members(self) -> impl Iterator<Item = (&'a [u8], Self)> {
        self.held(b'{')
    }

    /// Its items if it is a list.
    pub(crate) fn items(self) -> impl Iterator<Item = Self> {
        self.held(b'[').map(|(_, item)| item)
    }

    /// The member of that name.
    pub(crate) fn get(self, name: &str) -> Option<Self> {
        let found = self.members().find(|(found, _)| *found == name.as_bytes());
        found.map(|(_, value)| value)
    }

    /// The decoded text of a member, if it is a string.
    pub(crate) fn text_of(self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.text()
    }
}

/// Values are the same that are spelled the same.
impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw() == other.raw()
    }
}

impl Eq for Node<'_> {}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.raw()))
    }
}

/// One bit for names of a kind: those of another are other names.
fn kind(name: &[u8]) -> u64 {
    let (Some(first), Some(last)) = (name.first(), name.last()) else {
        return 1;
    };
    let kind = name.len() + 7 * usize::from(*first) + 31 * usize::from(*last);
    1 << (kind % 64)
}

/// Behind the string that begins at `at`, and whether it has escapes.
fn string_end(text: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let mut escapes = false;
    at += 1;
    loop {
        while let Some(eight) = text.get(at..).and_then(<[u8]>::first_chunk) {
            let word = u64::from_le_bytes(*eight);
            // With this bit turned, quotes follow control characters.
            let low = word ^ (ONES * 2);
            let low = low.wrapping_sub(ONES * 0x21) & !low & (ONES << 7);
            let found = low | zeros(word ^ (ONES * u64::from(b'\\')));
            if found != 0 {
                at += found.trailing_zeros() as usize / 8;
                break;
            }
            at += 8;
        }
        match text.get(at)? {
            b'"' => return Some((at + 1, escapes)),
            b'\\' => {
                escapes = true;
                at = escape_end(text, at)?;
            }
            ..0x20 => return None,
            _ => at += 1,
        }
    }
}

/// Behind the escape that begins at `at`.
fn escape_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at + 1)? {
        b'u' => {
            let digits = text.get(at + 2..at + 6)?;
            digits.iter().all(u8::is_ascii_hexdigit).then_some(at + 6)
        }
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 2),
        _ => None,
    }
}

/// Behind the word or the number that begins at `at`. What has to follow there is
/// for others to see.
fn scalar_end(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let mut words = ["true", "false", "null"].iter();
    match words.find(|word| rest.starts_with(word.as_bytes())) {
        Some(word) => Some(at + word.len()),
        None => number_end(text, at),
    }
}

/// Behind the number that begins at `at`.
fn number_end(text: &[u8], at: usize) -> Option<usize> {
    let digits = |mut at: usize| {
        let begin = at;
        while text.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        (at > begin).then_some(at)
    };
    let begin = at + usize::from(text.get(at) == Some(&b'-'));
    let mut end = digits(begin)?;
    if end > begin + 1 && text.get(begin) == Some(&b'0') {
        return None;
    }
    if text.get(end) == Some(&b'.') {
        end = digits(end + 1)?;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let signed = matches!(text.get(end + 1), Some(b'+' | b'-'));
        end = digits(end + 1 + usize::from(signed))?;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
    use std::collections::BTreeSet;

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

    fn is_sound(text: &[u8]) -> bool {
        Tree::default().read(text).is_some()
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
    #[test]
    fn everything_is_found_where_it_stands() {
        let mut tree = Tree::default();
        let text = br#" { "a" : "x\"}" , "b":[1,{"c":[]},"]"],"d":null,"e":{"a":-2} } "#;
        let object = tree.read(text).unwrap();
        assert_eq!(object.depth(), 4);
        let names: Vec<_> = object.members().map(|(name, _)| name).collect();
        assert_eq!(names, [b"a", b"b", b"d", b"e"]);
        let raw = |node: Option<Node<'_>>| node.map(|node| node.raw().to_vec());
        assert_eq!(object.get("a").unwrap().text().as_deref(), Some("x\"}"));
        assert_eq!(raw(object.get("d")).as_deref(), Some(&b"null"[..]));
        assert_eq!(raw(object.get("c")), None);
        let inner = object.get("e").unwrap();
        assert_eq!(raw(inner.get("a")).as_deref(), Some(&b"-2"[..]));
        let list = object.get("b").unwrap();
        let items: Vec<_> = list.items().map(Node::raw).collect();
        assert_eq!(items, [&b"1"[..], br#"{"c":[]}"#, br#""]""#]);
        assert_eq!(list.members().count() + inner.items().count(), 0);
        let again = tree.read(b"[[],2]").unwrap();
        assert_eq!(again.items().count(), 2, "nothing of the first is left");
        assert!(tree.read(b"[").is_none());
    }

    #[test]
    fn an_item_that_comes_again_holds_the_same() {
        let mut tree = Tree::default();
        let list = tree.read(br#"[{"a":[1,2]}, {"a":[1,2]},{"a":[1,2]},{"a":[1,2],"b":3},4,4]"#);
        let items: Vec<_> = list.unwrap().items().collect();
        assert_eq!(items.len(), 6);
        for item in &items[..4] {
            let inner: Vec<_> = item.get("a").unwrap().items().map(Node::raw).collect();
            assert_eq!(inner, [b"1", b"2"]);
        }
        assert_eq!(items[2].raw(), br#"{"a":[1,2]}"#);
        assert_eq!(items[3].get("b").unwrap().raw(), b"3");
        assert!(!is_sound(br#"[{"a":1},{"a":1}{"a":1}]"#));
        assert!(!is_sound(br#"[{"a":1},{"a":1},]"#));
        assert!(is_sound(
            br#"{"l":[[{"a":1},{"a":1}],[{"a":1},{"a":1}]],"m":0}"#
        ));
        assert!(!is_sound(
            br#"{"l":[[{"a":1},{"a":1}],[{"a":1},{"a":1}]],"l":0}"#
        ));
    }
}
