//! A folder that is gone afterwards.

use crate::refusal::Refusal;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// Names tried before giving up; others may have been taken on purpose.
const ATTEMPTS: u32 = 64;

/// An empty folder of this process's own, removed with all it holds on drop.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    name: String,
}

impl Folder {
    /// Makes a folder below the system's temporary one.
    ///
    /// # Errors
    ///
    /// When none can be made, or its path is no UTF-8.
    pub(crate) fn create() -> Result<Self, Refusal> {
        let refuse = |what: &dyn std::fmt::Display| {
            Refusal::new(format_args!("a temporary folder cannot be made: {what}"))
        };
        let below = std::env::temp_dir().canonicalize();
        let below = below.map_err(|error| refuse(&error))?;
        for attempt in 0..ATTEMPTS {
            let path = below.join(format!("agentx-demo-{}-{attempt}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(refuse(&error)),
            }
            let Some(name) = path.to_str().map(str::to_owned) else {
                let _ = std::fs::remove_dir(&path);
                return Err(refuse(&"its path is no UTF-8"));
            };
            return Ok(Self { path, name });
        }
        Err(refuse(&"every name is taken"))
    }

    /// Where it is, as text.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path) {
            crate::complain(format_args!("warning: {} stays: {error}", self.name));
        }
    }
}
