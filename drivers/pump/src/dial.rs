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

/// Connects to one of several addresses: they are tried in order, and the next
/// one does not wait for one that neither answers nor refuses. Whichever stands
/// first is taken; the driver drops the others then.
#[derive(Debug)]
pub struct Attempts {
    addresses: std::vec::IntoIter<SocketAddr>,
    under_way: usize,
    /// Whether the next address is due.
    due: bool,
    /// What is told if no attempt comes to anything.
    failure: ConnectFailure,
}

/// What is to be done next to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// Begin to connect to this address, beside what is under way.
    Begin(SocketAddr),
    /// Wait until an attempt ends, or for so long and then say
    /// [`Attempts::late`]; where no address is left there is no such time.
    Wait(Option<Duration>),
    /// Nothing is left to try.
    Failed(ConnectFailure),
}

impl Attempts {
    /// Nothing was tried yet.
    #[must_use]
    pub fn new(addresses: Vec<SocketAddr>) -> Self {
        Self {
            addresses: addresses.into_iter(),
            under_way: 0,
            due: true,
            failure: ConnectFailure::NameNotFound,
        }
    }

    /// What is to be done next.
    pub fn poll(&mut self) -> Attempt {
        if std::mem::take(&mut self.due)
            && let Some(address) = self.addresses.next()
        {
            self.under_way += 1;
            return Attempt::Begin(address);
        }
        if self.under_way == 0 {
            return Attempt::Failed(self.failure);
        }
        let more = !self.addresses.as_slice().is_empty();
        Attempt::Wait(more.then_some(NEXT_ADDRESS))
    }

    /// An attempt failed.
    pub fn failed(&mut self, error: &io::Error) {
        self.under_way = self.under_way.saturating_sub(1);
        self.failure = connect_failure(error);
        self.due = true;
    }

    /// The time is over that the attempts had for themselves.
    pub const fn late(&mut self) {
        self.due = true;
    }
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

    fn addresses(count: u8) -> Vec<SocketAddr> {
        let address = |n| SocketAddr::from(([127, 0, 0, n], 443));
        (1..=count).map(address).collect()
    }

    #[test]
    fn addresses_are_tried_one_after_the_other() {
        let list = addresses(3);
        let mut attempts = Attempts::new(list.clone());
        assert_eq!(attempts.poll(), Attempt::Begin(list[0]));
        assert_eq!(attempts.poll(), Attempt::Wait(Some(NEXT_ADDRESS)));
        // The first one is silent, so the second one joins it.
        attempts.late();
        assert_eq!(attempts.poll(), Attempt::Begin(list[1]));
        assert_eq!(attempts.poll(), Attempt::Wait(Some(NEXT_ADDRESS)));
        // A refusal makes room at once.
        attempts.failed(&ErrorKind::ConnectionRefused.into());
        assert_eq!(attempts.poll(), Attempt::Begin(list[2]));
        assert_eq!(attempts.poll(), Attempt::Wait(None), "none is left");
        attempts.failed(&ErrorKind::ConnectionRefused.into());
        assert_eq!(attempts.poll(), Attempt::Wait(None), "one may still stand");
        attempts.failed(&ErrorKind::HostUnreachable.into());
        let last = Attempt::Failed(ConnectFailure::Unreachable);
        assert_eq!(attempts.poll(), last);
        assert_eq!(attempts.poll(), last);
    }

    #[test]
    fn no_address_is_no_name() {
        let mut attempts = Attempts::new(Vec::new());
        let failure = Attempt::Failed(ConnectFailure::NameNotFound);
        assert_eq!(attempts.poll(), failure);
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
