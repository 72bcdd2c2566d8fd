//! Open questions: who races for each, and what its ruling does
//! (WIRE-PERM-001 to 004, 020 to 060, 080).
//!
//! ```text
//! ask: requires_action, can_use_tool, hooks -> Race
//! ruling of the host  -> applied
//! ruling of the hooks -> control_cancel_request, then applied
//! ```

use super::hooks::{About, DENIED};
use super::permission::{FAILED, describe};
use super::requests::Purpose;
use super::{AgentSession, Output, Stage, records};
use crate::agent_loop::LoopInput;
use crate::correlate::RequestId;
use crate::effect::{EffectId, Reply};
use crate::hook::{Combined, Decision, HookEvent};
use crate::json::{RawJson, Writer};
use crate::mark::mark;
use crate::plant::planted;
use crate::race::{Race, RaceEvent, Ruling};
use crate::schema::inbound::{ControlResponse, ResponseBody};
use crate::schema::outbound::{
    CanUseTool, HostRequest, RequiresAction, SessionState, StateChanged,
};
use crate::schema::permission::{Allow, AnswerFault, Deny, PermissionAnswer, PermissionMode};
use crate::tool::{Access, NETWORK_TOOL, ToolCall};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;

/// What is asked about.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    /// A call of the model.
    Call {
        /// Its place in the batch.
        place: usize,
        /// The input that hooks made of that of the model, if they did.
        rewritten: Option<RawJson>,
    },
    /// A connection that a running tool wants.
    Network {
        /// The run.
        effect: EffectId,
        /// Where to.
        host: String,
    },
}

/// An open question.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) subject: Subject,
    call: ToolCall,
    race: Race,
    /// The request to the host, if it is asked.
    request: Option<RequestId>,
}

/// What a call is told that nobody can be asked about.
pub(super) const NOBODY: &str = "This call needs permission, and nobody can be asked.";

impl AgentSession {
    /// Asks the host, if it can be asked, and the hooks.
    pub(super) fn ask(&mut self, subject: Subject, request: CanUseTool) {
        let call = ToolCall {
            id: Arc::clone(&request.tool_use_id),
            name: Arc::clone(&request.tool_name),
            input: request.input.clone(),
        };
        let host = self.config.host_answers && self.stage == Stage::Open;
        let hooks = self.hooks_of(HookEvent::PermissionRequest, Some(&call.name));
        let group = self.next_group();
        let request = host.then(|| self.ask_host(group, request));
        let question = Question {
            subject,
            call: call.clone(),
            race: Race::new(host && !planted!(self.planted, WirePerm001), hooks.len()),
            request,
        };
        self.questions.insert(group, question);
        self.run_hooks(
            group,
            HookEvent::PermissionRequest,
            &hooks,
            About::Call(&call),
        );
    }

    /// Publishes `requires_action` and sends the question; both share their
    /// identifiers and the input (WIRE-PERM-023).
    fn ask_host(&mut self, question: u64, request: CanUseTool) -> RequestId {
        let asked = HostRequest::CanUseTool(request.clone());
        let id = self.register_request(asked.clone(), Purpose::Question(question), None);
        mark!(self.marks, WIRE_PERM_020);
        mark!(self.marks, WIRE_PERM_023);
        let early = planted!(self.planted, WirePerm023);
        if early {
            self.send_request(&id, asked.clone());
        }
        self.state = SessionState::RequiresAction;
        self.tell_state(StateChanged::requires_action(RequiresAction {
            request_id: id.shared(),
            tool_name: Arc::clone(&request.tool_name),
            tool_use_id: Arc::clone(&request.tool_use_id),
            description: request.description.clone().unwrap_or_default(),
            input: request.input,
        }));
        if !early {
            self.send_request(&id, asked);
        }
        id
    }

    /// The question about a call of the model.
    pub(super) fn ask_about(
        &mut self,
        place: usize,
        call: &ToolCall,
        rewritten: Option<RawJson>,
        question: (Option<String>, Option<String>),
    ) {
        let (decision_reason, blocked_path) = question;
        mark!(self.marks, WIRE_PERM_003);
        if decision_reason.is_some() {
            mark!(self.marks, WIRE_PERM_022);
        }
        let description = self
            .agent_loop
            .tool(&call.name)
            .map_or_else(|| call.name.to_string(), |tool| describe(tool, &call.input));
        let request = CanUseTool {
            permission_suggestions: self.suggestions(&call.name),
            blocked_path,
            decision_reason,
            description: Some(description),
            ..CanUseTool::new(
                Arc::clone(&call.name),
                call.input.clone(),
                Arc::clone(&call.id),
            )
        };
        self.ask(Subject::Call { place, rewritten }, request);
    }

