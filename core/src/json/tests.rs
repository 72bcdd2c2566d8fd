use super::*;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

fn scan(text: impl AsRef<[u8]>) -> Result<(), ScanError> {
    let mut scanner = Scanner::new();
    scanner
        .scan(text.as_ref(), &ScanLimits::DEFAULT)
        .map(|_| ())
}

fn fault(text: impl AsRef<[u8]>) -> (usize, Reason) {
    let error = scan(text).unwrap_err();
    (error.at, error.reason)
}

#[test]
fn members_and_elements_are_found() {
    let mut scanner = Scanner::new();
    let text = br#" {"a" : [1, {"b":null}, "x\ny"], "\u0063":true, "n":-1.50e+99 , "f":false} "#;
    let value = scanner.scan(text, &ScanLimits::DEFAULT).unwrap();
    assert_eq!(value.kind(), Kind::Object);
    let object = value.as_object().unwrap();
    assert_eq!(object.len(), 4);
    let array = object.get("a").unwrap().as_array().unwrap();
    assert_eq!(array.len(), 3);
    assert_eq!(array.get(0).unwrap().as_u64(), Some(1));
    assert_eq!(array.get(1).unwrap().raw(), r#"{"b":null}"#);
    let b = array.get(1).unwrap().as_object().unwrap().get("b").unwrap();
    assert!(b.is_null() && b.as_object().is_none() && b.as_bool().is_none());
    let x = array.get(2).unwrap().as_str().unwrap();
    assert_eq!(x.decode().unwrap(), "x\ny");
    assert_eq!(x.raw(), "x\\ny");
    assert!(array.get(3).is_none() && object.get("d").is_none());
    assert_eq!(object.get("c").unwrap().as_bool(), Some(true));
    assert_eq!(object.get("f").unwrap().as_bool(), Some(false));
    assert_eq!(object.get("n").unwrap().as_number(), Some("-1.50e+99"));
    let names: Vec<String> = object
        .iter()
        .map(|(n, _)| n.decode_lossy().into())
        .collect();
    assert_eq!(names, ["a", "c", "n", "f"]);
}

// covers: DEC-04
#[test]
fn numbers_keep_their_text() {
    let text = "123456789012345678901234567890.10e-99999";
    let mut scanner = Scanner::new();
    let value = scanner.scan(text.as_bytes(), &ScanLimits::DEFAULT).unwrap();
    assert_eq!(value.as_number(), Some(text));
    for (text, whole) in [
        ("0", Some(0)),
        ("18446744073709551615", Some(u64::MAX)),
        ("18446744073709551616", None),
        ("-0", None),
        ("-1", None),
        ("1.0", None),
        ("1e2", None),
    ] {
        let value = scanner.scan(text.as_bytes(), &ScanLimits::DEFAULT).unwrap();
        assert_eq!(value.as_u64(), whole, "{text}");
        assert_eq!(value.as_number(), Some(text));
    }
}

#[test]
fn faults_are_told_with_their_place() {
    for (text, at, reason) in [
        ("", 0, Reason::Empty),
        (" \t\r\n", 4, Reason::Empty),
        ("{", 1, Reason::UnexpectedEnd),
        ("[1,", 3, Reason::UnexpectedEnd),
        ("{\"a\"", 4, Reason::UnexpectedEnd),
        ("{\"a\" : ", 7, Reason::UnexpectedEnd),
        ("\"abc", 4, Reason::UnexpectedEnd),
        ("\"abc\\", 5, Reason::UnexpectedEnd),
        ("\"abc\\u00e", 9, Reason::UnexpectedEnd),
        ("tru", 3, Reason::UnexpectedEnd),
        ("-", 1, Reason::UnexpectedEnd),
        ("1.", 2, Reason::UnexpectedEnd),
        ("1e+", 3, Reason::UnexpectedEnd),
        ("[1,]", 3, Reason::UnexpectedByte),
        ("[,1]", 1, Reason::UnexpectedByte),
        ("[1 2]", 3, Reason::UnexpectedByte),
        ("[1}", 2, Reason::UnexpectedByte),
        ("{\"a\":1]", 6, Reason::UnexpectedByte),
        ("{\"a\":1,}", 7, Reason::UnexpectedByte),
        ("{,}", 1, Reason::UnexpectedByte),
        ("{1:2}", 1, Reason::UnexpectedByte),
        ("{\"a\" 1}", 5, Reason::UnexpectedByte),
        ("{\"a\"::1}", 5, Reason::UnexpectedByte),
        ("[nul]", 4, Reason::UnexpectedByte),
        ("[True]", 1, Reason::UnexpectedByte),
        ("'a'", 0, Reason::UnexpectedByte),
        ("\0", 0, Reason::UnexpectedByte),
        ("]", 0, Reason::UnexpectedByte),
        ("{}x", 2, Reason::TrailingData),
        ("1 2", 2, Reason::TrailingData),
        ("{},", 2, Reason::TrailingData),
        ("null\0", 4, Reason::TrailingData),
        ("01", 1, Reason::InvalidNumber),
        ("-x", 1, Reason::InvalidNumber),
        ("1.e1", 2, Reason::InvalidNumber),
        ("1e*", 2, Reason::InvalidNumber),
        ("+1", 0, Reason::UnexpectedByte),
        ("\"\\x\"", 1, Reason::InvalidEscape),
        ("\"a\\u00g0\"", 2, Reason::InvalidEscape),
        ("\"a\nb\"", 2, Reason::ControlCharacter),
        ("{\"\t\":1}", 2, Reason::ControlCharacter),
    ] {
        assert_eq!(fault(text), (at, reason), "{text:?}");
    }
}

// covers: DEC-01, DEC-04
#[test]
fn only_utf8_without_a_mark_passes() {
    assert_eq!(fault(b"\xEF\xBB\xBF{}"), (0, Reason::ByteOrderMark));
    assert!(Reason::ByteOrderMark.as_str().contains("byte order mark"));
    assert_eq!(fault(b"[\"\xEF\xBB\"]"), (2, Reason::InvalidUtf8));
    assert_eq!(fault(b"\"\xC0\x80\""), (1, Reason::InvalidUtf8));
    assert_eq!(fault(b"\"\xED\xA0\x80\""), (1, Reason::InvalidUtf8));
    // What is wrong before the bad byte comes first.
    assert_eq!(fault(b"[x, \"\xFF\"]"), (1, Reason::UnexpectedByte));
    assert_eq!(fault(b"[\0\"\0\xE9\0"), (1, Reason::UnexpectedByte));
    assert_eq!(scan("[\"\u{FEFF}\u{2028}\u{7f}\"]"), Ok(()));
}

#[test]
fn faults_do_not_tell_the_text() {
    let error = scan("{\"secret\":x}").unwrap_err();
    assert_eq!(error.to_string(), "unexpected character in JSON at byte 11");
}

// covers: DEC-03, WIRE-014, WIRE-021
#[test]
fn duplicate_names_are_refused_at_every_depth() {
    let deep = format!("{}{{\"a\":1,\"a\":2}}{}", "[".repeat(100), "]".repeat(100));
    for (text, at) in [
        (r#"{"a":1,"a":2}"#, 7),
        (r#"{"a":1,"\u0061":2}"#, 7),
        (r#"{"\u0061":1,"a":2}"#, 12),
        (r#"[[[{"x":{"é":1,"\u00e9":2}}]]]"#, 16),
        (r#"{"😀":1,"\ud83d\ude00":2}"#, 10),
        (r#"{"\ud800":1,"\uD800":2}"#, 12),
        (r#"{"":1,"":2}"#, 6),
        (r#"{"request":{"a":{"b":1,"c":{},"b":[]}}}"#, 30),
        (deep.as_str(), 107),
    ] {
        assert_eq!(fault(text), (at, Reason::DuplicateName), "{text}");
    }
    assert_eq!(
        Reason::DuplicateName.as_str(),
        "ambiguous JSON: duplicate member name"
    );
    for text in [
        r#"{"a":{"a":1},"b":{"a":2}}"#,
        r#"[{"a":1},{"a":1}]"#,
        r#"{"request_id":1,"requestId":2}"#,
        r#"{"a":1,"a ":2,"A":3,"\u0000":4,"":5}"#,
        r#"{"\ud800":1,"\ud801":2,"\ufffd":3}"#,
        r#"{"a\\":1,"a\"":2,"\u0061\\\\":3}"#,
    ] {
        assert_eq!(scan(text), Ok(()), "{text}");
    }
}

/// An object of `count` members with these names, one of them twice.
fn wide(count: usize, twice: Option<usize>, name: impl Fn(usize) -> String) -> String {
    let mut text = String::from("{");
    for index in (0..count).chain(twice) {
        text.push_str(&format!("\"{}\":{{\"x\":[{index}]}},", name(index)));
    }
    text.pop();
    text.push('}');
    text
}

// covers: DEC-03, WIRE-021
#[test]
fn wide_objects_are_checked_in_full() {
    let plain = |index: usize| format!("name {index}");
    let alike = |index: usize| format!("same begin {index:09} same end");
    let escaped = |index: usize| format!("\\u006eame {index}");
    for count in [2, 15, 16, 17, 18, 40, 3000, 30_000] {
        for name in [&plain as &dyn Fn(usize) -> String, &alike, &escaped] {
            assert_eq!(scan(wide(count, None, name)), Ok(()), "{count}");
            for twice in [0, count / 2, count - 1] {
                let text = wide(count, Some(twice), name);
                let second = text.rfind(&format!("\"{}\"", name(twice))).unwrap();
                assert_eq!(
                    fault(&text),
                    (second, Reason::DuplicateName),
                    "{count} {twice}"
                );
            }
        }
        let mixed = wide(count, Some(count / 3), plain);
        let first = mixed.find("\"name").unwrap();
        let respelled = format!("{{\"\\u006eame 0\"{}", &mixed[first + 8..]);
        assert_eq!(fault(respelled).1, Reason::DuplicateName);
    }
}

// covers: DEC-06
#[test]
fn depth_has_a_limit() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        assert_eq!(scan(nested(128)), Ok(()));
        assert_eq!(fault(nested(129)), (open.len() * 128, Reason::TooDeep));
        assert_eq!(
            fault(open.repeat(100_000)),
            (open.len() * 128, Reason::TooDeep)
        );
    }
    let limits = ScanLimits {
        max_depth: 0,
        ..ScanLimits::DEFAULT
    };
    let mut scanner = Scanner::new();
    assert!(scanner.scan(b"1", &limits).is_ok());
    assert_eq!(
        scanner.scan(b"[]", &limits).unwrap_err().reason,
        Reason::TooDeep
    );
}

/// Everything that can be read from a value, in one form.
fn tell(value: Value<'_>, out: &mut String) {
    let unpaired = if value.has_unpaired_surrogate() {
        "!"
    } else {
        ""
    };
    match value.kind() {
        Kind::Array => {
            out.push_str(&format!("{unpaired}[{} ", value.as_array().unwrap().len()));
            for element in value.as_array().unwrap() {
                tell(element, out);
            }
            out.push(']');
        }
        Kind::Object => {
            let object = value.as_object().unwrap();
            assert_eq!(
                object.is_empty(),
                value.raw().trim_matches(['{', '}', ' ']).is_empty()
            );
            out.push_str(&format!("{unpaired}{{{} ", object.len()));
            for (name, member) in object {
                out.push_str(&format!("{:?}: ", name.decode_lossy()));
                tell(member, out);
            }
            out.push('}');
        }
        Kind::String => {
            let string = value.as_str().unwrap();
            out.push_str(&format!("{unpaired}{:?} ", string.decode_lossy()));
            assert_eq!(string.decode().is_err(), value.has_unpaired_surrogate());
        }
        Kind::Number => out.push_str(value.as_number().unwrap()),
        Kind::Bool => out.push_str(&format!("{:?} ", value.as_bool())),
        Kind::Null => out.push_str("null "),
    }
}

fn told(text: &str, limits: &ScanLimits) -> String {
    let mut out = String::new();
    tell(
        Scanner::new().scan(text.as_bytes(), limits).unwrap(),
        &mut out,
    );
    out
}

#[test]
fn what_has_no_nodes_reads_the_same() {
    let text =
        r#" {"a": [1, {"b" : [null,"\ud800", "\\" ]} ,"x"] , "c":{"d":{"e":[ ] ,"\udc00":{ }}} } "#;
    let full = told(text, &ScanLimits::DEFAULT);
    assert!(full.contains("!{1 \"b\": ![3 null !\"\u{FFFD}\" \"\\\\\" ]}"));
    for node_depth in 0..6 {
        let limits = ScanLimits {
            node_depth,
            ..ScanLimits::DEFAULT
        };
        assert_eq!(told(text, &limits), full, "{node_depth}");
    }
}

#[test]
fn large_texts_fold_and_still_read_the_same() {
    let numbers = "[1,2],".repeat(20_000);
    let inner = format!("[{}{{\"deep\":[{}0]}}]", numbers, "7,".repeat(40_000));
    let members = wide(9_000, None, |index| format!("k{index}"));
    let text = format!("{{\"a\":{inner},\"b\":{members},\"c\":[true,{{\"d\":\"e\"}}]}}");
    let mut scanner = Scanner::new();
    let value = scanner.scan(text.as_bytes(), &ScanLimits::DEFAULT).unwrap();
    let mut folded = String::new();
    tell(value, &mut folded);
    assert!(
        scanner.held() <= 2 * text.len(),
        "{} held for {}",
        scanner.held(),
        text.len()
    );
    let expected = serde_told(&serde_json::from_str(&text).unwrap());
    assert!(folded == expected, "a folded text reads differently");
}

fn serde_told(value: &serde_json::Value) -> String {
    use serde_json::Value as V;
    match value {
        V::Array(list) => {
            let inside: String = list.iter().map(serde_told).collect();
            format!("[{} {inside}]", list.len())
        }
        V::Object(members) => {
            // Sorted by name there, in the order of the text here: the same for
            // the names of this test but for those that are numbered.
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| (name.len(), name.to_string()));
            let member = |(name, value): &(&String, &V)| format!("{name:?}: {}", serde_told(value));
            let inside: String = members.iter().map(member).collect();
            format!("{{{} {inside}}}", members.len())
        }
        V::String(text) => format!("{text:?} "),
        V::Number(number) => number.to_string(),
        V::Bool(truth) => format!("{:?} ", Some(*truth)),
        V::Null => "null ".to_string(),
    }
}

// covers: DEC-03
#[test]
fn folding_loses_no_names() {
    for node_depth in [0, 1, 2, 10] {
        let limits = ScanLimits {
            node_depth,
            ..ScanLimits::DEFAULT
        };
        // The outer object is folded while the name before `big` is known, and
        // the inner one after its first names.
        for (inner, outer) in [("", ""), (",\"in1\":0", ""), ("", ",\"out1\":0")] {
            let numbers = "0,".repeat(70_000);
            let text = format!(
                "{{\"out1\":0,\"out2\":{{\"in1\":[],\"big\":[{numbers}0],\"in2\":{{}}{inner}}}{outer}}}"
            );
            let found = Scanner::new().scan(text.as_bytes(), &limits).map(|_| ());
            assert_eq!(found.is_ok(), inner.is_empty() && outer.is_empty());
            // The same with the numbers as members of the inner object itself.
            let members: String = (0..40_000).map(|n| format!("\"n{n}\":0,")).collect();
            let text = format!(
                "{{\"out1\":0,\"out2\":{{\"in1\":[],{members}\"in2\":{{}}{inner}}}{outer}}}"
            );
            let found = Scanner::new().scan(text.as_bytes(), &limits).map(|_| ());
            assert_eq!(found.is_ok(), inner.is_empty() && outer.is_empty());
        }
    }
}

#[test]
fn scratch_is_reused_and_given_back() {
    let mut scanner = Scanner::new();
    let small = br#"{"a":[1,2,{"b":"c"}]}"#;
    assert!(scanner.scan(small, &ScanLimits::DEFAULT).is_ok());
    let held = scanner.held();
    assert!(held > 0);
    for _ in 0..10 {
        assert!(scanner.scan(small, &ScanLimits::DEFAULT).is_ok());
        assert_eq!(scanner.held(), held);
    }
    let large = format!("[{}1]", "1,".repeat(4_000_000));
    assert!(scanner.scan(large.as_bytes(), &ScanLimits::DEFAULT).is_ok());
    assert!(scanner.held() < 2 * large.len());
    assert!(scanner.held() > 1 << 20);
    assert!(scanner.scan(small, &ScanLimits::DEFAULT).is_ok());
    assert_eq!(scanner.held(), held);
}

fn string(text: &str) -> String {
    let mut scanner = Scanner::new();
    let value = scanner.scan(text.as_bytes(), &ScanLimits::DEFAULT).unwrap();
    value.as_str().unwrap().decode_lossy().into_owned()
}

// covers: DEC-04
#[test]
fn strings_decode() {
    let long = "0123456789abcdef".repeat(3);
    for (raw, text) in [
        (r"", String::new()),
        (r"a\/b", "a/b".into()),
        (r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t".into()),
        (r"\u00e9\u2028\uFFFF\u0000", "é\u{2028}\u{FFFF}\0".into()),
        (r"\ud83d\ude00 \uD83D\uDE00", "😀 😀".into()),
        (r"x\ud800", "x\u{FFFD}".into()),
        (r"\ud800\ud83d\ude00", "\u{FFFD}😀".into()),
        (r"\ud83d\n\ude00", "\u{FFFD}\n\u{FFFD}".into()),
        (r"\ude00\ud83d", "\u{FFFD}\u{FFFD}".into()),
        (r"\ud83d\u0041", "\u{FFFD}A".into()),
        (r"é😀\u2028é😀", "é😀\u{2028}é😀".into()),
    ] {
        // At every place of a step, and with a step before and behind.
        for shift in 0..20 {
            let (before, after) = (&long[..shift], &long[shift..]);
            assert_eq!(
                string(&format!("\"{before}{raw}{after}\"")),
                format!("{before}{text}{after}")
            );
        }
        assert_eq!(string(&format!("\"{raw}\"")), text);
    }
}

#[test]
fn strings_compare_decoded() {
    let mut scanner = Scanner::new();
    let text = br#"["type","t\u0079pe","\ud83d\ude00","\ud800",""]"#;
    let list = scanner.scan(text, &ScanLimits::DEFAULT).unwrap();
    let list: Vec<Str<'_>> = list
        .as_array()
        .unwrap()
        .iter()
        .flat_map(Value::as_str)
        .collect();
    for (string, equal) in [
        (list[0], "type"),
        (list[1], "type"),
        (list[2], "😀"),
        (list[4], ""),
    ] {
        assert!(string.eq(equal) && string == equal && string == *equal);
        for other in ["typ", "types", "😀x", "\u{FFFD}", "x"] {
            assert!(!string.eq(other), "{string:?} {other}");
        }
    }
    assert!(!list[3].eq("\u{FFFD}") && list[3].has_unpaired_surrogate());
    assert_eq!(list[3].decode(), Err(UnpairedSurrogate));
    assert!(matches!(list[0].decode(), Ok(Cow::Borrowed("type"))));
}

// covers: DEC-04
#[test]
fn a_text_without_unpaired_surrogates_is_the_same_elsewhere() {
    for (text, repaired) in [
        (r#"{"a":"\ud800"}"#, r#"{"a":"\ufffd"}"#),
        (
            r#"["\udc00\ud83d\ude00\uD83D"]"#,
            r#"["\ufffd\ud83d\ude00\ufffd"]"#,
        ),
        (r#""\\ud800 \"\ud800\\""#, r#""\\ud800 \"\ufffd\\""#),
        (
            r#"{"\udfff":1.50, "b" :"é\n"}"#,
            r#"{"\ufffd":1.50, "b" :"é\n"}"#,
        ),
        ("[]", "[]"),
    ] {
        assert_eq!(without_unpaired(text), repaired);
        assert_eq!(text.len(), repaired.len());
        let raw = RawJson::parse(repaired).expect("it is still JSON");
        assert!(!raw.has_unpaired_surrogate(), "{repaired}");
    }
}

// covers: DEC-34
#[test]
fn the_size_of_a_character_is_what_the_writer_takes_for_it() {
    for c in (0..=0x2030)
        .chain([0xFFFD, 0x1_F600])
        .filter_map(char::from_u32)
    {
        let mut writer = Writer::new();
        writer.string(c.encode_utf8(&mut [0; 4]));
        assert_eq!(writer.finish().len(), escaped_len(c) + 2, "{c:?}");
        assert_eq!(
            escaped_bytes(&[c, 'a', c].iter().collect::<String>()),
            2 * escaped_len(c) + 1
        );
    }
}

#[test]
fn raw_json_is_canonical() {
    for (text, canonical) in [
        (" {\"a\" :\t[1.0 , 2e5,\r\n{ } ] } ", "{\"a\":[1.0,2e5,{}]}"),
        (
            "\"a b\\n \\u2028 \u{2028}\u{2029}…\"",
            "\"a b\\n \\u2028 \\u2028\\u2029…\"",
        ),
        (
            "{\"\u{2028}\":\"\\\\\", \"b\" : \"\\\" \"}",
            "{\"\\u2028\":\"\\\\\",\"b\":\"\\\" \"}",
        ),
        ("[\"\\u0041\\/\",-0,1E+2]", "[\"\\u0041\\/\",-0,1E+2]"),
        ("{}", "{}"),
        (" null", "null"),
    ] {
        let raw = RawJson::parse(text).unwrap();
        assert_eq!(raw.as_str(), canonical);
        assert_eq!(RawJson::parse(canonical).unwrap(), raw);
        assert_eq!(raw.is_object(), canonical.starts_with('{'));
        let mut writer = Writer::new();
        let mut scanner = Scanner::new();
        writer.value(scanner.scan(text.as_bytes(), &ScanLimits::DEFAULT).unwrap());
        assert_eq!(writer.finish(), canonical.as_bytes());
    }
    assert_eq!(RawJson::empty_object().as_str(), "{}");
    assert_eq!(
        RawJson::parse("{\"a\":1,\"a\":2}").unwrap_err().reason,
        Reason::DuplicateName
    );
    assert_eq!(
        RawJson::parse_bytes(b"\"\xFF\"").unwrap_err().reason,
        Reason::InvalidUtf8
    );
}

// covers: DEC-16
#[test]
fn writer_writes_compact_records() {
    let mut writer = Writer::new();
    writer.begin_object();
    writer.member_str(
        "a\u{2028}",
        "q\"\\\n\r\t\u{8}\u{c}\u{1}\u{1f}\u{7f}é\u{2029}…",
    );
    writer.key("list");
    writer.begin_array();
    writer.u64(0);
    writer.i64(-12);
    writer.i64(i64::MIN);
    writer.u64(u64::MAX);
    writer.null();
    writer.begin_object();
    writer.end_object();
    writer.begin_array();
    writer.end_array();
    writer.bool(true);
    writer.end_array();
    writer.member_raw("raw", &RawJson::parse(" { \"x\" : 1.0 } ").unwrap());
    writer.member_opt_str("none", None);
    writer.member_opt_str("some", Some("s"));
    writer.member_nullable_str("null", None);
    writer.member_opt_u64("u", Some(5));
    writer.member_opt_bool("b", None);
    writer.member_i64("i", -5);
    writer.member_number_text("n", "0.000001");
    writer.end_object();
    assert_eq!(
        String::from_utf8(writer.finish()).unwrap(),
        "{\"a\\u2028\":\"q\\\"\\\\\\n\\r\\t\\b\\f\\u0001\\u001f\u{7f}é\\u2029…\",\
         \"list\":[0,-12,-9223372036854775808,18446744073709551615,null,{},[],true],\
         \"raw\":{\"x\":1.0},\"some\":\"s\",\"null\":null,\"u\":5,\"i\":-5,\"n\":0.000001}"
    );
}

#[test]
fn writer_escapes_at_every_place() {
    let long = "0123456789abcdefghij";
    for (c, escape) in [
        ("\"", "\\\""),
        ("\u{2028}", "\\u2028"),
        ("\u{2029}", "\\u2029"),
        ("…", "…"),
        ("\u{1}", "\\u0001"),
        ("é", "é"),
        ("\\\\", "\\\\\\\\"),
    ] {
        for at in 0..=long.len() {
            let (before, after) = long.split_at(at);
            let mut writer = Writer::with_buffer(b"old".to_vec());
            writer.string(&format!("{before}{c}{after}{c}"));
            let expected = format!("\"{before}{escape}{after}{escape}\"");
            assert_eq!(writer.as_bytes(), expected.as_bytes());
        }
    }
}
