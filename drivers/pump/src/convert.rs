//! Between the adapters' words for HTTP and the exchange's.

use crate::http1::{AuthSlot, Request, Scheme, TransportFailure};
use crate::tls::TlsFault;
use agentx_providers::http::{self, FailureKind, HttpRequest};

pub(crate) fn request(request: HttpRequest) -> Request {
    Request {
        method: request.method,
        scheme: match request.scheme {
            http::Scheme::Http => Scheme::Http,
            http::Scheme::Https => Scheme::Https,
        },
        host: request.host,
        port: request.port,
        path_and_query: request.path_and_query,
        headers: request.headers,
        auth: request.auth.map(|slot| AuthSlot {
            header: slot.header,
            prefix: slot.prefix,
        }),
        body: request.body,
        ca_file: request.ca_file,
    }
}

/// Faults on our side are `Local`: sending again would not help.
pub(crate) const fn failure(failure: TransportFailure) -> http::TransportFailure {
    use crate::http1::ConnectFailure;
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
