//! One process at a time goes on with a session.

use crate::error::StoreError;
use crate::folder::Folder;
use std::fs::{File, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// Tries at a lock file that others remove at the same time.
const TRIES: usize = 100;

/// Time between two looks at what others have claimed.
const AGAIN: Duration = Duration::from_millis(2);

/// The right to go on with a session. Given back when it is dropped, and by
/// the operating system when the process ends in any other way.
#[derive(Debug)]
pub(crate) struct Claim {
    folder: Folder,
    name: String,
    /// Holds the lock while it is open.
    _file: File,
}

impl Claim {
    /// Claims what others give back soon; waits for so long at most.
    ///
    /// # Errors
    ///
    /// [`StoreError::Busy`] when they do not.
    pub(crate) fn wait(folder: &Folder, name: &str, longest: Duration) -> Result<Self, StoreError> {
        let end = Instant::now() + longest;
        loop {
            match Self::new(folder, name) {
                Err(StoreError::Claimed) if Instant::now() < end => thread::sleep(AGAIN),
                Err(StoreError::Claimed) => return Err(StoreError::Busy),
                claimed => return claimed,
            }
        }
    }

    /// Claims a session.
    ///
    /// # Errors
    ///
    /// [`StoreError::Claimed`] when another process has it.
    pub(crate) fn new(folder: &Folder, session_id: &str) -> Result<Self, StoreError> {
        let name = format!("{session_id}.lock");
        for _ in 0..TRIES {
            let file = folder.open_lock(&name)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(StoreError::Claimed),
                Err(TryLockError::Error(error)) => {
                    return Err(StoreError::System(format!("{name}: {error}")));
                }
            }
            // The one before us may have removed the file we opened.
            if folder.inode(&name) == inode(&file) {
                return Ok(Self {
                    folder: folder.share()?,
                    name,
                    _file: file,
                });
            }
        }
        Err(StoreError::Claimed)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.folder.remove(&self.name);
    }
}

fn inode(file: &File) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().ok().map(|facts| facts.ino())
}
