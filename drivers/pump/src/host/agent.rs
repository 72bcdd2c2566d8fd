//! What is started, and with what.

use super::error::Error;
use super::tail::Told;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, ErrorKind, PipeReader, PipeWriter};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

/// How long an agent may take to answer a call when nobody says otherwise.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// An agent to start: a program with its arguments, environment and working
/// directory. Everything not named is as in this process.
pub struct Agent {
    program: OsString,
    arguments: Vec<OsString>,
    /// Variables to set, and those to take away.
    environment: Vec<(OsString, Option<OsString>)>,
    inherits: bool,
    directory: Option<PathBuf>,
    pub(super) told: Option<Told>,
    pub(super) timeout: Duration,
}

/// The child, its stdin, stdout and stderr.
pub(super) type Started = (Child, PipeWriter, PipeReader, PipeReader);

impl Agent {
    /// A program that speaks the wire on its stdin and stdout with the arguments
    /// that are added here, and no others. A name without a `/` is looked up in
    /// the `PATH` of the environment that the agent gets.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            inherits: true,
            directory: None,
            told: None,
            timeout: CALL_TIMEOUT,
        }
    }

    /// `agentx` at this path, or by this name, with the options of a session over
    /// pipes: `--print`, and `stream-json` in both directions.
    pub fn agentx(program: impl Into<OsString>) -> Self {
        let stream = "stream-json";
        Self::new(program).arg("--print").args([
            "--input-format",
            stream,
            "--output-format",
            stream,
        ])
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), Some(value.into())));
        self
    }

    /// Takes a variable away.
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), None));
        self
    }

    /// Takes away every variable, those set before included.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.environment.clear();
        self.inherits = false;
        self
    }

    /// Its working directory.
    #[must_use]
    pub fn cwd(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Takes each line of its stderr as it comes, without the newline and cut at
    /// [`STDERR_LINE_BYTES`](super::STDERR_LINE_BYTES). Runs on the thread that
    /// reads; while it runs the agent's stderr is not read. One that panics is not
    /// called again.
    #[must_use]
    pub fn stderr(mut self, told: impl FnMut(&str) + Send + 'static) -> Self {
        self.told = Some(Box::new(told));
        self
    }

    /// How long each call may take, [`CALL_TIMEOUT`] without this.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    pub(super) fn spawn(&self) -> Result<Started, Error> {
        self.try_spawn().map_err(|error| self.fault(&error))
    }

    fn try_spawn(&self) -> io::Result<Started> {
        let (stdin, input) = io::pipe()?;
        let (output, stdout) = io::pipe()?;
        let (errors, stderr) = io::pipe()?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).process_group(0);
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        if !self.inherits {
            command.env_clear();
        }
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        // `command` goes out of scope here, and with it our copies of the child's
        // ends; else the pipes would never reach their end.
        Ok((command.spawn()?, input, output, errors))
    }

    pub(super) fn fault(&self, error: &io::Error) -> Error {
        let program = self.program.to_string_lossy().into_owned();
        // A missing directory looks like a missing program.
        let lost = self.directory.as_ref().filter(|path| !path.is_dir());
        if let Some(directory) = lost {
            let cause = format!("the working directory {directory:?} is none");
            return Error::NotStarted { program, cause };
        }
        if error.kind() == ErrorKind::NotFound {
            return Error::NotFound { program };
        }
        let cause = error.to_string();
        Error::NotStarted { program, cause }
    }
}

/// Neither arguments nor variables: they may hold what must not be shown.
impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("program", &self.program)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}
