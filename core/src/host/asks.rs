//! Requests of the agent: each is an effect, and its answer a record.
//!
//! ```text
//! control_request -> Start
//!   Done                    -> control_response, once
//!   control_cancel_request  -> Cancel; a late Done means nothing
//!   our output closes       -> Cancel; the agent decides without us
//! ```
//!
//! A request that cannot be put to the embedder is answered with an error, as is
//! one that failed there. Neither is ever leave (WIRE-PERM-002).

use super::{Answer, HostSession, Output, Request, Stage, Unsent};
use crate::effect::{EffectId, Standing};
use crate::json::{RawJson, Writer};
use crate::machine::Misuse;
use crate::mark::mark;
use crate::mcp::McpReply;
use crate::plant::planted;
use crate::schema::declare::Json as _;
use crate::schema::outbound::{ControlResponse, HostRequest};
use crate::schema::received::AgentRequest;
use alloc::boxed::Box;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;

/// An open request of the agent.
#[derive(Debug)]
pub(super) struct Ask {
    /// The agent's id of it.
    id: Arc<str>,
    /// The call it is about.
    tool_use_id: Option<Arc<str>>,
}

impl HostSession {
    /// The agent asks for something.
    pub(super) fn asked(&mut self, AgentRequest { id, request }: AgentRequest) {
        if self.stage != Stage::Open {
            return;
        }
        if self.asked.contains_key(&id) {
            // An answer would be one to the first of them.
            return self.warn("the agent uses the id of an open request again");
        }
        let request = match request {
            Ok(_) if self.asks.len() >= self.config.limits.host_requests => {
                Err("too many requests are open".to_string())
            }
            request => request,
        };
        let request = match request {
            Ok(request) => request,
            Err(why) => return self.answer(id, Err(why)),
        };
        let mut tool_use_id = None;
        let request = match *request {
            HostRequest::CanUseTool(of) => {
                tool_use_id = Some(Arc::clone(&of.tool_use_id));
                Request::Permit(Box::new(of))
            }
            HostRequest::HookCallback(of) => Request::Hook(Box::new(of)),
            HostRequest::McpMessage(of) => Request::Mcp(Box::new(of)),
            HostRequest::Elicitation(of) => Request::Elicit(Box::new(of)),
        };
        let effect = self.effects.begin(request.kind());
        self.asked.insert(Arc::clone(&id), effect);
        self.asks.insert(effect, Ask { id, tool_use_id });
        self.out.push_back(Output::Start(effect, request));
    }

    /// The agent takes a request back. It may have crossed our answer.
    pub(super) fn taken_back(&mut self, id: &str) {
        if let Some(effect) = self.asked.get(id).copied() {
            mark!(self.marks, HOST_WIRE_PERM_070);
            if planted!(self.config.limits.planted(), HostWirePerm070) {
                self.out.push_back(Output::Cancel(effect));
                return;
            }
            self.cancel_ask(effect);
        }
    }

    fn cancel_ask(&mut self, effect: EffectId) {
        if let Some(ask) = self.asks.remove(&effect) {
            self.asked.remove(&ask.id);
            self.effects.cancel(effect);
            self.out.push_back(Output::Cancel(effect));
        }
    }

    /// Nobody can be answered any more. Returns how many were open.
    pub(super) fn cancel_asks(&mut self) -> usize {
        let open = self.asks.len();
        while let Some(effect) = self.asks.first_key_value().map(|(effect, _)| *effect) {
            self.cancel_ask(effect);
        }
        open
    }

    /// The embedder has answered.
    pub(super) fn settle(&mut self, effect: EffectId, answer: Answer) -> Result<(), Misuse> {
        if self.effects.end(effect, answer.kind())? == Standing::Late {
            return Ok(());
        }
        let Some(Ask { id, tool_use_id }) = self.asks.remove(&effect) else {
            return Ok(());
        };
        self.asked.remove(&id);
        let payload = match answer {
            Answer::Permit(decision) => {
                let decision = match tool_use_id {
                    Some(call) => decision.about(call),
                    None => decision,
                };
                raw(|w| decision.write(w))
            }
            Answer::Hook(says) if says.is_object() => Ok(Some(says)),
            Answer::Hook(_) => Err("the answer of the hook is no object".to_string()),
            Answer::Elicit(reply) => raw(|w| write_reply(&reply, w)),
            Answer::Mcp(Some(message)) => raw(|w| {
                w.begin_object();
                w.member_raw("mcp_response", &message);
                w.end_object();
            }),
            Answer::Mcp(None) => Ok(None),
            Answer::Failed(why) => {
                mark!(self.marks, HOST_WIRE_PERM_002);
                if planted!(self.config.limits.planted(), HostWirePerm002) {
                    Ok(None)
                } else {
                    Err(why)
                }
            }
        };
        self.answer(id, payload);
        Ok(())
    }

    /// Writes an answer. One that cannot leave leaves as an error.
    fn answer(&mut self, id: Arc<str>, payload: Result<Option<RawJson>, String>) {
        let response = match payload {
            Ok(payload) => ControlResponse::success(Arc::clone(&id), payload),
            Err(why) => {
                let why = self.config.credentials.redact(&why).into_owned();
                ControlResponse::error(Arc::clone(&id), why)
            }
        };
        self.answered.insert(Arc::clone(&id));
        if let Err(why @ (Unsent::TooLarge | Unsent::Credential)) = self.send(&response) {
            let why = alloc::format!("the answer was withheld: {why}");
            let error = ControlResponse::error(id, why);
            if self.send(&error).is_err() {
                self.fail_output("an answer to the agent cannot be written");
            }
        }
    }
}

/// A payload as kept text.
fn raw(write: impl FnOnce(&mut Writer)) -> Result<Option<RawJson>, String> {
    let mut writer = Writer::new();
    write(&mut writer);
    let payload = RawJson::parse_bytes(&writer.finish());
    payload
        .map(Some)
        .map_err(|_| "the answer nests too deep".to_string())
}

pub(super) fn write_reply(reply: &McpReply, w: &mut Writer) {
    w.begin_object();
    reply.write_members(w);
    w.end_object();
}
