//! What all worlds share: made once, never changed.

use agentx_core::agent::Provider;
use agentx_core::agent_loop::Pricing;
use agentx_core::guard::Guard;
use agentx_core::hook::{Hook, HookEvent, Matcher};
use agentx_core::json::{RawJson, ScanLimits, Scanner, Value};
use agentx_core::limits::Limits;
use agentx_core::policy::{Layer, Layers, Settings};
use agentx_core::schema::outbound::{ApiKeySource, ReasoningCapabilities};
use agentx_core::schema::payload::{InitializePayload, InitializeSession, ProviderIdentity};
use agentx_core::schema::permission::PermissionUpdate;
use agentx_core::store::Binding;
use agentx_core::structured::OutputSchema;
use agentx_core::tool::{Background, ToolClass, ToolSpec};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// The credential of every world; no record may carry it.
pub const SECRET: &str = "sk-sim-0123456789abcdef";

/// Credentials that look like pieces of records, in their first half and their last.
pub(crate) const FRAGMENTS: [&str; 4] = [
    r#""is_error":true,"#,
    r#""num_turns":2"#,
    r#""subtype":"hook_response""#,
    r#""state":"requires_action""#,
];

/// A value that tells where a provider stands, as its errors do. Neither
/// `system/init` nor an error of ours may carry it.
pub const ROUTE: &str = "https://models.sim.invalid/route";

/// Parts of configurations.
#[derive(Debug)]
pub struct Kit {
    /// Tools of every session.
    pub tools: Arc<[ToolSpec]>,
    /// The catalogue.
    pub initialize: InitializePayload,
    /// The provider.
    pub provider: Provider,
    /// Prices, where a run has some.
    pub pricing: Pricing,
    /// The credential.
    pub credentials: Guard,
    /// The credential, and one that looks like a piece of a record.
    pub fragments: [Guard; 4],
    /// The credential and the route.
    pub metadata: Guard,
    /// Settings of some rules.
    pub settings: [Layers; 3],
    /// A schema of structured output.
    pub schema: OutputSchema,
    /// Hooks of all events.
    pub hooks: Arc<[Hook]>,
    /// What stored sessions are bound to.
    pub binding: Binding,
    /// Lists of permission updates whose order matters.
    pub updates: Vec<Vec<PermissionUpdate>>,
}

static KIT: LazyLock<Kit> = LazyLock::new(Kit::new);

/// The kit.
#[must_use]
pub fn kit() -> &'static Kit {
    &KIT
}

fn tool(name: &str, class: ToolClass) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "a tool of the simulator".into(),
        input_schema: RawJson::empty_object(),
        class,
        path_member: matches!(class, ToolClass::ReadOnly | ToolClass::Edit).then_some("file_path"),
        parallel: matches!(class, ToolClass::ReadOnly | ToolClass::Inert),
        background: match class {
            ToolClass::Execute => Background::When("run_in_background"),
            ToolClass::Inert | ToolClass::ReadOnly | ToolClass::Edit => Background::Never,
        },
    }
}

/// Lists of updates as hosts write them.
const UPDATES: [&str; 11] = [
    r#"[{"type":"addRules","rules":[{"toolName":"Look"}],"behavior":"ask","destination":"userSettings"}]"#,
    r#"[{"type":"addRules","rules":[{"toolName":"Change"}],"behavior":"ask","destination":"projectSettings"},{"type":"addRules","rules":[{"toolName":"Do","ruleContent":"ls"}],"behavior":"allow","destination":"session"}]"#,
    r#"[{"type":"setMode","mode":"default","destination":"localSettings"}]"#,
    r#"[{"type":"addRules","rules":[{"toolName":"Do"}],"behavior":"allow","destination":"userSettings"},{"type":"removeRules","rules":[{"toolName":"Do"}],"behavior":"allow","destination":"userSettings"}]"#,
    r#"[{"type":"removeRules","rules":[{"toolName":"Do"}],"behavior":"allow","destination":"session"},{"type":"addRules","rules":[{"toolName":"Do"}],"behavior":"allow","destination":"session"}]"#,
    r#"[{"type":"addRules","rules":[{"toolName":"Change"}],"behavior":"deny","destination":"localSettings"},{"type":"setMode","mode":"acceptEdits","destination":"session"},{"type":"replaceRules","rules":[],"behavior":"deny","destination":"localSettings"}]"#,
    r#"[{"type":"setMode","mode":"plan","destination":"session"},{"type":"setMode","mode":"default","destination":"session"}]"#,
    r#"[{"type":"setMode","mode":"default","destination":"session"},{"type":"setMode","mode":"dontAsk","destination":"session"}]"#,
    r#"[{"type":"addDirectories","directories":["/etc"],"destination":"session"},{"type":"removeDirectories","directories":["/etc"],"destination":"session"}]"#,
    r#"[{"type":"addRules","rules":[{"toolName":"Do"}],"behavior":"allow","destination":"projectSettings"},{"type":"addDirectories","directories":["/etc"],"destination":"cliArg"}]"#,
    "[]",
];

