//! Settings files: where they are, which of them count, and how answers of a
//! host get into them (configuration, "`settings.json`").
//!
//! What a file says is read by `agentx_core::policy`; here are the files.

mod check;
mod file;
mod hooks;
mod rules;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use rules::Ruled;
pub(crate) use store::Store;

use crate::home::Home;
use crate::hosted::settings::keep_known;
use crate::options::{SettingSource, TextOrFile, ToolChoice};
use crate::refusal::Refusal;
use agentx_core::guard::Guard;
use agentx_core::hook::Hooks;
use agentx_core::policy::{Layer, Layers, Settings};
use agentx_core::schema::permission::PermissionUpdate;
use agentx_pump::world::Persist;
use agentx_tools::{CommandTools, HookCommands};
use file::Rules;
use rustix::fs::CWD;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// The machine's policy.
pub(crate) const POLICY: &str = "/etc/agentx/policy.json";

/// The folder of a project's settings.
const PROJECT: &str = ".agentx";

/// The user's settings.
const USER: &str = "settings.json";

/// A project's settings.
const SHARED: &str = "settings.json";

/// A project's settings for this machine.
const LOCAL: &str = "settings.local.json";

/// What the command line and settings say about permissions and tools.
#[derive(Default)]
pub(crate) struct Standing {
    /// Settings of all layers.
    pub(crate) layers: Layers,
    /// Further working directories of the command line, absolute.
    pub(crate) directories: Vec<String>,
    /// Which built-in tools are offered.
    pub(crate) tools: ToolChoice,
    /// Tools that are offered in no case.
    pub(crate) withheld: Vec<String>,
    /// Rules of the command line, which are in the layers as well.
    pub(crate) rules: Vec<PermissionUpdate>,
    /// Command tools of the settings.
    pub(crate) commands: CommandTools,
    /// Hooks of the settings, and their commands in the same order.
    pub(crate) hooks: Hooks,
    /// What the hooks run.
    pub(crate) hook_commands: HookCommands,
    /// Stores what answers of a host say.
    pub(crate) persist: Option<Persist>,
}

impl std::fmt::Debug for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Standing")
            .field("layers", &self.layers)
            .field("directories", &self.directories)
            .field("tools", &self.tools)
            .field("withheld", &self.withheld)
            .field("commands", &self.commands)
            .field("hooks", &self.hook_commands)
            .finish_non_exhaustive()
    }
}

/// Where settings are looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places<'a> {
    /// The home folder.
    pub(crate) home: &'a Home,
    /// The working directory, absolute.
    pub(crate) cwd: &'a Path,
    /// The machine's policy.
    pub(crate) policy: &'a Path,
    /// What `--settings` says.
    pub(crate) flag: Option<&'a TextOrFile>,
    /// Whether settings of the working directory count.
    pub(crate) trusted: bool,
    /// Which files of user and project count.
    pub(crate) sources: &'a [SettingSource],
    /// Whether `--settings` was written for other programs as well, so that
    /// members which mean nothing here are left out.
    pub(crate) hosted: bool,
    /// Keys that no message may show.
    pub(crate) keys: &'a Guard,
}

/// Settings of all layers.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// The settings.
    pub(crate) layers: Layers,
    /// What is worth a line on stderr.
    pub(crate) notes: Vec<String>,
    /// What the files are called in messages.
    names: BTreeMap<Layer, String>,
    keys: Guard,
}

