//! What an exchange is told and what it says.

use super::super::failure::{ConnectFailure, TransportFailure};
use std::fmt;

/// What the transport did, or the caller wants.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Input<'a> {
    /// The TCP connection stands.
    Connected,
    /// There is none; the driver tried every address.
    ConnectFailed(ConnectFailure),
    /// Bytes were read.
    Bytes(&'a [u8]),
    /// The peer closed its side in order.
    Eof,
    /// Reading failed, as after a reset.
    ReadFailed,
    /// So many bytes of the handed out writes were written since the last report.
    Wrote(usize),
    /// Writing failed for good. Reading goes on until the peer's end shows.
    WriteFailed,
    /// Reading is paused on our side (DEC-36): silence is nobody's fault until
    /// [`Input::Resume`]; only the total limit runs on.
    Pause,
    /// Reading goes on.
    Resume,
    /// The deadline may have come.
    Tick,
    /// The answer is not wanted any more.
    Cancel,
}

/// What the driver or the decoder is to do. Exactly one `Done` or `Failed`
/// comes, last.
#[derive(Clone, PartialEq, Eq)]
pub enum Output {
    /// Bytes for the transport, in order.
    Write(Vec<u8>),
    /// The final head; names are in lower case.
    Head {
        /// Status, 200 to 999.
        status: u16,
        /// Fields in order.
        headers: Vec<(String, String)>,
    },
    /// More of the body, decoded from its framing; never empty.
    Body(Vec<u8>),
    /// The answer is complete.
    Done,
    /// There is no complete answer.
    Failed(TransportFailure),
}

/// A size instead of bytes: a peer may echo what must not be shown.
impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connected => f.write_str("Connected"),
            Self::ConnectFailed(failure) => write!(f, "ConnectFailed({failure:?})"),
            Self::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
            Self::Eof => f.write_str("Eof"),
            Self::ReadFailed => f.write_str("ReadFailed"),
            Self::Wrote(count) => write!(f, "Wrote({count})"),
            Self::WriteFailed => f.write_str("WriteFailed"),
            Self::Pause => f.write_str("Pause"),
            Self::Resume => f.write_str("Resume"),
            Self::Tick => f.write_str("Tick"),
            Self::Cancel => f.write_str("Cancel"),
        }
    }
}

/// Sizes instead of bytes: a write may carry the credential.
impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(bytes) => write!(f, "Write({} bytes)", bytes.len()),
            Self::Head { status, headers } => {
                write!(f, "Head({status}, {} fields)", headers.len())
            }
            Self::Body(bytes) => write!(f, "Body({} bytes)", bytes.len()),
            Self::Done => f.write_str("Done"),
            Self::Failed(failure) => write!(f, "Failed({failure:?})"),
        }
    }
}
