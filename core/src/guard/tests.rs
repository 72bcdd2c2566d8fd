use super::*;
use crate::json::Writer;
use alloc::vec;
use alloc::{format, vec::Vec};

const KEY: &str = "sk-test-0123456789";

fn guard(literals: &[&str]) -> Guard {
    Guard::new(literals).unwrap()
}

/// A record with one string member, as our writer makes it.
fn record(text: &str) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.begin_object();
    writer.member_str("text", text);
    writer.end_object();
    let mut bytes = writer.finish();
    bytes.push(b'\n');
    bytes
}

// covers: WIRE-013
#[test]
fn a_clean_record_passes_and_a_key_does_not() {
    let guard = guard(&[KEY, "https://east.example/openai"]);
    assert_eq!(guard.check(&record("nothing of the kind")), Ok(()));
    assert_eq!(guard.check(&record("sk-test-012345678")), Ok(()));
    assert_eq!(guard.check(&record(&format!("my {KEY}."))), Err(Leak));
    assert_eq!(
        guard.check(&record("at https://east.example/openai/v1")),
        Err(Leak)
    );
    assert_eq!(
        guard.check(format!("{{\"{KEY}\":1}}\n").as_bytes()),
        Err(Leak)
    );
}

#[test]
fn a_key_is_found_among_few_and_among_many() {
    let all: Vec<String> = (0..12).map(|n| format!("sk-test-{n:02}\"")).collect();
    for count in [1, 2, 3, 12] {
        let known: Vec<&str> = all[..count].iter().map(String::as_str).collect();
        let guard = guard(&known);
        for (place, key) in all.iter().enumerate() {
            let judged = guard.check(&record(&format!("the key is {key}")));
            assert_eq!(judged.is_err(), place < count, "{key} of {count}");
            let raw = guard.check(format!("{{{key}:1}}\n").as_bytes());
            assert_eq!(raw.is_err(), place < count, "{key} of {count}");
        }
    }
}

// covers: WIRE-013
#[test]
fn an_empty_guard_checks_nothing() {
    for guard in [Guard::default(), guard(&[]), guard(&["", ""])] {
        assert!(guard.is_empty());
        assert_eq!(guard.check(&record(KEY)), Ok(()));
        assert!(matches!(guard.redact(KEY), Cow::Borrowed(KEY)));
        assert_eq!(guard.redactor().push(KEY), KEY);
    }
    assert!(!guard(&[KEY]).is_empty());
}

