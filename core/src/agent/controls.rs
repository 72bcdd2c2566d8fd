//! Control requests of the host, and its answers to ours.

use super::{AgentSession, Event, Handshake, Output};
use crate::correlate::Unmatched;
use crate::json::RawJson;
use crate::mark::mark;
use crate::plant::planted;
use crate::schema::inbound::{self, ControlRequest, Operation, ResponseBody};
use crate::schema::outbound::{Answer, ControlResponse, Outbound};
use alloc::format;
use alloc::string::{String, ToString};

/// Why the three operations with fixed answers fail (WIRE, Control operations).
const SET_MODEL: &str =
    "the provider and its model are fixed for this process; restart with --provider <id>";
const SET_PERMISSION_MODE: &str = "the permission mode cannot be changed while the session runs; start a new session with --permission-mode <mode>";
const SET_THINKING: &str = "reasoning effort is declared by the provider entry and is no mutable thinking-token budget; restart with --provider <id>";

impl AgentSession {
    pub(super) fn control_request(&mut self, request: ControlRequest) {
        let ControlRequest { id, operation } = request;
        let operation = match operation {
            Ok(operation) => operation,
            Err(error) => {
                mark!(self.marks, DEC_07);
                return self.refuse(&id, error);
            }
        };
        if let Operation::Initialize { extra_fields } = operation {
            return self.initialize(&id, extra_fields);
        }
        if let Operation::Shared(operation) = operation {
            return self.shared_operation(&id, operation);
        }
        let name = name_of(&operation);
        match operation {
            Operation::Interrupt { extra_fields: true }
            | Operation::GetContextUsage { extra_fields: true }
            | Operation::McpStatus { extra_fields: true } => {
                self.refuse(&id, format!("{name} does not accept operation fields"));
            }
            Operation::Interrupt { .. } => self.interrupt_turn(Some(&id)),
            Operation::GetContextUsage { .. } => {
                let payload = self.context_usage();
                self.answer(&id, Some(payload));
            }
            Operation::McpStatus { .. } => {
                let payload = self.mcp_status();
                self.answer(&id, Some(payload));
            }
            Operation::SetModel => {
                mark!(self.marks, WIRE_025);
                self.refuse(&id, SET_MODEL.to_string());
            }
            Operation::SetPermissionMode => self.refuse(&id, SET_PERMISSION_MODE.to_string()),
            Operation::SetMaxThinkingTokens => self.refuse(&id, SET_THINKING.to_string()),
            Operation::Initialize { .. } | Operation::Shared(_) | Operation::Other(_) => {
                self.refuse_unsupported(&id, &name);
            }
        }
    }

    /// `initialize` takes no fields, and succeeds once (DEC-19, DEC-38).
    fn initialize(&mut self, id: &str, extra_fields: bool) {
        if self.handshake == Handshake::Done {
            return self.already_initialized(id);
        }
        if extra_fields {
            mark!(self.marks, DEC_38);
            self.handshake = Handshake::Rejected;
            return self.refuse(
                id,
                "initialize does not accept operation fields".to_string(),
            );
        }
        mark!(self.marks, WIRE_024);
        self.handshake = Handshake::Done;
        self.send_initialize_answer(id);
    }

    /// Refuses a second `initialize`, and tells what is open (DEC-19).
    pub(super) fn already_initialized(&mut self, id: &str) {
        mark!(self.marks, DEC_19);
        let pending = self.open_questions();
        let error = "already initialized".to_string();
        let mut response = ControlResponse::error(id.into(), error);
        if let Answer::Error(answer) = &mut response.response {
            answer.pending_permission_requests = Some(pending);
        }
        self.send(&Outbound::ControlResponse(response));
    }

    pub(super) fn answer(&mut self, id: &str, payload: Option<RawJson>) {
        self.send(&Outbound::ControlResponse(ControlResponse::success(
            id.into(),
            payload,
        )));
    }

    /// Answers an operation that is not installed (records, "anything else").
    pub(super) fn refuse_unsupported(&mut self, id: &str, name: &str) {
        self.refuse(id, format!("unsupported control request {name:?}"));
    }

    pub(super) fn refuse(&mut self, id: &str, error: String) {
        let error = self.safe(&error);
        self.send(&Outbound::ControlResponse(ControlResponse::error(
            id.into(),
            error,
        )));
    }

    pub(super) fn control_response(&mut self, response: inbound::ControlResponse) {
        if let Some(uuid) = &response.uuid {
            // Every response closes its lifecycle, late and orphaned ones too (WIRE-PERM-073).
            mark!(self.marks, WIRE_PERM_073);
            let event = Event::CommandClosed { uuid: uuid.clone() };
            self.out.push_back(Output::Event(event));
        }
        match self.waiters.resolve(&response.id) {
            Some(pending) => {
                if planted!(self.planted, Wire006)
                    && matches!(response.body, ResponseBody::Error { .. })
                {
                    let again = pending.clone();
                    let id = again.id.as_str().to_string();
                    self.waiters.register(id, again.tool_use_id, again.waiter);
                }
                self.resolve(pending, response);
            }
            None => self.unmatched(response),
        }
    }

    fn unmatched(&mut self, response: inbound::ControlResponse) {
        let ResponseBody::Success {
            payload,
            tool_use_id,
        } = response.body
        else {
            if self.waiters.unmatched(&response.id, None) != Unmatched::Late {
                self.warn("a control response matches no open request and was ignored");
            }
            return;
        };
        match self.waiters.unmatched(&response.id, tool_use_id.as_deref()) {
            Unmatched::Late | Unmatched::Duplicate => {}
            Unmatched::Orphan => {
                self.warn("a control response matches no open request and was ignored");
            }
            Unmatched::Admitted => {
                mark!(self.marks, DEC_49);
                if let (Some(tool_use_id), Some(payload)) = (tool_use_id, payload) {
                    self.out.push_back(Output::Event(Event::OrphanAnswer {
                        tool_use_id,
                        payload,
                    }));
                }
            }
        }
    }
}

fn name_of(operation: &Operation) -> String {
    match operation {
        Operation::Initialize { .. } => "initialize".to_string(),
        Operation::Interrupt { .. } => "interrupt".to_string(),
        Operation::GetContextUsage { .. } => "get_context_usage".to_string(),
        Operation::McpStatus { .. } => "mcp_status".to_string(),
        Operation::SetModel => "set_model".to_string(),
        Operation::SetPermissionMode => "set_permission_mode".to_string(),
        Operation::SetMaxThinkingTokens => "set_max_thinking_tokens".to_string(),
        Operation::Shared(operation) => operation.name().to_string(),
        Operation::Other(name) => name.clone(),
    }
}
