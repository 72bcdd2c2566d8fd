//! Replacing a file as a whole, or not at all.
//!
//! The new content is written to a second file in the same folder, which then
//! takes the name. Permissions stay, and so does the owner where the system
//! allows it. Other hard links keep the old content; access control lists and
//! extended attributes do not carry over.

use crate::cancel::CancelToken;
use crate::limits::STEP_BYTES;
use crate::place::{Identity, system_fault};
use crate::stop::Stop;
use rustix::fs::{Access, AtFlags, Gid, Mode, OFlags, RawMode, Stat, Uid};
use rustix::fs::{accessat, fchmod, fchown, fstat, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names tried for the second file before giving up.
const NAME_ATTEMPTS: usize = 16;

/// The file that is to have new content.
pub(crate) struct Target<'a> {
    pub(crate) folder: &'a OwnedFd,
    pub(crate) name: &'a OsStr,
    /// How it looks in messages.
    pub(crate) shown: &'a str,
    /// What it was when it was last looked at; `None` if it did not exist.
    pub(crate) old: Option<&'a Stat>,
    /// Refuse when it is no longer what it was.
    pub(crate) unchanged: bool,
    /// Whose it is and what they may do, where it does not exist; without them
    /// it is a new file of this process.
    pub(crate) rights: Option<Rights>,
}

/// Whose a file is, and who may do what with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rights {
    owner: u32,
    group: u32,
    bits: u32,
}

impl Rights {
    // The type of the mode differs between systems.
    #[allow(clippy::unnecessary_cast)]
    pub(crate) const fn of(stat: &Stat) -> Self {
        Self {
            owner: stat.st_uid,
            group: stat.st_gid,
            bits: stat.st_mode as u32 & 0o7777,
        }
    }
}

impl Target<'_> {
    /// Gives the file its new content; tells what it is then.
    pub(crate) fn replace(&self, cancel: &CancelToken, content: &[u8]) -> Result<Stat, Stop> {
        if self.old.is_some() {
            self.must_be_writable()?;
        }
        let draft = self.draft()?;
        let mut file = &draft.file;
        let failed = |fault| Stop::io(format_args!("`{}` was not written", self.shown), fault);
        for step in content.chunks(STEP_BYTES) {
            cancel.check()?;
            file.write_all(step).map_err(failed)?;
        }
        if let Some(rights) = self.kept_rights() {
            keep_rights(&draft.file, rights).map_err(|errno| failed(errno.into()))?;
        }
        // Without this a power cut soon after could leave an empty file.
        draft.file.sync_data().map_err(failed)?;
        let made = fstat(&draft.file).map_err(|errno| failed(errno.into()))?;
        cancel.check()?;
        if self.unchanged {
            self.must_be_unchanged()?;
        }
        draft
            .take_name(self.name)
            .map_err(|errno| Stop::fault(system_fault(self.shown, errno)))?;
        Ok(made)
    }

    /// Takes the file away.
    pub(crate) fn remove(&self) -> Result<(), Stop> {
        self.must_be_writable()?;
        self.must_be_unchanged()?;
        unlinkat(self.folder, self.name, AtFlags::empty())
            .map_err(|errno| Stop::fault(system_fault(self.shown, errno)))
    }

    fn kept_rights(&self) -> Option<Rights> {
        self.old.map(Rights::of).or(self.rights)
    }

    /// Replacing needs no right to write the file itself, but a file that its
    /// owner made read-only is not to be changed.
    fn must_be_writable(&self) -> Result<(), Stop> {
        let checked = accessat(self.folder, self.name, Access::WRITE_OK, AtFlags::empty());
        match checked {
            Err(errno @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) => {
                Err(Stop::fault(system_fault(self.shown, errno)))
            }
            _ => Ok(()),
        }
    }

    fn must_be_unchanged(&self) -> Result<(), Stop> {
        let now = statat(self.folder, self.name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let same = match (self.old, &now) {
            (Some(old), Some(now)) => is_same(old, now),
            (None, None) => true,
            _ => false,
        };
        if same {
            Ok(())
        } else {
            let text = format!("`{}` changed in the meantime; read it again.", self.shown);
            Err(Stop::fault(text))
        }
    }

    fn draft(&self) -> Result<Draft<'_>, Stop> {
        // A new file gets what the process's mask leaves.
        let mode = match self.kept_rights() {
            Some(_) => Mode::RUSR | Mode::WUSR,
            None => Mode::from_raw_mode(0o666),
        };
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut last = Errno::EXIST;
        for _ in 0..NAME_ATTEMPTS {
            let name = draft_name();
            match openat(self.folder, &*name, flags, mode) {
                Ok(fd) => {
                    return Ok(Draft {
                        folder: self.folder,
                        name,
                        file: File::from(fd),
                        named: true,
                    });
                }
                Err(Errno::EXIST) => {}
                Err(errno) => {
                    last = errno;
                    break;
                }
            }
        }
        Err(Stop::fault(system_fault(self.shown, last)))
    }
}

