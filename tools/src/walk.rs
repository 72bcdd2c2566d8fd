//! Going through a tree of folders in a fixed order.
//!
//! Every folder is opened from the one above it and without following a link,
//! so a walk cannot leave the tree it began in. Entries of a folder come in the
//! order of their names' bytes, so the same tree always gives the same walk.
//! Hidden entries are part of it. Folders of version control are not, nor what
//! a `.gitignore` in a folder of the walk excludes, nor `$AGENTX_HOME`.

use crate::ignore::Rules;
use crate::limits::{MAX_IGNORE_BYTES, MAX_IGNORE_TOTAL_BYTES};
use crate::place::{Fence, Identity, Place, list_flags, open_regular, owned_name};
use crate::stop::Stop;
use crate::toolbox::Call;
use rustix::fs::{AtFlags, Dir, FileType, Mode, Stat, fstat, openat, statat};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
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
    excluded: u64,
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
        if self.excluded > 0 {
            let entries = self.excluded;
            notes.push(format!(
                "[{entries} entries were left out by .gitignore; `path` can name one of them.]"
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
    /// How many names of the walk's path lead to this folder.
    depth: usize,
    rules: Option<Rules>,
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
        rule_bytes: 0,
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
        walk.path.push(&name);
        if kind == FileType::Directory {
            if !walk.descend(&name)? {
                walk.path.pop();
            }
            continue;
        }
        let flow = walk.offer(&name, kind, &mut visit)?;
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
    /// Bytes of all rules read.
    rule_bytes: u64,
    left_out: LeftOut,
}

impl Walk<'_> {
    /// Has a file or link of the innermost level visited, if it is part of the
    /// walk.
    fn offer(
        &mut self,
        name: &OsStr,
        kind: FileType,
        visit: &mut impl FnMut(&Entry<'_>) -> Result<ControlFlow<()>, Stop>,
    ) -> Result<ControlFlow<()>, Stop> {
        let wanted = matches!(kind, FileType::RegularFile | FileType::Symlink);
        if !wanted || self.is_excluded(false) {
            return Ok(ControlFlow::Continue(()));
        }
        let Some(level) = self.levels.last() else {
            return Ok(ControlFlow::Continue(()));
        };
        visit(&Entry {
            folder: &level.folder,
            name,
            path: &self.path,
            is_link: kind == FileType::Symlink,
        })
    }

    /// Goes into the folder that the path now names, if it is part of the walk.
    fn descend(&mut self, name: &OsStr) -> Result<bool, Stop> {
        let is_internal = VERSION_CONTROL.iter().any(|folder| name == *folder);
        if is_internal || self.is_excluded(true) {
            return Ok(false);
        }
        let Some(level) = self.levels.last() else {
            return Ok(false);
        };
        let opened = openat(&level.folder, name, list_flags(), Mode::empty())
            .and_then(|folder| fstat(&folder).map(|stat| (folder, stat)));
        let Ok((folder, stat)) = opened else {
            self.left_out.unreadable += 1;
            return Ok(false);
        };
        if self.fence.is_home(Identity::of(&stat)) {
            return Ok(false);
        }
        if self.levels.len() > self.call.limits().walk_depth {
            self.left_out.too_deep += 1;
            return Ok(false);
        }
        let listed = self.list(folder)?.is_ok();
        self.left_out.unreadable += u64::from(!listed);
        Ok(listed)
    }

    /// Whether a `.gitignore` leaves out what the path now names.
    fn is_excluded(&mut self, is_folder: bool) -> bool {
        let verdict = self.levels.iter().rev().find_map(|level| {
            let mut below = self.path.components();
            below.by_ref().take(level.depth).for_each(drop);
            level.rules.as_ref()?.exclude(below.as_path(), is_folder)
        });
        let excluded = verdict == Some(true);
        self.left_out.excluded += u64::from(excluded);
        excluded
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
        let has_rules = entries.iter().any(|(name, _)| name == ".gitignore");
        let rules = has_rules.then(|| self.read_rules(&folder)).flatten();
        self.levels.push(Level {
            rules,
            depth: self.levels.len(),
            folder,
            entries: entries.into_iter(),
        });
        Ok(Ok(()))
    }

    /// The rules of a folder. A `.gitignore` that is a link, or large, has none.
    fn read_rules(&mut self, folder: &OwnedFd) -> Option<Rules> {
        let (file, _) = open_regular(folder, ".gitignore").ok()?;
        let mut text = Vec::new();
        file.take(MAX_IGNORE_BYTES + 1)
            .read_to_end(&mut text)
            .ok()?;
        let bytes = text.len() as u64;
        self.rule_bytes += bytes;
        if bytes > MAX_IGNORE_BYTES || self.rule_bytes > MAX_IGNORE_TOTAL_BYTES {
            return None;
        }
        Some(Rules::parse(&String::from_utf8_lossy(&text)))
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
