//! The files of the repository.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Path from the root of the repository, with `/` between its parts.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// Its content; `None` when that is not UTF-8.
    pub text: Option<String>,
}

impl File {
    /// A text file, for tests of checks.
    #[must_use]
    pub fn of(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            size: text.len() as u64,
            text: Some(text.to_owned()),
        }
    }

    /// The content, empty when it is not text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Whether the name ends in this extension, given without its dot.
    #[must_use]
    pub fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|e| e == extension)
    }
}

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files below `root` that belong to the project, sorted by path: no build
/// output, and of the hidden folders `.ci` alone.
///
/// # Errors
///
/// Whatever reading a folder or a file brings.
pub fn files(root: &Path) -> io::Result<Vec<File>> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = match folder.as_str() {
                "" => name.clone(),
                parent => format!("{parent}/{name}"),
            };
            if entry.file_type()?.is_dir() {
                if name != "target" && (!name.starts_with('.') || name == ".ci") {
                    folders.push(path);
                }
            } else if name != ".git" {
                let bytes = fs::read(entry.path())?;
                found.push(File {
                    path,
                    size: bytes.len() as u64,
                    text: String::from_utf8(bytes).ok(),
                });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}