// covers: WIRE-013, ACC-17
#[test]
fn separators_and_line_end_may_not_rebuild_a_literal() {
    let line = b"{\"a\":\"one\",\"b\":\"two\"}\n";
    assert_eq!(guard(&[r#"one","b":"two"#]).check(line), Err(Leak));
    assert_eq!(guard(&[r#"","b":""#]).check(line), Err(Leak));
    assert_eq!(guard(&["two\"}\n"]).check(line), Err(Leak));
    assert_eq!(guard(&["\"}\n{"]).check(line), Ok(()));
}

// covers: WIRE-013, ACC-17
#[test]
fn every_member_occurrence_is_decoded() {
    let guard = guard(&[KEY]);
    let repeated = b"{\"a\":\"\\u0073k-test-0123456789\",\"a\":\"safe\"}\n";
    assert_eq!(guard.check(repeated), Err(Leak));
    let name = b"{\"sk\\u002dtest-0123456789\":1}\n";
    assert_eq!(guard.check(name), Err(Leak));
    let nested = b"{\"x\":[1,{\"y\":\"\\\"\",\"z\":\"sk-test\\u002d0123456789\"}]}\n";
    assert_eq!(guard.check(nested), Err(Leak));
    let safe = b"{\"a\":\"\\u0073k-test-\",\"b\":\"0123456789\"}\n";
    assert_eq!(guard.check(safe), Ok(()));
}

// covers: WIRE-013
#[test]
fn an_escaped_backslash_starts_no_escape() {
    let guard = guard(&[KEY]);
    let line = b"{\"a\":\"\\\\u0073k-test-0123456789\"}\n";
    assert_eq!(guard.check(line), Ok(()));
    let line = b"{\"a\":\"\\\\\",\"b\":\"\\u0073k-test-0123456789\"}\n";
    assert_eq!(guard.check(line), Err(Leak));
}

// covers: WIRE-013
#[test]
fn a_literal_with_special_characters_is_found_in_any_spelling() {
    let literal = "a/\"b\\c\u{2028}\td\u{1}";
    let guard = guard(&[literal]);
    assert_eq!(guard.check(&record(literal)), Err(Leak));
    assert_eq!(guard.check(&record("a/\"b\\c")), Ok(()));
    let foreign = br#"{"a":"a\/\u0022b\u005Cc\u2028\u0009d\u0001"}"#;
    assert_eq!(guard.check(foreign), Err(Leak));
}

// covers: WIRE-013
#[test]
fn our_own_escapes_are_known_without_decoding() {
    let literal = "a\"b\\c\td";
    assert_eq!(guard(&[literal]).check(&record(literal)), Err(Leak));
    let slash = br#"{"a":"https:\/\/east.example"}"#;
    assert_eq!(guard(&["https://east.example"]).check(slash), Err(Leak));
}

// covers: WIRE-013
#[test]
fn every_spelling_of_every_control_is_seen() {
    for c in (0..0x20).chain([0x22, 0x2f, 0x5c, 0x7f, 0x2028, 0x2029]) {
        let character = char::from_u32(c).unwrap();
        let literal = format!("ab{character}cd");
        let guard = guard(&[&literal]);
        assert_eq!(guard.check(&record(&literal)), Err(Leak), "{c:x}");
        for spelled in [format!("\\u{c:04x}"), format!("\\u{c:04X}")] {
            for rest in ["cd", "c\\u0064"] {
                let line = format!("{{\"a\":\"ab{spelled}{rest}\"}}\n");
                assert_eq!(guard.check(line.as_bytes()), Err(Leak), "{line}");
            }
            let line = format!("{{\"a\":\"ab{spelled}d\"}}\n");
            assert_eq!(guard.check(line.as_bytes()), Ok(()), "{line}");
        }
    }
}

// covers: WIRE-013
#[test]
fn bytes_that_are_no_record_are_searched_as_they_stand() {
    let guard = guard(&[KEY]);
    assert_eq!(guard.check(b"\"never closed \\u0073"), Ok(()));
    assert_eq!(guard.check(b"\"\\"), Ok(()));
    assert_eq!(guard.check(b"\"\\ud800\\uZZZZ\""), Ok(()));
    assert_eq!(guard.check(format!("\"\\u {KEY}").as_bytes()), Err(Leak));
    assert_eq!(guard.check(b""), Ok(()));
}

// covers: WIRE-013
#[test]
fn a_half_surrogate_hides_nothing() {
    let guard = guard(&[KEY]);
    let line = br#"{"a":"\ud800\u0073k-test-0123456789"}"#;
    assert_eq!(guard.check(line), Err(Leak));
}

#[test]
fn nothing_shows_a_literal() {
    let guard = guard(&[KEY, "other-secret"]);
    let mut redactor = guard.redactor();
    assert_eq!(redactor.push("sk-test"), "");
    let shown = format!("{guard:?} {redactor:?} {Leak} {Leak:?} {TooManyLiterals}");
    assert_eq!(
        shown,
        "Guard(2 literals) Redactor(7 bytes held) a record was withheld: it contained credential material Leak the credential literals exceed what the guard can hold"
    );
}

// covers: DEC-30
#[test]
fn whole_texts_lose_every_literal() {
    let guard = guard(&[KEY, "sk-test-0123456789-long", "öäü-secret"]);
    for (text, expected) in [
        ("", ""),
        ("nothing", "nothing"),
        (KEY, "[redacted]"),
        (
            "a sk-test-0123456789 b sk-test-0123456789",
            "a [redacted] b [redacted]",
        ),
        ("sk-test-0123456789-long", "[redacted]"),
        ("sk-test-0123456789-lon", "[redacted]-lon"),
        ("é öäü-secret é", "é [redacted] é"),
        ("sk-sk-test-0123456789", "sk-[redacted]"),
    ] {
        assert_eq!(guard.redact(text), expected);
    }
}

// covers: DEC-30
#[test]
fn a_tail_that_could_become_a_literal_is_held_back() {
    let guard = guard(&["abcd", "abcdef"]);
    let mut redactor = guard.redactor();
    let mut steps = Vec::new();
    for piece in ["x", "ab", "", "c", "d", "e", "g", "abc"] {
        steps.push(redactor.push(piece));
    }
    assert_eq!(steps, ["x", "", "", "", "", "", "[redacted]eg", ""]);
    assert_eq!(redactor.finish(), "abc");
    assert_eq!(redactor.finish(), "");
    assert_eq!(redactor.push("abcdef"), "[redacted]");
    assert_eq!(redactor.push("abcd"), "");
    assert_eq!(redactor.finish(), "[redacted]");
}

/// What comes out when `text` goes in cut at `cuts`.
fn in_pieces(guard: &Guard, text: &str, cuts: &[usize]) -> String {
    let mut redactor = Redactor::from(guard);
    let mut out = String::new();
    let mut from = 0;
    for cut in cuts.iter().copied().chain([text.len()]) {
        out.push_str(&redactor.push(&text[from..cut]));
        from = cut;
    }
    out.push_str(&redactor.finish());
    out
}

// covers: DEC-30
#[test]
fn any_cut_gives_the_same_text() {
    let sets: [&[&str]; 6] = [
        &["abab"],
        &["aa", "aaa", "aaaaa"],
        &["abc", "bcd", "cde"],
        &["ab", "babb", "abba"],
        &["öä", "äö", "öäö"],
        &["b", "ab", "aab", "aaab"],
    ];
    let texts = [
        "abababab",
        "aaaaaaaa",
        "abcdeabc",
        "abbababb",
        "bababbab",
        "öäöäöäö",
        "aaabaabb",
        "xaabxaba",
        "cdeabcd",
    ];
    for literals in sets {
        let guard = guard(literals);
        for text in texts {
            let whole = guard.redact(text).into_owned();
            let borders: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            for subset in 0..1_u32 << borders.len() {
                let chosen = borders.iter().enumerate();
                let cuts: Vec<usize> = chosen
                    .filter(|(bit, _)| subset >> bit & 1 == 1)
                    .map(|(_, at)| *at)
                    .collect();
                assert_eq!(
                    in_pieces(&guard, text, &cuts),
                    whole,
                    "{literals:?} {text} {cuts:?}"
                );
            }
        }
    }
}

// covers: DEC-30
#[test]
fn no_literal_is_left_after_redaction() {
    let literals = ["abc", "cab", "bca", "aabb"];
    let guard = guard(&literals);
    let letters = ["a", "b", "c"];
    for number in 0..3_usize.pow(8) {
        let text: String = (0..8)
            .map(|place| letters[number / 3_usize.pow(place) % 3])
            .collect();
        let redacted = guard.redact(&text);
        for literal in literals {
            assert!(!redacted.contains(literal), "{text} became {redacted}");
        }
    }
}

// covers: DEC-30, WIRE-013
#[test]
fn what_was_redacted_passes_the_guard() {
    let guard = guard(&[KEY]);
    let shown = in_pieces(&guard, &format!("a {KEY} b"), &[5, 9]);
    assert_eq!(shown, "a [redacted] b");
    assert_eq!(guard.check(&record(&shown)), Ok(()));
}

#[test]
fn repeated_literals_count_once() {
    let guard = guard(&[KEY, KEY]);
    assert_eq!(format!("{guard:?}"), "Guard(1 literals)");
    assert_eq!(guard.check(&record(KEY)), Err(Leak));
    let owned = Guard::new(vec![String::from(KEY)]).unwrap();
    assert_eq!(owned.redact(KEY), REDACTED);
}

/// What comes out of a redactor of JSON when `text` goes in cut at `cuts`.
fn json_in_pieces(guard: &Guard, text: &str, cuts: &[usize]) -> String {
    let mut redactor = guard.json_redactor();
    let mut out = String::new();
    let mut from = 0;
    for cut in cuts.iter().copied().chain([text.len()]) {
        out.push_str(&redactor.push(&text[from..cut]));
        from = cut;
    }
    out + &redactor.finish()
}

// covers: DEC-30
#[test]
fn escapes_hide_no_literal_in_json_that_comes_in_pieces() {
    let guard = guard(&["a\"\\b/c", "xyz"]);
    for (text, safe) in [
        (r#"{"k":"1a\"\\b\/c2"}"#, r#"{"k":"1[redacted]2"}"#),
        (r#""\u0061\u0022\u005c\u0062/\u0063""#, r#""[redacted]""#),
        (
            r#""\u0078\u0079\u007A\u0078yz""#,
            r#""[redacted][redacted]""#,
        ),
        (
            r#""\\u0078yz \n\u00e9 \ud83d\ude80 \u0078y""#,
            r#""\\u0078yz \n\u00e9 \ud83d\ude80 \u0078y""#,
        ),
        (r#""xyz a"\b/c"#, r#""[redacted] [redacted]"#),
        (r#""\uxyz \q \u00"#, r#""\u[redacted] \q \u00"#),
    ] {
        assert_eq!(json_in_pieces(&guard, text, &[]), safe);
        let all: Vec<usize> = (1..text.len()).collect();
        assert_eq!(json_in_pieces(&guard, text, &all), safe, "{text}");
        for first in 1..text.len() {
            for second in first..text.len() {
                let cuts = [first, second];
                assert_eq!(json_in_pieces(&guard, text, &cuts), safe, "{text} {cuts:?}");
            }
        }
    }
    let mut open = Guard::default().json_redactor();
    assert_eq!(open.push("xy\\") + &open.finish(), "xy\\");
}

// covers: DEC-30
#[test]
fn a_text_that_breaks_off_keeps_only_a_harmless_tail() {
    let guard = guard(&["sk-0123456789", "se"]);
    let broken = |text: &str| {
        let mut redactor = guard.redactor();
        redactor.push(text) + &redactor.break_off()
    };
    assert_eq!(broken("a sk-01234"), "a [redacted]");
    assert_eq!(broken("a sk-0123"), "a sk-0123");
    assert_eq!(broken("a sk-0123456789"), "a [redacted]");
    assert_eq!(broken("its"), "its");
    assert_eq!(Guard::default().redactor().break_off(), "");
}

// covers: DEC-30
#[test]
fn a_literal_is_seen_in_text_that_is_no_json() {
    let guard = guard(&[KEY]);
    for text in [
        KEY,
        "\" \\u0073k-test-0123456789",
        "\"a\" sk\\u002dtest-0123456789 \"",
    ] {
        assert!(guard.is_spelled_in(text), "{text}");
    }
    assert!(!guard.is_spelled_in("\\\\u0073k-test-0123456789"));
    assert!(!Guard::default().is_spelled_in(KEY));
}