impl Places<'_> {
    /// Reads every layer.
    ///
    /// # Errors
    ///
    /// The first file that cannot be read or breaks a rule, and what is wrong.
    pub(crate) fn load(&self) -> Result<Loaded, Refusal> {
        let mut loaded = Loaded {
            keys: self.keys.clone(),
            ..Loaded::default()
        };
        if self.sources.contains(&SettingSource::User) {
            let name = self.home.path().join(USER);
            let file = file::read(self.home.folder(), Path::new(USER), Rules::OfUser);
            loaded.take(Layer::User, name.display(), file)?;
        }
        self.load_project(&mut loaded)?;
        self.load_flag(&mut loaded)?;
        let file = file::read(CWD, self.policy, Rules::OfMachine);
        loaded.take(Layer::Policy, self.policy.display(), file)?;
        Ok(loaded)
    }

    /// The layer of the command line.
    fn load_flag(&self, loaded: &mut Loaded) -> Result<(), Refusal> {
        let (name, bytes) = match self.flag {
            None => return Ok(()),
            Some(TextOrFile::Text(text)) => ("--settings".to_owned(), text.clone().into_bytes()),
            Some(TextOrFile::File(path)) => {
                let name = format!("--settings {}", path.display());
                let file = file::read(CWD, path, Rules::Chosen);
                let file = file.map_err(|fault| refusal(&name, fault))?;
                let bytes = file.ok_or_else(|| refusal(&name, "no such file"))?;
                (name, bytes)
            }
        };
        let bytes = if self.hosted {
            let kept = keep_known(bytes)?;
            if !kept.left_out.is_empty() {
                let what = kept.left_out.join(", ");
                let note = format!("warning: {name}: no effect: {what}");
                loaded.notes.push(note);
            }
            kept.text
        } else {
            bytes
        };
        loaded.take(Layer::Flag, name, Ok(Some(bytes)))
    }

    /// The two layers of a project. Those of a workspace that is not trusted
    /// are not even read; that they are there is told.
    fn load_project(&self, loaded: &mut Loaded) -> Result<(), Refusal> {
        let path = self.cwd.join(PROJECT);
        let folder = match file::project(self.cwd) {
            Ok(Some(folder)) if !file::same(&folder, self.home.folder()) => folder,
            // A home folder right here holds the user's settings, not a project's.
            Ok(_) => return Ok(()),
            Err(_) if !self.trusted => return Ok(()),
            Err(fault) => return Err(refusal(path.display(), fault)),
        };
        let files = [
            (SettingSource::Project, Layer::Project, SHARED),
            (SettingSource::Local, Layer::Local, LOCAL),
        ];
        let files = files.into_iter();
        let files = files.filter(|(source, ..)| self.sources.contains(source));
        let files: Vec<_> = files.map(|(_, layer, name)| (layer, name)).collect();
        if self.trusted {
            for (layer, name) in files {
                let file = file::read(&folder, Path::new(name), Rules::OfProject);
                loaded.take(layer, path.join(name).display(), file)?;
            }
            return Ok(());
        }
        let there = files.iter().filter(|(_, name)| file::exists(&folder, name));
        let there: Vec<String> = there
            .map(|(_, name)| path.join(name).display().to_string())
            .collect();
        if !there.is_empty() {
            loaded.notes.push(format!(
                "note: {} not heeded without --trust-workspace: {}",
                if there.len() == 1 {
                    "settings file"
                } else {
                    "settings files"
                },
                there.join(", ")
            ));
        }
        Ok(())
    }
}

impl Loaded {
    fn take(
        &mut self,
        layer: Layer,
        name: impl Display,
        file: Result<Option<Vec<u8>>, String>,
    ) -> Result<(), Refusal> {
        let Some(bytes) = file.map_err(|fault| refusal(&name, fault))? else {
            return Ok(());
        };
        let settings =
            Settings::read_guarded(&bytes, &self.keys).map_err(|fault| refusal(&name, fault))?;
        self.layers.set(layer, settings);
        self.names.insert(layer, name.to_string());
        Ok(())
    }
}

fn refusal(name: impl Display, fault: impl Display) -> Refusal {
    Refusal::new(format_args!("{name}: {fault}"))
}

/// Directories of `--add-dir`, absolute and without links.
///
/// # Errors
///
/// One that is no folder.
pub(crate) fn directories(told: &[PathBuf]) -> Result<Vec<String>, Refusal> {
    let found = told.iter().map(|path| {
        let name = format!("--add-dir {}", path.display());
        let found = path.canonicalize().map_err(|error| refusal(&name, error))?;
        if !found.is_dir() {
            return Err(refusal(&name, "not a folder"));
        }
        let text = found.into_os_string().into_string();
        text.map_err(|_| refusal(&name, "the path is no UTF-8"))
    });
    found.collect()
}
