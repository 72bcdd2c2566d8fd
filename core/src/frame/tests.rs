use super::*;
use alloc::string::{String, ToString};
use alloc::vec;

const TINY: Limits = Limits {
    record_bytes: 64,
    import_record_bytes: 40,
    ..Limits::DEFAULT
};

/// What a framer said, in a form that can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    Line(u64, String, bool),
    Error(u64, usize, &'static str, Vec<u8>),
}

fn said(line: Result<Line<'_>, FrameError<'_>>) -> Said {
    match line {
        Ok(line) => Said::Line(
            line.number,
            String::from_utf8_lossy(line.bytes).into_owned(),
            line.from_end,
        ),
        Err(error) => Said::Error(error.line, error.byte, error.reason, error.source.to_vec()),
    }
}

fn frame<'c>(limits: &Limits, chunks: impl IntoIterator<Item = &'c [u8]>) -> Vec<Said> {
    let mut framer = Framer::new(limits);
    let mut all = Vec::new();
    for mut chunk in chunks {
        while let Some(line) = framer.next(&mut chunk) {
            all.push(said(line));
        }
        assert!(chunk.is_empty());
        assert!(framer.held() <= limits.record_bytes);
    }
    all.extend(framer.end().map(said));
    let mut late = &b"{}\n"[..];
    assert!(framer.next(&mut late).is_none() && framer.end().is_none());
    all
}

/// Frames the text whole, in single bytes and in two parts at every place.
fn every_split(limits: &Limits, text: &[u8]) -> Vec<Said> {
    let whole = frame(limits, [text]);
    assert_eq!(frame(limits, text.chunks(1)), whole);
    for at in 0..=text.len() {
        let (a, b) = text.split_at(at);
        assert_eq!(frame(limits, [a, b]), whole, "split at {at}");
    }
    whole
}

fn line(number: u64, text: &str) -> Said {
    Said::Line(number, text.to_string(), false)
}

// covers: WIRE-EOF-001, DEC-02
#[test]
fn any_split_gives_the_same_lines() {
    let text = "{\"a\":1}\n\n \t\r\n{\"b\":\"\u{2028}\u{85}\u{b}\u{c}\r\"}\r\n{\"c\":3}";
    assert_eq!(
        every_split(&TINY, text.as_bytes()),
        [
            line(1, "{\"a\":1}"),
            line(4, "{\"b\":\"\u{2028}\u{85}\u{b}\u{c}\r\"}\r"),
            Said::Line(5, "{\"c\":3}".to_string(), true),
        ]
    );
}

// covers: DEC-02
#[test]
fn blank_tails_are_no_records() {
    for text in ["", "\n", "\n\r\n ", " ", "\r"] {
        assert_eq!(every_split(&TINY, text.as_bytes()), [], "{text:?}");
    }
}

// covers: DEC-01
#[test]
fn a_byte_order_mark_is_an_error_by_name() {
    let said = every_split(&TINY, b"\xEF\xBB\xBF{}\n{}\n");
    let [Said::Error(1, 1, reason, source)] = &said[..] else {
        panic!("{said:?}");
    };
    assert!(reason.contains("byte order mark"));
    assert_eq!(source, b"\xEF\xBB\xBF{}");
    assert!(matches!(
        every_split(&TINY, b"\xEF\xBB\xBF")[..],
        [Said::Error(1, 1, _, _)]
    ));
}

// covers: DEC-06
#[test]
fn a_record_of_the_ceiling_passes_and_one_byte_more_does_not() {
    let fits = "x".repeat(64);
    assert_eq!(
        every_split(&TINY, alloc::format!("{fits}\n").as_bytes()),
        [line(1, &fits)]
    );
    for over in [
        "x".repeat(65),
        "x".repeat(200),
        alloc::format!("{}y", " ".repeat(64)),
    ] {
        let expected = [Said::Error(2, 65, TOO_LONG, over.as_bytes()[..64].to_vec())];
        let text = alloc::format!("\n{over}\n{{}}\n");
        assert_eq!(every_split(&TINY, text.as_bytes()), expected);
        let tail = alloc::format!("\n{over}");
        assert_eq!(every_split(&TINY, tail.as_bytes()), expected);
    }
}

// covers: DEC-06
#[test]
fn a_blank_line_has_the_ceiling_of_a_record() {
    let text = alloc::format!("{}\n{{}}", " ".repeat(65));
    assert!(matches!(
        every_split(&TINY, text.as_bytes())[..],
        [Said::Error(1, 65, TOO_LONG, _)]
    ));
}

