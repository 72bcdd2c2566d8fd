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

#[cfg(test)]
mod tests {
    use super::*;

    fn target(host: &str) -> Target {
        Target {
            host: host.to_owned(),
            port: 443,
            tls: false,
            ca_file: None,
        }
    }

    #[test]
    fn an_address_is_its_own_place() {
        let trust = TrustStore::new();
        for host in ["127.0.0.1", "::1"] {
            let place = resolve(&target(host), &trust).unwrap();
            let found: Vec<_> = place.addresses.iter().map(|a| a.ip().to_string()).collect();
            assert_eq!(found, [host]);
            assert!(place.tls.is_none());
        }
    }

    #[test]
    fn what_is_missing_is_told() {
        let trust = TrustStore::new();
        let nowhere = resolve(&target("nowhere.invalid"), &trust).map(drop);
        let expected = DialFailure::Connect(ConnectFailure::NameNotFound);
        assert_eq!(nowhere, Err(expected));
        let untrusted = Target {
            tls: true,
            ca_file: Some("/nonexistent/ca.pem".into()),
            ..target("127.0.0.1")
        };
        let failure = resolve(&untrusted, &trust).map(drop);
        assert_eq!(failure, Err(DialFailure::Tls(TlsFault::CaFile)));
    }

    #[test]
    fn refusals_are_told_apart() {
        for (kind, failure) in [
            (ErrorKind::ConnectionRefused, ConnectFailure::Refused),
            (ErrorKind::HostUnreachable, ConnectFailure::Unreachable),
            (ErrorKind::NetworkUnreachable, ConnectFailure::Unreachable),
            (ErrorKind::PermissionDenied, ConnectFailure::Other),
        ] {
            assert_eq!(connect_failure(&kind.into()), failure);
        }
    }
}
