//! The limits of one exchange, by name.

use std::time::Duration;

/// What an exchange may take, in time and in bytes.
///
/// The spans are starts of judgement, not promises: a phase ends when nothing
/// progressed for its span, the whole exchange when `total` is over. Progress
/// is a change of phase, request bytes written before the answer's head, and
/// plaintext received; TLS records that carry none are no progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Name lookup and TCP connection together. Default 30 s.
    pub connect: Duration,
    /// The whole TLS handshake. Default 30 s.
    pub handshake: Duration,
    /// Waiting for the head of the answer. Default 10 min, since a model may
    /// think that long before its first byte.
    pub head: Duration,
    /// Silence inside the body. Default 5 min; endpoints that stream send a
    /// sign of life far more often.
    pub idle: Duration,
    /// Waiting for an answer that came before a failed write. Default 5 s.
    pub after_write_failure: Duration,
    /// The whole exchange, so that a drip which passes every other limit ends.
    /// Default 60 min.
    pub total: Duration,
    /// One head of the answer, its blank line included. Default 64 KiB. The
    /// number of its fields is bounded by [`super::codec::MAX_FIELDS`].
    pub head_bytes: usize,
    /// Interim (1xx) heads before the final one. Default 8.
    pub interim_heads: u32,
    /// Padding and extension of one chunk size. Default 1 KiB.
    pub chunk_extension_bytes: usize,
    /// Trailer fields after the last chunk, all together. Default 16 KiB.
    pub trailer_bytes: usize,
    /// The body of the answer. Default 256 MiB: bodies are passed on, not kept.
    pub body_bytes: u64,
}

impl Limits {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        connect: Duration::from_secs(30),
        handshake: Duration::from_secs(30),
        head: Duration::from_secs(10 * 60),
        idle: Duration::from_secs(5 * 60),
        after_write_failure: Duration::from_secs(5),
        total: Duration::from_secs(60 * 60),
        head_bytes: 64 * 1024,
        interim_heads: 8,
        chunk_extension_bytes: 1024,
        trailer_bytes: 16 * 1024,
        body_bytes: 256 * 1024 * 1024,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
