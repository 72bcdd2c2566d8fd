//! Texts and values in as many bytes as a record has left for them.

use crate::json::{RawJson, ScanLimits, Scanner, Writer, escaped_bytes, escaped_len};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Bytes that the note behind a cut text may take.
const NOTE: usize = 40;

/// Bytes that a text in a list takes beside itself, as a block of any kind.
pub(super) const BLOCK: usize = 40;

/// How much of the text fits `room` bytes of a record.
fn fitting(text: &str, room: usize) -> usize {
    let mut left = room;
    let fits = |(_, c): &(usize, char)| match left.checked_sub(escaped_len(*c)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let fitting = text.char_indices().take_while(fits).last();
    fitting.map_or(0, |(at, c)| at + c.len_utf8())
}

/// The text in pieces of at most `room` bytes each, and of one character at
/// least. An empty text is one piece.
pub(super) fn split(text: &str, room: usize) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    core::iter::from_fn(move || {
        let text = rest.take()?;
        let first = text.chars().next().map_or(0, char::len_utf8);
        let (piece, after) = text.split_at_checked(fitting(text, room).max(first))?;
        rest = (!after.is_empty()).then_some(after);
        Some(piece)
    })
}

/// The text; if it takes more than `room` bytes, its beginning and a note.
pub(super) fn cut(text: &str, room: usize) -> String {
    if fitting(text, room) == text.len() {
        return text.to_string();
    }
    let kept = fitting(text, room.saturating_sub(NOTE));
    let gone = text.len() - kept;
    format!(
        "{}[… {gone} bytes cut]",
        text.get(..kept).unwrap_or_default()
    )
}

/// The texts of a list that fit, the one that does not cut, and none behind it.
pub(super) fn cut_texts(texts: Vec<String>, room: usize) -> Vec<String> {
    let takes = |text: &String| escaped_bytes(text) + BLOCK;
    if texts.iter().map(takes).sum::<usize>() <= room {
        return texts;
    }
    let mut left = room.saturating_sub(NOTE);
    let mut kept = Vec::new();
    let (mut gone, mut is_cut) = (0, false);
    for text in texts {
        let fits = match left.checked_sub(BLOCK) {
            Some(rest) if !is_cut => fitting(&text, rest),
            _ => {
                gone += text.len();
                continue;
            }
        };
        left = left.saturating_sub(takes(&text));
        is_cut = fits < text.len();
        gone += text.len() - fits;
        kept.push(text.get(..fits).unwrap_or_default().to_string());
    }
    if let Some(last) = kept.last_mut() {
        last.push_str(&format!("[… {gone} bytes cut]"));
    }
    kept
}

