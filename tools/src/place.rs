//! Where a path leads, and whether a tool may go there.
//!
//! A path is walked name by name, each name looked up in the open folder before
//! it, links expanded by us. What comes out is an open folder, the name in it,
//! and the identities (device and inode) of all folders above. The judgement is
//! made on those identities, and the file is then opened in that folder without
//! following a link: whatever happens to the names on the way in the meantime,
//! what is opened is what was judged. A folder is recognised under any name,
//! through bind mounts and on file systems that ignore case.
//!
//! A second hard link to a file directly in `$AGENTX_HOME`, such as `auth.json`, is
//! recognised by the file; one to a file further down is not, and making one
//! takes the rights to read it.

use crate::limits::{MAX_HOME_FILES, MAX_LINKS, MAX_PATH_BYTES};
use crate::stop::Stop;
use crate::text::shown;
use agentx_core::guard::Guard;
use agentx_core::tool::Access;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::fs::{fstat, open, openat, readlinkat, stat, statat};
use rustix::io::Errno;
use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// Opens a folder only to look names up in it, which needs no read permission.
#[cfg(target_os = "linux")]
const LOOK_UP: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const LOOK_UP: OFlags = OFlags::empty();

/// The file of keys in `$AGENTX_HOME`, which counts even if the folder cannot be
/// listed.
const REGISTRY_FILE: &str = "auth.json";

/// What makes two names the same file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    // The type of the device differs between systems.
    #[allow(clippy::unnecessary_cast)]
    pub(crate) const fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino,
        }
    }
}

/// Where a path leads.
#[derive(Debug)]
pub(crate) struct Place {
    /// The folders from `/` to `folder`.
    trail: Vec<Identity>,
    /// Their names, without that of `/`; none of them is a link.
    folders: Vec<OsString>,
    /// The last folder on the way that exists.
    pub(crate) folder: OwnedFd,
    /// What of the path is not a folder.
    pub(crate) leaf: Leaf,
}

/// What a path leads to, seen from the last folder on the way.
#[derive(Debug)]
pub(crate) enum Leaf {
    /// That folder itself.
    Folder,
    /// Something in it that is neither folder nor link.
    File { name: OsString, stat: Box<Stat> },
    /// Names that do not exist, the first of them in the folder.
    Missing { names: Vec<OsString> },
}

impl Place {
    /// Walks an absolute path.
    ///
    /// # Errors
    ///
    /// As the system tells them, `LOOP` for too many links, and `AGAIN` when a
    /// folder was moved while the path was walked.
    pub(crate) fn resolve(path: &Path) -> Result<Self, Errno> {
        let mut walk = Walk {
            trail: Vec::new(),
            folders: Vec::new(),
            folder: open("/", folder_flags(), Mode::empty())?,
            pending: Vec::new(),
            links: 0,
        };
        walk.trail.push(Identity::of(&fstat(&walk.folder)?));
        walk.push(path.as_os_str().as_bytes());
        walk.run()
    }

    /// The path without links that led here when it was walked.
    pub(crate) fn path(&self) -> PathBuf {
        let mut path = PathBuf::from("/");
        path.extend(self.folders.iter().chain(self.names()));
        path
    }

    /// Opens the file for reading, if it is a regular one. Never blocks, never
    /// follows a link.
    pub(crate) fn open_file(&self) -> Result<(File, Stat), OpenFault> {
        self.must_be_regular()?;
        match &self.leaf {
            Leaf::File { name, .. } => open_regular(&self.folder, name.as_os_str()),
            Leaf::Folder | Leaf::Missing { .. } => Err(OpenFault::System(Errno::NOENT)),
        }
    }

    /// Refuses what is no regular file, without opening it.
    pub(crate) fn must_be_regular(&self) -> Result<(), OpenFault> {
        match &self.leaf {
            Leaf::Folder => Err(OpenFault::Kind("a folder")),
            Leaf::Missing { .. } => Err(OpenFault::System(Errno::NOENT)),
            Leaf::File { stat, .. } => {
                special_kind(stat).map_or(Ok(()), |kind| Err(OpenFault::Kind(kind)))
            }
        }
    }

