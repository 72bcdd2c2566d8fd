//! The world of a play: the same folders, tools, hooks and provider each time.

use agentx_conformance::session::stored;
use agentx_core::agent::{AgentSession, Config};
use agentx_core::hook::{Hook, HookEvent, Hooks, Matcher};
use agentx_core::store::Beginning;
use agentx_core::time::{Instant, WallTime};
use agentx_providers::provider::Provider;
use agentx_providers::registry::{FileFacts, Registry, Secret};
use agentx_pump::http1::Limits;
use agentx_tools::{HookCommand, HookCommands, Toolbox, ToolboxConfig};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Entropy for the waits between attempts.
pub(crate) const SEED: u64 = 7;

/// When all plays begin.
pub(crate) const EPOCH: WallTime = WallTime(1_000_000);

/// How long a hook may take.
const HOOK_TIME: Duration = Duration::from_secs(60);

/// The hooks: what they are told of, the tool they are for, and their script.
const HOOKS: [(HookEvent, Option<&str>, &str); 4] = [
    (HookEvent::UserPromptSubmit, None, "true"),
    (HookEvent::PreToolUse, Some("Write"), "true"),
    (
        HookEvent::PermissionRequest,
        Some("Write"),
        r#"echo '{"decision":"allow"}'"#,
    ),
    (HookEvent::PostToolUse, Some("Read"), "exit 1"),
];

/// Folders that are made anew for each play, so that paths and what is found
/// there are the same.
#[derive(Debug)]
pub struct Scene {
    root: PathBuf,
    vetted: bool,
}

/// A provider and its key.
pub(crate) struct Model {
    pub(crate) provider: Provider,
    pub(crate) credential: Option<Secret>,
}

impl Scene {
    /// Sets the folders up under `root`, where nothing else is; `vetted` tells
    /// whether each record waits for a verdict.
    ///
    /// # Panics
    ///
    /// When that fails.
    #[must_use]
    pub fn set(root: &Path, vetted: bool) -> Self {
        let scene = Self {
            root: root.join("play"),
            vetted,
        };
        if scene.root.exists() {
            fs::remove_dir_all(&scene.root).unwrap();
        }
        fs::create_dir_all(scene.work()).unwrap();
        fs::create_dir(scene.temp()).unwrap();
        fs::write(scene.work().join("notes.txt"), "one\ntwo\nthree\n").unwrap();
        scene
    }

    fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    fn temp(&self) -> PathBuf {
        self.root.join("temp")
    }

    pub(crate) fn session(&self) -> AgentSession {
        let hook = |(event, tool, _): &(HookEvent, Option<&str>, &str)| Hook {
            event: *event,
            matcher: match tool {
                None => Matcher::All,
                Some(tool) => Matcher::Tools([Arc::from(*tool)].into()),
            },
            pattern: None,
            timeout: HOOK_TIME,
            callback: None,
        };
        let config = Config {
            tools: agentx_tools::builtin_specs().into(),
            cwd: self.work().to_str().unwrap().to_owned(),
            hooks: Hooks {
                list: HOOKS.iter().map(hook).collect(),
                transcript_path: String::new(),
                records: false,
            },
            include_partial_messages: true,
            vet_records: self.vetted,
            ..stored(Beginning::New)
        };
        AgentSession::new(config, Instant::ZERO)
    }

    pub(crate) fn toolbox(&self) -> Arc<Toolbox> {
        let hook = |(_, _, script): &(HookEvent, Option<&str>, &str)| {
            let command = ["/bin/sh", "-c", script].map(str::to_owned);
            HookCommand::new(&command, HOOK_TIME).unwrap()
        };
        Arc::new(Toolbox::new(ToolboxConfig {
            temp: self.temp(),
            hooks: HookCommands::new(HOOKS.iter().map(hook)).unwrap(),
            clock: || SystemTime::UNIX_EPOCH,
            ..ToolboxConfig::new(self.root.join("home"), BTreeMap::new())
        }))
    }
}

/// The model behind a port of this machine.
pub(crate) fn model(port: u16) -> Model {
    let text = format!(
        r#"{{"version":2,"providers":[{{"id":"main","type":"openai_compatible",
        "openai_compatible":{{"base_url":"http://127.0.0.1:{port}/v1","model":"m",
        "api_key":"sk-test-0123456789","api":"chat_completions"}}}}]}}"#
    );
    let registry = Registry::parse(text.as_bytes(), &FileFacts::PRIVATE).unwrap();
    Model {
        provider: Provider::build(registry.select(None).unwrap(), None).unwrap(),
        credential: registry.credentials().next().cloned(),
    }
}

pub(crate) const LIMITS: Limits = Limits::DEFAULT;
