//! From addresses to a connected socket.

use agentx_pump::dial::{NEXT_ADDRESS, connect_failure};
use agentx_pump::http1::ConnectFailure;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use std::vec::IntoIter;

/// Attempts to connect. The next address does not wait for one that neither
/// answers nor refuses; whichever stands first is taken.
#[derive(Debug)]
pub(crate) struct Connect {
    addresses: IntoIter<SocketAddr>,
    attempts: Vec<TcpStream>,
    /// When the next address is tried beside those under way.
    next: Instant,
    failure: ConnectFailure,
}

impl Connect {
    pub(crate) fn new(addresses: Vec<SocketAddr>, now: Instant) -> Self {
        Self {
            addresses: addresses.into_iter(),
            attempts: Vec::new(),
            next: now,
            failure: ConnectFailure::NameNotFound,
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
        let mut due = now >= self.next;
        let mut index = 0;
        while let Some(attempt) = self.attempts.get(index) {
            match standing(attempt) {
                Ok(true) => return Some(Ok(self.attempts.swap_remove(index))),
                Ok(false) => index += 1,
                Err(error) => {
                    self.failure = connect_failure(&error);
                    self.attempts.remove(index);
                    due = true;
                }
            }
        }
        while due && let Some(address) = self.addresses.next() {
            match attempt(address, registry, token) {
                Ok(socket) => {
                    self.attempts.push(socket);
                    self.next = now + NEXT_ADDRESS;
                    due = false;
                }
                Err(error) => self.failure = connect_failure(&error),
            }
        }
        self.attempts.is_empty().then_some(Err(self.failure))
    }

    /// How long until the next address is due; for ever after the last one.
    pub(crate) fn wait(&self, now: Instant) -> Option<Duration> {
        let more = !self.addresses.as_slice().is_empty();
        more.then(|| self.next.saturating_duration_since(now))
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
