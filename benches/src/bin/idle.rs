//! What idle sessions take of memory: `idle [SESSIONS]`.
//!
//! First the core alone, in a process that does nothing else. Then the tokio
//! driver: one process with one runtime serves each connection of a Unix socket
//! with a session; another process is all the hosts. Once every host has read its
//! `system/init`, the resident memory of the first process is read. At the end
//! one of the sessions runs a turn, so that it is known to be one.

use agentx_core::agent::{AgentSession, Config, Input, Output, Provider};
use agentx_core::ids::Seed;
use agentx_core::machine::Machine as _;
use agentx_core::time::Instant;
use agentx_providers::registry::{FileFacts, Registry};
use agentx_pump::world::World;
use agentx_tools::{Toolbox, ToolboxConfig};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::Arc;

type Outcome<T> = Result<T, Box<dyn Error>>;

const SESSIONS: usize = 10_000;
const PROMPT: &[u8] = b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\
    \"SCRIPT {\\\"steps\\\":[{\\\"text\\\":\\\"awake\\\"}]}\"},\"parent_tool_use_id\":null}\n";

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["core", count] => core_alone(count.parse()?),
        ["serve", path, count] => serve(path, count.parse()?),
        [] => measure(SESSIONS),
        [count] => measure(count.parse()?),
        _ => Err("usage: idle [SESSIONS]".into()),
    }
}

/// Resident memory of this process, in bytes.
fn resident() -> Outcome<usize> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: usize = line
        .ok_or("no VmRSS")?
        .trim()
        .trim_end_matches(" kB")
        .parse()?;
    Ok(kib * 1024)
}

fn config() -> Arc<Config> {
    let provider = Provider::new("main", "scripted", "m");
    Arc::new(Config::new(Seed::from_u64(1), "/", provider))
}

fn session(config: &Arc<Config>, number: usize) -> AgentSession {
    let seed = Seed::from_u64(number as u64);
    AgentSession::with_seed(Arc::clone(config), seed, Instant::ZERO)
}

fn core_alone(count: usize) -> Outcome<()> {
    let config = config();
    let mut sessions = Vec::with_capacity(count);
    let before = resident()?;
    for number in 0..count {
        let mut session = session(&config, number);
        let mut written = 0;
        while let Some(output) = session.poll() {
            if let Output::Transmit(record) = output {
                written += record.as_bytes().len();
            }
        }
        session.handle(Instant::ZERO, Input::Sent(written))?;
        sessions.push(session);
    }
    let each = (resident()? - before) / count;
    eprintln!(
        "core alone: {each} bytes a session, {} of them its own size",
        size_of::<AgentSession>()
    );
    Ok(())
}

fn world() -> Outcome<World> {
    let registry = br#"{"version": 2, "providers": [
        {"id": "main", "type": "scripted", "scripted": {"model": "m", "from_prompt": true}}]}"#;
    let registry = Registry::parse(registry, &FileFacts::PRIVATE)?;
    let toolbox = ToolboxConfig::new("/nonexistent/home", BTreeMap::new());
    Ok(World::new(
        agentx_providers::provider::Provider::build(registry.select(None)?, None)?,
        Toolbox::new(toolbox),
        1,
    ))
}

/// The process that is measured: prints its memory when a line comes on stdin.
fn serve(path: &str, count: usize) -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let path = path.to_owned();
    let served = runtime.spawn(async move {
        let listener = tokio::net::UnixListener::bind(path)?;
        writeln!(std::io::stdout(), "listening")?;
        let config = config();
        for number in 0..count {
            let (stream, _) = listener.accept().await?;
            let (reader, writer) = tokio::io::split(stream);
            let session = session(&config, number);
            let world = || world().unwrap_or_else(|error| panic!("{error}"));
            tokio::spawn(agentx_tokio::serve(session, reader, writer, world));
        }
        Ok::<(), std::io::Error>(())
    });
    runtime.block_on(served)??;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    writeln!(std::io::stdout(), "{}", resident()?)?;
    std::io::stdin().read_line(&mut line)?;
    runtime.shutdown_background();
    Ok(())
}

/// All the hosts.
fn measure(count: usize) -> Outcome<()> {
    let this = std::env::current_exe()?;
    let status = Command::new(&this)
        .args(["core", &count.to_string()])
        .status()?;
    if !status.success() {
        return Err("the core alone failed".into());
    }
    let path = std::env::temp_dir().join(format!("agentx-idle-{}.sock", std::process::id()));
    let mut server = Command::new(&this)
        .args([
            "serve".as_ref(),
            path.as_os_str(),
            count.to_string().as_ref(),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut told = BufReader::new(server.stdout.take().ok_or("no pipe")?);
    let mut ask = server.stdin.take().ok_or("no pipe")?;
    let mut line = String::new();
    told.read_line(&mut line)?;
    let mut hosts = Vec::with_capacity(count);
    for _ in 0..count {
        let mut host = UnixStream::connect(&path)?;
        read_until(&mut host, "\"subtype\":\"init\"")?;
        hosts.push(host);
    }
    ask.write_all(b"how much?\n")?;
    line.clear();
    told.read_line(&mut line)?;
    let bytes: usize = line.trim().parse()?;
    eprintln!(
        "tokio driver: {count} idle sessions in {:.1} MB resident",
        bytes as f64 / 1e6
    );
    let host = hosts.last_mut().ok_or("no session")?;
    host.write_all(PROMPT)?;
    read_until(host, "\"result\":\"awake\"")?;
    eprintln!("one of them has run a turn");
    drop(hosts);
    drop(ask);
    server.wait()?;
    std::fs::remove_file(path)?;
    Ok(())
}

/// Reads until a text has come.
fn read_until(host: &mut UnixStream, text: &str) -> Outcome<()> {
    let mut seen = Vec::new();
    let mut piece = [0; 4096];
    while !String::from_utf8_lossy(&seen).contains(text) {
        let count = host.read(&mut piece)?;
        seen.extend_from_slice(&piece[..count]);
        if count == 0 {
            return Err(format!("the session ended: {}", String::from_utf8_lossy(&seen)).into());
        }
    }
    Ok(())
}
