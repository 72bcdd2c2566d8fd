//! Has an agent work on one prompt, and decides about its calls:
//! `cargo run -p agentx-mio --example host_blocking -- AGENTX PROMPT`.

use agentx_mio::host::{Agent, Callbacks, CanUseTool, Decision, Failure, start};
use std::io::Write as _;

fn decide(question: CanUseTool) -> Result<Decision, Failure> {
    eprintln!("asked for {}: {:?}", question.tool_name, question.input);
    Ok(match &*question.tool_name {
        "Bash" => Decision::allow(),
        tool => Decision::deny(format!("{tool} may not run here")),
    })
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some(program), Some(prompt)) = (arguments.next(), arguments.next()) else {
        return Err("usage: host AGENTX PROMPT".into());
    };
    let callbacks = Callbacks::new().can_use_tool(decide);
    let client = start(Agent::agentx(program), callbacks)?;
    let prompt = client.prompt(prompt)?;
    for record in client.records() {
        let record = record?;
        if let Some(text) = record.text() {
            writeln!(std::io::stdout(), "{text}")?;
        }
        if record.is_end_of(&prompt) {
            client.close();
        }
    }
    match client.wait() {
        ended if ended.success() => Ok(()),
        ended => Err(ended.to_string().into()),
    }
}
