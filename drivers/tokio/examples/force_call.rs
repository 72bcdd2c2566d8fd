//! Asks the default provider of a registry for one forced tool call and prints
//! it as a JSON line.
//!
//! ```text
//! cargo run -p agentx-tokio --example force_call -- AUTH_JSON PROMPT
//! ```

use agentx_core::json::{RawJson, Writer};
use agentx_core::model::{Delta, Message, ModelOutcome, ModelRequest, ToolChoice};
use agentx_core::time::WallTime;
use agentx_core::tool::{Background, ToolClass, ToolSpec};
use agentx_providers::provider::Provider;
use agentx_providers::registry::{FileFacts, Registry};
use agentx_pump::http1::Limits;
use agentx_pump::model::ModelRun;
use agentx_pump::pump::ModelNews;
use agentx_pump::tls::TrustStore;
use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [auth, prompt] = arguments.as_slice() else {
        return Err("usage: force_call AUTH_JSON PROMPT".into());
    };
    // The binary looks at the file itself; here its bytes will do.
    let registry = Registry::parse(&std::fs::read(auth)?, &FileFacts::PRIVATE)?;
    let entry = registry.select(None)?;
    let mut provider = Provider::build(entry, None)?;
    let call = provider.begin(request(prompt)?, 1, WallTime(0));
    let run = ModelRun::new(call, entry.api_key.clone(), Limits::DEFAULT);
    let mut name = String::new();
    let mut arguments = String::new();
    let mut failure = None;
    agentx_tokio::request(run, Arc::new(TrustStore::new()), |news| match news {
        ModelNews::Delta(Delta::CallStart { name: called, .. }) => name = called,
        ModelNews::Delta(Delta::CallArguments { text, .. }) => arguments.push_str(&text),
        ModelNews::Done(ModelOutcome::Failed(failed)) => failure = Some(failed.message),
        ModelNews::Delta(_) | ModelNews::Warn(_) | ModelNews::Done(ModelOutcome::Finished) => {}
    })?;
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    let mut line = Writer::new();
    line.begin_object();
    line.member_str("name", &name);
    line.member_raw("input", &RawJson::parse(&arguments)?);
    line.end_object();
    let mut line = line.finish();
    line.push(b'\n');
    std::io::stdout().write_all(&line)?;
    Ok(())
}

fn request(prompt: &str) -> Result<ModelRequest, Box<dyn Error>> {
    let schema = r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}"#;
    let tool = |name: &str, description: &str| -> Result<ToolSpec, Box<dyn Error>> {
        Ok(ToolSpec {
            name: name.into(),
            description: description.into(),
            input_schema: RawJson::parse(schema)?,
            class: ToolClass::Inert,
            path_member: None,
            parallel: true,
            background: Background::Never,
        })
    };
    Ok(ModelRequest {
        system: None,
        history: vec![Arc::new(Message::User(vec![prompt.to_owned()]))],
        prompt: 0,
        round: 0,
        tools: [tool("get_weather", "Get the weather for a city")?].into(),
        tool_choice: ToolChoice::Required,
        max_output_tokens: 64,
        effort: None,
    })
}
