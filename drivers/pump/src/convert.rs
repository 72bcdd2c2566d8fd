//! The exchange's failures in the adapters' words.

use crate::http1::{ConnectFailure, TransportFailure};
use crate::tls::TlsFault;
use agentx_providers::http::{self, FailureKind};

/// Faults on our side are `Local`: sending again would not help.
pub(crate) const fn failure(failure: TransportFailure) -> http::TransportFailure {
    let kind = match failure {
        TransportFailure::Request(_)
        | TransportFailure::Cancelled
        | TransportFailure::Tls(TlsFault::CaFile | TlsFault::NoRoots | TlsFault::ServerName) => {
            FailureKind::Local
        }
        TransportFailure::Connect(ConnectFailure::NameNotFound) => FailureKind::Resolve,
        TransportFailure::Connect(_) => FailureKind::Connect,
        TransportFailure::Tls(_) => FailureKind::Tls,
        TransportFailure::Timeout(_) => FailureKind::Timeout,
        TransportFailure::Cut(_) | TransportFailure::Write => FailureKind::Cut,
        TransportFailure::Answer(_) => FailureKind::Malformed,
    };
    http::TransportFailure {
        kind,
        text: failure.as_str(),
    }
}
