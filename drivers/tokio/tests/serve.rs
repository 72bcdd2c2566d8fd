//! Sessions as tasks of one runtime.

use agentx_core::agent::{AgentSession, Config, Provider};
use agentx_core::ids::Seed;
use agentx_core::time::Instant;
use agentx_providers::registry::{FileFacts, Registry};
use agentx_pump::world::World;
use agentx_tools::{Toolbox, ToolboxConfig};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::io::{ReadHalf, WriteHalf};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Bytes that the streams of a session hold; less than a record.
const STREAM_BYTES: usize = 256;

fn runtime() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().unwrap()
}

fn config() -> Arc<Config> {
    let provider = Provider::new("main", "scripted", "m");
    Arc::new(Config::new(Seed::from_u64(1), "/", provider))
}

fn world() -> World {
    let registry = br#"{"version": 2, "providers": [
        {"id": "main", "type": "scripted", "scripted": {"model": "m", "from_prompt": true}}]}"#;
    let registry = Registry::parse(registry, &FileFacts::PRIVATE).unwrap();
    let toolbox = ToolboxConfig::new("/nonexistent/home", BTreeMap::new());
    let entry = registry.select(None).unwrap();
    World::new(
        agentx_providers::provider::Provider::build(entry, None).unwrap(),
        Toolbox::new(toolbox),
        1,
    )
}

/// A session that is served, and the host's ends of its streams.
struct Served {
    task: JoinHandle<std::io::Result<u8>>,
    records: BufReader<ReadHalf<DuplexStream>>,
    input: WriteHalf<DuplexStream>,
}

impl Served {
    fn start(config: &Arc<Config>, seed: u64) -> Self {
        let (host, agent) = tokio::io::duplex(STREAM_BYTES);
        let (reader, writer) = tokio::io::split(agent);
        let seed = Seed::from_u64(seed);
        let session = AgentSession::with_seed(Arc::clone(config), seed, Instant::ZERO);
        let (records, input) = tokio::io::split(host);
        Self {
            task: tokio::spawn(agentx_tokio::serve(session, reader, writer, world)),
            records: BufReader::new(records),
            input,
        }
    }

    /// The next record that has this text; empty at the end.
    async fn until(&mut self, text: &str) -> String {
        loop {
            let mut line = String::new();
            self.records.read_line(&mut line).await.unwrap();
            if line.is_empty() || line.contains(text) {
                return line;
            }
        }
    }

    async fn write(&mut self, text: &str) {
        self.input.write_all(text.as_bytes()).await.unwrap();
    }

    async fn end(mut self) -> u8 {
        self.input.shutdown().await.unwrap();
        assert_eq!(self.until("nothing has this").await, "");
        self.task.await.unwrap().unwrap()
    }
}

fn prompt(steps: &str) -> String {
    let script = format!("SCRIPT {{\"steps\":[{steps}]}}").replace('"', "\\\"");
    format!(
        "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{script}\"}},\"parent_tool_use_id\":null}}\n"
    )
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

// covers: WIRE-003, WIRE-EOF-001
#[test]
fn sessions_of_one_runtime_each_answer_their_host() {
    runtime().block_on(async {
        let config = config();
        let mut all: Vec<_> = (0..8).map(|n| Served::start(&config, n)).collect();
        let mut ids = Vec::new();
        for served in &mut all {
            ids.push(served.until("\"init\"").await);
        }
        ids.dedup();
        assert_eq!(ids.len(), all.len(), "each has an id of its own");
        for (n, served) in all.iter_mut().enumerate() {
            served
                .write(&prompt(&format!("{{\"text\":\"answer {n}\"}}")))
                .await;
        }
        for (n, mut served) in all.into_iter().enumerate() {
            let result = served.until("\"type\":\"result\"").await;
            assert!(
                result.contains(&format!("\"result\":\"answer {n}\"")),
                "{result}"
            );
            assert_eq!(served.end().await, 0);
        }
    });
}

#[test]
fn an_idle_session_has_no_thread_and_makes_no_world() {
    let runtime = runtime();
    runtime.block_on(async {
        let config = config();
        let before = threads();
        let mut all: Vec<_> = (0..100).map(|n| Served::start(&config, n)).collect();
        for served in &mut all {
            served.until("\"init\"").await;
            // Operations that need nothing of the world leave it at that.
            served
                .write("{\"type\":\"control_request\",\"request_id\":\"i\",\"request\":{\"subtype\":\"initialize\"}}\n")
                .await;
            served.until("\"control_response\"").await;
        }
        // Other tests of this process have some, too.
        assert!(threads() < before + all.len(), "one a session, at least");
        for served in all {
            assert_eq!(served.end().await, 0);
        }
    });
}

// covers: WIRE-010, WIRE-011
#[test]
fn a_served_session_is_interrupted_in_its_turn() {
    runtime().block_on(async {
        let mut served = Served::start(&config(), 1);
        served.write(&prompt("{\"hold\":true}")).await;
        served.until("\"running\"").await;
        served
            .write("{\"type\":\"control_request\",\"request_id\":\"x\",\"request\":{\"subtype\":\"interrupt\"}}\n")
            .await;
        served.until("\"control_response\"").await;
        let result = served.until("\"type\":\"result\"").await;
        assert!(result.contains("error_during_execution"), "{result}");
        served.write(&prompt("{\"text\":\"again\"}")).await;
        let result = served.until("\"type\":\"result\"").await;
        assert!(result.contains("\"result\":\"again\""), "{result}");
        assert_eq!(served.end().await, 0);
    });
}

// covers: DEC-06
#[test]
fn unreadable_input_ends_a_served_session_with_status_1() {
    runtime().block_on(async {
        let mut served = Served::start(&config(), 1);
        served.write("{\n").await;
        let result = served.until("\"type\":\"result\"").await;
        assert!(result.contains("malformed NDJSON input"), "{result}");
        assert_eq!(served.end().await, 1);
    });
}

// covers: DEC-11
#[test]
fn a_host_that_is_gone_ends_a_served_session() {
    runtime().block_on(async {
        let served = Served::start(&config(), 1);
        let Served {
            task,
            records,
            input,
        } = served;
        drop((records, input));
        assert_eq!(task.await.unwrap().unwrap(), 1);
    });
}

/// Bytes of the future of an idle session, which its task holds.
const IDLE_FUTURE: usize = 272;

#[test]
fn an_idle_task_is_small() {
    let session = AgentSession::with_seed(config(), Seed::from_u64(1), Instant::ZERO);
    let (stream, _host) = tokio::io::duplex(STREAM_BYTES);
    let (reader, writer) = tokio::io::split(stream);
    let task = agentx_tokio::serve(session, reader, writer, world);
    let bytes = size_of_val(&task);
    assert!(bytes <= IDLE_FUTURE, "{bytes} bytes");
}
