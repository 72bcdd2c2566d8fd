//! A driver without a runtime, and streams in memory.

use agentx_conformance::session::config;
use agentx_core::agent::{AgentSession, Config};
use agentx_core::effect::EffectId;
use agentx_core::time::Instant;
use agentx_providers::provider::Provider;
use agentx_providers::registry::{FileFacts, Registry};
use agentx_pump::drive::{Act, Drive};
use agentx_pump::pump::{ModelTask, News, Post, Pump, Streams};
use agentx_pump::world::{Stdio, World};
use agentx_tools::{Toolbox, ToolboxConfig};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// A wait that nobody should ever see; only a hang ends here.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A configuration with the built-in tools.
pub(crate) fn configured() -> Config {
    Config {
        tools: agentx_tools::builtin_specs().into(),
        cwd: "/".to_owned(),
        ..config()
    }
}

/// A world whose model takes its script from the prompts.
pub(crate) fn world() -> World {
    let registry = br#"{"version": 2, "providers": [
        {"id": "main", "type": "scripted", "scripted": {"model": "m", "from_prompt": true}}]}"#;
    let registry = Registry::parse(registry, &FileFacts::PRIVATE).unwrap();
    World::new(
        Provider::build(registry.select(None).unwrap(), None).unwrap(),
        Toolbox::new(ToolboxConfig::new("/nonexistent/home", BTreeMap::new())),
        1,
    )
}

/// Bytes that were written, and more that others write.
#[derive(Clone, Default)]
pub(crate) struct Sink(Arc<Mutex<Vec<u8>>>);

impl Sink {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// The records; fails unless every line is one.
    pub(crate) fn records(&self) -> Vec<Value> {
        let text = self.text();
        assert!(text.is_empty() || text.ends_with('\n'), "{text}");
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Lets others pass once it is open.
#[derive(Clone, Default)]
pub(crate) struct Door(Arc<(Mutex<bool>, Condvar)>);

impl Door {
    pub(crate) fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    pub(crate) fn pass(&self) {
        let open = self.0.0.lock().unwrap();
        let shut = |open: &mut bool| !*open;
        let (open, _) = self.0.1.wait_timeout_while(open, PATIENCE, shut).unwrap();
        assert!(*open, "the door stays shut");
    }
}

/// An input that never says anything.
pub(crate) struct Silent;

impl Read for Silent {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        loop {
            std::thread::park();
        }
    }
}

pub(crate) fn input(lines: &[String]) -> Box<dyn Read + Send> {
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Box::new(Cursor::new(lines.into_bytes()))
}

/// A session, and the loop that drives it.
pub(crate) struct Bench {
    pub(crate) pump: Pump,
    pub(crate) news: Receiver<News>,
    post: Post,
    pub(crate) drives: BTreeMap<EffectId, Drive>,
}

/// News and where to put them, before there is a session.
pub(crate) fn channel_of_news() -> (Post, Receiver<News>) {
    let (sender, news) = channel();
    (Arc::new(move |item| drop(sender.send(item))), news)
}

impl Bench {
    pub(crate) fn start(
        config: Config,
        world: World,
        stdio: Stdio,
        streams: Streams,
        (post, news): (Post, Receiver<News>),
    ) -> Self {
        let session = AgentSession::new(config, Instant::ZERO);
        let world = World {
            streams: Some(streams),
            ..world
        };
        let pump = Pump::start(session, world, stdio, &post).unwrap();
        Self {
            pump,
            news,
            post,
            drives: BTreeMap::new(),
        }
    }

    /// Does what needs no waiting.
    pub(crate) fn settle(&mut self) {
        loop {
            while let Some(task) = self.pump.next_model() {
                match task {
                    ModelTask::Run(id, run) => {
                        let (post, now) = (Arc::clone(&self.post), self.pump.now());
                        self.drives.insert(id, Drive::begin(*run, id, post, now));
                    }
                    ModelTask::Cancel(id) => drop(self.drives.remove(&id)),
                }
            }
            if !self.step_drives() {
                return;
            }
        }
    }

    /// Whether a model run had something to say or to do.
    fn step_drives(&mut self) -> bool {
        let mut stepped = false;
        let ids: Vec<EffectId> = self.drives.keys().copied().collect();
        for id in ids {
            let Some(drive) = self.drives.get_mut(&id) else {
                continue;
            };
            match drive.poll() {
                Act::Tell(news) => self.pump.model(id, news),
                Act::Wait if drive.wait() == Some(Duration::ZERO) => drive.due(),
                Act::Wait => continue,
                Act::Over => drop(self.drives.remove(&id)),
                act => panic!("a script has no socket: {act:?}"),
            }
            stepped = true;
        }
        stepped
    }

    /// Takes one piece of news and what follows from it; gives a copy.
    #[track_caller]
    pub(crate) fn step(&mut self) -> News {
        self.settle();
        let waits = self.drives.values().filter_map(Drive::wait);
        let wait = waits.min().unwrap_or(PATIENCE);
        match self.news.recv_timeout(wait) {
            Ok(news) => {
                self.pump.take(news.clone());
                self.settle();
                news
            }
            Err(RecvTimeoutError::Timeout) if wait < PATIENCE => self.step(),
            Err(error) => panic!("nothing happens: {error}"),
        }
    }

    /// Runs the session to its end; gives the exit status.
    #[track_caller]
    pub(crate) fn end(mut self) -> u8 {
        self.settle();
        while self.pump.exit().is_none() {
            self.step();
        }
        self.pump.finish()
    }
}

/// A duplex session over these streams, to its end. Gives its exit status.
#[track_caller]
pub(crate) fn run(config: Config, world: World, streams: Streams) -> u8 {
    Bench::start(config, world, duplex(), streams, channel_of_news()).end()
}

pub(crate) fn duplex() -> Stdio {
    Stdio::Records {
        prompts: Vec::new(),
        stdin: true,
    }
}

/// A user record.
pub(crate) fn user(content: &str) -> String {
    let message = json!({"role": "user", "content": content});
    json!({"type": "user", "message": message, "parent_tool_use_id": null}).to_string()
}

/// A prompt that scripts the answers to itself.
pub(crate) fn script(steps: &Value) -> String {
    user(&format!("SCRIPT {}", json!({"steps": steps})))
}

/// A control request.
pub(crate) fn control(id: &str) -> String {
    let request = json!({"subtype": "mcp_status"});
    json!({"type": "control_request", "request_id": id, "request": request}).to_string()
}

/// The types of records, with subtype and state where they have one.
pub(crate) fn kinds(records: &[Value]) -> Vec<&str> {
    records.iter().map(kind).collect()
}

fn kind(record: &Value) -> &str {
    match record["subtype"].as_str() {
        Some("session_state_changed") => record["state"].as_str().unwrap(),
        Some(subtype) => subtype,
        None => record["type"].as_str().unwrap(),
    }
}
