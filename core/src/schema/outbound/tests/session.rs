use super::{Sample, raw, s};
use crate::limits::Limits;
use crate::model::{Block, ErrorCategory, Usage};
use crate::schema::Money;
use crate::schema::inbound::{Priority, UserContent, UserRecord};
use crate::schema::outbound::*;
use crate::schema::permission::PermissionMode;
use crate::tool::{ToolCall, ToolContent};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

pub(super) fn samples() -> Vec<Sample> {
    let mut all = init();
    all.extend(assistant());
    all.extend(user());
    all.extend(stream());
    all.extend(results());
    all
}

const USAGE: Usage = Usage {
    input_tokens: 1,
    output_tokens: 2,
    cache_creation_input_tokens: 3,
    cache_read_input_tokens: 4,
    reasoning_output_tokens: 1,
};

fn init() -> Vec<Sample> {
    let plain = SystemInit {
        api_key_source: ApiKeySource::User,
        agentx_version: "0.1.0".into(),
        claude_code_version: None,
        cwd: "/w".into(),
        tools: vec![],
        mcp_servers: vec![],
        model: s("m"),
        provider: s("p"),
        provider_type: s("scripted"),
        reasoning_capabilities: ReasoningCapabilities::none(),
        permission_mode: PermissionMode::Default,
        slash_commands: vec![],
        output_style: "default".into(),
        skills: vec![],
        plugins: vec![],
        agents: vec![],
        input_capabilities: None,
    };
    let efforts = vec![s("low"), s("high")];
    let full = SystemInit {
        api_key_source: ApiKeySource::Temporary,
        claude_code_version: Some("2.1.0".into()),
        tools: vec![s("Read"), s("Bash")],
        mcp_servers: vec![McpServer {
            name: s("files"),
            status: McpStatus::NeedsAuth,
        }],
        reasoning_capabilities: ReasoningCapabilities::new(efforts, s("high")).unwrap(),
        permission_mode: PermissionMode::BypassPermissions,
        slash_commands: vec!["compact".into()],
        skills: vec!["k".into()],
        plugins: vec![Plugin {
            name: "n".into(),
            path: "/p".into(),
            source: "user".into(),
        }],
        agents: vec!["a".into()],
        input_capabilities: Some(InputCapabilities::native(&Limits::DEFAULT).into()),
        ..plain.clone()
    };
    vec![
        (
            plain.into(),
            r#"{"type":"system","subtype":"init","apiKeySource":"user","agentx_version":"0.1.0","cwd":"/w","tools":[],"mcp_servers":[],"model":"m","provider":"p","provider_type":"scripted","reasoning_capabilities":{"supported":false,"efforts":[]},"permissionMode":"default","slash_commands":[],"output_style":"default","skills":[],"plugins":[],"agents":[],"uuid":"u","session_id":"s"}"#,
        ),
        (
            full.into(),
            concat!(
                r#"{"type":"system","subtype":"init","apiKeySource":"temporary","agentx_version":"0.1.0","claude_code_version":"2.1.0","cwd":"/w","tools":["Read","Bash"],"mcp_servers":[{"name":"files","status":"needs-auth"}],"model":"m","provider":"p","provider_type":"scripted","reasoning_capabilities":{"supported":true,"efforts":["low","high"],"defaultEffort":"high"},"permissionMode":"bypassPermissions","slash_commands":["compact"],"output_style":"default","skills":["k"],"plugins":[{"name":"n","path":"/p","source":"user"}],"agents":["a"],"input_capabilities":"#,
                r#"{"attachments":{"protocol_version":1,"sources":[{"source":"file_path","scope":"initial_cli"},{"source":"stream_json_v1","scope":"per_turn"}],"media_types":[{"kind":"image","mime_type":"image/png","max_bytes":20971520,"max_dimension":8192,"max_pixels":20000000,"transform_policy":"decode_reencode_strip_metadata_reject_oversize_no_resize"},{"kind":"image","mime_type":"image/jpeg","max_bytes":20971520,"max_dimension":8192,"max_pixels":20000000,"transform_policy":"decode_reencode_strip_metadata_reject_oversize_no_resize"},{"kind":"document","mime_type":"application/pdf","max_bytes":20971520,"max_pages":100,"transform_policy":"validate_structure_no_execute_no_ocr_no_conversion"}],"#,
                r#""limits":{"max_attachments_per_message":8,"max_concurrent_uploads":8,"max_uploads_per_session":100000,"max_item_bytes":20971520,"max_aggregate_bytes":41943040,"max_storage_bytes":536870912,"max_model_request_media_bytes":41943040,"max_chunk_decoded_bytes":262144,"max_chunk_encoded_bytes":349528,"max_display_name_bytes":255,"max_mime_type_bytes":64,"max_image_dimension":8192,"max_image_pixels":20000000,"max_pdf_pages":100,"upload_timeout_ms":120000},"#,
                r#""provider_limits":{"max_request_items":100,"max_encoded_media_bytes":55927120,"max_request_bytes":67108864,"max_ndjson_record_bytes":8388608}}}"#,
                r#","uuid":"u","session_id":"s"}"#
            ),
        ),
    ]
}

