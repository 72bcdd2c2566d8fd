//! Judging a call: hooks, rules and the mode, and the question if one is needed
//! (DEC-31).
//!
//! ```text
//! PreToolUse hooks -> deny, or an input and a wish
//! rules and mode   -> allow | deny            no question
//!                  -> ask                     a question (`questions`)
//! ```

use super::AgentSession;
use super::hooks::{About, DENIED, Occasion};
use crate::agent_loop::LoopInput;
use crate::effect::Request;
use crate::hook::{Combined, Decision, HookEvent};
use crate::json::RawJson;
use crate::mark::mark;
use crate::plant::planted;
use crate::policy::{Judgement, Question, string_member};
use crate::schema::outbound::PermissionDenial;
use crate::schema::permission::{
    Behavior, Destination, PermissionMode, PermissionRule, PermissionUpdate, RulesAction,
    RulesUpdate,
};
use crate::text::cut;
use crate::tool::{Access, ToolCall, ToolClass, ToolOutcome, ToolSpec};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// Beginning of every denial that a failed question makes (WIRE-PERM-002).
pub(super) const FAILED: &str = "Tool permission request failed:";

/// The reason of a question that a hook asks for without giving one.
const HOOK_ASKS: &str = "A hook asks for permission.";

/// Why a hook gets no question in a mode that asks none.
const DONT_ASK: &str = "A hook asks for a question, and the permission mode is dontAsk.";

/// Characters of a command shown in a description.
const DESCRIPTION_CHARS: usize = 200;

impl AgentSession {
    /// Begins to decide about a call; gives the loop's next input unless a hook
    /// or a question is waited for.
    pub(super) fn decide(&mut self, place: usize, call: &ToolCall) -> Option<LoopInput> {
        if self.hooks.matching.is_some() {
            // Nobody knows yet which hooks are for this tool.
            self.hooks.undecided.push((place, call.clone()));
            return None;
        }
        let occasion = Occasion::Call {
            place,
            call: call.clone(),
        };
        match self.begin_hooks(occasion, About::Call(call)) {
            Ok(()) => None,
            Err(_) => self.judge(place, call, Combined::default()),
        }
    }

    /// Judges a call with what hooks said about it.
    pub(super) fn judge(
        &mut self,
        place: usize,
        call: &ToolCall,
        said: Combined,
    ) -> Option<LoopInput> {
        let tool = self.agent_loop.tool(&call.name)?.clone();
        if let Decision::Deny(reason) = said.decision {
            let reason = if reason.trim().is_empty() {
                DENIED.to_string()
            } else {
                reason
            };
            return Some(self.deny(place, call, reason));
        }
        let rewritten = said.updated_input;
        if let Some(input) = &rewritten
            && let Err(text) = self.check_rewritten(HookEvent::PreToolUse, input)
        {
            let outcome = ToolOutcome::error(text);
            return Some(LoopInput::Settle { place, outcome });
        }
        let call = ToolCall {
            input: rewritten.clone().unwrap_or_else(|| call.input.clone()),
            ..call.clone()
        };
        let question = match (said.decision, self.policy.judge(&tool, &call.input)) {
            (Decision::Allow(_), _) if !self.policy.may_forbid(&tool, &call.input) => {
                if let Some(reason) = self.policy.forbids(&tool, &call.input) {
                    return Some(self.deny(place, &call, reason.to_string()));
                }
                self.apply_updates(&said.updates);
                let (access, input) = (Access::Granted, rewritten);
                return Some(LoopInput::Allow {
                    place,
                    access,
                    input,
                });
            }
            (_, Judgement::Deny(reason)) => {
                return Some(self.deny(place, &call, reason.to_string()));
            }
            (Decision::Ask(reason), judgement) => match self.asked_by_hook(reason, judgement) {
                Ok(question) => question,
                Err(reason) => return Some(self.deny(place, &call, reason)),
            },
            (
                _,
                Judgement::Ask(Question {
                    decision_reason,
                    blocked_path,
                }),
            ) => (decision_reason.map(ToString::to_string), blocked_path),
            (_, Judgement::Allow(access)) => {
                return Some(LoopInput::Allow {
                    place,
                    access,
                    input: rewritten,
                });
            }
        };
        let hooks = self.hooks_of(HookEvent::PermissionRequest, Some(&call.name));
        if let Err(reason) = self.may_ask(!hooks.is_empty()) {
            mark!(self.marks, DEC_31);
            return Some(self.deny(place, &call, reason));
        }
        self.ask_about(place, &call, rewritten, question);
        None
    }

