//! Has an agent work on one prompt, and decides about its calls:
//! `cargo run -p agentx-async-std --example host_async_std -- AGENTX PROMPT`.

use agentx_async_std::host::{Agent, Callbacks, CanUseTool, Decision, Failure, block_on, start};
use std::io::Write as _;

async fn decide(question: CanUseTool) -> Result<Decision, Failure> {
    Ok(match &*question.tool_name {
        "Bash" => Decision::allow(),
        tool => Decision::deny(format!("{tool} may not run here")),
    })
}

fn main() -> Result<(), Failure> {
    block_on(run())
}

async fn run() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some(program), Some(prompt)) = (arguments.next(), arguments.next()) else {
        return Err("usage: host AGENTX PROMPT".into());
    };
    let callbacks = Callbacks::new().can_use_tool(decide);
    let client = start(Agent::agentx(program), callbacks)?;
    let prompt = client.prompt(prompt).await?;
    while let Some(record) = client.next().await {
        let record = record?;
        if let Some(text) = record.text() {
            writeln!(std::io::stdout(), "{text}")?;
        }
        if record.is_end_of(&prompt) {
            client.close();
        }
    }
    match client.wait().await {
        ended if ended.success() => Ok(()),
        ended => Err(ended.to_string().into()),
    }
}
