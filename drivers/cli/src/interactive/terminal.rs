//! The terminal: one thread writes what is shown and reads what is asked for,
//! in the order in which it is told.

use super::{Event, Said};
use crate::interactive::view::Asked;
use crate::options::Question;
use crate::sessions;
use agentx_pump::stdio::write_whole;
use agentx_pump::world::HostPort;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Context, Editor, Helper};
use std::io::{self, ErrorKind, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Lines that the history remembers; it is never written anywhere.
const HISTORY_LINES: usize = 1_000;

/// How long the line editor may take to set the terminal up before it is put
/// back regardless.
const ENTRY_GRACE: Duration = Duration::from_millis(500);

/// What terminals are called that the line editor only reads plain lines from.
const PLAIN: [&str; 3] = ["dumb", "cons25", "emacs"];

/// Ends the bracketing of pasted text, and the line that was edited.
const LEAVE_EDITING: &[u8] = b"\x1b[?2004l\n";

/// What the terminal does next.
#[derive(Debug)]
pub(super) enum Command {
    /// Writes a text.
    Show(String),
    /// Reads a line.
    Ask(u64, Asked),
    /// Looks which sessions are stored.
    List,
    /// Tells the session that a record was shown.
    Took(HostPort, usize),
    /// Tells that all before was done, and does nothing more.
    Stop(Sender<()>),
}

/// What others may know and do while the terminal's thread reads.
#[derive(Clone)]
pub(super) struct Screen(Arc<Shared>);

struct Shared {
    /// The mode in which the terminal was found.
    found: Termios,
    /// Whether the line that is edited has text.
    typed: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    stage: Stage,
    /// The asking that was begun last.
    asked: u64,
    /// Whether nothing is read any more.
    closed: bool,
}

/// Who has the terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nobody: it is as it was found.
    Free,
    /// The line editor, which is about to change its mode.
    Entering,
    /// The line editor, in a mode of its own.
    Editing,
}

impl Screen {
    /// Remembers how the terminal is set.
    ///
    /// # Errors
    ///
    /// When stdin is no terminal.
    pub(super) fn find() -> io::Result<Self> {
        Ok(Self(Arc::new(Shared {
            found: tcgetattr(io::stdin())?,
            typed: AtomicBool::new(false),
            state: Mutex::new(State {
                stage: Stage::Free,
                asked: 0,
                closed: false,
            }),
            changed: Condvar::new(),
        })))
    }

    /// Whether the line that is edited has text.
    pub(super) fn has_text(&self) -> bool {
        self.0.typed.load(Ordering::Relaxed)
    }

    /// Columns of the terminal, where it tells.
    pub(super) fn columns() -> Option<usize> {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        Some(size.ws_col.into()).filter(|columns| *columns > 0)
    }

    /// Puts the terminal back as it was found, whatever it does; nothing is read
    /// after that.
    pub(super) fn restore(&self) {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let entering = |state: &mut State| state.stage == Stage::Entering;
        let waited = self
            .0
            .changed
            .wait_timeout_while(state, ENTRY_GRACE, entering);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if !std::mem::replace(&mut state.closed, true) && state.stage != Stage::Free {
            // A terminal that is gone needs nothing.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0.found);
            let _ = rustix::io::write(io::stdout(), LEAVE_EDITING);
        }
        self.0.changed.notify_all();
    }

    /// Waits until the terminal has done all that came before this asking.
    pub(super) fn until_asked(&self, id: u64) {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let before = |state: &mut State| state.asked < id && !state.closed;
        drop(self.0.changed.wait_while(state, before));
    }

    fn enter(&self, stage: Stage) {
        self.change(|state| state.stage = stage);
    }

    /// Changes the state; once nothing is read any more, waits for the end of
    /// the process.
    fn change(&self, change: impl FnOnce(&mut State)) {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = |state: &mut State| state.closed;
        let waited = self.0.changed.wait_while(state, closed);
        change(&mut waited.unwrap_or_else(PoisonError::into_inner));
        self.0.changed.notify_all();
    }
}

/// Tells others what the line editor is at.
struct Watch(Screen);

impl Hinter for Watch {
    type Hint = String;

    /// Called whenever the line has changed, first when it is shown empty.
    fn hint(&self, line: &str, _: usize, _: &Context<'_>) -> Option<String> {
        self.0.0.typed.store(!line.is_empty(), Ordering::Relaxed);
        self.0.enter(Stage::Editing);
        None
    }
}

impl Completer for Watch {
    type Candidate = String;
}

impl Highlighter for Watch {}
impl Validator for Watch {}
impl Helper for Watch {}

type LineEditor = Editor<Watch, MemHistory>;

