//! Command tools: programs that the settings offer to the model under a name of
//! their own (configuration, `settings.json`).

use crate::limits::{
    COMMAND_WORD_BYTES, COMMAND_WORDS, MAX_COMMAND_TIMEOUT, MAX_COMMAND_TOOLS,
    TOOL_DESCRIPTION_BYTES, TOOL_NAME_BYTES, TOOL_SCHEMA_BYTES,
};
use crate::spec::builtin_specs;
use agentx_core::json::{RawJson, ScanLimits, Scanner};
use agentx_core::schema::permission::Behavior;
use agentx_core::structured;
use agentx_core::tool::{Background, NETWORK_TOOL, ToolClass, ToolDeclaration, ToolSpec};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How names of tools of MCP servers begin.
const MCP_PREFIX: &str = "mcp__";

/// A command tool that can run. There is none whose declaration is wrong.
#[derive(Clone, PartialEq, Eq)]
pub struct CommandTool {
    name: Arc<str>,
    description: Arc<str>,
    input_schema: RawJson,
    program: String,
    arguments: Vec<String>,
    timeout: Duration,
    background: bool,
    parallel: bool,
    permission: Behavior,
}

/// Without the arguments, which may hold secrets.
impl fmt::Debug for CommandTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandTool")
            .field("name", &self.name)
            .field("program", &self.program)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// What is wrong with a declaration: the member, and what was expected of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFault {
    member: &'static str,
    expected: String,
}

impl CommandFault {
    pub(crate) fn new(member: &'static str, expected: impl Into<String>) -> Self {
        Self {
            member,
            expected: expected.into(),
        }
    }

    /// The member of the declaration.
    #[must_use]
    pub const fn member(&self) -> &'static str {
        self.member
    }
}

impl fmt::Display for CommandFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.member, self.expected)
    }
}

impl std::error::Error for CommandFault {}

impl CommandTool {
    /// Judges a declaration.
    ///
    /// # Errors
    ///
    /// The first member that is wrong: a name that is taken or outside its
    /// grammar, a text that is too long, a schema that is not one of objects, a
    /// command without a program that is an absolute path or a name to be found
    /// in `PATH`, or a time outside its bounds.
    pub fn new(declared: ToolDeclaration) -> Result<Self, CommandFault> {
        check_name(&declared.name)?;
        if declared.description.len() > TOOL_DESCRIPTION_BYTES {
            let text = format!("expected at most {TOOL_DESCRIPTION_BYTES} bytes");
            return Err(CommandFault::new("description", text));
        }
        check_schema(&declared.input_schema)?;
        check_command(&declared.command)?;
        if declared.timeout < Duration::from_millis(1) || declared.timeout > MAX_COMMAND_TIMEOUT {
            let most = MAX_COMMAND_TIMEOUT.as_millis();
            let text = format!("expected 1 to {most}");
            return Err(CommandFault::new("timeout_ms", text));
        }
        let mut words = declared.command.into_iter();
        Ok(Self {
            name: declared.name.into(),
            description: declared.description.into(),
            input_schema: declared.input_schema,
            program: words.next().unwrap_or_default(),
            arguments: words.collect(),
            timeout: declared.timeout,
            background: declared.background,
            parallel: declared.parallel,
            permission: declared.permission,
        })
    }

    /// What the model is told of it.
    #[must_use]
    pub fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::clone(&self.name),
            description: Arc::clone(&self.description),
            input_schema: self.input_schema.clone(),
            class: ToolClass::Execute,
            path_member: None,
            parallel: self.parallel,
            background: if self.background {
                Background::Always
            } else {
                Background::Never
            },
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What becomes of a call that no permission rule speaks about.
    #[must_use]
    pub const fn permission(&self) -> Behavior {
        self.permission
    }

    /// The program, an absolute path or a name to be found in `PATH`.
    pub(crate) fn program(&self) -> &str {
        &self.program
    }

