//! What an embedder holds: one agent, its records, and what it can be asked.

use super::agent::Agent;
use super::callbacks::Callbacks;
use super::engine::{Engine, State};
use super::error::{Ended, Error};
use super::mailbox::{Mailbox, Reader};
use super::news::{Ask, News, Over, Shelf, UNREAD_BYTES};
use super::process::Process;
use super::tail::Tail;
use super::task::Spawn;
use super::{CALLBACKS, Record};
use crate::pump;
use crate::stdio::{READ_BYTES, Writer};
use agentx_core::host::{Config, HostSession};
use agentx_core::ids::Seed;
use agentx_core::time::Instant;
use futures_core::Stream;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, ErrorKind, Read};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll};
use std::thread;

/// One agent at work, seen by its host.
///
/// Records come in the order in which the agent wrote them, and have to be taken:
/// above [`UNREAD_BYTES`] of them the agent is not read, and answers wait behind
/// them. Every method may be called from several tasks at once; each record goes
/// to one of those that wait for the next.
///
/// Dropping a client ends the agent and everything in its process group, and
/// waits until they are gone: some milliseconds for an agent that heeds SIGTERM,
/// about three seconds for one that does not. [`Client::kill`] does the same
/// without holding up a thread; [`Client::end`] lets the agent finish first.
pub struct Client {
    pub(super) news: Sender<News>,
    pub(super) calls: AtomicU64,
    shelf: Shelf,
    ended: Mailbox<Over>,
    tail: Tail,
    process: Process,
    pub(super) callbacks: Callbacks,
}

/// Starts an agent whose callbacks run as tasks of `spawn`.
///
/// # Errors
///
/// [`Error::NotFound`] and [`Error::NotStarted`]; nothing is left behind.
pub fn start(mut agent: Agent, callbacks: Callbacks, spawn: Spawn) -> Result<Client, Error> {
    let (child, input, output, errors) = agent.spawn()?;
    let (news, told) = channel();
    let exit = news.clone();
    let process = Process::watch(child, move |status| drop(exit.send(News::Exited(status))));
    let process = process.map_err(|error| agent.fault(&error))?;
    let (gate, passed) = channel();
    let tail = Tail::default();
    let client = Client {
        news: news.clone(),
        calls: AtomicU64::new(0),
        shelf: Shelf::default(),
        ended: Mailbox::default(),
        tail: tail.clone(),
        process: process.clone(),
        callbacks: callbacks.clone(),
    };
    let listener = agent.told.take();
    let begin = || -> io::Result<()> {
        let writer = Writer::start(input, posted(&news))?;
        let (out, err) = (news.clone(), news.clone());
        thread("host stdout").spawn(move || read(output, &out, &passed))?;
        let lines = tail.clone();
        thread("host stderr").spawn(move || {
            lines.follow(errors, listener);
            let _ = err.send(News::ErrorsEnd);
        })?;
        let engine = Engine {
            session: HostSession::new(config(), Instant::ZERO),
            started: std::time::Instant::now(),
            callbacks,
            spawn,
            timeout: agent.timeout,
            news: news.clone(),
            process,
            writer: Some(writer),
            gate,
            tail,
            shelf: client.shelf.clone(),
            ended: client.ended.clone(),
            running: Arc::default(),
            state: State::default(),
        };
        thread("host").spawn(move || engine.run(&told))?;
        Ok(())
    };
    // On a failure the client is dropped, which ends the agent.
    begin().map_err(|error| agent.fault(&error))?;
    Ok(client)
}

fn thread(name: &str) -> thread::Builder {
    thread::Builder::new().name(name.into())
}

/// What the writer of records tells, as news of this loop.
fn posted(news: &Sender<News>) -> pump::Post {
    let news = news.clone();
    Arc::new(move |item| {
        let item = match item {
            pump::News::Wrote(count) => News::Wrote(count),
            _ => News::WriteFailed,
        };
        let _ = news.send(item);
    })
}