    /// A running tool wants to connect somewhere (WIRE-PERM-004, WIRE-PERM-080).
    pub(super) fn ask_network(&mut self, effect: EffectId, host: String) {
        let subject = Subject::Network {
            effect,
            host: host.clone(),
        };
        mark!(self.marks, WIRE_PERM_080);
        let host = self.safe(&host);
        let mut input = Writer::new();
        input.begin_object();
        input.member_str("host", &host);
        input.end_object();
        let input = RawJson::parse_bytes(&input.finish());
        let id = self.ids.tagged("toolu_");
        let request = CanUseTool {
            description: Some(format!("Allow network connection to {host}?")),
            ..CanUseTool::new(
                NETWORK_TOOL.into(),
                input.unwrap_or_else(|_| RawJson::empty_object()),
                id.into(),
            )
        };
        let asks_hooks = !self
            .hooks_of(HookEvent::PermissionRequest, Some(NETWORK_TOOL))
            .is_empty();
        // What would ask is denied in this mode, whoever asks.
        let silent = self.policy.mode() == PermissionMode::DontAsk;
        if !silent && self.may_ask(asks_hooks).is_ok() {
            return self.ask(subject, request);
        }
        self.answer_subject(subject, None);
    }

    /// Whether a question can be put to anybody; else why not.
    pub(super) fn may_ask(&self, hooks: bool) -> Result<(), String> {
        if !self.config.host_answers {
            return if hooks {
                Ok(())
            } else {
                Err(NOBODY.to_string())
            };
        }
        // After the end of input nobody could answer (WIRE-008, DEC-14).
        if self.stage == Stage::Open {
            Ok(())
        } else {
            Err(format!("{FAILED} the permission stream is closed."))
        }
    }

    // ---- events ---------------------------------------------------------------------

