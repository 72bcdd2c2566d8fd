//! Requests to the host: who waits for each answer, and how the waiting ends.
//!
//! ```text
//! send_request -> registered, then written (WIRE-006)
//!   an answer            -> answered
//!   its time is over     -> control_cancel_request, given up (DEC-48)
//!   an interrupt, EOF    -> control_cancel_request or nothing, closed (DEC-37)
//! ```

use super::{AgentSession, records};
use crate::correlate::{Pending, RequestId};
use crate::json::RawJson;
use crate::schema::inbound::ControlResponse;
use crate::schema::outbound::{self, ControlRequest, HostRequest, Outbound};
use crate::time::Instant;
use alloc::string::ToString as _;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Who waits for an answer of the host.
#[derive(Clone, Debug)]
pub(super) struct Waiter {
    /// What it was asked.
    pub(super) request: HostRequest,
    /// What for.
    pub(super) purpose: Purpose,
    /// When nobody waits any longer; `None` waits without limit.
    due: Option<Instant>,
}

/// What an answer of the host is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The open question of this group.
    Question(u64),
    /// This run of a hook.
    Hook(u64),
}

/// Why nobody waits any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    /// Its time is over.
    Late,
    /// The input has ended, so that no answer can come (WIRE-008).
    Eof,
}

fn envelope(id: &RequestId, request: HostRequest) -> ControlRequest {
    ControlRequest {
        request_id: id.shared(),
        request,
    }
}

impl AgentSession {
    /// Registers a request (WIRE-006), before anything about it is written.
    pub(super) fn register_request(
        &mut self,
        request: HostRequest,
        purpose: Purpose,
        due: Option<Instant>,
    ) -> RequestId {
        let call = match &request {
            HostRequest::CanUseTool(request) => Some(Arc::clone(&request.tool_use_id)),
            HostRequest::HookCallback(_)
            | HostRequest::McpMessage(_)
            | HostRequest::Elicitation(_) => None,
        };
        let waiter = Waiter {
            request,
            purpose,
            due,
        };
        let id = self.ids.tagged("req_");
        self.waiters.register(id, call, waiter)
    }

    /// Writes a request that is registered.
    pub(super) fn send_request(&mut self, id: &RequestId, request: HostRequest) {
        self.send(&Outbound::ControlRequest(envelope(id, request)));
    }

    /// Every open question as it was sent, in registration order (DEC-19).
    pub(super) fn open_questions(&self) -> Vec<RawJson> {
        let asks =
            |pending: &&Pending<Waiter>| matches!(pending.waiter.purpose, Purpose::Question(_));
        let envelope = |pending: &Pending<Waiter>| {
            super::catalog::raw(&envelope(&pending.id, pending.waiter.request.clone()))
        };
        self.waiters.iter().filter(asks).map(envelope).collect()
    }

    /// The host's answer to the request that it selected.
    pub(super) fn resolve(&mut self, pending: Pending<Waiter>, response: ControlResponse) {
        if self.config.replay_user_messages
            && let Some(echo) = outbound::ControlResponse::echo(&response)
        {
            self.send(&Outbound::ControlResponse(echo));
        }
        match pending.waiter.purpose {
            Purpose::Question(group) => self.question_answered(group, response),
            Purpose::Hook(run) => self.callback_answered(run, response),
        }
    }

    /// When the next request is given up.
    pub(super) fn requests_due(&self) -> Option<Instant> {
        self.waiters
            .iter()
            .filter_map(|pending| pending.waiter.due)
            .min()
    }

    /// Gives up the requests whose time is over, each with one cancellation
    /// (DEC-48).
    pub(super) fn give_up_requests(&mut self) {
        let late =
            |pending: &&Pending<Waiter>| pending.waiter.due.is_some_and(|due| due <= self.now);
        let late: Vec<RequestId> = self
            .waiters
            .iter()
            .filter(late)
            .map(|pending| pending.id.clone())
            .collect();
        if late.is_empty() {
            return;
        }
        for id in late {
            let Some(pending) = self.waiters.abort(&id) else {
                continue;
            };
            self.send(&records::cancel_request(id.as_str()));
            self.close_request(pending, Closing::Late);
        }
        // As after a tick, so that one before this input changes nothing (law 3).
        self.next_turn();
        self.store_waiting();
    }

    /// Ends every open request because the input ended, each by its own rule
    /// (WIRE-008, DEC-37).
    pub(super) fn close_requests(&mut self) {
        for pending in self.waiters.abort_all() {
            self.close_request(pending, Closing::Eof);
        }
    }

    fn close_request(&mut self, pending: Pending<Waiter>, why: Closing) {
        let text = match why {
            Closing::Late => "no answer came in time.",
            Closing::Eof => "the permission stream closed before an answer came.",
        };
        match pending.waiter.purpose {
            Purpose::Question(group) => self.question_failed(group, text.to_string()),
            Purpose::Hook(run) => self.callback_failed(run, text),
        }
    }
}