fn message(content: Vec<ContentBlock>, stop_reason: Option<MessageStop>) -> AssistantMessage {
    AssistantMessage {
        id: s("msg_1"),
        model: s("m"),
        content,
        stop_reason,
        stop_sequence: None,
        usage: USAGE,
    }
}

fn assistant() -> Vec<Sample> {
    let call = ToolCall {
        id: s("toolu_1"),
        name: s("Read"),
        input: raw(r#"{"file_path": "/a"}"#),
    };
    let thinking = Block::Thinking {
        text: "hm".into(),
        signature: None,
    };
    vec![
        (
            AssistantRecord {
                message: message(vec![Block::Text("a\u{2028}\"b\"\n".into()).into()], None),
                parent_tool_use_id: None,
                error: None,
            }
            .into(),
            r#"{"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"a\u2028\"b\"\n"}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,"reasoning_output_tokens":1,"total_tokens":10}},"parent_tool_use_id":null,"uuid":"u","session_id":"s"}"#,
        ),
        (
            AssistantRecord {
                message: message(
                    vec![thinking.into(), Block::ToolCall(call).into()],
                    Some(MessageStop::ToolUse),
                ),
                parent_tool_use_id: Some(s("toolu_0")),
                error: Some(ErrorCategory::MaxOutputTokens),
            }
            .into(),
            r#"{"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"hm","signature":""},{"type":"tool_use","id":"toolu_1","name":"Read","input":{"file_path":"/a"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,"reasoning_output_tokens":1,"total_tokens":10}},"parent_tool_use_id":"toolu_0","error":"max_output_tokens","uuid":"u","session_id":"s"}"#,
        ),
    ]
}

fn user_record(content: UserContent) -> UserRecord {
    UserRecord {
        uuid: None,
        content,
        parent_tool_use_id: None,
        is_synthetic: false,
        is_replay: false,
        tool_use_result: None,
        priority: Priority::Next,
        priority_given: false,
        timestamp: None,
        origin: None,
        weight: 0,
    }
}

fn user() -> Vec<Sample> {
    let ok = vec![ToolContent::Text("ok".into())];
    let plain = user_record(UserContent::Text("hi".into()));
    let full = UserRecord {
        parent_tool_use_id: Some("toolu_0".into()),
        is_synthetic: true,
        priority: Priority::Now,
        priority_given: true,
        timestamp: Some("2025-01-01T00:00:00Z".into()),
        ..user_record(UserContent::Blocks(vec!["a".into(), "b".into()]))
    };
    let mut full = UserReplay::of(&full, s("p-2"));
    full.echo.origin = Some(raw(r#"{"kind":"ide"}"#));
    vec![
        (
            ToolResultRecord::new(s("toolu_1"), ok, false, None).into(),
            r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"ok"}],"is_error":false}]},"parent_tool_use_id":null,"isSynthetic":true,"uuid":"u","session_id":"s"}"#,
        ),
        (
            ToolResultRecord::new(s("toolu_1"), vec![], true, Some(raw("[1]"))).into(),
            r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[],"is_error":true}]},"parent_tool_use_id":null,"isSynthetic":true,"tool_use_result":[1],"uuid":"u","session_id":"s"}"#,
        ),
        (
            UserReplay::of(&plain, s("p-1")).into(),
            r#"{"type":"user","message":{"role":"user","content":"hi"},"parent_tool_use_id":null,"isReplay":true,"uuid":"p-1","session_id":"s"}"#,
        ),
        (
            full.into(),
            r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},"parent_tool_use_id":"toolu_0","isReplay":true,"isSynthetic":true,"priority":"now","timestamp":"2025-01-01T00:00:00Z","origin":{"kind":"ide"},"uuid":"p-2","session_id":"s"}"#,
        ),
    ]
}

fn event(event: impl Into<MessageEvent>) -> Outbound {
    StreamEvent {
        event: event.into(),
        parent_tool_use_id: None,
    }
    .into()
}

fn delta(delta: impl Into<BlockDelta>) -> Outbound {
    event(ContentBlockDelta {
        index: 1,
        delta: delta.into(),
    })
}

