//! Every bound of the adapters, by name.

use std::time::Duration;

/// Bytes of one line of an event stream.
pub const SSE_LINE_BYTES: usize = 8 << 20;

/// Bytes of the data of one event, its lines joined.
pub const SSE_EVENT_BYTES: usize = 8 << 20;

/// Bytes of text, reasoning and call arguments in one answer.
pub const ANSWER_BYTES: usize = 64 << 20;

/// Tool calls in one answer, and blocks of it that are open at once.
pub const ANSWER_CALLS: usize = 1024;

/// Output items of one answer in the Responses API.
pub const ANSWER_ITEMS: usize = 1024;

/// Bytes of a message or call id that are taken from a provider.
pub const ID_BYTES: usize = 512;

/// Characters of a call's name that every API takes back.
pub const TOOL_NAME_CHARS: usize = 64;

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

/// Bytes of `auth.json`.
pub const REGISTRY_BYTES: usize = 65_536;

/// Entries of `auth.json`.
pub const REGISTRY_ENTRIES: usize = 32;

/// Bytes of a provider id.
pub const PROVIDER_ID_BYTES: usize = 64;

/// Bytes of a model or deployment name.
pub const NAME_BYTES: usize = 256;

/// Bytes of an `api_version`.
pub const API_VERSION_BYTES: usize = 128;

/// Bytes of an endpoint or base URL.
pub const URL_BYTES: usize = 2048;

/// Least bytes of a key or of a routing value that the guard looks for; a
/// shorter text would be found everywhere (DEC-30).
pub const GUARDED_BYTES: usize = 8;

/// Most bytes of a key.
pub const KEY_BYTES: usize = 16 << 10;

/// Bytes of the name of a script file.
pub const FILE_NAME_BYTES: usize = 255;

/// Bytes of a path.
pub const PATH_BYTES: usize = 4096;

/// Tokens of a window or an answer when the entry does not say.
pub const DEFAULT_TOKENS: u64 = 128_000;

/// Tokens that an answer of the Messages API may have when the entry does not
/// say. The API wants a bound in every request and refuses one above the
/// model's own; this one is within those of all models since Claude 4.
pub const MESSAGES_TOKENS: u64 = 32_000;

/// Most tokens that an entry may declare.
pub const DECLARED_TOKENS: u64 = 1_000_000_000;

/// Highest price, in 10^-12 USD per token: one dollar.
pub const PRICE_PER_TOKEN: u64 = 1_000_000_000_000;

// A whole event must fit where a whole line does.
const _: () = assert!(SSE_LINE_BYTES <= SSE_EVENT_BYTES);
const _: () = assert!(ENCODE_STEP_BYTES <= REQUEST_BYTES);
