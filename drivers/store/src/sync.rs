//! Commits on their way to the disk, off the path of those who wait for a
//! commit (DEC-32).

use crate::error::StoreError;
use crate::folder::Folder;
use crate::limits::{LEFT_LOG_BYTES, LOG_BYTES, SYNC_DELAY};
use crate::schema;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A thread that syncs soon after each commit.
#[derive(Debug)]
pub(crate) struct Syncer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// When the oldest commit was made that is not synced.
    dirty: Option<Instant>,
    closing: bool,
    /// Syncs so far.
    synced: u64,
    /// What the disk said; no later batch counts as stored.
    failed: Option<StoreError>,
}

impl Syncer {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// When there is none to be had.
    pub(crate) fn start(folder: Folder) -> Result<Self, StoreError> {
        let shared = Arc::new(Shared::default());
        let body = {
            let shared = Arc::clone(&shared);
            move || shared.run(&folder)
        };
        let thread = thread::Builder::new().name("store-sync".into()).spawn(body);
        let thread = thread.map_err(|error| StoreError::System(format!("no thread: {error}")))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Whether commits still reach the disk.
    ///
    /// # Errors
    ///
    /// When one could not be synced.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.shared.lock().failed.clone().map_or(Ok(()), Err)
    }

    /// Notes a commit.
    pub(crate) fn committed(&self) {
        let mut state = self.shared.lock();
        if state.dirty.is_none() {
            state.dirty = Some(Instant::now());
            self.shared.changed.notify_all();
        }
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It has nothing to tell that would matter any more.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, folder: &Folder) {
        let mut disk = Disk {
            folder,
            log: None,
            named: false,
        };
        while self.wait() {
            let done = disk.sync();
            let mut state = self.lock();
            state.synced += 1;
            state.failed = done.err();
            self.changed.notify_all();
            if state.failed.is_some() {
                return;
            }
        }
        disk.close();
    }

    /// Waits until something is to be synced; false when nothing will be.
    fn wait(&self) -> bool {
        let mut state = self.lock();
        loop {
            let left = match state.dirty {
                Some(since) => SYNC_DELAY.checked_sub(since.elapsed()),
                None if state.closing => return false,
                None => {
                    let woken = self.changed.wait(state);
                    state = woken.unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
            };
            match left {
                Some(left) if !state.closing => {
                    let woken = self.changed.wait_timeout(state, left);
                    state = woken.unwrap_or_else(PoisonError::into_inner).0;
                }
                _ => {
                    state.dirty = None;
                    return true;
                }
            }
        }
    }
}

/// What the thread has open.
struct Disk<'a> {
    folder: &'a Folder,
    /// The log of the database. It is no file that locks are kept on, so it
    /// may be opened and closed beside the database.
    log: Option<File>,
    /// Whether the names of the files are synced.
    named: bool,
}

impl Disk<'_> {
    /// Syncs the log, and writes its pages back where it has grown long.
    fn sync(&mut self) -> Result<(), StoreError> {
        let failed = |error: std::io::Error| StoreError::System(format!("sync failed: {error}"));
        let log = match &self.log {
            Some(log) => log,
            None => self
                .log
                .insert(File::open(self.log_path()).map_err(failed)?),
        };
        log.sync_data().map_err(failed)?;
        let bytes = log.metadata().map_err(failed)?.len();
        if !self.named {
            self.folder.sync().map_err(failed)?;
            self.named = true;
        }
        if bytes > LOG_BYTES {
            // Another process may be in the way; then a later sync does it.
            let _ = self.write_back("PRAGMA wal_checkpoint(PASSIVE)");
        }
        Ok(())
    }

    /// Leaves no long log to the next process, unless another one is at work.
    fn close(&self) {
        let facts = self.log.as_ref().and_then(|log| log.metadata().ok());
        if facts.is_some_and(|facts| facts.len() > LEFT_LOG_BYTES) {
            let _ = self.write_back("PRAGMA wal_checkpoint(TRUNCATE)");
        }
    }

    fn log_path(&self) -> PathBuf {
        let mut path = self.folder.database().into_os_string();
        path.push("-wal");
        path.into()
    }

    /// Writes the log's pages back into the database, so that the log begins
    /// anew. Waits for nobody.
    fn write_back(&self, how: &str) -> Result<(), StoreError> {
        let database = schema::connect(&self.folder.database())?;
        database.busy_timeout(Duration::ZERO)?;
        Ok(database.query_row(how, [], |_| Ok(()))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits for so many syncs; only a hang waits for ever.
    fn synced(syncer: &Syncer, count: u64) {
        let mut state = syncer.shared.lock();
        while state.synced < count {
            state = syncer.shared.changed.wait(state).unwrap();
        }
    }

    fn folder() -> (tempfile::TempDir, Folder) {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::open(home.path(), true).unwrap().unwrap();
        folder.check_database(true).unwrap();
        (home, folder)
    }

    // covers: DEC-32
    #[test]
    fn every_commit_is_followed_by_a_sync_and_the_last_one_by_the_end() {
        let (_home, folder) = folder();
        let mut database = schema::connect(&folder.database()).unwrap();
        schema::prepare(&mut database, &folder).unwrap();
        let syncer = Syncer::start(folder.share().unwrap()).unwrap();
        for count in 1..=3 {
            syncer.committed();
            synced(&syncer, count);
            assert_eq!(syncer.check(), Ok(()));
        }
        syncer.committed();
        let shared = Arc::clone(&syncer.shared);
        drop(syncer);
        assert_eq!(shared.lock().synced, 4);
    }

    #[test]
    fn a_sync_that_fails_is_told_to_the_next_batch() {
        let (_home, folder) = folder();
        // There is no log to sync.
        let syncer = Syncer::start(folder).unwrap();
        syncer.committed();
        synced(&syncer, 1);
        let told = syncer.check().unwrap_err().to_string();
        assert!(told.starts_with("sync failed: "), "{told}");
    }
}
