//! `initialize` of the profile `reference`: what a host brings along for its
//! session (compat, section 5, rows 1 and 16).
//!
//! ```text
//! initialize -> [its schema is read] -> applied -> [patterns are resolved] -> answered
//!            \-> refused, and prompts with it, until another one succeeds
//! ```
//!
//! Nothing is applied of one that is refused. No turn begins in between: a prompt
//! that came right behind it runs with all that it asked for.

use super::ENDED;
use crate::agent::catalog::raw;
use crate::agent::hooks::{About, Occasion};
use crate::agent::{AgentSession, Handshake, Stage};
use crate::effect::{EffectId, Request};
use crate::hook::{Callback, Hook, HookEvent, Matcher};
use crate::json::RawJson;
use crate::schema::inbound::{HookRegistration, Initialize, UNKNOWN_KIND_CHARS};
use crate::schema::payload::{AgentDescriptor, InitializeApplied};
use crate::structured::OutputSchema;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// An `initialize` that is being applied.
#[derive(Debug)]
pub(in crate::agent) struct Initializing {
    /// The host's request.
    id: String,
    step: Step,
}

#[derive(Debug)]
enum Step {
    /// Its schema is looked at; nothing is applied yet.
    Reading {
        effect: EffectId,
        schema: OutputSchema,
        asked: Box<Initialize>,
    },
    /// It is applied, and the patterns of its hooks are resolved.
    Matching(InitializeApplied),
}

/// What prompts are told while no `initialize` has succeeded.
pub(in crate::agent) const REJECTED: &str =
    "initialize was refused; send one that can be applied first";

/// What prompts are told that waited for an `initialize` to the end.
const NEVER_CAME: &str = "the input ended before initialize, which this session waits for";

impl AgentSession {
    /// Applies `initialize`, once (DEC-19).
    pub(super) fn initialize_with(&mut self, id: &str, request: &RawJson) {
        if self.handshake == Handshake::Done || self.initializing.is_some() {
            return self.already_initialized(id);
        }
        let read = Initialize::parse(request).and_then(|asked| {
            let most = self.config.limits.hook_callbacks;
            let callbacks: usize = asked.hooks.iter().map(|hook| hook.callbacks.len()).sum();
            if callbacks > most {
                let fault = format!("initialize: hooks: expected at most {most} callbacks");
                return Err(fault);
            }
            self.check_agents(id, &asked)?;
            let schema = asked.json_schema.as_ref().map(|schema| {
                OutputSchema::parse(schema.as_str().as_bytes(), &self.config.limits)
                    .map_err(|fault| format!("initialize: jsonSchema: {fault}"))
            });
            Ok((asked, schema.transpose()?))
        });
        let id = id.to_string();
        match read {
            Err(error) => self.reject_initialize(&id, error),
            Ok((asked, None)) => self.apply_initialize(id, &asked),
            Ok((asked, Some(schema))) => {
                let effect = self.start(Request::ReadSchema(schema.clone()));
                let asked = Box::new(asked);
                let step = Step::Reading {
                    effect,
                    schema,
                    asked,
                };
                self.initializing = Some(Initializing { id, step });
            }
        }
    }

    /// The answer names the agents, and has to fit a record.
    fn check_agents(&self, id: &str, asked: &Initialize) -> Result<(), String> {
        let mut answer = self.config.initialize.clone();
        answer.set_agents(self.agents_of(asked));
        if self.fits_record(id, &raw(&answer)) {
            return Ok(());
        }
        let most = self.config.limits.reference_record_bytes;
        Err(format!(
            "initialize: agents: their names and descriptions do not fit the answer, which has \
             {most} bytes at most"
        ))
    }

    fn agents_of(&self, asked: &Initialize) -> Vec<AgentDescriptor> {
        let agents = asked.agents.iter();
        let agents = agents.map(|(name, description)| AgentDescriptor {
            // The answer names them, which no routing value may be part of (DEC-30).
            name: self.placeless(name),
            description: self.placeless(description),
        });
        agents.collect()
    }

    /// Refuses it, and every prompt that counted on it (DEC-38).
    fn reject_initialize(&mut self, id: &str, error: String) {
        self.handshake = Handshake::Rejected;
        self.refuse(id, error);
        self.reject_waiting(REJECTED);
    }

    fn reject_waiting(&mut self, reason: &str) {
        while let Some(prompt) = self.queue.pop() {
            self.reject(prompt.into(), reason.to_string());
        }
    }

    /// Whether turns wait for an `initialize`.
    pub(in crate::agent) fn is_initializing(&self) -> bool {
        self.initializing.is_some() || self.awaits_initialize()
    }

    fn awaits_initialize(&self) -> bool {
        let reference = self.config.profile.reference();
        self.stage == Stage::Open
            && self.handshake == Handshake::Untouched
            && reference.is_some_and(|reference| reference.await_initialize)
    }

    /// The input is about to end. What waits for an `initialize` that did not
    /// come does not run without what it would have brought.
    pub(in crate::agent) fn give_up_initialize(&mut self) {
        if self.awaits_initialize() && self.initializing.is_none() {
            self.reject_waiting(NEVER_CAME);
        }
    }

    /// Ends an `initialize` that is being applied, because the session does.
    pub(in crate::agent) fn drop_initialize(&mut self) {
        let Some(Initializing { id, step }) = self.initializing.take() else {
            return;
        };
        if let Step::Reading { effect, .. } = step {
            self.cancel_effect(effect);
        }
        self.refuse(&id, format!("initialize: {ENDED}"));
    }

