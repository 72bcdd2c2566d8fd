//! The published JSON Schema against what sessions write and what parsers take.

use agentx_conformance::schema::{Direction, Schemas};
use agentx_conformance::session::{Bench, config};
use agentx_conformance::tree;
use agentx_core::guard::Guard;
use agentx_core::json::{RawJson, ScanLimits, Scanner};
use agentx_core::limits::Limits;
use agentx_core::schema::declare::Spelling;
use agentx_core::schema::describe;
use agentx_core::schema::inbound::{
    self, Inbound, Operation, ParseContext, ResponseBody, UserRejected,
};
use agentx_core::schema::permission::{Classification, PermissionAnswer};
use serde_json::{Value, json};
use std::fs;

const UUID: &str = "3f1e7948-5c1f-4c1f-8e2c-88bc9839ec27";
const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

// covers: DEC-47
#[test]
fn recorded_sessions_fit_their_schema() {
    let folder = tree::root().join("tests/corpus/session");
    let mut checked = 0;
    for entry in fs::read_dir(folder).expect("the corpus") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|kind| kind != "ndjson") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a recording");
        for line in text.lines() {
            let record = serde_json::from_str(line).expect("records are JSON");
            let fault = Schemas::ours().check(&record).err();
            assert_eq!(fault, None, "{}", path.display());
            checked += 1;
        }
    }
    assert!(checked > 50, "only {checked} records");
}

// covers: DEC-47
#[test]
fn every_name_has_a_document_that_is_a_schema() {
    for name in describe::names() {
        let schema = describe::record_schema(&name).expect("a schema");
        let schema: Value = serde_json::from_slice(&schema).expect("JSON");
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        assert!(jsonschema::draft202012::new(&schema).is_ok(), "{name}");
        assert!(Schemas::ours().validator(&name).is_ok(), "{name}");
    }
}

// covers: DEC-47
#[test]
fn what_the_agent_never_writes_does_not_fit() {
    let kept = json!({"type": "control_cancel_request", "request_id": "r"});
    assert!(Schemas::ours().fits(Direction::Agent, &kept));
    for wrong in [
        json!({"type": "control_cancel_request"}),
        json!({"type": "control_cancel_request", "request_id": "r", "uuid": UUID}),
        json!({"type": "control_cancel_request", "request_id": null}),
        json!({"type": "make_tea"}),
        json!([]),
    ] {
        assert!(!Schemas::ours().fits(Direction::Agent, &wrong), "{wrong}");
        assert!(Schemas::ours().check(&wrong).is_err());
    }
}

// covers: DEC-47
#[test]
fn payloads_of_answers_fit_their_schema() {
    for operation in ["initialize", "mcp_status", "get_context_usage"] {
        let mut bench = Bench::new(config());
        bench.prompt(1, "a question");
        bench.says("an answer");
        bench.records();
        bench.control("c", operation);
        let records = bench.records();
        let payload = &records[0]["response"]["response"];
        let schema = Schemas::ours().validator(&format!("answer.{operation}"));
        let schema = schema.expect("a schema");
        assert!(schema.is_valid(payload), "{operation}: {payload}");
        assert!(!schema.is_valid(&json!({})), "{operation}");
    }
}

