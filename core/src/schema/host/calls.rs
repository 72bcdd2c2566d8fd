//! Calls of operations of the agent.

use crate::json::{Object, RawJson, ScanLimits, Scanner, Value, Writer};
use crate::schema::declare::{Fields, FromJson, FromMembers, Json, Shape, record, words};
use crate::schema::permission::PermissionMode;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

record! {
    /// A call of an operation.
    pub struct ControlCall {
        "type" = "control_request",
        /// The answer repeats it.
        required request_id: Arc<str>,
        /// What is called.
        required request: Call,
    }
}

/// Declares the operations that a host calls, and the choice of them.
macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident = $subtype:literal { $($members:tt)* })+) => {
        $(
            record! {
                $(#[$doc])*
                pub struct $name {
                    "subtype" = $subtype,
                    $($members)*
                }
            }
        )+

        /// An operation that a host calls. The standalone profile serves the first
        /// four without members; the others are of the profile `reference`.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Call {
            $(
                #[doc = concat!("`", $subtype, "`.")]
                $name($name),
            )+
            /// Any other, whatever it takes.
            Other(OtherCall),
        }

        impl Call {
            /// Its subtype.
            #[must_use]
            pub fn subtype(&self) -> &str {
                match self {
                    $(Self::$name(_) => $subtype,)+
                    Self::Other(call) => &call.subtype,
                }
            }
        }

        impl Json for Call {
            const SHAPE: Shape = Shape::OneOf(&[
                $(<$name as Json>::SHAPE,)+
                OtherCall::SHAPE,
            ]);

            fn write(&self, w: &mut Writer) {
                match self {
                    $(Self::$name(call) => call.write(w),)+
                    Self::Other(call) => call.write(w),
                }
            }
        }

        impl FromJson for Call {
            fn read(value: Value<'_>) -> Option<Self> {
                let object = value.as_object()?;
                $(
                    let mut fields = Fields::of(object);
                    if let Some(call) = $name::read_members(&mut fields) {
                        return Some(Self::$name(call));
                    }
                )+
                OtherCall::from_object(object).map(Self::Other)
            }
        }

        $(impl From<$name> for Call {
            fn from(call: $name) -> Self {
                Self::$name(call)
            }
        })+
    };
}

calls! {
    /// Begins the session, and says what this host brings along.
    #[derive(Default)]
    Initialize = "initialize" {
        /// Hooks to be called back, by their events.
        optional hooks: Option<BTreeMap<Arc<str>, Vec<HookMatcher>>>,
        /// Names of MCP servers that live in this host.
        optional sdk_servers as "sdkMcpServers": Option<Vec<Arc<str>>>,
        /// Further MCP servers: an object by name, or a list.
        optional mcp_servers as "mcpServers": Option<RawJson>,
        /// Plugins.
        optional plugins: Option<Vec<RawJson>>,
        /// What replaces the system prompt.
        optional system_prompt as "systemPrompt": Option<String>,
        /// What stands behind the system prompt.
        optional append_system_prompt as "appendSystemPrompt": Option<String>,
        /// JSON Schema of the output of each turn.
        optional json_schema as "jsonSchema": Option<RawJson>,
        /// Agents by name.
        optional agents: Option<RawJson>,
        /// Whether the next prompt is to be suggested after each turn.
        flag prompt_suggestions as "promptSuggestions": bool,
    }
    /// Stops the running turn.
    Interrupt = "interrupt" {}
    /// What the context of the model holds.
    GetContextUsage = "get_context_usage" {}
    /// How MCP servers are.
    McpStatus = "mcp_status" {}
    /// Changes the permission mode.
    SetPermissionMode = "set_permission_mode" {
        /// The mode from now on.
        required mode: PermissionMode,
    }
    /// Changes the model.
    SetModel = "set_model" {
        /// The model; that of the process where there is none.
        optional model: Option<String>,
    }
    /// Bounds the reasoning of the model.
    SetMaxThinkingTokens = "set_max_thinking_tokens" {
        /// The bound; none of the host's where there is none.
        nullable max_thinking_tokens: Option<u64>,
    }
    /// The settings, merged and by their sources.
    GetSettings = "get_settings" {}
    /// Puts settings into the layer of flags.
    ApplyFlagSettings = "apply_flag_settings" {
        /// An object of settings.
        required settings: RawJson,
    }
    /// Reads plugins again.
    ReloadPlugins = "reload_plugins" {}
    /// Puts files back that tools have changed.
    RewindFiles = "rewind_files" {
        /// The prompt before which they are to be as they were.
        required user_message_id: Arc<str>,
        /// Whether to tell only.
        flag dry_run: bool,
    }
    /// Takes a prompt back that waits.
    CancelAsyncMessage = "cancel_async_message" {
        /// The prompt.
        required message_uuid: Arc<str>,
    }
    /// Stops a background task.
    StopTask = "stop_task" {
        /// The task.
        required task_id: Arc<str>,
    }
    /// Takes a file for seen.
    SeedReadState = "seed_read_state" {
        /// The file.
        required path: String,
        /// When it had changed last, in milliseconds since 1970.
        required mtime: u64,
    }
    /// Connects an MCP server again.
    McpReconnect = "mcp_reconnect" {
        /// The server.
        required server_name as "serverName": Arc<str>,
    }
    /// Switches an MCP server on or off.
    McpToggle = "mcp_toggle" {
        /// The server.
        required server_name as "serverName": Arc<str>,
        /// Whether it is offered from now on.
        required enabled: bool,
    }
    /// Replaces the MCP servers that hosts have set.
    McpSetServers = "mcp_set_servers" {
        /// An object of servers by their names.
        required servers: RawJson,
    }
    /// A server of this host speaks on its own.
    McpSend = "mcp_message" {
        /// The server.
        required server_name: Arc<str>,
        /// The JSON-RPC message.
        required message: RawJson,
    }
}

