//! Model API adapters of AgentX, without IO.
//!
//! A [`provider::Provider`] is made from one entry of the
//! [`registry::Registry`]. Each model request becomes a [`call::Call`]: a
//! machine that says which HTTP request to send, is fed what came back and
//! gives the deltas of the answer. Sockets, the clock and the key stay with
//! the driver.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic
    )
)]

mod adapter;
mod body;
pub mod call;
mod chat;
mod failure;
pub mod http;
mod http_date;
pub mod limits;
mod messages;
pub mod provider;
pub mod registry;
mod responses;
pub mod retry;
mod scripted;
pub mod sse;
mod stream;
mod text;
