//! One model request as a task: connect, read, write, wait.

use crate::after;
use agentx_core::effect::EffectId;
use agentx_pump::dial::{Attempt, Attempts, DialFailure, resolve};
use agentx_pump::drive::{Act, Drive, READ_BYTES};
use agentx_pump::http1::ConnectFailure;
use agentx_pump::model::Target;
use agentx_pump::pump::ModelNews;
use agentx_pump::tls::TrustStore;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::{JoinSet, spawn_blocking};

type News = Sender<(EffectId, ModelNews)>;

/// What a dial gives: the socket, and for https how to speak TLS.
type Dialled = Result<(TcpStream, Option<Arc<rustls::ClientConfig>>), DialFailure>;

/// Drives a run to its end, or until it is dropped. A socket that always has
/// more gives way to other requests by tokio's own budget.
pub(crate) async fn drive(drive: Drive, news: News, trust: Arc<TrustStore>) {
    let mut task = Task {
        drive,
        news,
        trust,
        socket: None,
        piece: vec![0; READ_BYTES],
        dial: None,
    };
    while task.carry_out().await {
        task.wait().await;
    }
}

struct Task {
    drive: Drive,
    news: News,
    trust: Arc<TrustStore>,
    socket: Option<TcpStream>,
    /// What was read last.
    piece: Vec<u8>,
    dial: Option<Pin<Box<dyn Future<Output = Dialled> + Send>>>,
}

impl Task {
    /// Carries out what the run asks for; false once it is over.
    async fn carry_out(&mut self) -> bool {
        loop {
            match self.drive.poll() {
                Act::Dial(target) => {
                    self.dial = Some(Box::pin(dial(target, Arc::clone(&self.trust))));
                }
                Act::Close => {
                    self.dial = None;
                    if let Some(socket) = self.socket.take() {
                        let _ = socket.try_write(self.drive.unwritten());
                    }
                    self.drive.closed();
                }
                Act::Tell(news) => self.tell(news).await,
                Act::Wait => return true,
                Act::Over => return false,
            }
        }
    }

    async fn tell(&mut self, news: ModelNews) {
        if let Err(TrySendError::Full(item)) = self.news.try_send((self.drive.id(), news)) {
            self.drive.pause();
            let _ = self.news.send(item).await;
            self.drive.resume();
        }
    }

    /// Waits for whatever comes first. Nothing is lost when a branch is dropped:
    /// a read or write that is not ready has done nothing.
    async fn wait(&mut self) {
        let due = after(self.drive.wait());
        if let Some(dial) = &mut self.dial {
            tokio::select! {
                dialled = dial => {
                    self.dial = None;
                    self.drive.dialled(dialled.map(|(socket, tls)| {
                        self.socket = Some(socket);
                        tls
                    }));
                }
                () = due => self.drive.due(),
            }
            return;
        }
        let Some(socket) = &mut self.socket else {
            due.await;
            return self.drive.due();
        };
        let (mut reader, mut writer) = socket.split();
        let unwritten = self.drive.unwritten();
        tokio::select! {
            read = reader.read(&mut self.piece) => {
                self.drive.read(read.map(|count| self.piece.get(..count).unwrap_or_default()));
            }
            wrote = writer.write(unwritten), if !unwritten.is_empty() => self.drive.wrote(wrote),
            () = due => self.drive.due(),
        }
    }
}

/// Resolves on the blocking pool, then connects.
async fn dial(target: Target, trust: Arc<TrustStore>) -> Dialled {
    let resolved = spawn_blocking(move || resolve(&target, &trust)).await;
    let place = resolved.unwrap_or(Err(DialFailure::Connect(ConnectFailure::Other)))?;
    let socket = connect(place.addresses)
        .await
        .map_err(DialFailure::Connect)?;
    // Latency matters more than packets; without it the call still works.
    let _ = socket.set_nodelay(true);
    Ok((socket, place.tls))
}

/// Whichever address stands first is taken.
async fn connect(addresses: Vec<SocketAddr>) -> Result<TcpStream, ConnectFailure> {
    let mut order = Attempts::new(addresses);
    let mut attempts = JoinSet::new();
    loop {
        let alone = match order.poll() {
            Attempt::Begin(address) => {
                attempts.spawn(TcpStream::connect(address));
                continue;
            }
            Attempt::Wait(alone) => alone,
            Attempt::Failed(failure) => return Err(failure),
        };
        tokio::select! {
            Some(ended) = attempts.join_next() => match ended.map_err(io::Error::other).flatten() {
                Ok(socket) => return Ok(socket),
                Err(error) => order.failed(&error),
            },
            () = after(alone) => order.late(),
        }
    }
}
