//! Hooks that the host runs, and `initialize`, which registers them.

use super::Bench;
use agentx_core::effect::{Answer, EffectId, Request};
use serde_json::{Value, json};
use std::sync::Arc;

impl Bench {
    /// An `initialize` of the host with these members, under the id `init`.
    pub fn initialize(&mut self, members: Value) {
        let mut request = json!({"subtype": "initialize"});
        if let (Some(request), Value::Object(members)) = (request.as_object_mut(), members) {
            request.extend(members);
        }
        let record = json!({"type": "control_request", "request_id": "init", "request": request});
        self.line(&record.to_string());
    }

    /// Callbacks the host was asked to run so far, answered or not, in order: the
    /// id of the request, and the request.
    #[must_use]
    pub fn callbacks(&self) -> Vec<(String, Value)> {
        let records = self.all_records().into_iter();
        let asked = records.filter(|record| record["request"]["subtype"] == "hook_callback");
        asked
            .map(|record| {
                let id = record["request_id"].as_str().unwrap_or_default();
                (id.to_string(), record["request"].clone())
            })
            .collect()
    }

    /// The host answers the newest callback it was asked to run.
    pub fn callback_says(&mut self, payload: &Value) {
        let (id, _) = self.callbacks().pop().expect("a callback is asked for");
        self.respond(&id, payload);
    }

    /// The patterns of hooks that wait to be resolved.
    #[must_use]
    pub fn matching(&self) -> Option<(EffectId, Vec<String>)> {
        self.open.iter().find_map(|(id, request)| match request {
            Request::Match(matching) => {
                let patterns = matching.patterns.iter().map(ToString::to_string);
                Some((*id, patterns.collect()))
            }
            _ => None,
        })
    }

    /// They match these tools, each pattern in turn; one without tools is none.
    pub fn patterns_match(&mut self, tools: &[Option<&[&str]>]) {
        let (id, _) = self.matching().expect("patterns wait");
        let matched = tools.iter().map(|tools| match tools {
            Some(tools) => Ok(tools.iter().map(|tool| Arc::from(*tool)).collect()),
            None => Err("not a regular expression".to_string()),
        });
        let matched = matched.collect();
        self.tell("matchers: done".to_string());
        self.done(id, Answer::Matched(matched));
    }

    /// The schema that waits to be looked at.
    #[must_use]
    pub fn reading_schema(&self) -> Option<EffectId> {
        self.open
            .iter()
            .find_map(|(id, request)| matches!(request, Request::ReadSchema(_)).then_some(*id))
    }

    /// It can be used, or not.
    pub fn schema_is(&mut self, read: Result<(), &str>) {
        let id = self.reading_schema().expect("a schema waits");
        self.tell("schema: read".to_string());
        self.done(id, Answer::SchemaRead(read.map_err(ToString::to_string)));
    }
}
