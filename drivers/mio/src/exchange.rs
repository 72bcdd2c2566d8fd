//! One model request: connect, read, write, tell; one turn at a time.

use crate::connect::Connect;
use crate::mailbox::Mailbox;
use crate::requests::{Order, Orders};
use agentx_core::effect::EffectId;
use agentx_pump::dial::DialFailure;
use agentx_pump::drive::{Act, Drive};
use agentx_pump::lookup::{Found, Lookups};
use agentx_pump::model::Target;
use agentx_pump::pump::ModelNews;
use mio::net::TcpStream;
use mio::{Registry, Token};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a turn may use.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) mailbox: &'a Mailbox,
    pub(crate) lookups: &'a Lookups,
    pub(crate) orders: &'a Arc<Orders>,
}

/// What an exchange waits for after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing: it has more to do at once.
    Turn,
    /// An event, an order, or so much time.
    Wait(Option<Duration>),
    /// It is over.
    Over,
}

/// A request under way.
pub(crate) struct Exchange {
    drive: Drive,
    token: Token,
    dial: Option<Dial>,
    socket: Option<Socket>,
    /// News that nobody had room for; while they wait nothing else is done.
    held: Option<ModelNews>,
}

type Tls = Option<Arc<rustls::ClientConfig>>;

enum Dial {
    /// Its number tells whether an answer is still wanted.
    Lookup(u64),
    Connect(Connect, Tls),
}

/// A socket and what it was last said to be ready for. Readiness is told once, so
/// it is remembered until the socket says that it would block.
struct Socket {
    stream: TcpStream,
    readable: bool,
    writable: bool,
}

impl Exchange {
    pub(crate) const fn new(drive: Drive, token: Token) -> Self {
        Self {
            drive,
            token,
            dial: None,
            socket: None,
            held: None,
        }
    }

    pub(crate) const fn id(&self) -> EffectId {
        self.drive.id()
    }

    pub(crate) const fn token(&self) -> Token {
        self.token
    }

    /// A socket of this exchange has an event.
    pub(crate) const fn ready(&mut self, readable: bool, writable: bool) {
        if let Some(socket) = &mut self.socket {
            socket.readable |= readable;
            socket.writable |= writable;
        }
    }

    /// A lookup ended, maybe one that is no longer wanted.
    pub(crate) fn found(&mut self, number: u64, found: Found) {
        if !matches!(self.dial, Some(Dial::Lookup(wanted)) if wanted == number) {
            return;
        }
        match found {
            Ok(place) => {
                self.dial = Some(Dial::Connect(Connect::new(place.addresses), place.tls));
            }
            Err(failure) => {
                self.dial = None;
                self.drive.dialled(Err(failure));
            }
        }
    }

    /// One turn: the clock, then at most one write and one read, so that an
    /// exchange which always has more gives way to others.
    pub(crate) fn turn(&mut self, around: Around<'_>, piece: &mut [u8]) -> Next {
        if let Some(news) = self.held.take() {
            if !self.offer(news, around.mailbox) {
                return Next::Wait(None);
            }
            self.drive.resume();
        }
        // The clock decides what is due, not what woke us.
        if self.drive.wait() == Some(Duration::ZERO) {
            self.drive.due();
        }
        self.connect(around.registry);
        if let Some(next) = self.carry_out(around) {
            return next;
        }
        self.write();
        if let Some(next) = self.carry_out(around) {
            return next;
        }
        self.read(piece);
        if let Some(next) = self.carry_out(around) {
            return next;
        }
        self.next()
    }

    /// Does what the run asks for until it waits; tells what follows where that
    /// is not to go on.
    fn carry_out(&mut self, around: Around<'_>) -> Option<Next> {
        loop {
            match self.drive.poll() {
                Act::Dial(target) => self.look_up(target, around),
                Act::Close => {
                    self.dial = None;
                    if let Some(mut socket) = self.socket.take() {
                        let _ = socket.stream.write(self.drive.unwritten());
                    }
                    self.drive.closed();
                }
                Act::Tell(news) => {
                    if !self.offer(news, around.mailbox) {
                        self.drive.pause();
                        return Some(Next::Wait(None));
                    }
                }
                Act::Wait => return None,
                Act::Over => return Some(Next::Over),
            }
        }
    }

    /// Passes news on; without room for them they are held.
    fn offer(&mut self, news: ModelNews, mailbox: &Mailbox) -> bool {
        self.held = mailbox.offer(self.drive.id(), news).err();
        self.held.is_none()
    }

    fn look_up(&mut self, target: Target, around: Around<'_>) {
        let (id, orders) = (self.drive.id(), Arc::clone(around.orders));
        let number = orders.number();
        self.dial = Some(Dial::Lookup(number));
        let answer = move |found| {
            // Without the thread nobody waits for it.
            let _ = orders.send(Order::Found(id, number, found));
        };
        around.lookups.start(target, Box::new(answer));
    }

    fn connect(&mut self, registry: &Registry) {
        let Some(Dial::Connect(connect, tls)) = &mut self.dial else {
            return;
        };
        let Some(connected) = connect.step(Instant::now(), registry, self.token) else {
            return;
        };
        let dialled = connected.map(|stream| {
            // Latency matters more than packets; without it the call still works.
            let _ = stream.set_nodelay(true);
            self.socket = Some(Socket {
                stream,
                readable: true,
                writable: true,
            });
            tls.take()
        });
        self.dial = None;
        self.drive.dialled(dialled.map_err(DialFailure::Connect));
    }

    fn write(&mut self) {
        if let Some(socket) = &mut self.socket
            && socket.writable
        {
            let unwritten = self.drive.unwritten();
            if unwritten.is_empty() {
                return;
            }
            let wrote = socket.stream.write(unwritten);
            if let Some(wrote) = ready(wrote, &mut socket.writable) {
                self.drive.wrote(wrote);
            }
        }
    }

    fn read(&mut self, piece: &mut [u8]) {
        if let Some(socket) = &mut self.socket
            && socket.readable
        {
            let read = socket.stream.read(piece);
            let Some(read) = ready(read, &mut socket.readable) else {
                return;
            };
            // Nothing follows an end.
            socket.readable &= !matches!(read, Ok(0) | Err(_));
            let read = read.map(|count| piece.get(..count).unwrap_or_default());
            self.drive.read(read);
        }
    }

    fn next(&mut self) -> Next {
        if let Some(socket) = &self.socket {
            let writable = socket.writable;
            if socket.readable || (writable && !self.drive.unwritten().is_empty()) {
                return Next::Turn;
            }
        }
        let address = match &self.dial {
            Some(Dial::Connect(connect, _)) => connect.wait(Instant::now()),
            Some(Dial::Lookup(_)) | None => None,
        };
        Next::Wait(sooner(self.drive.wait(), address))
    }
}

/// What a socket did; nothing where it was not ready after all.
fn ready(done: io::Result<usize>, flag: &mut bool) -> Option<io::Result<usize>> {
    match done {
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            *flag = false;
            None
        }
        // Tried again in the next turn.
        Err(error) if error.kind() == ErrorKind::Interrupted => None,
        done => Some(done),
    }
}

/// The shorter of two waits, of which `None` never ends.
pub(crate) fn sooner(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
