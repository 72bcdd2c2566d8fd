//! `Bash`.
//!
//! The command is one argument of `bash -c`, run in the first working directory
//! without input. It is no sandbox: beyond the refusal of commands that name
//! `$AGENTX_HOME`, what the operating system allows is allowed.

use super::ending;
use crate::environment::{Known, child_environment, names_home};
use crate::input::BashInput;
use crate::process::{self, Finished, Job, Stderr};
use crate::stop::Stop;
use crate::toolbox::Call;
use agentx_core::tool::ToolOutcome;
use std::path::Path;
use std::time::Duration;

pub(crate) fn run(call: &Call<'_>) -> Result<ToolOutcome, Stop> {
    let input = BashInput::parse(&call.request.call.input, call.guard())?;
    let fence = call.fence()?;
    let directory = fence.working_directory()?;
    let timeout = check(call, &input, directory)?;
    let config = call.config;
    let environment = child_environment(&config.environment, &call.request.environment, directory);
    let job = Job {
        program: &config.shell,
        arguments: &["-c".into(), input.command.into()],
        directory,
        environment: &environment,
        stdin: None,
        stderr: Stderr::Merged,
        keep_chars: config.limits.bash_output_chars,
        keep_bytes: 0,
        guard: &config.guard,
        timeout,
        ending: &config.limits.ending,
        task: call.task,
        watch: None,
    };
    let finished = process::run(&job, call.cancel)
        .map_err(|fault| Stop::io("The command was not started", fault))?;
    Ok(outcome(&finished, timeout, config.limits.bash_output_chars))
}

/// Refuses what must not run; else how long it may.
fn check(call: &Call<'_>, input: &BashInput, directory: &Path) -> Result<Duration, Stop> {
    let limits = call.limits();
    let command = &input.command;
    if command.trim().is_empty() {
        return Err(Stop::fault("`command` is empty."));
    }
    if command.contains('\0') {
        return Err(Stop::fault("`command` contains a NUL character."));
    }
    if command.len() > limits.command_bytes {
        return Err(Stop::fault(format!(
            "`command` has {} bytes, more than the {} that can be passed on.",
            command.len(),
            limits.command_bytes
        )));
    }
    let known = Known {
        home: &call.config.home,
        user_home: call.config.user_home(),
        directory,
    };
    if names_home(command, known) {
        return Err(Stop::fault(
            "`command` names the folder AGENTX_HOME, which no tool may touch.",
        ));
    }
    let timeout = input
        .timeout_ms
        .map_or(limits.bash_timeout, Duration::from_millis);
    if timeout > limits.bash_timeout_max {
        return Err(Stop::fault(format!(
            "`timeout_ms` must be at most {}.",
            limits.bash_timeout_max.as_millis()
        )));
    }
    Ok(timeout)
}

/// The output with a note on how it ended, together in at most `chars`.
fn outcome(finished: &Finished, timeout: Duration, chars: usize) -> ToolOutcome {
    let note = ending::note(&finished.end, timeout);
    let reserve = note.as_ref().map_or(0, |note| note.chars().count() + 1);
    let mut text = finished.stdout.text(chars.saturating_sub(reserve));
    match &note {
        Some(note) => ending::add_line(&mut text, note),
        None if text.is_empty() => text.push_str("[The command wrote nothing.]"),
        None => {}
    }
    if note.is_some() {
        ToolOutcome::error(text)
    } else {
        ToolOutcome::text(text)
    }
}