/// Does what `commands` say, to their end.
pub(super) fn serve(screen: &Screen, commands: &Receiver<Command>, events: &Sender<Event>) {
    let name = std::env::var("TERM").unwrap_or_default();
    let mut terminal = Terminal {
        plain: PLAIN.iter().any(|plain| plain.eq_ignore_ascii_case(&name)),
        screen,
        events,
        prompts: None,
        gone: false,
    };
    while let Ok(command) = commands.recv() {
        match command {
            Command::Show(text) => terminal.show(&text),
            Command::Ask(id, asked) => terminal.ask(id, asked),
            Command::List => {
                let listed = sessions::tell(&Question::List {
                    output_format: None,
                });
                let listed = listed.map_err(|refusal| refusal.to_string());
                let _ = events.send(Event::Listed(listed));
            }
            Command::Took(port, size) => port.took(size),
            Command::Stop(done) => {
                let _ = done.send(());
                return;
            }
        }
    }
}

struct Terminal<'a> {
    screen: &'a Screen,
    events: &'a Sender<Event>,
    /// Whether the line editor does not edit here.
    plain: bool,
    /// The editor of prompts, with their history.
    prompts: Option<LineEditor>,
    gone: bool,
}

impl Terminal<'_> {
    fn show(&mut self, text: &str) {
        let mut output = io::stdout().lock();
        let shown = write_whole(&mut output, text).and_then(|()| output.flush());
        if shown.is_err() {
            self.lose();
        }
    }

    fn lose(&mut self) {
        if !std::mem::replace(&mut self.gone, true) {
            let _ = self.events.send(Event::Gone);
        }
    }

    fn ask(&mut self, id: u64, asked: Asked) {
        self.screen.change(|state| state.asked = id);
        let said = loop {
            match self.read(asked) {
                // The window changed while something else was waited for.
                Err(ReadlineError::Signal(_)) => {}
                Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::Interrupted => {}
                Ok(line) => break Said::Text(line),
                Err(ReadlineError::Interrupted) => {
                    let typed = self.screen.has_text();
                    break Said::Interrupted { typed };
                }
                Err(ReadlineError::Eof) if !hung_up() => {
                    if self.plain {
                        self.show("\n");
                    }
                    break Said::End;
                }
                Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => {
                    break Said::NoText;
                }
                Err(_) => return self.lose(),
            }
        };
        self.screen.0.typed.store(false, Ordering::Relaxed);
        let _ = self.events.send(Event::Line(id, said));
    }

    fn read(&mut self, asked: Asked) -> rustyline::Result<String> {
        let (prompt, editor) = match asked {
            Asked::Prompt => ("> ", self.prompts.take()),
            Asked::Permission { always } => {
                // What was typed ahead is no answer to what nobody had seen.
                let _ = tcflush(io::stdin(), QueueSelector::IFlush);
                let prompt = if always {
                    "Run it? yes/always/no: "
                } else {
                    "Run it? yes/no: "
                };
                (prompt, None)
            }
        };
        let mut editor = match editor {
            Some(editor) => editor,
            None => self.editor(asked == Asked::Prompt)?,
        };
        if !self.plain {
            self.screen.enter(Stage::Entering);
        }
        let read = editor.readline(prompt);
        self.screen.enter(Stage::Free);
        if asked == Asked::Prompt {
            self.prompts = Some(editor);
        }
        read
    }

    fn editor(&self, remembers: bool) -> rustyline::Result<LineEditor> {
        let config = Config::builder()
            .max_history_size(HISTORY_LINES)?
            .auto_add_history(remembers)
            .build();
        let history = MemHistory::with_config(&config);
        let mut editor = Editor::with_history(config, history)?;
        editor.set_helper(Some(Watch(self.screen.clone())));
        Ok(editor)
    }
}

/// Whether stdin has ended because its terminal is gone.
fn hung_up() -> bool {
    let stdin = io::stdin();
    let mut looked = [PollFd::new(&stdin, PollFlags::IN)];
    let polled = loop {
        match poll(&mut looked, Some(&Timespec::default())) {
            // A child has ended at this very moment.
            Err(Errno::INTR) => {}
            polled => break polled,
        }
    };
    match polled {
        Ok(_) => looked.iter().any(|fd| {
            let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
            fd.revents().intersects(gone)
        }),
        Err(_) => true,
    }
}

/// Runs the terminal on a thread of its own.
///
/// # Errors
///
/// When the thread cannot be started.
pub(super) fn start(
    screen: Screen,
    commands: Receiver<Command>,
    events: Sender<Event>,
) -> io::Result<()> {
    thread::Builder::new()
        .name("terminal".into())
        .spawn(move || {
            let _failed = super::EndsOnPanic;
            serve(&screen, &commands, &events);
        })?;
    Ok(())
}
