//! Sessions on disk: one `SQLite` database in the home folder.
//!
//! A [`Store`] takes the batches of one session ([`Store::append`]), lists what
//! is stored without opening a transcript ([`Store::sessions`]), and reads a
//! session back ([`Store::restore`], [`Store::each_entry`]). Everything here
//! blocks; a driver gives it a thread.
//!
//! An appended batch is with the operating system when `append` returns, so it
//! survives a kill of the process. A thread of the store syncs it to the disk
//! soon after ([`limits::SYNC_DELAY`]); a power cut before that loses it, and
//! leaves the database whole (DEC-32).
//!
//! ```text
//! $AGENTX_HOME/sessions/            0700
//!     store.db, -wal, -shm          0600, the database
//!     SESSION.lock                  0600, while a process has that session open
//! ```
#![forbid(unsafe_code)]

mod claim;
mod error;
mod folder;
pub mod limits;
mod schema;
mod store;
mod sync;

pub use error::StoreError;
pub use store::{Store, Summary};