    /// The host's answer to a question.
    pub(super) fn question_answered(&mut self, group: u64, response: ControlResponse) {
        let answer = match response.body {
            ResponseBody::Success { payload, .. } => {
                let answer = self.read_answer(payload.as_ref());
                if answer == Err(AnswerFault::Missing("updatedInput")) {
                    mark!(self.marks, WIRE_PERM_040);
                }
                answer.map_err(|fault| {
                    mark!(self.marks, WIRE_PERM_051);
                    fault.to_string()
                })
            }
            ResponseBody::Error { .. } if planted!(self.planted, WirePerm002Host) => {
                let allow = RawJson::parse(r#"{"behavior":"allow","updatedInput":{}}"#).ok();
                self.read_answer(allow.as_ref())
                    .map_err(|fault| fault.to_string())
            }
            ResponseBody::Error { message, .. } => Err(message),
            ResponseBody::Invalid { reason } => {
                mark!(self.marks, WIRE_009);
                Err(reason)
            }
        };
        let event = match answer {
            Ok(PermissionAnswer::Allow(allow)) => RaceEvent::HostAllows(allow),
            Ok(PermissionAnswer::Deny(deny)) => RaceEvent::HostDenies(deny),
            Err(why) => RaceEvent::HostFailed(why),
        };
        self.race(group, event);
    }

    fn read_answer(&self, payload: Option<&RawJson>) -> Result<PermissionAnswer, AnswerFault> {
        if self.config.profile.is_reference() || planted!(self.planted, WirePerm040) {
            PermissionAnswer::parse_reference(payload)
        } else {
            PermissionAnswer::parse(payload)
        }
    }

    /// Something happened in a race; the first decisive event settles it.
    pub(super) fn race(&mut self, group: u64, event: RaceEvent) {
        let Some(ruling) = self
            .questions
            .get_mut(&group)
            .and_then(|question| question.race.on(event))
        else {
            return;
        };
        let Some(question) = self.questions.remove(&group) else {
            return;
        };
        mark!(self.marks, WIRE_PERM_060);
        self.dismiss_hooks(group);
        if let Some(id) = &question.request
            && (self.waiters.abort(id).is_some() || planted!(self.planted, WirePerm001Cancel))
        {
            mark!(self.marks, WIRE_PERM_001);
            self.send(&records::cancel_request(id.as_str()));
        }
        match ruling {
            Ruling::HostAllows(allow) => self.host_allows(question, &allow),
            Ruling::HostDenies(deny) => self.host_denies(question, deny),
            Ruling::HostFailed(_) if planted!(self.planted, WirePerm060) => self.back_to_running(),
            Ruling::HostFailed(why) => {
                mark!(self.marks, WIRE_PERM_002);
                self.refuse_question(question, format!("{FAILED} {why}"));
            }
            Ruling::Hooks(said) => self.hooks_rule(question, said),
            Ruling::Nobody => self.refuse_question(question, NOBODY.to_string()),
            Ruling::Aborted => self.back_to_running(),
        }
    }

    // ---- rulings --------------------------------------------------------------------

    fn host_allows(&mut self, question: Question, allow: &Allow) {
        if allow.updates_dropped() {
            mark!(self.marks, WIRE_PERM_044);
            self.warn(
                "updatedPermissions of a permission answer are invalid; none of them was applied",
            );
        }
        self.apply_updates(allow.updates());
        if allow.updated_input().is_none() {
            mark!(self.marks, WIRE_PERM_041);
        }
        self.back_to_running();
        self.answer_subject(question.subject, Some(allow.updated_input().cloned()));
    }

    fn host_denies(&mut self, question: Question, deny: Deny) {
        mark!(self.marks, WIRE_PERM_042);
        if deny.interrupt {
            self.deny_and_interrupt(question, deny.message);
        } else {
            self.refuse_question(question, deny.message);
        }
    }

    fn deny_and_interrupt(&mut self, question: Question, message: String) {
        let outcome = self.denial(&question.call, message);
        self.withdraw_questions();
        self.back_to_running();
        let first = match question.subject {
            Subject::Call { place, .. } => Some((place, outcome)),
            Subject::Network { .. } => None,
        };
        self.cancel_turn(first);
    }

    /// The hooks were first (WIRE-PERM-001).
    fn hooks_rule(&mut self, question: Question, mut said: Combined) {
        self.tell_people(HookEvent::PermissionRequest, &said);
        self.tell_model(core::mem::take(&mut said.context));
        if said.interrupt
            && let Decision::Deny(message) = said.decision
        {
            return self.deny_and_interrupt(question, message);
        }
        self.halt(&said);
        let allowed = match said.decision {
            Decision::Allow(_) => self.hooks_allow(&question, said.updated_input),
            Decision::Deny(reason) if said.failed => Err(format!("{FAILED} {reason}")),
            Decision::Deny(reason) if reason.trim().is_empty() => Err(DENIED.to_string()),
            Decision::Deny(reason) => Err(reason),
            Decision::Pass | Decision::Ask(_) => Err(NOBODY.to_string()),
        };
        match allowed {
            Ok(input) => {
                self.apply_updates(&said.updates);
                self.back_to_running();
                self.answer_subject(question.subject, Some(input));
            }
            Err(reason) => self.refuse_question(question, reason),
        }
    }

    /// An input that hooks made is checked and judged again (DEC-18), and no
    /// hook lifts a rule that denies (DEC-31).
    fn hooks_allow(
        &self,
        question: &Question,
        input: Option<RawJson>,
    ) -> Result<Option<RawJson>, String> {
        let Subject::Call { .. } = question.subject else {
            return Ok(None);
        };
        if let Some(input) = &input {
            self.check_rewritten(HookEvent::PermissionRequest, input)?;
        }
        let judged = input.as_ref().unwrap_or(&question.call.input);
        let tool = self.agent_loop.tool(&question.call.name);
        match tool.and_then(|tool| self.policy.forbids(tool, judged)) {
            Some(reason) => Err(reason.to_string()),
            None => Ok(input),
        }
    }

    /// Checks the input that a hook wrote.
    pub(super) fn check_rewritten(&self, event: HookEvent, input: &RawJson) -> Result<(), String> {
        let event = event.as_str();
        self.agent_loop
            .check_input(input)
            .map_err(|fault| format!("A {event} hook rewrote the input of this call: {fault}"))
    }

    fn refuse_question(&mut self, question: Question, reason: String) {
        let outcome = self.denial(&question.call, reason);
        self.back_to_running();
        match question.subject {
            Subject::Call { place, .. } => self.feed_loop(LoopInput::Settle { place, outcome }),
            subject @ Subject::Network { .. } => self.answer_subject(subject, None),
        }
    }

    /// Lets the subject go on, with another input where one is given, or
    /// refuses a connection.
    fn answer_subject(&mut self, subject: Subject, allowed: Option<Option<RawJson>>) {
        match (subject, allowed) {
            (Subject::Network { effect, host }, allowed) => {
                mark!(self.marks, WIRE_PERM_004);
                let allowed = allowed.is_some();
                let reply = Reply::Network { host, allowed };
                self.out.push_back(Output::Reply(effect, reply));
            }
            (Subject::Call { place, rewritten }, Some(input)) => {
                self.feed_loop(LoopInput::Allow {
                    place,
                    access: Access::Granted,
                    input: if planted!(self.planted, WirePerm041) {
                        rewritten.or(input)
                    } else {
                        input.or(rewritten)
                    },
                });
            }
            // Denials of calls settle them with a text instead.
            (Subject::Call { .. }, None) => {}
        }
    }

    // ---- endings --------------------------------------------------------------------

    /// Whether a question to the host is open.
    fn asks_host(&self) -> bool {
        let asks = |purpose: &Purpose| matches!(purpose, Purpose::Question(_));
        self.waiters
            .iter()
            .any(|pending| asks(&pending.waiter.purpose))
    }

    /// `running` again once no question is open.
    pub(super) fn back_to_running(&mut self) {
        if !self.asks_host() && self.state == SessionState::RequiresAction {
            self.set_state(SessionState::Running);
        }
    }

    /// Takes every open question back, and whatever else the turn waits for at the
    /// host, in registration order (WIRE-PERM-070, DEC-37).
    pub(super) fn withdraw_questions(&mut self) {
        self.withdraw_requests(false);
        for question in self.questions.values_mut() {
            question.race.on(RaceEvent::Abort);
        }
        self.questions.clear();
    }

    /// Nobody answers a question any more: it is denied (WIRE-PERM-002).
    pub(super) fn question_failed(&mut self, group: u64, why: String) {
        self.race(group, RaceEvent::HostFailed(why));
    }
}
