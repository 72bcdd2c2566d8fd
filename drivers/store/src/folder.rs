//! The folder of the store and the files in it, as safe as the secrets beside
//! them: the user's own, closed to others, and no links.

use crate::error::StoreError;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, mkdirat, openat, statat};
use rustix::io::Errno;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Name of the folder in the home folder.
pub(crate) const FOLDER: &str = "sessions";

/// Name of the database.
pub(crate) const DATABASE: &str = "store.db";

/// The folder, open.
#[derive(Debug)]
pub(crate) struct Folder {
    handle: File,
    path: PathBuf,
}

impl Folder {
    /// Opens the folder in `home`, and makes it where `create` is set. `None`
    /// when it is not there.
    ///
    /// # Errors
    ///
    /// A folder that breaks a rule, or cannot be made or opened.
    pub(crate) fn open(home: &Path, create: bool) -> Result<Option<Self>, StoreError> {
        // Links on the way to the home folder are the user's own business.
        let home = match home.canonicalize() {
            Ok(home) => home,
            Err(error) if !create && error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(error) => return Err(system(home, &error)),
        };
        let path = home.join(FOLDER);
        let opened = match open_folder(&path) {
            Err(Errno::NOENT) if !create => return Ok(None),
            Err(Errno::NOENT) => {
                match mkdirat(CWD, &path, Mode::RWXU) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(unmade(&path, errno)),
                }
                open_folder(&path)
            }
            opened => opened,
        };
        let handle = File::from(opened.map_err(|errno| match errno {
            Errno::LOOP | Errno::NOTDIR => broken(&path, "expected a folder, and no link"),
            errno => system(&path, &errno),
        })?);
        let facts = handle.metadata().map_err(|error| system(&path, &error))?;
        check_owner(&path, facts.uid(), facts.mode(), "0700")?;
        Ok(Some(Self { handle, path }))
    }

    /// Where the database is.
    pub(crate) fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    /// Whether the database is there; makes an empty one where `create` is set.
    /// Its log and index are looked at, too.
    ///
    /// # Errors
    ///
    /// A file that breaks a rule or cannot be made.
    pub(crate) fn check_database(&self, create: bool) -> Result<bool, StoreError> {
        for suffix in ["-wal", "-shm", "-journal"] {
            self.check(&format!("{DATABASE}{suffix}"))?;
        }
        if self.check(DATABASE)? {
            return Ok(true);
        }
        if !create {
            return Ok(false);
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        // Closed again before the database opens it: closing it later would
        // drop the locks of this process.
        match openat(&self.handle, DATABASE, flags, mode) {
            Ok(file) => drop(file),
            Err(errno) => return Err(unmade(&self.database(), errno)),
        }
        self.check(DATABASE)
    }

    /// Whether a file of this name is there, under the rules.
    fn check(&self, name: &str) -> Result<bool, StoreError> {
        let path = self.path.join(name);
        let facts = match statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(facts) => facts,
            Err(Errno::NOENT) => return Ok(false),
            Err(errno) => return Err(system(&path, &errno)),
        };
        let regular = FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile;
        if !is_there(regular, facts.st_nlink).map_err(|what| broken(&path, what))? {
            return Ok(false);
        }
        check_owner(&path, facts.st_uid, facts.st_mode, "0600")?;
        Ok(true)
    }

    /// Opens a lock file of this name, made where it is not there.
    pub(crate) fn open_lock(&self, name: &str) -> Result<File, StoreError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(&self.handle, name, flags, Mode::RUSR | Mode::WUSR);
        opened
            .map(File::from)
            .map_err(|errno| unmade(&self.path.join(name), errno))
    }

    /// The inode that this name stands for, if it stands for one.
    pub(crate) fn inode(&self, name: &str) -> Option<u64> {
        let facts = statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(facts.st_ino)
    }

    /// Removes a file of this name; one that cannot be removed stays.
    pub(crate) fn remove(&self, name: &str) {
        let _ = rustix::fs::unlinkat(&self.handle, name, AtFlags::empty());
    }

    /// Syncs the names in the folder.
    pub(crate) fn sync(&self) -> std::io::Result<()> {
        self.handle.sync_all()
    }

    /// The same folder, for another owner.
    pub(crate) fn share(&self) -> Result<Self, StoreError> {
        let handle = self.handle.try_clone();
        Ok(Self {
            handle: handle.map_err(|error| system(&self.path, &error))?,
            path: self.path.clone(),
        })
    }
}

/// Whether a file that was looked up is there. One without any link was
/// removed after its name was resolved, as another writer does with a journal
/// that it no longer needs.
fn is_there(regular: bool, links: u64) -> Result<bool, &'static str> {
    match links {
        0 if regular => Ok(false),
        1 if regular => Ok(true),
        _ => Err("expected a regular file with one link"),
    }
}

fn open_folder(path: &Path) -> Result<rustix::fd::OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::empty())
}

fn check_owner(path: &Path, uid: u32, mode: u32, expected: &str) -> Result<(), StoreError> {
    if uid != rustix::process::geteuid().as_raw() {
        return Err(broken(path, "not owned by this user"));
    }
    if mode & 0o077 != 0 {
        let mode = mode & 0o7777;
        return Err(broken(
            path,
            &format!("mode {mode:04o}, expected {expected}"),
        ));
    }
    Ok(())
}

fn broken(path: &Path, what: &str) -> StoreError {
    StoreError::Unsafe(format!("{}: {what}", path.display()))
}

fn unmade(path: &Path, errno: Errno) -> StoreError {
    match errno {
        Errno::ROFS | Errno::ACCESS | Errno::PERM => StoreError::ReadOnly,
        Errno::NOSPC | Errno::DQUOT => StoreError::Full,
        errno => system(path, &errno),
    }
}

pub(crate) fn system(path: &Path, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::System(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::is_there;

    #[test]
    fn a_file_that_is_removed_while_it_is_looked_at_is_not_there() {
        assert_eq!(is_there(true, 0), Ok(false));
        assert_eq!(is_there(true, 1), Ok(true));
        assert!(is_there(true, 2).is_err());
        assert!(is_there(false, 0).is_err());
        assert!(is_there(false, 1).is_err());
    }
}
