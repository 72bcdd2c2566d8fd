//! Putting a session together: configuration, guards, world.

use crate::persistence::Persistence;
use crate::refusal::Refusal;
use crate::settings::Standing;
use agentx_core::agent::{AgentSession, Command, Config, Input, Output, Profile, Provider};
use agentx_core::correlate::OrphanPolicy;
use agentx_core::guard::Guard;
use agentx_core::hook::Hooks;
use agentx_core::ids::Seed;
use agentx_core::limits::Limits;
use agentx_core::machine::Machine as _;
use agentx_core::schema::Money;
use agentx_core::schema::declare::Json as _;
use agentx_core::schema::describe;
use agentx_core::schema::outbound::{ApiKeySource, ReasoningCapabilities};
use agentx_core::schema::payload::{
    InitializePayload, InitializeSession, ProviderDescriptor, ProviderIdentity,
};
use agentx_core::schema::permission::PermissionMode;
use agentx_core::structured::OutputSchema;
use agentx_core::time::{Instant, WallTime};
use agentx_core::tool::ToolSpec;
use agentx_providers::provider;
use agentx_providers::registry::{Descriptor, Entry, Registry};
use agentx_pump::tls::check_ca_file;
use agentx_pump::world::World;
use agentx_tools::{Toolbox, ToolboxConfig};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// What a session is put together from.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    /// All providers.
    pub(crate) registry: &'a Registry,
    /// The one to use.
    pub(crate) entry: &'a Entry,
    /// The reasoning effort to ask it for.
    pub(crate) effort: Option<Arc<str>>,
    /// Text of its script file, where it names one.
    pub(crate) script: Option<String>,
    /// Working directory, absolute.
    pub(crate) cwd: String,
    /// Which control operations are installed.
    pub(crate) profile: Profile,
    /// What the model is told first, if anything.
    pub(crate) system: Option<Arc<str>>,
    /// Permission mode at the start.
    pub(crate) permission_mode: PermissionMode,
    /// Whether a host is there to be asked; else a question is a denial.
    pub(crate) host_answers: bool,
    /// Model requests that one prompt may take (DEC-40).
    pub(crate) max_turns: Option<u32>,
    /// Money that the process may spend (DEC-40).
    pub(crate) max_budget: Option<Money>,
    /// Schema of the answer of each turn.
    pub(crate) output_schema: Option<OutputSchema>,
    /// Echo user records.
    pub(crate) replay_user_messages: bool,
    /// Write `stream_event` records.
    pub(crate) include_partial_messages: bool,
    /// Which session it is, and how it is stored.
    pub(crate) persistence: Persistence,
    /// Home, environment and bounds of the tools.
    pub(crate) tools: ToolboxConfig,
    /// Settings, further directories, chosen tools.
    pub(crate) standing: Standing,
}

