//! Permission rules and modes: pure judgements over parsed data.
//!
//! [`Settings`] is what one file says, [`Layers`] what all of them say together,
//! [`Policy`] the context that a session judges calls by. Deny beats ask beats
//! allow; then the mode, then what the tool may touch. Nothing here asks
//! anybody; the answer says who has to.
//!
//! Rules look at what a call says: a path as it is spelled, a command line as
//! it is written. They are no sandbox.

mod command;
mod edit;
mod flag;
mod hooks;
mod layers;
pub mod limits;
mod paths;
mod rules;
mod settings;
mod shell;
mod spelling;
#[cfg(test)]
mod tests;

pub use edit::{EditFault, edit};
pub use flag::change_flag;
pub use hooks::HookSettings;
pub use layers::{Layer, Layers, Sourced};
pub use paths::resolve;
pub use settings::{Permissions, Settings, ToolSettings};
pub use spelling::{RuleFault, read as read_rule, write as write_rule};

use crate::json::{RawJson, ScanLimits, Scanner};
use crate::schema::permission::{
    Behavior, Destination, DirectoriesAction, DirectoriesUpdate, PermissionMode, PermissionRule,
    PermissionUpdate, RulesAction, RulesUpdate,
};
use crate::tool::{Access, ToolClass, ToolSpec};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use rules::{Allowed, Subject};

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

/// Whether something was found in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    /// It is not there.
    No,
    /// That cannot be told.
    Unclear,
    /// It is there.
    Yes,
}

/// Where a rule or a directory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// A layer of settings.
    Layer(Layer),
    /// An answer, for this session.
    Session,
    /// The command line, or an answer that counts as that.
    CliArg,
}

impl From<Destination> for Origin {
    fn from(destination: Destination) -> Self {
        match destination {
            Destination::UserSettings => Self::Layer(Layer::User),
            Destination::ProjectSettings => Self::Layer(Layer::Project),
            Destination::LocalSettings => Self::Layer(Layer::Local),
            Destination::Session => Self::Session,
            Destination::CliArg => Self::CliArg,
        }
    }
}

/// The permission context of a session, in memory.
#[derive(Clone, Debug)]
pub struct Policy {
    mode: PermissionMode,
    rules: Vec<(Origin, Behavior, PermissionRule)>,
    /// Working directories; the first is the current one and never leaves.
    directories: Vec<(Option<Origin>, String)>,
    /// What becomes of calls of command tools that no rule speaks about.
    tools: BTreeMap<String, Behavior>,
}

impl Policy {
    /// A context without rules.
    #[must_use]
    pub fn new(mode: PermissionMode, cwd: String) -> Self {
        Self {
            mode,
            rules: Vec::new(),
            directories: alloc::vec![(None, cwd)],
            tools: BTreeMap::new(),
        }
    }

    /// The context with further working directories of the command line, and
    /// with rules, directories and command tools of all layers. The mode stays.
    #[must_use]
    pub fn with(mut self, directories: &[String], layers: &Layers) -> Self {
        for path in directories {
            self.add_directory(Origin::CliArg, path);
        }
        for Sourced { layer, value } in layers.directories() {
            self.add_directory(Origin::Layer(layer), value);
        }
        for behavior in Behavior::ALL {
            for Sourced { layer, value } in layers.rules(*behavior) {
                let origin = Origin::Layer(layer);
                self.rules.push((origin, *behavior, value.clone()));
            }
        }
        for tool in layers.tools() {
            let Sourced { value, .. } = tool;
            let tool = &value.declared;
            self.tools.insert(tool.name.clone(), tool.permission);
        }
        self
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

    /// Changes the mode.
    pub const fn set_mode(&mut self, mode: PermissionMode) {
        self.mode = mode;
    }

    /// Puts the rules and directories of a layer in the place of those that it
    /// had. The mode stays.
    pub fn set_layer(&mut self, layer: Layer, permissions: &Permissions) {
        let origin = Origin::Layer(layer);
        self.rules.retain(|(of, ..)| *of != origin);
        self.directories.retain(|(of, _)| *of != Some(origin));
        for behavior in Behavior::ALL {
            for rule in permissions.rules(*behavior) {
                self.rules.push((origin, *behavior, rule.clone()));
            }
        }
        for path in &permissions.additional_directories {
            self.add_directory(origin, path);
        }
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
        let origin = Origin::from(*destination);
        let of_kind = |to: &Origin, kind: &Behavior| (to, kind) == (&origin, behavior);
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
            self.add_rule((origin, *behavior, rule.clone()));
        }
    }

