//! From addresses to a connected socket.

use agentx_pump::dial::{Attempt, Attempts};
use agentx_pump::http1::ConnectFailure;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Attempts to connect. Whichever address stands first is taken.
#[derive(Debug)]
pub(crate) struct Connect {
    order: Attempts,
    under_way: Vec<TcpStream>,
    /// When the next address is due beside those under way.
    next: Option<Instant>,
}

impl Connect {
    pub(crate) fn new(addresses: Vec<SocketAddr>) -> Self {
        Self {
            order: Attempts::new(addresses),
            under_way: Vec::new(),
            next: None,
        }
    }

    /// How far the attempts got; `None` while none stands and not all have failed.
    /// Asked whenever one of their sockets has an event, and after [`Self::wait`].
    pub(crate) fn step(
        &mut self,
        now: Instant,
        registry: &Registry,
        token: Token,
    ) -> Option<Result<TcpStream, ConnectFailure>> {
        let mut index = 0;
        while let Some(attempt) = self.under_way.get(index) {
            match standing(attempt) {
                Ok(true) => return Some(Ok(self.under_way.swap_remove(index))),
                Ok(false) => index += 1,
                Err(error) => {
                    self.under_way.remove(index);
                    self.order.failed(&error);
                    self.next = None;
                }
            }
        }
        if self.next.is_some_and(|next| now >= next) {
            self.order.late();
            self.next = None;
        }
        loop {
            match self.order.poll() {
                Attempt::Begin(address) => match attempt(address, registry, token) {
                    Ok(socket) => self.under_way.push(socket),
                    Err(error) => self.order.failed(&error),
                },
                Attempt::Wait(alone) => {
                    let next = alone.and_then(|alone| now.checked_add(alone));
                    self.next = self.next.or(next);
                    return None;
                }
                Attempt::Failed(failure) => return Some(Err(failure)),
            }
        }
    }

    /// How long until the next address is due; for ever after the last one.
    pub(crate) fn wait(&self, now: Instant) -> Option<Duration> {
        self.next.map(|next| next.saturating_duration_since(now))
    }
}

fn attempt(address: SocketAddr, registry: &Registry, token: Token) -> io::Result<TcpStream> {
    let mut socket = TcpStream::connect(address)?;
    registry.register(&mut socket, token, Interest::READABLE | Interest::WRITABLE)?;
    Ok(socket)
}

/// Whether an attempt stands: no error is left on the socket, and it has a peer.
/// An event alone may be an old one.
fn standing(socket: &TcpStream) -> io::Result<bool> {
    if let Some(error) = socket.take_error()? {
        return Err(error);
    }
    match socket.peer_addr() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotConnected => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