impl Parts<'_> {
    /// The session and the world around it.
    ///
    /// # Errors
    ///
    /// A budget without prices, a `ca_file` or script that cannot be used, a
    /// credential or route in what the session would tell of itself.
    pub(crate) fn compose(mut self) -> Result<(AgentSession, World), Refusal> {
        if self.max_budget.is_some() && self.entry.pricing.is_none() {
            return Err(Refusal::new(format_args!(
                "--max-budget-usd: expected prices, but auth.json has no pricing for id {:?}",
                &*self.entry.id
            )));
        }
        if let Some(path) = &self.entry.ca_file {
            check_ca_file(Path::new(path.as_str())).map_err(|fault| {
                let id = &*self.entry.id;
                Refusal::new(format_args!("auth.json: id {id:?}: ca_file: {fault}"))
            })?;
        }
        let provider = provider::Provider::build(self.entry, self.script.as_deref())?;
        let epoch = epoch();
        let mut config = self.config()?;
        let store = self
            .persistence
            .enter(&mut config, self.entry.binding(), epoch);
        self.check_public(&config)?;
        let credential = self.entry.api_key.as_ref();
        let toolbox = Toolbox::new(ToolboxConfig {
            guard: config.credentials.clone(),
            ..self.tools
        });
        let world = World {
            credential: credential.cloned(),
            epoch,
            persist: self.standing.persist.take(),
            store,
            ..World::new(provider, toolbox, u64::from_le_bytes(random()?))
        };
        Ok((AgentSession::new(config, Instant::ZERO), world))
    }

    fn config(&self) -> Result<Config, Refusal> {
        let keys = || self.registry.key_spellings();
        let routes = self.registry.routing_values().map(str::to_owned);
        let mut profile = self.profile.clone();
        if let Profile::Reference(reference) = &mut profile {
            reference.rules.clone_from(&self.standing.rules);
        }
        Ok(Config {
            seed: Seed(random()?),
            profile,
            session_id: None,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            cwd: self.cwd.clone(),
            provider: self.selected()?,
            initialize: self.initialize()?,
            tools: self.offered().into(),
            system: self.system.clone(),
            permission_mode: self.permission_mode,
            settings: self.standing.layers.clone(),
            directories: self.standing.directories.clone(),
            host_answers: self.host_answers,
            orphans: OrphanPolicy::Ignore,
            max_turns: self.max_turns,
            max_budget: self.max_budget.map(|money| money.0),
            replay_user_messages: self.replay_user_messages,
            include_partial_messages: self.include_partial_messages,
            vet_records: false,
            flush_remote: false,
            credentials: Guard::new(keys()).map_err(Refusal::new)?,
            metadata: Guard::new(keys().chain(routes)).map_err(Refusal::new)?,
            resume: None,
            store: None,
            output_schema: self.output_schema.clone(),
            hooks: self.standing.hooks.clone(),
            limits: Limits::default(),
        })
    }

    /// The tools that the model is told of.
    fn offered(&self) -> Vec<ToolSpec> {
        let builtin = agentx_tools::builtin_specs();
        let mut tools = self.tools.specs();
        tools.retain(|spec| {
            let chosen = self.standing.tools.offers(&spec.name)
                || !builtin.iter().any(|known| known.name == spec.name);
            chosen
                && !self
                    .standing
                    .withheld
                    .iter()
                    .any(|name| **name == *spec.name)
        });
        tools
    }

    /// The selected provider as the session tells of it (WIRE-023): the efforts
    /// are those declared, whichever of them is used.
    fn selected(&self) -> Result<Provider, Refusal> {
        let public = self.entry.descriptor();
        Ok(Provider {
            id: Arc::clone(&self.entry.id),
            kind: public.provider_type.into(),
            model: Arc::clone(&self.entry.model),
            reasoning: reasoning(public.efforts, public.default_effort)?,
            effort: self.effort.clone(),
            pricing: self.entry.pricing,
            context_window: self.entry.limits.context_window,
            max_output_tokens: self.entry.limits.max_output_tokens,
        })
    }

    /// The answer to `initialize`, with the whole catalogue (WIRE-024).
    fn initialize(&self) -> Result<InitializePayload, Refusal> {
        let catalogue = self.registry.catalog().into_iter();
        let catalogue = catalogue
            .map(|public| {
                let selected = public.id == self.entry.id;
                described(public, selected)
            })
            .collect::<Result<_, Refusal>>()?;
        let session = InitializeSession {
            commands: Vec::new(),
            agents: Vec::new(),
            output_style: OUTPUT_STYLE.to_owned(),
            available_output_styles: vec![OUTPUT_STYLE.to_owned()],
            api_key_source: ApiKeySource::User,
            api_provider: self
                .profile
                .reference()
                .and_then(|_| api_provider(self.entry.descriptor().provider_type)),
            pid: std::process::id().into(),
            input_capabilities: None,
        };
        InitializePayload::new(catalogue, session).map_err(Refusal::new)
    }

    /// Holds what the session will tell of itself against the registry, while
    /// nothing is written yet (DEC-30). The session's own guard would find the
    /// same, but only to end it.
    fn check_public(&self, config: &Config) -> Result<(), Refusal> {
        self.registry.check_frames(&frames())?;
        let mut unguarded = Config {
            credentials: Guard::default(),
            metadata: Guard::default(),
            hooks: Hooks::default(),
            ..config.clone()
        };
        if let Profile::Reference(reference) = &mut unguarded.profile {
            reference.await_initialize = false;
            // They would be spoken to before anything is told.
            reference.sdk_servers.clear();
        }
        let mut told = AgentSession::new(unguarded, Instant::ZERO);
        if config.profile.is_reference() {
            // `init` comes with a turn (DEC-39).
            let prompt = Input::Command(Command::Prompt(String::new()));
            let _ = told.handle(Instant::ZERO, prompt);
        }
        while let Some(output) = told.poll() {
            if let Output::Transmit(record) = output {
                let record = String::from_utf8_lossy(record.as_bytes()).into_owned();
                self.registry.check_public(&record)?;
                break;
            }
        }
        let answer = config.initialize.to_raw().map_err(Refusal::new)?;
        Ok(self.registry.check_public(answer.as_str())?)
    }
}

