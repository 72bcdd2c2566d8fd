//! The wire, bytes in and records out, one module per area.

mod framing;
mod permission;
mod turns;
