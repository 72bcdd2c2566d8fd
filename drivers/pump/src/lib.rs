//! The runtime-free half of every AgentX driver.
//!
//! Nothing here waits: sockets, timers and threads are a driver's. What both
//! sides of a driver need is here as plain state: the HTTP/1.1 exchange with a
//! model's endpoint ([`http1`]), the TLS layer under it ([`tls`]) and the queue
//! between a machine's output and a descriptor ([`queue`]).
#![forbid(unsafe_code)]

pub mod http1;
pub mod queue;
mod secret;
pub mod tls;

pub use secret::Secret;
