//! What one settings file says (configuration, "`settings.json`").
//!
//! The text is read strictly: no member twice, none that is not known, no rule
//! that would not do what it seems to do. A setting that nobody would heed must
//! not look as if it had an effect.

use super::hooks::{self, HookSettings, Written};
use super::limits;
use super::spelling;
use crate::guard::Guard;
use crate::json::closed::{self, Fault, Fields};
use crate::json::{RawJson, ScanLimits, Scanner, Value};
use crate::schema::permission::{Behavior, PermissionMode, PermissionRule};
use crate::tool::ToolDeclaration;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

/// Members of a settings file.
pub(super) const MEMBERS: [&str; 4] = ["permissions", "hooks", "tools", "mcpServers"];

/// Those that this version does not have.
const NOT_YET: [&str; 1] = ["mcpServers"];

/// One settings file, or the text of `--settings`.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    text: RawJson,
    /// What it says about permissions.
    pub permissions: Permissions,
    /// The command tools it declares.
    pub tools: Vec<ToolSettings>,
    /// Its hooks: event by event as they stand, and so within each.
    pub hooks: Vec<HookSettings>,
    hooks_written: Vec<Written>,
}

/// Without the texts, which hold commands.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("permissions", &self.permissions)
            .field("tools", &self.tools)
            .field("hooks", &self.hooks)
            .finish_non_exhaustive()
    }
}

/// `permissions` of a settings file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// The mode to start in.
    pub default_mode: Option<PermissionMode>,
    /// Calls that run without a question.
    pub allow: Vec<PermissionRule>,
    /// Calls that are asked about.
    pub ask: Vec<PermissionRule>,
    /// Calls that are refused.
    pub deny: Vec<PermissionRule>,
    /// Further working directories; relative ones start at the current one.
    pub additional_directories: Vec<String>,
}

impl Permissions {
    /// The rules of one kind.
    #[must_use]
    pub fn rules(&self, behavior: Behavior) -> &[PermissionRule] {
        match behavior {
            Behavior::Allow => &self.allow,
            Behavior::Ask => &self.ask,
            Behavior::Deny => &self.deny,
        }
    }
}

/// A command tool of a settings file; no other tool of the file has its name.
#[derive(Clone, PartialEq, Eq)]
pub struct ToolSettings {
    text: RawJson,
    /// What it declares.
    pub declared: ToolDeclaration,
}

/// Without the text, which holds the command.
impl fmt::Debug for ToolSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.declared.fmt(f)
    }
}

impl ToolSettings {
    /// The declaration as it was written.
    #[must_use]
    pub const fn text(&self) -> &RawJson {
        &self.text
    }
}

/// The member of `permissions` that holds the rules of one kind.
pub(super) const fn member(behavior: Behavior) -> &'static str {
    behavior.as_str()
}

impl Settings {
    /// Reads a settings file.
    ///
    /// # Errors
    ///
    /// The first fault and the member it is in. The text of a rule is shown, no
    /// other value is.
    pub fn read(bytes: &[u8]) -> Result<Self, Fault> {
        Self::read_guarded(bytes, &Guard::default())
    }

    /// Reads a settings file; the text of a rule is shown without these keys.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_guarded(bytes: &[u8], keys: &Guard) -> Result<Self, Fault> {
        if bytes.len() > limits::FILE_BYTES {
            let what = format_args!("over {} bytes", limits::FILE_BYTES);
            return Err(Fault::new("", what));
        }
        let mut scanner = Scanner::new();
        let root = scanner.scan(bytes, &ScanLimits::DEFAULT);
        let root = root.map_err(|error| closed::unreadable(error, bytes))?;
        if root.has_unpaired_surrogate() {
            return Err(Fault::new("", "an unpaired surrogate escape"));
        }
        let fields = Fields::open(root, String::new(), &MEMBERS)?;
        if let Some(name) = NOT_YET.iter().find(|name| fields.get(name).is_some()) {
            return Err(fields.fault(name, "not available yet"));
        }
        let permissions = permissions(&fields, keys)?;
        let (hooks, hooks_written) = hooks::read(&fields)?;
        Ok(Self {
            text: RawJson::from_value(root),
            permissions,
            tools: tools(&fields)?,
            hooks,
            hooks_written,
        })
    }

    /// Its hooks as they were written, event by event.
    pub(super) fn hooks_written(&self) -> &[Written] {
        &self.hooks_written
    }

    /// The whole file as it was written.
    #[must_use]
    pub const fn text(&self) -> &RawJson {
        &self.text
    }
}