/// Records that a host may send, every form of each.
fn host_records() -> Vec<Value> {
    let text = json!({"type": "text", "text": "a"});
    let input_text = json!({"type": "input_text", "text": "b"});
    let manifest = json!({
        "type": "attachment_ref", "attachment_id": "att_image1", "kind": "image", "name": "screen.png",
        "mime_type": "image/png", "size_bytes": 12345, "sha256": DIGEST,
        "storage_id": format!("blob_sha256_{DIGEST}"),
    });
    let pending =
        json!({"type": "control_request", "request_id": "p", "request": {"subtype": "x"}});
    let import = |operation: &str, mut members: Value| {
        members["type"] = "attachment_import".into();
        members["version"] = 1.into();
        members["operation"] = operation.into();
        members["upload_id"] = "upl_image1".into();
        members
    };
    let mut records = vec![
        json!({"type": "user", "message": "hi"}),
        json!({"type": "user", "message": {"content": "hi"}, "uuid": UUID, "session_id": "default"}),
        json!({"type": "user", "message": {"role": "user", "content": [text, input_text]},
            "parent_tool_use_id": null, "session_id": null, "isReplay": false, "priority": "now"}),
        json!({"type": "user", "message": {"role": "user", "content_version": 1, "content": [text]},
            "parent_tool_use_id": "toolu_1", "isSynthetic": true, "tool_use_result": null, "timestamp": "now"}),
        json!({"type": "user", "message": {"content_version": 1, "content": [manifest, text]}}),
        json!({"type": "user", "message": "hi", "uuid": UUID, "session_id": "default", "isReplay": true}),
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": "r"}}),
        json!({"type": "control_response", "uuid": "u",
            "response": {"subtype": "success", "requestId": "r", "response": {"toolUseID": "t"}}}),
        json!({"type": "control_response", "response": {"subtype": "error", "request_id": "r",
            "error": "no", "pending_permission_requests": [pending]}}),
        json!({"type": "keep_alive"}),
        json!({"type": "update_environment_variables", "variables": {"LANG": "de"}}),
        json!({"type": "update_environment_variables", "environment_variables": {"_a9": ""}}),
        import(
            "begin",
            json!({"prompt_uuid": UUID, "attachment_id": "att_image1", "name": "screen.png",
            "size_bytes": 12345, "mime_type": "image/png", "sha256": "00ff"}),
        ),
        import("chunk", json!({"sequence": 0, "data": "AAAA"})),
        import("commit", json!({})),
        import("abort", json!({})),
        json!({"type": "assistant", "message": {"content": []}}),
        json!({"type": "system", "subtype": "init"}),
    ];
    for subtype in ["initialize", "interrupt", "get_context_usage", "mcp_status"] {
        for id in ["request_id", "requestId"] {
            records
                .push(json!({"type": "control_request", id: "r", "request": {"subtype": subtype}}));
        }
    }
    records
}

/// Everything that is one change away: a member more or less at any depth, and
/// another value in any place.
fn mutants(value: &Value) -> Vec<Value> {
    let others = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(-1),
        json!(1.5),
        json!(1e300),
        json!(""),
        json!("x"),
        json!("user"),
        json!("begin"),
        json!("a\0b"),
        json!([]),
        json!([1]),
        json!({}),
        json!([{}]),
        json!({"a-b": "c"}),
        json!({"A": 1}),
        json!({"type": "text", "text": "t"}),
        json!(UUID.to_uppercase()),
        json!("0199a7a0-5c1f-7c1f-8e2c-88bc9839ec27"),
        json!("0199a7a0-5c1f-9c1f-8e2c-88bc9839ec27"),
        json!("0199a7a0-5c1f-7c1f-0e2c-88bc9839ec27"),
    ];
    let mut all = others.to_vec();
    match value {
        Value::Object(members) => {
            for name in [
                "unknown",
                "request_id",
                "requestId",
                "variables",
                "content_version",
                "isReplay",
            ] {
                for other in [json!(1), json!("x"), json!(true)] {
                    let mut more = members.clone();
                    more.entry(name).or_insert(other);
                    all.push(more.into());
                }
            }
            for name in members.keys() {
                let mut fewer = members.clone();
                fewer.remove(name);
                all.push(fewer.into());
                for other in mutants(&members[name]) {
                    let mut changed = members.clone();
                    changed.insert(name.clone(), other);
                    all.push(changed.into());
                }
            }
        }
        Value::Array(items) => {
            for at in 0..items.len() {
                let mut fewer = items.clone();
                fewer.remove(at);
                all.push(fewer.into());
                for other in mutants(&items[at]) {
                    let mut changed = items.clone();
                    changed[at] = other;
                    all.push(changed.into());
                }
            }
        }
        _ => {}
    }
    all
}

/// What the parser makes of a record: good, not good, or refused for something
/// that no schema of one record can say.
fn verdict(record: &Value) -> Option<bool> {
    verdict_of(record, false)
}