    /// Its schema was looked at.
    pub(in crate::agent) fn schema_read(&mut self, id: EffectId, read: Result<(), String>) {
        match self.initializing.take() {
            Some(Initializing {
                id: request,
                step:
                    Step::Reading {
                        effect,
                        schema,
                        asked,
                    },
            }) if effect == id => match read {
                Ok(()) => {
                    self.require_output(Some(schema));
                    self.apply_initialize(request, &asked);
                }
                Err(fault) => {
                    let error = format!("initialize: jsonSchema: {fault}");
                    self.reject_initialize(&request, error);
                }
            },
            other => self.initializing = other,
        }
    }

    fn apply_initialize(&mut self, id: String, asked: &Initialize) {
        self.handshake = Handshake::Done;
        self.prompt_suggestions = asked.prompt_suggestions;
        self.set_prompt(asked);
        let agents = self.agents_of(asked);
        Arc::make_mut(&mut self.config)
            .initialize
            .set_agents(agents);
        let applied = InitializeApplied {
            hooks: self.register_hooks(asked),
            mcp_servers: self.add_servers_of(asked),
            plugins: asked.plugins.is_empty(),
        };
        if !applied.plugins {
            self.warn("initialize: plugins: none can be loaded here");
        }
        let step = Step::Matching(applied);
        self.initializing = Some(Initializing { id, step });
        self.tools_changed();
        self.go_on_initializing();
    }

    /// Answers, once nothing is to be resolved any more.
    pub(in crate::agent) fn go_on_initializing(&mut self) {
        if self.hooks.matching.is_some() {
            return;
        }
        match self.initializing.take() {
            Some(Initializing {
                id,
                step: Step::Matching(applied),
            }) => {
                self.send_applied(&id, applied);
                let callbacks = self.config.hooks.of(HookEvent::SessionStart, None);
                let is_callback = |place: &usize| {
                    let hook = self.config.hooks.list.get(*place);
                    hook.is_some_and(|hook| hook.callback.is_some())
                };
                let callbacks: Vec<_> = callbacks.into_iter().filter(is_callback).collect();
                // The hooks of the settings were told when the session began.
                let _ = self.begin_those(&callbacks, Occasion::Start, About::Session);
            }
            other => self.initializing = other,
        }
    }

    /// A prompt of the host replaces the system prompt, an empty one by nothing;
    /// what is to be appended stands behind either.
    fn set_prompt(&mut self, asked: &Initialize) {
        let base = match &asked.system_prompt {
            Some(prompt) => Some(prompt.clone()),
            None => self.config.system.as_deref().map(String::from),
        };
        let parts = [base, asked.append_system_prompt.clone()];
        let parts = parts.into_iter().flatten();
        let parts: Vec<String> = parts.filter(|part| !part.trim().is_empty()).collect();
        let prompt = (!parts.is_empty()).then(|| self.safe(&parts.join("\n\n")).into());
        Arc::make_mut(&mut self.config).system.clone_from(&prompt);
        self.agent_loop.set_system(prompt);
    }

    /// The servers that a host lists; whether each is accepted.
    fn add_servers_of(&mut self, asked: &Initialize) -> bool {
        let names = asked.sdk_servers.iter();
        let accepted = self.add_sdk_servers(names.map(|name| name.as_str().into()).collect());
        let Some(listed) = &asked.mcp_servers else {
            return accepted;
        };
        let (wanted, errors) = self.wanted_servers(listed);
        let accepted = self.add_sdk_servers(wanted) && accepted && errors.is_empty();
        // A list has no names to call its servers by.
        let named = listed.is_object() || listed.as_str() == "[]";
        if !named {
            self.warn("initialize: mcpServers: expected servers by their names");
        }
        let fault = |(name, fault)| format!("initialize: mcpServers: {name:?}: {fault}");
        self.warn_of_servers(errors.into_iter().map(fault));
        accepted && named
    }

    /// Registers callbacks behind the hooks that there are; false if one is lost
    /// whose failure is to block.
    fn register_hooks(&mut self, asked: &Initialize) -> bool {
        for unknown in &asked.unknown_events {
            // Half a credential is none to the guard.
            let name = self.placeless(&unknown.name);
            let name: String = name.chars().take(UNKNOWN_KIND_CHARS).collect();
            self.warn(format!(
                "initialize: hooks: the unknown event {name:?} was ignored"
            ));
        }
        let mut hooks = self.config.hooks.list.to_vec();
        for registration in &asked.hooks {
            if registration.event == HookEvent::PreCompact {
                self.warn(format!(
                    "initialize: {}: conversations are not shortened yet; this hook never runs",
                    registration.place
                ));
            }
            hooks.extend(self.hooks_of_registration(registration));
        }
        Arc::make_mut(&mut self.config).hooks.list = hooks.into();
        let asks = self.config.hooks.any(HookEvent::Stop);
        self.agent_loop.set_asks_before_stop(asks);
        !asked.unknown_events.iter().any(|unknown| unknown.blocks)
    }

    fn hooks_of_registration(&self, of: &HookRegistration) -> Vec<Hook> {
        let pattern = of.matcher.as_deref();
        let pattern = pattern.filter(|pattern| !pattern.is_empty() && *pattern != "*");
        // What an event without a tool is matched against is nothing.
        let pattern = pattern.filter(|_| of.event.is_about_tool());
        let timeout = of
            .timeout
            .unwrap_or(self.config.limits.hook_callback_timeout);
        let hook = |id: &String| Hook {
            event: of.event,
            matcher: Matcher::All,
            pattern: pattern.map(Arc::from),
            timeout,
            callback: Some(Callback {
                id: id.as_str().into(),
                failure_passes: of.failure_passes,
            }),
        };
        of.callbacks.iter().map(hook).collect()
    }
}
