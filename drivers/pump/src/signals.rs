//! SIGINT, SIGTERM and SIGHUP: the first one asks the session to end, the
//! second one, or time, ends the process. Before there is a session the first
//! one ends the process.
//!
//! What a signal does belongs to the process, and so does the state here.

use crate::pump::{News, Post};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a session may take to settle and flush after the first signal;
/// the process is gone within 5 s.
const GRACE: Duration = Duration::from_millis(4_500);

static STATE: Mutex<State> = Mutex::new(State {
    installed: false,
    session: None,
});

struct State {
    installed: bool,
    /// Where the first signal goes; taken by it.
    session: Option<Post>,
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the signals over. Until [`watch`] names a session each of them ends
/// the process, with the status 128 plus the signal's number. Further calls
/// change nothing.
///
/// # Errors
///
/// When the handlers or the thread cannot be set up.
pub fn install() -> io::Result<()> {
    let mut state = state();
    if !state.installed {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let thread = thread::Builder::new().name("signals".into());
        thread.spawn(move || signals.forever().for_each(arrived))?;
        state.installed = true;
    }
    Ok(())
}

/// Tells the session behind `post` of the next signal; the one after that ends
/// the process.
///
/// # Errors
///
/// As for [`install`].
pub fn watch(post: Post) -> io::Result<()> {
    install()?;
    state().session = Some(post);
    Ok(())
}

fn arrived(signal: i32) {
    let status = u8::try_from(128 + signal).unwrap_or(u8::MAX);
    let Some(post) = state().session.take() else {
        std::process::exit(status.into());
    };
    post(News::Signal(status));
    let timer = thread::Builder::new().name("deadline".into());
    // Without a thread there is no deadline, but a second signal still works.
    let _ = timer.spawn(move || {
        thread::sleep(GRACE);
        std::process::exit(status.into());
    });
}
