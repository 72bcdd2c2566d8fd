//! One model request as a task: connect, read, write, wait.

use crate::until;
use agentx_core::effect::EffectId;
use agentx_core::machine::Machine as _;
use agentx_core::time::Instant;
use agentx_pump::http1::ConnectFailure;
use agentx_pump::model::{Input, ModelRun, Output, Target};
use agentx_pump::pump::ModelNews;
use agentx_pump::tls::TrustStore;
use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::JoinSet;

/// Bytes of an answer taken at once; below the step of DEC-28.
const READ_BYTES: usize = 64 * 1024;

/// How long one address has for itself before the next one is tried beside it.
const NEXT_ADDRESS: Duration = Duration::from_millis(250);

type News = Sender<(EffectId, ModelNews)>;

/// What a dial gives: the socket, and for https how to speak TLS.
type Dialled = Result<(TcpStream, Option<Arc<rustls::ClientConfig>>), DialFailure>;

enum DialFailure {
    Connect(ConnectFailure),
    Tls(agentx_pump::tls::TlsFault),
}

/// Drives a run to its end, or until it is dropped. `start` is the session's
/// time now.
pub(crate) async fn drive(
    run: ModelRun,
    id: EffectId,
    news: News,
    trust: Arc<TrustStore>,
    start: Instant,
) {
    let clock = Clock {
        start,
        since: std::time::Instant::now(),
    };
    let mut task = Task {
        run,
        id,
        news,
        trust,
        clock,
        socket: None,
        unwritten: VecDeque::new(),
        piece: vec![0; READ_BYTES],
        dial: None,
    };
    task.feed(Input::Begin);
    while task.carry_out().await {
        task.wait().await;
        // A socket that always has more must not keep the session from its
        // turn (DEC-28).
        tokio::task::yield_now().await;
    }
}

struct Clock {
    start: Instant,
    since: std::time::Instant,
}

impl Clock {
    fn now(&self) -> Instant {
        self.start.after(self.since.elapsed())
    }
}

struct Task {
    run: ModelRun,
    id: EffectId,
    news: News,
    trust: Arc<TrustStore>,
    clock: Clock,
    socket: Option<TcpStream>,
    unwritten: VecDeque<u8>,
    /// What was read last.
    piece: Vec<u8>,
    dial: Option<Pin<Box<dyn Future<Output = Dialled> + Send>>>,
}

/// What woke the task.
enum Woken {
    Dialled(Dialled),
    Read(io::Result<usize>),
    Wrote(io::Result<usize>),
    Due,
}

impl Task {
    fn feed(&mut self, input: Input<'_>) {
        // The run refuses what comes after its end, which means nothing here.
        let _ = self.run.handle(self.clock.now(), input);
    }

    /// Carries out what the run asks for; false once it is over.
    async fn carry_out(&mut self) -> bool {
        while let Some(output) = self.run.poll() {
            match output {
                Output::Connect(target) => {
                    self.dial = Some(Box::pin(dial(target, Arc::clone(&self.trust))));
                }
                Output::Write(bytes) => self.unwritten.extend(bytes),
                Output::Close => self.close(),
                Output::Delta(delta) => self.tell(ModelNews::Delta(delta)).await,
                Output::Warn(text) => self.tell(ModelNews::Warn(text)).await,
                Output::Done(outcome) => {
                    self.tell(ModelNews::Done(outcome)).await;
                    return false;
                }
            }
        }
        true
    }

    /// Passes news on. While nobody takes them the peer's silence does not count.
    async fn tell(&mut self, news: ModelNews) {
        match self.news.try_send((self.id, news)) {
            Ok(()) | Err(TrySendError::Closed(_)) => {}
            Err(TrySendError::Full(item)) => {
                self.feed(Input::Pause);
                let _ = self.news.send(item).await;
                self.feed(Input::Resume);
            }
        }
    }

    /// What is queued may be a TLS alert: it is tried once, without waiting.
    fn close(&mut self) {
        self.dial = None;
        if let Some(socket) = self.socket.take() {
            let _ = socket.try_write(self.unwritten.make_contiguous());
        }
        self.unwritten.clear();
    }

