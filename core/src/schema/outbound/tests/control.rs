use super::{Sample, raw, s};
use crate::schema::outbound::*;
use crate::schema::permission::{
    Behavior, Destination, DirectoriesAction, DirectoriesUpdate, ModeUpdate, PermissionMode,
    PermissionRule, PermissionUpdate, RulesAction, RulesUpdate,
};
use alloc::vec;
use alloc::vec::Vec;

pub(super) fn samples() -> Vec<Sample> {
    let mut all = requests();
    all.extend(answers());
    all.extend(imports());
    all
}

fn request(request: impl Into<HostRequest>) -> Outbound {
    ControlRequest {
        request_id: s("req_1"),
        request: request.into(),
    }
    .into()
}

fn suggestions() -> Vec<PermissionUpdate> {
    vec![
        RulesUpdate {
            action: RulesAction::Add,
            rules: vec![
                PermissionRule {
                    tool_name: "Bash".into(),
                    rule_content: Some("ls:*".into()),
                },
                PermissionRule {
                    tool_name: "Write".into(),
                    rule_content: None,
                },
            ],
            behavior: Behavior::Allow,
            destination: Destination::LocalSettings,
        }
        .into(),
        ModeUpdate {
            mode: PermissionMode::AcceptEdits,
            destination: Destination::Session,
        }
        .into(),
        DirectoriesUpdate {
            action: DirectoriesAction::Remove,
            directories: vec!["/tmp".into()],
            destination: Destination::CliArg,
        }
        .into(),
    ]
}

fn requests() -> Vec<Sample> {
    let ask = CanUseTool::new(s("Bash"), raw(r#"{"command":"ls"}"#), s("toolu_1"));
    let full = CanUseTool {
        permission_suggestions: Some(suggestions()),
        blocked_path: Some("/etc".into()),
        decision_reason: Some("a rule".into()),
        title: Some("t".into()),
        display_name: Some("d".into()),
        description: Some("Allow Bash?".into()),
        agent_id: Some("a".into()),
        ..ask.clone()
    };
    vec![
        (
            request(ask),
            r#"{"type":"control_request","request_id":"req_1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"toolu_1"}}"#,
        ),
        (
            request(full),
            r#"{"type":"control_request","request_id":"req_1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"toolu_1","permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls:*"},{"toolName":"Write"}],"behavior":"allow","destination":"localSettings"},{"type":"setMode","mode":"acceptEdits","destination":"session"},{"type":"removeDirectories","directories":["/tmp"],"destination":"cliArg"}],"blocked_path":"/etc","decision_reason":"a rule","title":"t","display_name":"d","description":"Allow Bash?","agent_id":"a"}}"#,
        ),
        (
            request(HookCallback {
                callback_id: s("c"),
                input: raw("{}"),
                tool_use_id: Some(s("toolu_1")),
            }),
            r#"{"type":"control_request","request_id":"req_1","request":{"subtype":"hook_callback","callback_id":"c","input":{},"tool_use_id":"toolu_1"}}"#,
        ),
        (
            request(McpMessage {
                server_name: s("files"),
                message: raw(r#"{"jsonrpc":"2.0"}"#),
            }),
            r#"{"type":"control_request","request_id":"req_1","request":{"subtype":"mcp_message","server_name":"files","message":{"jsonrpc":"2.0"}}}"#,
        ),
        (
            request(Elicitation {
                mcp_server_name: s("files"),
                message: "which?".into(),
                mode: Some("form".into()),
                url: None,
                elicitation_id: Some("e".into()),
                requested_schema: Some(raw(r#"{"type":"object"}"#)),
            }),
            r#"{"type":"control_request","request_id":"req_1","request":{"subtype":"elicitation","mcp_server_name":"files","message":"which?","mode":"form","elicitation_id":"e","requested_schema":{"type":"object"}}}"#,
        ),
        (
            ControlCancelRequest {
                request_id: s("req_1"),
            }
            .into(),
            r#"{"type":"control_cancel_request","request_id":"req_1"}"#,
        ),
    ]
}

fn answers() -> Vec<Sample> {
    let open = raw(r#"{"type":"control_request","request_id":"p","request":{}}"#);
    let refused = ControlResponse {
        response: ErrorAnswer {
            request_id: s("r1"),
            error: "already initialized".into(),
            pending_permission_requests: Some(vec![open]),
        }
        .into(),
    };
    vec![
        (
            ControlResponse::success(s("r1"), None).into(),
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"r1"}}"#,
        ),
        (
            ControlResponse::success(s("r1"), Some(raw(r#"{"a":1}"#))).into(),
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"a":1}}}"#,
        ),
        (
            ControlResponse::error(s("r1"), r#"unsupported control request "x""#.into()).into(),
            r#"{"type":"control_response","response":{"subtype":"error","request_id":"r1","error":"unsupported control request \"x\""}}"#,
        ),
        (
            refused.into(),
            r#"{"type":"control_response","response":{"subtype":"error","request_id":"r1","error":"already initialized","pending_permission_requests":[{"type":"control_request","request_id":"p","request":{}}]}}"#,
        ),
        (KeepAlive.into(), r#"{"type":"keep_alive"}"#),
    ]
}

pub(super) fn manifest() -> AttachmentManifest {
    AttachmentManifest {
        attachment_id: s("att_1"),
        kind: AttachmentKind::Image,
        name: "a.png".into(),
        mime_type: "image/png".into(),
        size_bytes: 8,
        sha256: "00".into(),
        storage_id: "blob_sha256_00".into(),
    }
}

pub(super) fn upload() -> UploadIds {
    UploadIds {
        upload_id: s("upl_1"),
        attachment_id: s("att_1"),
        prompt_uuid: s("p"),
    }
}

fn imports() -> Vec<Sample> {
    vec![
        (
            AttachmentImportResult::accepted(upload()).into(),
            r#"{"type":"attachment_import_result","version":1,"upload_id":"upl_1","attachment_id":"att_1","status":"accepted","terminal":false,"prompt_uuid":"p"}"#,
        ),
        (
            AttachmentImportResult::committed(upload(), manifest()).into(),
            r#"{"type":"attachment_import_result","version":1,"upload_id":"upl_1","attachment_id":"att_1","status":"committed","terminal":true,"prompt_uuid":"p","attachment":{"type":"attachment_ref","attachment_id":"att_1","kind":"image","name":"a.png","mime_type":"image/png","size_bytes":8,"sha256":"00","storage_id":"blob_sha256_00"}}"#,
        ),
        (
            AttachmentImportResult::ended(upload(), UploadReason::Timeout).into(),
            r#"{"type":"attachment_import_result","version":1,"upload_id":"upl_1","attachment_id":"att_1","status":"expired","terminal":true,"prompt_uuid":"p","reason":"timeout"}"#,
        ),
        (
            AttachmentImportRejected {
                upload_id: s("upl_1"),
                reason: RejectReason::AttachmentsUnavailable,
            }
            .into(),
            r#"{"type":"attachment_import_rejected","version":1,"upload_id":"upl_1","status":"rejected","terminal":false,"reason":"attachments_unavailable"}"#,
        ),
    ]
}
