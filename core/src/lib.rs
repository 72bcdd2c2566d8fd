//! The pure state machines of AgentX.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::wildcard_enum_match_arm
    )
)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod agent;
pub mod agent_loop;
pub mod correlate;
pub mod effect;
pub mod frame;
pub mod guard;
pub mod ids;
pub mod json;
pub mod limits;
pub mod link;
pub mod machine;
pub mod model;
pub mod policy;
pub mod schema;
pub mod time;
pub mod tool;