/// The object, its longest members cut or emptied until it takes at most `room`
/// bytes, as far as that goes: texts are cut, everything else becomes `{}`.
pub(super) fn smaller(object: &RawJson, room: usize) -> RawJson {
    let mut scanner = Scanner::new();
    let scanned = scanner.scan(object.as_str().as_bytes(), &ScanLimits::DEFAULT);
    let Some(members) = scanned.ok().and_then(crate::json::Value::as_object) else {
        return object.clone();
    };
    let room = room.saturating_sub(NOTE);
    let mut sizes: Vec<usize> = members.iter().map(|(_, value)| value.raw().len()).collect();
    let mut total = object.as_str().len();
    let mut short = Vec::new();
    while total > room && short.len() < sizes.len() {
        let longest = sizes.iter().enumerate().max_by_key(|(_, size)| **size);
        let Some((at, size)) = longest.map(|(at, size)| (at, *size)) else {
            break;
        };
        let others = total - size;
        let left = room.saturating_sub(others);
        short.push((at, left));
        total = others + left.min(size);
        if let Some(size) = sizes.get_mut(at) {
            *size = 0;
        }
    }
    let mut writer = Writer::new();
    writer.begin_object();
    for (at, (name, value)) in members.iter().enumerate() {
        writer.key(&name.decode_lossy());
        match short.iter().find(|(place, _)| *place == at) {
            None => writer.value(value),
            Some((_, left)) => match value.as_str() {
                Some(text) => writer.string(&cut(&text.decode_lossy(), left.saturating_sub(2))),
                None => {
                    writer.begin_object();
                    writer.end_object();
                }
            },
        }
    }
    writer.end_object();
    RawJson::parse_bytes(&writer.finish()).unwrap_or_else(|_| object.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const TEXT: &str = "aé\"\u{1}\u{2028}\\😀\n";

    // covers: DEC-34
    #[test]
    fn pieces_fit_and_join_to_the_text() {
        for room in 0..40 {
            let pieces: Vec<_> = split(TEXT, room).collect();
            assert_eq!(pieces.concat(), TEXT);
            for piece in pieces {
                let single = piece.chars().count() == 1;
                assert!(
                    single || escaped_bytes(piece) <= room,
                    "{piece:?} in {room}"
                );
            }
        }
        assert_eq!(split("", 10).collect::<Vec<_>>(), [""]);
    }

    // covers: DEC-34
    #[test]
    fn a_cut_text_fits_and_counts_what_is_gone() {
        let text = TEXT.repeat(10);
        assert_eq!(cut(&text, escaped_bytes(&text)), text);
        for room in NOTE..escaped_bytes(&text) {
            let cut = cut(&text, room);
            assert!(
                escaped_bytes(&cut) <= room,
                "{} in {room}",
                escaped_bytes(&cut)
            );
            let (kept, note) = cut.split_once("[… ").expect("a note");
            let gone: usize = note
                .strip_suffix(" bytes cut]")
                .and_then(|gone| gone.parse().ok())
                .expect("a number");
            assert!(text.starts_with(kept));
            assert_eq!(kept.len() + gone, text.len());
        }
    }

    // covers: DEC-34
    #[test]
    fn texts_of_a_list_go_from_the_end() {
        let texts = || vec!["one".to_string(), "x".repeat(300), "three".to_string()];
        let whole = 308 + 3 * BLOCK;
        assert_eq!(cut_texts(texts(), whole), texts());
        let cut = cut_texts(texts(), whole - 1);
        assert_eq!(cut.len(), 2);
        assert_eq!(cut[0], "one");
        assert!(cut[1].starts_with("xxx") && cut[1].ends_with(" bytes cut]"));
        for room in 200..whole {
            let cut = cut_texts(texts(), room);
            let takes: usize = cut.iter().map(|text| escaped_bytes(text) + BLOCK).sum();
            assert!(takes <= room, "{takes} in {room}");
        }
        let empty = vec![String::new(); 100];
        let cut = cut_texts(empty, 1_000);
        assert!(cut.len() < 40, "{}", cut.len());
        assert_eq!(cut.last().map(String::as_str), Some("[… 0 bytes cut]"));
    }

    // covers: DEC-34
    #[test]
    fn the_longest_members_of_an_object_go_first() {
        let text = "y".repeat(400);
        let list = "[1,2,3,4,5,6,7,8,9]";
        let object = format!(
            r#"{{"name":"Write","tool_input":{{"content":"{text}","l":{list}}},"text":"{text}","short":true}}"#
        );
        let object = RawJson::parse(&object).expect("an object");
        assert_eq!(smaller(&object, 2_000), object);
        let less = smaller(&object, 700);
        assert!(less.as_str().len() <= 700, "{less:?}");
        assert!(less.as_str().contains(r#""tool_input":{}"#));
        assert!(less.as_str().contains(&text), "one of them is enough");
        let least = smaller(&object, 300);
        assert!(least.as_str().len() <= 300, "{least:?}");
        assert!(
            least
                .as_str()
                .starts_with(r#"{"name":"Write","tool_input":{},"text":"yyy"#)
        );
        assert!(least.as_str().ends_with(r#" bytes cut]","short":true}"#));
    }
}
