//! Lines in: any cut, the last line, and what ends the stream.

use agentx_conformance::session::{Bench, bare, brief, config, uuid};
use agentx_core::agent::{Config, Input, Severity};
use agentx_core::guard::Guard;
use agentx_core::limits::Limits;
use agentx_core::machine::{Machine as _, Misuse};
use agentx_core::model::Message;
use serde_json::json;

const STATUS_1: &str =
    r#"{"type":"control_request","request_id":"c1","request":{"subtype":"mcp_status"}}"#;
const STATUS_2: &str =
    r#"{"type":"control_request","request_id":"c2","request":{"subtype":"mcp_status"}}"#;
const USER: &str = r#"{"type":"user","message":"é \u2028 \ud83d\ude00"}"#;

/// The text of the fatal result, which must be the last record.
fn fatal(b: &mut Bench) -> String {
    assert_eq!(b.exit, Some(1), "malformed input ends with status 1");
    let records = b.records();
    let last = records.last().expect("a fatal result");
    assert_eq!(last["stop_reason"], "input_error");
    assert_eq!(last.get("prompt_uuid"), None);
    let text = last["errors"][0].as_str().expect("one text").to_string();
    let diagnostics = b.diagnostics();
    let told = diagnostics.last().expect("a diagnostic");
    assert!(told.starts_with(&text), "{told}");
    text
}

fn fatal_of(config: Config, line: &[u8]) -> String {
    let mut b = Bench::new(config);
    b.feed(Input::Bytes(&[line, b"\n"].concat()));
    fatal(&mut b)
}

fn at(line: u64, byte: u64, reason: &str) -> String {
    format!("malformed NDJSON input: line {line}, byte {byte}: {reason}")
}

// covers: ACC-01, WIRE-EOF-001, DEC-02
#[test]
fn three_objects_cut_anywhere_parse_once_each() {
    let stream = format!("{STATUS_1}\n\r\n  \n{USER}\r\n{STATUS_2}");
    let expected = ["ack c1", "state running", "ack c2"];
    for cut in 0..=stream.len() {
        let mut b = Bench::new(config());
        b.replays = false;
        let (one, two) = stream.as_bytes().split_at(cut);
        b.feed(Input::Bytes(one));
        b.feed(Input::Bytes(two));
        b.eof();
        assert_eq!(b.briefs(), expected, "cut at {cut}");
    }
    let mut b = Bench::new(config());
    for byte in stream.as_bytes() {
        b.feed(Input::Bytes(&[*byte]));
    }
    b.eof();
    assert_eq!(b.briefs(), expected);
    let (_, request) = b.model();
    let text = "é \u{2028} \u{1f600}".to_string();
    assert_eq!(*request.history[0], Message::User(vec![text]));
}

// covers: ACC-14, WIRE-EOF-001, WIRE-001
#[test]
fn a_malformed_tail_resolves_nothing() {
    let mut b = Bench::new(config());
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", "{}")]);
    let id = b.question("t1");
    b.records();
    let tail = format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{{"behavior":"allow","updatedInput":{{}}}}}}"#
    );
    b.feed(Input::Bytes(tail.as_bytes()));
    assert_eq!(b.briefs(), Vec::<String>::new());
    b.eof();
    assert!(
        b.find_tool("t1").is_none(),
        "a partial answer allows nothing"
    );
    let records = b.records();
    let briefs: Vec<_> = records.iter().map(brief).collect();
    assert_eq!(
        briefs,
        [
            "cancel",
            "tool_result t1",
            "result error_during_execution",
            "state idle",
            "result error_during_execution"
        ]
    );
    let last = records.last().expect("records came");
    let byte = tail.len() as u64 + 1;
    let text = at(2, byte, "unexpected end of JSON");
    assert_eq!(last["errors"], json!([text]));
    assert_eq!((b.exit, b.session.pending_requests()), (Some(1), 0));
    let diagnostic = *b.diagnostics().last().expect("a diagnostic");
    assert!(diagnostic.starts_with(&text), "{diagnostic}");
}

