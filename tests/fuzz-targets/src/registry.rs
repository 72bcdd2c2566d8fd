//! `auth.json`, and that no fault in it tells a key.

use agentx_providers::provider::Provider;
use agentx_providers::registry::{FileFacts, Registry};
use serde_json::Value;

/// What stands for a key in an input.
const PLACE: &str = "$KEY";

/// The key that is put there. No other text of a program holds a piece of it.
const KEY: &str = "Zq7Wx3Vk9Jp2Yf6Hb8Nd4Gt5Rc1Ms0Lz7Qw3X";

/// Characters of the key that are a part worth hiding.
const PART: usize = 6;

/// A file with which nothing is wrong.
pub(crate) const FACTS: FileFacts = FileFacts::PRIVATE;

/// The text of the file; `$KEY` in it stands for a key.
pub fn target(data: &[u8]) {
    if spells_key(data) {
        return;
    }
    let text = with_key(data);
    let registry = match Registry::parse(&text, &FACTS) {
        Ok(registry) => registry,
        Err(error) => return hides("the error", &without_ids(&error.to_string(), &text)),
    };
    let keys: Vec<_> = registry.credentials().map(|key| key.expose()).collect();
    // Where the placeholder stands for something else the file tells it itself.
    let in_key = keys.iter().filter(|key| key.contains(KEY)).count();
    let whole = String::from_utf8_lossy(&text);
    let only_keys = whole.matches(KEY).count() == in_key;
    let told = |what: &str, text: &str| {
        if only_keys {
            hides(what, text);
        }
    };
    told("the debug text", &format!("{registry:?}"));
    told("the catalogue", &format!("{:?}", registry.catalog()));
    if let Err(error) = registry.check_public(&whole) {
        told("what must not be told", &error.to_string());
    }
    if let Err(error) = registry.check_frames("type subtype result assistant") {
        told("the check of frames", &error.to_string());
    }
    for entry in registry.entries() {
        assert!(registry.select(Some(&entry.id)).is_ok());
        if let Err(error) = Provider::build(entry, None) {
            told("the provider", &error.to_string());
        }
    }
    if let Err(error) = registry.select(Some(KEY)) {
        told("the choice", &error.to_string());
    }
}

/// What an error says, without the ids by which it names entries of a file where
/// the placeholder stands for no key.
fn without_ids(error: &str, file: &[u8]) -> String {
    let mut ids = Vec::new();
    let mut open: Vec<Value> = serde_json::from_slice(file).into_iter().collect();
    while let Some(value) = open.pop() {
        let Value::Object(members) = value else {
            open.extend(value.as_array().into_iter().flatten().cloned());
            continue;
        };
        for (name, value) in members {
            match (name.as_str(), value) {
                ("api_key", Value::String(key)) if key.contains(KEY) => return error.to_string(),
                ("id", Value::String(id)) => ids.push(format!("{id:?}")),
                (_, value) => open.push(value),
            }
        }
    }
    ids.iter()
        .fold(error.to_string(), |error, id| error.replace(id, "an id"))
}

/// The input with the key in its places.
pub(crate) fn with_key(data: &[u8]) -> Vec<u8> {
    let mut rest = data;
    let mut text = Vec::new();
    while let Some(at) = rest
        .windows(PLACE.len())
        .position(|window| window == PLACE.as_bytes())
    {
        text.extend_from_slice(&rest[..at]);
        text.extend_from_slice(KEY.as_bytes());
        rest = &rest[at + PLACE.len()..];
    }
    text.extend_from_slice(rest);
    text
}

/// Whether an input has a part of the key by itself. A fuzzer learns them from
/// what it is compared with, and then nobody could tell where one comes from.
pub(crate) fn spells_key(data: &[u8]) -> bool {
    let parts: Vec<&[u8]> = KEY.as_bytes().windows(PART).collect();
    data.windows(PART).any(|window| parts.contains(&window))
}

/// The key.
pub(crate) const fn key() -> &'static str {
    KEY
}

/// Fails when a text has a part of the key.
pub(crate) fn hides(what: &str, text: &str) {
    for at in 0..=KEY.len() - PART {
        let part = &KEY[at..at + PART];
        assert!(!text.contains(part), "{what} tells {part}: {text}");
    }
}
