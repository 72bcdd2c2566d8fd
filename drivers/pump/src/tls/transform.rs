//! Bytes of the transport to plaintext, and back.

use super::fault::TlsFault;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use std::borrow::Cow;
use std::fmt;
use std::io::{BufRead, Write};
use std::sync::Arc;

/// Ciphertext rustls may hold before it is taken out, in bytes.
const BUFFER_LIMIT: usize = 64 * 1024;

/// Plain text as it stands, or TLS around it.
pub enum Transform {
    /// Nothing is changed.
    Plain,
    /// A TLS client.
    Tls(Box<Channel>),
}

/// A TLS client and its place in the stream of records.
pub struct Channel {
    client: ClientConnection,
    records: RecordCutter,
}

/// What some bytes of the transport were worth.
#[derive(Debug)]
pub struct Received<'a> {
    /// Plaintext, all of it from before `closed` or `fault`.
    pub plaintext: Cow<'a, [u8]>,
    /// The peer closed the channel in order; nothing follows.
    pub closed: bool,
    /// The channel is broken; an alert for the peer may be waiting in
    /// [`Transform::take_pending`].
    pub fault: Option<TlsFault>,
}

impl Transform {
    /// TLS to `host`, a name or an address without brackets.
    ///
    /// # Errors
    ///
    /// [`TlsFault::ServerName`] when no certificate can be for that host.
    pub fn tls(config: Arc<ClientConfig>, host: &str) -> Result<Self, TlsFault> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| TlsFault::ServerName)?;
        let mut client = ClientConnection::new(config, name).map_err(|e| TlsFault::from(&e))?;
        client.set_buffer_limit(Some(BUFFER_LIMIT));
        Ok(Self::Tls(Box::new(Channel {
            client,
            records: RecordCutter::default(),
        })))
    }

    /// Whether plaintext can be sent: at once, or after the handshake.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        match self {
            Self::Plain => true,
            Self::Tls(channel) => !channel.client.is_handshaking(),
        }
    }

    /// Takes bytes off the front of `input`: all of plain text, of TLS up to
    /// the end of one record. So the steps of a channel (ready, plaintext,
    /// closed, broken) come one by one, wherever the transport was cut.
    pub fn receive<'a>(&mut self, input: &mut &'a [u8]) -> Received<'a> {
        match self {
            Self::Plain => Received {
                plaintext: Cow::Borrowed(std::mem::take(input)),
                closed: false,
                fault: None,
            },
            Self::Tls(channel) => channel.receive(input),
        }
    }

    /// Turns plaintext into bytes of the transport, behind everything that is
    /// pending. Call it only when [`Transform::is_ready`].
    ///
    /// # Errors
    ///
    /// [`TlsFault::Protocol`] when the channel is broken.
    pub fn send(&mut self, plaintext: Vec<u8>) -> Result<Vec<u8>, TlsFault> {
        let Self::Tls(channel) = self else {
            return Ok(plaintext);
        };
        let client = &mut channel.client;
        let mut rest = plaintext.as_slice();
        let mut out = Vec::with_capacity(rest.len() + rest.len() / 64 + 256);
        while !rest.is_empty() {
            let taken = client
                .writer()
                .write(rest)
                .map_err(|_| TlsFault::Protocol)?;
            let drained = drain(client, &mut out);
            if taken == 0 && drained == 0 {
                return Err(TlsFault::Protocol);
            }
            rest = rest.get(taken..).unwrap_or_default();
        }
        Ok(out)
    }

    /// Bytes the channel itself wants to send: handshake, alerts, key updates.
    pub fn take_pending(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        if let Self::Tls(channel) = self {
            drain(&mut channel.client, &mut out);
        }
        out
    }
}

/// Moves everything rustls wants to write to `out`. Returns how much it was.
fn drain(client: &mut ClientConnection, out: &mut Vec<u8>) -> usize {
    let before = out.len();
    while client.wants_write() {
        // A vector takes every write, so this ends with nothing left.
        if client.write_tls(out).unwrap_or(0) == 0 {
            break;
        }
    }
    out.len() - before
}

impl Channel {
    /// Feeds rustls up to the end of one record and collects the plaintext at
    /// once, since it takes no more while plaintext is waiting. What was
    /// decrypted before a fault is handed out with it.
    fn receive<'a>(&mut self, input: &mut &'a [u8]) -> Received<'a> {
        let mut piece = self.records.cut(input);
        let mut plaintext = Vec::new();
        let mut closed = false;
        let mut fault = None;
        while !piece.is_empty() && !closed && fault.is_none() {
            match self.client.read_tls(&mut piece) {
                Ok(0) => closed = true,
                Ok(_) => match self.client.process_new_packets() {
                    Ok(state) => closed = state.peer_has_closed(),
                    Err(error) => fault = Some(TlsFault::from(&error)),
                },
                Err(_) => fault = Some(TlsFault::Protocol),
            }
            collect(&mut self.client, &mut plaintext);
        }
        Received {
            plaintext: Cow::Owned(plaintext),
            closed,
            fault,
        }
    }
}

/// Appends the plaintext that is waiting.
fn collect(client: &mut ClientConnection, plaintext: &mut Vec<u8>) {
    let mut reader = client.reader();
    // An error only says that there is none.
    while let Ok(piece) = reader.fill_buf() {
        let length = piece.len();
        if length == 0 {
            break;
        }
        plaintext.extend_from_slice(piece);
        reader.consume(length);
    }
}

/// Finds the ends of TLS records: five bytes of header, the last two of which
/// are the length of what follows.
#[derive(Default)]
struct RecordCutter {
    /// Bytes of the header seen so far.
    header: usize,
    /// Bytes of the record still to come, once the header is complete.
    left: usize,
}

impl RecordCutter {
    const HEADER: usize = 5;

    /// Splits bytes off the front of `input`, at most to the end of the record.
    fn cut<'a>(&mut self, input: &mut &'a [u8]) -> &'a [u8] {
        let mut taken = 0;
        while let Some(&byte) = input.get(taken).filter(|_| self.header < Self::HEADER) {
            self.header += 1;
            if self.header > Self::HEADER - 2 {
                self.left = self.left << 8 | usize::from(byte);
            }
            taken += 1;
        }
        let payload = self.left.min(input.len() - taken);
        if self.header == Self::HEADER {
            taken += payload;
            self.left -= payload;
            if self.left == 0 {
                self.header = 0;
            }
        }
        let (piece, rest) = input.split_at_checked(taken).unwrap_or((*input, &[]));
        *input = rest;
        piece
    }
}

impl fmt::Debug for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "Plain",
            Self::Tls(_) => "Tls",
        })
    }
}