/// Under which name existing hosts know the API of a type of entries.
fn api_provider(provider_type: &str) -> Option<String> {
    let name = match provider_type {
        "azure_openai" => "foundry",
        "anthropic" => "firstParty",
        _ => return None,
    };
    Some(name.to_owned())
}

/// Every name and word of the records that a session may write.
fn frames() -> String {
    let names = describe::names().into_iter();
    let schemas = names
        .filter(|name| name.starts_with("agent."))
        .filter_map(|name| describe::record_schema(&name));
    schemas
        .map(|schema| String::from_utf8_lossy(&schema).into_owned())
        .collect()
}

/// The one output style there is.
const OUTPUT_STYLE: &str = "default";

/// A provider as the catalogue shows it (WIRE-024).
pub(crate) fn described(public: Descriptor, selected: bool) -> Result<ProviderDescriptor, Refusal> {
    Ok(ProviderDescriptor::from(ProviderIdentity {
        id: public.id,
        provider_type: public.provider_type.into(),
        model: public.model,
        default: public.default,
        selected,
        reasoning: reasoning(public.efforts, public.default_effort)?,
    }))
}

fn reasoning(
    efforts: Vec<Arc<str>>,
    default: Option<Arc<str>>,
) -> Result<ReasoningCapabilities, Refusal> {
    match default {
        Some(default) => ReasoningCapabilities::new(efforts, default).map_err(Refusal::new),
        None => Ok(ReasoningCapabilities::none()),
    }
}

/// What we tell the model first.
pub(crate) fn system_prompt(cwd: &str) -> String {
    format!(
        "You are AgentX, an agent that works for its user through tools, on files and programs \
         of their machine ({os}). The working directory is {cwd}. Look before you change \
         something, do what was asked and no more, and check what you did. A call may be \
         refused; then say so, or find a way that is allowed. Answer briefly and truthfully: \
         what you found, what you changed, what is left.",
        os = std::env::consts::OS
    )
}

/// Bytes from the system's generator.
fn random<const N: usize>() -> Result<[u8; N], Refusal> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while let Some(rest @ [_, ..]) = bytes.get_mut(filled..) {
        match rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(Refusal::new(format_args!("no random numbers: {errno}"))),
        }
    }
    Ok(bytes)
}

/// The wall time now, which is the session's start.
fn epoch() -> WallTime {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    WallTime(u64::try_from(millis).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: DEC-47
    #[test]
    fn two_apis_have_names_that_existing_hosts_know() {
        let names = [
            "azure_openai",
            "anthropic",
            "openai",
            "openai_compatible",
            "scripted",
        ];
        let known: Vec<_> = names.into_iter().filter_map(api_provider).collect();
        assert_eq!(known, ["foundry", "firstParty"]);
    }
}
