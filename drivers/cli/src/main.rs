//! A coding agent behind a pipe: the command-line binary.
//!
//! Nothing here decides what an agent does, and nothing waits: the session is
//! `agentx-core`, the waiting is `agentx-tokio`. This crate reads the command
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
mod logging;
mod money;
mod options;
mod persistence;
mod prompt;
mod refusal;
mod schema;
mod session;
mod sessions;
mod settings;

use options::Invocation;
use refusal::Refusal;
use std::fmt;
use std::io::{self, Write as _};
use std::panic;
use std::process::ExitCode;

/// Exit status of a failure that is no matter of usage.
const FAILED: u8 = 1;

fn main() -> ExitCode {
    contain_panics();
    // Panics end as a status of the contract, with the line of the hook.
    ExitCode::from(panic::catch_unwind(run).unwrap_or(FAILED))
}

fn run() -> u8 {
    let status = options::read(std::env::args_os()).and_then(|invocation| match invocation {
        Invocation::Run(options) => session::run(*options),
        Invocation::Demo(output) => demo::run(output),
        Invocation::List(format) => discover::text(format).map(|text| say(&text)),
        Invocation::Schema(record) => schema::text(record.as_deref()).map(|text| say(&text)),
        Invocation::Sessions(question) => sessions::run(&question),
        Invocation::Say(text) => Ok(say(&text)),
    });
    status.unwrap_or_else(|refusal: Refusal| {
        complain(format_args!("error: {refusal}"));
        refusal.status()
    })
}

/// Says something on stdout that is no part of a session.
fn say(text: &str) -> u8 {
    let mut stdout = io::stdout().lock();
    let said = stdout.write_all(text.as_bytes());
    match said.and_then(|()| stdout.flush()) {
        Ok(()) => 0,
        Err(error) => unwritable(&error),
    }
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
