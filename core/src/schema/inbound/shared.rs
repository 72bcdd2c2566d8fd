//! The shared operations, which the profile `reference` installs. Their objects
//! are open: what is not known is dropped.

use crate::json::{Object, RawJson, Value};
use crate::schema::declare::{Fault, Member, Shape, open_faults};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

/// A shared operation, with the members that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedOperation {
    /// `initialize`; its fields are read where they are applied.
    Initialize(Box<RawJson>),
    /// `interrupt`.
    Interrupt,
    /// `get_context_usage`.
    GetContextUsage,
    /// `mcp_status`.
    McpStatus,
    /// `get_settings`.
    GetSettings,
    /// `reload_plugins`.
    ReloadPlugins,
    /// `set_permission_mode`.
    SetPermissionMode {
        /// The word as it was sent.
        mode: String,
    },
    /// `set_model`.
    SetModel {
        /// Absent or null: the model of the process.
        model: Option<String>,
    },
    /// `set_max_thinking_tokens`.
    SetMaxThinkingTokens {
        /// Absent or null: no bound of the host's.
        tokens: Option<u64>,
    },
    /// `rewind_files`.
    RewindFiles {
        /// The prompt before which files are to be as they were.
        user_message_id: String,
        /// Whether to tell only.
        dry_run: bool,
    },
    /// `cancel_async_message`.
    CancelAsyncMessage {
        /// The queued prompt.
        message_uuid: String,
    },
    /// `stop_task`.
    StopTask {
        /// The task.
        task_id: String,
    },
    /// `apply_flag_settings`.
    ApplyFlagSettings {
        /// An object of settings.
        settings: Box<RawJson>,
    },
    /// `seed_read_state`.
    SeedReadState {
        /// The file.
        path: String,
        /// When it had changed last, as the host saw it, in milliseconds since 1970.
        mtime: u64,
    },
    /// `mcp_reconnect`.
    McpReconnect {
        /// The server.
        server_name: String,
    },
    /// `mcp_toggle`.
    McpToggle {
        /// The server.
        server_name: String,
        /// Whether it is to be offered.
        enabled: bool,
    },
    /// `mcp_set_servers`.
    McpSetServers {
        /// An object of servers by their names.
        servers: Box<RawJson>,
    },
    /// `mcp_message`: a server of the host speaks on its own.
    McpMessage {
        /// The server.
        server_name: String,
        /// The JSON-RPC message.
        message: Box<RawJson>,
    },
}

impl SharedOperation {
    /// The subtype.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Initialize(_) => "initialize",
            Self::Interrupt => "interrupt",
            Self::GetContextUsage => "get_context_usage",
            Self::McpStatus => "mcp_status",
            Self::GetSettings => "get_settings",
            Self::ReloadPlugins => "reload_plugins",
            Self::SetPermissionMode { .. } => "set_permission_mode",
            Self::SetModel { .. } => "set_model",
            Self::SetMaxThinkingTokens { .. } => "set_max_thinking_tokens",
            Self::RewindFiles { .. } => "rewind_files",
            Self::CancelAsyncMessage { .. } => "cancel_async_message",
            Self::StopTask { .. } => "stop_task",
            Self::ApplyFlagSettings { .. } => "apply_flag_settings",
            Self::SeedReadState { .. } => "seed_read_state",
            Self::McpReconnect { .. } => "mcp_reconnect",
            Self::McpToggle { .. } => "mcp_toggle",
            Self::McpSetServers { .. } => "mcp_set_servers",
            Self::McpMessage { .. } => "mcp_message",
        }
    }
}

const NULL: Shape = Shape::Constant("null");
const OBJECT: Shape = Shape::Map(&Shape::Any);

/// Declares what the operations take: a table for the parser, a shape for the schema.
macro_rules! operations {
    ($($name:literal [$($member:expr),* $(,)?],)+) => {
        const MEMBERS: &[(&str, &[Member])] = &[$((
            $name,
            &[Member::constant("subtype", concat!("\"", $name, "\"")), $($member),*],
        ),)+];

        const OPERATION: Shape = Shape::OneOf(&[$(Shape::Object(
            &[Member::constant("subtype", concat!("\"", $name, "\"")), $($member),*],
        ),)+]);
    };
}

const fn text_member(name: &'static str) -> Member {
    Member::required(name, Shape::String)
}

operations! {
    "initialize" [],
    "interrupt" [],
    "get_context_usage" [],
    "mcp_status" [],
    "get_settings" [],
    "reload_plugins" [],
    "set_permission_mode" [text_member("mode")],
    "set_model" [Member::optional("model", Shape::OneOf(&[Shape::String, NULL]))],
    "set_max_thinking_tokens" [
        Member::optional("max_thinking_tokens", Shape::OneOf(&[Shape::Integer, NULL])),
    ],
    "rewind_files" [
        text_member("user_message_id"),
        Member::optional("dry_run", Shape::OneOf(&[Shape::Bool, NULL])),
    ],
    "cancel_async_message" [text_member("message_uuid")],
    "stop_task" [text_member("task_id")],
    "apply_flag_settings" [Member::required("settings", OBJECT)],
    "seed_read_state" [text_member("path"), Member::required("mtime", Shape::Number)],
    "mcp_reconnect" [text_member("serverName")],
    "mcp_toggle" [text_member("serverName"), Member::required("enabled", Shape::Bool)],
    "mcp_set_servers" [Member::required("servers", OBJECT)],
    "mcp_message" [text_member("server_name"), Member::required("message", OBJECT)],
}

