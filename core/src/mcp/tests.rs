//! A client and a server that is played by the test.

use super::*;
use crate::guard::Guard;
use crate::limits::Limits;
use crate::tool::ToolContent;
use alloc::string::{String, ToString as _};

const SECOND: u64 = 1_000_000;

struct Peer {
    client: McpClient,
    now: Instant,
}

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).expect(text)
}

fn call(call: u64) -> McpInput {
    McpInput::Call {
        call,
        tool: "add".into(),
        input: raw(r#"{"a":1}"#),
    }
}

impl Peer {
    fn with(limits: Limits) -> Self {
        Self {
            client: McpClient::new(McpSettings {
                name: "calc".into(),
                version: "0.0.0".into(),
                request_timeout: limits.mcp_message_timeout,
                start_timeout: limits.mcp_start_timeout,
                guard: Guard::new(["sk-secret-key"]).expect("few literals"),
                limits,
            }),
            now: Instant::ZERO,
        }
    }

    /// A client that is connected to a server with these tools.
    fn connected(tools: &[&str]) -> Self {
        let mut peer = Self::with(Limits::DEFAULT);
        peer.feed(McpInput::Connect);
        peer.answer(0, INITIALIZED);
        let tools: Vec<_> = tools.iter().map(|name| tool(name, "")).collect();
        peer.answer(1, &format!(r#"{{"tools":[{}]}}"#, tools.join(",")));
        assert_eq!(peer.client.state(), &McpState::Connected);
        peer
    }

    fn try_feed(&mut self, input: McpInput) -> Result<Vec<McpOutput>, Misuse> {
        self.client.handle(self.now, input)?;
        Ok(core::iter::from_fn(|| self.client.poll()).collect())
    }

    fn feed(&mut self, input: McpInput) -> Vec<McpOutput> {
        self.try_feed(input).expect("the input fits")
    }

    fn answer(&mut self, id: u64, result: &str) -> Vec<McpOutput> {
        self.whole(
            id,
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        )
    }

    fn whole(&mut self, request: u64, message: &str) -> Vec<McpOutput> {
        let message = raw(message);
        self.feed(McpInput::Answer { request, message })
    }

    fn says(&mut self, message: &str) -> Vec<McpOutput> {
        self.feed(McpInput::Message(raw(message)))
    }

    fn wait(&mut self, seconds: u64) {
        self.now = Instant::from_micros(self.now.as_micros() + seconds * SECOND);
    }

    fn tools(&self) -> Vec<&str> {
        self.client.tools().iter().map(|tool| &*tool.name).collect()
    }
}

const INITIALIZED: &str = r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"c","version":"1"}}"#;

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

fn tool(name: &str, more: &str) -> String {
    format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}{more}}}"#)
}

fn sent(outputs: &[McpOutput]) -> Vec<&str> {
    let messages = outputs.iter().filter_map(|output| match output {
        McpOutput::Send { message, .. } => Some(message.as_str()),
        _ => None,
    });
    messages.collect()
}

/// What the model is told of the one call that ended, and whether as an error.
fn told(outputs: &[McpOutput]) -> (String, bool) {
    let ended: Vec<_> = outputs
        .iter()
        .filter_map(|output| match output {
            McpOutput::Called { outcome, .. } => Some(outcome),
            _ => None,
        })
        .collect();
    assert_eq!(ended.len(), 1, "one call ends: {outputs:?}");
    let text = |outcome: &ToolOutcome| {
        let texts = outcome.content.iter();
        let texts: Vec<_> = texts.map(|ToolContent::Text(text)| text.as_str()).collect();
        texts.join("|")
    };
    ended
        .first()
        .map(|outcome| (text(outcome), outcome.is_error))
        .expect("one")
}

fn failure(peer: &Peer) -> &str {
    match peer.client.state() {
        McpState::Failed(why) => why,
        other => panic!("{other:?}"),
    }
}

