//! `auth.json`, the registry of providers.

mod pricing;
mod secret;

pub use pricing::Pricing;
pub use secret::Secret;

use std::fmt;
use std::sync::Arc;

/// Every configured provider, in file order.
#[derive(Clone, Debug)]
pub struct Registry {
    entries: Vec<Entry>,
}

impl Registry {
    /// Reads the registry strictly: every entry is checked before any is used.
    ///
    /// # Errors
    ///
    /// The first fault, with the entry and member where it stands and never
    /// with the value of a secret.
    pub fn parse(bytes: &[u8], facts: &FileFacts) -> Result<Self, RegistryError> {
        let _ = (bytes, facts);
        Err(RegistryError(String::new()))
    }

    /// All entries, in file order.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry to use: the one named, else the only one, else the default.
    ///
    /// # Errors
    ///
    /// An id that no entry has; several entries without a default.
    pub fn select(&self, id: Option<&str>) -> Result<&Entry, RegistryError> {
        let _ = id;
        Err(RegistryError(String::new()))
    }

    /// The public catalog, in file order (WIRE-024, WIRE-026).
    #[must_use]
    pub fn catalog(&self) -> Vec<Descriptor> {
        Vec::new()
    }

    /// The keys of all entries, for the guard of every record (DEC-30).
    pub fn credentials(&self) -> impl Iterator<Item = &Secret> {
        self.entries
            .iter()
            .filter_map(|entry| entry.api_key.as_ref())
    }

    /// Routing values of all entries that the guard of `system/init`, the
    /// initialize answer and discovery looks for too (DEC-30).
    #[must_use]
    pub fn routing_values(&self) -> Vec<String> {
        Vec::new()
    }
}

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
    /// The key, if the type has one.
    pub api_key: Option<Secret>,
}

impl Entry {
    /// Name of the script file inside the home folder, for a `scripted` entry
    /// that has one.
    #[must_use]
    pub fn script_file(&self) -> Option<&str> {
        None
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
    /// The word used in `auth.json` and on the wire.
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

/// The public face of an entry (WIRE-024). `selected` and the derived members
/// are made where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Stable id.
    pub id: Arc<str>,
    /// The word of the type.
    pub provider_type: &'static str,
    /// The logical model name.
    pub model: Arc<str>,
    /// Declared reasoning efforts in order.
    pub efforts: Vec<Arc<str>>,
    /// The default among them.
    pub default_effort: Option<Arc<str>>,
    /// Effective default.
    pub default: bool,
}

/// What the operating system says about the opened `auth.json`.
#[derive(Clone, Copy, Debug)]
pub struct FileFacts {
    /// Whether it is a regular file (and no link was followed to open it).
    pub regular: bool,
    /// Permission bits of the file.
    pub mode: u32,
    /// Number of hard links.
    pub links: u64,
    /// Whether the effective user owns it.
    pub owned: bool,
    /// Permission bits of the home folder.
    pub home_mode: u32,
    /// Whether the effective user owns the home folder.
    pub home_owned: bool,
}

/// A registry that cannot be used: exit status 2. Its text holds no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryError(String);

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RegistryError {}
