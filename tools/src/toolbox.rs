//! All tools behind one door.

use crate::body;
use crate::cancel::CancelToken;
use crate::command::CommandTools;
use crate::hook::{self, HookCommands};
use crate::limits::ToolLimits;
use crate::place::Fence;
use crate::spec::builtin_specs;
use crate::stop::Stop;
use crate::text::{cut_result, shown};
use agentx_core::guard::Guard;
use agentx_core::hook::{HookReport, HookRequest};
use agentx_core::tool::{ToolContent, ToolOutcome, ToolRequest, ToolSpec};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
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
}

impl Toolbox {
    /// A toolbox.
    #[must_use]
    pub const fn new(config: ToolboxConfig) -> Self {
        Self { config }
    }

    /// Runs one call to its end. Blocks: for a command as long as its time-out,
    /// otherwise as long as the file system takes. After `cancel` it returns
    /// soon, with an error that says so; a command is ended first.
    ///
    /// Every fault of the call is an outcome with `is_error`. Credentials are
    /// replaced in all text before it is cut (DEC-30), and it is bounded (DEC-34).
    #[must_use]
    pub fn run(&self, request: &ToolRequest, cancel: &CancelToken) -> ToolOutcome {
        let call = Call {
            request,
            config: &self.config,
            cancel,
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
    /// it is ended first. What it wrote is shown without credentials and bounded.
    #[must_use]
    pub fn run_hook(&self, request: &HookRequest, cancel: &CancelToken) -> HookReport {
        hook::run(&self.config, request, cancel)
    }
}

/// One call on its way through a body.
pub(crate) struct Call<'a> {
    pub(crate) request: &'a ToolRequest,
    pub(crate) config: &'a ToolboxConfig,
    pub(crate) cancel: &'a CancelToken,
}

impl Call<'_> {
    /// Stops a cancelled call. Bodies ask between bounded steps.
    pub(crate) fn check(&self) -> Result<(), Stop> {
        if self.cancel.is_cancelled() {
            Err(Stop::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Where this call may go.
    pub(crate) fn fence(&self) -> Result<Fence, Stop> {
        Fence::new(&self.config.home, self.request, self.guard())
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