record! {
    /// Callbacks that belong to one matcher.
    pub struct HookMatcher {
        /// The tools they are for: a pattern; all without one.
        optional matcher: Option<String>,
        /// The host's names of them; a request names one of these.
        required callbacks as "hookCallbackIds": Vec<Arc<str>>,
        /// How long each may take to answer, in seconds.
        optional timeout: Option<u64>,
        /// What a failure means (DEC-33).
        optional on_failure as "onFailure": Option<OnFailure>,
    }
}

words! {
    /// What the failure of a hook means where it decides something.
    pub enum OnFailure {
        /// A denial.
        Block = "block",
        /// Nothing.
        Continue = "continue",
    }
}

/// A call of an operation that has no type here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherCall {
    subtype: String,
    members: RawJson,
}

/// Why members cannot be those of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadCall {
    /// They are no object.
    NotAnObject,
    /// One of them is the subtype.
    NamesSubtype,
}

impl fmt::Display for BadCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAnObject => "the members of a call must be an object",
            Self::NamesSubtype => "the members of a call must not name its subtype",
        })
    }
}

impl core::error::Error for BadCall {}

const SUBTYPE: &str = "subtype";

impl OtherCall {
    const SHAPE: Shape = Shape::Map(&Shape::Any);

    /// A call of `subtype` with these members beside it.
    ///
    /// # Errors
    ///
    /// [`BadCall`] when they cannot stand there.
    pub fn new(subtype: impl Into<String>, members: RawJson) -> Result<Self, BadCall> {
        let mut scanner = Scanner::new();
        let text = members.as_str().as_bytes();
        let scanned = scanner.scan(text, &ScanLimits::DEFAULT).ok();
        let object = scanned.and_then(Value::as_object);
        let object = object.ok_or(BadCall::NotAnObject)?;
        if object.get(SUBTYPE).is_some() {
            return Err(BadCall::NamesSubtype);
        }
        Ok(Self {
            subtype: subtype.into(),
            members,
        })
    }

    fn from_object(object: Object<'_>) -> Option<Self> {
        let subtype = String::read(object.get(SUBTYPE)?)?;
        let mut w = Writer::new();
        w.begin_object();
        for (name, value) in object {
            if name != *SUBTYPE {
                w.member_value(&name.decode().ok()?, value);
            }
        }
        w.end_object();
        let members = RawJson::parse_bytes(&w.finish()).ok()?;
        Some(Self { subtype, members })
    }

    fn write(&self, w: &mut Writer) {
        w.begin_object();
        w.member_str(SUBTYPE, &self.subtype);
        let mut scanner = Scanner::new();
        let text = self.members.as_str().as_bytes();
        let scanned = scanner.scan(text, &ScanLimits::DEFAULT).ok();
        for (name, value) in scanned.and_then(Value::as_object).into_iter().flatten() {
            w.member_value(&name.decode_lossy(), value);
        }
        w.end_object();
    }
}
