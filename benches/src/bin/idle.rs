//! What idle sessions take of memory: `idle [SESSIONS]`.

use agentx_core::agent::{AgentSession, Config, Input, Output, Provider};
use agentx_core::ids::Seed;
use agentx_core::machine::Machine as _;
use agentx_core::time::Instant;
use std::error::Error;

fn rss() -> Result<usize, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: usize = line
        .ok_or("no VmRSS")?
        .trim()
        .trim_end_matches(" kB")
        .parse()?;
    Ok(kib * 1024)
}

fn main() -> Result<(), Box<dyn Error>> {
    let count: usize = std::env::args().nth(1).map_or(Ok(10_000), |n| n.parse())?;
    let config = Config::new(
        Seed::from_u64(1),
        "/repo",
        Provider::new("main", "echo", "echo-1"),
    );
    let config = std::sync::Arc::new(config);
    let mut all = Vec::with_capacity(count);
    let before = rss()?;
    for n in 0..count {
        let mut session =
            AgentSession::with_seed(config.clone(), Seed::from_u64(n as u64), Instant::ZERO);
        let mut written = 0;
        while let Some(output) = session.poll() {
            if let Output::Transmit(record) = output {
                written += record.as_bytes().len();
            }
        }
        session.handle(Instant::ZERO, Input::Sent(written))?;
        all.push(session);
    }
    let after = rss()?;
    eprintln!(
        "size {} config {}",
        size_of::<AgentSession>(),
        size_of::<Config>()
    );
    eprintln!(
        "{} sessions, {} bytes each, rss {}",
        all.len(),
        (after - before) / count,
        after
    );
    Ok(())
}
