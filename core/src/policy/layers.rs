//! The five layers of settings and what they mean together.

use super::edit::edit;
use super::hooks::HookSettings;
use super::settings::{Settings, ToolSettings};
use crate::hook::HookEvent;
use crate::json::{RawJson, ScanError, Writer};
pub use crate::schema::payload::Layer;
use crate::schema::permission::{
    Behavior, Destination, PermissionMode, PermissionRule, PermissionUpdate,
};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// A value and the layer that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The layer.
    pub layer: Layer,
    /// What stands there.
    pub value: T,
}

/// Settings of all layers.
///
/// A single value comes from the highest layer that has it, a command tool from
/// the highest that declares its name; rules and directories of all layers hold
/// together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layers {
    layers: BTreeMap<Layer, Settings>,
}

impl Layers {
    /// No settings at all.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            layers: BTreeMap::new(),
        }
    }

    /// Puts a layer in the place of the one that was there.
    pub fn set(&mut self, layer: Layer, settings: Settings) {
        self.layers.insert(layer, settings);
    }

    /// Lets a layer say what an update stores in its file (WIRE-PERM-030), as the
    /// file would. Of an update for no file, and of one that no file could hold,
    /// nothing comes.
    pub fn store(&mut self, update: &PermissionUpdate, cwd: &str) {
        let layer = match update.destination() {
            Destination::UserSettings => Layer::User,
            Destination::ProjectSettings => Layer::Project,
            Destination::LocalSettings => Layer::Local,
            Destination::Session | Destination::CliArg => return,
        };
        let old = self.of(layer).map(|settings| settings.text().as_str());
        let new = edit(old, [update], cwd).ok();
        if let Some(settings) = new.and_then(|text| Settings::read(text.as_bytes()).ok()) {
            self.set(layer, settings);
        }
    }

    /// What a layer says, if it is there.
    #[must_use]
    pub fn of(&self, layer: Layer) -> Option<&Settings> {
        self.layers.get(&layer)
    }

    /// The layers that there are, low to high.
    pub fn sources(&self) -> impl DoubleEndedIterator<Item = Sourced<&Settings>> {
        self.layers.iter().map(|(layer, value)| Sourced {
            layer: *layer,
            value,
        })
    }

    /// The mode to start in.
    #[must_use]
    pub fn default_mode(&self) -> Option<Sourced<PermissionMode>> {
        self.sources().rev().find_map(|Sourced { layer, value }| {
            let value = value.permissions.default_mode?;
            Some(Sourced { layer, value })
        })
    }

    /// The rules of one kind, those of lower layers first.
    pub fn rules(&self, behavior: Behavior) -> impl Iterator<Item = Sourced<&PermissionRule>> {
        self.sources().flat_map(move |Sourced { layer, value }| {
            let rules = value.permissions.rules(behavior).iter();
            rules.map(move |value| Sourced { layer, value })
        })
    }

    /// Further working directories, those of lower layers first.
    pub fn directories(&self) -> impl Iterator<Item = Sourced<&str>> {
        self.sources().flat_map(|Sourced { layer, value }| {
            let directories = value.permissions.additional_directories.iter();
            directories.map(move |path| Sourced {
                layer,
                value: path.as_str(),
            })
        })
    }

    /// The command tools, in the order in which their names first stand.
    #[must_use]
    pub fn tools(&self) -> Vec<Sourced<&ToolSettings>> {
        let mut tools: Vec<Sourced<&ToolSettings>> = Vec::new();
        for Sourced { layer, value } in self.sources() {
            for value in &value.tools {
                let sourced = Sourced { layer, value };
                match tools
                    .iter_mut()
                    .find(|known| known.value.declared.name == value.declared.name)
                {
                    Some(lower) => *lower = sourced,
                    None => tools.push(sourced),
                }
            }
        }
        tools
    }

    /// The hooks of all layers, those of lower layers first: all of them run.
    pub fn hooks(&self) -> impl Iterator<Item = Sourced<&HookSettings>> {
        self.sources().flat_map(|Sourced { layer, value }| {
            let hooks = value.hooks.iter();
            hooks.map(move |value| Sourced { layer, value })
        })
    }

    /// What holds, as one settings file would say it.
    ///
    /// # Errors
    ///
    /// None that settings which were read could cause.
    pub fn effective(&self) -> Result<RawJson, ScanError> {
        let mut w = Writer::new();
        w.begin_object();
        w.key("permissions");
        w.begin_object();
        if let Some(mode) = self.default_mode() {
            w.member_str("defaultMode", mode.value.as_str());
        }
        for behavior in [Behavior::Allow, Behavior::Ask, Behavior::Deny] {
            let rules = self.rules(behavior).map(|rule| shown(rule.value));
            strings(&mut w, behavior.as_str(), rules);
        }
        let directories = self.directories().map(|path| path.value.into());
        strings(&mut w, "additionalDirectories", directories);
        w.end_object();
        self.write_hooks(&mut w);
        let tools = self.tools();
        if !tools.is_empty() {
            w.key("tools");
            w.begin_array();
            tools.iter().for_each(|tool| w.raw(tool.value.text()));
            w.end_array();
        }
        w.end_object();
        RawJson::parse_bytes(&w.finish())
    }
}

impl Layers {
    fn write_hooks(&self, w: &mut Writer) {
        if self.hooks().next().is_none() {
            return;
        }
        w.key("hooks");
        w.begin_object();
        for event in HookEvent::ALL {
            let written = |settings: Sourced<&Settings>| settings.value.hooks_written().to_vec();
            let of_event = self.sources().flat_map(written);
            let of_event = of_event.filter(|(of, _)| of == event);
            let mut groups = of_event.flat_map(|(_, groups)| groups).peekable();
            if groups.peek().is_some() {
                w.key(event.as_str());
                w.begin_array();
                groups.for_each(|group| w.raw(&group));
                w.end_array();
            }
        }
        w.end_object();
    }
}

/// Writes a list without repetitions, if there is anything in it.
fn strings(w: &mut Writer, name: &str, items: impl Iterator<Item = String>) {
    let mut seen = BTreeSet::new();
    let unique: Vec<String> = items.filter(|item| seen.insert(item.clone())).collect();
    if unique.is_empty() {
        return;
    }
    w.key(name);
    w.begin_array();
    unique.iter().for_each(|item| w.string(item));
    w.end_array();
}

/// A rule as it was written.
fn shown(rule: &PermissionRule) -> String {
    match &rule.rule_content {
        None => rule.tool_name.clone(),
        Some(content) => alloc::format!("{}({content})", rule.tool_name),
    }
}

#[cfg(test)]
mod tests;