    pub(crate) fn arguments(&self) -> &[String] {
        &self.arguments
    }

    pub(crate) const fn timeout(&self) -> Duration {
        self.timeout
    }
}

fn check_name(name: &str) -> Result<(), CommandFault> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let fault = |text: String| Err(CommandFault::new("name", text));
    if !(1..=TOOL_NAME_BYTES).contains(&name.len()) || !name.bytes().all(fits) {
        return fault(format!("expected 1 to {TOOL_NAME_BYTES} of A-Za-z0-9_-"));
    }
    if name.starts_with(MCP_PREFIX) {
        return fault(format!(
            "{name} begins with {MCP_PREFIX}, as only tools of MCP servers do"
        ));
    }
    if name == structured::TOOL {
        return fault(format!("{name} is the tool that takes structured output"));
    }
    if name == NETWORK_TOOL {
        return fault(format!("{name} is the name of questions about the network"));
    }
    if builtin_specs().iter().any(|spec| *spec.name == *name) {
        return fault(format!("{name} is a built-in tool"));
    }
    Ok(())
}

fn check_schema(schema: &RawJson) -> Result<(), CommandFault> {
    let fault = |text: &str| Err(CommandFault::new("input_schema", text));
    if schema.as_str().len() > TOOL_SCHEMA_BYTES {
        return fault(&format!("expected at most {TOOL_SCHEMA_BYTES} bytes"));
    }
    let mut scanner = Scanner::new();
    let scanned = scanner.scan(schema.as_str().as_bytes(), &ScanLimits::DEFAULT);
    let kind = scanned
        .ok()
        .and_then(|value| value.as_object()?.get("type"));
    match kind.and_then(|kind| kind.as_str()) {
        Some(kind) if kind == *"object" => Ok(()),
        _ => fault("expected a schema with type \"object\""),
    }
}

pub(crate) fn check_command(command: &[String]) -> Result<(), CommandFault> {
    let fault = |text: &str| Err(CommandFault::new("command", text));
    let Some(program) = command.first().filter(|program| !program.is_empty()) else {
        return fault("expected a program");
    };
    if command.len() > COMMAND_WORDS {
        return fault(&format!("expected at most {COMMAND_WORDS} words"));
    }
    if command.iter().any(|word| word.len() > COMMAND_WORD_BYTES) {
        return fault(&format!(
            "expected words of at most {COMMAND_WORD_BYTES} bytes"
        ));
    }
    if command.iter().any(|word| word.contains('\0')) {
        return fault("expected words without NUL");
    }
    // A relative path would lead to what the working directory holds, which
    // may be what the model wrote.
    let by_name = !program.contains('/') && !matches!(&**program, "." | "..");
    if !by_name && !program.starts_with('/') {
        return fault(
            "expected a program that is an absolute path, or a name to be found in PATH; \
             `~` and relative paths are not followed",
        );
    }
    Ok(())
}

/// The command tools of a session, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandTools(BTreeMap<Arc<str>, CommandTool>);

impl CommandTools {
    /// All of them together.
    ///
    /// # Errors
    ///
    /// Two under one name, or more than there may be.
    pub fn new(tools: impl IntoIterator<Item = CommandTool>) -> Result<Self, CommandFault> {
        let mut all = BTreeMap::new();
        for tool in tools {
            if all.contains_key(&tool.name) {
                let text = format!("{} is the name of two tools", tool.name);
                return Err(CommandFault::new("name", text));
            }
            if all.len() == MAX_COMMAND_TOOLS {
                let text = format!("expected at most {MAX_COMMAND_TOOLS} tools");
                return Err(CommandFault::new("tools", text));
            }
            all.insert(Arc::clone(&tool.name), tool);
        }
        Ok(Self(all))
    }

    /// What the model is told of them, in the order of their names.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.0.values().map(CommandTool::spec).collect()
    }

    /// Their names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(|name| &**name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&CommandTool> {
        self.0.get(name)
    }
}

#[cfg(test)]
mod tests;
