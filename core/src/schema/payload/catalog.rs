//! The provider catalogue (WIRE-024, WIRE-026) and the initialize answer.

use crate::schema::declare::record;
use crate::schema::outbound::{ApiKeySource, InputCapabilities, ReasoningCapabilities};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// What the registry says about one provider; nothing of how it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderIdentity {
    /// Stable registry id.
    pub id: Arc<str>,
    /// Type of the entry.
    pub provider_type: Arc<str>,
    /// Logical model.
    pub model: Arc<str>,
    /// Whether it is the effective default; a single entry is.
    pub default: bool,
    /// Whether this process runs on it.
    pub selected: bool,
    /// The efforts it declares.
    pub reasoning: ReasoningCapabilities,
}

record! {
    /// A provider as clients see it (WIRE-024).
    pub sealed struct ProviderDescriptor {
        required value: Arc<str>,
        required id: Arc<str>,
        required provider_type as "providerType": Arc<str>,
        required model: Arc<str>,
        required display_name as "displayName": String,
        required description: &'static str,
        required default: bool,
        required selected: bool,
        flatten effort: Effort,
    }
}

record! {
    /// Declared efforts, flat and nested; both always agree (WIRE-024).
    pub sealed struct Effort {
        required supports_effort as "supportsEffort": bool,
        required supported_reasoning_efforts as "supportedReasoningEfforts": Vec<Arc<str>>,
        optional default_reasoning_effort as "defaultReasoningEffort": Option<Arc<str>>,
        required reasoning: ReasoningCapabilities,
    }
}

impl From<ReasoningCapabilities> for Effort {
    fn from(reasoning: ReasoningCapabilities) -> Self {
        Self {
            supports_effort: reasoning.supported(),
            supported_reasoning_efforts: reasoning.efforts().to_vec(),
            default_reasoning_effort: reasoning.default_effort().cloned(),
            reasoning,
        }
    }
}

impl From<ProviderIdentity> for ProviderDescriptor {
    fn from(provider: ProviderIdentity) -> Self {
        Self {
            value: provider.id.clone(),
            display_name: format!("{} ({})", provider.id, provider.model),
            description: match &*provider.provider_type {
                "azure_openai" => {
                    "Deployment-backed model endpoint configured by AgentX-home auth.json"
                }
                _ => "Model endpoint configured by AgentX-home auth.json",
            },
            id: provider.id,
            provider_type: provider.provider_type,
            model: provider.model,
            default: provider.default,
            selected: provider.selected,
            effort: provider.reasoning.into(),
        }
    }
}

record! {
    /// The selected logical model, for clients that choose by model (WIRE-024).
    pub sealed struct ModelDescriptor {
        required value: Arc<str>,
        required display_name as "displayName": Arc<str>,
        required description: &'static str,
        required provider: Arc<str>,
        required provider_type as "providerType": Arc<str>,
        flatten effort: Effort,
    }
}

impl From<&ProviderDescriptor> for ModelDescriptor {
    fn from(provider: &ProviderDescriptor) -> Self {
        Self {
            value: provider.model.clone(),
            display_name: provider.model.clone(),
            description: provider.description,
            provider: provider.id.clone(),
            provider_type: provider.provider_type.clone(),
            effort: provider.effort.clone(),
        }
    }
}

record! {
    /// A slash command.
    pub struct Command {
        /// Its name, without the slash.
        required name: String,
        /// What it does.
        required description: String,
        /// What may follow it.
        required argument_hint as "argumentHint": String,
    }
}

record! {
    /// An agent that can be chosen.
    pub struct AgentDescriptor {
        /// Its name.
        required name: String,
        /// What it is for.
        required description: String,
    }
}

record! {
    /// Who the requests run as (WIRE-016).
    pub sealed struct Account {
        required api_key_source as "apiKeySource": ApiKeySource,
        optional api_provider as "apiProvider": Option<String>,
        required provider: Arc<str>,
        required provider_type as "providerType": Arc<str>,
    }
}

record! {
    /// The answer to `initialize`.
    pub sealed struct InitializePayload {
        required commands: Vec<Command>,
        required agents: Vec<AgentDescriptor>,
        required output_style: String,
        required available_output_styles: Vec<String>,
        required models: [ModelDescriptor; 1],
        required providers: Vec<ProviderDescriptor>,
        required account: Account,
        required pid: u64,
        optional input_capabilities: Option<Box<InputCapabilities>>,
        optional hooks_applied: Option<bool>,
        optional hook_on_failure_supported: Option<bool>,
        optional mcp_servers_applied: Option<bool>,
        optional plugins_applied: Option<bool>,
        optional claude_code_version: Option<String>,
    }
}

