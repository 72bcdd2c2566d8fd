//! Reading settings files with the care that what decides what runs deserves.

use agentx_core::policy::limits::FILE_BYTES;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// What is asked of a file before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rules {
    /// It is the user's, and nobody else may write it.
    OfUser,
    /// Whoever may write in the project may write it.
    OfProject,
    /// The user named it.
    Chosen,
    /// It is root's or the user's, and nobody else may write it.
    OfMachine,
}

/// Write permission of others than the owner.
const WRITE_OF_OTHERS: Mode = Mode::WGRP.union(Mode::WOTH);

/// The bytes of a file, if it is there; one more than may be, so that the reader
/// sees the excess. Never follows a link, never waits.
///
/// # Errors
///
/// A file that cannot be read, or breaks its rules, in words.
pub(super) fn read(
    folder: impl AsFd,
    name: &Path,
    rules: Rules,
) -> Result<Option<Vec<u8>>, String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = match openat(folder, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP) => return Err("a symbolic link, expected a regular file".into()),
        Err(errno) => return Err(errno.to_string()),
        Ok(opened) => opened,
    };
    let file = File::from(opened);
    let facts = file.metadata().map_err(|error| error.to_string())?;
    check(&facts, rules)?;
    let mut bytes = Vec::new();
    let read = file.take(FILE_BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    Ok(Some(bytes))
}

fn check(facts: &Metadata, rules: Rules) -> Result<(), String> {
    if !facts.is_file() {
        return Err("not a regular file".into());
    }
    let user = rustix::process::geteuid().as_raw();
    let owner = match rules {
        Rules::OfProject | Rules::Chosen => return Ok(()),
        Rules::OfUser if facts.uid() != user => "owned by another user",
        Rules::OfMachine if facts.uid() != user && facts.uid() != 0 => {
            "owned by another user, expected root"
        }
        Rules::OfUser | Rules::OfMachine => "",
    };
    if !owner.is_empty() {
        return Err(owner.into());
    }
    if Mode::from_raw_mode(facts.mode()).intersects(WRITE_OF_OTHERS) {
        return Err(format!(
            "mode {:04o}, others than its owner may write it",
            facts.mode() & 0o7777
        ));
    }
    Ok(())
}

/// The folder of a project's settings, if it is there; never through a link.
///
/// # Errors
///
/// Something else of that name, in words.
pub(super) fn project(cwd: &Path) -> Result<Option<OwnedFd>, String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(CWD, cwd.join(super::PROJECT), flags, Mode::empty()) {
        Ok(folder) => Ok(Some(folder)),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::LOOP | Errno::NOTDIR) => Err("not a folder".into()),
        Err(errno) => Err(errno.to_string()),
    }
}

/// Whether two open folders are the same.
pub(super) fn same(one: impl AsFd, other: impl AsFd) -> bool {
    match (fstat(one), fstat(other)) {
        (Ok(one), Ok(other)) => (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino),
        _ => false,
    }
}

/// Whether there is anything of that name.
pub(super) fn exists(folder: impl AsFd, name: &str) -> bool {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}
