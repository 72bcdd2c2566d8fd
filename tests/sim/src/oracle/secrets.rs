//! No credential leaves, in whatever form it is spelled (WIRE-013, DEC-30).

use super::model::Model;
use super::said::Said;
use super::tree::Node;
use super::{Judged, Oracle, broken};
use crate::kit::{ROUTE, SECRET};
use agentx_core::agent::{Config, Output};
use agentx_core::effect::Request;
use memchr::memmem::Finder;
use std::borrow::Cow;
use std::sync::LazyLock;

/// How often text is taken for the text of a string and decoded again.
const DECODINGS: usize = 3;

/// Looks for credentials.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    /// The end of what the open block of a stream has said.
    streamed: String,
}

/// What is looked for.
static CREDENTIAL: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(SECRET));
static PLACE: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(ROUTE));

/// Whether text holds a secret, as it is or behind escapes.
fn spells(line: &[u8], secret: &Finder<'_>) -> bool {
    if secret.find(line).is_some() {
        return true;
    }
    let mut text = Cow::Borrowed(line);
    for _ in 0..DECODINGS {
        let Some(first) = memchr::memchr(b'\\', &text) else {
            return false;
        };
        text = Cow::Owned(unescaped(&text, first));
        if secret.find(&text).is_some() {
            return true;
        }
    }
    false
}

/// Text with its escapes decoded, the first of which is at `first`, whatever stands
/// around them.
fn unescaped(text: &[u8], first: usize) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let (mut at, mut next) = (0, Some(first));
    while let Some(backslash) = next {
        plain.extend_from_slice(&text[at..backslash]);
        at = backslash + 1;
        let escaped = text.get(at).copied().unwrap_or(b'\\');
        at += 1;
        match escaped {
            b'n' => plain.push(b'\n'),
            b't' => plain.push(b'\t'),
            b'r' => plain.push(b'\r'),
            b'b' => plain.push(8),
            b'f' => plain.push(12),
            b'u' => {
                let digits = text.get(at..at + 4);
                let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
                let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                if let Some(code) = code {
                    at += 4;
                    let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                    plain.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
            other => plain.push(other),
        }
        let rest = text.get(at..).unwrap_or_default();
        next = memchr::memchr(b'\\', rest).map(|found| at + found);
    }
    plain.extend_from_slice(text.get(at..).unwrap_or_default());
    plain
}

impl Secrets {
    /// Takes what a stream says in pieces.
    fn stream(&mut self, event: Node<'_>) -> Judged {
        let Some(delta) = event.get("delta").filter(|delta| delta.is_object()) else {
            self.streamed.clear();
            return Ok(());
        };
        let said = ["text", "thinking", "partial_json"]
            .iter()
            .find_map(|name| delta.text_of(name));
        self.streamed.push_str(&said.unwrap_or_default());
        if spells(self.streamed.as_bytes(), &CREDENTIAL) {
            return broken(
                "no credential leaves",
                "WIRE-013",
                "in the pieces of a stream",
            );
        }
        let keep = self.streamed.len().saturating_sub(8 * SECRET.len());
        let keep = (keep..=self.streamed.len()).find(|at| self.streamed.is_char_boundary(*at));
        self.streamed.drain(..keep.unwrap_or_default());
        Ok(())
    }
}

impl Oracle for Secrets {
    fn began(&mut self, _config: &Config) {
        *self = Self::default();
    }

    fn output(&mut self, _model: &Model, output: &Output) -> Judged {
        if let Output::Diagnostic(diagnostic) = output
            && spells(diagnostic.text.as_bytes(), &PLACE)
        {
            return broken("no route is told", "DEC-30", "in a diagnostic");
        }
        let leaks = match output {
            Output::Diagnostic(diagnostic) => spells(diagnostic.text.as_bytes(), &CREDENTIAL),
            Output::Start(_, Request::Store(batch)) => {
                let mut entries = batch.entries.iter();
                entries.any(|entry| spells(&entry.to_json(), &CREDENTIAL))
            }
            _ => false,
        };
        if leaks {
            return broken(
                "no credential leaves",
                "WIRE-013",
                "in a diagnostic or a store",
            );
        }
        Ok(())
    }

    fn said(&mut self, _model: &Model, line: &[u8], said: &Said<'_>) -> Judged {
        if spells(line, &CREDENTIAL) {
            let what = String::from_utf8_lossy(line).into_owned();
            return broken("no credential leaves", "WIRE-013", what);
        }
        if matches!(said, Said::Init) && spells(line, &PLACE) {
            return broken("no route is told", "DEC-30", "in system/init");
        }
        if matches!(said, Said::Result(_)) && spells(line, &PLACE) {
            return broken("no route is told", "DEC-30", "in a result");
        }
        match said {
            Said::Stream(event) => self.stream(*event),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_however_it_is_spelled() {
        let spells = |text: &[u8], secret: &str| spells(text, &Finder::new(secret));
        assert!(spells(b"x sk-a y", "sk-a"));
        assert!(spells(br"x s\u006b-a y", "sk-a"));
        assert!(spells(br"x s\\u006b-a y", "sk-a"));
        assert!(spells(br#"a\"b"#, "a\"b"));
        assert!(spells(br"\\\n\sk-a\", "sk-a"));
        assert!(!spells(br"x s\u006c-a", "sk-a"));
    }
}
