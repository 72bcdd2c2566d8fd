//! Rules as people write them: `Tool`, `Tool(what)`, `mcp__SERVER`,
//! `mcp__SERVER__TOOL` (configuration, "`settings.json`").
//!
//! A rule that would not do what it seems to do is refused, above all one that
//! seems to protect something.

use super::rules::{self, MCP, SHELL};
use crate::policy::limits::{NAME_BYTES, RULE_BYTES};
use crate::schema::permission::{Behavior, PermissionRule};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::fmt;

/// Why a text is no rule. Holds nothing of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleFault {
    /// Over [`RULE_BYTES`].
    TooLong,
    /// The name is missing, too long or has other characters.
    Name,
    /// Text after the bracket, or no closing one.
    Unclosed,
    /// `Tool()`.
    NoContent,
    /// A character that no call could hold.
    Nul,
    /// Something else than a server, or a server and a tool.
    McpName,
    /// `mcp__…(…)`.
    McpContent,
    /// A command rule without a command.
    NoCommand,
    /// A command rule that would ask or deny, with a `*` that means itself.
    LiteralStar,
    /// A path that starts with `~`.
    Tilde,
    /// `**` beside other characters.
    DoubleStar,
    /// `..` after a wildcard.
    ParentOfAny,
    /// A path rule that would ask or deny, with a bracket that means itself.
    LiteralBracket,
}

impl fmt::Display for RuleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::TooLong => return write!(f, "a rule has at most {RULE_BYTES} bytes"),
            Self::Name => {
                return write!(
                    f,
                    "expected Tool or Tool(...), the name 1 to {NAME_BYTES} of A-Za-z0-9_.-"
                );
            }
            Self::Unclosed => "expected `)` at the end, and nothing after it",
            Self::NoContent => "nothing in brackets; the name alone stands for every call",
            Self::Nul => "a NUL character",
            Self::McpName => "expected mcp__SERVER or mcp__SERVER__TOOL",
            Self::McpContent => "a rule for tools of an MCP server has no brackets",
            Self::NoCommand => "no command before `:*`; the name alone stands for every call",
            Self::LiteralStar => {
                "`*` means itself in a command; write `prefix:*` for all commands that begin so"
            }
            Self::Tilde => "`~` is no folder here; expected an absolute path or a relative one",
            Self::DoubleStar => "`**` stands for whole names, between slashes",
            Self::ParentOfAny => "`..` after a wildcard",
            Self::LiteralBracket => {
                "`[`, `]`, `{` and `}` mean themselves in a path; write a rule for each case"
            }
        };
        f.write_str(text)
    }
}

impl core::error::Error for RuleFault {}

/// Reads a rule. What it is for decides what would be misleading in it.
///
/// # Errors
///
/// What is wrong with it.
pub fn read(text: &str, behavior: Behavior) -> Result<PermissionRule, RuleFault> {
    if text.len() > RULE_BYTES {
        return Err(RuleFault::TooLong);
    }
    let (name, content) = match text.split_once('(') {
        None => (text, None),
        Some((name, rest)) => {
            check_name(name)?;
            let content = rest.strip_suffix(')').ok_or(RuleFault::Unclosed)?;
            (name, Some(content))
        }
    };
    check_name(name)?;
    if name.starts_with(MCP) {
        if content.is_some() {
            return Err(RuleFault::McpContent);
        }
        rules::mcp_parts(name).ok_or(RuleFault::McpName)?;
    }
    if let Some(content) = content {
        check_content(name, content, behavior)?;
    }
    Ok(PermissionRule {
        tool_name: name.to_owned(),
        rule_content: content.map(ToOwned::to_owned),
    })
}

/// The text of a rule; reading it gives the rule back.
///
/// # Errors
///
/// When the rule has no text that [`read`] would take: a host may send any
/// strings.
pub fn write(rule: &PermissionRule, behavior: Behavior) -> Result<String, RuleFault> {
    let text = match &rule.rule_content {
        None => rule.tool_name.clone(),
        Some(content) => format!("{}({content})", rule.tool_name),
    };
    let same = read(&text, behavior)?;
    if same == *rule {
        Ok(text)
    } else {
        Err(RuleFault::Name)
    }
}

fn check_name(name: &str) -> Result<(), RuleFault> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"_.-".contains(&b);
    let named = (1..=NAME_BYTES).contains(&name.len()) && name.bytes().all(fits);
    named.then_some(()).ok_or(RuleFault::Name)
}

fn check_content(name: &str, content: &str, behavior: Behavior) -> Result<(), RuleFault> {
    let restrains = behavior != Behavior::Allow;
    if content.trim().is_empty() {
        return Err(RuleFault::NoContent);
    }
    if content.contains('\0') {
        return Err(RuleFault::Nul);
    }
    if name == SHELL {
        return check_command(content, restrains);
    }
    check_path(content, restrains)
}

fn check_command(content: &str, restrains: bool) -> Result<(), RuleFault> {
    let command = content.strip_suffix(":*").unwrap_or(content);
    if command.trim().is_empty() || content == "*" {
        return Err(RuleFault::NoCommand);
    }
    if restrains && command.contains('*') {
        return Err(RuleFault::LiteralStar);
    }
    Ok(())
}

fn check_path(content: &str, restrains: bool) -> Result<(), RuleFault> {
    if content.starts_with('~') {
        return Err(RuleFault::Tilde);
    }
    if restrains && content.contains(['[', ']', '{', '}']) {
        return Err(RuleFault::LiteralBracket);
    }
    let mut any = false;
    for part in content.split('/') {
        if part.contains("**") && part != "**" {
            return Err(RuleFault::DoubleStar);
        }
        if any && part == ".." {
            return Err(RuleFault::ParentOfAny);
        }
        any |= part.contains(['*', '?']);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
