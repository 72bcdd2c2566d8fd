//! The Messages API: what is sent, and when it is sent again.

use crate::support::{
    EPOCH, Hand, SEED, answer, calling, messages_provider, prompt, provider, request, results, tool,
};
use agentx_core::model::{
    Block, Delta, Message, ModelOutcome, ModelRequest, ToolChoice, ToolResult,
};
use agentx_core::tool::ToolContent;
use agentx_providers::call::{Input, Output};
use agentx_providers::http::{AuthSlot, HttpRequest, Scheme};
use agentx_providers::provider::Provider;
use std::sync::Arc;

fn sent(provider: &mut Provider, request: ModelRequest) -> HttpRequest {
    let mut hand = Hand::new(provider.begin(request, SEED, EPOCH));
    hand.feed(Input::Begin);
    match hand.take().pop() {
        Some(Output::Send(request)) => request,
        other => panic!("no request: {other:?}"),
    }
}

fn body(request: ModelRequest) -> String {
    String::from_utf8(sent(&mut messages_provider(), request).body.to_vec()).unwrap()
}

/// The body's messages, for a history.
fn talk(history: Vec<Arc<Message>>) -> String {
    let body = body(request(history));
    let (_, talk) = body.split_once(r#""messages":"#).unwrap();
    talk.strip_suffix('}').unwrap().to_owned()
}

fn assistant(blocks: Vec<Block>) -> Arc<Message> {
    Arc::new(Message::Assistant(blocks))
}

fn thinking(text: &str, signature: Option<&str>) -> Block {
    Block::Thinking {
        text: text.into(),
        signature: signature.map(Into::into),
    }
}

fn text(text: &str) -> Block {
    Block::Text(text.into())
}

const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

#[test]
fn the_head_of_a_request() {
    let told = sent(&mut messages_provider(), request(vec![prompt("hi")]));
    assert_eq!((told.method, told.scheme), ("POST", Scheme::Http));
    assert_eq!(told.authority(), "127.0.0.1:8080");
    assert_eq!(told.path_and_query, "/v1/messages");
    let slot = AuthSlot {
        header: "x-api-key",
        prefix: "",
    };
    assert_eq!(told.auth, Some(slot));
    let header = |name: &str| {
        let found = told.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    };
    assert_eq!(header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(header("content-type"), Some("application/json"));
    assert_eq!(header("accept"), Some("text/event-stream"));
    assert!(!format!("{told:?}").contains("key-0123456789"));
}

#[test]
fn the_version_path_is_added_to_every_base() {
    for (base, host, path) in [
        ("", "api.anthropic.com", "/v1/messages"),
        (r#""base_url":"https://h/","#, "h", "/v1/messages"),
        (
            r#""base_url":"https://h:8443/anthropic","#,
            "h:8443",
            "/anthropic/v1/messages",
        ),
    ] {
        let entry = format!(
            r#"{{"id":"a","type":"anthropic","ca_file":"/etc/ca.pem","anthropic":{{{base}"model":"m","api_key":"key-0123456789"}}}}"#
        );
        let told = sent(&mut provider(&entry), request(vec![prompt("hi")]));
        assert_eq!(told.scheme, Scheme::Https);
        assert_eq!((&*told.authority(), &*told.path_and_query), (host, path));
        assert_eq!(told.ca_file.as_deref(), Some("/etc/ca.pem"));
    }
}

#[test]
fn a_plain_body() {
    assert_eq!(
        body(request(vec![prompt("say \"hi\"\n")])),
        format!(
            r#"{{"model":"m","max_tokens":32000,"stream":true,"messages":[{{"role":"user","content":[{{"type":"text","text":"say \"hi\"\n"{MARK}}}]}}]}}"#
        )
    );
}

#[test]
fn a_body_with_everything() {
    let history = vec![
        Arc::new(Message::User(vec!["one".into(), "two".into()])),
        assistant(vec![thinking("hm", Some("c2ln")), text("I look")]),
        prompt("go on"),
        calling(&["a", "b"]),
        results(&[("a", "first"), ("b", "")]),
        answer("done"),
        prompt("thanks"),
    ];
    let request = ModelRequest {
        system: Some("be brief".into()),
        tools: vec![tool("fast"), tool("slow")].into(),
        tool_choice: ToolChoice::Required,
        max_output_tokens: 64,
        effort: Some("high".into()),
        ..request(history)
    };
    let schema = r#""input_schema":{"type":"object","properties":{"z":{},"a":{}}}"#;
    let call = r#""name":"fast","input":{"z":1,"a":1.50}}"#;
    assert_eq!(
        body(request),
        [
            r#"{"model":"m","max_tokens":64,"stream":true,"#,
            r#""thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"},"#,
            r#""tools":[{"name":"fast","description":"does it","#, schema,
            r#"},{"name":"slow","description":"does it","#, schema, "}],",
            r#""tool_choice":{"type":"any"},"#,
            r#""system":[{"type":"text","text":"be brief""#, MARK, "}],",
            r#""messages":[{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},"#,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"I look"}]},"#,
            r#"{"role":"user","content":[{"type":"text","text":"go on"}]},"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","#, call,
            r#",{"type":"tool_use","id":"b","#, call, "]},",
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"first"}]},"#,
            r#"{"type":"tool_result","tool_use_id":"b""#, MARK, "}]},",
            r#"{"role":"assistant","content":[{"type":"text","text":"done"}]},"#,
            r#"{"role":"user","content":[{"type":"text","text":"thanks""#, MARK, "}]}]}",
        ]
        .concat()
    );
}

