//! HTTP as the adapters see it: one request out, events in.
//!
//! An adapter never sees a key. It names the header that carries it with an
//! [`AuthSlot`], and the driver fills that in from the registry.

pub(crate) mod azure;
mod url;

pub use url::{BaseUrl, UrlFault};

use std::fmt;
use std::sync::Arc;

/// One request, complete but for the key and the framing headers.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method, in capitals.
    pub method: &'static str,
    /// Plain or TLS.
    pub scheme: Scheme,
    /// Name or address of the server; an IPv6 address stands without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Request target: an absolute path, with the query if there is one.
    pub path_and_query: String,
    /// Further headers, names in lower case. `host`, `content-length`,
    /// `connection` and the key are the driver's to add.
    pub headers: Vec<(String, String)>,
    /// Where the key goes; `None` when the provider wants none.
    pub auth: Option<AuthSlot>,
    /// The body. Attempts of one call share it.
    pub body: Arc<Vec<u8>>,
    /// Path of further trusted certificates, from the entry's `ca_file`.
    pub ca_file: Option<String>,
}

impl HttpRequest {
    /// Value of the `host` header: brackets around IPv6, the port where it is
    /// not the scheme's own.
    #[must_use]
    pub fn authority(&self) -> String {
        authority(self.scheme, &self.host, self.port)
    }
}

/// Names and sizes: header values, the query and the body are the caller's own.
impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path_and_query.split('?').next().unwrap_or_default();
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("scheme", &self.scheme)
            .field("host", &self.host)
            .field("port", &self.port)
            .field("path", &path)
            .field("headers", &names)
            .field("auth", &self.auth)
            .field("body_bytes", &self.body.len())
            .field("ca_file", &self.ca_file)
            .finish_non_exhaustive()
    }
}

fn authority(scheme: Scheme, host: &str, port: u16) -> String {
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host.to_owned()
    };
    if port == scheme.default_port() {
        host
    } else {
        format!("{host}:{port}")
    }
}

/// URL scheme of a model API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Plain text, for loopback addresses only.
    Http,
    /// TLS.
    Https,
}

impl Scheme {
    /// The port used when the URL names none.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Http => "http",
            Self::Https => "https",
        })
    }
}

/// The header that carries the key: its value is `prefix` followed by the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthSlot {
    /// Header name in lower case.
    pub header: &'static str,
    /// What stands before the key, such as `Bearer `.
    pub prefix: &'static str,
}

/// What the transport tells about the running exchange, in this order: one
/// `Head`, any number of `Body`, then `End` or `Failed`. `Failed` may come at
/// any point and is the last event.
#[derive(Clone, Copy, Debug)]
pub enum HttpEvent<'a> {
    /// The head of the final answer.
    Head {
        /// Status code.
        status: u16,
        /// Header fields in order of arrival; names in any case.
        headers: &'a [(String, String)],
    },
    /// Some bytes of the body, without transfer coding.
    Body(&'a [u8]),
    /// The body is complete as its framing says. An answer delimited by the
    /// close of the connection ends here too.
    End,
    /// The exchange broke.
    Failed(TransportFailure),
}

/// Why an exchange broke. Holds nothing that a peer or user wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransportFailure {
    /// What kind of fault it was; decides about another attempt.
    pub kind: FailureKind,
    /// The same for people, in our words.
    pub text: &'static str,
}

/// Kinds of transport fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The name of the server could not be resolved.
    Resolve,
    /// No connection came about.
    Connect,
    /// TLS could not be set up, such as an unknown certificate authority.
    Tls,
    /// The transport made no progress within its limit.
    Timeout,
    /// The connection ended before the answer was complete.
    Cut,
    /// The answer was no HTTP, or broke a limit of the transport.
    Malformed,
    /// Something on our side, such as a `ca_file` that cannot be read.
    Local,
}
