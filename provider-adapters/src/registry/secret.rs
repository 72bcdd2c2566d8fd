//! A value that must not be seen.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::collections::BTreeSet;
use std::fmt;

/// An API key. `Debug` does not show it and there is no `Display`.
#[derive(Clone)]
pub struct Secret(Box<str>);

impl Secret {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The key, for the header of a request and for the guard only.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The key as it is, percent-encoded, and in Base64 wherever in an encoded
    /// text it begins: as servers and tools echo it (DEC-30).
    #[must_use]
    pub fn spellings(&self) -> BTreeSet<String> {
        let mut all = BTreeSet::from([self.0.to_string(), percent_encoded(&self.0)]);
        // Of three bytes before the key none, one or two stand in its first group.
        for (before, foreign) in [(0, 0), (1, 2), (2, 3)] {
            let mut bytes = vec![0; before];
            bytes.extend_from_slice(self.0.as_bytes());
            // The characters that are the key's alone, whatever follows it.
            let own = foreign..bytes.len() * 8 / 6;
            for encoded in [
                STANDARD_NO_PAD.encode(&bytes),
                URL_SAFE_NO_PAD.encode(&bytes),
            ] {
                all.extend(encoded.get(own.clone()).map(str::to_owned));
            }
        }
        all
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret([redacted])")
    }
}

/// What a query or a form makes of a text.
fn percent_encoded(text: &str) -> String {
    let encode = |byte: u8| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};

    // covers: DEC-30
    #[test]
    fn a_key_is_known_in_every_encoding_that_echoes_it() {
        let key = "k?>/\"sentinel~~4711";
        let spellings = Secret::new(key).spellings();
        let known = |text: &str| spellings.iter().any(|spelling| text.contains(spelling));
        assert!(known(&format!("a{key}b")));
        assert!(known("x=k%3F%3E%2F%22sentinel~~4711&"));
        for before in ["", "u", "us", "use", "user:"] {
            for after in ["", ":", "::", ":::"] {
                let text = format!("{before}{key}{after}");
                assert!(known(&STANDARD.encode(&text)), "{text}");
                assert!(known(&URL_SAFE.encode(&text)), "{text}");
            }
        }
        assert!(!known(&STANDARD.encode("k?>/\"sentinel~_4711")));
    }
}
