//! The control protocol's outgoing half. These records carry no ids of their own.

use crate::json::RawJson;
use crate::schema::declare::{record, union};
use crate::schema::inbound;
use crate::schema::permission::PermissionUpdate;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

record! {
    /// We ask the host for something.
    pub struct ControlRequest {
        "type" = "control_request",
        /// The answer repeats it.
        required request_id: Arc<str>,
        /// What is asked.
        required request: HostRequest,
    }
}

union! {
    /// What we may ask of a host.
    pub enum HostRequest {
        /// Whether a call may run.
        CanUseTool(CanUseTool),
        /// To run a hook it registered.
        HookCallback(HookCallback),
        /// To pass a message to a server it owns.
        McpMessage(McpMessage),
        /// To ask its user something for a server.
        Elicitation(Elicitation),
    }
}

record! {
    /// Asks whether a call may run (WIRE-PERM-020).
    pub struct CanUseTool {
        "subtype" = "can_use_tool",
        /// Name of the tool.
        required tool_name: Arc<str>,
        /// Input object the call would run with.
        required input: RawJson,
        /// Id of the call.
        required tool_use_id: Arc<str>,
        /// Updates the host may want to answer with.
        optional permission_suggestions: Option<Vec<PermissionUpdate>>,
        /// The protected path that caused the question.
        optional blocked_path: Option<String>,
        /// Why it is asked; explains and grants nothing (WIRE-PERM-022).
        optional decision_reason: Option<String>,
        /// A title for people.
        optional title: Option<String>,
        /// The tool's name for people.
        optional display_name: Option<String>,
        /// What the call would do.
        optional description: Option<String>,
        /// The agent that wants it.
        optional agent_id: Option<String>,
    }
}

impl CanUseTool {
    /// A question with the required members only.
    #[must_use]
    pub const fn new(tool_name: Arc<str>, input: RawJson, tool_use_id: Arc<str>) -> Self {
        Self {
            tool_name,
            input,
            tool_use_id,
            permission_suggestions: None,
            blocked_path: None,
            decision_reason: None,
            title: None,
            display_name: None,
            description: None,
            agent_id: None,
        }
    }
}

record! {
    /// Runs a hook that the host registered.
    pub struct HookCallback {
        "subtype" = "hook_callback",
        /// Which one.
        required callback_id: Arc<str>,
        /// The hook's input.
        required input: RawJson,
        /// The call it is about.
        optional tool_use_id: Option<Arc<str>>,
    }
}

record! {
    /// Carries a message to a server that the host owns.
    pub struct McpMessage {
        "subtype" = "mcp_message",
        /// Name of the server.
        required server_name: Arc<str>,
        /// The JSON-RPC message.
        required message: RawJson,
    }
}

record! {
    /// Asks the host's user something for a server.
    pub struct Elicitation {
        "subtype" = "elicitation",
        /// Name of the server.
        required mcp_server_name: Arc<str>,
        /// The question.
        required message: String,
        /// `form` or `url`.
        optional mode: Option<String>,
        /// Where to go.
        optional url: Option<String>,
        /// The server's id of the question.
        optional elicitation_id: Option<String>,
        /// JSON Schema of the answer.
        optional requested_schema: Option<RawJson>,
    }
}

record! {
    /// We answer the host.
    pub struct ControlResponse {
        "type" = "control_response",
        /// The answer.
        required response: Answer,
    }
}

union! {
    /// An answer.
    pub enum Answer {
        /// The operation succeeded.
        Success(SuccessAnswer),
        /// The operation failed.
        Error(ErrorAnswer),
    }
}

record! {
    /// The operation succeeded.
    pub struct SuccessAnswer {
        "subtype" = "success",
        /// The request it answers.
        required request_id: Arc<str>,
        /// The operation's payload.
        optional response: Option<RawJson>,
    }
}

record! {
    /// The operation failed.
    pub struct ErrorAnswer {
        "subtype" = "error",
        /// The request it answers.
        required request_id: Arc<str>,
        /// What went wrong.
        required error: String,
        /// Complete `control_request` envelopes that are still open (DEC-19).
        optional pending_permission_requests: Option<Vec<RawJson>>,
    }
}

impl ControlResponse {
    /// A success; `None` writes no payload at all (WIRE-010).
    #[must_use]
    pub const fn success(request_id: Arc<str>, payload: Option<RawJson>) -> Self {
        Self {
            response: Answer::Success(SuccessAnswer {
                request_id,
                response: payload,
            }),
        }
    }

    /// A correlated error.
    #[must_use]
    pub const fn error(request_id: Arc<str>, error: String) -> Self {
        Self {
            response: Answer::Error(ErrorAnswer {
                request_id,
                error,
                pending_permission_requests: None,
            }),
        }
    }

    /// A host's answer as replay mode echoes it: canonical, known members only
    /// (DEC-50). `None` for one that broke the schema.
    #[must_use]
    pub fn echo(answer: &inbound::ControlResponse) -> Option<Self> {
        let request_id = Arc::from(answer.id.as_str());
        let response = match &answer.body {
            inbound::ResponseBody::Success { payload, .. } => Answer::Success(SuccessAnswer {
                request_id,
                response: payload.clone(),
            }),
            inbound::ResponseBody::Error {
                message,
                pending_permission_requests,
            } => Answer::Error(ErrorAnswer {
                request_id,
                error: message.clone(),
                pending_permission_requests: pending_permission_requests.clone(),
            }),
            inbound::ResponseBody::Invalid { .. } => return None,
        };
        Some(Self { response })
    }
}

record! {
    /// Withdraws a request of ours (WIRE-007).
    pub struct ControlCancelRequest {
        "type" = "control_cancel_request",
        /// The request.
        required request_id: Arc<str>,
    }
}

record! {
    /// Means nothing, keeps the pipe warm.
    pub struct KeepAlive {
        "type" = "keep_alive",
    }
}