fn updates(text: &str) -> Vec<PermissionUpdate> {
    let mut scanner = Scanner::new();
    let list = scanner.scan(text.as_bytes(), &ScanLimits::DEFAULT).ok();
    let list = list.and_then(Value::as_array).expect("a list of updates");
    let update = |value| PermissionUpdate::from_value(value).expect("an update");
    list.iter().map(update).collect()
}

fn layers(text: &str) -> Layers {
    let mut layers = Layers::new();
    let settings = Settings::read(text.as_bytes()).expect("settings of the simulator");
    layers.set(Layer::User, settings);
    layers
}

impl Kit {
    fn new() -> Self {
        let reasoning = ReasoningCapabilities::none();
        let identity = ProviderIdentity {
            id: "main".into(),
            provider_type: "scripted".into(),
            model: "sim-model".into(),
            default: true,
            selected: true,
            reasoning: reasoning.clone(),
        };
        let about = InitializeSession {
            commands: Vec::new(),
            agents: Vec::new(),
            output_style: "default".to_string(),
            available_output_styles: vec!["default".to_string()],
            api_key_source: ApiKeySource::User,
            api_provider: None,
            pid: 4_242,
            input_capabilities: None,
        };
        let guard = |literals: &[&str]| Guard::new(literals).expect("a guard of two words");
        let hook = |event: &HookEvent| Hook {
            event: *event,
            matcher: Matcher::All,
            pattern: None,
            callback: None,
            timeout: Duration::from_secs(60),
        };
        Self {
            tools: [
                tool("Look", ToolClass::ReadOnly),
                tool("Change", ToolClass::Edit),
                tool("Do", ToolClass::Execute),
                tool("Time", ToolClass::Inert),
            ]
            .into(),
            initialize: InitializePayload::new(vec![identity.into()], about)
                .expect("one provider is selected"),
            provider: Provider {
                id: "main".into(),
                kind: "scripted".into(),
                model: "sim-model".into(),
                reasoning,
                effort: None,
                pricing: None,
                context_window: 128_000,
                max_output_tokens: 128_000,
            },
            pricing: Pricing {
                input: 3_000_000,
                output: 15_000_000,
                cache_read: 300_000,
                cache_write: 3_750_000,
            },
            credentials: guard(&[SECRET]),
            fragments: FRAGMENTS.map(|fragment| guard(&[SECRET, fragment])),
            metadata: guard(&[SECRET, ROUTE]),
            settings: [
                Layers::new(),
                layers(r#"{"permissions":{"allow":["Do","mcp__a","mcp__b"]}}"#),
                layers(r#"{"permissions":{"deny":["Change"],"ask":["Look"]}}"#),
            ],
            schema: OutputSchema::parse(
                br#"{"type":"object","properties":{"n":{"type":"integer"}}}"#,
                &Limits::DEFAULT,
            )
            .expect("a schema of an object"),
            hooks: HookEvent::ALL.iter().map(hook).collect(),
            binding: Binding {
                provider: "main".into(),
                kind: "scripted".into(),
                model: "sim-model".into(),
                route: "00ff".into(),
            },
            updates: UPDATES.iter().map(|list| updates(list)).collect(),
        }
    }
}