fn permissions(root: &Fields<'_>, keys: &Guard) -> Result<Permissions, Fault> {
    let members = [
        "defaultMode",
        "allow",
        "ask",
        "deny",
        "additionalDirectories",
    ];
    let Some(fields) = root.object("permissions", &members)? else {
        return Ok(Permissions::default());
    };
    let rules = |behavior| -> Result<Vec<PermissionRule>, Fault> {
        let items = list(&fields, member(behavior), limits::LIST_ENTRIES)?;
        let items = items.into_iter();
        items
            .map(|(value, place)| rule(value, &place, behavior, keys))
            .collect()
    };
    let directories = list(&fields, "additionalDirectories", limits::LIST_ENTRIES)?;
    Ok(Permissions {
        default_mode: match fields.text("defaultMode")? {
            None => None,
            Some(word) => Some(mode(&fields, &word)?),
        },
        allow: rules(Behavior::Allow)?,
        ask: rules(Behavior::Ask)?,
        deny: rules(Behavior::Deny)?,
        additional_directories: directories
            .into_iter()
            .map(|(value, place)| directory(value, &place))
            .collect::<Result<_, _>>()?,
    })
}

fn mode(fields: &Fields<'_>, word: &str) -> Result<PermissionMode, Fault> {
    PermissionMode::from_word(word).ok_or_else(|| {
        let words: Vec<&str> = PermissionMode::ALL
            .iter()
            .map(|mode| mode.as_str())
            .collect();
        let what = format!("expected one of {}", words.join(", "));
        fields.fault("defaultMode", what)
    })
}

fn rule(
    value: Value<'_>,
    place: &str,
    behavior: Behavior,
    keys: &Guard,
) -> Result<PermissionRule, Fault> {
    let text = closed::text(value, place)?;
    spelling::read(&text, behavior).map_err(|fault| {
        let safe = keys.redact(&text);
        let shown: String = safe.chars().take(SHOWN_CHARS).collect();
        let cut = if shown.len() < safe.len() { "…" } else { "" };
        Fault::new(place, format_args!("rule {shown:?}{cut}: {fault}"))
    })
}

/// Characters of a rule that are shown.
const SHOWN_CHARS: usize = 80;

fn directory(value: Value<'_>, place: &str) -> Result<String, Fault> {
    let text = closed::text(value, place)?;
    let fault = if text.is_empty() {
        "an empty path"
    } else if text.len() > limits::PATH_BYTES {
        "a path that is too long"
    } else if text.contains('\0') {
        "a NUL character"
    } else if text.starts_with('~') {
        "`~` is no folder here; expected an absolute path or a relative one"
    } else {
        return Ok(text);
    };
    Err(Fault::new(place, fault))
}

type Items<'a> = Vec<(Value<'a>, String)>;

fn list<'a>(fields: &Fields<'a>, name: &str, most: usize) -> Result<Items<'a>, Fault> {
    let items = fields.array(name)?;
    if items.len() > most {
        return Err(fields.fault(name, format_args!("at most {most} entries are expected")));
    }
    Ok(items)
}

fn tools(root: &Fields<'_>) -> Result<Vec<ToolSettings>, Fault> {
    let mut tools: Vec<ToolSettings> = Vec::new();
    for (value, place) in list(root, "tools", limits::TOOLS)? {
        let tool = tool(value, &place)?;
        let same = |known: &ToolSettings| known.declared.name == tool.declared.name;
        if tools.iter().any(same) {
            let place = format!("{place}.name");
            return Err(Fault::new(&place, "another tool has the same name"));
        }
        tools.push(tool);
    }
    Ok(tools)
}

fn tool(value: Value<'_>, place: &str) -> Result<ToolSettings, Fault> {
    let members = [
        "name",
        "description",
        "input_schema",
        "command",
        "timeout_ms",
        "background",
        "parallel",
        "permission",
    ];
    let fields = Fields::open(value, place.into(), &members)?;
    let declared = ToolDeclaration {
        name: fields.need_text("name")?,
        description: fields.need_text("description")?,
        input_schema: input_schema(&fields)?,
        command: command(&fields)?,
        timeout: timeout(&fields)?,
        background: fields.flag("background")?,
        parallel: fields.flag("parallel")?,
        permission: match fields.text("permission")? {
            None => Behavior::Ask,
            Some(word) => Behavior::from_word(&word)
                .ok_or_else(|| fields.fault("permission", "expected one of ask, allow, deny"))?,
        },
    };
    let text = RawJson::from_value(value);
    Ok(ToolSettings { text, declared })
}

fn input_schema(fields: &Fields<'_>) -> Result<RawJson, Fault> {
    match fields.need("input_schema")?.as_object() {
        Some(schema) => Ok(RawJson::from_value(schema.value())),
        None => Err(fields.fault("input_schema", "an object is expected")),
    }
}

pub(super) fn command(fields: &Fields<'_>) -> Result<Vec<String>, Fault> {
    fields.need("command")?;
    let words = fields.array("command")?.into_iter();
    words
        .map(|(value, place)| closed::text(value, &place))
        .collect()
}

pub(super) fn timeout(fields: &Fields<'_>) -> Result<Duration, Fault> {
    let millis = fields.whole("timeout_ms")?.unwrap_or(limits::TIMEOUT_MS);
    Ok(Duration::from_millis(millis))
}

#[cfg(test)]
mod tests;
