//! `agentx demo`: a whole session with nothing configured and no network.
//!
//! The model is scripted; all else is what a host gets: the same session, the
//! same driver, real tools in a temporary folder. The host is played here, over
//! the wire: it sends a user record, answers the permission question with a
//! control response, and shows what it sees.

mod folder;
mod host;
mod transcript;

use crate::compose::{self, Parts};
use crate::options::{Debugging, Driver, OutputFormat};
use crate::persistence::Persistence;
use crate::refusal::Refusal;
use crate::session;
use crate::settings::Standing;
use agentx_core::agent::Profile;
use agentx_core::schema::permission::PermissionMode;
use agentx_providers::registry::{FileFacts, Registry};
use agentx_pump::stdio::Patient;
use agentx_pump::world::Stdio;
use agentx_tools::ToolboxConfig;
use folder::Folder;
use host::DemoHost;
use std::io;
use std::sync::{Arc, OnceLock};
use transcript::Style;

/// The registry that the demo runs on.
const REGISTRY: &str = r#"{"version": 2, "providers": [
    {"id": "demo", "type": "scripted", "scripted": {"model": "scripted-demo", "script": "demo.json"}}
]}"#;

/// What the model says, one turn for each request.
const SCRIPT: &str = include_str!("demo/script.json");

/// The registry stands in this program, so nothing can be wrong with its file.
const FACTS: FileFacts = FileFacts::PRIVATE;

/// Plays the demo; gives the exit status.
///
/// # Errors
///
/// Without a temporary folder to play in.
pub(crate) fn run(output: OutputFormat, driver: Driver) -> Result<u8, Refusal> {
    session::start(&Debugging::default())?;
    let folder = Folder::create()?;
    let registry = Registry::parse(REGISTRY.as_bytes(), &FACTS)?;
    // Tools keep out of the user's home folder here as well, where there is one.
    let home = session::home_path().unwrap_or_else(|_| folder.path().join(".agentx"));
    let parts = Parts {
        registry: &registry,
        entry: registry.select(None)?,
        effort: None,
        script: Some(SCRIPT.to_owned()),
        cwd: folder.name().to_owned(),
        profile: Profile::Standalone,
        system: Some(compose::system_prompt(folder.name()).into()),
        permission_mode: PermissionMode::Default,
        host_answers: true,
        max_turns: None,
        max_budget: None,
        output_schema: None,
        replay_user_messages: false,
        include_partial_messages: false,
        persistence: Persistence::default(),
        tools: ToolboxConfig::new(home, session::tool_environment()),
        standing: Standing::default(),
    };
    let (session, world) = parts.compose()?;
    let style = match output {
        OutputFormat::StreamJson => Style::Records,
        OutputFormat::Text | OutputFormat::Json if crate::wants_colour() => Style::Coloured,
        OutputFormat::Text | OutputFormat::Json => Style::Plain,
    };
    let unread = Arc::new(OnceLock::new());
    let stdout = Patient(io::stdout());
    let host = DemoHost::new(style, folder.name(), stdout, Arc::clone(&unread));
    let status = session::drive(driver, session, world, Stdio::Host(Box::new(host)));
    Ok(unread.get().map_or(status, crate::unwritable))
}
