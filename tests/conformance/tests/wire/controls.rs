//! Control operations of the standalone dispatcher, and what init tells.

use agentx_conformance::session::{Bench, brief, config, uuid};
use agentx_core::agent::{Config, Provider};
use agentx_core::schema::outbound::ReasoningCapabilities;
use serde_json::{Value, json};

fn answer(b: &mut Bench, request: Value) -> Value {
    let record = json!({"type": "control_request", "request_id": "c", "request": request});
    b.line(&record.to_string());
    let mut records = b.records();
    let record = records.pop().expect("an answer");
    assert_eq!(
        (records.len(), &record["response"]["request_id"]),
        (0, &json!("c"))
    );
    record["response"].clone()
}

fn error(b: &mut Bench, request: Value) -> String {
    let response = answer(b, request);
    assert_eq!(response["subtype"], "error");
    assert_eq!(response.get("response"), None);
    response["error"].as_str().expect("a text").to_string()
}

// covers: WIRE-016, WIRE-023, DEC-39, DEC-46
#[test]
fn init_comes_first_and_names_the_selection() {
    let mut b = Bench::with_init(Config {
        session_id: Some(uuid(9)),
        provider: Provider {
            id: "sol-east".into(),
            kind: "azure_openai".into(),
            reasoning: ReasoningCapabilities::new(vec!["low".into(), "high".into()], "high".into())
                .expect("declared"),
            ..config().provider
        },
        ..config()
    });
    let mut records = b.records();
    let id = records[0]["uuid"].take();
    assert_eq!(
        records,
        [json!({
            "type": "system", "subtype": "init", "apiKeySource": "user", "agentx_version": "0.0.0",
            "cwd": "/repo", "tools": ["Look", "Change", "Do"], "mcp_servers": [],
            "model": "test-model", "provider": "sol-east", "provider_type": "azure_openai",
            "reasoning_capabilities": {"supported": true, "efforts": ["low", "high"], "defaultEffort": "high"},
            "permissionMode": "default", "slash_commands": [], "output_style": "default", "skills": [],
            "plugins": [], "agents": [], "uuid": null, "session_id": uuid(9),
        })]
    );
    assert_eq!(id.as_str().map(str::len), Some(36));
    let mut plain = Bench::with_init(config());
    assert_eq!(
        plain.records()[0]["reasoning_capabilities"],
        json!({"supported": false, "efforts": []})
    );
}

// covers: WIRE-016, WIRE-024, DEC-46, DEC-47
#[test]
fn initialize_answers_with_the_whole_catalogue() {
    let mut b = Bench::new(config());
    let response = answer(&mut b, json!({"subtype": "initialize"}));
    let reasoning = json!({"supported": false, "efforts": []});
    assert_eq!(
        response,
        json!({"subtype": "success", "request_id": "c", "response": {
            "commands": [], "agents": [], "output_style": "default", "available_output_styles": ["default"],
            "models": [{"value": "test-model", "displayName": "test-model", "description": "Model endpoint configured by AgentX-home auth.json", "provider": "main", "providerType": "scripted", "supportsEffort": false, "supportedReasoningEfforts": [], "reasoning": reasoning}],
            "providers": [{"value": "main", "id": "main", "providerType": "scripted", "model": "test-model", "displayName": "main (test-model)", "description": "Model endpoint configured by AgentX-home auth.json", "default": true, "selected": true, "supportsEffort": false, "supportedReasoningEfforts": [], "reasoning": reasoning}],
            "account": {"apiKeySource": "user", "provider": "main", "providerType": "scripted"},
            "pid": 4242,
        }})
    );
}

