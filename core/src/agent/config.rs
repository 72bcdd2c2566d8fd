//! What an agent session is made of; fixed for its life.

use super::profile::Profile;
use crate::agent_loop::Pricing;
use crate::correlate::OrphanPolicy;
use crate::guard::Guard;
use crate::hook::Hooks;
use crate::ids::Seed;
use crate::limits::Limits;
use crate::policy::Layers;
use crate::schema::outbound::{ApiKeySource, ReasoningCapabilities};
use crate::schema::payload::{InitializePayload, InitializeSession, ProviderIdentity};
use crate::schema::permission::PermissionMode;
use crate::store::{Restored, Storing};
use crate::structured::OutputSchema;
use crate::tool::ToolSpec;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Configuration of an [`AgentSession`](super::AgentSession).
#[derive(Clone, Debug)]
pub struct Config {
    /// Entropy of every id (DEC-17).
    pub seed: Seed,
    /// Which control operations are installed.
    pub profile: Profile,
    /// Id of the session; made from the seed when absent.
    pub session_id: Option<String>,
    /// Version of the product, as `system/init` tells it.
    pub version: String,
    /// Current directory, absolute.
    pub cwd: String,
    /// The selected provider.
    pub provider: Provider,
    /// The answer to `initialize`, with the whole catalogue (WIRE-024).
    pub initialize: InitializePayload,
    /// Tools offered to the model.
    pub tools: Arc<[ToolSpec]>,
    /// System prompt, if any.
    pub system: Option<Arc<str>>,
    /// Permission mode at the start.
    pub permission_mode: PermissionMode,
    /// Settings of all layers: rules, directories, and how command tools are
    /// judged. The mode above has been taken from them already, if it was.
    pub settings: Layers,
    /// Further working directories of the command line, absolute.
    pub directories: Vec<String>,
    /// Whether a host can be asked for permission; else a question is a denial.
    pub host_answers: bool,
    /// What becomes of orphan permission answers (DEC-49).
    pub orphans: OrphanPolicy,
    /// Model requests one prompt may take (DEC-40).
    pub max_turns: Option<u32>,
    /// Money the process may spend, in 10^-12 USD (DEC-40).
    pub max_budget: Option<u128>,
    /// Echo user records and matched control responses (DEC-50).
    pub replay_user_messages: bool,
    /// Write `stream_event` records.
    pub include_partial_messages: bool,
    /// Let the embedder's validator judge each record (WIRE-015, acceptance 18).
    pub vet_records: bool,
    /// Ask for a remote flush between a result and `idle` (acceptance 15).
    pub flush_remote: bool,
    /// Credentials that no session record may hold (DEC-30).
    pub credentials: Guard,
    /// Credentials and routing values that neither `system/init` nor the
    /// answer to `initialize` may hold (DEC-30).
    pub metadata: Guard,
    /// What an earlier run of this session left; `session_id` names it then.
    pub resume: Option<Restored>,
    /// How the session is stored; without it, it is not (DEC-32).
    pub store: Option<Storing>,
    /// The schema of each turn's structured output, where one is asked for.
    pub output_schema: Option<OutputSchema>,
    /// Hooks of the settings.
    pub hooks: Hooks,
    /// Bounds.
    pub limits: Limits,
}

/// The selected provider, as far as the session tells of it (WIRE-023).
#[derive(Clone, Debug)]
pub struct Provider {
    /// Registry id.
    pub id: Arc<str>,
    /// Registry type, such as `openai_compatible`.
    pub kind: Arc<str>,
    /// Logical model name.
    pub model: Arc<str>,
    /// Declared reasoning efforts.
    pub reasoning: ReasoningCapabilities,
    /// The effort the process chose, if any.
    pub effort: Option<Arc<str>>,
    /// Prices, where the entry names them (WIRE-012).
    pub pricing: Option<Pricing>,
    /// Context window in tokens.
    pub context_window: u64,
    /// Output limit of one request in tokens.
    pub max_output_tokens: u64,
}

impl Provider {
    /// A provider without efforts and prices, with the window and the output limit
    /// of an entry that names neither.
    #[must_use]
    pub fn new(id: &str, kind: &str, model: &str) -> Self {
        Self {
            id: id.into(),
            kind: kind.into(),
            model: model.into(),
            reasoning: ReasoningCapabilities::none(),
            effort: None,
            pricing: None,
            context_window: UNNAMED_TOKENS,
            max_output_tokens: UNNAMED_TOKENS,
        }
    }
}

/// Tokens of a provider that says nothing of them.
const UNNAMED_TOKENS: u64 = 128_000;

impl Config {
    /// The least that a session can be: one provider, and a host that answers
    /// questions; no tools, hooks, settings, credentials or store. Every field
    /// can be set afterwards.
    #[must_use]
    pub fn new(seed: Seed, cwd: &str, provider: Provider) -> Self {
        let identity = ProviderIdentity {
            id: provider.id.clone(),
            provider_type: provider.kind.clone(),
            model: provider.model.clone(),
            default: true,
            selected: true,
            reasoning: provider.reasoning.clone(),
        };
        let about = InitializeSession {
            commands: Vec::new(),
            agents: Vec::new(),
            output_style: OUTPUT_STYLE.into(),
            available_output_styles: alloc::vec![OUTPUT_STYLE.into()],
            api_key_source: ApiKeySource::User,
            api_provider: None,
            pid: 0,
            input_capabilities: None,
        };
        Self {
            seed,
            profile: Profile::Standalone,
            session_id: None,
            version: env!("CARGO_PKG_VERSION").into(),
            cwd: cwd.into(),
            provider,
            initialize: InitializePayload::of_one(identity, about),
            tools: Arc::default(),
            system: None,
            permission_mode: PermissionMode::Default,
            settings: Layers::new(),
            directories: Vec::new(),
            host_answers: true,
            orphans: OrphanPolicy::Ignore,
            max_turns: None,
            max_budget: None,
            replay_user_messages: false,
            include_partial_messages: false,
            vet_records: false,
            flush_remote: false,
            credentials: Guard::default(),
            metadata: Guard::default(),
            resume: None,
            store: None,
            output_schema: None,
            hooks: Hooks::default(),
            limits: Limits::DEFAULT,
        }
    }
}

/// The one output style there is without plugins.
const OUTPUT_STYLE: &str = "default";