/// What of an `initialize` was applied, whole or not (configuration, "Profiles").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitializeApplied {
    /// Every hook that wants to block when it fails.
    pub hooks: bool,
    /// Every MCP server.
    pub mcp_servers: bool,
    /// Every plugin.
    pub plugins: bool,
}

/// What the initialize answer says beside the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitializeSession {
    /// The slash commands.
    pub commands: Vec<Command>,
    /// The agents.
    pub agents: Vec<AgentDescriptor>,
    /// The output style.
    pub output_style: String,
    /// All output styles.
    pub available_output_styles: Vec<String>,
    /// Where the key came from.
    pub api_key_source: ApiKeySource,
    /// The word official clients know the provider by.
    pub api_provider: Option<String>,
    /// Process id.
    pub pid: u64,
    /// What may be attached; `None` in a text-only session.
    pub input_capabilities: Option<Box<InputCapabilities>>,
}

/// A catalogue in which not exactly one provider is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotOneSelected;

impl fmt::Display for NotOneSelected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the provider catalogue must have exactly one selected entry")
    }
}

impl core::error::Error for NotOneSelected {}

impl InitializePayload {
    /// The answer for a whole catalogue, in registry order. Model and account
    /// are those of its selected provider.
    ///
    /// # Errors
    ///
    /// [`NotOneSelected`] when none or several are selected.
    pub fn new(
        providers: Vec<ProviderDescriptor>,
        session: InitializeSession,
    ) -> Result<Self, NotOneSelected> {
        let mut selected = providers.iter().filter(|provider| provider.selected);
        let (Some(provider), None) = (selected.next(), selected.next()) else {
            return Err(NotOneSelected);
        };
        let provider = provider.clone();
        Ok(Self::selecting(&provider, providers, session))
    }

    /// The answer for a catalogue of one.
    #[must_use]
    pub fn of_one(mut provider: ProviderIdentity, session: InitializeSession) -> Self {
        (provider.default, provider.selected) = (true, true);
        let provider = ProviderDescriptor::from(provider);
        Self::selecting(&provider.clone(), alloc::vec![provider], session)
    }

    fn selecting(
        provider: &ProviderDescriptor,
        providers: Vec<ProviderDescriptor>,
        session: InitializeSession,
    ) -> Self {
        let account = Account {
            api_key_source: session.api_key_source,
            api_provider: session.api_provider,
            provider: provider.id.clone(),
            provider_type: provider.provider_type.clone(),
        };
        Self {
            commands: session.commands,
            agents: session.agents,
            output_style: session.output_style,
            available_output_styles: session.available_output_styles,
            models: [provider.into()],
            account,
            providers,
            pid: session.pid,
            input_capabilities: session.input_capabilities,
            hooks_applied: None,
            hook_on_failure_supported: None,
            mcp_servers_applied: None,
            plugins_applied: None,
            claude_code_version: None,
        }
    }

    /// The slash commands and the agents.
    #[must_use]
    pub fn offers(&self) -> (&[Command], &[AgentDescriptor]) {
        (&self.commands, &self.agents)
    }

    /// Lists the agents that a host brings.
    pub fn set_agents(&mut self, agents: Vec<AgentDescriptor>) {
        self.agents = agents;
    }

    /// Their names.
    #[must_use]
    pub fn agent_names(&self) -> Vec<String> {
        self.agents.iter().map(|agent| agent.name.clone()).collect()
    }

    /// Tells what was applied, as existing hosts look for it.
    pub fn apply(&mut self, applied: InitializeApplied, version: Option<String>) {
        self.hooks_applied = Some(applied.hooks);
        self.hook_on_failure_supported = Some(true);
        self.mcp_servers_applied = Some(applied.mcp_servers);
        self.plugins_applied = Some(applied.plugins);
        self.claude_code_version = version;
    }
}

record! {
    /// The document of `--list-providers --output-format json` (WIRE-026).
    pub sealed struct DiscoveryDocument {
        "version" = 1,
        required providers: Vec<ProviderDescriptor>,
    }
}

impl DiscoveryDocument {
    /// The whole registry, in its order; discovery selects nothing.
    #[must_use]
    pub fn new(mut providers: Vec<ProviderDescriptor>) -> Self {
        for provider in &mut providers {
            provider.selected = false;
        }
        Self { providers }
    }
}