// covers: WIRE-018, DEC-06
#[test]
fn an_import_record_has_its_own_ceiling() {
    let lead = "{\"type\":\"attachment_import\"";
    for lead in [
        lead.to_string(),
        lead.replace(':', " : ").replace('{', " { "),
    ] {
        let fits = alloc::format!("{lead}{}}}", " ".repeat(39 - lead.len()));
        assert_eq!(
            every_split(&TINY, alloc::format!("{fits}\n").as_bytes()),
            [line(1, &fits)]
        );
        let over = alloc::format!("{lead}{}}}", " ".repeat(40 - lead.len()));
        let expected = [Said::Error(
            1,
            41,
            IMPORT_TOO_LONG,
            over.as_bytes()[..40].to_vec(),
        )];
        assert_eq!(
            every_split(&TINY, alloc::format!("{over}\n{{}}").as_bytes()),
            expected
        );
        assert_eq!(every_split(&TINY, over.as_bytes()), expected);
        let far = alloc::format!("{over}{}", " ".repeat(90));
        assert_eq!(every_split(&TINY, far.as_bytes()), expected);
    }
}

// covers: DEC-06
#[test]
fn an_import_record_fails_before_its_newline_comes() {
    let mut framer = Framer::new(&TINY);
    let mut text = &b"{\"type\":\"attachment_import\",\"data\":\"0123456789"[..];
    assert!(matches!(
        framer.next(&mut text),
        Some(Err(FrameError {
            line: 1,
            byte: 41,
            ..
        }))
    ));
}

// covers: DEC-06
#[test]
fn other_kinds_have_the_ceiling_of_a_record() {
    for lead in [
        "{\"type\":\"attachment_imports\"",
        "{\"type\":\"user\",\"x\":\"attachment_import\"",
        "{\"x\":0,\"type\":\"attachment_import\"",
        "{ }\"type\":\"attachment_import\"",
    ] {
        let text = alloc::format!("{lead}{}}}", " ".repeat(60 - lead.len()));
        assert_eq!(
            every_split(&TINY, alloc::format!("{text}\n").as_bytes()),
            [line(1, &text)]
        );
    }
    let late = Line {
        number: 7,
        bytes: &[b'x'; 41],
        from_end: false,
    };
    let error = late.import_too_long(TINY.import_record_bytes).unwrap();
    assert_eq!(
        (error.line, error.byte, error.reason),
        (7, 41, IMPORT_TOO_LONG)
    );
    assert_eq!(late.import_too_long(41), None);
}

#[test]
fn complete_lines_are_borrowed_and_a_boundary_holds_nothing() {
    let mut framer = Framer::new(&Limits::DEFAULT);
    let text = b"{\"a\":1}\n{\"b\":2}\n{\"c\"".to_vec();
    let mut chunk = &text[..];
    let first = framer.next(&mut chunk).unwrap().unwrap();
    assert!(core::ptr::eq(first.bytes, &text[..7]));
    assert!(framer.next(&mut chunk).is_some() && framer.held() == 0);
    assert!(framer.next(&mut chunk).is_none() && framer.held() > 0);
    let mut chunk = &b":3}\n"[..];
    assert!(framer.next(&mut chunk).is_some());
    assert!(framer.next(&mut chunk).is_none());
    assert_eq!(framer.held(), 0);
}

// covers: DEC-06
#[test]
fn memory_stays_below_the_ceiling_whatever_the_pieces() {
    let limits = Limits {
        record_bytes: 1000,
        ..Limits::DEFAULT
    };
    for size in [1, 7, 600, 999, 1000] {
        let mut framer = Framer::new(&limits);
        let text = vec![b'x'; 1000];
        for mut piece in text.chunks(size) {
            assert!(framer.next(&mut piece).is_none());
            assert!(
                framer.held() <= 1000,
                "{} with pieces of {size}",
                framer.held()
            );
        }
        assert!(framer.end().unwrap().is_ok());
    }
}

// covers: DEC-10, WIRE-001
#[test]
fn errors_tell_line_and_byte_from_one_and_hide_the_text() {
    let line = Line {
        number: 3,
        bytes: b"{\"secret\":}",
        from_end: false,
    };
    let error = line.fault(ScanError {
        at: 10,
        reason: Reason::UnexpectedByte,
    });
    assert_eq!(
        error.to_string(),
        "malformed NDJSON input: line 3, byte 11: unexpected character in JSON"
    );
    assert!(!alloc::format!("{error:?} {error}").contains("secret"));
    assert_eq!(error.source, line.bytes);
}
