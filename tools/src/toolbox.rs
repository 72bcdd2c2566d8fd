//! All tools behind one door.

use crate::body;
use crate::cancel::CancelToken;
use crate::checkpoint::Checkpoints;
use crate::command::CommandTools;
use crate::hook::{self, HookCommands};
use crate::limits::{SHOWN_CHARS, ToolLimits};
use crate::network::Network;
use crate::place::Fence;
use crate::rewind;
use crate::seen::Seen;
use crate::spec::builtin_specs;
use crate::stop::{CANCELLED, Stop};
use crate::task::{TaskFolder, TaskHooks, told_path};
use crate::text::{cut_result, shown};
use agentx_core::checkpoint::{RewindReport, RewindRequest, SeedRequest, Seeding};
use agentx_core::guard::Guard;
use agentx_core::hook::{HookReport, HookRequest};
use agentx_core::tool::{Access, TaskRequest, ToolContent, ToolOutcome, ToolRequest, ToolSpec};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// What the tools of a process share.
#[derive(Clone)]
pub struct ToolboxConfig {
    /// `$AGENTX_HOME`, absolute. It need not exist. No tool goes there, in any mode.
    pub home: PathBuf,
    /// The environment that children start from. `AGENTX_HOME` is taken out, and
    /// a `PATH` put in where there is none.
    pub environment: BTreeMap<OsString, OsString>,
    /// Tools that are commands of the settings.
    pub commands: CommandTools,
    /// Hooks that are commands of the settings.
    pub hooks: HookCommands,
    /// The program that `Bash` runs, with `-c` and the command.
    pub shell: PathBuf,
    /// Credentials that no answer may carry (DEC-30).
    pub guard: Guard,
    /// The system's temporary directory, where output files of background tasks
    /// lie in a folder of their own.
    pub temp: PathBuf,
    /// What `CurrentTime` tells.
    pub clock: fn() -> SystemTime,
    /// All bounds.
    pub limits: ToolLimits,
}

impl ToolboxConfig {
    /// A configuration with the system's clock, the specified limits, no
    /// command tools, no credentials, and the shell `/bin/bash`, or `/bin/sh` where that does not
    /// exist.
    #[must_use]
    pub fn new(home: impl Into<PathBuf>, environment: BTreeMap<OsString, OsString>) -> Self {
        let bash = PathBuf::from("/bin/bash");
        Self {
            home: home.into(),
            environment,
            shell: if bash.exists() {
                bash
            } else {
                "/bin/sh".into()
            },
            commands: CommandTools::default(),
            temp: std::env::temp_dir(),
            hooks: HookCommands::default(),
            guard: Guard::default(),
            clock: SystemTime::now,
            limits: ToolLimits::default(),
        }
    }

    /// All tools, as the model is told of them: the built-in ones first.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        let mut specs = builtin_specs();
        specs.extend(self.commands.specs());
        specs
    }

    /// The home folder of the user, as children see it.
    pub(crate) fn user_home(&self) -> Option<&Path> {
        let home = self.environment.get(OsStr::new("HOME")).map(Path::new);
        home.filter(|home| home.is_absolute())
    }
}

/// Without the environment, which may hold secrets.
impl fmt::Debug for ToolboxConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolboxConfig")
            .field("home", &self.home)
            .field("commands", &self.commands.names().collect::<Vec<_>>())
            .field("shell", &self.shell)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Runs the tools. Calls may run side by side (DEC-26).
#[derive(Clone, Debug)]
pub struct Toolbox {
    config: ToolboxConfig,
    tasks: Arc<TaskFolder>,
    checkpoints: Arc<Checkpoints>,
    seen: Arc<Seen>,
}

impl Toolbox {
    /// A toolbox.
    #[must_use]
    pub fn new(config: ToolboxConfig) -> Self {
        let tasks = Arc::new(TaskFolder::new(&config.temp));
        let checkpoints = Checkpoints::new(&config.temp, &config.limits.checkpoints);
        Self {
            config,
            tasks,
            checkpoints: Arc::new(checkpoints),
            seen: Arc::default(),
        }
    }

