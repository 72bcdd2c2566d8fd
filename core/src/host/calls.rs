//! Calls of the embedder: who waits for each answer, and how the waiting ends.
//!
//! ```text
//! call -> registered, then written (WIRE-006)
//!   an answer              -> a payload, or an error
//!   its time is over       -> timed out; a later answer means nothing (WIRE-007)
//!   the embedder forgets   -> forgotten; the same
//!   no answer can come     -> closed (WIRE-008)
//! ```
//!
//! The wire has no record by which a host takes a call back.

use super::{CallError, CallId, Event, HostSession, Unsent};
use crate::correlate::{Pending, Unmatched};
use crate::mark::mark;
use crate::plant::planted;
use crate::schema::host::{Call, ControlCall};
use crate::schema::inbound::{ControlResponse, ResponseBody};
use crate::time::Instant;
use core::time::Duration;

/// Who waits for an answer of the agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    call: CallId,
    due: Instant,
}

impl HostSession {
    pub(super) fn call(&mut self, call: CallId, request: Call, timeout: Option<Duration>) {
        let limits = &self.config.limits;
        if self.calls.len() >= limits.host_calls {
            return self.unsent_call(call, Unsent::TooMany);
        }
        let due = self.now.after(timeout.unwrap_or(limits.host_call_timeout));
        let id = self.ids.tagged("call_");
        let id = self.waiters.register(id, None, Waiter { call, due });
        self.calls.insert(call, id.clone());
        let record = ControlCall {
            request_id: id.shared(),
            request,
        };
        if let Err(why) = self.send(&record) {
            self.waiters.abort(&id);
            self.calls.remove(&call);
            self.unsent_call(call, why);
        }
    }

    fn unsent_call(&mut self, call: CallId, why: Unsent) {
        let error = if why == Unsent::Closed {
            CallError::Closed
        } else {
            CallError::Unsent(why)
        };
        self.tell(Event::Answered(call, Err(error)));
    }

    pub(super) fn forget(&mut self, call: CallId) {
        if let Some(id) = self.calls.remove(&call) {
            self.waiters.abort(&id);
            self.tell(Event::Answered(call, Err(CallError::Forgotten)));
        }
    }

    /// An answer of the agent; or one of ours, which it repeats in replay mode.
    pub(super) fn response(&mut self, response: ControlResponse) {
        let Some(pending) = self.waiters.resolve(&response.id) else {
            let tool_use_id = match &response.body {
                ResponseBody::Success { tool_use_id, .. } => tool_use_id.as_deref(),
                ResponseBody::Error { .. } | ResponseBody::Invalid { .. } => None,
            };
            let known = self.answered.contains(&response.id);
            let unmatched = self.waiters.unmatched(&response.id, tool_use_id);
            if !known && unmatched == Unmatched::Orphan {
                self.warn("the agent answers a call that nobody made");
            }
            return;
        };
        mark!(self.marks, HOST_WIRE_PERM_010);
        let Waiter { call, .. } = pending.waiter;
        self.calls.remove(&call);
        let answer = match response.body {
            ResponseBody::Success { payload, .. } => Ok(payload),
            ResponseBody::Error {
                message,
                pending_permission_requests,
            } => Err(CallError::Refused {
                message,
                pending_permission_requests: pending_permission_requests.unwrap_or_default(),
            }),
            ResponseBody::Invalid { reason } => Err(CallError::Invalid(reason)),
        };
        self.tell(Event::Answered(call, answer));
    }

    /// Ends the waiting of calls whose time is over.
    pub(super) fn give_up_calls(&mut self) {
        while let Some(pending) = self.next_due().filter(|next| next.waiter.due <= self.now) {
            let (id, call) = (pending.id.clone(), pending.waiter.call);
            mark!(self.marks, HOST_WIRE_007);
            self.waiters.abort(&id);
            self.calls.remove(&call);
            if planted!(self.config.limits.planted(), HostWire007) {
                let due = self.now.after(self.config.limits.host_call_timeout);
                let waiter = Waiter { call, due };
                self.waiters.register(id.as_str().into(), None, waiter);
            }
            self.tell(Event::Answered(call, Err(CallError::TimedOut)));
        }
    }

    /// No answer can come any more. Returns how many waited.
    pub(super) fn close_calls(&mut self) -> usize {
        let mut waited = self.waiters.abort_all();
        if planted!(self.config.limits.planted(), HostWire008) {
            waited.pop();
        }
        for pending in &waited {
            mark!(self.marks, HOST_WIRE_008);
            let call = pending.waiter.call;
            self.calls.remove(&call);
            self.tell(Event::Answered(call, Err(CallError::Closed)));
        }
        waited.len()
    }

    pub(super) fn calls_due(&self) -> Option<Instant> {
        self.next_due().map(|pending| pending.waiter.due)
    }

    /// The call whose time is over first; the oldest of several.
    fn next_due(&self) -> Option<&Pending<Waiter>> {
        self.waiters.iter().min_by_key(|pending| pending.waiter.due)
    }
}
