//! Folders under the system's temporary directory that nobody else may enter.

use crate::limits::FOLDER_NAMES;
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use std::fs::DirBuilder;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// Whoever may enter a folder, and read and write what is in it.
const OWNER_ONLY: u32 = 0o700;

/// A folder that this process made for itself.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    pub(crate) path: PathBuf,
    /// What the path names now may be another folder.
    pub(crate) fd: OwnedFd,
}

impl PrivateFolder {
    /// Makes one below `temp`; its name begins with `prefix` and the id of this
    /// process.
    pub(crate) fn make(temp: &Path, prefix: &str) -> io::Result<Self> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for number in 0..FOLDER_NAMES {
            let path = temp.join(format!("{prefix}{}-{number}", std::process::id()));
            match DirBuilder::new().mode(OWNER_ONLY).create(&path) {
                Ok(()) => return checked(path),
                Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => last = fault,
                Err(fault) => return Err(fault),
            }
        }
        Err(last)
    }
}

/// The folder that was made, unless somebody put another in its place.
fn checked(path: PathBuf) -> io::Result<PrivateFolder> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = open(&path, flags, Mode::empty())?;
    let found = fstat(&fd)?;
    let is_folder = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
    let is_ours = found.st_uid == rustix::process::geteuid().as_raw();
    let mode = found.st_mode & 0o777;
    if !is_folder || !is_ours || mode & !OWNER_ONLY != 0 {
        return Err(io::Error::other("the folder is not ours alone"));
    }
    Ok(PrivateFolder { path, fd })
}
