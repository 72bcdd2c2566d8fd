//! One provider of the registry.

use super::{Descriptor, Pricing, RegistryError, Secret};
use crate::http::BaseUrl;
use std::sync::Arc;

/// One provider of the registry.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Stable id, unique in the registry.
    pub id: Arc<str>,
    /// Type.
    pub provider_type: ProviderType,
    /// The logical model name.
    pub model: Arc<str>,
    /// Declared reasoning efforts in order; empty means no control (DEC-46).
    pub efforts: Vec<Arc<str>>,
    /// The effort used when none is asked for; a member of `efforts`.
    pub default_effort: Option<Arc<str>>,
    /// Effective default: marked so, or the only entry.
    pub default: bool,
    /// Whether attachments may go to this provider (DEC-23).
    pub media: bool,
    /// Prices, if known (WIRE-012, DEC-40).
    pub pricing: Option<Pricing>,
    /// Token limits.
    pub limits: TokenLimits,
    /// Path of further trusted certificates.
    pub ca_file: Option<String>,
    /// The key, if the entry has one.
    pub api_key: Option<Secret>,
    /// Where requests go.
    pub(crate) route: Route,
    /// What must not be seen of that, as it was written.
    pub(crate) routing: Vec<Routing>,
}

impl Entry {
    /// Name of the script file inside the home folder, for a `scripted` entry
    /// that has one.
    #[must_use]
    pub fn script_file(&self) -> Option<&str> {
        match &self.route {
            Route::Scripted(ScriptSource::File(name)) => Some(name),
            _ => None,
        }
    }

    /// The reasoning effort that a process runs with: the one asked for, else
    /// the default. `None` where the entry declares none (DEC-46).
    ///
    /// # Errors
    ///
    /// One that the entry does not declare; names those that it does.
    pub fn effort(&self, asked: Option<&str>) -> Result<Option<Arc<str>>, RegistryError> {
        let Some(asked) = asked else {
            return Ok(self.default_effort.clone());
        };
        if let Some(known) = self.efforts.iter().find(|effort| ***effort == *asked) {
            return Ok(Some(Arc::clone(known)));
        }
        // What was asked for is not shown: it may be anything.
        Err(RegistryError(if self.efforts.is_empty() {
            format!(
                "auth.json: id {:?} declares no efforts, so --effort has nothing to choose from",
                &*self.id
            )
        } else {
            format!(
                "auth.json: id {:?} does not declare the effort given by --effort; it declares: {}",
                &*self.id,
                self.efforts.join(", ")
            )
        }))
    }

    /// The public face (WIRE-024).
    #[must_use]
    pub fn descriptor(&self) -> Descriptor {
        Descriptor {
            id: Arc::clone(&self.id),
            provider_type: self.provider_type.as_str(),
            model: Arc::clone(&self.model),
            efforts: self.efforts.clone(),
            default_effort: self.default_effort.clone(),
            default: self.default,
        }
    }
}

/// Provider types (configuration contract).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderType {
    /// Azure `OpenAI`, Responses API.
    AzureOpenai,
    /// `OpenAI`.
    Openai,
    /// Anthropic, Messages API.
    Anthropic,
    /// A server that speaks an `OpenAI` dialect.
    OpenaiCompatible,
    /// Answers from a script, without a network.
    Scripted,
}

impl ProviderType {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::AzureOpenai,
        Self::Openai,
        Self::Anthropic,
        Self::OpenaiCompatible,
        Self::Scripted,
    ];

    /// The word used in `auth.json` and on the wire; also the name of the
    /// entry's own object.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AzureOpenai => "azure_openai",
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::OpenaiCompatible => "openai_compatible",
            Self::Scripted => "scripted",
        }
    }
}

/// Token limits of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenLimits {
    /// Tokens that request and answer may have together.
    pub context_window: u64,
    /// Tokens that one answer may have.
    pub max_output_tokens: u64,
    /// Whether the operator declared `max_output_tokens`. A mere default is
    /// not sent, since servers refuse a bound above their own.
    pub max_output_declared: bool,
}

/// Dialects of the `OpenAI` types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// The Responses API.
    Responses,
    /// The Chat Completions API.
    ChatCompletions,
}

/// Where requests go.
#[derive(Clone, Debug)]
pub(crate) enum Route {
    /// Azure: its own header and route.
    Azure {
        /// The endpoint without the path of an API.
        resource: BaseUrl,
        deployment: Arc<str>,
        api_version: Arc<str>,
    },
    /// One of the `OpenAI` dialects.
    Openai { base: BaseUrl, api: Api },
    /// The Messages API.
    Anthropic { base: BaseUrl },
    /// No network.
    Scripted(ScriptSource),
}

/// Where a scripted provider finds its turns.
#[derive(Clone, Debug)]
pub(crate) enum ScriptSource {
    /// A file of that name in the home folder.
    File(String),
    /// The prompts.
    Prompt,
}

/// A routing value, as written.
#[derive(Clone, Debug)]
pub(crate) struct Routing {
    /// Its member inside the type's object.
    pub(crate) member: &'static str,
    pub(crate) value: String,
}