/// A control request with a shared operation, as schemas tell it.
pub(super) const REQUEST: Shape = Shape::Open(&Shape::Object(&[
    super::control::REQUEST_TYPE,
    super::control::REQUEST_ID,
    Member::required("request", OPERATION),
]));

/// The shared operation with this subtype; `None` for one that is not known.
///
/// # Errors
///
/// The text of the correlated error: a member that is missing or has another form.
pub(super) fn operation(
    subtype: &str,
    request: Object<'_>,
) -> Option<Result<SharedOperation, String>> {
    let (_, members) = MEMBERS.iter().find(|(name, _)| *name == subtype)?;
    if let Some(Fault::Missing(name) | Fault::Wrong(name, _)) = open_faults(request, members).next()
    {
        let wrong = if request.get(name).is_none() {
            "missing"
        } else {
            "invalid"
        };
        return Some(Err(format!("{subtype}: {wrong} {name}")));
    }
    Some(read(subtype, request).ok_or_else(|| {
        // What has the right form and cannot be taken is a number.
        let is_number = |value: Value<'_>| {
            value
                .raw()
                .starts_with(|of: char| of == '-' || of.is_ascii_digit())
        };
        let wrong = |of: &&Member| {
            let value = request.get(of.name);
            value.is_some_and(|value| is_number(value) && whole(value).is_none())
        };
        let name = members.iter().find(wrong).map_or("a member", |of| of.name);
        format!("{subtype}: {name} is out of range: expected a whole number, 0 or more")
    }))
}

fn text(value: Value<'_>) -> Option<String> {
    value.as_str().map(|text| text.decode_lossy().into_owned())
}

/// A whole number, or the whole part of one that JavaScript has computed.
fn whole(value: Value<'_>) -> Option<u64> {
    let spelled = value.raw();
    let whole = spelled
        .split_once('.')
        .map_or(spelled, |(whole, fraction)| {
            if fraction.bytes().all(|digit| digit.is_ascii_digit()) {
                whole
            } else {
                spelled
            }
        });
    whole.parse().ok()
}

fn read(subtype: &str, request: Object<'_>) -> Option<SharedOperation> {
    let text = |name| request.get(name).and_then(text);
    let raw = |name| {
        request
            .get(name)
            .map(|value| Box::new(RawJson::from_value(value)))
    };
    let number = |name: &str| request.get(name).and_then(whole);
    let flag = |name: &str| request.get(name).and_then(Value::as_bool);
    Some(match subtype {
        "initialize" => SharedOperation::Initialize(Box::new(RawJson::from_value(request.value()))),
        "interrupt" => SharedOperation::Interrupt,
        "get_context_usage" => SharedOperation::GetContextUsage,
        "mcp_status" => SharedOperation::McpStatus,
        "get_settings" => SharedOperation::GetSettings,
        "reload_plugins" => SharedOperation::ReloadPlugins,
        "set_permission_mode" => SharedOperation::SetPermissionMode {
            mode: text("mode")?,
        },
        "set_model" => SharedOperation::SetModel {
            model: text("model"),
        },
        "set_max_thinking_tokens" => SharedOperation::SetMaxThinkingTokens {
            tokens: match request.get("max_thinking_tokens") {
                Some(value) if !value.is_null() => Some(whole(value)?),
                Some(_) | None => None,
            },
        },
        "rewind_files" => SharedOperation::RewindFiles {
            user_message_id: text("user_message_id")?,
            dry_run: flag("dry_run").unwrap_or_default(),
        },
        "cancel_async_message" => SharedOperation::CancelAsyncMessage {
            message_uuid: text("message_uuid")?,
        },
        "stop_task" => SharedOperation::StopTask {
            task_id: text("task_id")?,
        },
        "apply_flag_settings" => SharedOperation::ApplyFlagSettings {
            settings: raw("settings")?,
        },
        "seed_read_state" => SharedOperation::SeedReadState {
            path: text("path")?,
            mtime: number("mtime")?,
        },
        "mcp_reconnect" => SharedOperation::McpReconnect {
            server_name: text("serverName")?,
        },
        "mcp_toggle" => SharedOperation::McpToggle {
            server_name: text("serverName")?,
            enabled: flag("enabled")?,
        },
        "mcp_set_servers" => SharedOperation::McpSetServers {
            servers: raw("servers")?,
        },
        "mcp_message" => SharedOperation::McpMessage {
            server_name: text("server_name")?,
            message: raw("message")?,
        },
        _ => return None,
    })
}
