//! The scanner beside serde_json on random and damaged documents.

use agentx_core::json::{RawJson, Reason, ScanError, ScanLimits, Scanner, Writer};
use agentx_laws::SplitMix64;
use agentx_laws::json::{Verdict, judge};

const DOCUMENTS: u64 = 1500;
const DAMAGED: usize = 20;

/// Writes a random value, some of it in unusual spelling.
fn value(rng: &mut SplitMix64, depth: usize, out: &mut String) {
    space(rng, out);
    match rng.below(if depth == 0 { 6 } else { 10 }) {
        0 => out.push_str(pick(rng, &["null", "true", "false"])),
        1 | 2 => out.push_str(pick(
            rng,
            &[
                "0",
                "-0",
                "7",
                "-12.50",
                "1e5",
                "1E+05",
                "0.1e-2",
                "12345678901234567890",
            ],
        )),
        3..=5 => string(rng, out),
        6 | 7 => {
            out.push('[');
            for index in 0..rng.below(5) {
                comma(index, out);
                value(rng, depth - 1, out);
            }
            space(rng, out);
            out.push(']');
        }
        _ => {
            let many = if rng.one_in(20) { 40 } else { 6 };
            out.push('{');
            for index in 0..rng.below(many) {
                comma(index, out);
                space(rng, out);
                name(rng, out);
                space(rng, out);
                out.push(':');
                value(rng, depth - 1, out);
            }
            space(rng, out);
            out.push('}');
        }
    }
    space(rng, out);
}

fn comma(index: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
}

fn space(rng: &mut SplitMix64, out: &mut String) {
    if rng.one_in(12) {
        out.push_str(pick(rng, &[" ", "\n", "\t ", "\r\n  "]));
    }
}

/// A member name; some repeat, some of those in another spelling.
fn name(rng: &mut SplitMix64, out: &mut String) {
    if rng.one_in(2) {
        out.push_str(&format!("\"name {}\"", rng.below(300)));
    } else if rng.one_in(2) {
        out.push_str(&format!(
            "\"a long name that only differs here {} and ends\"",
            rng.below(99)
        ));
    } else if rng.one_in(6) {
        out.push_str(pick(
            rng,
            &["\"a\"", "\"\\u0061\"", "\"é\"", "\"\\u00E9\"", "\"\""],
        ));
    } else {
        string(rng, out);
    }
}

fn string(rng: &mut SplitMix64, out: &mut String) {
    out.push('"');
    for _ in 0..rng.below(12) {
        out.push_str(pick(
            rng,
            &[
                "a",
                "type",
                " ",
                "0123456789abcdef",
                "é",
                "\u{2028}",
                "😀",
                "\\n",
                "\\\"",
                "\\\\",
                "\\/",
                "\\u00e9",
                "\\ud83d\\ude00",
                "\\u2029",
                "\u{7f}",
                "{",
                "]",
                ",",
                ":",
            ],
        ));
    }
    if rng.one_in(40) {
        out.push_str(pick(rng, &["\\ud800", "\\udc00\\ud800", "\\uDBFF\\n"]));
    }
    out.push('"');
}

fn pick<'a>(rng: &mut SplitMix64, choices: &[&'a str]) -> &'a str {
    choices[rng.below(choices.len())]
}

/// Changes, drops, repeats or inserts some bytes.
fn damage(rng: &mut SplitMix64, text: &mut Vec<u8>) {
    let at = rng.below(text.len() + 1);
    let to = (at + 1 + rng.below(8)).min(text.len());
    match rng.below(5) {
        0 => text.truncate(at),
        1 => drop(text.drain(at..to)),
        2 => {
            let piece = text[at..to].to_vec();
            let to = rng.below(text.len() + 1);
            text.splice(to..to, piece);
        }
        3 => {
            let bytes = b"\"\\{}[],:0-.eE+ \n\t\x00\x1f\x7f\x80\xc3\xe2\xed\xff/utrfn";
            text.insert(at, bytes[rng.below(bytes.len())]);
        }
        _ => {
            if let Some(byte) = text.get_mut(at) {
                *byte ^= 1 << rng.below(8);
            }
        }
    }
}

// covers: DEC-03, DEC-04, WIRE-014, WIRE-021
#[test]
fn random_and_damaged_documents_are_judged_as_serde_json_judges_them() {
    let mut scanner = Scanner::new();
    let mut seen = [0; 4];
    for seed in 0..DOCUMENTS {
        let mut rng = SplitMix64::new(seed);
        let mut text = String::new();
        value(&mut rng, 5, &mut text);
        judge(&mut scanner, text.as_bytes());
        for _ in 0..DAMAGED {
            let mut text = text.clone().into_bytes();
            for _ in 0..=rng.below(3) {
                damage(&mut rng, &mut text);
            }
            seen[match judge(&mut scanner, &text) {
                Verdict::Fine => 0,
                Verdict::Duplicate => 1,
                Verdict::Malformed => 2,
                Verdict::Unreadable => 3,
            }] += 1;
        }
    }
    assert!(
        seen.iter().all(|count| *count > 50),
        "some verdicts are rare: {seen:?}"
    );
}

#[test]
fn what_is_written_reads_back() {
    for seed in 0..2000 {
        let mut rng = SplitMix64::new(seed);
        let text: String = (0..rng.below(60))
            .map(|_| {
                let most = [0x20, 0x80, 0x3000, 0x11_0000][rng.below(4)];
                let code = u32::try_from(rng.below(most)).unwrap_or(0);
                char::from_u32(code).unwrap_or('\u{2028}')
            })
            .collect();
        let mut writer = Writer::new();
        writer.begin_object();
        writer.member_str(&text, &text);
        writer.end_object();
        let written = writer.finish();
        assert!(!String::from_utf8_lossy(&written).contains(['\u{2028}', '\u{2029}', '\n']));
        let theirs: serde_json::Value = serde_json::from_slice(&written).expect("valid");
        assert_eq!(theirs[&text], text);
        let mut scanner = Scanner::new();
        let ours = scanner.scan(&written, &ScanLimits::DEFAULT).expect("valid");
        let (name, value) = ours
            .as_object()
            .and_then(|o| o.iter().next())
            .expect("a member");
        assert!(name == text.as_str() && value.as_str().is_some_and(|s| s == text.as_str()));
        let canonical = RawJson::from_value(ours);
        assert_eq!(canonical.as_str().as_bytes(), written);
    }
}

#[test]
fn faults_lie_within_the_text() {
    let mut scanner = Scanner::new();
    for seed in 0..DOCUMENTS {
        let mut rng = SplitMix64::new(seed);
        let mut text = String::new();
        value(&mut rng, 4, &mut text);
        let mut text = text.into_bytes();
        damage(&mut rng, &mut text);
        if let Err(ScanError { at, reason }) = scanner.scan(&text, &ScanLimits::DEFAULT) {
            assert!(at <= text.len());
            assert_eq!(
                reason == Reason::UnexpectedEnd,
                at == text.len() && reason != Reason::Empty
            );
        }
    }
}
