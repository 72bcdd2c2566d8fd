//! Sessions with servers of the host, walked at random: whatever a host, its
//! servers and a model do, and in whatever order, each call has one result and
//! each prompt one, and the session comes to its end. The bench holds every walk
//! against the laws.

use agentx_conformance::servers::{Asked, Host, initialized, listed, with_servers};
use agentx_core::agent::Input;
use agentx_core::effect::{Answer, Request};
use agentx_core::structured::Validity;
use agentx_laws::SplitMix64;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const WALKS: u64 = 120;
const STEPS: u32 = 45;

struct Walk {
    host: Host,
    rng: SplitMix64,
    prompts: u32,
    calls: u32,
    requests: u32,
}

/// What a server of the host says by itself.
const NEWS: [&str; 4] = [
    r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#,
];

impl Walk {
    fn new(seed: u64) -> Self {
        let rules = r#"{"permissions":{"allow":["mcp__a","mcp__b"]}}"#;
        let mut config = with_servers(&["a", "b"], rules);
        config.include_partial_messages = seed.is_multiple_of(2);
        Self {
            host: Host::new(config),
            rng: SplitMix64::new(seed),
            prompts: 0,
            calls: 0,
            requests: 0,
        }
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.rng.below(of.len())]
    }

    /// A list of tools, one of them with a schema for what it gives.
    fn tools(&mut self) -> Value {
        let names = ["see_a", "add", "sub"];
        let mut list = listed(&names[..=self.rng.below(names.len())]);
        if self.rng.one_in(3) {
            list["tools"][0]["outputSchema"] = json!({"type": "object"});
        }
        list
    }

    /// What fits the message, or does not.
    fn answer(&mut self, asked: &Asked) {
        if self.rng.one_in(8) {
            let wrong = [json!(7), json!({"jsonrpc": "2.0", "id": 0, "result": {}})];
            let wrong = &wrong[self.rng.below(2)];
            return self.host.answer(asked, wrong);
        }
        let result = match asked.message["method"].as_str() {
            Some("initialize") => initialized(),
            Some("tools/list") => self.tools(),
            _ => json!({"content": [], "structuredContent": {"n": 1}}),
        };
        self.host.result(asked, &result);
    }

    fn answer_one(&mut self) {
        self.host.told();
        let open = self.host.asked.len();
        if open > 0 {
            let at = self.rng.below(open);
            let asked = self.host.asked.remove(at).expect("it is there");
            self.answer(&asked);
        }
    }

    fn model(&self) -> bool {
        let open = &self.host.open;
        open.iter()
            .any(|(_, request)| matches!(request, Request::Model(_)))
    }

    /// The model calls up to three tools, of servers or of nobody.
    fn call(&mut self) {
        let calls: Vec<_> = (0..=self.rng.below(3))
            .map(|_| {
                self.calls += 1;
                let server = self.pick(&["a", "b"]);
                let tool = self.pick(&["see_a", "add", "sub", "none"]);
                (
                    format!("toolu_{}", self.calls),
                    format!("mcp__{server}__{tool}"),
                )
            })
            .collect();
        let calls: Vec<_> = calls
            .iter()
            .map(|(id, name)| (id.as_str(), name.as_str(), "{}"))
            .collect();
        self.host.calls(&calls);
    }

    fn operation(&mut self) {
        self.requests += 1;
        let id = format!("c{}", self.requests);
        let name = self.pick(&["a", "b", "c"]);
        let sdk = json!({"type": "sdk"});
        let request = match self.rng.below(5) {
            0 => {
                json!({"subtype": "mcp_toggle", "serverName": name, "enabled": self.rng.one_in(2)})
            }
            1 => json!({"subtype": "mcp_reconnect", "serverName": name}),
            2 => json!({"subtype": "mcp_set_servers", "servers": {"a": sdk, name: sdk}}),
            3 => json!({"subtype": "interrupt"}),
            _ => {
                let news: Value = serde_json::from_str(NEWS[self.rng.below(4)]).expect("JSON");
                json!({"subtype": "mcp_message", "server_name": name, "message": news})
            }
        };
        self.host.operation(&id, &request);
    }

    /// Elicitations are answered, late ones too.
    fn elicitations(&mut self) {
        let records = self.host.all_records();
        let asked = records
            .iter()
            .filter(|r| r["request"]["subtype"] == "elicitation");
        let ids: Vec<_> = asked.filter_map(|r| r["request_id"].as_str()).collect();
        if !ids.is_empty() {
            let id = ids[self.rng.below(ids.len())].to_string();
            self.host
                .respond(&id, &json!({"action": "accept", "content": {}}));
        }
    }

    fn validate(&mut self) {
        let id = self.host.validating().first().map(|(id, _)| *id);
        if let Some(id) = id {
            let validity = match self.rng.below(3) {
                0 => Validity::Breaks(vec!["no".to_string()]),
                _ => Validity::Fits,
            };
            self.host.done(id, Answer::Validated(validity));
        }
    }

    fn step(&mut self) {
        match self.rng.below(12) {
            0..=4 => self.answer_one(),
            5 if self.prompts < 4 => {
                self.prompts += 1;
                self.host.prompt(self.prompts, "go");
            }
            6 | 7 if self.model() => self.call(),
            8 if self.model() => self.host.says("so"),
            9 => self.operation(),
            10 => self.validate(),
            11 if self.rng.one_in(3) => {
                let span = [1_000, 6_000, 61_000][self.rng.below(3)];
                self.host.wait(span);
                self.host.feed(Input::Tick);
            }
            _ => self.elicitations(),
        }
    }

    /// The host leaves; the model says what it has to say.
    fn end(&mut self) {
        self.host.eof();
        for _ in 0..100 {
            if self.model() {
                self.host.says("the end");
            }
            self.validate();
        }
    }
}

// covers: DEC-21, DEC-26, DEC-37
#[test]
fn whatever_servers_do_each_call_and_each_prompt_has_one_result() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..WALKS {
        let mut walk = Walk::new(seed);
        for _ in 0..STEPS {
            walk.step();
        }
        walk.end();
        let told = walk.host.timeline();
        assert!(walk.host.exit.is_some(), "seed {seed} never ends:\n{told}");
        let records = walk.host.all_records();
        let mut open: BTreeMap<String, i32> = BTreeMap::new();
        for record in &records {
            let block = &record["message"]["content"][0];
            let (id, change) = match block["type"].as_str() {
                Some("tool_use") => (&block["id"], 1),
                Some("tool_result") => (&block["tool_use_id"], -1),
                _ => continue,
            };
            *open
                .entry(id.as_str().expect("an id").to_string())
                .or_default() += change;
        }
        open.retain(|_, left| *left != 0);
        assert!(
            open.is_empty(),
            "seed {seed}, calls without one result: {open:?}\n{told}"
        );
        for record in &records {
            let message = &record["request"]["message"]["method"];
            let subtype = message.as_str().or_else(|| record["type"].as_str());
            *seen
                .entry(subtype.unwrap_or_default().to_string())
                .or_default() += 1;
        }
        let results = records.iter().filter(|record| record["type"] == "result");
        assert_eq!(
            results.count(),
            walk.prompts as usize,
            "seed {seed}:\n{told}"
        );
    } // The walks went where they should.
    for name in ["tools/call", "tools/list", "control_cancel_request"] {
        let times = seen.get(name).copied().unwrap_or_default();
        assert!(times > 50, "{name} was seen {times} times: {seen:?}");
    }
}
