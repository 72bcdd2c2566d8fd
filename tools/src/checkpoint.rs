//! What files were before tools changed them.
//!
//! The content of a file from before its first change after a checkpoint is kept:
//! in a file without a name, one for each checkpoint, so that nobody else can
//! open it and none of it is left when the process ends, however that happens.
//! While a tool changes a file it has the book for itself, and so has whoever
//! puts files back.

use crate::limits::{CheckpointLimits, UNNAMED_ATTEMPTS};
use crate::replace::Rights;
use agentx_core::checkpoint::Checkpoint;
use rustix::fs::{Mode, OFlags, open, unlink};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// All that is kept, for one after another.
#[derive(Debug)]
pub(crate) struct Checkpoints(Mutex<Book>);

impl Checkpoints {
    /// Nothing yet; content will be kept below `temp`.
    pub(crate) fn new(temp: &Path, limits: &CheckpointLimits) -> Self {
        Self(Mutex::new(Book {
            temp: temp.to_owned(),
            limits: limits.clone(),
            first: Checkpoint(0),
            archives: BTreeMap::new(),
            bytes: 0,
            files: BTreeMap::new(),
            entries: 0,
        }))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is kept of which file.
#[derive(Debug)]
pub(crate) struct Book {
    temp: PathBuf,
    limits: CheckpointLimits,
    /// The first checkpoint of which everything is kept.
    first: Checkpoint,
    archives: BTreeMap<Checkpoint, Archive>,
    /// Bytes in all archives.
    bytes: u64,
    /// By the path without links.
    files: BTreeMap<PathBuf, History>,
    /// Entries of all histories.
    entries: usize,
}

/// What is known of one file that tools changed.
#[derive(Debug)]
struct History {
    /// What it was at each checkpoint after which it was changed.
    before: BTreeMap<Checkpoint, Before>,
    /// What a tool, or we, made of it last.
    last: Version,
}

/// What a file was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// It did not exist.
    Missing,
    /// Its content is kept.
    Kept(Image),
    /// Its content is not, for this reason.
    Lost(String),
}

/// Where a content is kept, and what belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    checkpoint: Checkpoint,
    offset: u64,
    bytes: u64,
    pub(crate) rights: Rights,
}

/// What a file is, as far as it can be told from another version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// It does not exist.
    Missing,
    /// It has content with this digest.
    Content([u8; 32]),
}

impl Version {
    pub(crate) fn of(content: Option<&[u8]>) -> Self {
        content.map_or(Self::Missing, |content| {
            Self::Content(Sha256::digest(content).into())
        })
    }
}

/// Contents one after another, in a file that has no name.
#[derive(Debug)]
struct Archive {
    file: File,
    end: u64,
}

impl Book {
    /// Bytes that a file may have whose content is kept.
    pub(crate) const fn file_bytes(&self) -> u64 {
        self.limits.file_bytes
    }

    /// Whether everything since this checkpoint is kept.
    pub(crate) fn reaches(&self, checkpoint: Checkpoint) -> bool {
        checkpoint >= self.first
    }

    /// Whether it is not known yet what a file was at a checkpoint.
    pub(crate) fn lacks(&self, path: &Path, checkpoint: Checkpoint) -> bool {
        let history = self.files.get(path);
        self.reaches(checkpoint)
            && history.is_none_or(|history| !history.before.contains_key(&checkpoint))
    }

    /// Keeps a content, at the cost of older checkpoints where there is no room.
    pub(crate) fn keep(
        &mut self,
        checkpoint: Checkpoint,
        content: &[u8],
        rights: Rights,
    ) -> Before {
        let limits = &self.limits;
        if content.len() as u64 <= limits.file_bytes.min(limits.kept_bytes) {
            while !self.has_room(checkpoint, content) && self.give_up_oldest(checkpoint) {}
        }
        self.keep_in_room(checkpoint, content, rights)
    }

    /// Keeps a content if there is room for it.
    pub(crate) fn keep_in_room(
        &mut self,
        checkpoint: Checkpoint,
        content: &[u8],
        rights: Rights,
    ) -> Before {
        let bytes = content.len() as u64;
        if bytes > self.limits.file_bytes {
            let limit = self.limits.file_bytes;
            return Before::Lost(format!(
                "it was larger than the {limit} bytes that are kept"
            ));
        }
        if !self.has_room(checkpoint, content) {
            return Before::Lost("there was no room for it".to_owned());
        }
        match self.append(checkpoint, content) {
            Ok(offset) => {
                self.bytes += bytes;
                Before::Kept(Image {
                    checkpoint,
                    offset,
                    bytes,
                    rights,
                })
            }
            Err(fault) => Before::Lost(format!("it could not be kept: {fault}")),
        }
    }

