//! The permission question: judged here first, asked of the host if it must be,
//! answered once (WIRE-PERM-020 to 060).
//!
//! ```text
//! judge -> allow | deny            no question
//!       -> ask -> registered -> answered -> allow | deny
//!                            -> aborted  -> cancelled or denied
//! ```

use super::catalog::raw;
use super::{AgentSession, records};
use crate::agent_loop::LoopInput;
use crate::correlate::{Pending, RequestId};
use crate::effect::Request;
use crate::json::RawJson;
use crate::policy::{Judgement, Question, string_member};
use crate::schema::inbound::{ControlResponse, ResponseBody};
use crate::schema::outbound::{
    self, CanUseTool, ControlRequest, HostRequest, Outbound, PermissionDenial, RequiresAction,
    SessionState, StateChanged,
};
use crate::schema::permission::{Allow, Deny, PermissionAnswer, PermissionUpdate};
use crate::tool::{Access, ToolCall, ToolOutcome, ToolSpec};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Who waits for the host's answer.
#[derive(Clone, Debug)]
pub(super) struct Waiter {
    /// Place of the call in its batch.
    place: usize,
    call: ToolCall,
    request: CanUseTool,
}

fn envelope(id: &RequestId, request: CanUseTool) -> ControlRequest {
    ControlRequest {
        request_id: id.shared(),
        request: HostRequest::CanUseTool(request),
    }
}

/// Beginning of every denial that a failed question makes (WIRE-PERM-002).
const FAILED: &str = "Tool permission request failed:";

/// Characters of a command shown in a description.
const DESCRIPTION_CHARS: usize = 200;

impl AgentSession {
    /// Judges a call; gives the loop's next input unless a question is open.
    pub(super) fn decide(&mut self, place: usize, call: &ToolCall) -> Option<LoopInput> {
        let tool = self.agent_loop.tool(&call.name)?.clone();
        match self.policy.judge(&tool, &call.input) {
            Judgement::Allow(access) => Some(LoopInput::Allow {
                place,
                access,
                input: None,
            }),
            Judgement::Deny(reason) => Some(self.deny(place, call, reason.to_string())),
            Judgement::Ask(_) if !self.config.host_answers => {
                let reason = "This call needs permission, and nobody can be asked.".to_string();
                Some(self.deny(place, call, reason))
            }
            // After the end of input nobody could answer (WIRE-008, DEC-14).
            Judgement::Ask(_) if self.stage != super::Stage::Open => {
                let reason = format!("{FAILED} the permission stream is closed.");
                Some(self.deny(place, call, reason))
            }
            Judgement::Ask(question) => {
                self.ask(place, call, &tool, question);
                None
            }
        }
    }

    /// Every open question as it was sent, in registration order (DEC-19).
    pub(super) fn open_questions(&self) -> Vec<RawJson> {
        let envelope =
            |pending: &Pending<Waiter>| raw(&envelope(&pending.id, pending.waiter.request.clone()));
        self.waiters.iter().map(envelope).collect()
    }

    fn deny(&mut self, place: usize, call: &ToolCall, reason: String) -> LoopInput {
        LoopInput::Settle {
            place,
            outcome: self.denial(call, reason),
        }
    }

    fn denial(&mut self, call: &ToolCall, reason: String) -> ToolOutcome {
        if let Some(turn) = &mut self.turn {
            turn.denials.push(PermissionDenial {
                tool_name: Arc::clone(&call.name),
                tool_use_id: Arc::clone(&call.id),
                tool_input: call.input.clone(),
            });
        }
        ToolOutcome::error(reason)
    }

    /// Publishes `requires_action` and sends the question; both share their
    /// identifiers and the original input (WIRE-PERM-023).
    fn ask(&mut self, place: usize, call: &ToolCall, tool: &ToolSpec, question: Question) {
        let description = describe(tool, &call.input);
        let request = CanUseTool {
            blocked_path: question.blocked_path,
            decision_reason: question.decision_reason.map(ToString::to_string),
            description: Some(description.clone()),
            ..CanUseTool::new(
                Arc::clone(&call.name),
                call.input.clone(),
                Arc::clone(&call.id),
            )
        };
        let waiter = Waiter {
            place,
            call: call.clone(),
            request: request.clone(),
        };
        // Registered before the envelope can drain (WIRE-006).
        let id = self.ids.tagged("req_");
        let id = self
            .waiters
            .register(id, Some(Arc::clone(&call.id)), waiter);
        self.state = SessionState::RequiresAction;
        self.send(&Outbound::StateChanged(StateChanged::requires_action(
            RequiresAction {
                request_id: id.shared(),
                tool_name: Arc::clone(&call.name),
                tool_use_id: Arc::clone(&call.id),
                description,
                input: call.input.clone(),
            },
        )));
        self.send(&Outbound::ControlRequest(envelope(&id, request)));
    }

