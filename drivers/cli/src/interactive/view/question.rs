//! Permission questions: what is shown, what "always" would mean, what an
//! answer says.

#[cfg(test)]
mod tests;

use super::plain::{harmless, one_line};
use crate::speak::text;
use agentx_core::json::{Array, Object, RawJson, Value};
use agentx_core::policy::write_rule;
use agentx_core::schema::declare::Json as _;
use agentx_core::schema::permission::{
    Behavior, Destination, PermissionRule, PermissionUpdate, RulesAction, RulesUpdate,
};
use agentx_core::tool::NETWORK_TOOL;

/// Lines of an input that are shown before somebody asks for more.
const SHOWN_LINES: usize = 40;

/// Characters of an input that are shown before somebody asks for more.
const SHOWN_CHARS: usize = 4_000;

/// A call that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) request_id: String,
    /// The tool, harmless.
    pub(super) tool: String,
    /// Why it is asked, harmless.
    pub(super) reason: Option<String>,
    /// The input, harmless, a line for each of its own.
    body: Vec<String>,
    /// What may be allowed for longer than this once.
    pub(super) always: Option<Always>,
    /// Whether it was shown.
    pub(super) told: bool,
}

/// Permission updates that spare further questions of this kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Always {
    /// What they allow, harmless.
    pub(super) label: String,
    /// The list of updates.
    pub(super) updates: RawJson,
}

/// What a line says to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// This once.
    Allow,
    /// From now on.
    Always,
    /// No, and why.
    Deny(Option<String>),
    /// Show the whole input first.
    Show,
    /// None of these.
    Unclear,
}

impl Question {
    /// Reads a `can_use_tool` request. `stored` says whether updates outlive the
    /// session.
    pub(super) fn read(record: Object<'_>, stored: bool) -> Option<Self> {
        let request = record.get("request")?.as_object()?;
        if text(request, "subtype")? != "can_use_tool" {
            return None;
        }
        let tool = text(request, "tool_name")?;
        let input = request.get("input").and_then(Value::as_object);
        let reason = text(request, "decision_reason").map(|reason| one_line(&reason));
        Some(Self {
            request_id: text(record, "request_id")?,
            always: suggested(request).or_else(|| rule(&tool, request, stored)),
            tool: one_line(&tool),
            reason,
            body: input.map(body).unwrap_or_default(),
            told: false,
        })
    }

    /// The input, or its beginning.
    pub(super) fn shown(&self, whole: bool) -> String {
        let mut shown = String::new();
        let mut left = SHOWN_CHARS;
        for (at, line) in self.body.iter().enumerate() {
            if !whole && (at == SHOWN_LINES || line.chars().count() > left) {
                let begun: String = line.chars().take(left).collect();
                let more = self.body.len() - at;
                let lines = if more == 1 { "line" } else { "lines" };
                if at < SHOWN_LINES {
                    shown.push_str(&format!("{begun}\n"));
                }
                shown.push_str(&format!(
                    "    … not all is shown ({more} {lines} to go): answer `show` to see it\n"
                ));
                break;
            }
            left = left.saturating_sub(line.chars().count());
            shown.push_str(line);
            shown.push('\n');
        }
        shown
    }

    /// What may be answered.
    pub(super) const fn choices(&self) -> &'static str {
        if self.always.is_some() {
            "yes, always, no or `no REASON`"
        } else {
            "yes, no or `no REASON`"
        }
    }
}

impl Reply {
    pub(super) fn read(line: &str) -> Self {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = Some(rest.trim()).filter(|rest| !rest.is_empty());
        match (word.to_lowercase().as_str(), rest) {
            ("y" | "yes", None) => Self::Allow,
            ("a" | "always", None) => Self::Always,
            ("s" | "show", None) => Self::Show,
            ("n" | "no", reason) => Self::Deny(reason.map(str::to_owned)),
            _ => Self::Unclear,
        }
    }
}

/// The members of an input, each text as the tool would get it.
fn body(input: Object<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, value) in input.iter() {
        let name = one_line(&name.decode_lossy());
        let value = match value.as_str() {
            Some(text) => harmless(&text.decode_lossy()),
            None => harmless(value.raw()),
        };
        if value.contains('\n') {
            lines.push(format!("    {name}:"));
            lines.extend(value.split('\n').map(|line| format!("      | {line}")));
        } else {
            lines.push(format!("    {name}: {value}"));
        }
    }
    lines
}

/// The updates that came with the question.
fn suggested(request: Object<'_>) -> Option<Always> {
    let updates = request.get("permission_suggestions")?;
    updates.as_array().filter(|list| !Array::is_empty(*list))?;
    Some(Always {
        label: one_line(updates.raw()),
        updates: RawJson::from_value(updates),
    })
}

/// A rule for calls like this one: the path where a path caused the question,
/// the exact command for a shell, else the tool. Rules do not speak about the
/// network, so each question about it is answered by itself.
fn rule(tool: &str, request: Object<'_>, stored: bool) -> Option<Always> {
    if tool == NETWORK_TOOL {
        return None;
    }
    let input = request.get("input").and_then(Value::as_object);
    let content = match (text(request, "blocked_path"), tool) {
        (Some(path), _) => Some(Some(path).filter(|path| is_one_path(path))?),
        (None, "Bash") => {
            let command = text(input?, "command")?;
            Some(Some(command).filter(|command| is_one_command(command))?)
        }
        (None, _) => None,
    };
    let rule = PermissionRule {
        tool_name: tool.to_owned(),
        rule_content: content,
    };
    // Nothing is offered that settings would not take.
    let spelled = write_rule(&rule, Behavior::Allow).ok()?;
    let what = match &rule.rule_content {
        Some(_) => spelled,
        None => format!("every {spelled}"),
    };
    let (destination, lasts) = if stored {
        (Destination::LocalSettings, "in this folder")
    } else {
        (Destination::Session, "in this session")
    };
    let update = PermissionUpdate::Rules(RulesUpdate {
        action: RulesAction::Add,
        rules: vec![rule],
        behavior: Behavior::Allow,
        destination,
    });
    Some(Always {
        label: one_line(&format!("{what} {lasts}")),
        updates: vec![update].to_raw().ok()?,
    })
}

/// Whether a rule of this path means this path alone, and shows it.
fn is_one_path(path: &str) -> bool {
    let plain = !path.contains(['*', '?']) && one_line(path) == path;
    plain && path.starts_with('/') && !path.ends_with('/')
}

/// Whether a rule of this command means this command alone, and shows it.
fn is_one_command(command: &str) -> bool {
    !command.ends_with(":*") && one_line(command) == command
}
