//! What is sent.

use crate::support::{
    EPOCH, Hand, SEED, answer, calling, chat_provider, messages_provider, prompt, provider,
    request, responses_provider, results, tool,
};
use agentx_core::json::RawJson;
use agentx_core::machine::Machine;
use agentx_core::model::{Block, Delta, Message, ModelRequest, ToolChoice};
use agentx_core::tool::ToolCall;
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

fn body(provider: &mut Provider, request: ModelRequest) -> String {
    String::from_utf8(sent(provider, request).body.to_vec()).unwrap()
}

#[test]
fn the_head_of_a_request() {
    let request = sent(&mut chat_provider(), request(vec![prompt("hi")]));
    assert_eq!((request.method, request.scheme), ("POST", Scheme::Http));
    assert_eq!(request.authority(), "127.0.0.1:8080");
    assert_eq!(request.path_and_query, "/v1/chat/completions");
    assert_eq!(
        request.auth,
        Some(AuthSlot {
            header: "authorization",
            prefix: "Bearer "
        })
    );
    let names: Vec<_> = request
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["accept", "content-type", "user-agent"]);
    assert!(!format!("{request:?}").contains("key-0123456789"));
}

#[test]
fn openai_has_a_place_of_its_own() {
    let mut provider = provider(
        r#"{"id":"o","type":"openai","ca_file":"/etc/ca.pem","openai":{"model":"m","api_key":"key-0123456789","api":"chat_completions"}}"#,
    );
    let request = sent(&mut provider, request(vec![prompt("hi")]));
    assert_eq!(
        (request.scheme, &*request.host, request.port),
        (Scheme::Https, "api.openai.com", 443)
    );
    assert_eq!(request.authority(), "api.openai.com");
    assert_eq!(request.path_and_query, "/v1/chat/completions");
    assert_eq!(request.ca_file.as_deref(), Some("/etc/ca.pem"));
}

#[test]
fn a_server_without_a_key_gets_none() {
    let mut provider = provider(
        r#"{"id":"o","type":"openai_compatible","openai_compatible":{"base_url":"http://[::1]:9/","model":"m","api":"chat_completions"}}"#,
    );
    let request = sent(&mut provider, request(vec![prompt("hi")]));
    assert_eq!((request.auth, &*request.authority()), (None, "[::1]:9"));
    assert_eq!(request.path_and_query, "/chat/completions");
}

#[test]
fn a_plain_body() {
    assert_eq!(
        body(&mut chat_provider(), request(vec![prompt("say \"hi\"\n")])),
        r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"say \"hi\"\n"}]}"#
    );
}

#[test]
fn a_body_with_everything() {
    let history = vec![
        Arc::new(Message::User(vec!["one".into(), "two".into()])),
        Arc::new(Message::Assistant(vec![
            Block::Thinking {
                text: "hm".into(),
                signature: None,
            },
            Block::Text("I look".into()),
            Block::Text("twice".into()),
        ])),
        // Nothing of this one can be sent.
        Arc::new(Message::Assistant(vec![Block::Thinking {
            text: "hm".into(),
            signature: None,
        }])),
        prompt("go on"),
        calling(&["a", "b"]),
        results(&[("a", "first"), ("b", "")]),
        answer("done"),
    ];
    let request = ModelRequest {
        system: Some("be brief".into()),
        tools: vec![tool("fast")].into(),
        tool_choice: ToolChoice::Required,
        max_output_tokens: 64,
        effort: Some("high".into()),
        ..request(history)
    };
    assert_eq!(
        body(&mut chat_provider(), request),
        concat!(
            r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":64,"#,
            r#""reasoning_effort":"high","tools":[{"type":"function","function":{"name":"fast","#,
            r#""description":"does it","parameters":{"type":"object","properties":{"z":{},"a":{}}}}}],"#,
            r#""tool_choice":"required","messages":[{"role":"system","content":"be brief"},"#,
            r#"{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},"#,
            r#"{"role":"assistant","content":"I look\ntwice"},{"role":"user","content":"go on"},"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","#,
            r#""function":{"name":"fast","arguments":"{\"z\":1,\"a\":1.50}"}},{"id":"b","type":"function","#,
            r#""function":{"name":"fast","arguments":"{\"z\":1,\"a\":1.50}"}}]},"#,
            r#"{"role":"tool","tool_call_id":"a","content":"first"},{"role":"tool","tool_call_id":"b","content":""},"#,
            r#"{"role":"assistant","content":"done"}]}"#,
        )
    );
}

