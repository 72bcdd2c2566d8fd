//! Permission rules and modes: pure judgements over parsed data.
//!
//! Deny beats ask beats allow; then the mode, then what the tool may touch.
//! Nothing here asks anybody; the answer says who has to.

mod command;
mod paths;
mod rules;
#[cfg(test)]
mod tests;

pub use paths::resolve;

use crate::json::{RawJson, ScanLimits, Scanner};
use crate::schema::permission::{
    Behavior, Destination, DirectoriesAction, DirectoriesUpdate, PermissionMode, PermissionRule,
    PermissionUpdate, RulesAction, RulesUpdate,
};
use crate::tool::{Access, ToolClass, ToolSpec};
use alloc::string::String;
use alloc::vec::Vec;
use rules::Subject;

/// What the rules and the mode say about one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It may run.
    Allow(Access),
    /// It may not; the text says why.
    Deny(&'static str),
    /// Somebody has to be asked.
    Ask(Question),
}

/// Why a call needs an answer (WIRE-PERM-022).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The reason to show, where it is one that is shown.
    pub decision_reason: Option<&'static str>,
    /// The path that caused the question.
    pub blocked_path: Option<String>,
}

/// The permission context of a session, in memory.
#[derive(Clone, Debug)]
pub struct Policy {
    mode: PermissionMode,
    rules: Vec<(Destination, Behavior, PermissionRule)>,
    /// Working directories; the first is the current one and never leaves.
    directories: Vec<(Option<Destination>, String)>,
}

impl Policy {
    /// A context without rules.
    #[must_use]
    pub fn new(mode: PermissionMode, cwd: String) -> Self {
        Self {
            mode,
            rules: Vec::new(),
            directories: alloc::vec![(None, cwd)],
        }
    }

    /// The mode in force.
    #[must_use]
    pub const fn mode(&self) -> PermissionMode {
        self.mode
    }

    /// Folders the session works in, the current directory first.
    pub fn directories(&self) -> impl Iterator<Item = &str> {
        self.directories.iter().map(|(_, path)| path.as_str())
    }

    /// Applies one update in memory (WIRE-PERM-030).
    pub fn apply(&mut self, update: &PermissionUpdate) {
        match update {
            PermissionUpdate::Rules(update) => self.apply_rules(update),
            PermissionUpdate::Mode(update) => self.mode = update.mode,
            PermissionUpdate::Directories(update) => self.apply_directories(update),
        }
    }

    fn apply_rules(&mut self, update: &RulesUpdate) {
        let RulesUpdate {
            action,
            rules,
            behavior,
            destination,
        } = update;
        let of_kind = |to: &Destination, kind: &Behavior| (to, kind) == (destination, behavior);
        match action {
            RulesAction::Add => {}
            RulesAction::Replace => self.rules.retain(|(to, kind, _)| !of_kind(to, kind)),
            RulesAction::Remove => {
                return self
                    .rules
                    .retain(|(to, kind, rule)| !of_kind(to, kind) || !rules.contains(rule));
            }
        }
        for rule in rules {
            let entry = (*destination, *behavior, rule.clone());
            if !self.rules.contains(&entry) {
                self.rules.push(entry);
            }
        }
    }

    fn apply_directories(&mut self, update: &DirectoriesUpdate) {
        for path in &update.directories {
            let path = resolve(self.cwd(), path);
            match update.action {
                DirectoriesAction::Add
                    if !self.directories.iter().any(|(_, known)| *known == path) =>
                {
                    self.directories.push((Some(update.destination), path));
                }
                DirectoriesAction::Add => {}
                DirectoriesAction::Remove => {
                    self.directories
                        .retain(|(to, known)| *to != Some(update.destination) || *known != path);
                }
            }
        }
    }

    /// Judges one call.
    #[must_use]
    pub fn judge(&self, tool: &ToolSpec, input: &RawJson) -> Judgement {
        let subject = Subject::of(tool, input, self.cwd());
        if self.matches(Behavior::Deny, &subject) {
            return Judgement::Deny("A permission rule denies this call.");
        }
        match self.mode {
            PermissionMode::BypassPermissions => return Judgement::Allow(Access::Granted),
            PermissionMode::Plan if !reads_only(tool) => {
                return Judgement::Deny("Plan mode refuses tools that are not read-only.");
            }
            PermissionMode::Default
            | PermissionMode::AcceptEdits
            | PermissionMode::Plan
            | PermissionMode::DontAsk => {}
        }
        let judgement = if self.matches(Behavior::Ask, &subject) {
            Judgement::Ask(Question::default())
        } else if self.matches(Behavior::Allow, &subject) {
            Judgement::Allow(Access::Granted)
        } else {
            self.by_class(tool, &subject)
        };
        if matches!(judgement, Judgement::Ask(_)) && self.mode == PermissionMode::DontAsk {
            return Judgement::Deny(
                "This call would need a question, and the permission mode is dontAsk.",
            );
        }
        judgement
    }

    /// Why a call may not run whoever allows it: a rule denies it, or the mode
    /// refuses what changes anything (DEC-31).
    #[must_use]
    pub fn forbids(&self, tool: &ToolSpec, input: &RawJson) -> Option<&'static str> {
        let subject = Subject::of(tool, input, self.cwd());
        if self.matches(Behavior::Deny, &subject) {
            return Some("A permission rule denies this call.");
        }
        (self.mode == PermissionMode::Plan && !reads_only(tool))
            .then_some("Plan mode refuses tools that are not read-only.")
    }

    fn by_class(&self, tool: &ToolSpec, subject: &Subject) -> Judgement {
        let inside = subject
            .path
            .as_deref()
            .is_none_or(|path| self.contains(path));
        let edits_pass = self.mode == PermissionMode::AcceptEdits;
        match tool.class {
            ToolClass::Inert => Judgement::Allow(Access::WorkingDirectories),
            ToolClass::ReadOnly if inside => Judgement::Allow(Access::WorkingDirectories),
            ToolClass::Edit if inside && edits_pass => Judgement::Allow(Access::WorkingDirectories),
            ToolClass::ReadOnly | ToolClass::Edit if !inside => Judgement::Ask(Question {
                decision_reason: Some("The path is outside the working directories."),
                blocked_path: subject.path.clone(),
            }),
            ToolClass::ReadOnly | ToolClass::Edit | ToolClass::Execute => {
                Judgement::Ask(Question::default())
            }
        }
    }

    fn contains(&self, path: &str) -> bool {
        self.directories()
            .any(|directory| paths::contains(directory, path))
    }

    fn matches(&self, behavior: Behavior, subject: &Subject) -> bool {
        let of_kind = |(_, kind, rule): &&(_, Behavior, PermissionRule)| {
            *kind == behavior && rules::matches(rule, behavior, subject, self.cwd())
        };
        self.rules.iter().any(|entry| of_kind(&entry))
    }

    fn cwd(&self) -> &str {
        self.directories
            .first()
            .map_or("/", |(_, path)| path.as_str())
    }
}

const fn reads_only(tool: &ToolSpec) -> bool {
    matches!(tool.class, ToolClass::Inert | ToolClass::ReadOnly)
}

/// The decoded string member `name` of an input object.
pub(crate) fn string_member(input: &RawJson, name: &str) -> Option<String> {
    let mut scanner = Scanner::new();
    let value = scanner
        .scan(input.as_str().as_bytes(), &ScanLimits::default())
        .ok()?;
    let text = value.as_object()?.get(name)?.as_str()?;
    Some(text.decode_lossy().into_owned())
}
