//! Looking for keys and routes in any spelling.

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Bytes of a key that must not be seen next to each other.
const PIECE: usize = 10;

pub(crate) struct Traces {
    search: AhoCorasick,
    names: Vec<String>,
}

impl Traces {
    pub(crate) fn new(keys: &[String], routes: &[String]) -> Self {
        let mut patterns: Vec<(String, Vec<u8>)> = Vec::new();
        for (n, key) in keys.iter().enumerate() {
            for piece in key.as_bytes().windows(PIECE) {
                patterns.push((format!("a piece of key {n}"), piece.to_vec()));
            }
            let hex: String = key.bytes().map(|byte| format!("{byte:02x}")).collect();
            patterns.push((format!("key {n} in hexadecimal"), hex.into_bytes()));
            for before in 0..3 {
                let bytes = [&vec![0; before][..], key.as_bytes()].concat();
                let own = [0, 2, 3][before]..bytes.len() * 8 / 6;
                for encoded in [
                    STANDARD_NO_PAD.encode(&bytes),
                    URL_SAFE_NO_PAD.encode(&bytes),
                ] {
                    let own = encoded[own.clone()].as_bytes().to_vec();
                    patterns.push((format!("key {n} in Base64"), own));
                }
            }
        }
        for route in routes {
            patterns.push((format!("the route {route}"), route.clone().into_bytes()));
        }
        let (names, patterns): (Vec<_>, Vec<_>) = patterns.into_iter().unzip();
        Self {
            search: AhoCorasick::new(patterns).unwrap(),
            names,
        }
    }

    /// Fails if any of them is in `bytes`: as they stand, without one or two
    /// layers of escapes, and without percent-encoding.
    #[track_caller]
    pub(crate) fn judge(&self, what: &str, bytes: &[u8]) {
        let once = unescaped(bytes);
        let twice = unescaped(&once);
        let plain = percent_decoded(bytes);
        for view in [bytes, &once, &twice, &plain] {
            if let Some(hit) = self.search.find(view) {
                let around = hit.start().saturating_sub(200)..(hit.end() + 60).min(view.len());
                panic!(
                    "{what} holds {}: {}",
                    self.names[hit.pattern().as_usize()],
                    String::from_utf8_lossy(&view[around])
                );
            }
        }
    }
}

/// Escapes of JSON, Rust and shells, read wherever they stand.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let digits = bytes.get(at + 1..at + 5);
        let code = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (bytes.get(at), code) {
            (Some(b'u'), Some(code)) => {
                out.push(code);
                at += 5;
            }
            (Some(b'"' | b'\\' | b'/' | b'\''), _) => {
                out.push(bytes[at]);
                at += 1;
            }
            _ => out.push(b'\\'),
        }
    }
    out
}

fn percent_decoded(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code = bytes
            .get(at + 1..at + 3)
            .filter(|_| *byte == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(code.unwrap_or(*byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    out
}

#[test]
fn every_spelling_is_seen() {
    let key = "k\"\\y/0123=456789+abc%def";
    let traces = Traces::new(&[key.to_owned()], &["route-4711".to_owned()]);
    let json = serde_json::to_string(key).unwrap();
    let escaped: String = key.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    let percent: String = key.bytes().map(|byte| format!("%{byte:02X}")).collect();
    for text in [
        key.to_owned(),
        key[3..15].to_owned(),
        serde_json::to_string(&json).unwrap(),
        json,
        serde_json::to_string(&escaped).unwrap(),
        escaped,
        percent,
        format!("{key:?}"),
        STANDARD_NO_PAD.encode(format!("user:{key}:")),
        "at route-4711.".to_owned(),
    ] {
        let judged = std::panic::catch_unwind(|| traces.judge("a text", text.as_bytes()));
        assert!(judged.is_err(), "{text}");
    }
    traces.judge("a text", b"k\"\\y/0123 =456789+a route-471");
}