// covers: RT-MCPS-002, RT-MCPS-012, RT-MCPS-022
#[test]
fn a_handshake_leads_to_the_tools() {
    let mut peer = Peer::with(Limits::DEFAULT);
    assert_eq!(peer.client.deadline(), None);
    let out = peer.feed(McpInput::Connect);
    assert_eq!(
        sent(&out),
        [concat!(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
            r#""capabilities":{"elicitation":{"form":{},"url":{}}},"#,
            r#""clientInfo":{"name":"agentx","version":"0.0.0"}}}"#
        )]
    );
    let out = peer.answer(0, INITIALIZED);
    assert_eq!(
        sent(&out),
        [
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#,
        ]
    );
    assert_eq!(peer.client.state(), &McpState::Pending);
    let out = peer.answer(
        1,
        &format!(r#"{{"tools":[{}],"nextCursor":"p2"}}"#, tool("add", "")),
    );
    assert_eq!(
        sent(&out),
        [r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"p2"}}"#]
    );
    let hint = r#","description":"subtracts","annotations":{"readOnlyHint":true}"#;
    let out = peer.answer(2, &format!(r#"{{"tools":[{}]}}"#, tool("sub", hint)));
    assert_eq!(
        out,
        [McpOutput::Tools, McpOutput::State(McpState::Connected)]
    );
    assert_eq!(peer.tools(), ["add", "sub"]);
    let read_only: Vec<_> = peer
        .client
        .tools()
        .iter()
        .map(|tool| tool.reads_only)
        .collect();
    assert_eq!(read_only, [false, true]);
    assert_eq!(peer.client.deadline(), None, "nothing is waited for");
}

// covers: RT-MCPS-012, RT-MCPS-017, RT-MCPS-029
#[test]
fn a_start_that_goes_wrong_fails_visibly() {
    for (answer, why) in [
        (
            r#"{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no"}}"#,
            "error -1: no",
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            "answers another request",
        ),
        (
            r#"{"jsonrpc":"2.0","id":"0","result":{}}"#,
            "answers another request",
        ),
        (
            r#"{"jsonrpc":"2.0","result":{}}"#,
            "answers another request",
        ),
        (r#"{"id":0,"result":{}}"#, "no JSON-RPC"),
        ("[]", "no object"),
        (
            r#"{"jsonrpc":"2.0","id":0,"result":{},"error":{}}"#,
            "not either",
        ),
        (
            r#"{"jsonrpc":"2.0","id":0,"result":[]}"#,
            "result is no object",
        ),
        (
            r#"{"jsonrpc":"2.0","id":0,"error":{"message":"no"}}"#,
            "no code",
        ),
        (r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#, "asks"),
        (
            r#"{"jsonrpc":"2.0","id":0,"result":{"capabilities":{}}}"#,
            "no version",
        ),
        (
            r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"1999-01-01","capabilities":{}}}"#,
            "not known here",
        ),
        (
            r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2024-11-05"}}"#,
            "no capabilities",
        ),
    ] {
        let mut peer = Peer::with(Limits::DEFAULT);
        peer.feed(McpInput::Connect);
        peer.whole(0, answer);
        assert!(failure(&peer).contains(why), "{answer}: {}", failure(&peer));
        assert!(!peer.client.is_starting());
    }
    // One without tools is asked for none.
    let mut peer = Peer::with(Limits::DEFAULT);
    peer.feed(McpInput::Connect);
    let out = peer.answer(
        0,
        r#"{"protocolVersion":"2025-06-18","capabilities":{"prompts":{}}}"#,
    );
    assert_eq!(peer.client.state(), &McpState::Connected);
    assert_eq!(sent(&out).len(), 1);
}

// covers: RT-MCPS-013
#[test]
fn a_list_of_tools_is_bounded_and_without_doubles() {
    let limits = Limits {
        mcp_tools: 3,
        mcp_pages: 3,
        mcp_cursor_bytes: 8,
        mcp_list_bytes: 400,
        ..Limits::DEFAULT
    };
    let start = || {
        let mut peer = Peer::with(limits);
        peer.feed(McpInput::Connect);
        peer.answer(0, INITIALIZED);
        peer
    };
    let page = |names: &[&str], cursor: &str| {
        let tools: Vec<_> = names.iter().map(|name| tool(name, "")).collect();
        format!(r#"{{"tools":[{}],"nextCursor":{cursor}}}"#, tools.join(","))
    };
    let mut peer = start();
    peer.answer(1, &page(&["a"], r#""same""#));
    peer.answer(2, &page(&["a"], r#""same""#));
    assert!(failure(&peer).contains("never ends"));
    let mut peer = start();
    for id in 1..=3_u64 {
        peer.answer(id, &page(&[], &format!(r#""{id}""#)));
    }
    assert!(
        failure(&peer).contains("more than 3 pages"),
        "{}",
        failure(&peer)
    );
    let mut peer = start();
    peer.answer(1, &page(&["a", "b", "c", "d"], "null"));
    assert!(failure(&peer).contains("more than 3 tools"));
    let mut peer = start();
    peer.answer(1, &page(&["a"], r#""p""#));
    let long = tool("b", &format!(r#","description":"{}""#, "x".repeat(300)));
    peer.answer(2, &format!(r#"{{"tools":[{long}]}}"#));
    assert!(
        failure(&peer).contains("over 400 bytes"),
        "{}",
        failure(&peer)
    );
    for cursor in ["7", r#""123456789""#, r#""\ud800""#] {
        let mut peer = start();
        peer.answer(1, &page(&[], cursor));
        assert!(failure(&peer).contains("cursor"), "{cursor}");
    }
    let mut peer = start();
    let out = peer.answer(1, &page(&["a", "b", "a"], "null"));
    assert_eq!(peer.tools(), ["a", "b"]);
    let doubled = McpOutput::Warning(
        "MCP server \"calc\": a tool was left out: \"a\" is listed twice".to_string(),
    );
    assert!(out.contains(&doubled), "{out:?}");
    let mut peer = start();
    let bad = r#"{"tools":[{"name":"x"},{"inputSchema":{}},3,{"name":"y","inputSchema":{"type":"array"}},{"name":"ok","inputSchema":{}}]}"#;
    let out = peer.answer(1, bad);
    assert_eq!(peer.tools(), ["ok"]);
    assert!(matches!(out.first(), Some(McpOutput::Warning(text)) if text.contains("4 tools")));
}

// covers: RT-MCPS-016, RT-MCPS-019, DEC-48
#[test]
fn calls_end_in_any_order_once() {
    let mut peer = Peer::connected(&["add"]);
    let first = peer.feed(call(10));
    assert_eq!(
        sent(&first),
        [
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":1}}}"#
        ]
    );
    peer.feed(call(11));
    peer.feed(call(12));
    let out = peer.answer(4, r#"{"content":[{"type":"text","text":"third"}]}"#);
    assert_eq!(told(&out), ("third".to_string(), false));
    let out = peer.whole(
        3,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"boom"}}"#,
    );
    let text = "MCP server \"calc\" failed: error -32603: boom.".to_string();
    assert_eq!(told(&out), (text, true));
    let again = McpInput::Answer {
        request: 3,
        message: raw("{}"),
    };
    assert_eq!(peer.try_feed(again), Err(Misuse::EffectSettledTwice));
    let unknown = McpInput::Failed {
        request: 9,
        why: String::new(),
    };
    assert_eq!(peer.try_feed(unknown), Err(Misuse::UnknownEffect));
    // The other never ends; it is given up, and its late answer means nothing.
    assert_eq!(
        peer.client.deadline(),
        Some(Instant::from_micros(60 * SECOND))
    );
    peer.wait(60);
    let out = peer.feed(McpInput::Tick);
    assert_eq!(out.first(), Some(&McpOutput::Abandon { request: 2 }));
    assert_eq!(
        told(&out),
        (
            "MCP server \"calc\" failed: it did not answer within 60s.".to_string(),
            true
        )
    );
    assert_eq!(peer.answer(2, r#"{"content":[]}"#), []);
    assert_eq!(peer.client.state(), &McpState::Connected);
    assert_eq!(peer.client.deadline(), None);
}

// covers: RT-MCPS-027, RT-MCPS-031, RT-MCPS-015
#[test]
fn results_become_what_the_model_is_told() {
    let told_of = |result: &str| {
        let mut peer = Peer::connected(&["add"]);
        peer.feed(call(1));
        told(&peer.answer(2, result))
    };
    for (result, text, is_error) in [
        (r#"{"content":[]}"#, "", false),
        (
            r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#,
            "a|b",
            false,
        ),
        (
            r#"{"content":[{"type":"text","text":"bad"}],"isError":true}"#,
            "bad",
            true,
        ),
        (
            r#"{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]}"#,
            "[image of type image/png, 4 characters of base64, not shown]",
            false,
        ),
        (
            r#"{"content":[{"type":"resource","resource":{"uri":"file:///a","text":"x"}}]}"#,
            "[resource file:///a]\nx",
            false,
        ),
        (
            r#"{"content":[{"type":"resource_link","name":"a","uri":"file:///a"}]}"#,
            "[link to resource a: file:///a]",
            false,
        ),
        (
            r#"{"content":[{"type":"text","text":"7"}],"structuredContent":{"n":7}}"#,
            r#"7|Structured output: {"n":7}"#,
            false,
        ),
        // A text that says the same says it once.
        (
            r#"{"content":[{"type":"text","text":"{\"n\": 7}"}],"structuredContent":{"n":7}}"#,
            r#"{"n": 7}"#,
            false,
        ),
        (
            r#"{"structuredContent":{"n":7}}"#,
            r#"Structured output: {"n":7}"#,
            false,
        ),
    ] {
        assert_eq!(told_of(result), (text.to_string(), is_error), "{result}");
    }
    for (result, fault) in [
        ("{}", "no content"),
        (r#"{"content":"a"}"#, "no list"),
        (r#"{"content":["a"]}"#, "content 0 is no object"),
        (r#"{"content":[{"type":"text"}]}"#, "has no text"),
        (r#"{"content":[{"type":"hologram"}]}"#, "not known"),
        (r#"{"content":[],"isError":"no"}"#, "isError"),
        (
            r#"{"content":[],"structuredContent":[1]}"#,
            "structuredContent",
        ),
    ] {
        let (text, is_error) = told_of(result);
        assert!(is_error && text.contains(fault), "{result}: {text}");
    }
}

// covers: DEC-34
#[test]
fn a_long_result_is_cut_and_says_so() {
    let mut peer = Peer::connected(&["add"]);
    peer.client.settings.limits.tool_output_chars = 5;
    peer.feed(call(1));
    let out = peer.answer(
        2,
        r#"{"content":[{"type":"text","text":"four"},{"type":"text","text":"more"}]}"#,
    );
    assert_eq!(told(&out).0, "four|m|[… 3 characters cut]");
    peer.client.settings.limits.tool_output_chars = 100;
    peer.client.settings.limits.mcp_content_blocks = 1;
    peer.feed(call(2));
    let out = peer.answer(
        3,
        r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"},7]}"#,
    );
    assert_eq!(told(&out).0, "a|[… 2 further parts cut]");
    peer.client.settings.limits.tool_output_chars = 3;
    peer.client.settings.limits.mcp_error_chars = 2;
    peer.feed(call(3));
    let out = peer.whole(
        4,
        r#"{"jsonrpc":"2.0","id":4,"error":{"code":1,"message":"boom"}}"#,
    );
    assert_eq!(told(&out).0, "MCP server \"calc\" failed: err….");
    peer.feed(McpInput::Close("gone".to_string()));
    assert_eq!(failure(&peer), "go…");
}

// covers: DEC-30
#[test]
fn no_cut_leaves_a_part_of_a_credential() {
    let key = "sk-secret-key";
    let mut peer = Peer::with(Limits::DEFAULT);
    let limits = &mut peer.client.settings.limits;
    (limits.tool_output_chars, limits.mcp_error_chars) = (40, 20);
    limits.mcp_description_chars = 12;
    peer.feed(McpInput::Connect);
    peer.answer(0, INITIALIZED);
    let described = tool("add", &format!(r#","description":"look: {key}""#));
    peer.answer(1, &format!(r#"{{"tools":[{described}]}}"#));
    assert_eq!(&*peer.client.tools()[0].description, "look: [redac…");
    let filler = "x".repeat(34);
    let answers = [
        format!(r#""result":{{"content":[{{"type":"text","text":"{filler}{key}"}}]}}"#),
        format!(r#""error":{{"code":1,"message":"{filler}{key}"}}"#),
        format!(r#""error":{{"code":1,"message":"{key}"}}"#),
    ];
    for (id, answer) in (2..).zip(answers) {
        peer.feed(call(id));
        let out = peer.whole(id, &format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#));
        assert!(!told(&out).0.contains("sk-"), "{out:?}");
    }
    peer.feed(McpInput::Close(format!("it is about {key}")));
    assert_eq!(failure(&peer), "it is about [redacte…");
}

#[test]
fn a_list_that_changes_is_fetched_anew() {
    let mut peer = Peer::connected(&["add"]);
    peer.feed(call(1));
    let out = peer.says(CHANGED);
    assert_eq!(sent(&out).len(), 1);
    assert_eq!(peer.says(CHANGED), [], "it is being fetched");
    assert_eq!(
        peer.tools(),
        ["add"],
        "the old list holds until the new one is whole"
    );
    let out = peer.answer(3, &format!(r#"{{"tools":[{}]}}"#, tool("sub", "")));
    assert_eq!(out.first(), Some(&McpOutput::Tools));
    assert_eq!(sent(&out).len(), 1, "it changed meanwhile: {out:?}");
    assert_eq!(peer.tools(), ["sub"]);
    // The same list is no news.
    assert_eq!(
        peer.answer(4, &format!(r#"{{"tools":[{}]}}"#, tool("sub", ""))),
        []
    );
    assert_eq!(
        told(&peer.answer(2, r#"{"content":[]}"#)),
        (String::new(), false)
    );
}

// covers: RT-MCPS-017, RT-MCPS-019
#[test]
fn whatever_is_open_ends_with_the_connection() {
    let ends: [(McpInput, &str); 4] = [
        (McpInput::Disable, "switched off"),
        (McpInput::Connect, "connected anew"),
        (
            McpInput::Close("the input ended".to_string()),
            "input ended",
        ),
        (McpInput::Tick, "did not answer"),
    ];
    for (end, why) in ends {
        let mut peer = Peer::connected(&["add"]);
        peer.feed(call(1));
        peer.says(r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}"#);
        if end == McpInput::Tick {
            // A list that never comes takes the connection with it.
            peer.says(CHANGED);
            peer.wait(60);
        }
        let connects = end == McpInput::Connect;
        let out = peer.feed(end);
        let (text, is_error) = told(&out);
        assert!(is_error && text.contains(why), "{text}");
        assert!(out.contains(&McpOutput::Abandon { request: 2 }));
        assert!(out.contains(&McpOutput::Withdraw { question: 0 }));
        assert!(out.contains(&McpOutput::Tools));
        assert_eq!(sent(&out).len(), usize::from(connects));
        assert_eq!(peer.tools(), Vec::<&str>::new());
        let late = McpInput::Reply {
            question: 0,
            reply: McpReply::Cancel,
        };
        assert_eq!(peer.feed(late), []);
        // Ids of requests are not used again.
        let out = peer.feed(call(2));
        assert!(told(&out).0.contains("not connected"));
    }
}

#[test]
fn a_call_that_nobody_waits_for_says_no_more() {
    let mut peer = Peer::connected(&["add"]);
    peer.feed(call(1));
    assert_eq!(
        peer.feed(McpInput::Forget { call: 1 }),
        [McpOutput::Abandon { request: 2 }]
    );
    assert_eq!(peer.feed(McpInput::Forget { call: 1 }), []);
    assert_eq!(peer.answer(2, r#"{"content":[]}"#), []);
}

// covers: RT-MCPS-022, RT-MCPS-032, DEC-48
#[test]
fn what_a_server_asks_is_answered() {
    let mut peer = Peer::connected(&[]);
    assert_eq!(
        sent(&peer.says(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#)),
        [r#"{"jsonrpc":"2.0","id":"p","result":{}}"#]
    );
    for method in ["sampling/createMessage", "roots/list", "x"] {
        let out = peer.says(&format!(
            r#"{{"jsonrpc":"2.0","id":5,"method":"{method}"}}"#
        ));
        assert_eq!(
            sent(&out),
            [r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"method not found"}}"#]
        );
    }
    for method in ["notifications/progress", "notifications/message", "y"] {
        assert_eq!(
            peer.says(&format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#)),
            []
        );
    }
    for message in [
        "7",
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
    ] {
        let out = peer.says(message);
        assert!(
            matches!(out.as_slice(), [McpOutput::Warning(_)]),
            "{message}: {out:?}"
        );
    }
}

// covers: DEC-48
#[test]
fn a_question_of_the_server_is_passed_on_and_answered() {
    let mut peer = Peer::connected(&[]);
    peer.client.settings.limits.mcp_questions = 2;
    let ask = |id: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"elicitation/create","params":{params}}}"#)
    };
    let form = r#"{"message":"name?","requestedSchema":{"type":"object"}}"#;
    let out = peer.says(&ask("1", form));
    let asked = McpQuestion {
        message: "name?".to_string(),
        form: McpForm::Form {
            schema: raw(r#"{"type":"object"}"#),
        },
    };
    assert_eq!(out, [McpOutput::Ask { question: 0, asked }]);
    assert!(matches!(
        peer.says(&ask("1", form)).as_slice(),
        [McpOutput::Warning(_)]
    ));
    let url = r#"{"mode":"url","message":"go","url":"https://a.example","elicitationId":"e1"}"#;
    assert!(matches!(
        peer.says(&ask("2", url)).as_slice(),
        [McpOutput::Ask { question: 1, .. }]
    ));
    assert!(
        sent(&peer.says(&ask("3", form)))
            .first()
            .is_some_and(|text| text.contains("-32000"))
    );
    let out = peer.feed(McpInput::Reply {
        question: 0,
        reply: McpReply::of(Some(&raw(r#"{"action":"accept","content":{"name":"x"}}"#))),
    });
    assert_eq!(
        sent(&out),
        [r#"{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"name":"x"}}}"#]
    );
    // Its end is told once, and only of what was asked.
    let complete = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{{"elicitationId":"{id}"}}}}"#
        )
    };
    assert_eq!(peer.says(&complete("e2")), []);
    assert_eq!(
        peer.says(&complete("e1")),
        [McpOutput::Completed {
            id: "e1".to_string()
        }]
    );
    assert_eq!(peer.says(&complete("e1")), []);
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;
    assert_eq!(peer.says(cancelled), [McpOutput::Withdraw { question: 1 }]);
    for params in [
        "{}",
        r#"{"message":"m"}"#,
        r#"{"message":"m","requestedSchema":[]}"#,
        r#"{"message":"m","mode":"dance"}"#,
        r#"{"message":"m","mode":"url"}"#,
        r#"{"message":"m","requestedSchema":{"a":"\ud800"}}"#,
    ] {
        let out = peer.says(&ask("9", params));
        assert!(
            sent(&out)
                .first()
                .is_some_and(|text| text.contains("-32602")),
            "{params}"
        );
    }
}

// covers: DEC-48
#[test]
fn what_is_no_answer_to_a_question_is_a_cancel() {
    for payload in [
        "{}",
        "[]",
        r#"{"action":"maybe"}"#,
        r#"{"action":"accept","content":3}"#,
        r#"{"action":"accept","content":{"a":"\udc00"}}"#,
    ] {
        assert_eq!(
            McpReply::of(Some(&raw(payload))),
            McpReply::Cancel,
            "{payload}"
        );
    }
    assert_eq!(McpReply::of(None), McpReply::Cancel);
    assert_eq!(
        McpReply::of(Some(&raw(r#"{"action":"decline"}"#))),
        McpReply::Decline
    );
    let accept = McpReply::of(Some(&raw(r#"{"action":"accept","content":null}"#)));
    assert_eq!(accept, McpReply::Accept(None));
}
