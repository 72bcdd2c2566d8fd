//! A session over any two streams, as a task among others of a runtime that an
//! embedder has.
//!
//! ```text
//! idle: a task, no thread, no buffer --the session asks for something--> at work: a pump
//! ```
//!
//! A session that waits for its host is the session and what is still to be
//! written, so thousands of them fit a process. What does its work (pools, the
//! log, channels) is there from its first effect on.

use crate::{Runs, after};
use agentx_core::agent::{AgentSession, Input, Output, exit_status};
use agentx_core::machine::{Machine as _, Misuse};
use agentx_core::time::Instant;
use agentx_pump::pump::{News, Pump};
use agentx_pump::stdio::READ_BYTES;
use agentx_pump::world::{Host, HostReply, World};
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

/// Bytes that one look at an idle session's input takes.
const LOOK_BYTES: usize = 4 * 1024;

/// Runs a session to its end over `reader` and `writer`, on the runtime it is
/// awaited on; gives the exit status. `world` is asked for once, when the session
/// first asks for something. The session must have been made just now. A writer
/// with a buffer is flushed once no record waits. Signals of the process are the
/// embedder's: one that is to end drops the task, which ends its requests to the
/// model, too, or closes the reader.
///
/// # Errors
///
/// When a thread cannot be set up, or the session was fed what it does not take.
pub fn serve<R, W>(
    session: AgentSession,
    reader: R,
    writer: W,
    world: impl FnOnce() -> World,
) -> impl Future<Output = io::Result<u8>>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    // Made here: a future keeps room for what it was called with.
    let mut idle = Box::new(Idle {
        session,
        streams: Streams {
            reader,
            writer,
            unsent: VecDeque::new(),
            unflushed: false,
            failed: false,
            cut: false,
        },
        started: std::time::Instant::now(),
    });
    async move {
        match idle.run().await? {
            Next::Exit(status) => Ok(status),
            // Apart, so that an idle task has no room for it.
            Next::Work(outputs) => Box::pin(work(idle, outputs, world())).await,
        }
    }
}

/// A session that has asked for nothing yet.
struct Idle<R, W> {
    session: AgentSession,
    streams: Streams<R, W>,
    started: std::time::Instant,
}

/// What an idle session comes to.
enum Next {
    Exit(u8),
    /// Something is to be done: what the session said last, in order.
    Work(Vec<Output>),
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Idle<R, W> {
    async fn run(&mut self) -> io::Result<Next> {
        loop {
            while let Some(output) = self.session.poll() {
                match output {
                    Output::Transmit(record) => self.streams.push(record.into_bytes()),
                    Output::Exit(status) => return Ok(Next::Exit(self.streams.end(status).await)),
                    output => {
                        let rest = std::iter::from_fn(|| self.session.poll());
                        return Ok(Next::Work([output].into_iter().chain(rest).collect()));
                    }
                }
            }
            let wait = agentx_pump::drive::wait(self.now(), self.session.deadline());
            let wants = self.session.wants().bytes;
            let streams = &mut self.streams;
            let heard = tokio::select! {
                wrote = write(&mut streams.writer, &streams.unsent), if streams.has_output() => Heard::Wrote(wrote),
                read = read::<_, LOOK_BYTES>(&mut streams.reader), if wants => Heard::Read(read),
                () = due(wait) => Heard::Due,
            };
            let now = self.now();
            let told = match heard {
                Heard::Wrote(wrote) => match self.streams.wrote(wrote) {
                    Ok(None) => continue,
                    Ok(Some(count)) => self.session.handle(now, Input::Sent(count)),
                    Err(_) => self.session.handle(now, Input::WriteFailed),
                },
                Heard::Read(Ok(bytes)) if !bytes.is_empty() => {
                    self.session.handle(now, Input::Bytes(&bytes))
                }
                Heard::Read(read) => {
                    self.streams.cut = read.is_err();
                    self.session.handle(now, Input::Eof)
                }
                Heard::Due => self.session.handle(now, Input::Tick),
            };
            told.map_err(misuse)?;
        }
    }

    fn now(&self) -> Instant {
        Instant::ZERO.after(self.started.elapsed())
    }
}

/// As [`after`]; only a task that waits for a time has room for a timer.
async fn due(wait: Option<Duration>) {
    match wait {
        Some(_) => Box::pin(after(wait)).await,
        None => std::future::pending().await,
    }
}

/// What an idle session waited for.
enum Heard {
    Wrote(io::Result<Option<usize>>),
    Read(io::Result<Vec<u8>>),
    Due,
}

fn misuse(misuse: Misuse) -> io::Error {
    io::Error::other(misuse)
}

/// The embedder's streams, and the records that wait for them.
struct Streams<R, W> {
    reader: R,
    writer: W,
    unsent: VecDeque<Vec<u8>>,
    /// The writer may have kept what it took.
    unflushed: bool,
    /// The output is closed.
    failed: bool,
    /// The input broke off.
    cut: bool,
}

impl<R, W: AsyncWrite + Unpin> Streams<R, W> {
    fn push(&mut self, record: Vec<u8>) {
        if !self.failed {
            self.unsent.push_back(record);
        }
    }