fn stream() -> Vec<Sample> {
    let text = String::from("hé");
    let start = ContentBlockStart {
        index: 0,
        content_block: TextBlock {
            text: String::new(),
        }
        .into(),
    };
    let end = MessageDelta {
        delta: MessageChange {
            stop_reason: Some(MessageStop::EndTurn),
            stop_sequence: None,
        },
        usage: USAGE,
    };
    vec![
        (
            event(MessageStart {
                message: message(vec![], None),
            }),
            r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,"reasoning_output_tokens":1,"total_tokens":10}}},"parent_tool_use_id":null,"uuid":"u","session_id":"s"}"#,
        ),
        (
            event(start),
            r#"{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},"parent_tool_use_id":null,"uuid":"u","session_id":"s"}"#,
        ),
        (
            delta(TextDelta { text: text.clone() }),
            r#"{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hé"}},"parent_tool_use_id":null,"uuid":"u","session_id":"s"}"#,
        ),
        (
            delta(ThinkingDelta { thinking: text }),
            r#"{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"hé"}},"parent_tool_use_id":null,"uuid":"u","session_id":"s"}"#,
        ),
        (
            delta(SignatureDelta {
                signature: "x".into(),
            }),
            r#"{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"x"}},"parent_tool_use_id":null,"uuid":"u","session_id":"s"}"#,
        ),
        (
            delta(InputJsonDelta {
                partial_json: r#"{"a"#.into(),
            }),
            r#"{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a"}},"parent_tool_use_id":null,"uuid":"u","session_id":"s"}"#,
        ),
        (
            event(ContentBlockStop { index: 0 }),
            r#"{"type":"stream_event","event":{"type":"content_block_stop","index":0},"parent_tool_use_id":null,"uuid":"u","session_id":"s"}"#,
        ),
        (
            event(end),
            r#"{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,"reasoning_output_tokens":1,"total_tokens":10}},"parent_tool_use_id":null,"uuid":"u","session_id":"s"}"#,
        ),
        (
            event(MessageEnd),
            r#"{"type":"stream_event","event":{"type":"message_stop"},"parent_tool_use_id":null,"uuid":"u","session_id":"s"}"#,
        ),
    ]
}

fn results() -> Vec<Sample> {
    let timing = Timing {
        duration_ms: 7,
        duration_api_ms: 5,
        num_turns: 1,
    };
    let unknown_cost = Accounting {
        stop_reason: Some(ResultStop::EndTurn),
        total_cost_usd: None,
        usage: USAGE,
        model_usage: BTreeMap::from([(s("m"), ModelUsage::new(&USAGE, None, 128_000, 64_000))]),
        permission_denials: vec![],
    };
    let success = ResultSuccess {
        timing: timing.clone(),
        result: "done".into(),
        accounting: unknown_cost,
        structured_output: None,
        prompt_uuid: None,
        origin: None,
    };
    let priced = Accounting {
        stop_reason: None,
        total_cost_usd: Some(Money::ZERO),
        usage: Usage::default(),
        model_usage: BTreeMap::from([(
            s("m"),
            ModelUsage::new(&Usage::default(), Some(Money(1_500_000)), 8, 9),
        )]),
        permission_denials: vec![PermissionDenial {
            tool_name: s("Bash"),
            tool_use_id: s("toolu_1"),
            tool_input: raw(r#"{"command":"ls"}"#),
        }],
    };
    let structured = ResultSuccess {
        accounting: priced.clone(),
        structured_output: Some(raw(r#"{"n":1e2}"#)),
        prompt_uuid: Some(s("p-1")),
        origin: Some(raw(r#"{"kind":"ide"}"#)),
        ..success.clone()
    };
    let error = ResultError {
        subtype: ErrorSubtype::DuringExecution,
        timing,
        accounting: Accounting {
            stop_reason: Some(ResultStop::Cancelled),
            model_usage: BTreeMap::new(),
            permission_denials: vec![],
            ..priced
        },
        errors: vec!["interrupted".into()],
        prompt_uuid: Some(s("p-1")),
        origin: None,
    };
    vec![
        (
            ResultRecord::from(success).into(),
            r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":7,"duration_api_ms":5,"num_turns":1,"result":"done","stop_reason":"end_turn","total_cost_usd":null,"usage":{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,"reasoning_output_tokens":1,"total_tokens":10},"modelUsage":{"m":{"inputTokens":1,"outputTokens":2,"cacheReadInputTokens":4,"cacheCreationInputTokens":3,"webSearchRequests":0,"costUSD":null,"contextWindow":128000,"maxOutputTokens":64000}},"permission_denials":[],"uuid":"u","session_id":"s"}"#,
        ),
        (
            ResultRecord::from(structured).into(),
            r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":7,"duration_api_ms":5,"num_turns":1,"result":"done","stop_reason":null,"total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"reasoning_output_tokens":0,"total_tokens":0},"modelUsage":{"m":{"inputTokens":0,"outputTokens":0,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"webSearchRequests":0,"costUSD":0.0000015,"contextWindow":8,"maxOutputTokens":9}},"permission_denials":[{"tool_name":"Bash","tool_use_id":"toolu_1","tool_input":{"command":"ls"}}],"structured_output":{"n":1e2},"prompt_uuid":"p-1","origin":{"kind":"ide"},"uuid":"u","session_id":"s"}"#,
        ),
        (
            ResultRecord::from(error).into(),
            r#"{"type":"result","subtype":"error_during_execution","is_error":true,"duration_ms":7,"duration_api_ms":5,"num_turns":1,"stop_reason":"cancelled","total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"reasoning_output_tokens":0,"total_tokens":0},"modelUsage":{},"permission_denials":[],"errors":["interrupted"],"prompt_uuid":"p-1","uuid":"u","session_id":"s"}"#,
        ),
    ]
}
