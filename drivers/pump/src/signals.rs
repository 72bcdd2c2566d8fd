//! SIGINT, SIGTERM and SIGHUP: the first one asks the session to end, the
//! second one, or time, ends the process.

use crate::pump::{News, Post};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::thread;
use std::time::Duration;

/// How long a session may take to settle and flush after the first signal;
/// the process is gone within 5 s.
const GRACE: Duration = Duration::from_millis(4_500);

/// Watches for signals; the status is 128 plus the signal's number.
///
/// # Errors
///
/// When the handlers or the thread cannot be set up.
pub fn watch(post: Post) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            let mut first = true;
            for signal in signals.forever() {
                let status = u8::try_from(128 + signal).unwrap_or(u8::MAX);
                if !first {
                    std::process::exit(status.into());
                }
                first = false;
                post(News::Signal(status));
                let timer = thread::Builder::new().name("deadline".into());
                let _ = timer.spawn(move || {
                    thread::sleep(GRACE);
                    std::process::exit(status.into());
                });
            }
        })?;
    Ok(())
}