/// Reads stdout to its end, one piece on its way at a time.
fn read(mut output: impl Read, news: &Sender<News>, passed: &Receiver<()>) {
    loop {
        let mut piece = vec![0; READ_BYTES];
        match output.read(&mut piece) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Ok(count @ 1..) => piece.truncate(count),
            Ok(_) | Err(_) => break,
        }
        if news.send(News::Piece(piece)).is_err() || passed.recv().is_err() {
            return;
        }
    }
    let _ = news.send(News::OutputEnd);
}

/// Ids need not be secret, only new.
fn config() -> Config {
    let mut config = Config::new(Seed::from_u64(RandomState::new().hash_one(0)));
    config.limits.host_requests = CALLBACKS;
    config
}

/// Records and the end.
impl Client {
    /// Waits for the next record. `None` when the agent has ended and all are
    /// taken. Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// Once, as the last item: [`Error::Ended`] when the agent ended although its
    /// input was open, or crashed; [`Error::Protocol`] when it wrote what is no
    /// record, whereupon it is ended.
    pub async fn next(&self) -> Option<Result<Record, Error>> {
        let item = self.shelf.records.next().await;
        item.map(|item| self.took(item))
    }

    /// The same as a stream.
    pub const fn records(&self) -> Records<'_> {
        Records {
            client: self,
            reader: Reader::new(&self.shelf.records),
        }
    }

    /// Ends the agent's input behind everything that was sent. The agent finishes
    /// what it was asked for, without anybody to answer its questions, and ends;
    /// its records are still to be taken.
    pub fn close(&self) {
        self.tell(Ask::Close);
    }

    /// Waits for the end of the agent, which this does not bring about. Somebody has
    /// to take the records meanwhile.
    pub async fn wait(&self) -> Ended {
        self.over().await.ended
    }

    pub(super) async fn over(&self) -> Over {
        let over = self.ended.first().await;
        // Without a word from a loop that has failed.
        over.unwrap_or_else(|| Over {
            ended: Ended::default(),
            why: Error::Ended(Ended::default()),
        })
    }

    /// Closes the input, reads what comes until the agent has ended, and tells how.
    pub async fn end(&self) -> Ended {
        self.close();
        while self.next().await.is_some() {}
        self.wait().await
    }

    /// Ends the agent and its process group now: SIGTERM, SIGTERM again after
    /// 2 s, SIGKILL after one more. What it still writes can be taken.
    pub async fn kill(&self) -> Ended {
        self.tell(Ask::Kill);
        self.wait().await
    }

    /// Its process id, which is also that of its process group.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The last lines that it wrote on stderr so far, oldest first.
    #[must_use]
    pub fn stderr(&self) -> Arc<[String]> {
        self.tail.lines()
    }

    /// Counts a record as taken; tells when there is room again.
    fn took(&self, (weight, item): (usize, Result<Record, Error>)) -> Result<Record, Error> {
        let before = self.shelf.weight.fetch_sub(weight, Ordering::AcqRel);
        if before >= UNREAD_BYTES && before.saturating_sub(weight) < UNREAD_BYTES {
            let _ = self.news.send(News::Room);
        }
        item
    }
}

/// The records of a client, as a stream and one by one.
pub struct Records<'a> {
    client: &'a Client,
    reader: Reader<'a, (usize, Result<Record, Error>)>,
}

impl Clone for Records<'_> {
    fn clone(&self) -> Self {
        self.client.records()
    }
}

impl fmt::Debug for Records<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records")
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

impl Records<'_> {
    /// As [`Client::next`].
    ///
    /// # Errors
    ///
    /// As [`Client::next`].
    pub async fn next(&mut self) -> Option<Result<Record, Error>> {
        self.client.next().await
    }
}

impl Stream for Records<'_> {
    type Item = Result<Record, Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { client, reader } = self.get_mut();
        let item = reader.poll(context);
        item.map(|item| item.map(|item| client.took(item)))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.shelf.records.discard();
        self.tell(Ask::Leave);
        self.process.stop();
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}
