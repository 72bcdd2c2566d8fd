//! Streams that say when the world has its turn, and name what only a running
//! session knows.

use core::time::Duration;

/// The bytes up to two newlines, how many further newlines stand there, the rest.
pub(crate) fn next_part(data: &[u8]) -> (&[u8], u32, &[u8]) {
    let Some(at) = data.windows(2).position(|pair| pair == b"\n\n") else {
        return (data, 0, &[]);
    };
    let (part, mut rest) = data.split_at(at + 1);
    let mut turns = 0;
    while let Some(after) = rest.strip_prefix(b"\n") {
        rest = after;
        turns += 1;
    }
    (part, turns, rest)
}

/// How long so many newlines let pass: a second, then four times as long each.
pub(crate) fn span(turns: u32) -> Duration {
    Duration::from_secs(1 << (2 * turns.saturating_sub(1).min(8)))
}

/// The bytes with what the place holders stand for: `$K` for the key, `$R1` for
/// the newest id of a request, `$T1` for that of a tool call, `$R2` for the one
/// before. What there is none of stays as it is.
pub(crate) fn filled(part: &[u8], key: &str, asked: &[String], calls: &[String]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = part;
    while let Some((&first, after)) = rest.split_first() {
        let found = match rest {
            [b'$', b'K', after @ ..] => Some((key, after)),
            [b'$', kind @ (b'R' | b'T'), nth @ b'1'..=b'9', after @ ..] => {
                let list = if *kind == b'R' { asked } else { calls };
                let back = usize::from(*nth - b'0');
                let id = list.len().checked_sub(back).and_then(|at| list.get(at));
                id.map(|id| (id.as_str(), after))
            }
            _ => None,
        };
        match found {
            Some((text, after)) => {
                out.extend_from_slice(text.as_bytes());
                rest = after;
            }
            None => {
                out.push(first);
                rest = after;
            }
        }
    }
    out
}
