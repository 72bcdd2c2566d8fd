//! Why an exchange failed: closed kinds with fixed texts.
//!
//! No kind carries a byte of the peer, of the request or of a credential, so
//! every one of them can be shown and logged.

use crate::tls::TlsFault;
use std::error::Error;
use std::fmt;

/// Why an exchange gave no complete answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportFailure {
    /// The request cannot be sent as it stands.
    Request(RequestFault),
    /// No connection.
    Connect(ConnectFailure),
    /// No trusted channel.
    Tls(TlsFault),
    /// A limit in time passed.
    Timeout(Phase),
    /// The connection ended before the answer did.
    Cut(CutAt),
    /// Writing failed, and no answer had come before.
    Write,
    /// The answer breaks HTTP/1.1 or a limit.
    Answer(AnswerFault),
    /// The caller cancelled.
    Cancelled,
}

/// Why no connection came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectFailure {
    /// The name has no address, or the lookup failed.
    NameNotFound,
    /// Every address refused.
    Refused,
    /// No route to any address.
    Unreachable,
    /// Another failure of the operating system.
    Other,
}

/// What an exchange was doing when its time was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Looking up the name and connecting.
    Connect,
    /// The TLS handshake.
    Handshake,
    /// Sending the request and waiting for the head of the answer.
    Head,
    /// Reading the body.
    Body,
    /// Any of these: the limit of the whole exchange passed.
    Total,
}

/// Where the connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutAt {
    /// In the TLS handshake.
    Handshake,
    /// Before the first byte of an answer.
    Answer,
    /// Inside the head, or after interim heads only.
    Head,
    /// Inside the body.
    Body,
}

/// Why a request cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFault {
    /// The method is no token, or is CONNECT.
    Method,
    /// The host is empty or has a character no host has.
    Host,
    /// The path does not start with `/` or has a character no path has.
    Path,
    /// A field name is no token.
    FieldName,
    /// A field value has a control character, such as CR, LF or NUL.
    FieldValue,
    /// A field that only the exchange may write.
    ReservedField,
    /// There is a slot for a credential, and none to fill it.
    CredentialMissing,
    /// The credential has a character no field value has.
    CredentialValue,
    /// The head is longer than [`super::MAX_REQUEST_HEAD_BYTES`].
    HeadTooLarge,
    /// `https` without a TLS configuration.
    TlsMissing,
}

/// What is wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerFault {
    /// It does not begin as HTTP/1.x does.
    NotHttp,
    /// The status line is malformed.
    StatusLine,
    /// A line of the head does not end with CR LF.
    LineEnd,
    /// A header field is malformed.
    Field,
    /// More than [`super::codec::MAX_FIELDS`] fields.
    TooManyFields,
    /// The head is over its limit in bytes.
    HeadTooLarge,
    /// Too many interim heads.
    TooManyInterim,
    /// The peer switches protocols, which nobody asked for.
    Upgrade,
    /// `content-length` is no number, or there are two different ones.
    ContentLength,
    /// `transfer-encoding` is not exactly `chunked`.
    TransferEncoding,
    /// Both a length and a transfer coding.
    TwoFramings,
    /// A chunk size is malformed or too large.
    ChunkSize,
    /// A chunk extension is malformed or over its limit.
    ChunkExtension,
    /// A chunk is not closed by CR LF.
    ChunkEnd,
    /// The trailer is malformed or over its limit.
    Trailer,
    /// The body is over its limit in bytes.
    BodyTooLarge,
}

impl TransportFailure {
    /// What happened, as a fixed text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Request(fault) => fault.as_str(),
            Self::Connect(failure) => failure.as_str(),
            Self::Tls(fault) => fault.as_str(),
            Self::Timeout(phase) => phase.as_str(),
            Self::Cut(at) => at.as_str(),
            Self::Write => "the connection failed while the request was sent",
            Self::Answer(fault) => fault.as_str(),
            Self::Cancelled => "the request was cancelled",
        }
    }
}

impl ConnectFailure {
    const fn as_str(self) -> &'static str {
        match self {
            Self::NameNotFound => "the host name could not be resolved",
            Self::Refused => "the connection was refused",
            Self::Unreachable => "the host is unreachable",
            Self::Other => "the connection failed",
        }
    }
}

impl Phase {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "timed out while connecting",
            Self::Handshake => "timed out in the TLS handshake",
            Self::Head => "timed out waiting for an answer",
            Self::Body => "timed out: the answer stopped coming",
            Self::Total => "timed out: the request took too long altogether",
        }
    }
}

impl CutAt {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Handshake => "the connection was closed in the TLS handshake",
            Self::Answer => "the connection was closed before an answer came",
            Self::Head => "the connection was closed inside the head of the answer",
            Self::Body => "the connection was closed inside the body of the answer",
        }
    }
}

impl RequestFault {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Method => "the request has an invalid method",
            Self::Host => "the request has an invalid host",
            Self::Path => "the request has an invalid path",
            Self::FieldName => "the request has an invalid header name",
            Self::FieldValue => "the request has an invalid header value",
            Self::ReservedField => "the request sets a header that is written for it",
            Self::CredentialMissing => "the request needs a credential and there is none",
            Self::CredentialValue => "the credential has a character no header can carry",
            Self::HeadTooLarge => "the head of the request is too large",
            Self::TlsMissing => "the request needs TLS and there is no configuration for it",
        }
    }
}

impl AnswerFault {
    const fn as_str(self) -> &'static str {
        match self {
            Self::NotHttp => "the answer is not HTTP/1.1",
            Self::StatusLine => "the answer has a malformed status line",
            Self::LineEnd => "the answer has a header line that does not end with CR LF",
            Self::Field => "the answer has a malformed header",
            Self::TooManyFields => "the answer has too many headers",
            Self::HeadTooLarge => "the head of the answer is too large",
            Self::TooManyInterim => "the answer has too many interim heads",
            Self::Upgrade => "the answer switches to another protocol",
            Self::ContentLength => "the answer has an invalid content-length",
            Self::TransferEncoding => "the answer has an unknown transfer-encoding",
            Self::TwoFramings => "the answer has both content-length and transfer-encoding",
            Self::ChunkSize => "the answer has an invalid chunk size",
            Self::ChunkExtension => "the answer has an invalid chunk extension",
            Self::ChunkEnd => "the answer has a chunk that does not end where it should",
            Self::Trailer => "the answer has an invalid trailer",
            Self::BodyTooLarge => "the body of the answer is too large",
        }
    }
}

impl fmt::Display for TransportFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Error for TransportFailure {}

impl From<RequestFault> for TransportFailure {
    fn from(fault: RequestFault) -> Self {
        Self::Request(fault)
    }
}

impl From<TlsFault> for TransportFailure {
    fn from(fault: TlsFault) -> Self {
        Self::Tls(fault)
    }
}
