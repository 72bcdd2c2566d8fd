//! Every bound of the adapters, by name.

use std::time::Duration;

/// Bytes of one line of an event stream.
pub const SSE_LINE_BYTES: usize = 8 << 20;

/// Bytes of the data of one event, its lines joined.
pub const SSE_EVENT_BYTES: usize = 8 << 20;

/// Bytes of text, reasoning and call arguments in one answer.
pub const ANSWER_BYTES: usize = 64 << 20;

/// Tool calls in one answer.
pub const ANSWER_CALLS: usize = 1024;

/// Bytes of a message or call id that are taken from a provider.
pub const ID_BYTES: usize = 512;

/// Bytes of the body of an HTTP error that are read.
pub const ERROR_BODY_BYTES: usize = 16 << 10;

/// Characters of a provider's own message that are passed on.
pub const ERROR_EXCERPT_CHARS: usize = 500;

/// Bytes of a request body.
pub const REQUEST_BYTES: usize = 67_108_864;

/// Bytes of a request body that are encoded in one step, give or take one
/// message (DEC-28).
pub const ENCODE_STEP_BYTES: usize = 256 << 10;

/// Attempts of one request, the first included.
pub const ATTEMPTS: u32 = 4;

/// Upper bound of the first wait between attempts; doubles with each one.
pub const BACKOFF_BASE: Duration = Duration::from_secs(1);

/// Upper bound of every such wait.
pub const BACKOFF_CAP: Duration = Duration::from_secs(16);

/// Longest wait that a server may ask for. One that asks for more is not
/// asked again.
pub const RETRY_AFTER: Duration = Duration::from_secs(60);

/// Time without a single delta after which an answer is given up. Pings do not
/// count; a large model on a small machine may think for minutes.
pub const DELTA_IDLE: Duration = Duration::from_secs(600);

// A whole event must fit where a whole line does.
const _: () = assert!(SSE_LINE_BYTES <= SSE_EVENT_BYTES);
const _: () = assert!(ENCODE_STEP_BYTES <= REQUEST_BYTES);
