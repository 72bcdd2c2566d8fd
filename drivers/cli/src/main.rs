//! A coding agent behind a pipe: the command-line binary.
//!
//! Nothing here decides what an agent does, and nothing waits: the session is
//! `agentx-core`, the waiting is one of three drivers. This crate reads the command
//! line and the home folder, puts the pieces together, and lets them run.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic
    )
)]

mod compose;
mod demo;
mod discover;
mod home;
mod hosted;
mod interactive;
mod logging;
mod money;
mod options;
mod persistence;
mod prompt;
mod refusal;
mod schema;
mod secrets;
mod session;
mod sessions;
mod settings;
mod speak;
mod structured;

use agentx_pump::stdio::Patient;
use options::{Invocation, Launch};
use refusal::Refusal;
use secrets::Secrets;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};
use std::panic;
use std::process::ExitCode;

/// Exit status of a failure that is no matter of usage.
const FAILED: u8 = 1;

fn main() -> ExitCode {
    contain_panics();
    hide_memory();
    // Panics end as a status of the contract, with the line of the hook.
    ExitCode::from(panic::catch_unwind(run).unwrap_or(FAILED))
}

fn run() -> u8 {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let launch = Launch::find(&arguments, std::env::var_os("AGENTX_PROFILE").as_deref());
    let status = options::read(&arguments, launch).and_then(|invocation| match invocation {
        Invocation::Run(options) => session::run(*options),
        Invocation::Demo(output, driver) => demo::run(output, driver),
        Invocation::List(format) => discover::text(format).map(|text| say(&text)),
        Invocation::Schema(record) => schema::text(record.as_deref()).map(|text| say(&text)),
        Invocation::Sessions(question) => sessions::run(&question),
        Invocation::Say(text) => Ok(say(&text)),
    });
    status.unwrap_or_else(|refusal| refuse(&refusal, &arguments, launch))
}

/// Tells why a run does not begin. A refusal of the command line may quote a part
/// of an argument, so one that holds a key is read again without it.
fn refuse(refusal: &Refusal, arguments: &[OsString], launch: Launch) -> u8 {
    let secrets = Secrets::known();
    let again = secrets.redact_all(arguments);
    let again = again.and_then(|arguments| options::read(&arguments, launch).err());
    let text = again.as_ref().unwrap_or(refusal).to_string();
    complain(format_args!("error: {}", secrets.redact(&text)));
    refusal.status()
}

/// Keeps the memory of this process, where the keys are, out of core dumps and,
/// but for root, out of the reach of the programs it starts. A system that knows
/// no such thing goes without.
fn hide_memory() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// Says something on stdout that is no part of a session.
fn say(text: &str) -> u8 {
    let mut stdout = Patient(io::stdout().lock());
    let said = stdout.write_all(text.as_bytes());
    match said.and_then(|()| stdout.flush()) {
        Ok(()) => 0,
        Err(error) => unwritable(&error),
    }
}

/// Whether stdout takes colour: a terminal that has some, and whose user did not
/// forbid it.
fn wants_colour() -> bool {
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let plain = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
    io::stdout().is_terminal() && !forbidden && !plain
}

/// stdout takes nothing, outside of a session, which tells of that itself. A
/// reader that has seen enough and left needs no word.
fn unwritable(error: &io::Error) -> u8 {
    if error.kind() != io::ErrorKind::BrokenPipe {
        complain(format_args!("error: stdout cannot be written: {error}"));
    }
    FAILED
}

/// Says one line on stderr. One that cannot be written changes nothing.
fn complain(what: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "agentx: {what}");
}

/// A fault of ours is told with its place and nothing else: the message of a
/// panic may hold anything.
fn contain_panics() {
    panic::set_hook(Box::new(|fault| match fault.location() {
        Some(place) => complain(format_args!(
            "error: internal fault at {}:{}",
            place.file(),
            place.line()
        )),
        None => complain("error: internal fault"),
    }));
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::{DumpableBehavior, dumpable_behavior};

    // covers: DEC-30
    #[test]
    fn memory_with_keys_is_dumped_nowhere() {
        assert_eq!(dumpable_behavior(), Ok(DumpableBehavior::Dumpable));
        super::hide_memory();
        assert_eq!(dumpable_behavior(), Ok(DumpableBehavior::NotDumpable));
    }
}
