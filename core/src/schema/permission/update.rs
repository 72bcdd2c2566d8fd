//! Permission updates (WIRE-PERM-030, WIRE-PERM-031).

use crate::json::{Object, Value};
use crate::schema::declare::{record, union, words};
use alloc::string::String;
use alloc::vec::Vec;
use core::str::FromStr;

words! {
    /// What a rule does.
    pub enum Behavior {
        /// The call runs without a question.
        Allow = "allow",
        /// The call is refused.
        Deny = "deny",
        /// The call is asked about.
        Ask = "ask",
    }
}

words! {
    /// Where an update is kept.
    pub enum Destination {
        /// The user's settings file.
        UserSettings = "userSettings",
        /// The project's settings file.
        ProjectSettings = "projectSettings",
        /// The project's settings file of this machine.
        LocalSettings = "localSettings",
        /// This session only.
        Session = "session",
        /// The command line's layer; this process only.
        CliArg = "cliArg",
    }
}

impl Destination {
    /// Whether an update goes to a file, not only to memory (WIRE-PERM-030).
    #[must_use]
    pub const fn is_persisted(self) -> bool {
        matches!(
            self,
            Self::UserSettings | Self::ProjectSettings | Self::LocalSettings
        )
    }
}

words! {
    /// How calls are judged where no rule decides.
    pub enum PermissionMode {
        /// Ask for what may change something.
        Default = "default",
        /// Let Write and Edit pass inside the working directories.
        AcceptEdits = "acceptEdits",
        /// Refuse everything that is not read-only.
        Plan = "plan",
        /// Deny what would ask.
        DontAsk = "dontAsk",
        /// Ask nothing.
        BypassPermissions = "bypassPermissions",
    }
}

/// The word names no permission mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownMode;

impl core::fmt::Display for UnknownMode {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(
            "permission mode must be default, acceptEdits, plan, dontAsk or bypassPermissions",
        )
    }
}

impl core::error::Error for UnknownMode {}

impl FromStr for PermissionMode {
    type Err = UnknownMode;

    fn from_str(word: &str) -> Result<Self, UnknownMode> {
        Self::from_word(word).ok_or(UnknownMode)
    }
}

record! {
    /// A rule over a tool, or over some of its calls.
    pub struct PermissionRule {
        /// Name of the tool.
        required tool_name as "toolName": String,
        /// Which calls of it; all when absent.
        optional rule_content as "ruleContent": Option<String>,
    }
}

words! {
    /// What an update does with its rules.
    pub enum RulesAction {
        /// Adds them to those of the same behaviour and destination.
        Add = "addRules",
        /// Puts them in the place of those.
        Replace = "replaceRules",
        /// Takes them out.
        Remove = "removeRules",
    }
}

record! {
    /// Changes rules.
    pub struct RulesUpdate {
        /// What is done.
        required action as "type": RulesAction,
        /// The rules.
        required rules: Vec<PermissionRule>,
        /// What they do.
        required behavior: Behavior,
        /// Where they are kept.
        required destination: Destination,
    }
}

record! {
    /// Sets the permission mode.
    pub struct ModeUpdate {
        "type" = "setMode",
        /// The mode from now on.
        required mode: PermissionMode,
        /// Where it is kept.
        required destination: Destination,
    }
}

words! {
    /// What an update does with its directories.
    pub enum DirectoriesAction {
        /// Adds working directories.
        Add = "addDirectories",
        /// Takes them out.
        Remove = "removeDirectories",
    }
}

record! {
    /// Changes working directories.
    pub struct DirectoriesUpdate {
        /// What is done.
        required action as "type": DirectoriesAction,
        /// The directories.
        required directories: Vec<String>,
        /// Where they are kept.
        required destination: Destination,
    }
}

union! {
    /// One of the six updates.
    pub enum PermissionUpdate {
        /// `addRules`, `replaceRules`, `removeRules`.
        Rules(RulesUpdate),
        /// `setMode`.
        Mode(ModeUpdate),
        /// `addDirectories`, `removeDirectories`.
        Directories(DirectoriesUpdate),
    }
}

impl PermissionUpdate {
    /// Reads one update; `None` when anything in it is missing, null, of
    /// another type or unknown. Unknown members are dropped.
    #[must_use]
    pub fn from_value(value: Value<'_>) -> Option<Self> {
        let update = value.as_object()?;
        let kind = text(update, "type")?;
        let destination = Destination::from_word(&text(update, "destination")?)?;
        if let Some(action) = RulesAction::from_word(&kind) {
            return Some(Self::Rules(RulesUpdate {
                action,
                rules: list(update, "rules", rule)?,
                behavior: Behavior::from_word(&text(update, "behavior")?)?,
                destination,
            }));
        }
        if let Some(action) = DirectoriesAction::from_word(&kind) {
            return Some(Self::Directories(DirectoriesUpdate {
                action,
                directories: list(update, "directories", string)?,
                destination,
            }));
        }
        (kind == "setMode").then_some(())?;
        Some(Self::Mode(ModeUpdate {
            mode: PermissionMode::from_word(&text(update, "mode")?)?,
            destination,
        }))
    }

    /// Where the update is kept.
    #[must_use]
    pub const fn destination(&self) -> Destination {
        match self {
            Self::Rules(update) => update.destination,
            Self::Mode(update) => update.destination,
            Self::Directories(update) => update.destination,
        }
    }
}

fn rule(value: Value<'_>) -> Option<PermissionRule> {
    let rule = value.as_object()?;
    Some(PermissionRule {
        tool_name: text(rule, "toolName")?,
        rule_content: match rule.get("ruleContent") {
            None => None,
            Some(content) => Some(string(content)?),
        },
    })
}

fn list<T>(
    object: Object<'_>,
    name: &str,
    read: impl Fn(Value<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    object.get(name)?.as_array()?.iter().map(read).collect()
}

fn text(object: Object<'_>, name: &str) -> Option<String> {
    string(object.get(name)?)
}

fn string(value: Value<'_>) -> Option<String> {
    Some(value.as_str()?.decode().ok()?.into_owned())
}
