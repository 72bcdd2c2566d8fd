//! What a tool is, what it is asked and what it answers.

use crate::checkpoint::Bookkeeping;
use crate::json::{RawJson, ScanLimits, Scanner};
pub use crate::schema::inbound::Environment;
use crate::schema::permission::Behavior;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

/// The name under which a running tool asks whether it may connect to a host: no
/// tool has it (WIRE-PERM-080).
pub const NETWORK_TOOL: &str = "SandboxNetworkAccess";

/// A tool that can be offered to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSpec {
    /// Name the model calls it by; unique in a session.
    pub name: Arc<str>,
    /// What it does, for the model.
    pub description: Arc<str>,
    /// JSON Schema of its input, an object schema.
    pub input_schema: RawJson,
    /// What running it may touch; decides the default permission.
    pub class: ToolClass,
    /// Member of the input that names the file or folder it works on.
    pub path_member: Option<&'static str>,
    /// Whether it may run beside other calls of the same batch (DEC-26).
    pub parallel: bool,
    /// Which of its calls run on in the background, as tasks.
    pub background: Background,
}

/// Which calls of a tool become background tasks: their result comes at once,
/// and the turn goes on while they run (WIRE-004).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    /// None.
    Never,
    /// Those whose input has this member with the value true.
    When(&'static str),
    /// All.
    Always,
}

impl Background {
    /// Whether a call with this input becomes a task.
    #[must_use]
    pub fn holds(self, input: &RawJson) -> bool {
        match self {
            Self::Never => false,
            Self::When(member) => flag_member(input, member),
            Self::Always => true,
        }
    }
}

/// Whether a member of an object is true.
fn flag_member(input: &RawJson, name: &str) -> bool {
    let mut scanner = Scanner::new();
    let text = input.as_str().as_bytes();
    let value = scanner.scan(text, &ScanLimits::DEFAULT).ok();
    let member = value.and_then(|value| value.as_object()?.get(name));
    member.and_then(|member| member.as_bool()) == Some(true)
}

/// What running a tool may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolClass {
    /// Looks at nothing outside the process (`CurrentTime`).
    Inert,
    /// Reads files (`Read`, `Glob`, `Grep`).
    ReadOnly,
    /// Changes files it names (`Write`, `Edit`).
    Edit,
    /// Runs commands (`Bash`, command tools).
    Execute,
}

/// A call as the model made it, under its session-wide id (DEC-35).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// Id, unique in the session.
    pub id: Arc<str>,
    /// Name of the tool.
    pub name: Arc<str>,
    /// Input object.
    pub input: RawJson,
}

/// What a tool body is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRequest {
    /// The call; `input` is what was decided on, not always what the model wrote.
    pub call: ToolCall,
    /// How far the decision reaches for paths.
    pub access: Access,
    /// Folders the session works in; the first is the current directory.
    pub directories: Arc<[String]>,
    /// Variables set for tool children by `update_environment_variables` (DEC-22).
    pub environment: Arc<Environment>,
    /// What is noted of the files it works on.
    pub bookkeeping: Bookkeeping,
}

/// A call that is to run on as a background task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRequest {
    /// Id of the task (DEC-17); a name for its output file, too.
    pub task_id: Arc<str>,
    /// The call.
    pub tool: ToolRequest,
}

/// How far a permission decision reaches for the paths a call names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nobody was asked: the body refuses what resolves outside the working directories.
    WorkingDirectories,
    /// Somebody, a rule or a mode allowed this call as it stands.
    Granted,
}

/// How a tool call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutcome {
    /// What the tool says to the model.
    pub content: Vec<ToolContent>,
    /// Whether it failed.
    pub is_error: bool,
}

impl ToolOutcome {
    /// A text result.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: alloc::vec![ToolContent::Text(text.into())],
            is_error: false,
        }
    }

    /// A failure, told as text.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            content: alloc::vec![ToolContent::Text(text.into())],
            is_error: true,
        }
    }
}

/// One part of a tool's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolContent {
    /// Text.
    Text(String),
}

/// A command tool as settings declare it, not judged yet: the types are right,
/// the rest is for whoever runs it.
#[derive(Clone, PartialEq, Eq)]
pub struct ToolDeclaration {
    /// Name the model calls it by.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its input, an object schema.
    pub input_schema: RawJson,
    /// The program, then its arguments; no shell reads them.
    pub command: Vec<String>,
    /// How long one call may run.
    pub timeout: Duration,
    /// Whether its calls are background tasks: the turn goes on while they run.
    pub background: bool,
    /// Whether it may run beside other calls (DEC-26).
    pub parallel: bool,
    /// What becomes of a call that no permission rule speaks about.
    pub permission: Behavior,
}

/// Without the command, whose arguments may hold secrets.
impl fmt::Debug for ToolDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolDeclaration")
            .field("name", &self.name)
            .field("words", &self.command.len())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