    /// The folder, open for listing.
    pub(crate) fn open_folder(&self) -> Result<OwnedFd, Errno> {
        openat(&self.folder, ".", list_flags(), Mode::empty())
    }

    /// The regular files directly in the folder, as many as are looked at.
    fn files(&self) -> Vec<Identity> {
        if !matches!(self.leaf, Leaf::Folder) {
            return Vec::new();
        }
        let listed = self.open_folder().and_then(Dir::read_from);
        let names = listed.into_iter().flatten().filter_map(Result::ok);
        let names = names.map(|entry| owned_name(entry.file_name()));
        let first = std::iter::once(OsString::from(REGISTRY_FILE));
        let stats = first
            .chain(names.take(MAX_HOME_FILES))
            .filter_map(|name| statat(&self.folder, &*name, AtFlags::SYMLINK_NOFOLLOW).ok());
        stats
            .filter(|stat| special_kind(stat).is_none())
            .map(|stat| Identity::of(&stat))
            .collect()
    }

    /// The names below the last existing folder, in the order of the path.
    fn names(&self) -> &[OsString] {
        match &self.leaf {
            Leaf::Folder => &[],
            Leaf::File { name, .. } => std::slice::from_ref(name),
            Leaf::Missing { names } => names,
        }
    }

    /// Whether this is `other`, or lies below it.
    fn is_within(&self, other: &Self) -> bool {
        if matches!(other.leaf, Leaf::Folder) {
            return other.trail.last().is_some_and(|id| self.trail.contains(id));
        }
        self.trail.last() == other.trail.last() && self.names().starts_with(other.names())
    }
}

/// Why a file could not be opened.
#[derive(Debug)]
pub(crate) enum OpenFault {
    /// It is something else than a regular file.
    Kind(&'static str),
    /// The system refused.
    System(Errno),
}

impl OpenFault {
    /// The fault as a sentence about the path `shown`.
    pub(crate) fn told(&self, shown: &str) -> Stop {
        Stop::fault(match self {
            Self::Kind(kind) => format!("`{shown}` is {kind}, not a regular file."),
            Self::System(errno) => system_fault(shown, *errno),
        })
    }
}

/// Opens a name in a folder, if it is a regular file.
pub(crate) fn open_regular(
    folder: impl AsFd,
    name: impl rustix::path::Arg,
) -> Result<(File, Stat), OpenFault> {
    // A pipe or device that took the name after it was looked at must not make
    // us wait, nor become our terminal.
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let fd = openat(folder, name, flags, Mode::empty()).map_err(OpenFault::System)?;
    let stat = fstat(&fd).map_err(OpenFault::System)?;
    match special_kind(&stat) {
        Some(kind) => Err(OpenFault::Kind(kind)),
        None => Ok((File::from(fd), stat)),
    }
}

/// What kind of thing this is, unless it is a regular file.
fn special_kind(stat: &Stat) -> Option<&'static str> {
    Some(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return None,
        FileType::Directory => "a folder",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Symlink => "a link",
        FileType::Unknown => "of an unknown kind",
    })
}

/// A failure of the system on the path `shown`, as a sentence.
pub(crate) fn system_fault(shown: &str, errno: Errno) -> String {
    match errno {
        Errno::NOENT => format!("`{shown}` does not exist."),
        Errno::NOTDIR => format!("`{shown}` does not exist: a part of it is not a folder."),
        Errno::LOOP => format!("`{shown}` goes through too many links, or changed to one."),
        Errno::AGAIN => format!("`{shown}` was moved while it was looked up."),
        other => format!("`{shown}`: {}.", std::io::Error::from(other)),
    }
}

