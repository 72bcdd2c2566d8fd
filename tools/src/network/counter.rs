//! The socket on which one call asks, and the thread behind it.
//!
//! A connection asks once: it writes a line, reads a line, and is closed. The
//! thread polls all of them and never waits for one, so a program that connects
//! and says nothing, or does not read, holds up nobody. It ends with the call,
//! or when that is cancelled; whoever waits then is told no.

use super::question::{self, UNENDED, too_long};
use super::{Ask, Letter, Mailbox, NOBODY, Network};
use crate::cancel::CancelToken;
use crate::folder::PrivateFolder;
use crate::limits::{NETWORK_CONNECTIONS, NETWORK_LINE_BYTES, NETWORK_QUESTIONS};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{AtFlags, unlinkat};
use std::io::{self, PipeReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// How the name of a call's folder begins.
const PREFIX: &str = "agentx-network-";

/// The name of the socket in it.
const SOCKET: &str = "socket";

/// What a program is told whose call ends before it has an answer.
const ENDED: &str = "the call has ended";

/// Where the questions of one call are taken, until it is dropped.
#[derive(Debug)]
pub(crate) struct Counter {
    folder: PrivateFolder,
    mail: Arc<Mailbox>,
    thread: Option<JoinHandle<()>>,
}

impl Counter {
    /// Opens a socket in a new folder below `temp`.
    pub(crate) fn open(temp: &Path, network: &Network, cancel: &CancelToken) -> io::Result<Self> {
        let cancelled = cancel.wake_descriptor()?;
        let (news, waker) = io::pipe()?;
        network.mail.open(waker)?;
        let folder = PrivateFolder::make(&std::path::absolute(temp)?, PREFIX)?;
        let mut counter = Self {
            folder,
            mail: Arc::clone(&network.mail),
            thread: None,
        };
        let listener = UnixListener::bind(counter.path())?;
        listener.set_nonblocking(true)?;
        let clerk = Clerk {
            cancelled,
            news,
            mail: Arc::clone(&network.mail),
            ask: network.ask.clone(),
            listener: Some(listener),
            connections: Vec::new(),
            asked: 0,
        };
        let thread = Builder::new().name("agentx-network".into());
        counter.thread = Some(thread.spawn(move || clerk.serve())?);
        Ok(counter)
    }

    /// The path of the socket, absolute.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path.join(SOCKET)
    }
}

/// Nothing is asked any more once it is gone, and nothing of it is left.
impl Drop for Counter {
    fn drop(&mut self) {
        self.mail.put(Letter::Close);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        // Whether or not: what cannot be removed is empty and ours alone.
        let _ = unlinkat(&self.folder.fd, SOCKET, AtFlags::empty());
        let _ = std::fs::remove_dir(&self.folder.path);
    }
}

struct Clerk {
    cancelled: Arc<PipeReader>,
    news: PipeReader,
    mail: Arc<Mailbox>,
    ask: Result<Ask, &'static str>,
    /// Until no further connection can be taken.
    listener: Option<UnixListener>,
    connections: Vec<Connection>,
    asked: u32,
}

struct Connection {
    stream: UnixStream,
    stage: Stage,
}

enum Stage {
    /// This much of the question is there.
    Asking(Vec<u8>),
    /// It was asked about this host.
    Waiting(String),
}

/// What became of a connection that was readable.
enum Said {
    /// The question is not complete.
    Part,
    /// A line, without its newline, or what is wrong with it.
    Line(Result<Vec<u8>, String>),
    /// The other end is gone without a word.
    Nothing,
}

impl Clerk {
    fn serve(mut self) {
        loop {
            let ready = self.wait();
            if ready.cancelled {
                break;
            }
            if ready.news && !self.read_mail() {
                break;
            }
            self.hear(&ready.connections);
            if ready.listener {
                self.accept();
            }
        }
        for connection in self.connections.drain(..) {
            tell(connection.stream, false, Some(ENDED));
        }
    }

    fn wait(&self) -> Ready {
        let mut fds = vec![
            PollFd::new(&*self.cancelled, PollFlags::IN),
            PollFd::new(&self.news, PollFlags::IN),
        ];
        // Those that wait for their answer are not looked at until it is there.
        let asking = |connection: &&Connection| matches!(connection.stage, Stage::Asking(_));
        for connection in self.connections.iter().filter(asking) {
            fds.push(PollFd::new(&connection.stream, PollFlags::IN));
        }
        if let Some(listener) = &self.listener {
            fds.push(PollFd::new(listener, PollFlags::IN));
        }
        // An interrupted poll reports nothing; the loop comes back.
        if poll(&mut fds, None).is_err() {
            return Ready::default();
        }
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        let mut next = || ready.next().unwrap_or(false);
        let (cancelled, news) = (next(), next());
        let hears = |connection: &Connection| asking(&connection) && next();
        let connections = self.connections.iter().map(hears).collect();
        Ready {
            cancelled,
            news,
            connections,
            listener: self.listener.is_some() && next(),
        }
    }

