//! Settings that a host reads and changes while the session runs.

use super::super::AgentSession;
use super::super::fit::ENVELOPE_BYTES;
use crate::json::{RawJson, ScanError, ScanLimits, Scanner};
use crate::policy::{Layer, Settings, Sourced, change_flag, edit, write_rule};
use crate::schema::declare::Json as _;
use crate::schema::payload::{AppliedSettings, SettingsPayload, SettingsSource};
use crate::schema::permission::{Behavior, PermissionMode, PermissionRule};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The tool whose rules are about commands.
const SHELL: &str = "Bash";

/// How the names of tools of MCP servers begin.
const MCP: &str = "mcp__";

/// Levels of JSON that the record of an answer adds to its payload.
const ENVELOPE_LEVELS: usize = 2;

impl AgentSession {
    /// `get_settings`: the layers as they were written, what they say together,
    /// and what the session runs with. Never a credential (DEC-30).
    pub(super) fn get_settings(&mut self, id: &str) {
        match self.settings_payload() {
            Ok(payload) => self.answer(id, Some(payload)),
            Err(why) => self.refuse(id, format!("get_settings: {why}")),
        }
    }

    fn settings_payload(&self) -> Result<RawJson, String> {
        let deep = |_: ScanError| "the settings nest too deep for one record";
        let layers = &self.config.settings;
        let source = |of: Sourced<&Settings>| SettingsSource {
            source: of.layer,
            settings: of.value.text().clone(),
        };
        let payload = SettingsPayload {
            effective: layers.effective().map_err(deep)?,
            sources: layers.sources().map(source).collect(),
            applied: Some(AppliedSettings {
                model: Arc::clone(&self.config.provider.model),
                effort: self.agent_loop.effort().cloned(),
            }),
        };
        let payload = self.without_credentials(payload.to_raw().map_err(deep)?)?;
        let limits = &self.config.limits;
        let room = ScanLimits {
            max_depth: limits.depth.saturating_sub(ENVELOPE_LEVELS),
            node_depth: 0,
        };
        let mut scanner = Scanner::new();
        scanner
            .scan(payload.as_str().as_bytes(), &room)
            .map_err(deep)?;
        let most = limits.reference_record_bytes.saturating_sub(ENVELOPE_BYTES);
        if payload.as_str().len() > most {
            return Err(format!("the settings take more than {most} bytes"));
        }
        Ok(payload)
    }

    /// The same text with every credential replaced; fails where one is spelled
    /// so that it cannot be found piece by piece.
    fn without_credentials(&self, text: RawJson) -> Result<RawJson, String> {
        let guard = &self.config.credentials;
        if guard.check(text.as_str().as_bytes()).is_ok() {
            return Ok(text);
        }
        let safe = RawJson::parse(&guard.redact(text.as_str())).ok();
        safe.filter(|safe| guard.check(safe.as_str().as_bytes()).is_ok())
            .ok_or_else(|| "the settings hold a credential and are not shown".to_string())
    }

    /// `apply_flag_settings`: all of it, or nothing and why.
    pub(super) fn apply_flag_settings(&mut self, id: &str, given: &RawJson) {
        match self.flag_settings(given) {
            Ok(mode) => {
                self.answer(id, None);
                if let Some(mode) = mode {
                    self.enter_mode(mode);
                }
            }
            Err(why) => self.refuse(id, format!("apply_flag_settings: {why}")),
        }
    }

    /// Puts the changed flag layer in force; gives the mode that it asks for.
    fn flag_settings(&mut self, given: &RawJson) -> Result<Option<PermissionMode>, String> {
        let old = self.config.settings.of(Layer::Flag);
        let new =
            change_flag(old, given, &self.config.credentials).map_err(|fault| fault.to_string())?;
        if *given == RawJson::empty_object() {
            return Ok(None);
        }
        let new = self.with_standing_rules(new)?;
        let notes = self.check_rules(&new)?;
        let mut layers = self.config.settings.clone();
        layers.set(Layer::Flag, new.clone());
        // A layer above may have the last word.
        let mode = layers
            .default_mode()
            .filter(|mode| mode.layer == Layer::Flag)
            .map(|mode| mode.value);
        if let Some(mode) = mode {
            self.may_enter(mode)
                .map_err(|why| format!("permissions.defaultMode: {why}"))?;
        }
        Arc::make_mut(&mut self.config).settings = layers;
        self.policy.set_layer(Layer::Flag, &new.permissions);
        for note in notes {
            self.warn(note);
        }
        Ok(mode)
    }

    /// A flag layer with the rules of the command line, which no host takes away.
    fn with_standing_rules(&self, layer: Settings) -> Result<Settings, String> {
        let reference = self.config.profile.reference();
        let rules = reference.map(|reference| &reference.rules);
        let Some(rules) = rules.filter(|rules| !rules.is_empty()) else {
            return Ok(layer);
        };
        let text = edit(Some(layer.text().as_str()), rules, "");
        let text = text.map_err(|fault| fault.to_string())?;
        Settings::read_guarded(text.as_bytes(), &self.config.credentials)
            .map_err(|fault| fault.to_string())
    }

    /// Holds rules against the tools, as those of files are when a session
    /// starts; gives what is worth a warning.
    fn check_rules(&self, settings: &Settings) -> Result<Vec<String>, String> {
        let mut notes = Vec::new();
        for behavior in Behavior::ALL {
            let rules = settings.permissions.rules(*behavior);
            for (at, rule) in rules.iter().enumerate() {
                let place = format!("permissions.{}[{at}]", behavior.as_str());
                if !self.takes_content(rule) {
                    let shown = write_rule(rule, *behavior).unwrap_or_default();
                    return Err(format!(
                        "{place}: rule {shown:?}: brackets are for Bash and for tools that name a path"
                    ));
                }
                let name = &*rule.tool_name;
                if self.agent_loop.tool(name).is_none() && !name.starts_with(MCP) {
                    notes.push(format!(
                        "apply_flag_settings: {place}: no tool has the name {name:?}"
                    ));
                }
            }
        }
        Ok(notes)
    }

    /// Whether a rule may say what it says between brackets.
    fn takes_content(&self, rule: &PermissionRule) -> bool {
        let name = &*rule.tool_name;
        let of_path = |path: Option<&str>| path.is_some() || name == SHELL;
        rule.rule_content.is_none()
            || match self.agent_loop.tool(name) {
                Some(tool) => of_path(tool.path_member),
                // Of a tool that nobody has a rule says nothing.
                None => true,
            }
    }
}
