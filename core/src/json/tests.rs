use super::*;
use std::string::String;
use std::vec::Vec;

fn scan(text: &str) -> Result<(), ScanError> {
    Scanner::new()
        .scan(text.as_bytes(), &ScanLimits::DEFAULT)
        .map(|_| ())
}

#[test]
fn reads_members() {
    let mut scanner = Scanner::new();
    let text = br#" {"a" : [1, {"b":null}, "x\ny"], "\u0063":true, "n":-1.50e+99} "#;
    let value = scanner.scan(text, &ScanLimits::DEFAULT).unwrap();
    let object = value.as_object().unwrap();
    assert_eq!(object.len(), 3);
    let array = object.get("a").unwrap().as_array().unwrap();
    assert_eq!(array.len(), 3);
    assert_eq!(array.get(0).unwrap().as_u64(), Some(1));
    assert_eq!(array.get(1).unwrap().raw(), r#"{"b":null}"#);
    assert_eq!(
        array.get(2).unwrap().as_str().unwrap().decode().unwrap(),
        "x\ny"
    );
    assert_eq!(object.get("c").unwrap().as_bool(), Some(true));
    assert_eq!(object.get("n").unwrap().as_number(), Some("-1.50e+99"));
    let names: Vec<String> = object
        .iter()
        .map(|(n, _)| n.decode().unwrap().into_owned())
        .collect();
    assert_eq!(names, ["a", "c", "n"]);
}

#[test]
fn folded_values_read_the_same() {
    let text = br#"{"a":[1,{"b":[null,"\ud800"]},"x"],"c":{"d":{"e":[]}}}"#;
    for node_depth in 0..8 {
        let mut scanner = Scanner::new();
        let limits = ScanLimits {
            node_depth,
            ..ScanLimits::DEFAULT
        };
        let root = scanner.scan(text, &limits).unwrap().as_object().unwrap();
        let a = root.get("a").unwrap().as_array().unwrap();
        assert_eq!(a.len(), 3);
        let b = a.get(1).unwrap().as_object().unwrap().get("b").unwrap();
        assert!(b.has_unpaired_surrogate());
        assert!(!a.get(0).unwrap().has_unpaired_surrogate());
        assert_eq!(b.as_array().unwrap().len(), 2);
        let e = root
            .get("c")
            .unwrap()
            .as_object()
            .unwrap()
            .get("d")
            .unwrap();
        assert!(
            e.as_object()
                .unwrap()
                .get("e")
                .unwrap()
                .as_array()
                .unwrap()
                .is_empty()
        );
        assert!(!e.has_unpaired_surrogate());
    }
}

// covers: DEC-03, WIRE-014, WIRE-021
#[test]
fn duplicate_names_are_refused_at_every_depth() {
    for text in [
        r#"{"a":1,"a":2}"#,
        r#"{"a":1,"\u0061":2}"#,
        r#"[[[{"x":{"é":1,"\u00e9":2}}]]]"#,
        r#"{"😀":1,"\ud83d\ude00":2}"#,
        r#"{"\ud800":1,"\ud800":2}"#,
    ] {
        let error = scan(text).unwrap_err();
        assert_eq!(error.reason, Reason::DuplicateName, "{text}");
    }
    assert_eq!(scan(r#"{"a":{"a":1},"b":{"a":2}}"#), Ok(()));
    assert_eq!(scan(r#"{"request_id":1,"requestId":2}"#), Ok(()));
}

#[test]
fn writer_writes_compact_records() {
    let mut writer = Writer::new();
    writer.begin_object();
    writer.member_str("a\u{2028}", "q\"\\\n\r\t\u{8}\u{c}\u{1}\u{1f}é\u{2029}…");
    writer.key("list");
    writer.begin_array();
    writer.u64(0);
    writer.i64(-12);
    writer.i64(i64::MIN);
    writer.u64(u64::MAX);
    writer.null();
    writer.end_array();
    writer.member_raw("raw", &RawJson::parse(" { \"x\" : 1.0 } ").unwrap());
    writer.member_opt_str("none", None);
    writer.member_nullable_str("null", None);
    writer.end_object();
    assert_eq!(
        String::from_utf8(writer.finish()).unwrap(),
        "{\"a\\u2028\":\"q\\\"\\\\\\n\\r\\t\\b\\f\\u0001\\u001fé\\u2029…\",\
         \"list\":[0,-12,-9223372036854775808,18446744073709551615,null],\
         \"raw\":{\"x\":1.0},\"null\":null}"
    );
}
