//! The requests that carry what clients say, and what is asked for servers.

use super::super::fit::ENVELOPE_BYTES;
use super::super::requests::Purpose;
use super::super::{AgentSession, Stage, records};
use super::ENDED;
use crate::correlate::RequestId;
use crate::json::{RawJson, ScanLimits, Scanner, Value, escaped_bytes};
use crate::mcp::{McpForm, McpInput, McpQuestion, McpReply};
use crate::schema::inbound::{ControlResponse, ResponseBody};
use crate::schema::outbound::{
    Elicitation, ElicitationComplete, HostRequest, McpMessage, Outbound,
};
use alloc::format;
use alloc::string::ToString as _;
use alloc::sync::Arc;
use alloc::vec::Vec;

impl AgentSession {
    pub(super) fn send_to_server(&mut self, server: u64, request: Option<u64>, message: RawJson) {
        let Some(of) = self.mcp.server(server) else {
            return;
        };
        let call = request.and_then(|request| of.client.call_of(request));
        let name = Arc::clone(&of.name);
        let most = self.config.limits.reference_record_bytes;
        let why = if self.stage != Stage::Open {
            ENDED.to_string()
        } else if self.leaks(Some(&message)) {
            "the message to it holds a credential".to_string()
        } else if message.as_str().len().saturating_add(ENVELOPE_BYTES) > most {
            format!("the message to it does not fit a record of {most} bytes")
        } else {
            let asked = HostRequest::McpMessage(McpMessage {
                server_name: name,
                message,
            });
            // What is answered has its time in the client.
            let due = match request {
                Some(_) => None,
                None => Some(self.now.after(self.config.limits.mcp_message_timeout)),
            };
            let purpose = Purpose::Mcp {
                server,
                request,
                call,
            };
            let id = self.register_request(asked.clone(), purpose, due);
            return self.send_request(&id, asked);
        };
        match request {
            Some(request) => self.tell_server(server, McpInput::Failed { request, why }),
            None => self.warn(format!("MCP server {name:?}: {why}")),
        }
    }

    /// Whether a value holds a credential (DEC-30).
    fn leaks(&self, value: Option<&RawJson>) -> bool {
        let guard = &self.config.credentials;
        value.is_some_and(|value| guard.check(value.as_str().as_bytes()).is_err())
    }

    /// Takes requests back that nobody waits for any more (WIRE-007).
    pub(super) fn take_back(&mut self, which: &dyn Fn(&Purpose) -> bool) {
        let open = self.waiters.iter();
        let open = open.filter(|pending| which(&pending.waiter.purpose));
        let open: Vec<RequestId> = open.map(|pending| pending.id.clone()).collect();
        for id in open {
            if self.waiters.abort(&id).is_some() {
                self.send(&records::cancel_request(id.as_str()));
            }
        }
    }

    /// The host answered a message to a server. The answer to one that asks
    /// nothing is an acknowledgement, whatever it says.
    pub(in crate::agent) fn server_answered(
        &mut self,
        server: u64,
        request: Option<u64>,
        response: ControlResponse,
    ) {
        let Some(request) = request else { return };
        let message = match response.body {
            ResponseBody::Success { payload, .. } => payload
                .as_ref()
                .and_then(|payload| member(payload, "mcp_response"))
                .ok_or_else(|| "the answer of its host holds no mcp_response".to_string()),
            ResponseBody::Error { message, .. } => {
                Err(format!("its host says: {}", self.placeless(&message)))
            }
            ResponseBody::Invalid { reason } => Err(format!("its host: {reason}")),
        };
        let input = match message {
            Ok(message) => McpInput::Answer { request, message },
            Err(why) => McpInput::Failed { request, why },
        };
        self.tell_server(server, input);
    }

    // ---- questions of servers -------------------------------------------------------

    pub(super) fn ask_for_server(&mut self, server: u64, question: u64, asked: McpQuestion) {
        let Some(name) = self
            .mcp
            .server(server)
            .map(|server| Arc::clone(&server.name))
        else {
            return;
        };
        let mut request = Elicitation {
            mcp_server_name: name,
            message: self.safe(&asked.message),
            mode: None,
            url: None,
            elicitation_id: None,
            requested_schema: None,
        };
        match asked.form {
            McpForm::Form { schema } => {
                request.mode = Some("form".into());
                request.requested_schema = Some(schema);
            }
            McpForm::Url { url, id } => {
                request.mode = Some("url".into());
                request.url = Some(self.safe(&url));
                request.elicitation_id = Some(self.safe(&id));
            }
        }
        let bytes = escaped_bytes(&request.message)
            + request
                .requested_schema
                .as_ref()
                .map_or(0, |schema| schema.as_str().len())
            + request.url.as_deref().map_or(0, escaped_bytes)
            + request.elicitation_id.as_deref().map_or(0, escaped_bytes);
        let fits =
            bytes.saturating_add(ENVELOPE_BYTES) <= self.config.limits.reference_record_bytes;
        let leaks = self.leaks(request.requested_schema.as_ref());
        if self.stage != Stage::Open || !fits || leaks {
            let reply = McpReply::Cancel;
            return self.tell_server(server, McpInput::Reply { question, reply });
        }
        let asked = HostRequest::Elicitation(request);
        let purpose = Purpose::Elicitation { server, question };
        let id = self.register_request(asked.clone(), purpose, None);
        self.send_request(&id, asked);
    }

    /// The host answered a question of a server. A failure is a cancel.
    pub(in crate::agent) fn elicited(
        &mut self,
        server: u64,
        question: u64,
        response: &ControlResponse,
    ) {
        let reply = match &response.body {
            ResponseBody::Success { payload, .. } => match self.unfit(payload.as_ref()) {
                None => McpReply::of(payload.as_ref()),
                // The server waits, and so does the call that made it ask.
                Some(why) => {
                    self.warn(format!(
                        "an answer to an MCP server is not passed on: {why}"
                    ));
                    McpReply::Cancel
                }
            },
            ResponseBody::Error { .. } | ResponseBody::Invalid { .. } => McpReply::Cancel,
        };
        self.tell_server(server, McpInput::Reply { question, reply });
    }

    /// Why an answer cannot be passed on.
    fn unfit(&self, answer: Option<&RawJson>) -> Option<&'static str> {
        let bytes = answer.map_or(0, |answer| answer.as_str().len());
        // The message that carries it is in a record with room of its own.
        let room = ENVELOPE_BYTES.saturating_mul(2);
        if self.leaks(answer) {
            Some("it holds a credential")
        } else if bytes.saturating_add(room) > self.config.limits.reference_record_bytes {
            Some("it does not fit a record")
        } else {
            None
        }
    }

    pub(super) fn tell_completed(&mut self, server: u64, id: &str) {
        if let Some(server) = self.mcp.server(server) {
            let record = ElicitationComplete {
                mcp_server_name: Arc::clone(&server.name),
                elicitation_id: self.safe(id),
            };
            self.send(&Outbound::ElicitationComplete(record));
        }
    }
}

/// A member of an object.
fn member(object: &RawJson, name: &str) -> Option<RawJson> {
    let mut scanner = Scanner::new();
    let value = scanner.scan(object.as_str().as_bytes(), &ScanLimits::DEFAULT);
    let object = value.ok().and_then(Value::as_object)?;
    object.get(name).map(RawJson::from_value)
}