    fn add_rule(&mut self, entry: (Origin, Behavior, PermissionRule)) {
        if !self.rules.contains(&entry) {
            self.rules.push(entry);
        }
    }

    fn apply_directories(&mut self, update: &DirectoriesUpdate) {
        let origin = Origin::from(update.destination);
        for path in &update.directories {
            match update.action {
                DirectoriesAction::Add => self.add_directory(origin, path),
                DirectoriesAction::Remove => {
                    let path = resolve(self.cwd(), path);
                    self.directories
                        .retain(|(of, known)| *of != Some(origin) || *known != path);
                }
            }
        }
    }

    /// A folder may have several origins; it leaves with the last of them.
    fn add_directory(&mut self, origin: Origin, path: &str) {
        let path = resolve(self.cwd(), path);
        let known = |(of, known): &(Option<Origin>, String)| {
            *known == path && of.is_none_or(|of| of == origin)
        };
        if !self.directories.iter().any(known) {
            self.directories.push((Some(origin), path));
        }
    }

    /// Judges one call.
    #[must_use]
    pub fn judge(&self, tool: &ToolSpec, input: &RawJson) -> Judgement {
        let subject = Subject::of(tool, input, self.cwd());
        let own = self.tools.get(&*tool.name).copied();
        let denied = self.restrained(Behavior::Deny, &subject);
        if let Some(reason) = self.forbidden(tool, denied) {
            return Judgement::Deny(reason);
        }
        if self.mode == PermissionMode::BypassPermissions {
            return Judgement::Allow(Access::Granted);
        }
        let asked = denied.max(self.restrained(Behavior::Ask, &subject));
        let judgement = if asked != Found::No {
            Judgement::Ask(Question::default())
        } else if let Some(access) = self.allowed(&subject, own) {
            Judgement::Allow(access)
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

    /// Why a call may not run whoever allows it: a rule or the settings of its
    /// tool deny it, or the mode refuses what changes anything (DEC-31).
    #[must_use]
    pub fn forbids(&self, tool: &ToolSpec, input: &RawJson) -> Option<&'static str> {
        let subject = Subject::of(tool, input, self.cwd());
        let denied = self.restrained(Behavior::Deny, &subject);
        self.forbidden(tool, denied)
    }

    /// Whether a rule may deny a call, but that cannot be told: then somebody
    /// has to look at it, and a hook that allows is not enough (DEC-31).
    #[must_use]
    pub fn may_forbid(&self, tool: &ToolSpec, input: &RawJson) -> bool {
        let subject = Subject::of(tool, input, self.cwd());
        self.restrained(Behavior::Deny, &subject) == Found::Unclear
    }

    /// Whether the settings declare a tool of this name.
    #[must_use]
    pub fn declares(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    fn forbidden(&self, tool: &ToolSpec, denied: Found) -> Option<&'static str> {
        let own = self.tools.get(&*tool.name).copied();
        if denied == Found::Yes {
            Some("A permission rule denies this call.")
        } else if own == Some(Behavior::Deny) {
            Some("The settings that declare this tool deny its calls.")
        } else if self.mode == PermissionMode::Plan && !reads_only(tool) {
            Some("Plan mode refuses tools that are not read-only.")
        } else {
            None
        }
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

    fn rules(&self, behavior: Behavior) -> impl Iterator<Item = &PermissionRule> + Clone {
        let of_kind = move |(_, kind, _): &&(Origin, Behavior, PermissionRule)| *kind == behavior;
        self.rules.iter().filter(of_kind).map(|(_, _, rule)| rule)
    }

    /// How far a rule that names paths reaches is for the body to see, where
    /// it can: inside the working directories no link may lead out of them.
    fn allowed(&self, subject: &Subject, own: Option<Behavior>) -> Option<Access> {
        let inside = || {
            subject
                .path
                .as_deref()
                .is_some_and(|path| self.contains(path))
        };
        match rules::allowed(self.rules(Behavior::Allow), subject, self.cwd()) {
            Allowed::Path if inside() => Some(Access::WorkingDirectories),
            Allowed::Path | Allowed::Whole => Some(Access::Granted),
            Allowed::Not if own == Some(Behavior::Allow) => Some(Access::Granted),
            Allowed::Not => None,
        }
    }

    fn restrained(&self, behavior: Behavior, subject: &Subject) -> Found {
        self.rules(behavior)
            .map(|rule| rules::restrains(rule, behavior, subject, self.cwd()))
            .fold(Found::No, Found::max)
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
