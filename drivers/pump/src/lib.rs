//! The runtime-free half of every AgentX driver.
//!
//! A driver waits; everything it waits for, and everything it does in between,
//! is here. Plain state: the HTTP/1.1 exchange with a model's endpoint
//! ([`http1`]), the TLS layer under it ([`tls`]), one model request from start
//! to end ([`model`]) beside its socket ([`drive`], [`dial`], [`lookup`]), the queue between
//! a session and a descriptor ([`queue`]). Threads that no runtime replaces: stdin, stdout and stderr
//! ([`stdio`]), tools ([`pool`]), signals ([`signals`]), the session store, values against their schema ([`schema`]). And the loop body that
//! ties them to a session ([`pump`]), on a clock that is an argument ([`clock`]).
#![forbid(unsafe_code)]

pub mod clock;
mod contain;
mod convert;
pub mod dial;
pub mod drive;
pub mod host;
pub mod http1;
mod keeper;
pub mod lookup;
pub mod model;
pub mod pool;
pub mod pump;
pub mod queue;
pub mod schema;
pub mod signals;
pub mod stdio;
pub mod terminal;
pub mod tls;
pub mod world;
