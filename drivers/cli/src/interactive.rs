//! An interactive session: a host in this process that speaks with a user.
//!
//! Four threads. The session's own passes records on and is never kept waiting.
//! The interface's feeds them to the [`View`], which decides what is shown, asked
//! for and sent. The terminal's does what may wait. That of the signals tells of
//! SIGINT. Whatever is sent goes the road of every host: bytes into the session's
//! input.

mod host;
mod terminal;
mod view;

pub(crate) use view::Facts;

use crate::options::Driver;
use crate::refusal::Refusal;
use crate::session;
use agentx_core::agent::AgentSession;
use agentx_core::machine::Machine as _;
use agentx_core::time::Instant;
use agentx_pump::signals::{self, Console};
use agentx_pump::world::{HostPort, Stdio, World};
use host::Relay;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use terminal::{Command, Screen};
use view::{Input, Line, Output, View};

/// Exit status of a session whose terminal is gone, as after SIGHUP.
const HUNG_UP: u8 = 129;

/// What the interface is told.
#[derive(Debug)]
enum Event {
    /// The session can be spoken to.
    Connected(HostPort),
    /// A record of the session.
    Record(Vec<u8>),
    /// What came of asking the terminal.
    Line(u64, Said),
    /// A SIGINT.
    Interrupt,
    /// A line for the operator.
    Report(String),
    /// The stored sessions, or why they cannot be told.
    Listed(Result<String, String>),
    /// The session is told to end.
    Ending,
    /// The terminal is gone.
    Gone,
    /// The session is over; tell when everything is shown.
    Over(Sender<()>),
}

/// What the terminal said, owned.
#[derive(Debug)]
enum Said {
    Text(String),
    Interrupted { typed: bool },
    End,
    NoText,
}

/// Runs a session with the user of this terminal; gives the exit status.
///
/// # Errors
///
/// When the terminal cannot be had or a thread cannot be started.
pub(crate) fn run(
    driver: Driver,
    session: AgentSession,
    world: World,
    facts: Facts,
    first: Option<String>,
) -> Result<u8, Refusal> {
    let unusable = |error: io::Error| Refusal::new(format_args!("the terminal: {error}"));
    let screen = Screen::find().map_err(unusable)?;
    let _restored = Restored(screen.clone());
    let (events, incoming) = channel();
    let (commands, waiting) = channel();
    terminal::start(screen.clone(), waiting, events.clone()).map_err(unusable)?;
    let gone = Arc::<AtomicBool>::default();
    let interface = Interface {
        view: View::new(facts, first),
        screen: screen.clone(),
        commands,
        port: None,
        started: std::time::Instant::now(),
        columns: 0,
        gone: Arc::clone(&gone),
    };
    let thread = thread::Builder::new().name("interface".into());
    let serving = thread.spawn(move || {
        let _failed = EndsOnPanic;
        interface.serve(&incoming);
    });
    serving.map_err(unusable)?;
    let (interrupts, endings) = (events.clone(), events.clone());
    signals::attend(Console {
        interrupted: Box::new(move || drop(interrupts.send(Event::Interrupt))),
        ending: Box::new(move || drop(endings.send(Event::Ending))),
        restore: Box::new(move || screen.restore()),
    });
    let relay = Relay::new(events.clone(), io::stderr().is_terminal());
    let status = session::drive(driver, session, world, Stdio::Host(Box::new(relay)));
    let (done, shown) = channel();
    let _ = events.send(Event::Over(done));
    // An error says that nobody shows anything any more.
    let _ = shown.recv();
    if gone.load(Ordering::Relaxed) && status < 128 {
        return Ok(HUNG_UP);
    }
    Ok(status)
}

/// Puts the terminal back, also where the run ends by a panic.
struct Restored(Screen);

impl Drop for Restored {
    fn drop(&mut self) {
        self.0.restore();
    }
}

/// Ends the session when its thread panics: nobody could go on with it.
struct EndsOnPanic;

impl Drop for EndsOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            signals::end(crate::FAILED);
        }
    }
}

/// The view and what its outputs go to.
struct Interface {
    view: View,
    screen: Screen,
    commands: Sender<Command>,
    port: Option<HostPort>,
    started: std::time::Instant,
    columns: usize,
    gone: Arc<AtomicBool>,
}

impl Interface {
    fn serve(mut self, events: &Receiver<Event>) {
        while let Ok(event) = events.recv() {
            if let Some(columns) = Screen::columns().filter(|columns| *columns != self.columns) {
                self.columns = columns;
                self.feed(Input::Columns(columns));
            }
            match event {
                Event::Connected(port) => self.port = Some(port),
                Event::Record(record) => {
                    self.feed(Input::Record(&record));
                    if let Some(port) = &self.port {
                        let took = Command::Took(port.clone(), record.len());
                        self.tell(took);
                    }
                }
                Event::Line(id, said) => self.feed(Input::Line(id, said.borrow())),
                Event::Interrupt => {
                    let typed = self.screen.has_text();
                    self.feed(Input::Interrupt { typed });
                }
                Event::Report(line) => self.feed(Input::Report(&line)),
                Event::Listed(listed) => {
                    let listed = listed.as_deref().map_err(String::as_str);
                    self.feed(Input::Listed(listed));
                }
                Event::Ending => self.feed(Input::Ending),
                Event::Gone => {
                    self.gone.store(true, Ordering::Relaxed);
                    self.feed(Input::Gone);
                }
                Event::Over(done) => {
                    let asked = self.view.asked();
                    self.feed(Input::Over);
                    match asked {
                        // A terminal that reads comes to nothing more.
                        Some(id) => self.screen.until_asked(id),
                        None => self.tell(Command::Stop(done)),
                    }
                    return;
                }
            }
        }
    }

    fn tell(&self, command: Command) {
        // A terminal that has failed has told so.
        let _ = self.commands.send(command);
    }

    fn feed(&mut self, input: Input<'_>) {
        let micros = self.started.elapsed().as_micros();
        let now = Instant::from_micros(u64::try_from(micros).unwrap_or(u64::MAX));
        if let Err(misuse) = self.view.handle(now, input) {
            tracing::error!(%misuse, "the view refused an input");
        }
        while let Some(output) = self.view.poll() {
            match output {
                Output::Show(text) => self.tell(Command::Show(text)),
                Output::Ask(id, asked) => self.tell(Command::Ask(id, asked)),
                Output::List => self.tell(Command::List),
                Output::Quit(status) => signals::end(status),
                Output::Send(bytes) => self.port.iter().for_each(|port| port.send(&bytes)),
                Output::End => self.port.iter().for_each(HostPort::end),
                Output::Over => {}
            }
        }
    }
}

impl Said {
    fn borrow(&self) -> Line<'_> {
        match self {
            Self::Text(text) => Line::Text(text),
            Self::Interrupted { typed } => Line::Interrupted { typed: *typed },
            Self::End => Line::End,
            Self::NoText => Line::NoText,
        }
    }
}