    /// Runs one call to its end. Blocks: for a command as long as its time-out,
    /// otherwise as long as the file system takes. After `cancel` it returns
    /// soon, with an error that says so; a command is ended first.
    ///
    /// Every fault of the call is an outcome with `is_error`. Credentials are
    /// replaced in all text before it is cut (DEC-30), and it is bounded (DEC-34).
    #[must_use]
    pub fn run(&self, request: &ToolRequest, cancel: &CancelToken) -> ToolOutcome {
        self.perform(request, None, &Network::default(), cancel)
    }

    /// Runs one call as [`run`](Self::run) does; a tool that runs may ask
    /// whether it may connect to a host, through `network` (WIRE-PERM-080). With
    /// `run` nobody can be asked, and the answer is no.
    #[must_use]
    pub fn run_asking(
        &self,
        request: &ToolRequest,
        network: &Network,
        cancel: &CancelToken,
    ) -> ToolOutcome {
        self.perform(request, None, network, cancel)
    }

    /// Runs one call as a background task (WIRE-004), and otherwise as
    /// [`run`](Self::run) does. `began` is called once the task runs, with the
    /// path of the file that takes its output from then on; where it is not
    /// called the outcome tells why nothing was begun. The file keeps all of the
    /// output up to a bound, without credentials, and says at its end how the
    /// task ended. What a task asks about the network is denied: its questions
    /// would have no turn to belong to.
    #[must_use]
    pub fn run_task(
        &self,
        task: &TaskRequest,
        began: &dyn Fn(&str),
        cancel: &CancelToken,
    ) -> ToolOutcome {
        let bytes = self.config.limits.task_file_bytes;
        let made = self.tasks.file(&task.task_id, bytes).map(Arc::new);
        let made = made.map_err(|fault| fault.to_string()).and_then(|file| {
            let path = told_path(file.path(), &self.config.guard);
            let path = path.ok_or("its path cannot be told");
            path.map(|path| (file, path)).map_err(ToOwned::to_owned)
        });
        let (file, path) = match made {
            Ok(made) => made,
            Err(why) => {
                let text = format!("Not started: no output file could be made: {why}.");
                return ToolOutcome::error(cut_result(text, SHOWN_CHARS, &self.config.guard));
            }
        };
        let runs = Cell::new(false);
        let tell = || {
            runs.set(true);
            began(&path);
        };
        let hooks = TaskHooks {
            file: &file,
            began: &tell,
        };
        let mut outcome = self.perform(&task.tool, Some(hooks), &Network::of_a_task(), cancel);
        if !runs.get() {
            file.remove();
            return outcome;
        }
        let fault = file.close(&last_line(&outcome)).map(ToolContent::Text);
        outcome.content.extend(fault);
        outcome
    }

    fn perform(
        &self,
        request: &ToolRequest,
        task: Option<TaskHooks<'_>>,
        network: &Network,
        cancel: &CancelToken,
    ) -> ToolOutcome {
        let call = Call {
            request,
            config: &self.config,
            task,
            network,
            cancel,
            checkpoints: &self.checkpoints,
            seen: &self.seen,
        };
        let text = |answer: Result<String, Stop>| answer.map(ToolOutcome::text);
        let answer = call.check().and_then(|()| match &*request.call.name {
            "Read" => text(body::read::run(&call)),
            "Glob" => text(body::glob::run(&call)),
            "Grep" => text(body::grep::run(&call)),
            "CurrentTime" => text(body::time::run(&call)),
            "Write" => text(body::write::run(&call)),
            "Edit" => text(body::edit::run(&call)),
            "Bash" => body::bash::run(&call),
            other => match self.config.commands.get(other) {
                Some(tool) => body::command::run(&call, tool),
                None => {
                    let other = shown(other, call.guard());
                    Err(Stop::fault(format!("There is no tool `{other}`.")))
                }
            },
        });
        call.close(answer.unwrap_or_else(ToolOutcome::from))
    }
}

impl Toolbox {
    /// Runs one hook to its end. Blocks as long as its time-out; after `cancel`
    /// it is ended first. What it wrote is shown without credentials and bounded;
    /// of a hook that is watched, `told` learns now and then what both streams
    /// have so far.
    #[must_use]
    pub fn run_hook(
        &self,
        request: &HookRequest,
        told: &dyn Fn(String, String),
        cancel: &CancelToken,
    ) -> HookReport {
        hook::run(&self.config, request, told, cancel)
    }