    fn has_output(&self) -> bool {
        self.unflushed || !self.unsent.is_empty()
    }

    /// Forgets what was written; tells how much, if it was not a flush. A write
    /// that takes nothing, or fails, closes the output (DEC-11).
    fn wrote(&mut self, wrote: io::Result<Option<usize>>) -> io::Result<Option<usize>> {
        let wrote = wrote.and_then(|wrote| match wrote {
            Some(0) => Err(io::ErrorKind::WriteZero.into()),
            wrote => Ok(wrote),
        });
        self.unflushed = matches!(wrote, Ok(Some(_)));
        let Ok(count) = wrote else {
            self.failed = true;
            self.unsent = VecDeque::new();
            return wrote;
        };
        let mut left = count.unwrap_or_default();
        while let Some(first) = self.unsent.front_mut() {
            if left < first.len() {
                first.drain(..left);
                break;
            }
            left -= first.len();
            self.unsent.pop_front();
        }
        if self.unsent.is_empty() {
            self.unsent = VecDeque::new();
        }
        wrote
    }

    /// Writes what is left; gives the status to end with.
    async fn end(&mut self, status: u8) -> u8 {
        while self.has_output() {
            let wrote = write(&mut self.writer, &self.unsent).await;
            // One that failed has left nothing to write.
            let _ = self.wrote(wrote);
        }
        exit_status(Some(status), self.cut, self.failed)
    }
}

/// Writes some of the first record; where there is none, flushes, and gives no count.
async fn write(
    writer: &mut (impl AsyncWrite + Unpin),
    unsent: &VecDeque<Vec<u8>>,
) -> io::Result<Option<usize>> {
    match unsent.front() {
        Some(first) => writer.write(first).await.map(Some),
        None => writer.flush().await.map(|()| None),
    }
}

/// Reads what is there; nothing at the end. The buffer is of the stack, so a task
/// that waits has none.
async fn read<R: AsyncRead + Unpin, const BYTES: usize>(reader: &mut R) -> io::Result<Vec<u8>> {
    std::future::poll_fn(|context| {
        let mut bytes = [0; BYTES];
        let mut piece = ReadBuf::new(&mut bytes);
        ready!(Pin::new(&mut *reader).poll_read(context, &mut piece))?;
        Poll::Ready(Ok(piece.filled().to_vec()))
    })
    .await
}

/// Hands records of the pump to the task that writes them.
struct Records(mpsc::UnboundedSender<Vec<u8>>);

impl Host for Records {
    fn record(&mut self, record: &[u8]) -> HostReply {
        // The task is there as long as the pump is.
        let _ = self.0.send(record.to_vec());
        HostReply::default()
    }

    fn takes_later(&self) -> bool {
        true
    }
}

/// A session at work, to its end.
async fn work<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
    idle: Box<Idle<R, W>>,
    outputs: Vec<Output>,
    world: World,
) -> io::Result<u8> {
    let Idle {
        session,
        mut streams,
        started,
    } = *idle;
    let (mut runs, mut news_in, mut model_in) = Runs::new(&world);
    let (records, mut records_in) = mpsc::unbounded_channel();
    let host = Box::new(Records(records));
    let mut pump = Pump::adopt(session, world, host, &runs.post, started, outputs)?;
    loop {
        runs.take_tasks(&mut pump);
        while let Ok(record) = records_in.try_recv() {
            streams.push(record);
        }
        if pump.exit().is_some() {
            break;
        }
        let wants = pump.wants_input();
        tokio::select! {
            biased;
            Some(item) = news_in.recv() => pump.take(item),
            wrote = write(&mut streams.writer, &streams.unsent), if streams.has_output() => match streams.wrote(wrote) {
                Ok(count) => count.into_iter().for_each(|count| pump.take(News::Wrote(count))),
                Err(_) => pump.take(News::WriteFailed),
            },
            read = read::<_, READ_BYTES>(&mut streams.reader), if wants => pump.take(match read {
                Ok(bytes) if bytes.is_empty() => News::InputEnd,
                Ok(bytes) => News::Input(bytes),
                Err(error) => {
                    streams.cut = true;
                    News::InputFailed(error.kind().to_string())
                }
            }),
            Some((id, item)) = model_in.recv(), if pump.wants_progress() => pump.model(id, item),
            () = after(pump.wait()) => pump.tick(),
        }
        pump.take_turns(|| model_in.try_recv().ok());
    }
    // It waits for tools to be reaped.
    let status = spawn_blocking(move || pump.finish()).await;
    Ok(streams.end(status.map_err(io::Error::other)?).await)
}
