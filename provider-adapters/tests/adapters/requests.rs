//! What is sent.

use crate::support::{
    EPOCH, Hand, SEED, answer, calling, chat_provider, prompt, provider, request, results, tool,
};
use agentx_core::machine::Machine;
use agentx_core::model::{Block, Message, ModelRequest, ToolChoice};
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

// covers: DEC-28
#[test]
fn a_long_history_is_encoded_in_steps() {
    let text = "x".repeat(100_000);
    let long: Vec<(&str, &str)> = (0..10).map(|_| ("a", &*text)).collect();
    let history = vec![prompt("hi"), calling(&["a"]), results(&long), prompt(&text)];
    let mut hand = Hand::new(chat_provider().begin(request(history), SEED, EPOCH));
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
    assert_eq!(body.matches("\"role\":\"tool\"").count(), 10);
    assert!(body.ends_with("x\"}]}") && body.len() > 1_100_000);
    assert_eq!(hand.call.poll(), None);
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
        "failed invalid_request: the request to the model would be over 67108864 bytes"
    );
}
