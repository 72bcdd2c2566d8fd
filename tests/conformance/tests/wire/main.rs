//! The wire, bytes in and records out, one module per area.

mod callbacks;
mod endings;
mod framing;
mod interrupt;
mod permission;
mod turns;
