//! Sessions as tasks of one runtime.

use agentx_core::agent::{AgentSession, Config, Provider};
use agentx_core::ids::Seed;
use agentx_core::time::Instant;
use agentx_providers::registry::{FileFacts, Registry};
use agentx_pump::world::World;
use agentx_tools::{Toolbox, ToolboxConfig};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader, BufWriter};
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Bytes that the streams of a session hold; less than a record.
const STREAM_BYTES: usize = 256;

/// A wait that nobody should ever see.
const PATIENCE: Duration = Duration::from_secs(30);

fn runtime() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().unwrap()
}

fn config() -> Arc<Config> {
    let provider = Provider::new("main", "scripted", "m");
    Arc::new(Config::new(Seed::from_u64(1), "/", provider))
}

fn world() -> World {
    world_of(
        r#"{"id": "main", "type": "scripted", "scripted": {"model": "m", "from_prompt": true}}"#,
    )
}

/// A world whose model is a server at this port.
fn world_at(port: u16) -> World {
    world_of(&format!(
        r#"{{"id":"main","type":"openai_compatible","openai_compatible":{{"base_url":
        "http://127.0.0.1:{port}/v1","model":"m","api_key":"sk-test-0123456789",
        "api":"chat_completions"}}}}"#
    ))
}

fn world_of(provider: &str) -> World {
    let registry = format!(r#"{{"version": 2, "providers": [{provider}]}}"#);
    let registry = Registry::parse(registry.as_bytes(), &FileFacts::PRIVATE).unwrap();
    let toolbox = ToolboxConfig::new("/nonexistent/home", BTreeMap::new());
    let entry = registry.select(None).unwrap();
    let mut world = World::new(
        agentx_providers::provider::Provider::build(entry, None).unwrap(),
        Toolbox::new(toolbox),
        1,
    );
    world.credential = registry.credentials().next().cloned();
    world
}

/// A session that is served, and the host's ends of its streams.
struct Served {
    task: JoinHandle<std::io::Result<u8>>,
    records: BufReader<ReadHalf<DuplexStream>>,
    input: WriteHalf<DuplexStream>,
}

impl Served {
    fn start(config: &Arc<Config>, seed: u64) -> Self {
        Self::with(config, seed, |writer| writer, world)
    }

    /// The same with another writer over the same stream, and another world.
    fn with<W: AsyncWrite + Unpin + Send + 'static>(
        config: &Arc<Config>,
        seed: u64,
        over: impl FnOnce(WriteHalf<DuplexStream>) -> W,
        world: impl FnOnce() -> World + Send + 'static,
    ) -> Self {
        let (host, agent) = tokio::io::duplex(STREAM_BYTES);
        let (reader, writer) = tokio::io::split(agent);
        let seed = Seed::from_u64(seed);
        let session = AgentSession::with_seed(Arc::clone(config), seed, Instant::ZERO);
        let (records, input) = tokio::io::split(host);
        let served = agentx_tokio::serve(session, reader, over(writer), world);
        Self {
            task: tokio::spawn(served),
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

// covers: WIRE-003
#[test]
fn a_writer_that_keeps_bytes_for_itself_is_flushed_behind_each_record() {
    runtime().block_on(async {
        let mut served = Served::with(&config(), 1, BufWriter::new, world);
        let turn = async {
            served.until("\"init\"").await;
            served.write(&prompt("{\"text\":\"awake\"}")).await;
            served.until("\"type\":\"result\"").await;
            served.until("\"idle\"").await;
            assert_eq!(served.end().await, 0);
        };
        let turn = tokio::time::timeout(PATIENCE, turn).await;
        assert!(turn.is_ok(), "a record was kept");
    });
}

// covers: WIRE-011
#[test]
fn a_served_session_that_is_dropped_leaves_its_model() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let runtime = runtime();
    let served = runtime.block_on(async move {
        let world = move || world_at(port);
        let mut served = Served::with(&config(), 1, |writer| writer, world);
        served.write(&prompt("{\"hold\":true}")).await;
        served.until("\"running\"").await;
        served
    });
    let (mut socket, _) = listener.accept().unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    served.task.abort();
    // The request, then the end: nobody waits for an answer any more.
    let left = socket.read_to_end(&mut Vec::new());
    assert!(left.is_ok(), "{left:?}");
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