// covers: ACC-13, WIRE-EOF-001, WIRE-008
#[test]
fn a_valid_tail_resolves_its_request_before_the_end() {
    let mut b = Bench::new(Config {
        replay_user_messages: true,
        ..config()
    });
    b.prompt(1, "go");
    b.calls(&[
        ("t1", "Look", r#"{"file_path":"/etc/a"}"#),
        ("t2", "Do", "{}"),
    ]);
    let id = b.question("t1");
    b.records();
    let tail = json!({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": {"behavior": "allow", "updatedInput": {}}}});
    b.feed(Input::Bytes(tail.to_string().as_bytes()));
    b.eof();
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        [&format!("ack {id}"), "state running", "tool_result t2"]
    );
    let other = &records[2]["message"]["content"][0];
    assert_eq!(
        (&other["content"][0]["text"], &other["is_error"]),
        (
            &json!(
                "Tool permission request failed: the permission stream closed before an answer came."
            ),
            &json!(true)
        )
    );
    assert_eq!(b.session.pending_requests(), 0);
    let (_, request) = b.tool("t1");
    assert_eq!(request.call.input.as_str(), r#"{"file_path":"/etc/a"}"#);
    b.tool_says("t1", "a");
    b.says("done");
    assert_eq!(
        b.briefs(),
        [
            "tool_result t1",
            "assistant text",
            "result success",
            "state idle"
        ]
    );
    assert_eq!(b.exit, Some(0));
}

// covers: WIRE-EOF-001, DEC-02
#[test]
fn a_tail_of_whitespace_is_a_blank_line() {
    let mut b = Bench::new(config());
    b.line(STATUS_1);
    b.feed(Input::Bytes(b" \t\r"));
    b.eof();
    assert_eq!((b.briefs(), b.exit), (vec!["ack c1".to_string()], Some(0)));
}

// covers: WIRE-001, WIRE-014, WIRE-PERM-052, DEC-01, DEC-03, DEC-04, DEC-05, DEC-07, DEC-08
#[test]
fn what_ends_the_stream_and_where() {
    let cases: [(&[u8], u64, &str); 21] = [
        (b"\xEF\xBB\xBF{}", 1, "byte order mark before the JSON value"),
        (b"zz", 1, "unexpected character in JSON"),
        (b"{}{}", 3, "unexpected data after the JSON value"),
        (b"{\"a\":1", 7, "unexpected end of JSON"),
        (b"{\"a\":01}", 7, "invalid JSON number"),
        (b"{\"a\":\"\\q\"}", 7, "invalid escape in a JSON string"),
        (b"{\"a\":\"\x01\"}", 7, "unescaped control character in a JSON string"),
        (b"{\"a\":\"\xFF\"}", 7, "invalid UTF-8"),
        (b" [1]", 2, "record is not a JSON object"),
        (b"\"user\"", 1, "record is not a JSON object"),
        (b"null", 1, "record is not a JSON object"),
        (
            br#"{"type":"make_tea","a":1,"\u0061":2}"#,
            26,
            "ambiguous JSON: duplicate member name",
        ),
        (
            br#"{"type":"user","message":{"content":"a","content":"b"}}"#,
            41,
            "ambiguous JSON: duplicate member name",
        ),
        (
            br#"{"type":"control_request","request":{"subtype":"interrupt"}}"#,
            1,
            "control record without request_id",
        ),
        (
            br#"{"type":"control_request","request_id":null,"request":{"subtype":"interrupt"}}"#,
            40,
            "request_id is no readable string",
        ),
        (
            br#"{"type":"control_request","request_id":"\ud800","request":{"subtype":"interrupt"}}"#,
            40,
            "request_id is no readable string",
        ),
        (
            br#"{"type":"control_response","response":{"subtype":"success"}}"#,
            39,
            "control record without request_id",
        ),
        (
            br#"{"type":"control_response","response":{"subtype":"success","request_id":7}}"#,
            73,
            "request_id is no readable string",
        ),
        (
            br#"{"type":"control_response","request_id":"r"}"#,
            1,
            "control_response without a response object",
        ),
        (
            br#"{"type":"attachment_import","version":2,"operation":"commit","upload_id":"upl_a"}"#,
            39,
            "attachment_import: version must be 1",
        ),
        (
            br#"{"type":"attachment_import","version":1,"operation":"commit","upload_id":"upl_a","x":1}"#,
            86,
            "attachment_import: unknown member",
        ),
    ];
    for (line, byte, reason) in cases {
        let shown = String::from_utf8_lossy(line);
        assert_eq!(fatal_of(config(), line), at(1, byte, reason), "{shown}");
    }
}

// covers: WIRE-001, DEC-10
#[test]
fn the_fatal_result_is_whole_and_the_last_word() {
    let mut b = Bench::new(config());
    b.feed(Input::Bytes(
        format!("{{\"type\":\"keep_alive\"}}\n\nzz\n{USER}\n").as_bytes(),
    ));
    let records = b.records();
    assert_eq!(
        records.iter().map(bare).collect::<Vec<_>>(),
        [json!({
            "type": "result", "subtype": "error_during_execution", "is_error": true,
            "duration_ms": 0, "duration_api_ms": 0, "num_turns": 0,
            "stop_reason": "input_error", "total_cost_usd": null,
            "usage": {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "reasoning_output_tokens": 0, "total_tokens": 0},
            "modelUsage": {"test-model": {"inputTokens": 0, "outputTokens": 0, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0, "webSearchRequests": 0, "costUSD": null, "contextWindow": 128_000, "maxOutputTokens": 128_000}},
            "permission_denials": [],
            "errors": ["malformed NDJSON input: line 3, byte 1: unexpected character in JSON"],
        })]
    );
    assert_eq!(
        b.diagnostics(),
        ["malformed NDJSON input: line 3, byte 1: unexpected character in JSON: \"zz\""]
    );
    assert_eq!(b.exit, Some(1));
    assert!(b.open.is_empty(), "the prompt behind the fault never runs");
    assert_eq!(
        b.try_feed(Input::Bytes(b"{}\n")),
        Err(Misuse::InputAfterExit)
    );
}

// covers: DEC-10, DEC-30
#[test]
fn the_excerpt_is_short_printable_and_guarded() {
    let key = "sk-key-12345678";
    let with_key = || Config {
        credentials: Guard::new([key]).expect("one literal"),
        ..config()
    };
    let shown = |line: &[u8]| {
        let mut b = Bench::new(with_key());
        b.feed(Input::Bytes(line));
        b.feed(Input::Bytes(b"\n"));
        let text = fatal(&mut b);
        let told = b.diagnostics().concat();
        assert!(!told.contains(key) && !told.contains('\u{1b}'), "{told}");
        told[text.len() + 2..].to_string()
    };
    assert_eq!(shown(b"zz sk-key-12345678 z"), r#""zz [redacted] z""#);
    assert_eq!(
        shown("zz\u{1b}[2J\u{7}é".as_bytes()),
        r#""zz\u{1b}[2J\u{7}é""#
    );
    assert_eq!(
        shown(br#"zz "sk\u002dkey-12345678""#),
        "(the line spells a credential and is not shown)"
    );
    // Behind an odd quote, where it is no string to one who counts them.
    assert_eq!(
        shown(br#"zz " "x" " sk\u002dkey-12345678"#),
        "(the line spells a credential and is not shown)"
    );
    for (line, length) in [
        ("z".repeat(300), 200),
        ("\u{1b}".repeat(300), 200),
        (format!("{}sk-key-1234", "z".repeat(190)), 192),
    ] {
        let excerpt = shown(line.as_bytes());
        assert!(excerpt.len() <= length, "{excerpt}");
        assert!(excerpt.len() > length - 8, "{excerpt}");
        assert!(!excerpt.contains("sk-"), "half a key may end the line");
    }
}

// covers: DEC-06, WIRE-018
#[test]
fn depth_and_size_have_their_bounds() {
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
        format!(r#"{{"type":"keep_alive","a":{open}{close}}}"#)
    };
    let mut b = Bench::new(config());
    b.line(&nested(128));
    assert_eq!((b.briefs(), b.exit), (vec![], None));
    let text = fatal_of(config(), nested(129).as_bytes());
    assert_eq!(text, at(1, 25 + 128, "JSON nested too deep"));

    let small = Config {
        limits: Limits {
            record_bytes: 200,
            import_record_bytes: 100,
            ..Limits::DEFAULT
        },
        ..config()
    };
    let padded = |kind: &str, length: usize| {
        let line = format!(r#"{{"type":"{kind}","x":""}}"#);
        let pad = "p".repeat(length - line.len());
        line.replace("\"\"", &format!("\"{pad}\""))
    };
    let mut b = Bench::new(small.clone());
    b.line(&padded("keep_alive", 200));
    assert_eq!((b.briefs(), b.exit), (vec![], None));
    for (line, text) in [
        (padded("keep_alive", 201), at(1, 201, "record too long")),
        (
            padded("attachment_import", 101),
            at(1, 101, "attachment import record too long"),
        ),
        (
            padded("attachment_import", 101).replace("\"type\"", "\"\\u0074ype\""),
            at(1, 1, "attachment_import: record too large"),
        ),
    ] {
        assert_eq!(fatal_of(small.clone(), line.as_bytes()), text);
    }
}

// covers: DEC-02
#[test]
fn only_a_newline_ends_a_record() {
    let text = "a\u{2028}b\u{2029}c\u{85}d\u{7f}e";
    let mut b = Bench::new(config());
    b.line(&format!(r#"{{"type":"user","message":"{text}"}}"#));
    let (_, request) = b.model();
    assert_eq!(*request.history[0], Message::User(vec![text.to_string()]));
}

// covers: WIRE-002
#[test]
fn an_unknown_type_is_told_and_ignored() {
    let mut b = Bench::new(config());
    b.line("{\"type\":\"make\\ntea\",\"deep\":{\"a\":[1]}}");
    b.line("{}");
    b.line(STATUS_1);
    assert_eq!(b.briefs(), ["ack c1"]);
    assert_eq!(
        b.diagnostics(),
        [
            "an input record of the unknown type \"make\\ntea\" was ignored",
            "an input record of the unknown type \"\" was ignored"
        ]
    );
    let warning = b.outputs.iter().find_map(|output| match output {
        agentx_core::agent::Output::Diagnostic(diagnostic) => Some(diagnostic.severity),
        _ => None,
    });
    assert_eq!((warning, b.exit), (Some(Severity::Warning), None));
}

// covers: DEC-04
#[test]
fn half_a_surrogate_refuses_its_record_and_no_other() {
    let mut b = Bench::new(config());
    b.line(&format!(
        r#"{{"type":"user","uuid":"{}","message":"\ud800"}}"#,
        uuid(1)
    ));
    b.line(r#"{"type":"control_request","request_id":"c1","request":{"subtype":"interrupt","x":"\udc00"}}"#);
    let records = b.records();
    assert_eq!(
        records[0]["errors"],
        json!(["user record: unpaired surrogate escape"])
    );
    assert_eq!(records[0]["prompt_uuid"], json!(uuid(1)));
    assert_eq!(
        records[1],
        json!({"type": "control_response", "response": {"subtype": "error", "request_id": "c1", "error": "unpaired surrogate escape"}})
    );
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", "{}")]);
    b.records();
    let id = b.question("t1");
    b.line(&format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{{"behavior":"allow","updatedInput":{{"a":"\ud800"}}}}}}}}"#
    ));
    let records = b.records();
    let text = &records[1]["message"]["content"][0];
    assert_eq!(
        (&text["content"][0]["text"], &text["is_error"]),
        (
            &json!("Tool permission request failed: unpaired surrogate escape"),
            &json!(true)
        )
    );
    assert_eq!(b.exit, None);
}

// covers: DEC-04
#[test]
fn numbers_keep_their_text() {
    let mut b = Bench::new(config());
    b.user("go");
    b.calls(&[(
        "t1",
        "Do",
        r#"{"n":[1e300,0.10,-0,123456789012345678901234567890]}"#,
    )]);
    let bytes = String::from_utf8_lossy(&b.bytes).into_owned();
    let input = r#"{"n":[1e300,0.10,-0,123456789012345678901234567890]}"#;
    assert_eq!(bytes.matches(input).count(), 3, "{bytes}");
    let id = b.question("t1");
    b.line(&format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{{"behavior":"allow","updatedInput":{{"m":1E+999}}}}}}}}"#
    ));
    assert_eq!(b.tool("t1").1.call.input.as_str(), r#"{"m":1E+999}"#);
}

// covers: DEC-07
#[test]
fn a_request_that_names_no_operation_gets_a_correlated_error() {
    for (request, error) in [
        ("", "missing request"),
        (r#","request":null"#, "missing request"),
        (r#","request":[]"#, "request must be an object"),
        (r#","request":{}"#, "missing subtype"),
        (r#","request":{"subtype":7}"#, "subtype must be a string"),
    ] {
        let mut b = Bench::new(config());
        b.line(&format!(
            r#"{{"type":"control_request","request_id":"c1"{request}}}"#
        ));
        assert_eq!(
            b.records(),
            [
                json!({"type": "control_response", "response": {"subtype": "error", "request_id": "c1", "error": error}})
            ]
        );
        assert_eq!((b.exit, b.session.wants().bytes), (None, true));
    }
}