    /// Settles the waiter an answer selected.
    pub(super) fn resolve(&mut self, pending: Pending<Waiter>, response: ControlResponse) {
        if self.config.replay_user_messages
            && let Some(echo) = outbound::ControlResponse::echo(&response)
        {
            self.send(&Outbound::ControlResponse(echo));
        }
        let decision = match response.body {
            ResponseBody::Success { payload, .. } => PermissionAnswer::parse(payload.as_ref())
                .map_err(|fault| format!("{FAILED} {fault}")),
            ResponseBody::Error { message, .. } => Err(format!("{FAILED} {message}")),
            ResponseBody::Invalid { reason } => Err(format!("{FAILED} {reason}")),
        };
        let Waiter { place, call, .. } = pending.waiter;
        match decision {
            Ok(PermissionAnswer::Allow(allow)) => self.allowed(place, &allow),
            Ok(PermissionAnswer::Deny(deny)) => self.denied(place, &call, deny),
            Err(text) => {
                let settle = self.deny(place, &call, text);
                self.back_to_running();
                self.feed_loop(settle);
            }
        }
    }

    fn allowed(&mut self, place: usize, allow: &Allow) {
        if allow.updates_dropped() {
            self.warn(
                "updatedPermissions of a permission answer are invalid; none of them was applied",
            );
        }
        self.apply_updates(allow.updates());
        self.back_to_running();
        let input = allow.updated_input().cloned();
        self.feed_loop(LoopInput::Allow {
            place,
            access: Access::Granted,
            input,
        });
    }

    fn denied(&mut self, place: usize, call: &ToolCall, deny: Deny) {
        let outcome = self.denial(call, deny.message);
        if deny.interrupt {
            self.withdraw_questions();
            self.back_to_running();
            self.cancel_turn(Some((place, outcome)));
        } else {
            self.back_to_running();
            self.feed_loop(LoopInput::Settle { place, outcome });
        }
    }

    /// In list order; only settings files are persisted (WIRE-PERM-030).
    fn apply_updates(&mut self, updates: &[PermissionUpdate]) {
        for update in updates {
            self.policy.apply(update);
        }
        let stored: Vec<_> = updates
            .iter()
            .filter(|update| update.destination().is_persisted())
            .cloned()
            .collect();
        if !stored.is_empty() {
            self.start(Request::Persist(stored));
        }
    }

    /// `running` again once no question is open.
    pub(super) fn back_to_running(&mut self) {
        if self.waiters.is_empty() && self.state == SessionState::RequiresAction {
            self.set_state(SessionState::Running);
        }
    }

    /// Takes every open question back, in registration order (WIRE-PERM-070).
    pub(super) fn withdraw_questions(&mut self) {
        for pending in self.waiters.abort_all() {
            self.send(&records::cancel_request(pending.id.as_str()));
        }
    }

    /// Denies every open question because the input ended (WIRE-008, DEC-37).
    pub(super) fn close_questions(&mut self) {
        let open = self.waiters.abort_all();
        if open.is_empty() {
            return;
        }
        self.back_to_running();
        let mut settle = Vec::new();
        for pending in open {
            let Waiter { place, call, .. } = pending.waiter;
            let text = format!("{FAILED} the permission stream closed before an answer came.");
            settle.push(self.deny(place, &call, text));
        }
        for input in settle {
            self.feed_loop(input);
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
        Some(text) if text.chars().count() > DESCRIPTION_CHARS => {
            let mut cut: String = text.chars().take(DESCRIPTION_CHARS).collect();
            cut.push('…');
            cut
        }
        Some(text) => text,
        None => tool.name.to_string(),
    }
}