fn verdict_of(record: &Value, reference: bool) -> Option<bool> {
    let line = record.to_string();
    let mut scanner = Scanner::new();
    let value = scanner
        .scan(line.as_bytes(), &ScanLimits::DEFAULT)
        .expect("JSON");
    let context = ParseContext {
        session_id: "own",
        limits: &Limits::DEFAULT,
        guard: &Guard::default(),
        reference,
    };
    let Ok(parsed) = inbound::parse(value, &context, line.len()) else {
        return Some(false);
    };
    match parsed {
        Inbound::Unknown { .. } | Inbound::EnvironmentRefused { .. } => Some(false),
        Inbound::UserRejected(UserRejected { reason, .. }) => {
            let of_session = reason == "user record: session_id names another session"
                || reason == "attachments are not available in this session";
            (!of_session).then_some(false)
        }
        Inbound::ControlRequest(request) => match request.operation {
            Ok(
                Operation::Initialize { extra_fields }
                | Operation::Interrupt { extra_fields }
                | Operation::GetContextUsage { extra_fields }
                | Operation::McpStatus { extra_fields },
            ) => Some(!extra_fields),
            Ok(Operation::Shared(_)) => Some(true),
            // A number that no schema bounds.
            Err(reason) if reason.contains(" is out of range: ") => None,
            _ => Some(false),
        },
        Inbound::ControlResponse(response) => {
            Some(!matches!(response.body, ResponseBody::Invalid { .. }))
        }
        _ => Some(true),
    }
}

// covers: DEC-47, WIRE-017, WIRE-018, WIRE-021, WIRE-PERM-011, WIRE-PERM-012
#[test]
fn parsers_and_schema_agree_about_records_of_hosts() {
    let schemas = Schemas::ours();
    let (mut taken, mut refused) = (0, 0);
    for sample in host_records() {
        assert!(schemas.fits(Direction::Host, &sample), "{sample}");
        assert_ne!(verdict(&sample), Some(false), "{sample}");
        for record in mutants(&sample) {
            let fits = schemas.fits(Direction::Host, &record);
            if let Some(good) = verdict(&record) {
                assert_eq!(
                    fits, good,
                    "the schema says {fits}, the parser {good}: {record}"
                );
            }
            *(if fits { &mut taken } else { &mut refused }) += 1;
        }
    }
    assert!(
        taken > 500 && refused > 2000,
        "{taken} taken, {refused} refused"
    );
}

/// Records that the profile `reference` takes in a form of its own.
fn reference_records() -> Vec<Value> {
    let user = json!({"type": "user", "session_id": "elsewhere", "client_composed": true,
        "origin": {"kind": "human"}, "parent_tool_use_id": null,
        "message": {"role": "user", "id": 7, "content": [{"type": "text", "text": "a", "cache": {}}]}});
    let mut records = vec![user];
    for request in [
        json!({"subtype": "initialize", "hooks": null}),
        json!({"subtype": "interrupt", "cancel_queued": true}),
        json!({"subtype": "get_context_usage"}),
        json!({"subtype": "mcp_status"}),
        json!({"subtype": "get_settings"}),
        json!({"subtype": "reload_plugins"}),
        json!({"subtype": "set_permission_mode", "mode": "plan"}),
        json!({"subtype": "set_model", "model": null}),
        json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 0}),
        json!({"subtype": "rewind_files", "user_message_id": "u", "dry_run": true}),
        json!({"subtype": "cancel_async_message", "message_uuid": "u"}),
        json!({"subtype": "stop_task", "task_id": "t"}),
        json!({"subtype": "apply_flag_settings", "settings": {"a": 1}}),
        json!({"subtype": "seed_read_state", "path": "/p", "mtime": 1}),
        json!({"subtype": "mcp_reconnect", "serverName": "s"}),
        json!({"subtype": "mcp_toggle", "serverName": "s", "enabled": true}),
        json!({"subtype": "mcp_set_servers", "servers": {}}),
        json!({"subtype": "mcp_message", "server_name": "s", "message": {}}),
    ] {
        records.push(json!({"type": "control_request", "request_id": "c", "request": request}));
    }
    records
}

// covers: DEC-24, DEC-47
#[test]
fn parsers_and_schema_agree_about_records_of_existing_hosts() {
    let schemas = Schemas::ours();
    for sample in reference_records() {
        let name = sample["type"].as_str().expect("a type");
        let name = format!("reference.{name}");
        let schema = schemas.validator(&name).expect("a schema");
        assert!(schema.is_valid(&sample), "{sample}");
        for record in mutants(&sample) {
            if record["type"] != sample["type"] {
                continue;
            }
            let fits = schema.is_valid(&record);
            if let Some(good) = verdict_of(&record, true) {
                assert_eq!(fits, good, "the schema says {fits}: {record}");
            }
        }
    }
}

