//! One model request as a task: connect, read, write, wait.

use crate::runtime::{TcpStream, after, spawn};
use agentx_core::effect::EffectId;
use agentx_pump::dial::{Attempt, Attempts, DialFailure};
use agentx_pump::drive::{Act, Drive, READ_BYTES};
use agentx_pump::http1::ConnectFailure;
use agentx_pump::lookup::Lookups;
use agentx_pump::model::Target;
use agentx_pump::pump::ModelNews;
use async_channel::{Sender, TrySendError, bounded, unbounded};
use futures_lite::future::{or, poll_once, race, yield_now};
use futures_lite::{AsyncReadExt as _, AsyncWriteExt as _};
use std::future::{Future, pending};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

type News = Sender<(EffectId, ModelNews)>;

/// What a dial gives: the socket, and for https how to speak TLS.
type Dialled = Result<(TcpStream, Option<Arc<rustls::ClientConfig>>), DialFailure>;

/// Drives a run to its end, or until it is dropped. It gives way after each
/// step: a socket that always has more holds up neither another request nor the
/// end of this one.
pub(crate) async fn drive(drive: Drive, news: News, lookups: Lookups) {
    let mut task = Task {
        drive,
        news,
        lookups,
        socket: None,
        piece: vec![0; READ_BYTES],
        dial: None,
    };
    while task.carry_out().await {
        task.wait().await;
        yield_now().await;
    }
}

struct Task {
    drive: Drive,
    news: News,
    lookups: Lookups,
    socket: Option<TcpStream>,
    /// What was read last.
    piece: Vec<u8>,
    dial: Option<Pin<Box<dyn Future<Output = Dialled> + Send>>>,
}

/// What a wait ended with.
enum Turn {
    Dialled(Dialled),
    Read(io::Result<usize>),
    Wrote(io::Result<usize>),
    Due,
}

impl Task {
    /// Carries out what the run asks for; false once it is over.
    async fn carry_out(&mut self) -> bool {
        loop {
            match self.drive.poll() {
                Act::Dial(target) => {
                    self.dial = Some(Box::pin(dial(target, self.lookups.clone())));
                }
                Act::Close => {
                    self.dial = None;
                    if let Some(mut socket) = self.socket.take() {
                        let _ = poll_once(socket.write(self.drive.unwritten())).await;
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

    /// Waits for whatever comes first. Nothing is lost when a future is dropped:
    /// a read or write that is not ready has done nothing.
    async fn wait(&mut self) {
        let due = after(self.drive.wait());
        let due = async {
            due.await;
            Turn::Due
        };
        let turn = if let Some(dial) = &mut self.dial {
            or(async { Turn::Dialled(dial.await) }, due).await
        } else if let Some(socket) = &self.socket {
            let (mut reader, mut writer) = (socket, socket);
            let (piece, unwritten) = (&mut self.piece, self.drive.unwritten());
            let wrote = async {
                if unwritten.is_empty() {
                    pending::<()>().await;
                }
                Turn::Wrote(writer.write(unwritten).await)
            };
            // None of them has a right to be first.
            race(
                async { Turn::Read(reader.read(piece).await) },
                race(wrote, due),
            )
            .await
        } else {
            due.await
        };
        match turn {
            Turn::Dialled(dialled) => {
                self.dial = None;
                self.drive.dialled(dialled.map(|(socket, tls)| {
                    self.socket = Some(socket);
                    tls
                }));
            }
            Turn::Read(read) => {
                let piece = read.map(|count| self.piece.get(..count).unwrap_or_default());
                self.drive.read(piece);
            }
            Turn::Wrote(wrote) => self.drive.wrote(wrote),
            Turn::Due => self.drive.due(),
        }
    }
}

/// Resolves on a thread that may block, then connects.
async fn dial(target: Target, lookups: Lookups) -> Dialled {
    let (told, found) = bounded(1);
    // Nobody waits for what a cancelled request looked up.
    let answer = move |place| drop(told.try_send(place));
    lookups.start(target, Box::new(answer));
    let lost = Err(DialFailure::Connect(ConnectFailure::Other));
    let place = found.recv().await.unwrap_or(lost)?;
    let socket = connect(place.addresses)
        .await
        .map_err(DialFailure::Connect)?;
    // Latency matters more than packets; without it the call still works.
    let _ = socket.set_nodelay(true);
    Ok((socket, place.tls))
}

/// Whichever address stands first is taken; the other attempts end then.
async fn connect(addresses: Vec<SocketAddr>) -> Result<TcpStream, ConnectFailure> {
    let mut order = Attempts::new(addresses);
    let mut attempts = Vec::new();
    let (told, ended) = unbounded();
    loop {
        let alone = match order.poll() {
            Attempt::Begin(address) => {
                let told = told.clone();
                attempts.push(spawn(async move {
                    let _ = told.try_send(TcpStream::connect(address).await);
                }));
                continue;
            }
            Attempt::Wait(alone) => alone,
            Attempt::Failed(failure) => return Err(failure),
        };
        let late = async {
            after(alone).await;
            None
        };
        match or(async { ended.recv().await.ok() }, late).await {
            Some(Ok(socket)) => return Ok(socket),
            Some(Err(error)) => order.failed(&error),
            None => order.late(),
        }
    }
}
