//! Why a store cannot do what it was asked.

use agentx_core::store::EntryFault;
use rusqlite::ErrorCode;
use std::fmt;

/// A failed operation. Names files and reasons, and quotes nothing of what is
/// stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// A file or folder breaks a rule: which, and what is wrong.
    Unsafe(String),
    /// A newer version of the product made the database.
    Newer {
        /// Version of its layout.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
    /// The file is no store of ours.
    Foreign,
    /// The database is damaged.
    Corrupt,
    /// An entry of a session is damaged or missing.
    Entry {
        /// Its number in the session.
        number: u64,
        /// What is wrong with it.
        fault: EntryFault,
    },
    /// Entries of a session are missing.
    Missing {
        /// How many there should be.
        told: u64,
        /// How many there are.
        found: u64,
    },
    /// The database cannot be written.
    ReadOnly,
    /// The disk is full.
    Full,
    /// Other processes kept the database locked for longer than it is waited for.
    Busy,
    /// The session is open in another process.
    Claimed,
    /// Another process went on with the session.
    Changed,
    /// There is a session of that id already.
    Exists,
    /// There is no session of that id.
    Unknown,
    /// The operating system failed: at what, and how.
    System(String),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsafe(text) | Self::System(text) => f.write_str(text),
            Self::Newer { found, known } => write!(
                f,
                "made by a newer version of agentx (layout {found}, known here up to {known})"
            ),
            Self::Foreign => f.write_str("not a database of agentx"),
            Self::Corrupt => f.write_str("the database is damaged"),
            Self::Entry { number, fault } => write!(f, "entry {number} is damaged: {fault}"),
            Self::Missing { told, found } => {
                write!(f, "entries are missing: {found} of {told} are there")
            }
            Self::ReadOnly => f.write_str("it cannot be written"),
            Self::Full => f.write_str("the disk is full"),
            Self::Busy => f.write_str("other processes keep the database locked"),
            Self::Claimed => f.write_str("it is open in another process"),
            Self::Changed => f.write_str("another process went on with the session"),
            Self::Exists => f.write_str("a session of that id is stored already"),
            Self::Unknown => f.write_str("no such session"),
        }
    }
}

impl std::error::Error for StoreError {}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let Some(code) = error.sqlite_error_code() else {
            // A value of another type than the layout has.
            return Self::Corrupt;
        };
        match code {
            // A statement of ours fails only where the layout is not what it says.
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown => {
                Self::Corrupt
            }
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => Self::ReadOnly,
            ErrorCode::DiskFull => Self::Full,
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::FileLockingProtocolFailed => Self::Busy,
            ErrorCode::CannotOpen => Self::System("the database cannot be opened".into()),
            ErrorCode::SystemIoFailure => Self::System("reading or writing failed".into()),
            ErrorCode::OutOfMemory => Self::System("out of memory".into()),
            other => Self::System(format!("the database failed ({other:?})")),
        }
    }
}
