//! The wire, bytes in and records out, one module per area.

mod callbacks;
mod controls;
mod endings;
mod framing;
mod interrupt;
mod names;
mod permission;
mod queue;
mod tools;
mod turns;
