//! Rules: a tool name, and for some tools a pattern of what it works on.

use super::command::Script;
use super::{Found, paths, string_member};
use crate::json::RawJson;
use crate::policy::limits::PATH_BYTES;
use crate::schema::permission::{Behavior, PermissionRule};
use crate::tool::{ToolClass, ToolSpec};
use alloc::string::String;
use alloc::sync::Arc;

/// The tool whose `command` is a shell command line.
pub(super) const SHELL: &str = "Bash";

/// How names of MCP tools begin: `mcp__SERVER__TOOL`.
pub(super) const MCP: &str = "mcp__";

/// What rules look at in a call.
#[derive(Debug)]
pub(super) struct Subject {
    tool: Arc<str>,
    /// The resolved path a file tool names; the current directory where it names none.
    pub(super) path: Option<String>,
    /// Whether it may look at files below that path.
    walks: bool,
    /// The command line of the shell.
    script: Option<Script>,
}

impl Subject {
    pub(super) fn of(tool: &ToolSpec, input: &RawJson, cwd: &str) -> Self {
        let path = tool.path_member.map(|member| {
            let named = string_member(input, member).unwrap_or_default();
            paths::resolve(cwd, &named)
        });
        let script = (*tool.name == *SHELL)
            .then(|| Script::read(string_member(input, "command").unwrap_or_default()));
        Self {
            tool: Arc::clone(&tool.name),
            path,
            walks: tool.class == ToolClass::ReadOnly,
            script,
        }
    }
}

/// Server and tool of a rule `mcp__SERVER` or `mcp__SERVER__TOOL`. The name of a
/// server ends at the next two underscores.
pub(super) fn mcp_parts(name: &str) -> Option<(&str, Option<&str>)> {
    let rest = name.strip_prefix(MCP)?;
    let (server, tool) = match rest.split_once("__") {
        Some((server, tool)) => (server, Some(tool)),
        None => (rest, None),
    };
    (!server.is_empty() && tool != Some("")).then_some((server, tool))
}

/// Whether a rule's name stands for the tool.
fn names(rule: &str, behavior: Behavior, tool: &str) -> bool {
    if rule == tool {
        return true;
    }
    match mcp_parts(rule) {
        Some((server, None)) => mcp_parts(tool).is_some_and(|(of, _)| of == server),
        // A server with two underscores in its name could be meant.
        Some((_, Some(_))) if behavior != Behavior::Allow => tool
            .strip_prefix(rule)
            .is_some_and(|rest| rest.starts_with("__")),
        _ => false,
    }
}

/// How far rules that allow go for one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allowed {
    /// They do not cover it.
    Not,
    /// They name the path as it is spelled, wherever links may lead.
    Path,
    /// They cover it.
    Whole,
}

/// Whether rules that allow cover the whole call together.
pub(super) fn allowed<'a>(
    rules: impl Iterator<Item = &'a PermissionRule> + Clone,
    subject: &Subject,
    cwd: &str,
) -> Allowed {
    let rules = rules.filter(|rule| names(&rule.tool_name, Behavior::Allow, &subject.tool));
    if rules.clone().any(|rule| rule.rule_content.is_none()) {
        return Allowed::Whole;
    }
    let mut contents = rules.filter_map(|rule| rule.rule_content.as_deref());
    match (&subject.path, &subject.script) {
        (Some(path), _) if path.len() > PATH_BYTES => Allowed::Not,
        (Some(path), _) if contents.any(|glob| paths::matches(cwd, glob, path)) => Allowed::Path,
        (None, Some(script)) if script.is_covered(contents) => Allowed::Whole,
        _ => Allowed::Not,
    }
}

/// Whether a rule that asks or denies stands for the call, or some part of it.
///
/// A rule without content speaks about every call of its tool. Content is a
/// path glob for tools that name a path, and for the shell a command or
/// `prefix:*`. What cannot be judged is unclear.
pub(super) fn restrains(
    rule: &PermissionRule,
    behavior: Behavior,
    subject: &Subject,
    cwd: &str,
) -> Found {
    if !names(&rule.tool_name, behavior, &subject.tool) {
        return Found::No;
    }
    let Some(content) = rule.rule_content.as_deref() else {
        return Found::Yes;
    };
    match (&subject.path, &subject.script) {
        (Some(path), _) if path.len() > PATH_BYTES => Found::Unclear,
        (Some(path), _) if paths::matches_or_holds(cwd, content, path) => Found::Yes,
        (Some(path), _) if subject.walks && paths::contains(path, &paths::base(cwd, content)) => {
            Found::Unclear
        }
        (Some(_), _) => Found::No,
        (None, Some(script)) => script.runs(content),
        (None, None) => Found::Unclear,
    }
}