/// A name that the APIs refuse would fail every later request.
// covers: DEC-35
#[test]
fn a_name_that_a_model_made_up_goes_back_as_one_that_is_taken() {
    let long = "x".repeat(65);
    for (name, sent) in [
        ("we ird\n\"", "we_ird__"),
        ("", "unnamed"),
        ("\u{e9}.a", "__a"),
        (&long, &long[..64]),
        ("mcp__a-b__C9", "mcp__a-b__C9"),
    ] {
        let call = ToolCall {
            id: "a".into(),
            name: name.into(),
            input: RawJson::empty_object(),
        };
        let history = vec![
            prompt("go"),
            Arc::new(Message::Assistant(vec![Block::ToolCall(call)])),
            results(&[("a", "Unknown tool")]),
        ];
        for mut provider in [chat_provider(), responses_provider(), messages_provider()] {
            let body = body(&mut provider, request(history.clone()));
            assert!(body.contains(&format!(r#""name":"{sent}""#)), "{body}");
            assert_eq!(body.matches(r#""name":"#).count(), 1, "{body}");
        }
    }
}

#[test]
fn the_choice_of_tools_needs_tools() {
    for (choice, with_tools, word) in [
        (ToolChoice::Auto, true, None),
        (ToolChoice::None, true, Some("none")),
        (ToolChoice::Required, true, Some("required")),
        (ToolChoice::Required, false, None),
    ] {
        let tools = if with_tools {
            vec![tool("fast")]
        } else {
            Vec::new()
        };
        let request = ModelRequest {
            tools: tools.into(),
            tool_choice: choice,
            ..request(vec![prompt("hi")])
        };
        let body = body(&mut chat_provider(), request);
        match word {
            Some(word) => assert!(body.contains(&format!("\"tool_choice\":\"{word}\""))),
            None => assert!(!body.contains("tool_choice")),
        }
        assert_eq!(body.contains("\"tools\""), with_tools);
    }
}

#[test]
fn a_bound_is_told_when_somebody_set_it() {
    let entry = |kind: &str, limits: &str| {
        format!(
            r#"{{"id":"o","type":"{kind}",{limits}"{kind}":{{"base_url":"https://h/v1","model":"m","api_key":"key-0123456789","api":"chat_completions"}}}}"#
        )
    };
    let declared = r#""limits":{"max_output_tokens":128000},"#;
    for (kind, limits, bound, told) in [
        ("openai", "", 128_000, None),
        ("openai", "", 4096, Some(r#""max_completion_tokens":4096,"#)),
        (
            "openai",
            declared,
            128_000,
            Some(r#""max_completion_tokens":128000,"#),
        ),
        (
            "openai_compatible",
            declared,
            128_000,
            Some(r#""max_tokens":128000,"#),
        ),
        ("openai_compatible", "", 1, Some(r#""max_tokens":1,"#)),
    ] {
        let request = ModelRequest {
            max_output_tokens: bound,
            ..request(vec![prompt("hi")])
        };
        let body = body(&mut provider(&entry(kind, limits)), request);
        match told {
            Some(told) => assert!(body.contains(told), "{body}"),
            None => assert!(!body.contains("tokens"), "{body}"),
        }
    }
}

const AZURE: &str = r#"{"id":"a","type":"azure_openai","azure_openai":{"endpoint":"https://Res.example/openai/v1/",
    "model":"gpt","deployment":"dep","api_key":"key-0123456789","api_version":"VERSION"}}"#;

#[test]
fn azure_has_a_header_and_routes_of_its_own() {
    for (version, target) in [
        ("", "/openai/v1/responses"),
        ("v1", "/openai/v1/responses?api-version=v1"),
        ("preview", "/openai/v1/responses?api-version=preview"),
        (
            "2025-04-01-preview",
            "/openai/responses?api-version=2025-04-01-preview",
        ),
    ] {
        let mut provider = provider(&AZURE.replace("VERSION", version));
        let request = sent(&mut provider, request(vec![prompt("hi")]));
        assert_eq!(
            (request.method, request.scheme, &*request.authority()),
            ("POST", Scheme::Https, "res.example")
        );
        assert_eq!(request.path_and_query, target);
        let slot = AuthSlot {
            header: "api-key",
            prefix: "",
        };
        assert_eq!(request.auth, Some(slot));
        // The deployment is the model; nothing of the route shows in `Debug`.
        let body = String::from_utf8(request.body.to_vec()).unwrap();
        assert!(body.starts_with(r#"{"model":"dep","stream":true,"store":false,"#));
        assert!(!format!("{request:?}").contains("api-version"));
    }
}

#[test]
fn the_responses_api_has_one_route() {
    for (entry, place, target) in [
        (
            r#"{"id":"o","type":"openai","openai":{"model":"m","api_key":"key-0123456789","api":"responses"}}"#,
            "api.openai.com",
            "/v1/responses",
        ),
        (
            r#"{"id":"o","type":"openai","openai":{"base_url":"https://eu.example/v1/","model":"m","api_key":"key-0123456789","api":"responses"}}"#,
            "eu.example",
            "/v1/responses",
        ),
        (
            r#"{"id":"o","type":"openai_compatible","openai_compatible":{"base_url":"http://localhost:11434/v1","model":"m","api":"responses"}}"#,
            "localhost:11434",
            "/v1/responses",
        ),
    ] {
        let request = sent(&mut provider(entry), request(vec![prompt("hi")]));
        assert_eq!(
            (&*request.authority(), &*request.path_and_query),
            (place, target)
        );
        let bearer = AuthSlot {
            header: "authorization",
            prefix: "Bearer ",
        };
        let has_key = entry.contains("api_key");
        assert_eq!(request.auth, has_key.then_some(bearer));
    }
}

#[test]
fn a_plain_body_of_the_responses_api() {
    assert_eq!(
        body(
            &mut responses_provider(),
            request(vec![prompt("say \"hi\"\n")])
        ),
        r#"{"model":"m","stream":true,"store":false,"input":[{"role":"user","content":"say \"hi\"\n"}]}"#
    );
}

fn thought(signature: &str) -> Block {
    Block::Thinking {
        text: "hm".into(),
        signature: (!signature.is_empty()).then(|| signature.into()),
    }
}

const SEALED: &str = r#"{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"x+/="}"#;

#[test]
fn a_body_of_the_responses_api_with_everything() {
    let call = |id: &str| match &*calling(&[id]) {
        Message::Assistant(blocks) => blocks[0].clone(),
        other => panic!("no call: {other:?}"),
    };
    let history = vec![
        Arc::new(Message::User(vec!["one".into(), "two".into()])),
        Arc::new(Message::Assistant(vec![
            thought(SEALED),
            Block::Text("I look".into()),
            Block::Text(String::new()),
            call("a"),
            call("b"),
        ])),
        results(&[("a", "first"), ("b", "")]),
        answer("done"),
        prompt("more"),
    ];
    let request = ModelRequest {
        system: Some("be brief".into()),
        tools: vec![tool("fast")].into(),
        tool_choice: ToolChoice::Required,
        max_output_tokens: 64,
        effort: Some("high".into()),
        ..request(history)
    };
    assert_eq!(
        body(&mut responses_provider(), request),
        concat!(
            r#"{"model":"m","stream":true,"store":false,"max_output_tokens":64,"#,
            r#""reasoning":{"effort":"high"},"include":["reasoning.encrypted_content"],"#,
            r#""tools":[{"type":"function","name":"fast","description":"does it","#,
            r#""parameters":{"type":"object","properties":{"z":{},"a":{}}},"strict":false}],"#,
            r#""tool_choice":"required","instructions":"be brief","input":["#,
            r#"{"role":"user","content":[{"type":"input_text","text":"one"},{"type":"input_text","text":"two"}]},"#,
            r#"{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"x+/="},"#,
            r#"{"type":"message","id":"msg_1_1","role":"assistant","status":"completed","content":["#,
            r#"{"type":"output_text","text":"I look","annotations":[]}]},"#,
            r#"{"type":"function_call","call_id":"a","name":"fast","arguments":"{\"z\":1,\"a\":1.50}"},"#,
            r#"{"type":"function_call","call_id":"b","name":"fast","arguments":"{\"z\":1,\"a\":1.50}"},"#,
            r#"{"type":"function_call_output","call_id":"a","output":"first"},"#,
            r#"{"type":"function_call_output","call_id":"b","output":""},"#,
            r#"{"type":"message","id":"msg_3_0","role":"assistant","status":"completed","content":["#,
            r#"{"type":"output_text","text":"done","annotations":[]}]},"#,
            r#"{"role":"user","content":"more"}]}"#,
        )
    );
}

#[test]
fn reasoning_goes_back_where_the_api_takes_it() {
    let text = || Block::Text("so".into());
    for (blocks, kept) in [
        // Nothing is stored behind an id, so reasoning that is open stays here.
        (vec![thought(""), text()], false),
        (vec![thought(SEALED), text()], true),
        // What was cut off behind its reasoning: the API refuses that.
        (vec![thought(SEALED)], false),
        (vec![text(), thought(SEALED)], false),
        (vec![thought(SEALED), Block::Text(String::new())], false),
        (vec![thought(SEALED), thought(""), text()], true),
        // Signatures that are none of this dialect's.
        (vec![thought("EqQBCgIYAhIM=="), text()], false),
        (vec![thought("{}"), text()], false),
        (vec![thought(r#"{"type":"message"}"#), text()], false),
        (vec![thought("[1]"), text()], false),
    ] {
        let shown = format!("{blocks:?}");
        let history = vec![
            prompt("hi"),
            Arc::new(Message::Assistant(blocks)),
            prompt("on"),
        ];
        let body = body(&mut responses_provider(), request(history));
        assert_eq!(body.contains(SEALED), kept, "{shown}: {body}");
        assert!(!body.contains("hm"), "{shown}: {body}");
        assert_eq!(body.contains("\"reasoning\""), kept, "{shown}: {body}");
    }
}

#[test]
fn reasoning_that_came_goes_back_unchanged() {
    let stream = include_bytes!("../corpus/responses/reasoning-sealed-in-a-row.sse");
    let mut hand = Hand::streaming_from(&mut responses_provider());
    hand.body(stream);
    let signatures: Vec<String> = hand
        .deltas()
        .into_iter()
        .filter_map(|delta| match delta {
            Delta::Signature(text) => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(signatures.len(), 3);
    let mut blocks: Vec<Block> = signatures.iter().map(|text| thought(text)).collect();
    blocks.push(Block::Text("so".into()));
    let history = vec![
        prompt("hi"),
        Arc::new(Message::Assistant(blocks)),
        prompt("on"),
    ];
    let body = body(&mut responses_provider(), request(history));
    assert!(body.contains(&signatures.join(",")), "{body}");
}

// covers: DEC-28
#[test]
fn a_long_history_is_encoded_in_steps() {
    let text = "x".repeat(100_000);
    let long: Vec<(&str, &str)> = (0..10).map(|_| ("a", &*text)).collect();
    for (mut provider, mark) in [
        (chat_provider(), "\"role\":\"tool\""),
        (responses_provider(), "\"function_call_output\""),
    ] {
        let history = vec![prompt("hi"), calling(&["a"]), results(&long), prompt(&text)];
        let mut hand = Hand::new(provider.begin(request(history), SEED, EPOCH));
        hand.feed(Input::Begin);
        let mut steps = 1;
        while hand.out.is_empty() {
            hand.wait();
            steps += 1;
        }
        assert_eq!(
            steps, 4,
            "1.1 MB in steps of 256 KiB, rounded up to whole messages"
        );
        let Some(Output::Send(request)) = hand.out.first() else {
            panic!("no request");
        };
        let body = String::from_utf8(request.body.to_vec()).unwrap();
        assert_eq!(body.matches(mark).count(), 10);
        assert!(body.ends_with("x\"}]}") && body.len() > 1_100_000);
        assert_eq!(hand.call.poll(), None);
    }
}

#[test]
fn a_body_beyond_its_limit_is_not_sent() {
    let text = prompt(&"x".repeat(8 << 20));
    let history = vec![text; 8];
    let mut hand = Hand::new(chat_provider().begin(request(history), SEED, EPOCH));
    hand.feed(Input::Begin);
    while hand.out.is_empty() {
        hand.wait();
    }
    assert_eq!(
        hand.failure(),
        "failed invalid_request: the conversation is too long: the request to the model would be over 67108864 bytes; start a new session"
    );
}
