//! Records held against the published JSON Schema by a validator that knows
//! nothing of us.

use agentx_core::schema::describe;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::sync::OnceLock;

/// Who wrote a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// A host, to the agent.
    Host,
    /// The agent, to its host.
    Agent,
}

/// The schemas of all records, ready for use.
pub struct Schemas {
    document: Value,
    host: Validator,
    agent: Validator,
}

impl Schemas {
    /// The schemas of a document as `agentx schema` prints it.
    ///
    /// # Errors
    ///
    /// A text that is no JSON, or no schema.
    pub fn new(document: &[u8]) -> Result<Self, String> {
        let document = serde_json::from_slice(document).map_err(|fault| fault.to_string())?;
        Ok(Self {
            host: definition(&document, "host_to_agent")?,
            agent: definition(&document, "agent_to_host")?,
            document,
        })
    }

    /// The schemas of the core in this build.
    ///
    /// # Panics
    ///
    /// When they are no schemas.
    pub fn ours() -> &'static Self {
        static OURS: OnceLock<Schemas> = OnceLock::new();
        OURS.get_or_init(|| Self::new(&describe::schema()).expect("the schema of the wire"))
    }

    /// The validator of one record or payload, by its name in `$defs`.
    ///
    /// # Errors
    ///
    /// A name that is not there.
    pub fn validator(&self, name: &str) -> Result<Validator, String> {
        definition(&self.document, name)
    }

    /// Whether a record is one of that direction.
    #[must_use]
    pub fn fits(&self, direction: Direction, record: &Value) -> bool {
        match direction {
            Direction::Host => self.host.is_valid(record),
            Direction::Agent => self.agent.is_valid(record),
        }
    }

    /// What is wrong with a record of the agent, if anything is.
    ///
    /// # Errors
    ///
    /// The record, and what the schema of its kind says about it.
    pub fn check(&self, record: &Value) -> Result<(), String> {
        if self.fits(Direction::Agent, record) {
            return Ok(());
        }
        let word = |name: &str| record[name].as_str().unwrap_or_default();
        let name = match word("type") {
            "system" => format!("agent.system_{}", word("subtype")),
            "user" if record["isReplay"] == true => "agent.user_replay".to_owned(),
            "user" => "agent.tool_result".to_owned(),
            kind => format!("agent.{kind}"),
        };
        let told = match self.validator(&name) {
            Ok(schema) => schema
                .iter_errors(record)
                .map(|fault| format!("{fault} at {}", fault.instance_path()))
                .collect::<Vec<_>>()
                .join("; "),
            Err(_) => "no such record".to_owned(),
        };
        Err(format!("{record} is no record of the agent: {told}"))
    }
}

/// A validator of one of the document's definitions.
fn definition(document: &Value, name: &str) -> Result<Validator, String> {
    let definitions = &document["$defs"];
    if definitions.get(name).is_none() {
        return Err(format!("no definition {name}"));
    }
    let schema = json!({
        "$schema": document["$schema"],
        "$ref": format!("#/$defs/{name}"),
        "$defs": definitions,
    });
    jsonschema::draft202012::new(&schema).map_err(|fault| fault.to_string())
}
