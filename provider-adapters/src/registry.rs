//! `auth.json`, the registry of providers.
//!
//! Reading is pure: the driver opens the file, and hands over its bytes and
//! what the operating system says about it.

mod binding;
mod entry;
mod guard;
mod pricing;
mod read;
mod rules;
mod secret;

pub use agentx_core::agent_loop::Pricing;
pub use entry::{Api, Entry, ProviderType, TokenLimits};
pub(crate) use entry::{Route, Routing, ScriptSource};
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
        facts.check("auth.json")?;
        let entries = read::entries(bytes)?;
        guard::check_collisions(&entries)?;
        Ok(Self { entries })
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
        let found = match id {
            Some(id) => self.entries.iter().find(|entry| *entry.id == *id),
            None => self.entries.iter().find(|entry| entry.default),
        };
        found.ok_or_else(|| {
            let known: Vec<&str> = self.entries.iter().map(|entry| &*entry.id).collect();
            let known = known.join(", ");
            // What was asked for is not shown: it may be anything.
            RegistryError(match id {
                Some(_) => format!("auth.json: no provider has the id given by --provider; there are: {known}"),
                None => format!(
                    "auth.json: several providers and no default: name one with --provider ({known}), \
                     or mark one entry \"default\": true"
                ),
            })
        })
    }

    /// The public catalog, in file order (WIRE-024, WIRE-026).
    #[must_use]
    pub fn catalog(&self) -> Vec<Descriptor> {
        self.entries.iter().map(Entry::descriptor).collect()
    }

    /// Refuses to go on when `public`, what a session is about to tell of
    /// itself, holds a key or a routing value (DEC-30).
    ///
    /// # Errors
    ///
    /// Names the entry and the member, not the value.
    pub fn check_public(&self, public: &str) -> Result<(), RegistryError> {
        guard::check_public(&self.entries, public)
    }

    /// The keys of all entries, for the guard of every record (DEC-30).
    pub fn credentials(&self) -> impl Iterator<Item = &Secret> {
        self.entries
            .iter()
            .filter_map(|entry| entry.api_key.as_ref())
    }

    /// The same in every spelling that a peer or a tool may give them.
    pub fn key_spellings(&self) -> impl Iterator<Item = String> {
        self.credentials().flat_map(Secret::spellings)
    }

    /// Refuses keys that the names, words and punctuation of records spell by
    /// themselves, whatever a session says (DEC-30). `words` holds every name and
    /// word of those records.
    ///
    /// # Errors
    ///
    /// The entry and the member.
    pub fn check_frames(&self, words: &str) -> Result<(), RegistryError> {
        guard::check_frames(&self.entries, words)
    }

    /// Routing values of all entries that the guard of `system/init`, the
    /// initialize answer and discovery looks for beside the keys (DEC-30).
    pub fn routing_values(&self) -> impl Iterator<Item = &str> {
        guard::routing_values(&self.entries).map(|(_, routing)| routing.value.as_str())
    }
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

impl FileFacts {
    /// A regular file of this user that nobody else may read, in a folder of the
    /// same kind: what an embedder tells of a registry that comes from no file.
    pub const PRIVATE: Self = Self {
        regular: true,
        mode: 0o600,
        links: 1,
        owned: true,
        home_mode: 0o700,
        home_owned: true,
    };

    /// Whether a file with these facts may be trusted. `file` is the name the
    /// error tells.
    ///
    /// # Errors
    ///
    /// The first rule that is broken.
    pub fn check(&self, file: &str) -> Result<(), RegistryError> {
        let fault = if !self.regular {
            "not a regular file".to_owned()
        } else if self.links != 1 {
            format!("{} hard links, exactly one is expected", self.links)
        } else if !self.owned {
            "owned by another user".to_owned()
        } else if self.mode & 0o7777 != 0o600 {
            format!("mode {:04o}, expected 0600", self.mode & 0o7777)
        } else if !self.home_owned {
            "its folder is owned by another user".to_owned()
        } else if self.home_mode & 0o7777 != 0o700 {
            format!(
                "its folder has mode {:04o}, expected 0700",
                self.home_mode & 0o7777
            )
        } else {
            return Ok(());
        };
        Err(RegistryError(format!("{file}: {fault}")))
    }
}

/// A registry that cannot be used: exit status 2. Its text holds no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryError(pub(crate) String);

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RegistryError {}
