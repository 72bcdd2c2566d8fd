//! The answer to `rewind_files`.

use crate::schema::declare::record;
use alloc::string::String;
use alloc::vec::Vec;

record! {
    /// What became of files that are put back, or would become of them.
    pub struct RewindFilesPayload {
        /// Whether files can be put back to that message.
        required can_rewind as "canRewind": bool,
        /// Why not, or why some are left as they are.
        optional error: Option<String>,
        /// Absolute paths of those that were put back.
        optional files_changed as "filesChanged": Option<Vec<String>>,
        /// Lines that this added to them.
        optional insertions: Option<u64>,
        /// Lines that this took from them.
        optional deletions: Option<u64>,
    }
}
