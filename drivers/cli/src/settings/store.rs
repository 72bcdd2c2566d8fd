//! Permission updates into settings files (WIRE-PERM-030): whole or not at all,
//! and never through a link.

use super::file::{self, Rules};
use super::{LOCAL, PROJECT, SHARED, USER};
use crate::home::Home;
use agentx_core::guard::Guard;
use agentx_core::policy::{Settings, edit};
use agentx_core::schema::permission::{Destination, PermissionUpdate};
use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, fchmod, flock, fsync, mkdirat, openat,
    renameat, statat, unlinkat,
};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often another process is asked for its turn with a folder.
const LOCK_ATTEMPTS: u32 = 100;

/// How long between two times.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Mode of the user's file.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Mode of a new file of a project, before the umask.
const SHARED_MODE: Mode = PRIVATE
    .union(Mode::RGRP.union(Mode::WGRP))
    .union(Mode::ROTH.union(Mode::WOTH));

/// Writes what answers of a host say into settings files.
#[derive(Debug)]
pub(crate) struct Store {
    home: PathBuf,
    home_folder: File,
    cwd: PathBuf,
    keys: Guard,
    /// One write at a time.
    turn: Mutex<()>,
}

impl Store {
    /// The files of this home and this working directory; no message shows one
    /// of the keys.
    ///
    /// # Errors
    ///
    /// When the system gives no second handle of the home folder.
    pub(crate) fn new(home: &Home, cwd: &Path, keys: Guard) -> io::Result<Self> {
        Ok(Self {
            home: home.path().to_owned(),
            home_folder: home.folder().try_clone()?,
            cwd: cwd.to_owned(),
            keys,
            turn: Mutex::new(()),
        })
    }

    /// Stores updates, in order; false, and a line on stderr, when that failed.
    pub(crate) fn persist(&self, updates: &[PermissionUpdate]) -> bool {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        for destination in Destination::ALL.iter().filter(|to| to.is_persisted()) {
            let of_file = |update: &&PermissionUpdate| update.destination() == *destination;
            let updates: Vec<_> = updates.iter().filter(of_file).collect();
            if updates.is_empty() {
                continue;
            }
            if let Err((path, fault)) = self.store(*destination, &updates) {
                crate::complain(format_args!("warning: {}: {fault}", path.display()));
                return false;
            }
        }
        true
    }

    fn store(
        &self,
        destination: Destination,
        updates: &[&PermissionUpdate],
    ) -> Result<(), (PathBuf, String)> {
        let of_user = destination == Destination::UserSettings;
        let (folder, name) = match destination {
            Destination::UserSettings => (self.home.clone(), USER),
            Destination::LocalSettings => (self.cwd.join(PROJECT), LOCAL),
            _ => (self.cwd.join(PROJECT), SHARED),
        };
        let path = folder.join(name);
        let stored = || {
            let folder = if of_user {
                open_folder(&self.home_folder, ".").map_err(|errno| errno.to_string())?
            } else {
                self.project()?
            };
            let rules = if of_user {
                Rules::OfUser
            } else {
                Rules::OfProject
            };
            self.change(&folder, name, rules, updates)
        };
        stored().map_err(|fault| (path, fault))
    }

    /// The folder of the project's settings, made if need be.
    fn project(&self) -> Result<OwnedFd, String> {
        if let Some(folder) = file::project(&self.cwd)? {
            if file::same(&folder, &self.home_folder) {
                return Err("this folder's settings are the user's own".into());
            }
            return Ok(folder);
        }
        let words = |errno: Errno| errno.to_string();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let cwd = rustix::fs::open(&self.cwd, flags, Mode::empty()).map_err(words)?;
        match mkdirat(&cwd, PROJECT, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(words(errno)),
        }
        open_folder(&cwd, PROJECT).map_err(words)
    }

    fn change(
        &self,
        folder: &OwnedFd,
        name: &str,
        rules: Rules,
        updates: &[&PermissionUpdate],
    ) -> Result<(), String> {
        lock(folder, LOCK_ATTEMPTS)?;
        let old = file::read(folder, Path::new(name), rules)?;
        let old = old.map(String::from_utf8).transpose();
        let old = old.map_err(|_| "no UTF-8".to_owned())?;
        if let Some(old) = &old {
            Settings::read_guarded(old.as_bytes(), &self.keys)
                .map_err(|fault| fault.to_string())?;
        }
        let cwd = self.cwd.to_string_lossy();
        let new = edit(old.as_deref(), updates.iter().copied(), &cwd);
        let new = new.map_err(|fault| fault.to_string())?;
        if old.as_deref() == Some(&new) {
            return Ok(());
        }
        // What the user wrote into the file stays the user's own affair.
        let tells = |text: &str| self.keys.is_spelled_in(text);
        if tells(&new) && !old.as_deref().is_some_and(tells) {
            return Err("the update holds a key of auth.json, which is stored nowhere else".into());
        }
        let mode = match rules {
            Rules::OfUser => Some(PRIVATE),
            _ => mode_of(folder, name)?,
        };
        replace(folder, name, new.as_bytes(), mode).map_err(|errno| errno.to_string())
    }
}

fn open_folder(at: impl AsFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::empty())
}

/// Keeps other processes from the files of a folder until it is closed.
fn lock(folder: &OwnedFd, attempts: u32) -> Result<(), String> {
    for _ in 0..attempts {
        match flock(folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK) => thread::sleep(LOCK_PAUSE),
            // Not every file system has locks.
            Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::BADF | Errno::INVAL) => {
                return Ok(());
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.to_string()),
        }
    }
    Err("another process holds its folder".into())
}

/// The mode of a file that is there.
fn mode_of(folder: &OwnedFd, name: &str) -> Result<Option<Mode>, String> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.to_string()),
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile => {
            Err("not a regular file".into())
        }
        Ok(stat) => Ok(Some(Mode::from_raw_mode(stat.st_mode & 0o777))),
    }
}

/// Puts a new file in the place of the old one, on disk before it has the name.
fn replace(folder: &OwnedFd, name: &str, text: &[u8], mode: Option<Mode>) -> Result<(), Errno> {
    let temporary = format!(".{name}.{}", std::process::id());
    let written = write(folder, &temporary, text, mode)
        .and_then(|()| renameat(folder, &*temporary, folder, name));
    match written {
        // The name is durable when the folder is; without that, the file is still whole.
        Ok(()) => drop(fsync(folder)),
        Err(errno) => {
            let _ = unlinkat(folder, &*temporary, AtFlags::empty());
            return Err(errno);
        }
    }
    Ok(())
}

fn write(folder: &OwnedFd, name: &str, text: &[u8], mode: Option<Mode>) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let new = mode.unwrap_or(SHARED_MODE);
    let open = || openat(folder, name, flags, new);
    let opened = match open() {
        // Left over from a process of the same id that was killed.
        Err(Errno::EXIST) => {
            unlinkat(folder, name, AtFlags::empty())?;
            open()?
        }
        opened => opened?,
    };
    if let Some(mode) = mode {
        fchmod(&opened, mode)?;
    }
    let mut file = File::from(opened);
    let io = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    file.write_all(text).map_err(io)?;
    file.sync_all().map_err(io)
}

#[cfg(test)]
mod tests;
