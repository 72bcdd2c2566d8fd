//! Going through a tree of folders in a fixed order.
//!
//! Every folder is opened from the one above it and without following a link,
//! so a walk cannot leave the tree it began in. Entries of a folder come in the
//! order of their names' bytes, so the same tree always gives the same walk.
//! Hidden entries are part of it; folders of version control are not, and
//! neither is `$AGENTX_HOME`.

use crate::place::{Fence, Identity, Place, list_flags, open_regular, owned_name};
use crate::stop::Stop;
use crate::toolbox::Call;
use rustix::fs::{AtFlags, Dir, FileType, Mode, Stat, fstat, openat, statat};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Folders whose content belongs to version control, not to the user.
const VERSION_CONTROL: [&str; 5] = [".git", ".hg", ".svn", ".jj", ".bzr"];

/// A file or a link that a walk found.
pub(crate) struct Entry<'a> {
    folder: &'a OwnedFd,
    name: &'a OsStr,
    /// Its path from the folder where the walk began.
    pub(crate) path: &'a Path,
    /// It is a link; where it leads was not looked at.
    pub(crate) is_link: bool,
}

impl Entry<'_> {
    /// Opens it for reading, if it is a regular file.
    pub(crate) fn open(&self) -> Option<(File, Stat)> {
        open_regular(self.folder, self.name).ok()
    }
}

/// What a walk had to leave out.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    entries: u64,
    unreadable: u64,
    too_deep: u64,
    full: bool,
}

impl LeftOut {
    /// One line for each kind of thing left out.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.full {
            let entries = self.entries;
            notes.push(format!(
                "[Stopped after {entries} entries; name a folder further down in `path`.]"
            ));
        }
        if self.too_deep > 0 {
            let folders = self.too_deep;
            notes.push(format!(
                "[{folders} folders lie too deep and were left out.]"
            ));
        }
        if self.unreadable > 0 {
            let folders = self.unreadable;
            notes.push(format!("[{folders} folders could not be read.]"));
        }
        notes
    }
}

/// A folder on the way down, with what of it is still to be visited.
struct Level {
    folder: OwnedFd,
    entries: std::vec::IntoIter<(OsString, FileType)>,
}

/// Visits every file and link below `start` that is not left out, until
/// `visit` breaks off.
///
/// # Errors
///
/// When `start` cannot be listed, the call is cancelled, or `visit` stops it.
pub(crate) fn walk(
    call: &Call<'_>,
    fence: &Fence,
    start: &Place,
    shown: &str,
    mut visit: impl FnMut(&Entry<'_>) -> Result<ControlFlow<()>, Stop>,
) -> Result<LeftOut, Stop> {
    let mut walk = Walk {
        call,
        fence,
        path: PathBuf::new(),
        levels: Vec::new(),
        left_out: LeftOut::default(),
    };
    let unlistable =
        |errno: rustix::io::Errno| Stop::io(format_args!("`{shown}`"), std::io::Error::from(errno));
    let folder = start.open_folder().map_err(unlistable)?;
    walk.list(folder)?.map_err(unlistable)?;
    while let Some(level) = walk.levels.last_mut() {
        call.check()?;
        let Some((name, kind)) = level.entries.next() else {
            walk.levels.pop();
            walk.path.pop();
            continue;
        };
        if kind == FileType::Directory {
            walk.descend(&name)?;
            continue;
        }
        walk.path.push(&name);
        let entry = Entry {
            folder: &level.folder,
            name: &name,
            path: &walk.path,
            is_link: kind == FileType::Symlink,
        };
        let flow = if matches!(kind, FileType::RegularFile | FileType::Symlink) {
            visit(&entry)?
        } else {
            ControlFlow::Continue(())
        };
        walk.path.pop();
        if flow.is_break() {
            break;
        }
    }
    Ok(walk.left_out)
}

struct Walk<'a> {
    call: &'a Call<'a>,
    fence: &'a Fence,
    path: PathBuf,
    levels: Vec<Level>,
    left_out: LeftOut,
}

impl Walk<'_> {
    /// Goes into a folder of the innermost level, if it is part of the walk.
    fn descend(&mut self, name: &OsStr) -> Result<(), Stop> {
        if VERSION_CONTROL.iter().any(|folder| name == *folder) {
            return Ok(());
        }
        let Some(level) = self.levels.last() else {
            return Ok(());
        };
        let opened = openat(&level.folder, name, list_flags(), Mode::empty())
            .and_then(|folder| fstat(&folder).map(|stat| (folder, stat)));
        let Ok((folder, stat)) = opened else {
            self.left_out.unreadable += 1;
            return Ok(());
        };
        if self.fence.is_home(Identity::of(&stat)) {
            return Ok(());
        }
        if self.levels.len() > self.call.limits().walk_depth {
            self.left_out.too_deep += 1;
            return Ok(());
        }
        self.path.push(name);
        if self.list(folder)?.is_err() {
            self.left_out.unreadable += 1;
            self.path.pop();
        }
        Ok(())
    }

    /// Reads the names of a folder and makes it the innermost level.
    fn list(&mut self, folder: OwnedFd) -> Result<Result<(), rustix::io::Errno>, Stop> {
        let dir = match Dir::read_from(&folder) {
            Ok(dir) => dir,
            Err(errno) => return Ok(Err(errno)),
        };
        let mut entries = Vec::new();
        for entry in dir {
            self.call.check()?;
            if self.left_out.entries >= self.call.limits().walk_entries {
                self.left_out.full = true;
                break;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(errno) => return Ok(Err(errno)),
            };
            let name = owned_name(entry.file_name());
            if matches!(name.as_bytes(), b"." | b"..") {
                continue;
            }
            self.left_out.entries += 1;
            let mut kind = entry.file_type();
            if kind == FileType::Unknown {
                kind = statat(&folder, &*name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(kind, |stat| FileType::from_raw_mode(stat.st_mode));
            }
            entries.push((name, kind));
        }
        entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        self.levels.push(Level {
            folder,
            entries: entries.into_iter(),
        });
        Ok(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Owned;
    use std::fs;

    #[test]
    fn a_walk_ends_at_the_entry_where_it_is_cancelled() {
        let top = tempfile::TempDir::new().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(top.path().join(name), "").unwrap();
        }
        let owned = Owned::new(top.path());
        let call = owned.call();
        let fence = call.fence().unwrap();
        let start = fence.enter(".").unwrap();
        let mut seen = Vec::new();
        let ended = walk(&call, &fence, &start, ".", |entry| {
            seen.push(entry.path.to_owned());
            owned.cancel.cancel();
            Ok(ControlFlow::Continue(()))
        });
        assert_eq!(ended.unwrap_err(), Stop::Cancelled);
        assert_eq!(seen, [Path::new("a")]);
    }

    #[test]
    fn a_file_that_became_a_link_after_it_was_listed_is_not_opened() {
        let top = tempfile::TempDir::new().unwrap();
        fs::write(top.path().join("a"), "").unwrap();
        let owned = Owned::new(top.path());
        let call = owned.call();
        let fence = call.fence().unwrap();
        let start = fence.enter(".").unwrap();
        let mut visited = 0;
        walk(&call, &fence, &start, ".", |entry| {
            assert!(entry.open().is_some());
            fs::remove_file(top.path().join("a")).unwrap();
            std::os::unix::fs::symlink("/etc/passwd", top.path().join("a")).unwrap();
            assert!(entry.open().is_none());
            visited += 1;
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        assert_eq!(visited, 1);
    }
}