    /// Frees the room of the content that was kept last, which nothing names.
    pub(crate) fn take_back(&mut self, image: &Image) {
        if let Some(archive) = self.archives.get_mut(&image.checkpoint)
            && image.offset.checked_add(image.bytes) == Some(archive.end)
        {
            archive.end = image.offset;
            self.bytes -= image.bytes;
        }
    }

    fn append(&mut self, checkpoint: Checkpoint, content: &[u8]) -> io::Result<u64> {
        let archive = match self.archives.entry(checkpoint) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Archive {
                file: unnamed(&self.temp)?,
                end: 0,
            }),
        };
        let offset = archive.end;
        archive.file.write_all_at(content, offset)?;
        archive.end += content.len() as u64;
        Ok(offset)
    }

    fn has_room(&self, checkpoint: Checkpoint, content: &[u8]) -> bool {
        let limits = &self.limits;
        let bytes = self.bytes.saturating_add(content.len() as u64);
        let has_archive = self.archives.contains_key(&checkpoint);
        bytes <= limits.kept_bytes && (has_archive || self.archives.len() < limits.kept_checkpoints)
    }

    /// Gives up the oldest checkpoint before `until` that takes room; false
    /// without one.
    fn give_up_oldest(&mut self, until: Checkpoint) -> bool {
        let histories = self.files.values();
        let oldest = histories.filter_map(|history| history.before.keys().next());
        let oldest = oldest.chain(self.archives.keys()).min().copied();
        match oldest {
            Some(oldest) if oldest < until => {
                self.give_up(oldest);
                true
            }
            _ => false,
        }
    }

    /// Gives up a checkpoint and all before it.
    fn give_up(&mut self, last: Checkpoint) {
        self.first = self.first.max(Checkpoint(last.0.saturating_add(1)));
        let kept = self.archives.split_off(&self.first);
        let gone = std::mem::replace(&mut self.archives, kept);
        self.bytes -= gone.values().map(|archive| archive.end).sum::<u64>();
        for history in self.files.values_mut() {
            history.before = history.before.split_off(&self.first);
        }
        self.files.retain(|_, history| !history.before.is_empty());
        let entries = self.files.values().map(|history| history.before.len());
        self.entries = entries.sum();
    }

    /// A file is something else now than it was `before`.
    pub(crate) fn changed(
        &mut self,
        path: PathBuf,
        checkpoint: Checkpoint,
        before: Option<Before>,
        now: Version,
    ) {
        if let Some(history) = self.files.get_mut(&path) {
            history.last = now;
        }
        let Some(before) = before.filter(|_| self.lacks(&path, checkpoint)) else {
            return;
        };
        while self.entries >= self.limits.kept_files {
            if !self.give_up_oldest(checkpoint) {
                // It alone is too much: one cannot go back to it.
                return self.give_up(checkpoint);
            }
        }
        let history = self.files.entry(path).or_insert_with(|| History {
            before: BTreeMap::new(),
            last: now,
        });
        history.before.insert(checkpoint, before);
        self.entries += 1;
    }

    /// What a tool, or we, made of a file last.
    pub(crate) fn last(&self, path: &Path) -> Option<Version> {
        self.files.get(path).map(|history| history.last)
    }

    /// The files that were changed after a checkpoint, and what they were at it.
    pub(crate) fn since(&self, checkpoint: Checkpoint) -> Vec<(PathBuf, Before)> {
        let files = self.files.iter();
        let changed = files.filter_map(|(path, history)| {
            let (_, before) = history.before.range(checkpoint..).next()?;
            Some((path.clone(), before.clone()))
        });
        changed.collect()
    }

    /// A content that is kept.
    pub(crate) fn read(&self, image: &Image) -> io::Result<Vec<u8>> {
        let archive = self.archives.get(&image.checkpoint);
        let archive = archive.ok_or_else(|| io::Error::other("it is no longer kept"))?;
        let bytes = usize::try_from(image.bytes).map_err(io::Error::other)?;
        let mut content = vec![0; bytes];
        archive.file.read_exact_at(&mut content, image.offset)?;
        Ok(content)
    }
}

/// A file that nobody else can open, and that is gone with this process.
fn unnamed(temp: &Path) -> io::Result<File> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for _ in 0..UNNAMED_ATTEMPTS {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = temp.join(format!("agentx-before-{}-{number}", std::process::id()));
        match open(&path, flags, Mode::RUSR | Mode::WUSR) {
            Ok(fd) => {
                unlink(&path)?;
                return Ok(File::from(fd));
            }
            Err(errno) => last = errno.into(),
        }
    }
    Err(last)
}
