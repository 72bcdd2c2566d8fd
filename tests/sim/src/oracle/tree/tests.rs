//! What is sound, and where things stand in it.

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
