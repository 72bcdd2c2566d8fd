//! One HTTP/1.1 request and its answer, without IO.
//!
//! Three layers, each replaceable: the transformer ([`crate::tls`]) turns
//! transport bytes into plaintext and back, the [`codec`] turns plaintext into
//! a head and body bytes, and the [`Exchange`] is the machine over both, with
//! the phases, the limits and the one deadline.
//!
//! What it does not do: redirects (a 3xx is a head like any other), `Expect`,
//! chunked requests, content codings (it asks for `identity`), upgrades, HTTP/2
//! (ALPN offers `http/1.1` alone, so an endpoint that speaks only HTTP/2 fails)
//! and proxies. Each exchange has a connection of its own and asks the peer to
//! close it; there is no pool yet.

pub mod codec;
mod exchange;
mod failure;
mod limits;
mod request;

pub use exchange::{Exchange, Input, Output, SEND_STEP_BYTES};
pub use failure::{AnswerFault, ConnectFailure, CutAt, Phase, RequestFault, TransportFailure};
pub use limits::Limits;
pub use request::MAX_REQUEST_HEAD_BYTES;