    /// Puts files back that `Write` and `Edit` changed since a checkpoint, as
    /// their calls' [`Bookkeeping`](agentx_core::checkpoint::Bookkeeping) noted it:
    /// content and, where a file is gone, its permissions; a file that did not
    /// exist is removed. Blocks as long as the file system takes; after `cancel`
    /// the files that are left stay as they are, and say so.
    ///
    /// # Errors
    ///
    /// Why no file at all can be put back. What cannot be done to one file is in
    /// the report.
    pub fn rewind(
        &self,
        request: &RewindRequest,
        cancel: &CancelToken,
    ) -> Result<RewindReport, String> {
        rewind::run(&self.config, &mut self.checkpoints.lock(), request, cancel)
    }

    /// Takes the version of a file that is on the disk for one that the model has
    /// seen, unless it was modified later than the host says.
    #[must_use]
    pub fn seed(&self, request: &SeedRequest) -> Seeding {
        match self.seed_place(request) {
            Ok(true) => Seeding::Seeded,
            Ok(false) => Seeding::Newer,
            Err(Stop::Fault(text)) => {
                Seeding::Refused(self.config.guard.redact(&text).into_owned())
            }
            Err(Stop::Cancelled) => Seeding::Refused(CANCELLED.to_owned()),
        }
    }

    fn seed_place(&self, request: &SeedRequest) -> Result<bool, Stop> {
        let guard = &self.config.guard;
        let shown = shown(&request.path, guard);
        // It is the host that asks, about a file that it may know of anyway.
        let access = Access::Granted;
        let fence = Fence::new(&self.config.home, &request.directories, access, guard)?;
        let place = fence.enter(&request.path)?;
        let (_, stat) = place.open_file().map_err(|fault| fault.told(&shown))?;
        fence.judge_file(&stat, &shown)?;
        Ok(self.seen.seed(&place.path(), &stat, request.mtime_ms))
    }
}

/// What the output file of a task ends with: why it failed, or that it did not.
fn last_line(outcome: &ToolOutcome) -> String {
    if !outcome.is_error {
        return "[The task is complete.]".to_owned();
    }
    let last = outcome.content.last();
    let note = last.and_then(|ToolContent::Text(text)| text.lines().last());
    let note = note.filter(|line| line.starts_with('[') && line.ends_with(']'));
    note.unwrap_or("[The task failed.]").to_owned()
}

/// One call on its way through a body.
pub(crate) struct Call<'a> {
    pub(crate) request: &'a ToolRequest,
    pub(crate) config: &'a ToolboxConfig,
    /// For a call that is a background task.
    pub(crate) task: Option<TaskHooks<'a>>,
    /// Where the tool may ask whether it may connect somewhere.
    pub(crate) network: &'a Network,
    pub(crate) cancel: &'a CancelToken,
    pub(crate) checkpoints: &'a Checkpoints,
    pub(crate) seen: &'a Seen,
}

impl Call<'_> {
    /// Stops a cancelled call. Bodies ask between bounded steps.
    pub(crate) fn check(&self) -> Result<(), Stop> {
        self.cancel.check()
    }

    /// Where this call may go.
    pub(crate) fn fence(&self) -> Result<Fence, Stop> {
        Fence::new(
            &self.config.home,
            &self.request.directories,
            self.request.access,
            self.guard(),
        )
    }

    pub(crate) const fn limits(&self) -> &ToolLimits {
        &self.config.limits
    }

    /// What no answer may carry.
    pub(crate) const fn guard(&self) -> &Guard {
        &self.config.guard
    }

    /// The one way out: every text, of answers and of faults, without
    /// credentials and then no longer than it may be.
    fn close(&self, outcome: ToolOutcome) -> ToolOutcome {
        let chars = match &*self.request.call.name {
            "Bash" => self.limits().bash_output_chars,
            _ => self.limits().output_chars,
        };
        let close = |part| match part {
            ToolContent::Text(text) => ToolContent::Text(cut_result(text, chars, self.guard())),
        };
        ToolOutcome {
            content: outcome.content.into_iter().map(close).collect(),
            is_error: outcome.is_error,
        }
    }
}
