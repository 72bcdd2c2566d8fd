//! What the options of the profile `reference` mean together.

use super::values::{self, Source, Sources, Thinking};
use super::{ReferenceOptions, TextOrFile};
use crate::options::ToolChoice;
use std::fmt::Display;
use std::path::PathBuf;

/// What a host of this profile asks for, beyond what our own options say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The system prompt.
    pub(crate) system: SystemPrompt,
    /// Rules for calls that run without a question.
    pub(crate) allow: Vec<String>,
    /// Rules for calls that are refused.
    pub(crate) deny: Vec<String>,
    /// Names of models, each with the option that gave it (DEC-52).
    pub(crate) models: Vec<(&'static str, String)>,
    /// Whether the model is not to think.
    pub(crate) thinking_disabled: bool,
    /// Whether the host is asked for permission (DEC-31).
    pub(crate) ask_host: bool,
    /// Whether the host may choose the mode `bypassPermissions` later.
    pub(crate) allow_bypass: bool,
    /// The settings files that count.
    pub(crate) sources: Vec<Source>,
    /// Where MCP servers are named.
    pub(crate) mcp_configs: Vec<TextOrFile>,
    /// Whether records tell of hooks (DEC-43).
    pub(crate) hook_events: bool,
    /// Whether the first turn waits for `initialize`.
    pub(crate) await_initialize: bool,
    /// What is worth a line on stderr.
    pub(crate) notes: Vec<String>,
}

/// What the model is told first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SystemPrompt {
    /// The text itself.
    pub(crate) base: Base,
    /// What stands behind it.
    pub(crate) append: Option<String>,
}

/// Where a system prompt comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Base {
    /// Ours.
    #[default]
    Own,
    /// The host's; an empty one is none.
    Text(String),
    /// A file.
    File(PathBuf),
}

/// Which logs are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Debugging {
    /// Whether there are any.
    pub(crate) on: bool,
    /// The file they go to; else stderr.
    pub(crate) file: Option<PathBuf>,
}

impl ReferenceOptions {
    /// The logs that are asked for; a file implies them.
    pub(crate) fn debugging(&self) -> Debugging {
        Debugging {
            on: self.debug.is_some() || self.debug_file.is_some(),
            file: self.debug_file.clone(),
        }
    }

    /// What these options ask for, beside the built-in tools that were chosen.
    pub(crate) fn plan(self, tools: &ToolChoice) -> Reference {
        let notes = self.notes(tools);
        let base = match (self.system_prompt, self.system_prompt_file) {
            (Some(text), _) => Base::Text(text),
            (None, Some(path)) => Base::File(path),
            (None, None) => Base::Own,
        };
        let models = [
            ("--model", self.model),
            ("--fallback-model", self.fallback_model),
        ];
        let models = models.into_iter();
        Reference {
            system: SystemPrompt {
                base,
                append: self.append_system_prompt.filter(|text| !text.is_empty()),
            },
            allow: rules(&self.allowed_tools),
            deny: rules(&self.disallowed_tools),
            models: models
                .filter_map(|(option, name)| Some((option, name?)))
                .collect(),
            thinking_disabled: match self.thinking {
                Some(word) => word == Thinking::Disabled,
                None => self.max_thinking_tokens == Some(0),
            },
            ask_host: self.permission_prompts.is_none(),
            allow_bypass: self.allow_dangerously_skip_permissions,
            sources: match self.setting_sources {
                Some(Sources(sources)) => sources,
                None => Source::ALL.to_vec(),
            },
            mcp_configs: self.mcp_config,
            hook_events: self.include_hook_events,
            await_initialize: self.await_initialize,
            notes,
        }
    }

    /// What has no effect, or another one than its name says.
    fn notes(&self, tools: &ToolChoice) -> Vec<String> {
        let mut notes = Vec::new();
        let mut note = |when: bool, option: &str, what: &dyn Display| {
            if when {
                notes.push(format!("warning: {option}: {what}"));
            }
        };
        note(
            self.auto_mode,
            "--permission-mode auto",
            &"taken as default",
        );
        let unknown = unknown_tools(tools);
        note(
            !unknown.is_empty(),
            "--tools",
            &format_args!("no built-in tool has the name {}", unknown.join(", ")),
        );
        let budget = self.max_thinking_tokens.is_some_and(|tokens| tokens > 0);
        note(
            budget && self.thinking.is_none(),
            "--max-thinking-tokens",
            &"no effect, the effort decides how much the model thinks",
        );
        let betas = self
            .betas
            .iter()
            .any(|list| values::items(list).count() > 0);
        for (given, option) in [
            (self.thinking_display.is_some(), "--thinking-display"),
            (betas, "--betas"),
            (self.task_budget.is_some(), "--task-budget"),
        ] {
            note(given, option, &"no effect with the providers of auth.json");
        }
        note(
            !self.plugin_dir.is_empty(),
            "--plugin-dir",
            &"no effect, plugins are not available",
        );
        note(
            self.agent.is_some(),
            "--agent",
            &"no effect, the session is its only agent",
        );
        notes
    }
}

fn rules(lists: &[String]) -> Vec<String> {
    lists.iter().flat_map(|list| values::rules(list)).collect()
}

/// Names that no built-in tool has. Those of MCP servers are not for this option.
fn unknown_tools(tools: &ToolChoice) -> Vec<String> {
    let ToolChoice::Only(names) = tools else {
        return Vec::new();
    };
    let specs = agentx_tools::builtin_specs();
    let unknown = names
        .iter()
        .filter(|name| !specs.iter().any(|spec| *spec.name == ***name));
    unknown.map(|name| format!("{name:?}")).collect()
}