#[test]
fn neighbours_of_one_role_are_one_message() {
    // A prompt after results: their turn was cancelled before the answer.
    assert_eq!(
        talk(vec![prompt("a"), calling(&["x"]), results(&[("x", "r")]), prompt("b")]),
        [
            r#"[{"role":"user","content":[{"type":"text","text":"a""#, MARK, "}]},",
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"fast","input":{"z":1,"a":1.50}}]},"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":[{"type":"text","text":"r"}]},"#,
            r#"{"type":"text","text":"b""#, MARK, "}]}]",
        ]
        .concat()
    );
    let answers = vec![
        prompt("a"),
        answer("b"),
        answer("c"),
        prompt("d"),
        prompt("e"),
    ];
    assert_eq!(
        talk(answers),
        [
            r#"[{"role":"user","content":[{"type":"text","text":"a""#, MARK, "}]},",
            r#"{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]},"#,
            r#"{"role":"user","content":[{"type":"text","text":"d"},{"type":"text","text":"e""#, MARK, "}]}]",
        ]
        .concat()
    );
}

#[test]
fn reasoning_goes_back_signed_and_in_its_place_or_not_at_all() {
    let secret = || Block::RedactedThinking {
        data: "b3BhcXVl".into(),
    };
    let Message::Assistant(call) = &*calling(&["x"]) else {
        panic!("an answer");
    };
    let blocks = vec![
        thinking("unsigned", None),
        // Its text is the provider's own affair.
        thinking("", Some("Zmlyc3Q=")),
        secret(),
        text("  \n"),
        call[0].clone(),
        thinking("between", Some("c2Vjb25k")),
        text("so"),
        thinking("at the end", Some("dGhpcmQ=")),
        secret(),
        text(""),
    ];
    let talk = talk(vec![prompt("a"), assistant(blocks), results(&[("x", "r")])]);
    let sent = [
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"Zmlyc3Q="},"#,
        r#"{"type":"redacted_thinking","data":"b3BhcXVl"},"#,
        r#"{"type":"tool_use","id":"x","name":"fast","input":{"z":1,"a":1.50}},"#,
        r#"{"type":"thinking","thinking":"between","signature":"c2Vjb25k"},"#,
        r#"{"type":"text","text":"so"}]}"#,
    ];
    assert!(talk.contains(&sent.concat()), "{talk}");
    for nothing in [
        vec![thinking("hm", Some("c2ln"))],
        vec![thinking("hm", None), text(" ")],
        vec![secret()],
        vec![],
    ] {
        let talk = self::talk(vec![prompt("a"), assistant(nothing), prompt("b")]);
        assert_eq!(talk.matches("role").count(), 1, "{talk}");
        assert_eq!(talk.matches("\"text\":").count(), 2, "{talk}");
    }
}

