//! What a host registers, with real matchers and a real reader of schemas.

use crate::support::{Bench, Silent, Sink, channel_of_news, configured, script, world};
use agentx_core::agent::{Config, Profile, Reference};
use agentx_pump::pump::Streams;
use agentx_pump::world::{Host, HostPort, HostReply, Stdio};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// A host that begins with these lines, answers every callback with `{}` and ends
/// its input behind the first result.
struct Registers {
    begins: Option<Vec<Value>>,
    seen: Arc<Mutex<Vec<Value>>>,
}

impl Host for Registers {
    /// Speaks first: the agent says nothing before a turn.
    fn connect(&mut self, port: HostPort) {
        let begins = self.begins.take().unwrap_or_default();
        let lines: String = begins.iter().map(|line| format!("{line}\n")).collect();
        port.send(lines.as_bytes());
    }

    fn record(&mut self, record: &[u8]) -> HostReply {
        let record: Value = serde_json::from_slice(record).unwrap();
        let mut lines = Vec::new();
        if record["request"]["subtype"] == "hook_callback" {
            let id = &record["request_id"];
            let response = json!({"subtype": "success", "request_id": id, "response": {}});
            lines.push(json!({"type": "control_response", "response": response}));
        }
        let end = record["type"] == "result";
        self.seen.lock().unwrap().push(record);
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        HostReply {
            input: lines.into_bytes(),
            end,
        }
    }
}

/// Everything a host saw that sent this `initialize` and a prompt behind it, and
/// what stderr had.
fn run(members: Value, steps: &Value) -> (Vec<Value>, String) {
    let mut request = members;
    request["subtype"] = json!("initialize");
    let initialize = json!({"type": "control_request", "request_id": "i", "request": request});
    let prompt = serde_json::from_str(&script(steps)).unwrap();
    let (seen, errors) = (Arc::default(), Sink::default());
    let host = Registers {
        begins: Some(vec![initialize, prompt]),
        seen: Arc::clone(&seen),
    };
    let config = Config {
        profile: Profile::Reference(Reference::default()),
        ..configured()
    };
    let streams = Streams {
        input: Box::new(Silent),
        output: Box::new(Sink::default()),
        errors: Box::new(errors.clone()),
    };
    let stdio = Stdio::Host(Box::new(host));
    let bench = Bench::start(config, world(), stdio, streams, channel_of_news());
    let _ = bench.end();
    let seen = seen.lock().unwrap().clone();
    (seen, errors.text())
}

/// The callbacks that a host was asked to run.
fn asked(seen: &[Value]) -> Vec<&str> {
    let requests = seen.iter().map(|record| &record["request"]);
    requests
        .filter_map(|of| of["callback_id"].as_str())
        .collect()
}

#[test]
fn patterns_of_a_host_are_anchored_and_a_broken_one_matches_everything() {
    let group = |matcher: &str| json!({"matcher": matcher, "hookCallbackIds": [matcher]});
    let matchers = ["Current.*", "Current", "(", ".*Time|Read", "Read"];
    let groups: Vec<Value> = matchers.iter().map(|matcher| group(matcher)).collect();
    let steps = json!([{"tool_calls": [{"name": "CurrentTime", "input": {}}]}, {"text": "done"}]);
    let (seen, errors) = run(json!({"hooks": {"PreToolUse": groups}}), &steps);
    assert_eq!(asked(&seen), ["Current.*", "(", ".*Time|Read"]);
    let told = "agentx: warning: the matcher \"(\" of a hook is not a regular expression";
    assert!(errors.starts_with(told), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert_eq!(seen.last().unwrap()["state"], "idle");
}

#[test]
fn a_schema_of_a_host_is_read_before_anything_depends_on_it() {
    let schema = json!({"properties": {"a": {"type": "strin"}}});
    let (seen, _) = run(json!({"jsonSchema": schema}), &json!([{"text": "done"}]));
    let answer = seen
        .iter()
        .find(|record| record["type"] == "control_response");
    let error = answer.unwrap()["response"]["error"].as_str().unwrap();
    let told = "initialize: jsonSchema: at /properties/a/type: ";
    assert!(error.starts_with(told), "{error}");
    assert_eq!(seen.last().unwrap()["stop_reason"], "input_error");
    let schema = json!({"properties": {"a": {"type": "string"}}, "required": ["a"]});
    let call = json!({"name": "StructuredOutput", "input": {"a": "b"}});
    let steps = json!([{"tool_calls": [call]}, {"text": "done"}]);
    let (seen, errors) = run(json!({"jsonSchema": schema}), &steps);
    let result = seen.iter().find(|record| record["type"] == "result");
    assert_eq!(result.unwrap()["structured_output"], json!({"a": "b"}));
    assert_eq!(errors, "");
}
