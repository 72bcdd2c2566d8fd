//! A host with MCP servers of its own, on the bench: its answers are chosen by
//! the test.

use crate::session::{Bench, brief, reference};
use agentx_core::agent::{Config, Profile, Reference};
use agentx_core::policy::{Layer, Settings};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

/// A message to a server that the host has not answered.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The control request that carries it.
    pub id: String,
    /// The server.
    pub server: String,
    /// The message.
    pub message: Value,
}

/// A bench whose records are sorted: messages to servers, and words for all.
pub struct Host {
    bench: Bench,
    /// Messages to servers, oldest first.
    pub asked: VecDeque<Asked>,
    told: Vec<String>,
}

impl Deref for Host {
    type Target = Bench;

    fn deref(&self) -> &Bench {
        &self.bench
    }
}

impl DerefMut for Host {
    fn deref_mut(&mut self) -> &mut Bench {
        &mut self.bench
    }
}

/// The profile `reference` with these servers of the host, and these settings.
#[must_use]
pub fn with_servers(servers: &[&str], settings: &str) -> Config {
    let mut config = Config {
        profile: Profile::Reference(Reference {
            sdk_servers: servers.iter().map(|name| (*name).into()).collect(),
            ..Reference::default()
        }),
        ..reference()
    };
    let settings = Settings::read(settings.as_bytes()).expect("settings");
    config.settings.set(Layer::User, settings);
    config
}

impl Host {
    /// A session that has begun.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let mut host = Self {
            bench: Bench::with_init(config),
            asked: VecDeque::new(),
            told: Vec::new(),
        };
        host.sort();
        host
    }

    /// A session whose servers are ready, each with these tools; what was said so
    /// far is taken.
    #[must_use]
    pub fn ready(config: Config, tools: &[&str]) -> Self {
        let mut host = Self::new(config);
        host.handshakes(tools);
        host.told();
        host
    }

    fn sort(&mut self) {
        for record in self.bench.records() {
            self.told.push(brief(&record));
            let request = &record["request"];
            if record["type"] == "control_request" && request["subtype"] == "mcp_message" {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
                self.asked.push_back(Asked {
                    id: text(&record["request_id"]),
                    server: text(&request["server_name"]),
                    message: request["message"].clone(),
                });
            }
        }
    }

    /// A word or two for each record since the last call, `system/init` left out.
    pub fn told(&mut self) -> Vec<String> {
        self.sort();
        let told = std::mem::take(&mut self.told).into_iter();
        told.filter(|word| word != "system/init").collect()
    }

    /// The next message to a server.
    pub fn oldest(&mut self) -> Asked {
        self.sort();
        self.asked.pop_front().expect("a message to a server")
    }

    /// The next message with this method; those before it stay.
    pub fn asked(&mut self, method: &str) -> Asked {
        self.sort();
        let of = |asked: &Asked| asked.message["method"] == method;
        let at = self.asked.iter().position(of);
        let at = at.unwrap_or_else(|| panic!("no {method} among {:?}", self.asked));
        self.asked.remove(at).expect("it is there")
    }

    /// Answers a message with this as `mcp_response`.
    pub fn answer(&mut self, asked: &Asked, response: &Value) {
        let payload = json!({ "mcp_response": response });
        self.bench.respond(&asked.id, &payload);
        self.sort();
    }

    /// Answers a message with a result.
    pub fn result(&mut self, asked: &Asked, result: &Value) {
        let id = &asked.message["id"];
        self.answer(
            asked,
            &json!({"jsonrpc": "2.0", "id": id, "result": result}),
        );
    }

    /// Answers a call with a text.
    pub fn says_at(&mut self, asked: &Asked, text: &str) {
        self.result(asked, &json!({"content": [{"type": "text", "text": text}]}));
    }

    /// Lets handshakes and lists of tools come to their end, for all servers.
    pub fn handshakes(&mut self, tools: &[&str]) {
        self.sort();
        while let Some(asked) = self.asked.pop_front() {
            match asked.message["method"].as_str() {
                Some("initialize") => self.result(&asked, &initialized()),
                Some("tools/list") => self.result(&asked, &listed(tools)),
                // As one of the official clients acknowledges a notification.
                _ => self.answer(&asked, &json!({"jsonrpc": "2.0", "result": {}})),
            }
        }
    }

    /// A server of the host speaks by itself.
    pub fn server_says(&mut self, id: &str, server: &str, message: &Value) {
        let request = json!({"subtype": "mcp_message", "server_name": server, "message": message});
        self.operation(id, &request);
    }

    /// The host asks for an operation.
    pub fn operation(&mut self, id: &str, request: &Value) {
        let record = json!({"type": "control_request", "request_id": id, "request": request});
        self.bench.line(&record.to_string());
        self.sort();
    }

    /// The answer to the operation with this id.
    #[must_use]
    pub fn answer_to(&self, id: &str) -> Value {
        let records = self.bench.all_records();
        let mut answers = records
            .into_iter()
            .filter(|record| record["response"]["request_id"] == id);
        let answer = answers.next().expect("an answer");
        answer["response"].clone()
    }

    /// Names of the tools that the open model request offers, own ones left out.
    #[must_use]
    pub fn offered(&self) -> Vec<String> {
        let (_, request) = self.bench.model();
        let tools = request.tools.iter().map(|tool| tool.name.to_string());
        tools.filter(|name| name.starts_with("mcp__")).collect()
    }

    /// How the servers stand, as `name status`, with the error where there is one.
    pub fn statuses(&mut self) -> Vec<String> {
        let id = format!("status {}", self.bench.all_records().len());
        self.operation(&id, &json!({"subtype": "mcp_status"}));
        let answer = self.answer_to(&id);
        self.told.pop();
        let servers = answer["response"]["mcpServers"].as_array().cloned();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let status = |server: &Value| {
            let words = [&server["name"], &server["status"], &server["error"]];
            words.map(text).join(" ").trim_end().to_string()
        };
        servers.unwrap_or_default().iter().map(status).collect()
    }

    /// The text of the result of this call, and whether it is an error.
    #[must_use]
    pub fn outcome(&self, call: &str) -> (String, bool) {
        let records = self.bench.all_records();
        let results = records
            .iter()
            .map(|record| &record["message"]["content"][0]);
        let mut results = results.filter(|block| block["tool_use_id"] == call);
        let result = results.next().expect("a result");
        assert!(results.next().is_none(), "one result for {call}");
        let content = match &result["content"] {
            Value::Array(blocks) => {
                let texts = blocks.iter().map(|block| block["text"].as_str());
                texts.map(Option::unwrap_or_default).collect()
            }
            text => text.as_str().unwrap_or_default().to_string(),
        };
        (content, result["is_error"] == true)
    }
}

/// The result of `initialize`, as one of the official clients gives it.
#[must_use]
pub fn initialized() -> Value {
    json!({"protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
        "serverInfo": {"name": "s", "version": "1.0.0"}})
}

/// The result of `tools/list`; a tool whose name begins with `see` says that it
/// reads only.
#[must_use]
pub fn listed(tools: &[&str]) -> Value {
    let tool = |name: &&str| {
        json!({"name": name, "description": "a tool", "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": name.starts_with("see")}})
    };
    json!({"tools": tools.iter().map(tool).collect::<Vec<_>>()})
}