// covers: DEC-47, WIRE-PERM-040, WIRE-PERM-044
#[test]
fn parser_and_schema_agree_about_permission_answers() {
    let schema = Schemas::ours()
        .validator("answer.can_use_tool")
        .expect("a schema");
    let update = |kind: &str, mut members: Value| {
        members["type"] = kind.into();
        members["destination"] = "session".into();
        members
    };
    let updates = json!([
        update(
            "addRules",
            json!({"rules": [{"toolName": "Bash", "ruleContent": "ls"}], "behavior": "ask"})
        ),
        update("setMode", json!({"mode": "plan"})),
        update("removeDirectories", json!({"directories": ["/a"]})),
    ]);
    let samples = [
        json!({"behavior": "allow", "updatedInput": {}}),
        json!({"behavior": "allow", "updatedInput": {"a": null}, "updatedPermissions": updates,
            "toolUseID": "t", "decisionClassification": "user_permanent"}),
        json!({"behavior": "deny", "message": "no"}),
        json!({"behavior": "deny", "message": "no", "interrupt": true, "toolUseID": "t",
            "decisionClassification": "user_reject", "unknown": 1}),
    ];
    for sample in samples {
        assert!(schema.is_valid(&sample), "{sample}");
        for answer in mutants(&sample) {
            let payload = RawJson::parse(&answer.to_string()).expect("JSON");
            let read = PermissionAnswer::parse(Some(&payload));
            let dropped =
                matches!(&read, Ok(PermissionAnswer::Allow(allow)) if allow.updates_dropped());
            // Counts as absent, which shows in no answer.
            let classified = answer.get("decisionClassification").is_none_or(|word| {
                word.as_str()
                    .is_some_and(|word| Classification::from_word(word).is_some())
            });
            let whole = read.is_ok() && !dropped && classified;
            assert_eq!(schema.is_valid(&answer), whole, "{answer}: {read:?}");
        }
    }
}

// covers: DEC-22, DEC-25, WIRE-017, WIRE-018
#[test]
fn a_spelling_and_its_pattern_say_the_same() {
    let long = format!("upl_{}", "a".repeat(63));
    let longer = format!("att_{}", "a".repeat(64));
    let stored = format!("blob_sha256_{DIGEST}");
    let nearly = format!("{DIGEST}\n");
    let texts = [
        "",
        "\n",
        "\0",
        "a\0b",
        "é",
        "upl_",
        "upl_a",
        "att_a",
        "att_-a",
        "upl_a_-9",
        "upl_a.b",
        &long,
        &longer,
        DIGEST,
        &DIGEST.to_uppercase(),
        &nearly,
        &stored,
        "blob_sha256_",
        UUID,
        &UUID.to_uppercase(),
        "3f1e7948-5c1f-5c1f-ae2c-88bc9839ec27",
        "3f1e7948-5c1f-7c1f-8e2c-88bc9839ec27",
        "3f1e7948-5c1f-0c1f-8e2c-88bc9839ec27",
        "3f1e7948-5c1f-4c1f-ce2c-88bc9839ec27",
        "3f1e79485c1f4c1f8e2c88bc9839ec27",
        "A",
        "_",
        "9A",
        "A9_",
        "A-B",
        "É",
    ];
    for spelling in [
        Spelling::NotEmpty,
        Spelling::NoNul,
        Spelling::PromptUuid,
        Spelling::ImportUuid,
        Spelling::UploadId,
        Spelling::AttachmentId,
        Spelling::Sha256,
        Spelling::StorageId,
        Spelling::VariableName,
    ] {
        let schema = jsonschema::draft202012::new(&json!({"pattern": spelling.pattern()}))
            .expect("a pattern");
        for text in texts {
            let matched = schema.is_valid(&json!(text));
            assert_eq!(matched, spelling.fits(text), "{spelling:?}: {text:?}");
        }
        let good = texts.iter().filter(|text| spelling.fits(text)).count();
        assert!((1..texts.len()).contains(&good), "{spelling:?}");
    }
}