/// Whether two looks found the same file with the same content.
fn is_same(old: &Stat, now: &Stat) -> bool {
    let version = |stat: &Stat| {
        (
            Identity::of(stat),
            stat.st_size,
            (stat.st_mtime, stat.st_mtime_nsec),
            (stat.st_ctime, stat.st_ctime_nsec),
        )
    };
    version(old) == version(now)
}

fn keep_rights(file: &File, old: Rights) -> Result<(), Errno> {
    let made = fstat(file)?;
    let mut bits = old.bits;
    if (made.st_uid, made.st_gid) != (old.owner, old.group) {
        let owner = Some(Uid::from_raw(old.owner));
        let group = Some(Gid::from_raw(old.group));
        let kept = fchown(file, owner, group).is_ok();
        if !kept {
            // Under another owner those bits would lend other rights.
            bits &= 0o777;
            let _ = fchown(file, None, group);
        }
    }
    // The type of the mode differs between systems.
    #[allow(clippy::unnecessary_cast)]
    fchmod(file, Mode::from_raw_mode(bits as RawMode))
}

/// The second file. It is removed again unless it took the name.
struct Draft<'a> {
    folder: &'a OwnedFd,
    name: OsString,
    file: File,
    named: bool,
}

impl Draft<'_> {
    fn take_name(mut self, name: &OsStr) -> Result<(), Errno> {
        renameat(self.folder, &*self.name, self.folder, name)?;
        self.named = false;
        Ok(())
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if self.named {
            let _ = unlinkat(self.folder, &*self.name, AtFlags::empty());
        }
    }
}

fn draft_name() -> OsString {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!(".agentx-{}-{number}.tmp", std::process::id()).into()
}

/// Makes folders below one another and opens the last.
pub(crate) fn make_folders(
    folder: &OwnedFd,
    names: &[OsString],
    shown: &str,
) -> Result<OwnedFd, Stop> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o777);
    let make = || {
        let mut last = openat(folder, ".", flags, Mode::empty())?;
        for name in names {
            match mkdirat(&last, &**name, mode) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
            last = openat(&last, &**name, flags, Mode::empty())?;
        }
        Ok(last)
    };
    make().map_err(|errno| Stop::fault(system_fault(shown, errno)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Leaf;
    use crate::testing::Owned;
    use std::fs;
    use std::path::Path;

    fn only_file(folder: &Path) -> String {
        let names: Vec<_> = fs::read_dir(folder).unwrap().collect();
        assert_eq!(names.len(), 1, "{names:?}");
        fs::read_to_string(folder.join("f")).unwrap()
    }

    /// Replaces `f` by "new" after `meanwhile`.
    fn replace(folder: &Path, unchanged: bool, meanwhile: impl FnOnce(&Owned)) -> Result<(), Stop> {
        let owned = Owned::new(folder);
        let call = owned.call();
        let place = call.fence().unwrap().enter("f").unwrap();
        let (name, old) = match &place.leaf {
            Leaf::File { name, stat } => (name.as_os_str(), Some(&**stat)),
            Leaf::Missing { names } => (names[0].as_os_str(), None),
            Leaf::Folder => panic!("a folder"),
        };
        meanwhile(&owned);
        let target = Target {
            folder: &place.folder,
            name,
            shown: "f",
            old,
            unchanged,
            rights: None,
        };
        target.replace(call.cancel, b"new").map(|_| ())
    }

    #[test]
    fn a_change_in_the_meantime_is_noticed_and_kept() {
        let top = tempfile::TempDir::new().unwrap();
        let path = top.path().join("f");
        fs::write(&path, "old").unwrap();
        let fault = replace(top.path(), true, |_| fs::write(&path, "changed").unwrap());
        let text = "`f` changed in the meantime; read it again.";
        assert_eq!(fault, Err(Stop::fault(text)));
        assert_eq!(only_file(top.path()), "changed");
        replace(top.path(), false, |_| fs::write(&path, "again").unwrap()).unwrap();
        assert_eq!(only_file(top.path()), "new");
        fs::remove_file(&path).unwrap();
        let fault = replace(top.path(), true, |_| fs::write(&path, "made").unwrap());
        assert_eq!(fault, Err(Stop::fault(text)));
        assert_eq!(only_file(top.path()), "made");
    }

    #[test]
    fn a_failed_or_cancelled_replacement_leaves_nothing_behind() {
        let top = tempfile::TempDir::new().unwrap();
        fs::write(top.path().join("f"), "old").unwrap();
        let stopped = replace(top.path(), false, |owned| owned.cancel.cancel());
        assert_eq!(stopped, Err(Stop::Cancelled));
        assert_eq!(only_file(top.path()), "old");
        let path = top.path().join("f");
        let failed = replace(top.path(), false, |_| {
            fs::remove_file(&path).unwrap();
            fs::create_dir(&path).unwrap();
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_dir(top.path()).unwrap().count(), 1);
    }
}
