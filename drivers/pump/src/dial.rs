//! What comes before a connection: a name's addresses and whom to trust.

use crate::contain::contained;
use crate::http1::ConnectFailure;
use crate::model::Target;
use crate::tls::{TlsFault, TrustStore};
use rustls::ClientConfig;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

/// How long one address has for itself before the next one is tried beside it.
pub const NEXT_ADDRESS: Duration = Duration::from_millis(250);

/// Where a target is, and for https how to speak TLS there.
#[derive(Clone, Debug)]
pub struct Place {
    /// Addresses to try, in order.
    pub addresses: Vec<SocketAddr>,
    /// The configuration to speak TLS with; for https alone.
    pub tls: Option<Arc<ClientConfig>>,
}

/// Why a target cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialFailure {
    /// There is no connection.
    Connect(ConnectFailure),
    /// There is no TLS configuration.
    Tls(TlsFault),
}

/// Loads the roots that the target needs and looks up its name. Blocks, so it
/// belongs on a thread that may.
///
/// # Errors
///
/// The first of the two that fails; a panic of either is
/// [`ConnectFailure::Other`].
pub fn resolve(target: &Target, trust: &TrustStore) -> Result<Place, DialFailure> {
    let panicked = Err(DialFailure::Connect(ConnectFailure::Other));
    contained(|| {
        let load = || trust.config(target.ca_file.as_deref());
        let tls = target
            .tls
            .then(load)
            .transpose()
            .map_err(DialFailure::Tls)?;
        let found = (target.host.as_str(), target.port).to_socket_addrs();
        match found {
            Ok(addresses) => Ok(Place {
                addresses: addresses.collect(),
                tls,
            }),
            Err(_) => Err(DialFailure::Connect(ConnectFailure::NameNotFound)),
        }
    })
    .unwrap_or(panicked)
}

/// What the operating system says of an attempt to connect.
#[must_use]
pub fn connect_failure(error: &io::Error) -> ConnectFailure {
    match error.kind() {
        ErrorKind::ConnectionRefused => ConnectFailure::Refused,
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => ConnectFailure::Unreachable,
        _ => ConnectFailure::Other,
    }
}
