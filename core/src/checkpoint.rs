//! Going back to a prompt: what is kept of files while tools change them, and
//! what a session has seen of them.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A moment of a session that files can be put back to; a later one is larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Checkpoint(pub u64);

/// What is noted of the files that a call works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bookkeeping {
    /// The checkpoint that a file's content from before belongs to; without one
    /// nothing is kept.
    pub checkpoint: Option<Checkpoint>,
    /// Whether it is remembered which version of a file was read, so that
    /// another one is not overwritten unseen.
    pub reads: bool,
}

/// Files that tools changed, to be put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewindRequest {
    /// The moment that they are put back to.
    pub to: Checkpoint,
    /// The moment that this is done: what it replaces belongs to it, so that one
    /// can go back on it, too.
    pub at: Checkpoint,
    /// Only find out what would be done.
    pub dry_run: bool,
    /// Folders the session works in; the first is the current directory.
    pub directories: Arc<[String]>,
}

/// What became of that, file by file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RewindReport {
    /// Paths of the files that were put back, or would be.
    pub changed: Vec<String>,
    /// Lines that this adds to them.
    pub insertions: u64,
    /// Lines that this takes from them.
    pub deletions: u64,
    /// Of each file that was left as it is: a sentence that names it and says why.
    pub failures: Vec<String>,
}

/// A file that the model has seen, as a host says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedRequest {
    /// Its path, absolute or from the first of the directories.
    pub path: String,
    /// When it was last modified then, in milliseconds of the epoch.
    pub mtime_ms: u64,
    /// Folders the session works in; the first is the current directory.
    pub directories: Arc<[String]>,
}

/// What became of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seeding {
    /// The version on the disk counts as seen.
    Seeded,
    /// The one on the disk is newer, and does not.
    Newer,
    /// There is no such file, or none that tools may touch; says which and why.
    Refused(String),
}
