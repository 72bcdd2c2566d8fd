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
use crate::mark::mark;
use crate::plant::planted;
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
    /// A message to an MCP server.
    Mcp {
        /// The server.
        server: u64,
        /// The request that its client waits for; `None` for a message that asks
        /// nothing.
        request: Option<u64>,
        /// The call that it is for, if it is for one.
        call: Option<u64>,
    },
    /// A question of an MCP server to its user.
    Elicitation {
        /// The server.
        server: u64,
        /// The question, as its client names it.
        question: u64,
    },
    /// This run of a hook.
    Hook(u64),
}

impl Purpose {
    /// Whether it is about the turn, so that an interrupt ends it (DEC-37).
    pub(super) const fn is_of_turn(&self) -> bool {
        match self {
            Self::Question(_) | Self::Hook(_) | Self::Elicitation { .. } => true,
            Self::Mcp { call, .. } => call.is_some(),
        }
    }
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
        if planted!(self.planted, Dec50) {
            let (purpose, again) = (pending.waiter.purpose.clone(), response.clone());
            self.resolved(pending, response);
            return self.echo_response(&purpose, &again);
        }
        self.echo_response(&pending.waiter.purpose, &response);
        self.resolved(pending, response);
    }

    /// What follows from an answer.
    fn resolved(&mut self, pending: Pending<Waiter>, response: ControlResponse) {
        match pending.waiter.purpose {
            Purpose::Question(group) => self.question_answered(group, response),
            Purpose::Mcp {
                server, request, ..
            } => self.server_answered(server, request, response),
            Purpose::Elicitation { server, question } => {
                self.elicited(server, question, &response);
            }
            Purpose::Hook(run) => self.callback_answered(run, response),
        }
    }

    /// Replay mode shows a matched answer (DEC-50). What a hook or a server says, or
    /// is told, may hold a credential or be longer than a record.
    fn echo_response(&mut self, purpose: &Purpose, response: &ControlResponse) {
        if !self.config.replay_user_messages {
            return;
        }
        let Some(echo) = outbound::ControlResponse::echo(response) else {
            return;
        };
        if !matches!(purpose, Purpose::Question(_)) {
            let payload = super::catalog::raw(&echo);
            let bytes = payload.as_str().as_bytes();
            let most = self.config.limits.reference_record_bytes;
            if bytes.len() >= most || self.config.credentials.check(bytes).is_err() {
                return self.warn(
                    "an answer for a hook or an MCP server holds a credential or is longer than a \
                     record, and is not echoed",
                );
            }
        }
        let echo = if self.config.profile.is_reference() {
            super::fit::without_long_payload(echo, self.config.limits.reference_record_bytes)
        } else {
            echo
        };
        mark!(self.marks, DEC_50);
        self.send(&Outbound::ControlResponse(echo));
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
        let behind = planted!(self.planted, Dec48);
        let is_over = |due: Instant| due <= self.now && !(behind && due == self.now);
        let late = |pending: &&Pending<Waiter>| pending.waiter.due.is_some_and(is_over);
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
            mark!(self.marks, DEC_48);
            self.send(&records::cancel_request(id.as_str()));
            self.close_request(pending, Closing::Late);
        }
        // As after a tick, so that one before this input changes nothing (law 3).
        self.next_turn();
        self.store_waiting();
    }

    /// Takes back what the turn waits for at the host, or everything, in
    /// registration order (WIRE-011, DEC-37).
    pub(super) fn withdraw_requests(&mut self, everything: bool) {
        let open = self.waiters.iter();
        let open = open.filter(|pending| everything || pending.waiter.purpose.is_of_turn());
        let mut open: Vec<RequestId> = open.map(|pending| pending.id.clone()).collect();
        if planted!(self.planted, Dec37) {
            open.reverse();
        }
        for id in open {
            if planted!(self.planted, Wire007) {
                self.send(&records::cancel_request(id.as_str()));
                continue;
            }
            if let Some(pending) = self.waiters.abort(&id) {
                mark!(self.marks, WIRE_011);
                self.send(&records::cancel_request(pending.id.as_str()));
                self.server_withdrawn(&pending.waiter.purpose);
            }
        }
    }

    /// Ends every open request because the input ended, each by its own rule
    /// (WIRE-008, DEC-37).
    pub(super) fn close_requests(&mut self) {
        for pending in self.waiters.abort_all() {
            mark!(self.marks, WIRE_008);
            self.close_request(pending, Closing::Eof);
            if planted!(self.planted, Wire008) {
                break;
            }
        }
    }

    fn close_request(&mut self, pending: Pending<Waiter>, why: Closing) {
        let text = match why {
            Closing::Late => "no answer came in time.",
            Closing::Eof => "the permission stream closed before an answer came.",
        };
        mark!(self.marks, DEC_37);
        match pending.waiter.purpose {
            Purpose::Question(group) => self.question_failed(group, text.to_string()),
            // Its client has a time of its own, and is told of the end.
            Purpose::Mcp { .. } | Purpose::Elicitation { .. } => {}
            Purpose::Hook(run) => self.callback_failed(run, text),
        }
    }
}
