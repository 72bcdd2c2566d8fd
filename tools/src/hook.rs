//! Hook commands: programs of the settings that are told of events
//! (configuration, "hook command").

use crate::cancel::CancelToken;
use crate::command::{CommandFault, check_command};
use crate::environment::child_environment;
use crate::limits::{MAX_HOOK_TIMEOUT, MAX_HOOKS};
use crate::process::{self, End, Finished, Job, Stderr, Watch};
use crate::text::shown;
use crate::toolbox::ToolboxConfig;
use agentx_core::hook::{HookEnd, HookReport, HookRequest};
use std::ffi::OsString;
use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A hook command that can run.
#[derive(Clone, PartialEq, Eq)]
pub struct HookCommand {
    program: String,
    arguments: Vec<OsString>,
    timeout: Duration,
}

/// Without the arguments, which may hold secrets.
impl fmt::Debug for HookCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookCommand")
            .field("program", &self.program)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl HookCommand {
    /// Judges a command: the program, then its arguments; no shell reads them.
    ///
    /// # Errors
    ///
    /// The member that is wrong: a command without a program that is an absolute
    /// path or a name to be found in `PATH`, or a time outside its bounds.
    pub fn new(command: &[String], timeout: Duration) -> Result<Self, CommandFault> {
        check_command(command)?;
        if timeout < Duration::from_millis(1) || timeout > MAX_HOOK_TIMEOUT {
            let most = MAX_HOOK_TIMEOUT.as_millis();
            let text = format!("expected 1 to {most}");
            return Err(CommandFault::new("timeout_ms", text));
        }
        let mut words = command.iter();
        Ok(Self {
            program: words.next().cloned().unwrap_or_default(),
            arguments: words.map(OsString::from).collect(),
            timeout,
        })
    }

    /// How long it may run.
    #[must_use]
    pub const fn timeout(&self) -> Duration {
        self.timeout
    }
}

/// The hook commands of a session. A hook is known by its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookCommands(Arc<[HookCommand]>);

impl HookCommands {
    /// All of them, in order.
    ///
    /// # Errors
    ///
    /// More than there may be.
    pub fn new(commands: impl IntoIterator<Item = HookCommand>) -> Result<Self, CommandFault> {
        let commands: Arc<[HookCommand]> = commands.into_iter().collect();
        if commands.len() > MAX_HOOKS {
            let text = format!("expected at most {MAX_HOOKS} hooks");
            return Err(CommandFault::new("hooks", text));
        }
        Ok(Self(commands))
    }
}

/// Runs one hook to its end. What it says is for the core to understand.
pub(crate) fn run(
    config: &ToolboxConfig,
    request: &HookRequest,
    told: &dyn Fn(String, String),
    cancel: &CancelToken,
) -> HookReport {
    let Some(hook) = config.hooks.0.get(request.hook) else {
        return HookReport::failed("there is no such hook");
    };
    let directory = Path::new(&*request.directory);
    let environment = child_environment(&config.environment, &request.environment, directory);
    let stdin = [request.input.as_str().as_bytes(), b"\n"].concat();
    let limits = &config.limits;
    let job = Job {
        program: Path::new(&hook.program),
        arguments: &hook.arguments,
        directory,
        environment: &environment,
        stdin: Some(&stdin),
        stderr: Stderr::Apart,
        keep_chars: limits.hook_output_chars,
        keep_bytes: limits.hook_answer_bytes,
        guard: &config.guard,
        timeout: request.timeout,
        ending: &limits.ending,
        task: None,
        watch: request.watched.then_some(Watch {
            every: limits.hook_progress_every,
            told,
        }),
    };
    match process::run(&job, cancel) {
        Ok(finished) => report(config, request, finished),
        Err(fault) => {
            let program = shown(&hook.program, &config.guard);
            HookReport::failed(format!("`{program}` was not started: {fault}"))
        }
    }
}

fn report(config: &ToolboxConfig, request: &HookRequest, finished: Finished) -> HookReport {
    let limits = &config.limits;
    let end = match finished.end {
        End::Exited(Ok(status)) => match (status.code().map(u8::try_from), status.signal()) {
            (Some(Ok(code)), _) => HookEnd::Exited(code),
            (_, Some(signal)) => HookEnd::Failed(format!("it was ended by signal {signal}")),
            _ => HookEnd::Failed(format!("it ended: {status}")),
        },
        End::Exited(Err(fault)) => {
            HookEnd::Failed(format!("it is not known how it ended: {fault}"))
        }
        End::TimedOut => {
            let time = request.timeout.as_millis();
            HookEnd::Failed(format!("it was ended after its time of {time} ms was up"))
        }
        End::Cancelled => HookEnd::Failed("it was cancelled".to_owned()),
        End::Stuck => HookEnd::Failed("it could not be ended, not even by SIGKILL".to_owned()),
    };
    let answer = finished.raw.map(String::from_utf8);
    // Only where the answer counts does it matter that there is none.
    let (end, answer) = match (end, answer) {
        (HookEnd::Exited(0), None) => {
            let most = limits.hook_answer_bytes;
            let why = format!("it printed more than {most} bytes");
            (HookEnd::Failed(why), String::new())
        }
        (HookEnd::Exited(0), Some(Err(_))) => {
            let why = "it printed something that is no UTF-8".to_owned();
            (HookEnd::Failed(why), String::new())
        }
        (end @ HookEnd::Exited(0), Some(Ok(answer))) => (end, answer),
        (end, _) => (end, String::new()),
    };
    HookReport {
        end,
        answer,
        stdout: finished.stdout.text(limits.hook_output_chars),
        stderr: finished.stderr.text(limits.hook_output_chars),
    }
}
