//! The binary on a pseudo-terminal, and whoever sits before it.

use crate::support::{PATIENCE, Signal, World, driver};
use pty_process::blocking::{Command, Pty, open};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, kill_process};
use rustix::termios::{LocalModes, Termios, tcgetattr};
use std::io::{Read as _, Write as _};
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};

/// How long the reader waits before it looks whether it is to stop.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// Where a prompt is asked for.
pub(crate) const PROMPT: &str = "> ";

/// A session on a terminal.
pub(crate) struct Terminal {
    child: Child,
    pty: Option<Arc<Pty>>,
    pieces: Receiver<Vec<u8>>,
    stop: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
    /// The mode before the binary began.
    found: Termios,
    /// What was written and not looked at yet.
    unseen: Vec<u8>,
    /// All that was written, for people.
    pub(crate) seen: String,
}

impl Terminal {
    /// Starts the binary with these arguments and further variables.
    pub(crate) fn start(world: &World, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let (pty, pts) = open().unwrap();
        pty.resize(pty_process::Size::new(24, 100)).unwrap();
        let found = tcgetattr(&pty).unwrap();
        let command = Command::new(env!("CARGO_BIN_EXE_agentx"))
            .args(driver(arguments))
            .args(arguments)
            .env_clear()
            .current_dir(world.work())
            .env("AGENTX_HOME", world.home())
            .env("TMPDIR", world.temporary())
            .env("TERM", "xterm")
            .envs(variables.iter().copied());
        let child = command.spawn(pts).unwrap();
        let pty = Arc::new(pty);
        let stop = Arc::<AtomicBool>::default();
        let (found_pieces, pieces) = channel();
        let (source, stopped) = (Arc::clone(&pty), Arc::clone(&stop));
        let reader = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let mut looked = [PollFd::new(&source, PollFlags::IN)];
                if poll(&mut looked, Some(&LOOK)) == Ok(0) {
                    continue;
                }
                let mut piece = vec![0; 4096];
                // Once nobody has the other side any more, this is an error.
                let Ok(count @ 1..) = (&*source).read(&mut piece) else {
                    return;
                };
                piece.truncate(count);
                drop(found_pieces.send(piece));
            }
        });
        Self {
            child,
            pty: Some(pty),
            pieces,
            stop,
            reader: Some(reader),
            found,
            unseen: Vec::new(),
            seen: String::new(),
        }
    }

    /// A session that stands at its first prompt.
    pub(crate) fn ready(world: &World) -> Self {
        let mut terminal = Self::start(world, &[], &[]);
        terminal.until(PROMPT);
        terminal
    }

    fn pty(&self) -> &Pty {
        self.pty.as_ref().unwrap()
    }

    /// Presses keys.
    pub(crate) fn press(&self, keys: &str) {
        self.pty().write_all(keys.as_bytes()).unwrap();
    }

    /// Types a line.
    pub(crate) fn line(&self, line: &str) {
        self.press(&format!("{line}\r"));
    }

    /// Waits until this is written; gives all up to its end.
    #[track_caller]
    pub(crate) fn until(&mut self, text: &str) -> String {
        loop {
            let at = self
                .unseen
                .windows(text.len())
                .position(|piece| piece == text.as_bytes());
            if let Some(at) = at {
                let seen: Vec<u8> = self.unseen.drain(..at + text.len()).collect();
                let seen = String::from_utf8(seen).unwrap();
                self.seen.push_str(&seen);
                return seen;
            }
            match self.pieces.recv_timeout(PATIENCE) {
                Ok(piece) => self.unseen.extend(piece),
                Err(_) => panic!(
                    "no {text:?} after {:?} and {:?}",
                    self.seen,
                    String::from_utf8_lossy(&self.unseen)
                ),
            }
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Whether lines are edited by the kernel, as they were before.
    pub(crate) fn is_cooked(&self) -> bool {
        let modes = tcgetattr(self.pty()).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    /// Takes the terminal away.
    pub(crate) fn close(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.reader.take().unwrap().join().unwrap();
        self.pty = None;
    }

    /// Waits for the end of the process: its status and what it wrote last.
    /// Fails unless the terminal is as it was found.
    #[track_caller]
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().unwrap().code();
        if let Some(pty) = &self.pty {
            let left = tcgetattr(pty).unwrap();
            let modes = |mode: &Termios| {
                let (input, output) = (mode.input_modes, mode.output_modes);
                (input, output, mode.control_modes, mode.local_modes)
            };
            assert_eq!(modes(&left), modes(&self.found));
        }
        if let Some(reader) = self.reader.take() {
            // It ends by itself: nobody has the other side any more.
            reader.join().unwrap();
        }
        self.unseen.extend(self.pieces.try_iter().flatten());
        (status, String::from_utf8_lossy(&self.unseen).into_owned())
    }
}
