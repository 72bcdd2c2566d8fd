//! What a host changes while the session runs: mode, model, tasks, prompts that
//! wait.

use super::super::catalog::raw;
use super::super::tasks::line;
use super::super::{AgentSession, records};
use crate::schema::outbound::{Outbound, Status};
use crate::schema::payload::{CancelledPayload, ModePayload, ReloadPluginsPayload};
use crate::schema::permission::PermissionMode;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// A mode of existing hosts that is none here: taken as `default`.
const AUTO: &str = "auto";

/// The model that every host knows by this name.
const DEFAULT_MODEL: &str = "default";

/// The effort that is no reasoning.
const NO_EFFORT: &str = "none";

/// Why a number of thinking tokens is refused.
const THINKING: &str = "reasoning has efforts that the provider entry declares, and no budget of \
tokens; send null, or restart with --effort <effort>";

/// Why no thinking cannot be had.
const ALWAYS_THINKS: &str = "the provider entry declares no effort `none`";

/// What the result of a prompt says that its host took back.
const TAKEN_BACK: &str = "the prompt was cancelled before it ran";

/// Characters of a host's word that an error repeats.
const SHOWN_CHARS: usize = 64;

impl AgentSession {
    /// A host's word as an error shows it, redacted before it is cut (DEC-30).
    fn quoted(&self, word: &str) -> String {
        format!("{:?}", line(&self.safe(word), SHOWN_CHARS))
    }

    /// `set_permission_mode`: later calls are judged by it.
    pub(super) fn set_permission_mode(&mut self, id: &str, word: &str) {
        let mode = if word == AUTO {
            self.warn("the permission mode auto is taken as default");
            PermissionMode::Default
        } else if let Some(mode) = PermissionMode::from_word(word) {
            mode
        } else {
            let modes = PermissionMode::ALL.iter().map(|mode| mode.as_str());
            let modes = modes.chain([AUTO]).collect::<Vec<_>>().join(", ");
            let word = self.quoted(word);
            return self.refuse(
                id,
                format!(
                    "set_permission_mode: {word} is no permission mode; expected one of {modes}"
                ),
            );
        };
        if let Err(why) = self.may_enter(mode) {
            return self.refuse(id, format!("set_permission_mode: {why}"));
        }
        self.answer(id, Some(raw(&ModePayload { mode })));
        self.enter_mode(mode);
    }

    /// Whether a host may choose this mode; else why not.
    pub(super) fn may_enter(&self, mode: PermissionMode) -> Result<(), &'static str> {
        let permits = |reference: &super::super::Reference| reference.may_bypass_permissions;
        let may_bypass = self.config.permission_mode == PermissionMode::BypassPermissions
            || self.config.profile.reference().is_some_and(permits);
        if mode == PermissionMode::BypassPermissions && !may_bypass {
            return Err(
                "bypassPermissions is not permitted in this session; start it with \
                 --allow-dangerously-skip-permissions",
            );
        }
        Ok(())
    }

    /// Judges calls by this mode from now on, and says so if it is another one.
    pub(super) fn enter_mode(&mut self, mode: PermissionMode) {
        let before = self.policy.mode();
        self.policy.set_mode(mode);
        self.tell_mode(before);
    }

    /// Tells an existing host of a mode that is not the one before.
    pub(in super::super) fn tell_mode(&mut self, before: PermissionMode) {
        let mode = self.policy.mode();
        if mode != before && self.config.profile.is_reference() {
            self.send(&Outbound::Status(Status {
                status: None,
                permission_mode: Some(mode),
            }));
        }
    }

    /// `set_model`: the model is that of the process, by each of its names
    /// (DEC-52).
    pub(super) fn set_model(&mut self, id: &str, model: Option<&str>) {
        let provider = &self.config.provider;
        match model {
            None | Some(DEFAULT_MODEL) => self.answer(id, None),
            Some(name) if name == &*provider.model || name == &*provider.id => {
                self.answer(id, None);
            }
            Some(name) => {
                let (name, known) = (self.quoted(name), &provider.model);
                let error = format!(
                    "set_model: {name} is no model of this process, whose model is {known:?}; \
                     restart with --provider <id> for another"
                );
                self.refuse(id, error);
            }
        }
    }

    /// `set_max_thinking_tokens`: null is the effort that the process chose, zero
    /// the effort `none` where there is one; both hold for later requests.
    pub(super) fn set_max_thinking_tokens(&mut self, id: &str, tokens: Option<u64>) {
        let provider = &self.config.provider;
        let mut efforts = provider.reasoning.efforts().iter();
        let effort = match tokens {
            None => Ok(provider.effort.clone()),
            Some(0) => efforts
                .find(|effort| &***effort == NO_EFFORT)
                .map(|effort| Some(Arc::clone(effort)))
                .ok_or(ALWAYS_THINKS),
            Some(_) => Err(THINKING),
        };
        match effort {
            Ok(effort) => {
                self.agent_loop.set_effort(effort);
                self.answer(id, None);
            }
            Err(why) => self.refuse(id, format!("set_max_thinking_tokens: {why}")),
        }
    }

    /// `cancel_async_message`: takes a prompt back that has not begun. It gets
    /// its one result like every accepted prompt (DEC-21).
    pub(super) fn cancel_async_message(&mut self, id: &str, uuid: &str) {
        let queued = self.queue.remove(uuid);
        let cancelled = queued.is_some() || self.is_submitted(uuid);
        self.answer(id, Some(raw(&CancelledPayload { cancelled })));
        match queued {
            Some(prompt) => {
                let result = records::never_ran(&self.config.provider, TAKEN_BACK, prompt);
                self.books.last_ordinary_is_error = Some(true);
                self.send(&Outbound::Result(result));
                self.report_cancelled(vec![TAKEN_BACK.to_string()]);
            }
            None if cancelled => self.cancel_submission(TAKEN_BACK),
            None => {}
        }
    }

    /// `stop_task`: the answer stands before what becomes of the task.
    pub(super) fn stop_named_task(&mut self, id: &str, task_id: &str) {
        if self.tasks.runs(task_id) {
            self.answer(id, None);
            self.stop_task(task_id);
        } else {
            let task = self.quoted(task_id);
            self.refuse(id, format!("stop_task: no task {task} runs"));
        }
    }

    /// `reload_plugins`: tells what there is. Nothing is loaded anew, since no
    /// plugin is ever loaded.
    pub(super) fn reload_plugins(&mut self, id: &str) {
        let (commands, agents) = self.config.initialize.offers();
        let payload = ReloadPluginsPayload {
            commands: commands.to_vec(),
            agents: agents.to_vec(),
            plugins: Vec::new(),
            mcp_servers: self.mcp_statuses(),
            error_count: 0,
        };
        self.answer(id, Some(raw(&payload)));
    }
}
