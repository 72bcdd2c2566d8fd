//! Requests to servers on this machine, over real sockets.

mod plain;
mod support;
mod tls;
