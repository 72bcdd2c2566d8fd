//! The wire, bytes in and records out, one module per area.

mod callbacks;
mod controls;
mod corpus;
mod determinism;
mod endings;
mod framing;
mod hooks;
mod interrupt;
mod money;
mod names;
mod ordering;
mod output;
mod partial;
mod permission;
mod queue;
mod race;
mod records;
mod scenarios;
mod schema;
mod settings;
mod store;
mod structured;
mod tasks;
mod tools;
mod turns;
mod walk;
