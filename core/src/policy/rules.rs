//! Rules: a tool name, and for some tools a pattern of what it works on.

use super::{command, paths, string_member};
use crate::json::RawJson;
use crate::schema::permission::{Behavior, PermissionRule};
use crate::tool::{ToolClass, ToolSpec};
use alloc::string::String;
use alloc::sync::Arc;

/// What rules look at in a call.
#[derive(Debug)]
pub(super) struct Subject {
    tool: Arc<str>,
    /// The resolved path a file tool names; the current directory where it names none.
    pub(super) path: Option<String>,
    /// The command line of an executing tool.
    command: Option<String>,
}

impl Subject {
    pub(super) fn of(tool: &ToolSpec, input: &RawJson, cwd: &str) -> Self {
        let path = tool.path_member.map(|member| {
            let named = string_member(input, member).unwrap_or_default();
            paths::resolve(cwd, &named)
        });
        let command = match tool.class {
            ToolClass::Execute => string_member(input, "command"),
            ToolClass::Inert | ToolClass::ReadOnly | ToolClass::Edit => None,
        };
        Self {
            tool: Arc::clone(&tool.name),
            path,
            command,
        }
    }
}

/// Whether a rule speaks about this call.
///
/// A rule without content speaks about every call of its tool. Content is a
/// path glob for tools that name a path, else a command or `prefix:*`.
pub(super) fn matches(
    rule: &PermissionRule,
    behavior: Behavior,
    subject: &Subject,
    cwd: &str,
) -> bool {
    if *rule.tool_name != *subject.tool {
        return false;
    }
    let Some(content) = rule.rule_content.as_deref() else {
        return true;
    };
    if let Some(path) = &subject.path {
        return paths::glob(&paths::resolve(cwd, content), path);
    }
    let Some(line) = &subject.command else {
        return false;
    };
    match behavior {
        Behavior::Allow => command::every_part(line, content),
        Behavior::Ask | Behavior::Deny => command::some_part(line, content),
    }
}
