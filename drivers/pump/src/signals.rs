//! SIGINT, SIGTERM and SIGHUP: the first one asks the session to end, the
//! second one, or time, ends the process, and the processes of its tools before
//! that. Before there is a session the first one ends the process. In an
//! interactive session SIGINT ends nothing by itself: its [`Console`] says what
//! follows.
//!
//! What a signal does belongs to the process, and so does the state here.

use crate::pump::{News, Post};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a session may take to settle and flush after the first signal;
/// the process is gone within 5 s.
const GRACE: Duration = Duration::from_millis(4_500);

/// Signals whose own effect would break a promise. A parent that ignores SIGCHLD
/// hands that down, and then nobody learns how a tool ended; SIGXFSZ ends the
/// process at a write that would fail in order (DEC-11). Programs that are
/// started get the default back, which they would not of an ignored signal.
const DISARMED: [i32; 2] = [SIGCHLD, SIGXFSZ];

/// What a disarmed signal does; nobody looks.
static DISARMED_CAME: AtomicBool = AtomicBool::new(false);

static STATE: Mutex<State> = Mutex::new(State {
    installed: false,
    session: None,
    abandon: None,
    console: None,
});

/// Ends what the session started outside of this process, within a moment.
pub type Abandon = Box<dyn Fn() + Send>;

struct State {
    installed: bool,
    /// Where the first signal goes; taken by it.
    session: Option<Post>,
    /// What comes before the process ends without its session.
    abandon: Option<Abandon>,
    /// The terminal of an interactive session.
    console: Option<Console>,
}

/// What an interactive session does about signals.
pub struct Console {
    /// Takes a SIGINT while the session lives; it ends nothing then.
    pub interrupted: Box<dyn Fn() + Send>,
    /// Learns that the session is told to end, before the session does.
    pub ending: Box<dyn Fn() + Send>,
    /// Puts the terminal back before the process ends without its session,
    /// within a moment.
    pub restore: Box<dyn Fn() + Send>,
}

impl std::fmt::Debug for Console {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Console").finish_non_exhaustive()
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the signals over. Until [`watch`] names a session each of them ends
/// the process, with the status 128 plus the signal's number. SIGCHLD and SIGXFSZ
/// do nothing by themselves from then on. A SIGHUP that whoever started the process
/// ignores, as `nohup` does, stays ignored. Further calls change nothing.
///
/// # Errors
///
/// When the handlers or the thread cannot be set up.
pub fn install() -> io::Result<()> {
    let mut state = state();
    if !state.installed {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        if !is_ignored(SIGHUP) {
            signals.add_signal(SIGHUP)?;
        }
        let thread = thread::Builder::new().name("signals".into());
        for signal in DISARMED {
            signal_hook::flag::register(signal, &DISARMED_CAME)?;
        }
        thread.spawn(move || signals.forever().for_each(arrived))?;
        state.installed = true;
    }
    Ok(())
}

/// Whether this process ignores a signal. Where the system does not tell, it does not.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignores(&status, signal)
}

/// The same of what `/proc` tells of a process: a bit for each signal, from 1 on.
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Tells the session behind `post` of the next signal; the one after that ends
/// the process, after `abandon`.
///
/// # Errors
///
/// As for [`install`].
pub fn watch(post: Post, abandon: Abandon) -> io::Result<()> {
    install()?;
    let mut state = state();
    state.session = Some(post);
    state.abandon = Some(abandon);
    Ok(())
}

/// SIGINT goes to this console from now on, until the session is told to end.
pub fn attend(console: Console) {
    state().console = Some(console);
}

fn arrived(signal: i32) {
    if signal == SIGINT {
        let state = state();
        if let (Some(_), Some(console)) = (&state.session, &state.console) {
            return (console.interrupted)();
        }
    }
    end(u8::try_from(128 + signal).unwrap_or(u8::MAX));
}

/// Ends the session as a first signal does, with this exit status; if it was
/// told to end before, ends the process as a second one does.
pub fn end(status: u8) {
    let session = {
        let mut state = state();
        let session = state.session.take();
        if let (Some(_), Some(console)) = (&session, &state.console) {
            (console.ending)();
        }
        session
    };
    let Some(post) = session else {
        leave(status);
    };
    post(News::Signal(status));
    let timer = thread::Builder::new().name("deadline".into());
    // Without a thread there is no deadline, but a second signal still works.
    let _ = timer.spawn(move || {
        thread::sleep(GRACE);
        leave(status);
    });
}

/// Ends the process. Whoever comes second waits for the first one's end.
fn leave(status: u8) -> ! {
    let state = state();
    if let Some(abandon) = &state.abandon {
        abandon();
    }
    if let Some(console) = &state.console {
        (console.restore)();
    }
    std::process::exit(status.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_tells_which_signals_are_ignored() {
        let status = "SigBlk:\t0000000000000002\nSigIgn:\t0000000000001001\n";
        assert!(ignores(status, SIGHUP));
        assert!(!ignores(status, SIGINT));
        assert!(!ignores("Name:\tagentx\n", SIGHUP));
    }
}
