//! The home folder and the files in it that hold secrets or decide what runs
//! (configuration, "Environment" and "`auth.json`").

use crate::refusal::Refusal;
use agentx_providers::registry::FileFacts;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The file of providers.
pub(crate) const REGISTRY: &str = "auth.json";

/// Bytes of a script of the scripted provider.
const SCRIPT_BYTES: u64 = 8 << 20;

/// Where the home folder is: `AGENTX_HOME`, else `.agentx` in the user's own.
///
/// # Errors
///
/// A path that is not absolute; no home folder of the user at all.
pub(crate) fn locate(
    agentx_home: Option<OsString>,
    user_home: Option<PathBuf>,
) -> Result<PathBuf, Refusal> {
    if let Some(path) = agentx_home.filter(|path| !is_blank(path)) {
        let path = PathBuf::from(path);
        if !path.is_absolute() {
            // Not shown: where no registry is found, nobody knows what is a key.
            return Err(Refusal::new("AGENTX_HOME: expected an absolute path"));
        }
        return Ok(path);
    }
    match user_home {
        Some(home) if home.is_absolute() => Ok(home.join(".agentx")),
        _ => Err(Refusal::new(
            "no home folder is known: expected AGENTX_HOME or HOME to be an absolute path",
        )),
    }
}

fn is_blank(text: &OsStr) -> bool {
    text.to_str().is_some_and(|text| text.trim().is_empty())
}

/// An open home folder.
#[derive(Debug)]
pub(crate) struct Home {
    path: PathBuf,
    folder: File,
    facts: Metadata,
}

impl Home {
    /// Opens the folder; what is asked later is asked of this one.
    ///
    /// # Errors
    ///
    /// When it is not there, or no folder.
    pub(crate) fn open(path: &Path) -> Result<Self, Refusal> {
        let refuse = |what: &dyn std::fmt::Display| {
            Refusal::new(format_args!("home folder {}: {what}", path.display()))
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(CWD, path, flags, Mode::empty()).map_err(|errno| match errno {
            Errno::NOENT => refuse(&"does not exist; it holds auth.json, see agentx --help"),
            Errno::NOTDIR => refuse(&"not a folder"),
            errno => refuse(&errno),
        })?;
        let folder = File::from(folder);
        let facts = folder.metadata().map_err(|error| refuse(&error))?;
        Ok(Self {
            path: path.to_owned(),
            folder,
            facts,
        })
    }

    /// The registry file, with what the system says about it. A file that breaks
    /// a rule is not read.
    ///
    /// # Errors
    ///
    /// A file that cannot be opened or read, or breaks a rule.
    pub(crate) fn registry(&self) -> Result<(Vec<u8>, FileFacts), Refusal> {
        // One byte more than may be, so that the reader sees the excess.
        self.read(
            REGISTRY,
            agentx_providers::limits::REGISTRY_BYTES as u64 + 1,
        )
    }

    /// A script of the scripted provider, under the rules of the registry file.
    ///
    /// # Errors
    ///
    /// As for the registry file; a text over its bound or no UTF-8.
    pub(crate) fn script(&self, name: &str) -> Result<String, Refusal> {
        let (bytes, _) = self.read(name, SCRIPT_BYTES + 1)?;
        if bytes.len() as u64 > SCRIPT_BYTES {
            return Err(Refusal::new(format_args!(
                "{name}: over {SCRIPT_BYTES} bytes"
            )));
        }
        String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to() + 1;
            Refusal::new(format_args!("{name}: no UTF-8 at byte {at}"))
        })
    }

    /// The open folder.
    pub(crate) const fn folder(&self) -> &File {
        &self.folder
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn read(&self, name: &str, limit: u64) -> Result<(Vec<u8>, FileFacts), Refusal> {
        let refuse = |what: &dyn std::fmt::Display| Refusal::new(format_args!("{name}: {what}"));
        // Not to wait for the other end, should it be a FIFO.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let open = || -> Result<(File, FileFacts), Refusal> {
            let opened = openat(&self.folder, name, flags, Mode::empty());
            let file = File::from(opened.map_err(|errno| match errno {
                Errno::NOENT => refuse(&format_args!("no such file in {}", self.path.display())),
                Errno::LOOP => refuse(&"a symbolic link, expected a regular file"),
                errno => refuse(&errno),
            })?);
            let facts = self.facts_of(&file.metadata().map_err(|error| refuse(&error))?);
            Ok((file, facts))
        };
        let (mut file, mut facts) = open()?;
        if facts.links == 0 {
            // Replaced by a newer one between the opening and the look at it.
            (file, facts) = open()?;
        }
        facts.check(name)?;
        let mut bytes = Vec::new();
        let read = file.take(limit).read_to_end(&mut bytes);
        read.map_err(|error| refuse(&error))?;
        Ok((bytes, facts))
    }

    fn facts_of(&self, file: &Metadata) -> FileFacts {
        let user = rustix::process::geteuid().as_raw();
        FileFacts {
            regular: file.is_file(),
            mode: file.mode() & 0o7777,
            links: file.nlink(),
            owned: file.uid() == user,
            home_mode: self.facts.mode() & 0o7777,
            home_owned: self.facts.uid() == user,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_folder_is_told_or_the_users() {
        let user = Some(PathBuf::from("/home/u"));
        let located = |told: Option<&str>, user: Option<PathBuf>| {
            locate(told.map(OsString::from), user).map_err(|refusal| refusal.to_string())
        };
        assert_eq!(located(Some("/x"), None), Ok("/x".into()));
        for blank in [None, Some(""), Some(" \t")] {
            assert_eq!(located(blank, user.clone()), Ok("/home/u/.agentx".into()));
        }
        assert_eq!(
            located(Some("x/y"), user),
            Err("AGENTX_HOME: expected an absolute path".into())
        );
        let unknown =
            "no home folder is known: expected AGENTX_HOME or HOME to be an absolute path";
        for user in [None, Some(PathBuf::new()), Some("relative".into())] {
            assert_eq!(located(None, user), Err(unknown.into()));
        }
    }
}