#[test]
fn no_blank_text_is_sent() {
    let blank = Arc::new(Message::User(vec![" ".into(), "a".into(), String::new()]));
    let empty = Arc::new(Message::User(vec!["\n".into()]));
    let said = |text: &str, mark: &str| format!(r#"{{"type":"text","text":"{text}"{mark}}}"#);
    let content = |blocks: &str| format!(r#"[{{"role":"user","content":[{blocks}]}}]"#);
    assert_eq!(talk(vec![blank]), content(&said("a", MARK)));
    assert_eq!(talk(vec![empty]), content(&said("(empty)", MARK)));

    let result = |texts: &[&str], is_error| ToolResult {
        tool_use_id: "x".into(),
        content: texts
            .iter()
            .map(|text| ToolContent::Text((*text).into()))
            .collect(),
        is_error,
    };
    for (result, told) in [
        (
            result(&["a", " ", "b"], false),
            Some((
                r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#,
                false,
            )),
        ),
        (result(&[""], false), None),
        (
            result(&["no"], true),
            Some((r#"[{"type":"text","text":"no"}]"#, true)),
        ),
        (
            result(&["\t"], true),
            Some((r#"[{"type":"text","text":"(empty)"}]"#, true)),
        ),
        (
            result(&[], true),
            Some((r#"[{"type":"text","text":"(empty)"}]"#, true)),
        ),
    ] {
        let results = Arc::new(Message::ToolResults(vec![result]));
        let talk = talk(vec![prompt("a"), calling(&["x"]), results]);
        let told = match told {
            None => String::new(),
            Some((content, false)) => format!(r#","content":{content}"#),
            Some((content, true)) => format!(r#","content":{content},"is_error":true"#),
        };
        let end = format!(r#"{{"type":"tool_result","tool_use_id":"x"{told}{MARK}}}]}}]"#);
        assert!(talk.ends_with(&end), "{talk}, not {end}");
    }
}

#[test]
fn the_choice_of_tools_needs_tools() {
    for (choice, with_tools, word) in [
        (ToolChoice::Auto, true, None),
        (ToolChoice::None, true, Some("none")),
        (ToolChoice::Required, true, Some("any")),
        (ToolChoice::Required, false, None),
    ] {
        let tools = if with_tools {
            vec![tool("fast")]
        } else {
            Vec::new()
        };
        let body = body(ModelRequest {
            tools: tools.into(),
            tool_choice: choice,
            ..request(vec![prompt("hi")])
        });
        match word {
            Some(word) => {
                let told = format!(r#""tool_choice":{{"type":"{word}"}}"#);
                assert!(body.contains(&told), "{body}");
            }
            None => assert!(!body.contains("tool_choice"), "{body}"),
        }
        assert_eq!(body.contains("\"tools\""), with_tools);
    }
}

#[test]
fn without_a_system_prompt_the_tools_carry_the_mark() {
    for system in [None, Some("".into()), Some(" ".into())] {
        let body = body(ModelRequest {
            system,
            tools: vec![tool("fast"), tool("slow")].into(),
            ..request(vec![prompt("hi")])
        });
        let end = format!(r#""properties":{{"z":{{}},"a":{{}}}}}}{MARK}}}],"messages""#);
        assert!(body.contains(&end) && !body.contains("system"), "{body}");
        assert_eq!(body.matches("cache_control").count(), 2);
    }
}

// covers: DEC-46
#[test]
fn an_effort_is_told_in_the_terms_of_the_api() {
    let adaptive = r#""thinking":{"type":"adaptive","display":"summarized"},"output_config":"#;
    for (effort, told) in [
        (None, String::new()),
        (
            Some("none"),
            r#""thinking":{"type":"disabled"},"#.to_owned(),
        ),
        (Some("minimal"), format!(r#"{adaptive}{{"effort":"low"}},"#)),
        (Some("low"), format!(r#"{adaptive}{{"effort":"low"}},"#)),
        (Some("xhigh"), format!(r#"{adaptive}{{"effort":"xhigh"}},"#)),
        (Some("max"), format!(r#"{adaptive}{{"effort":"max"}},"#)),
    ] {
        let body = body(ModelRequest {
            effort: effort.map(Into::into),
            ..request(vec![prompt("hi")])
        });
        let head = format!(r#"{{"model":"m","max_tokens":32000,"stream":true,{told}"messages""#);
        assert!(body.starts_with(&head), "{body}");
    }
}

#[test]
fn a_bound_is_always_told() {
    for (limits, bound, told) in [
        ("", 128_000, 32_000),
        ("", 4096, 4096),
        (
            r#""limits":{"max_output_tokens":128000},"#,
            128_000,
            128_000,
        ),
        (r#""limits":{"max_output_tokens":64000},"#, 64_000, 64_000),
    ] {
        let entry = format!(
            r#"{{"id":"a","type":"anthropic",{limits}"anthropic":{{"model":"m","api_key":"key-0123456789"}}}}"#
        );
        let request = ModelRequest {
            max_output_tokens: bound,
            ..request(vec![prompt("hi")])
        };
        let body = sent(&mut provider(&entry), request).body.to_vec();
        let body = String::from_utf8(body).unwrap();
        assert!(body.contains(&format!("\"max_tokens\":{told},")), "{body}");
    }
}

// covers: DEC-28
#[test]
fn a_long_history_is_encoded_in_steps() {
    let text = "x".repeat(100_000);
    let long: Vec<(&str, &str)> = (0..10).map(|_| ("a", &*text)).collect();
    let history = vec![prompt("hi"), calling(&["a"]), results(&long), prompt(&text)];
    let call = messages_provider().begin(request(history), SEED, EPOCH);
    let mut hand = Hand::new(call);
    hand.feed(Input::Begin);
    let mut steps = 1;
    while hand.out.is_empty() {
        hand.wait();
        steps += 1;
    }
    assert_eq!(
        steps, 4,
        "1.1 MB in steps of 256 KiB, rounded up to whole results"
    );
    let Some(Output::Send(request)) = hand.out.first() else {
        panic!("no request");
    };
    let body = String::from_utf8(request.body.to_vec()).unwrap();
    assert_eq!(body.matches("tool_result").count(), 10);
    assert_eq!(body.matches("role").count(), 3);
}

#[test]
fn a_body_beyond_its_limit_is_not_sent() {
    let history = vec![prompt(&"x".repeat(8 << 20)); 8];
    let call = messages_provider().begin(request(history), SEED, EPOCH);
    let mut hand = Hand::new(call);
    hand.feed(Input::Begin);
    while hand.out.is_empty() {
        hand.wait();
    }
    assert_eq!(
        hand.failure(),
        "failed invalid_request: the conversation is too long: the request to the model would be over 67108864 bytes; start a new session"
    );
}

// covers: DEC-21, DEC-41
#[test]
fn refusals_of_the_api_are_sorted_and_shown() {
    let error = |kind: &str, message: &str| {
        format!(
            r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}},"request_id":"req_1"}}"#
        )
    };
    for (status, kind, end) in [
        (
            400,
            "invalid_request_error",
            "failed invalid_request (400): the model API answered with status 400: why",
        ),
        (
            401,
            "authentication_error",
            "failed authentication_failed (401): the model API answered with status 401: why",
        ),
        (
            402,
            "billing_error",
            "failed billing_error (402): the model API answered with status 402: why",
        ),
        (
            403,
            "permission_error",
            "failed authentication_failed (403): the model API answered with status 403: why",
        ),
        (
            404,
            "not_found_error",
            "failed invalid_request (404): the model API answered with status 404: why",
        ),
        (
            413,
            "request_too_large",
            "failed invalid_request (413): the model API answered with status 413: why",
        ),
    ] {
        let mut hand = Hand::sent_to(&mut messages_provider());
        hand.refuse(status, &[], &error(kind, "why"));
        assert_eq!(hand.failure(), end);
    }
    for (status, kind) in [
        (429, "rate_limit_error"),
        (500, "api_error"),
        (504, "timeout_error"),
        (529, "overloaded_error"),
    ] {
        let mut hand = Hand::sent_to(&mut messages_provider());
        hand.refuse(status, &[("retry-after", "7")], &error(kind, "why"));
        let warned = format!(
            "model request: attempt 1 of 4 failed (status {status}); next attempt in 7.000 s"
        );
        let is_limit = |out: &Output| matches!(out, Output::Delta(Delta::RateLimited { .. }));
        let (limits, warnings): (Vec<_>, Vec<_>) = hand.take().into_iter().partition(is_limit);
        assert_eq!(warnings, [Output::Warn(warned)]);
        assert_eq!(limits.len(), usize::from(status == 429));
        hand.wait();
        assert!(matches!(hand.take().as_slice(), [Output::Send(_)]));
        hand.head(200, &[]);
        hand.body(include_bytes!("../corpus/messages/text.sse"));
        assert_eq!(hand.outcome(), Some(&ModelOutcome::Finished));
    }
}

// covers: DEC-41
#[test]
fn an_error_before_the_answer_is_worth_another_try() {
    let overloaded = "event: ping\ndata: {\"type\":\"ping\"}\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let mut hand = Hand::streaming_from(&mut messages_provider());
    hand.body(overloaded.as_bytes());
    let [Output::Abort, Output::Warn(warned)] = &*hand.take() else {
        panic!("no warning: {:?}", hand.out);
    };
    assert!(warned.starts_with(
        "model request: attempt 1 of 4 failed (an error in the stream); next attempt in "
    ));
    hand.wait();
    assert!(matches!(hand.take().as_slice(), [Output::Send(_)]));

    // What another attempt cannot mend is the end.
    let mut hand = Hand::streaming_from(&mut messages_provider());
    hand.body(b"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\"no\"}}\n\n");
    assert_eq!(
        hand.failure(),
        "failed authentication_failed: the model API reported an error in its stream: no"
    );

    // An empty answer is none.
    let mut hand = Hand::streaming_from(&mut messages_provider());
    hand.body(b"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
    assert!(matches!(&*hand.take(), [Output::Abort, Output::Warn(_)]));
}

#[test]
fn endless_answers_are_given_up() {
    let event = |data: &str| format!("data: {data}\n\n");
    let mut hand = Hand::streaming_from(&mut messages_provider());
    let x = "x".repeat(4 << 20);
    // A signature is kept back, and counts all the same.
    for kind in ["thinking", "signature"] {
        let piece = event(&format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"{kind}_delta","{kind}":"{x}"}}}}"#
        ));
        for _ in 0..9 {
            if hand.outcome().is_none() {
                hand.body(piece.as_bytes());
            }
        }
    }
    assert_eq!(
        hand.failure(),
        "failed server_error: the answer is over 67108864 bytes"
    );
    for (block, ends, end) in [
        (
            r#"{"type":"tool_use","id":"","name":"f"}"#,
            true,
            "more than 1024 tool calls in one answer",
        ),
        (
            r#"{"type":"hologram"}"#,
            false,
            "more than 1024 blocks of one answer are open",
        ),
    ] {
        let mut hand = Hand::streaming_from(&mut messages_provider());
        for n in 0..=1024 {
            hand.body(
                event(&format!(
                    r#"{{"type":"content_block_start","index":{n},"content_block":{block}}}"#
                ))
                .as_bytes(),
            );
            if ends {
                hand.body(
                    event(&format!(r#"{{"type":"content_block_stop","index":{n}}}"#)).as_bytes(),
                );
            }
        }
        assert_eq!(hand.failure(), format!("failed server_error: {end}"));
    }
}
