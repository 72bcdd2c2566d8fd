use super::*;

fn decode(bytes: &[u8], step: usize) -> (String, u64) {
    let mut lossy = Lossy::default();
    let mut out = String::new();
    for piece in bytes.chunks(step) {
        lossy.feed(piece, |text| out.push_str(text));
    }
    lossy.finish(|text| out.push_str(text));
    (out, lossy.replaced())
}

#[test]
fn decoding_does_not_depend_on_the_cuts() {
    let inputs: [&[u8]; 7] = [
        "aé漢🙂z".as_bytes(),
        b"\xF0\x9F\x99",
        b"ok \xFF\xFE\xC3 end",
        b"\xE6\xBC",
        b"\xC3\xC3\xA9\x80\x80",
        b"\xED\xA0\x80\xF5\x80",
        b"",
    ];
    for input in inputs {
        let whole = String::from_utf8_lossy(input).into_owned();
        for step in 1..=5 {
            assert_eq!(decode(input, step).0, whole, "{input:?} in steps of {step}");
        }
    }
    assert_eq!(decode(b"a\xFFb\xFF", 1).1, 2);
}

fn captured(total: usize, keep: usize, step: usize) -> Capture {
    let text: String = ('a'..='z').cycle().take(total).collect();
    let mut capture = Capture::new(keep, &Guard::default());
    for piece in text.as_bytes().chunks(step) {
        capture.push(piece);
    }
    capture.finish();
    capture
}

// covers: DEC-34
#[test]
fn a_stream_that_fits_is_whole() {
    for total in 0..=100 {
        let text = captured(total, 100, 7).text(100);
        assert_eq!(text.len(), total);
        assert!(!text.contains("cut"));
    }
}

// covers: DEC-34
#[test]
fn a_stream_that_does_not_fit_keeps_both_ends_and_tells_the_cut() {
    for total in [101, 150, 199, 200, 201, 1_000, 12_345] {
        for step in [1, 7, 999] {
            let capture = captured(total, 100, step);
            let text = capture.text(100);
            assert!(text.chars().count() <= 100, "{total}: {text}");
            assert!(text.starts_with("abcdef"));
            let last = char::from(b'a' + u8::try_from((total - 1) % 26).unwrap());
            assert!(text.ends_with(last), "{total}: {text}");
            let note: String = text.chars().filter(char::is_ascii_digit).collect();
            let cut: usize = note.parse().unwrap();
            let kept = text.chars().count() - cut_note(cut as u64).chars().count();
            assert_eq!(kept + cut, total, "{text}");
        }
    }
}

#[test]
fn a_capture_stays_small_and_counts_characters_not_bytes() {
    let mut capture = Capture::new(10, &Guard::default());
    for _ in 0..100_000 {
        capture.push("漢字".as_bytes());
    }
    capture.finish();
    assert_eq!(capture.total_chars(), 200_000);
    assert!(capture.kept.tail.len() < 200 && capture.kept.head.len() < 200);
    assert!(
        capture.text(10).chars().count() <= 30,
        "only the note is left"
    );
}

// covers: DEC-34
#[test]
fn a_result_is_cut_with_a_note_inside_the_bound() {
    assert_eq!(
        cut_result("é".repeat(50), 50, &Guard::default()),
        "é".repeat(50)
    );
    let cut = cut_result("é".repeat(120), 50, &Guard::default());
    assert!(cut.chars().count() <= 50);
    assert!(cut.ends_with("characters cut]"), "{cut}");
}

#[test]
fn what_a_message_shows_is_one_bounded_line() {
    assert_eq!(shown("a\nb\u{1b}[0m", &Guard::default()), "a\\nb\\u{1b}[0m");
    assert_eq!(
        shown(&"x".repeat(301), &Guard::default()).chars().count(),
        301
    );
    assert!(shown(&"x".repeat(301), &Guard::default()).ends_with('…'));
}

#[test]
fn prefixes_and_suffixes_by_characters() {
    assert_eq!(first_chars("äöü", 2), "äö");
    assert_eq!(first_chars("äöü", 9), "äöü");
    assert_eq!(last_chars("äöü", 2), "öü");
    assert_eq!(last_chars("äöü", 9), "äöü");
    assert_eq!(last_chars("äöü", 0), "");
}

/// No four characters of it stand in it twice.
const KEY: &str = "qZ7-kW3/xJ9_vB5+";

fn guard() -> Guard {
    Guard::new([KEY]).unwrap()
}

/// Whether four characters of the key in a row stand in a text.
fn tells(text: &str) -> bool {
    KEY.as_bytes()
        .windows(4)
        .any(|part| memchr::memmem::find(text.as_bytes(), part).is_some())
}

fn told(mut capture: Capture, chars: usize) -> String {
    capture.finish();
    capture.text(chars)
}

// covers: DEC-30
#[test]
fn no_cut_of_a_stream_leaves_a_part_of_a_key() {
    for at in 0..150 {
        let text = format!("{}{KEY}{}", "a".repeat(at), "b".repeat(150 - at));
        for step in [1, 5, 64, 1_000] {
            let mut capture = Capture::new(100, &guard());
            text.as_bytes()
                .chunks(step)
                .for_each(|piece| capture.push(piece));
            for chars in [60, 99, 100] {
                assert!(!tells(&capture.text(chars)), "{at}, {step}");
            }
            let text = told(capture, 100);
            assert!(!tells(&text) && text.chars().count() <= 100, "{at}: {text}");
        }
    }
}

// covers: DEC-30
#[test]
fn a_stream_that_is_broken_off_does_not_end_in_the_start_of_a_key() {
    let start = KEY.get(..KEY.len() - 1).unwrap();
    let mut capture = Capture::new(100, &guard());
    capture.push(format!("before {start}").as_bytes());
    capture.break_off();
    assert_eq!(capture.text(100), "before ");
    let mut capture = Capture::new(100, &guard());
    capture.push(format!("before {start}").as_bytes());
    assert_eq!(told(capture, 100), format!("before {start}"));
}

// covers: DEC-30
#[test]
fn results_and_names_are_freed_of_keys_before_they_are_cut() {
    for at in 0..320 {
        let text = format!("{}{KEY}{}", "a".repeat(at), "b".repeat(320 - at));
        assert!(!tells(&cut_result(text.clone(), 200, &guard())), "{at}");
        assert!(!tells(&shown(&text, &guard())), "{at}");
    }
}
