//! What a run is told and what it says.

use crate::http1::{self, ConnectFailure};
use crate::tls::TlsFault;
use agentx_core::model::{Delta, ModelOutcome};
use rustls::ClientConfig;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// What the driver tells a run.
#[derive(Clone)]
pub enum Input<'a> {
    /// Go.
    Begin,
    /// The connection that was asked for stands; for https with the configuration to speak TLS.
    Connected(Option<Arc<ClientConfig>>),
    /// There is no connection.
    ConnectFailed(ConnectFailure),
    /// There is no TLS configuration.
    TlsFailed(TlsFault),
    /// Bytes of the peer.
    Bytes(&'a [u8]),
    /// The peer sends no more.
    Eof,
    /// Reading failed.
    ReadFailed,
    /// So many bytes were written.
    Wrote(usize),
    /// Writing failed.
    WriteFailed,
    /// Nobody takes deltas right now (DEC-36): until [`Input::Resume`] silence is
    /// nobody's fault, and of all limits only that of the whole exchange runs on.
    Pause,
    /// Deltas are taken again.
    Resume,
    /// Time passed.
    Tick,
}

/// What a run asks for and tells.
#[derive(Clone, PartialEq)]
pub enum Output {
    /// Connect to this place.
    Connect(Target),
    /// Write these bytes, in order.
    Write(Vec<u8>),
    /// Try once to write what is queued, then close.
    Close,
    /// The answer goes on, by at most [`super::DELTA_BYTES`].
    Delta(Delta),
    /// A line for the operator, safe to show.
    Warn(String),
    /// The request ended; nothing follows.
    Done(ModelOutcome),
}

/// Where to connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Host name or address, without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Whether TLS is spoken.
    pub tls: bool,
    /// Further roots to trust, of the provider's entry.
    pub ca_file: Option<PathBuf>,
}

impl<'a> Input<'a> {
    /// What this means to the exchange under way, if it is about its socket.
    pub(super) const fn of_socket(&self) -> Option<http1::Input<'a>> {
        Some(match self {
            Self::Bytes(bytes) => http1::Input::Bytes(bytes),
            Self::Eof => http1::Input::Eof,
            Self::ReadFailed => http1::Input::ReadFailed,
            Self::Wrote(count) => http1::Input::Wrote(*count),
            Self::WriteFailed => http1::Input::WriteFailed,
            Self::Begin
            | Self::Connected(_)
            | Self::ConnectFailed(_)
            | Self::TlsFailed(_)
            | Self::Pause
            | Self::Resume
            | Self::Tick => return None,
        })
    }
}

/// A size instead of bytes: a peer may echo what must not be shown.
impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begin => f.write_str("Begin"),
            Self::Connected(tls) => write!(f, "Connected(tls: {})", tls.is_some()),
            Self::ConnectFailed(failure) => write!(f, "ConnectFailed({failure:?})"),
            Self::TlsFailed(fault) => write!(f, "TlsFailed({fault:?})"),
            Self::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
            Self::Eof => f.write_str("Eof"),
            Self::ReadFailed => f.write_str("ReadFailed"),
            Self::Wrote(count) => write!(f, "Wrote({count})"),
            Self::WriteFailed => f.write_str("WriteFailed"),
            Self::Pause => f.write_str("Pause"),
            Self::Resume => f.write_str("Resume"),
            Self::Tick => f.write_str("Tick"),
        }
    }
}

/// A size instead of written bytes: they may carry the credential.
impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(target) => f.debug_tuple("Connect").field(target).finish(),
            Self::Write(bytes) => write!(f, "Write({} bytes)", bytes.len()),
            Self::Close => f.write_str("Close"),
            Self::Delta(delta) => f.debug_tuple("Delta").field(delta).finish(),
            Self::Warn(text) => f.debug_tuple("Warn").field(text).finish(),
            Self::Done(outcome) => f.debug_tuple("Done").field(outcome).finish(),
        }
    }
}