// covers: DEC-19, WIRE-PERM-010
#[test]
fn a_second_initialize_is_refused_and_lists_open_questions() {
    let mut b = Bench::new(config());
    answer(&mut b, json!({"subtype": "initialize"}));
    let again = |b: &mut Bench, request: Value| answer(b, request);
    assert_eq!(
        again(&mut b, json!({"subtype": "initialize"})),
        json!({"subtype": "error", "request_id": "c", "error": "already initialized", "pending_permission_requests": []})
    );
    b.prompt(1, "go");
    b.calls(&[("t1", "Do", r#"{"command":"a"}"#), ("t2", "Do", "{}")]);
    let records = b.records();
    let questions: Vec<_> = records
        .iter()
        .filter(|r| r["type"] == "control_request")
        .cloned()
        .collect();
    assert_eq!(questions.len(), 2);
    let response = again(&mut b, json!({"subtype": "initialize", "hooks": {}}));
    assert_eq!(response["error"], "already initialized");
    assert_eq!(
        response["pending_permission_requests"],
        json!(questions),
        "complete, in order"
    );
    b.allow(&b.question("t1"));
    let response = again(&mut b, json!({"subtype": "initialize"}));
    assert_eq!(
        response["pending_permission_requests"],
        json!([questions[1]])
    );
}

// covers: DEC-38, DEC-19, DEC-20
#[test]
fn a_rejected_initialize_blocks_prompts_until_one_succeeds() {
    let mut b = Bench::new(config());
    assert_eq!(
        error(&mut b, json!({"subtype": "initialize", "hooks": null})),
        "initialize does not accept operation fields"
    );
    b.prompt(1, "go");
    b.line(&json!({"type": "user", "uuid": uuid(2), "session_id": "default", "isReplay": true, "message": "context"}).to_string());
    let records = b.records();
    assert_eq!(
        records.iter().map(brief).collect::<Vec<_>>(),
        ["result error_during_execution"; 2]
    );
    assert_eq!(
        (
            &records[0]["errors"],
            &records[0]["prompt_uuid"],
            &records[0]["stop_reason"]
        ),
        (
            &json!(["initialize was rejected; send an initialize without fields first"]),
            &json!(uuid(1)),
            &json!("input_error")
        )
    );
    error(&mut b, json!({"subtype": "initialize", "x": 1}));
    assert_eq!(
        answer(&mut b, json!({"subtype": "interrupt"}))["subtype"],
        "success"
    );
    assert_eq!(
        answer(&mut b, json!({"subtype": "initialize"}))["subtype"],
        "success"
    );
    b.prompt(1, "go");
    b.says("hi");
    assert_eq!(
        b.records()[2]["result"],
        "hi",
        "the refused uuid is not used up"
    );
    b.eof();
    assert_eq!(b.exit, Some(0));
}

// covers: ACC-28, WIRE-025, DEC-47
#[test]
fn fixed_and_unknown_operations_answer_with_their_own_errors() {
    let mut b = Bench::new(config());
    for (request, parts) in [
        (
            json!({"subtype": "set_model", "model": "gpt"}),
            ["--provider", "fixed"],
        ),
        (
            json!({"subtype": "set_model", "model": "main"}),
            ["--provider", "fixed"],
        ),
        (
            json!({"subtype": "set_permission_mode", "mode": "plan"}),
            ["--permission-mode", "new session"],
        ),
        (
            json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": null}),
            ["reasoning effort", "thinking-token budget"],
        ),
    ] {
        let text = error(&mut b, request.clone());
        assert!(
            parts.iter().all(|part| text.contains(part)),
            "{request}: {text}"
        );
    }
    for (name, text) in [
        (
            "set_provider",
            "unsupported control request \"set_provider\"",
        ),
        (
            "rewind_files",
            "unsupported control request \"rewind_files\"",
        ),
        ("Interrupt", "unsupported control request \"Interrupt\""),
        ("", "unsupported control request \"\""),
    ] {
        assert_eq!(
            error(&mut b, json!({"subtype": name, "provider": "x"})),
            text
        );
    }
    for name in ["interrupt", "get_context_usage", "mcp_status"] {
        assert_eq!(
            error(&mut b, json!({"subtype": name, "x": null})),
            format!("{name} does not accept operation fields")
        );
    }
    // Nothing of it changed the selection.
    assert_eq!(b.session.policy().mode(), config().permission_mode);
    assert_eq!(
        answer(&mut b, json!({"subtype": "initialize"}))["response"]["account"]["provider"],
        "main"
    );
}

// covers: DEC-47, DEC-13
#[test]
fn operations_without_fields_answer_with_their_payloads() {
    let mut b = Bench::new(config());
    assert_eq!(
        answer(&mut b, json!({"subtype": "mcp_status"})),
        json!({"subtype": "success", "request_id": "c", "response": {"mcpServers": []}})
    );
    b.line(r#"{"type":"control_request","request_id":"d","extra":[1],"request":{"subtype":"interrupt"}}"#);
    assert_eq!(
        b.records(),
        [
            json!({"type": "control_response", "response": {"subtype": "success", "request_id": "d"}})
        ],
        "unknown members of the envelope are dropped"
    );
    b.prompt(1, "four");
    b.says("answers");
    b.records();
    let usage = answer(&mut b, json!({"subtype": "get_context_usage"}))["response"].clone();
    let names: Vec<_> = usage["categories"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|c| (c["name"].clone(), c["tokens"].clone()))
        .collect();
    assert_eq!(
        names[2],
        (json!("Messages"), json!(3)),
        "eleven bytes make three tokens"
    );
    assert_eq!(
        (&usage["model"], &usage["maxTokens"]),
        (&json!("test-model"), &json!(128_000))
    );
    assert_eq!(
        (
            &usage["apiUsage"]["input_tokens"],
            &usage["apiUsage"]["output_tokens"]
        ),
        (&json!(11), &json!(4))
    );
}

// covers: ACC-24, DEC-09, DEC-23, WIRE-019, WIRE-022
#[test]
fn a_text_only_session_takes_text_and_rejects_attachments() {
    let mut b = Bench::with_init(config());
    assert_eq!(b.records()[0].get("input_capabilities"), None);
    let told = answer(&mut b, json!({"subtype": "initialize"}));
    assert_eq!(told["response"].get("input_capabilities"), None);
    for message in [
        json!("hello"),
        json!({"role": "user", "content": "hello"}),
        json!({"role": "user", "content": [{"type": "text", "text": "hello"}]}),
        json!({"content": [{"type": "input_text", "text": "hello"}]}),
    ] {
        b.line(&json!({"type": "user", "message": message}).to_string());
        b.says("hi");
        assert_eq!(
            b.briefs(),
            [
                "state running",
                "assistant text",
                "result success",
                "state idle"
            ]
        );
    }
    let begin = json!({"type": "attachment_import", "version": 1, "operation": "begin", "prompt_uuid": uuid(1), "upload_id": "upl_a", "attachment_id": "att_a", "name": "a.png", "size_bytes": 3, "mime_type": "image/png", "sha256": "0".repeat(64)});
    let step = |operation: &str| json!({"type": "attachment_import", "version": 1, "operation": operation, "upload_id": "upl_a"});
    let mut chunk = step("chunk");
    chunk["sequence"] = json!(0);
    chunk["data"] = json!("c2VjcmV0");
    for import in [begin, chunk, step("commit"), step("abort")] {
        b.line(&import.to_string());
        assert_eq!(
            b.records(),
            [
                json!({"type": "attachment_import_rejected", "version": 1, "upload_id": "upl_a", "status": "rejected", "terminal": false, "reason": "attachments_unavailable"})
            ],
            "{import}"
        );
    }
    assert!(
        !String::from_utf8_lossy(&b.bytes).contains("c2VjcmV0"),
        "nothing of the bytes comes back"
    );
    let manifest = json!({"type": "attachment_ref", "attachment_id": "att_a", "kind": "image", "name": "a.png", "mime_type": "image/png", "size_bytes": 1, "sha256": "0".repeat(64), "storage_id": format!("blob_sha256_{}", "0".repeat(64))});
    b.line(&json!({"type": "user", "uuid": uuid(1), "message": {"content_version": 1, "content": [manifest]}}).to_string());
    let records = b.records();
    assert_eq!(
        (&records[0]["errors"], &records[0]["prompt_uuid"]),
        (
            &json!(["attachments are not available in this session"]),
            &json!(uuid(1))
        )
    );
    assert!(b.open.is_empty(), "before anything reaches a provider");
    b.user("still there?");
    assert_eq!(b.briefs(), ["state running"]);
}