    /// Takes what came in the mail; false when the call ends.
    fn read_mail(&mut self) -> bool {
        // Before the letters, so that one that comes now wakes again.
        let _ = self.news.read(&mut [0]);
        for letter in self.mail.take() {
            match letter {
                Letter::Answer { host, allowed } => self.settle(Some(&host), allowed, None),
                Letter::Gone => {
                    self.ask = self.ask.clone().and(Err(NOBODY));
                    self.settle(None, false, Some(NOBODY));
                }
                Letter::Close => return false,
            }
        }
        true
    }

    /// Tells everybody who waits for an answer about `host`, or about any.
    fn settle(&mut self, host: Option<&str>, allowed: bool, error: Option<&str>) {
        let waits = |connection: &mut Connection| match &connection.stage {
            Stage::Waiting(asked) => host.is_none_or(|host| host == asked),
            Stage::Asking(_) => false,
        };
        for connection in self.connections.extract_if(.., waits) {
            tell(connection.stream, allowed, error);
        }
    }

    /// Reads from connections that are ready, in their order.
    fn hear(&mut self, ready: &[bool]) {
        let connections = std::mem::take(&mut self.connections);
        let ready = ready.iter().copied().chain(std::iter::repeat(false));
        let (hearing, rest): (Vec<_>, Vec<_>) = connections
            .into_iter()
            .zip(ready)
            .partition(|(_, ready)| *ready);
        self.connections = rest.into_iter().map(|(connection, _)| connection).collect();
        for (mut connection, _) in hearing {
            match connection.hear() {
                Said::Part => self.connections.push(connection),
                Said::Line(line) => self.decide(connection, line),
                Said::Nothing => {}
            }
        }
    }

    /// Passes a question on, or says why it is denied.
    fn decide(&mut self, mut connection: Connection, line: Result<Vec<u8>, String>) {
        match line
            .and_then(|line| question::read(&line))
            .and_then(|host| {
                self.put(&host)?;
                Ok(host)
            }) {
            Ok(host) => {
                connection.stage = Stage::Waiting(host);
                self.connections.push(connection);
            }
            Err(why) => tell(connection.stream, false, Some(&why)),
        }
    }

    /// Asks about a host, unless somebody waits for the same answer already.
    fn put(&mut self, host: &str) -> Result<(), String> {
        let ask = self.ask.as_ref().map_err(|why| (*why).to_owned())?;
        let open = |connection: &Connection| matches!(&connection.stage, Stage::Waiting(asked) if asked == host);
        if self.connections.iter().any(open) {
            return Ok(());
        }
        if self.asked == NETWORK_QUESTIONS {
            return Err(format!(
                "a call may ask {NETWORK_QUESTIONS} times, and has done so"
            ));
        }
        self.asked += 1;
        ask(host.to_owned());
        Ok(())
    }

    /// Takes the connections that have come.
    fn accept(&mut self) {
        while let Some(listener) = &self.listener {
            match listener.accept() {
                Ok((stream, _)) if self.connections.len() == NETWORK_CONNECTIONS => {
                    let most = format!("a call may have {NETWORK_CONNECTIONS} connections at once");
                    tell_at_once(stream, &most);
                }
                Ok((stream, _)) => {
                    // One that could make this thread wait is dropped.
                    if stream.set_nonblocking(true).is_ok() {
                        self.connections.push(Connection {
                            stream,
                            stage: Stage::Asking(Vec::new()),
                        });
                    }
                }
                Err(fault) if is_transient(&fault) => return,
                // A listener that fails would be ready for ever.
                Err(_) => self.listener = None,
            }
        }
    }
}

#[derive(Default)]
struct Ready {
    cancelled: bool,
    news: bool,
    /// In the order of the connections.
    connections: Vec<bool>,
    listener: bool,
}

impl Connection {
    /// Reads once.
    fn hear(&mut self) -> Said {
        let Stage::Asking(line) = &mut self.stage else {
            return Said::Part;
        };
        // One byte above the bound is its newline.
        let mut buffer = [0; NETWORK_LINE_BYTES + 1];
        let Some(room) = buffer.get_mut(line.len()..) else {
            return Said::Line(Err(too_long()));
        };
        match self.stream.read(room) {
            Ok(0) if line.is_empty() => Said::Nothing,
            Ok(0) => Said::Line(Err(UNENDED.to_owned())),
            Ok(count) => {
                line.extend_from_slice(room.get(..count).unwrap_or_default());
                match memchr::memchr(b'\n', line) {
                    // What follows was not asked for.
                    Some(end) => {
                        line.truncate(end);
                        Said::Line(Ok(std::mem::take(line)))
                    }
                    None if line.len() > NETWORK_LINE_BYTES => Said::Line(Err(too_long())),
                    None => Said::Part,
                }
            }
            Err(fault) if is_transient(&fault) => Said::Part,
            Err(_) => Said::Nothing,
        }
    }
}

/// Answers and closes. An answer is short and the first on its connection, so it
/// has room there whether or not the other end reads.
fn tell(mut stream: UnixStream, allowed: bool, error: Option<&str>) {
    let _ = stream.write(&question::answer(allowed, error));
}

/// Denies on a connection that nothing is read from.
fn tell_at_once(stream: UnixStream, why: &str) {
    if stream.set_nonblocking(true).is_ok() {
        tell(stream, false, Some(why));
    }
}

fn is_transient(fault: &io::Error) -> bool {
    matches!(
        fault.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
    )
}