fn folder_flags() -> OFlags {
    LOOK_UP | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// Flags that open a folder for listing.
pub(crate) fn list_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// A path on its way.
struct Walk {
    trail: Vec<Identity>,
    folders: Vec<OsString>,
    folder: OwnedFd,
    /// What is still to be walked, the next name last.
    pending: Vec<OsString>,
    links: usize,
}

impl Walk {
    /// Puts a path in front of what is still to be walked.
    fn push(&mut self, path: &[u8]) {
        if path.ends_with(b"/") {
            // A name before a slash must be a folder.
            self.pending.push(".".into());
        }
        let names = path.split(|byte| *byte == b'/').rev();
        let names = names.filter(|name| !name.is_empty());
        self.pending
            .extend(names.map(|name| OsStr::from_bytes(name).to_owned()));
    }

    fn run(mut self) -> Result<Place, Errno> {
        while let Some(name) = self.pending.pop() {
            match name.as_bytes() {
                b"." => continue,
                b".." => {
                    self.ascend()?;
                    continue;
                }
                _ => {}
            }
            let stat = match statat(&self.folder, &*name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => return self.missing(name),
                other => other?,
            };
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => self.descend(&name)?,
                FileType::Symlink => self.follow(&name)?,
                _ if self.pending.is_empty() => {
                    let stat = Box::new(stat);
                    return Ok(self.arrive(Leaf::File { name, stat }));
                }
                _ => return Err(Errno::NOTDIR),
            }
        }
        Ok(self.arrive(Leaf::Folder))
    }

    fn arrive(self, leaf: Leaf) -> Place {
        Place {
            trail: self.trail,
            folders: self.folders,
            folder: self.folder,
            leaf,
        }
    }

    fn descend(&mut self, name: &OsStr) -> Result<(), Errno> {
        let folder = openat(&self.folder, name, folder_flags(), Mode::empty())?;
        self.trail.push(Identity::of(&fstat(&folder)?));
        self.folders.push(name.to_owned());
        self.folder = folder;
        Ok(())
    }

    fn ascend(&mut self) -> Result<(), Errno> {
        if self.trail.len() > 1 {
            self.trail.pop();
            self.folders.pop();
            let folder = openat(&self.folder, "..", folder_flags(), Mode::empty())?;
            let found = Identity::of(&fstat(&folder)?);
            if self.trail.last() != Some(&found) {
                return Err(Errno::AGAIN);
            }
            self.folder = folder;
        }
        Ok(())
    }

    fn follow(&mut self, name: &OsStr) -> Result<(), Errno> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(Errno::LOOP);
        }
        let target = readlinkat(&self.folder, name, Vec::new())?.into_bytes();
        if target.starts_with(b"/") {
            self.folder = open("/", folder_flags(), Mode::empty())?;
            self.trail.truncate(1);
            self.folders.clear();
        }
        self.push(&target);
        Ok(())
    }

    /// Ends at a name that does not exist: all further names must be plain.
    fn missing(mut self, first: OsString) -> Result<Place, Errno> {
        let mut names = vec![first];
        while let Some(name) = self.pending.pop() {
            if matches!(name.as_bytes(), b"." | b"..") {
                return Err(Errno::NOENT);
            }
            names.push(name);
        }
        Ok(self.arrive(Leaf::Missing { names }))
    }
}

/// Where one call may go.
#[derive(Debug)]
pub(crate) struct Fence {
    /// The folder that relative paths start at.
    base: PathBuf,
    /// `$AGENTX_HOME`.
    home: Place,
    /// The working directories, where the call is bound to them.
    roots: Option<Vec<Identity>>,
    /// What no message about a path may show.
    guard: Guard,
    /// The files directly in `$AGENTX_HOME`, once they are asked for.
    kept: OnceCell<Vec<Identity>>,
}

impl Fence {
    /// The fence of a call.
    ///
    /// # Errors
    ///
    /// When there is no usable working directory, or when it cannot be told
    /// where `$AGENTX_HOME` lies: then nothing could be kept out of it.
    pub(crate) fn new(
        home: &Path,
        directories: &[String],
        access: Access,
        guard: &Guard,
    ) -> Result<Self, Stop> {
        let base = directories.first().map(PathBuf::from);
        let base = base
            .filter(|base| base.is_absolute())
            .ok_or_else(|| Stop::fault("The session has no absolute working directory."))?;
        let located = if home.is_absolute() {
            Place::resolve(home)
        } else {
            Err(Errno::INVAL)
        };
        let home = located.map_err(|errno| {
            let cause = std::io::Error::from(errno);
            Stop::io("It cannot be told where AGENTX_HOME lies", cause)
        })?;
        let roots = match access {
            Access::Granted => None,
            Access::WorkingDirectories => {
                let found = directories
                    .iter()
                    .filter_map(|path| stat(path.as_str()).ok());
                Some(found.map(|stat| Identity::of(&stat)).collect())
            }
        };
        Ok(Self {
            base,
            home,
            roots,
            guard: guard.clone(),
            kept: OnceCell::new(),
        })
    }

