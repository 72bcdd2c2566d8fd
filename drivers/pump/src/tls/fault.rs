//! Why there is no trusted channel.

use rustls::{AlertDescription, CertificateError, Error};
use std::fmt;

/// What is wrong, as a closed kind: rustls's own texts may quote the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsFault {
    /// The system trusts no root, and no `ca_file` adds one.
    NoRoots,
    /// The entry's `ca_file` is no readable PEM file with a certificate in it.
    CaFile,
    /// The host is neither a name nor an address that a certificate can have.
    ServerName,
    /// The certificate leads to no trusted root, or is malformed or revoked.
    Untrusted,
    /// The certificate is for another host.
    WrongName,
    /// The certificate is expired or not valid yet.
    NotValidNow,
    /// The peer does not offer HTTP/1.1.
    NoHttp1,
    /// The peer ended the connection with an alert.
    Alert,
    /// The peer broke the protocol, or shares no version or cipher with us.
    Protocol,
}

impl TlsFault {
    /// What happened, as a fixed text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoRoots => "TLS: the system has no usable root certificate",
            Self::CaFile => "TLS: the ca_file cannot be read or holds no certificate",
            Self::ServerName => "TLS: the host is no valid server name",
            Self::Untrusted => "TLS: the server's certificate is not trusted",
            Self::WrongName => "TLS: the server's certificate is for another host",
            Self::NotValidNow => "TLS: the server's certificate is expired or not valid yet",
            Self::NoHttp1 => "TLS: the server does not offer HTTP/1.1",
            Self::Alert => "TLS: the server refused the connection",
            Self::Protocol => "TLS: the server broke the protocol or shares no parameters with us",
        }
    }
}

impl From<&Error> for TlsFault {
    fn from(error: &Error) -> Self {
        match error {
            Error::InvalidCertificate(error) => match error {
                CertificateError::NotValidForName
                | CertificateError::NotValidForNameContext { .. } => Self::WrongName,
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. } => Self::NotValidNow,
                _ => Self::Untrusted,
            },
            Error::NoApplicationProtocol
            | Error::AlertReceived(AlertDescription::NoApplicationProtocol) => Self::NoHttp1,
            Error::AlertReceived(_) => Self::Alert,
            _ => Self::Protocol,
        }
    }
}

impl fmt::Display for TlsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::error::Error for TlsFault {}
