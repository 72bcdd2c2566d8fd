//! What a server sends by itself.

use super::{McpClient, McpForm, McpOutput, McpQuestion, McpReply, McpState, elicit, rpc};
use crate::json::RawJson;
use alloc::format;
use alloc::string::ToString;

impl McpClient {
    pub(super) fn message(&mut self, message: &RawJson) {
        if !self.is_open() {
            return self.warn("it sent a message while it is not connected");
        }
        let read = rpc::with(message, |value| {
            rpc::sent(value, |sent| {
                match sent.id.map(RawJson::from_value) {
                    Some(id) => self.asked(id, sent),
                    None => self.notified(sent),
                }
                Ok(())
            })
        });
        if let Err(fault) = read {
            self.warn(&format!("a message of it was ignored: {fault}"));
        }
    }

    fn asked(&mut self, id: RawJson, sent: rpc::Sent<'_>) {
        let refused = match sent.method {
            "ping" => return self.send(rpc::reply(&id, |_| {})),
            "elicitation/create" if self.questions.values().any(|open| *open == id) => {
                // An answer now would be taken for that of the open one.
                return self.warn("it used the id of an open question once more");
            }
            "elicitation/create" if self.questions.len() >= self.settings.limits.mcp_questions => {
                (rpc::OVERLOADED, "too many questions are open".to_string())
            }
            "elicitation/create" => match elicit::question(sent.params) {
                Ok(asked) => return self.ask(id, asked),
                Err(fault) => (rpc::INVALID_PARAMS, fault),
            },
            _ => (rpc::METHOD_NOT_FOUND, "method not found".to_string()),
        };
        self.send(rpc::refusal(&id, refused.0, &refused.1));
    }

    fn ask(&mut self, id: RawJson, asked: McpQuestion) {
        if let McpForm::Url { id, .. } = &asked.form {
            self.elsewhere.insert(id.as_str().into());
        }
        let question = self.next_question;
        self.next_question = question.saturating_add(1);
        self.questions.insert(question, id);
        self.out.push_back(McpOutput::Ask { question, asked });
    }

    fn notified(&mut self, sent: rpc::Sent<'_>) {
        let params = sent.params;
        match sent.method {
            "notifications/tools/list_changed" if self.listing.is_some() => {
                self.list_is_old = true;
            }
            "notifications/tools/list_changed" if self.state == McpState::Connected => self.list(),
            "notifications/cancelled" => {
                let id = params.and_then(|params| params.get("requestId"));
                let id = id.map(RawJson::from_value);
                let of = |(question, open): (&u64, &RawJson)| {
                    (Some(open) == id.as_ref()).then_some(*question)
                };
                if let Some(question) = self.questions.iter().find_map(of) {
                    self.questions.remove(&question);
                    self.out.push_back(McpOutput::Withdraw { question });
                }
            }
            "notifications/elicitation/complete" => {
                let id = params.and_then(|params| elicit::string(params, "elicitationId").ok());
                if let Some(id) = id.filter(|id| self.elsewhere.contains(id)) {
                    let id = id.into_owned();
                    self.elsewhere.remove(&id);
                    self.out.push_back(McpOutput::Completed { id });
                }
            }
            // Progress, log and whatever else is told only (RT-MCPS-032).
            _ => {}
        }
    }

    pub(super) fn reply(&mut self, question: u64, reply: &McpReply) {
        if let Some(id) = self.questions.remove(&question) {
            let message = reply.message(&id);
            self.send(message);
        }
    }

    pub(super) fn warn(&mut self, text: &str) {
        let name = &self.settings.name;
        let text = format!("MCP server {name:?}: {text}");
        self.out.push_back(McpOutput::Warning(text));
    }
}