    /// Where a path of the input leads, if the call may go there.
    pub(crate) fn enter(&self, text: &str) -> Result<Place, Stop> {
        if text.is_empty() {
            return Err(Stop::fault("The path is empty."));
        }
        let path = self.base.join(text);
        if path.as_os_str().len() > MAX_PATH_BYTES {
            let text = format!("The path is longer than {MAX_PATH_BYTES} bytes.");
            return Err(Stop::fault(text));
        }
        let shown = shown(text, &self.guard);
        if text.contains('\0') {
            return Err(Stop::fault(format!("`{shown}` contains a NUL character.")));
        }
        self.enter_path(&path, &shown)
    }

    /// Where an absolute path leads, if the call may go there. `shown` is how it
    /// looks in messages.
    pub(crate) fn enter_path(&self, path: &Path, shown: &str) -> Result<Place, Stop> {
        let place =
            Place::resolve(path).map_err(|errno| Stop::fault(system_fault(shown, errno)))?;
        self.judge(&place, shown)?;
        Ok(place)
    }

    /// The first working directory, for a child to run in.
    pub(crate) fn working_directory(&self) -> Result<&Path, Stop> {
        let shown = shown(&self.base.to_string_lossy(), &self.guard);
        let place =
            Place::resolve(&self.base).map_err(|errno| Stop::fault(system_fault(&shown, errno)))?;
        if !matches!(place.leaf, Leaf::Folder) {
            let text = format!("The working directory `{shown}` is no folder any more.");
            return Err(Stop::fault(text));
        }
        self.judge(&place, &shown)?;
        Ok(&self.base)
    }

    /// Whether a path is one that the call may go to; used for links that a
    /// walk finds.
    pub(crate) fn admits(&self, path: &Path) -> Option<Place> {
        let place = Place::resolve(&self.base.join(path)).ok()?;
        self.judge(&place, "").ok()?;
        Some(place)
    }

    /// Whether a folder that a walk reached is `$AGENTX_HOME`.
    pub(crate) fn is_home(&self, folder: Identity) -> bool {
        matches!(self.home.leaf, Leaf::Folder) && self.home.trail.last() == Some(&folder)
    }

    /// Refuses an open file that is one of `$AGENTX_HOME` by another name.
    pub(crate) fn judge_file(&self, stat: &Stat, shown: &str) -> Result<(), Stop> {
        let kept = || self.kept.get_or_init(|| self.home.files());
        if stat.st_nlink > 1 && kept().contains(&Identity::of(stat)) {
            let text = format!("`{shown}` is a file of AGENTX_HOME, which no tool may touch.");
            return Err(Stop::fault(text));
        }
        Ok(())
    }

    fn judge(&self, place: &Place, shown: &str) -> Result<(), Stop> {
        if place.is_within(&self.home) {
            let text = format!("`{shown}` lies in AGENTX_HOME, which no tool may touch.");
            return Err(Stop::fault(text));
        }
        let within = self
            .roots
            .as_ref()
            .is_none_or(|roots| roots.iter().any(|root| place.trail.contains(root)));
        if within {
            Ok(())
        } else {
            let text = format!("`{shown}` lies outside the working directories.");
            Err(Stop::fault(text))
        }
    }
}

/// A name as text, with credentials replaced. What is not UTF-8 in it is shown,
/// but no longer names it.
pub(crate) fn name_text(name: &OsStr, guard: &Guard) -> String {
    shown_name(&guard.redact(&String::from_utf8_lossy(name.as_bytes())))
}

/// A name without the characters that would break a list of names into lines.
fn shown_name(name: &str) -> String {
    if name.contains(char::is_control) {
        name.escape_debug().to_string()
    } else {
        name.to_owned()
    }
}

/// A name from a folder listing.
pub(crate) fn owned_name(name: &std::ffi::CStr) -> OsString {
    OsString::from_vec(name.to_bytes().to_vec())
}

#[cfg(test)]
mod tests;