    async fn wait(&mut self) {
        let woken = self.woken().await;
        match woken {
            Woken::Due => self.feed(Input::Tick),
            Woken::Dialled(Ok((socket, tls))) => {
                self.dial = None;
                self.socket = Some(socket);
                self.feed(Input::Connected(tls));
            }
            Woken::Dialled(Err(failure)) => {
                self.dial = None;
                self.feed(match failure {
                    DialFailure::Connect(failure) => Input::ConnectFailed(failure),
                    DialFailure::Tls(fault) => Input::TlsFailed(fault),
                });
            }
            Woken::Read(Ok(count)) => {
                let input = match self.piece.get(..count) {
                    Some(bytes @ [_, ..]) => Input::Bytes(bytes),
                    _ => Input::Eof,
                };
                // As in `feed`, which cannot borrow a part of the task.
                let _ = self.run.handle(self.clock.now(), input);
            }
            Woken::Read(Err(_)) => self.feed(Input::ReadFailed),
            // Nothing taken, although there was room and something to write.
            Woken::Wrote(Ok(0) | Err(_)) => {
                self.unwritten.clear();
                self.feed(Input::WriteFailed);
            }
            Woken::Wrote(Ok(count)) => {
                self.unwritten.drain(..count.min(self.unwritten.len()));
                self.feed(Input::Wrote(count));
            }
        }
    }

    /// Waits for whatever comes first. Nothing is lost when a branch is dropped:
    /// readiness is awaited, and only then read or written at once.
    async fn woken(&mut self) -> Woken {
        let due = until(self.clock.now(), self.run.deadline());
        if let Some(dial) = &mut self.dial {
            return tokio::select! {
                dialled = dial => Woken::Dialled(dialled),
                () = due => Woken::Due,
            };
        }
        let Some(socket) = &self.socket else {
            due.await;
            return Woken::Due;
        };
        let unwritten = self.unwritten.make_contiguous();
        tokio::select! {
            read = read(socket, &mut self.piece) => Woken::Read(read),
            wrote = write(socket, unwritten), if !unwritten.is_empty() => Woken::Wrote(wrote),
            () = due => Woken::Due,
        }
    }
}

async fn read(socket: &TcpStream, piece: &mut [u8]) -> io::Result<usize> {
    loop {
        socket.readable().await?;
        match socket.try_read(piece) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            result => return result,
        }
    }
}

async fn write(socket: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    loop {
        socket.writable().await?;
        match socket.try_write(bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            result => return result,
        }
    }
}

/// Connects; the roots load beside it on the blocking pool, where names are
/// looked up too.
async fn dial(target: Target, trust: Arc<TrustStore>) -> Dialled {
    let Target {
        host,
        port,
        tls,
        ca_file,
    } = target;
    let config = if tls {
        let loading = tokio::task::spawn_blocking(move || trust.config(ca_file.as_deref()));
        match loading.await {
            Ok(Ok(config)) => Some(config),
            Ok(Err(fault)) => return Err(DialFailure::Tls(fault)),
            Err(_) => return Err(DialFailure::Tls(agentx_pump::tls::TlsFault::NoRoots)),
        }
    } else {
        None
    };
    let Ok(addresses) = tokio::net::lookup_host((host.as_str(), port)).await else {
        return Err(DialFailure::Connect(ConnectFailure::NameNotFound));
    };
    let socket = connect(addresses).await.map_err(DialFailure::Connect)?;
    // Latency matters more than packets; without it the call still works.
    let _ = socket.set_nodelay(true);
    Ok((socket, config))
}

/// Tries one address after the other. The next one does not wait for one that
/// neither answers nor refuses; whichever stands first is taken.
async fn connect(
    mut addresses: impl Iterator<Item = SocketAddr>,
) -> Result<TcpStream, ConnectFailure> {
    let mut attempts = JoinSet::new();
    let mut failure = ConnectFailure::NameNotFound;
    loop {
        let next = addresses.next();
        let more = next.is_some();
        if let Some(address) = next {
            attempts.spawn(TcpStream::connect(address));
        }
        let attempt = attempts.join_next();
        let ended = if more {
            tokio::time::timeout(NEXT_ADDRESS, attempt).await
        } else {
            Ok(attempt.await)
        };
        match ended {
            Ok(Some(Ok(Ok(socket)))) => return Ok(socket),
            Ok(Some(Ok(Err(error)))) => failure = of_error(&error),
            Ok(None) if !more => return Err(failure),
            // An attempt that broke off, or the next address is due.
            Ok(_) | Err(_) => {}
        }
    }
}

fn of_error(error: &io::Error) -> ConnectFailure {
    match error.kind() {
        ErrorKind::ConnectionRefused => ConnectFailure::Refused,
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => ConnectFailure::Unreachable,
        _ => ConnectFailure::Other,
    }
}
