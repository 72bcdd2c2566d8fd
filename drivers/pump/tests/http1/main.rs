//! The exchange in memory: no socket, no sleep, times and cuts by hand.

mod deadlines;
mod framing;
mod heads;
mod laws;
mod phases;
mod requests;
mod sending;
mod session;
mod support;
mod tls;
mod tls_faults;
mod trust;