    /// The question that a hook asks for: its reason, and the path that the
    /// rules would ask about.
    fn asked_by_hook(
        &self,
        reason: String,
        judgement: Judgement,
    ) -> Result<(Option<String>, Option<String>), String> {
        if self.policy.mode() == PermissionMode::DontAsk {
            return Err(DONT_ASK.to_string());
        }
        let reason = if reason.trim().is_empty() {
            HOOK_ASKS.to_string()
        } else {
            self.safe(&reason)
        };
        let path = match judgement {
            Judgement::Ask(question) => question.blocked_path,
            Judgement::Allow(_) | Judgement::Deny(_) => None,
        };
        Ok((Some(reason), path))
    }

    /// What a host may answer with so that this tool is not asked about again.
    /// Nothing for `Bash`, whose calls differ too much, and nothing outside the
    /// profile `reference`.
    pub(super) fn suggestions(&self, name: &str) -> Option<Vec<PermissionUpdate>> {
        let tool = self.agent_loop.tool(name)?;
        let suggests = tool.class == ToolClass::Edit || self.policy.declares(name);
        if !suggests || !self.config.profile.is_reference() {
            return None;
        }
        let rule = PermissionRule {
            tool_name: name.to_string(),
            rule_content: None,
        };
        Some(vec![PermissionUpdate::Rules(RulesUpdate {
            action: RulesAction::Add,
            rules: vec![rule],
            behavior: Behavior::Allow,
            destination: Destination::LocalSettings,
        })])
    }

    fn deny(&mut self, place: usize, call: &ToolCall, reason: String) -> LoopInput {
        LoopInput::Settle {
            place,
            outcome: self.denial(call, reason),
        }
    }

    pub(super) fn denial(&mut self, call: &ToolCall, reason: String) -> ToolOutcome {
        if let Some(turn) = &mut self.turn {
            turn.denials.push(PermissionDenial {
                tool_name: Arc::clone(&call.name),
                tool_use_id: Arc::clone(&call.id),
                tool_input: call.input.clone(),
            });
        }
        ToolOutcome::error(reason)
    }

    /// In list order; only settings files are persisted (WIRE-PERM-030).
    pub(super) fn apply_updates(&mut self, updates: &[PermissionUpdate]) {
        let before = self.policy.mode();
        for update in updates {
            mark!(self.marks, WIRE_PERM_030);
            self.policy.apply(update);
        }
        self.tell_mode(before);
        if self.config.profile.is_reference() {
            // What `get_settings` tells is what holds.
            let cwd = self.config.cwd.clone();
            let settings = &mut Arc::make_mut(&mut self.config).settings;
            for update in updates {
                settings.store(update, &cwd);
            }
        }
        let stored: Vec<_> = updates
            .iter()
            .filter(|update| {
                update.destination().is_persisted() || planted!(self.planted, WirePerm030)
            })
            .cloned()
            .collect();
        if !stored.is_empty() {
            self.start(Request::Persist(stored));
        }
    }
}

/// What a call does, for the person who is asked. Falls back to the tool's name
/// (WIRE-PERM-003).
pub(super) fn describe(tool: &ToolSpec, input: &RawJson) -> String {
    let shown = |member: &str| string_member(input, member).filter(|text| !text.trim().is_empty());
    let activity = shown("description")
        .or_else(|| shown("command").map(|command| format!("Run: {command}")))
        .or_else(|| {
            tool.path_member
                .and_then(shown)
                .map(|path| format!("{} {path}", tool.name))
        });
    match activity {
        Some(text) => cut(&text, DESCRIPTION_CHARS).into_owned(),
        None => tool.name.to_string(),
    }
}
