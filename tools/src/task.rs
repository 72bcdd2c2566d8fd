//! Output files of background tasks.
//!
//! They lie in a folder of this process under the system's temporary directory,
//! which nobody else may enter, and is made for the first task. A file takes what
//! a task writes while it runs: with credentials replaced first (DEC-30), and no
//! more than its bound, which is told at its end. Files stay when the process
//! ends, since somebody may want to read what they were told of; the system
//! clears its temporary directory.

use crate::folder::PrivateFolder;
use agentx_core::guard::Guard;
use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How the folder's name begins.
const PREFIX: &str = "agentx-tasks-";

/// The folder of the output files; made once, when it is needed first.
#[derive(Debug)]
pub(crate) struct TaskFolder {
    temp: PathBuf,
    made: Mutex<Option<Arc<PrivateFolder>>>,
}

impl TaskFolder {
    /// Below `temp`; what is told is an absolute path.
    pub(crate) fn new(temp: &Path) -> Self {
        Self {
            temp: std::path::absolute(temp).unwrap_or_else(|_| temp.to_owned()),
            made: Mutex::new(None),
        }
    }

    /// A new file of this name, which holds at most `bytes`.
    pub(crate) fn file(&self, name: &str, bytes: u64) -> io::Result<TaskFile> {
        let folder = self.folder()?;
        let name = format!("{name}.output");
        let flags = OFlags::WRONLY
            | OFlags::CREATE
            | OFlags::EXCL
            | OFlags::APPEND
            | OFlags::NOFOLLOW
            | OFlags::CLOEXEC;
        let fd = openat(&folder.fd, &*name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(TaskFile {
            path: folder.path.join(&name),
            name,
            folder,
            state: Mutex::new(State {
                file: File::from(fd),
                room: bytes,
                cut: 0,
                stream: 0,
                line_ended: true,
                fault: None,
            }),
        })
    }

    fn folder(&self) -> io::Result<Arc<PrivateFolder>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = &*made {
            return Ok(Arc::clone(folder));
        }
        let folder = Arc::new(PrivateFolder::make(&self.temp, PREFIX)?);
        *made = Some(Arc::clone(&folder));
        Ok(folder)
    }
}

/// The output file of one task.
#[derive(Debug)]
pub(crate) struct TaskFile {
    path: PathBuf,
    name: String,
    folder: Arc<PrivateFolder>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    /// Bytes that may still be written.
    room: u64,
    /// Bytes that were not written.
    cut: u64,
    /// The stream that wrote last.
    stream: u8,
    line_ended: bool,
    fault: Option<io::Error>,
}

impl TaskFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes what a stream wrote, free of credentials. Another stream begins a
    /// line, so that the two cannot spell together what neither does.
    pub(crate) fn write(&self, stream: u8, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut state = self.state();
        if std::mem::replace(&mut state.stream, stream) != stream && !state.line_ended {
            state.put("\n");
        }
        state.put(text);
    }

    /// Ends the file: what was cut is told, and how the task ended. Gives why
    /// the file could not be written, if so.
    pub(crate) fn close(&self, end: &str) -> Option<String> {
        let mut state = self.state();
        let mut last = String::new();
        if !state.line_ended {
            last.push('\n');
        }
        if state.cut > 0 {
            let _ = writeln!(last, "[… {} bytes cut]", state.cut);
        }
        let _ = writeln!(last, "{end}");
        if state.fault.is_none() {
            state.fault = state.file.write_all(last.as_bytes()).err();
        }
        let fault = state.fault.as_ref()?;
        Some(format!("[The output file is not complete: {fault}.]"))
    }

    /// Takes the file of a task away that did not begin.
    pub(crate) fn remove(&self) {
        // Whether or not: an empty file tells nothing.
        let _ = unlinkat(&self.folder.fd, &*self.name, AtFlags::empty());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn put(&mut self, text: &str) {
        let room = usize::try_from(self.room).unwrap_or(usize::MAX);
        // Once something was cut, what comes later would stand in the wrong place.
        let kept = match (self.cut, self.fault.is_some()) {
            (0, false) => text.get(..text.floor_char_boundary(room)).unwrap_or(""),
            _ => "",
        };
        self.cut += (text.len() - kept.len()) as u64;
        if kept.is_empty() {
            return;
        }
        self.room -= kept.len() as u64;
        self.line_ended = kept.ends_with('\n');
        self.fault = self.file.write_all(kept.as_bytes()).err();
    }
}

/// A task as its body sees it.
#[derive(Clone, Copy)]
pub struct TaskHooks<'a> {
    /// Where its output goes.
    pub(crate) file: &'a Arc<TaskFile>,
    /// Called once, when it runs.
    pub(crate) began: &'a dyn Fn(),
}

impl std::fmt::Debug for TaskHooks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskHooks")
            .field("file", &self.file.path)
            .finish_non_exhaustive()
    }
}

/// The path of an output file as it is told: one that is no text, or that spells
/// a credential, cannot be.
pub(crate) fn told_path(path: &Path, guard: &Guard) -> Option<String> {
    let path = path.to_str()?;
    guard
        .check(path.as_bytes())
        .is_ok()
        .then(|| path.to_owned())
}
