//! What a stored session is made of, and how one is taken up again.
//!
//! A session hands its store [`Batch`]es of closed, typed [`Entry`]s, numbered
//! without a gap. An entry has one JSON text ([`Entry::to_json`],
//! [`Entry::parse`]); a store keeps that text and needs to understand none of
//! it. What is read back, in order, goes through a [`Restorer`], which makes of
//! it the history that a session begins with ([`Restored`]).

mod binding;
mod entry;
mod read;
mod restore;
#[cfg(test)]
mod tests;

pub use binding::{Binding, Mismatch};
pub use entry::{
    AnswerEntry, CallEntry, ContextEntry, Entry, EntryBlock, PromptEntry, ResultEntry,
    ThinkingEntry, TurnEntry,
};
pub(crate) use entry::{blocks, result_content};
pub use read::EntryFault;
pub use restore::{Restored, Restorer, UNCONFIRMED};

use crate::schema::grammar::{PROMPT_UUID_VERSIONS, is_uuid};
use crate::time::WallTime;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;

/// Entries to be stored together, all or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The session they belong to.
    pub session_id: Arc<str>,
    /// Number of the first entry in its session; the others follow it. A store
    /// refuses a batch that does not begin where the stored entries end.
    pub first: u64,
    /// Set until the session is in the store: what it is.
    pub opening: Option<Box<Opening>>,
    /// The entries, oldest first.
    pub entries: Arc<[Entry]>,
    /// Wall time of the batch.
    pub time: WallTime,
}

/// What a store has to know of a session beside its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Version of the product that began the session.
    pub version: String,
    /// Working directory, absolute.
    pub cwd: String,
    /// The provider that it is bound to (WIRE-025).
    pub binding: Binding,
    /// The beginning of its first prompt, on one line.
    pub title: String,
    /// The session whose first entries it begins with, for a fork.
    pub origin: Option<Origin>,
}

/// Where a fork left another session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The other session.
    pub session_id: Arc<str>,
    /// How many of its entries belong to the fork too.
    pub entries: u64,
}

/// How a session is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storing {
    /// The provider that the session is bound to (WIRE-025).
    pub binding: Binding,
    /// Wall time at the driver's start.
    pub epoch: WallTime,
    /// What the store holds of it before the first batch.
    pub beginning: Beginning,
}

/// What a store holds of a session that begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// Nothing.
    New,
    /// So many entries, which the session goes on from.
    Resumed(u64),
    /// Entries of another session.
    Forked(Origin),
}

/// Whether `text` may be the id of a session: a UUID in its canonical form.
#[must_use]
pub fn is_session_id(text: &str) -> bool {
    is_uuid(text, PROMPT_UUID_VERSIONS)
}

/// Characters of the title of a session.
pub const TITLE_CHARS: usize = 120;

/// The title that a first prompt gives a session: its beginning on one line.
#[must_use]
pub fn title(parts: &[String]) -> String {
    let mut title = String::new();
    let words = parts.iter().flat_map(|part| part.split_whitespace());
    for (n, word) in words.enumerate() {
        if n > 0 {
            title.push(' ');
        }
        title.extend(word.chars().filter(|c| !c.is_control()));
        if title.chars().count() > TITLE_CHARS {
            title = title.chars().take(TITLE_CHARS - 1).collect();
            title.push('…');
            break;
        }
    }
    title
}
