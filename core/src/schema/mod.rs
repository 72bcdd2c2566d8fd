//! The wire's records as closed types.
//!
//! [`inbound`] turns one scanned line into an owned record or a refusal;
//! [`permission`] reads a host's answer to a permission question; [`outbound`]
//! writes every record the agent sends. The other end of the wire has [`host`],
//! which writes what a host sends, and [`received`], which reads what it gets. Parsing happens once, here: what comes
//! out cannot be wrong in shape any more. Output types are declared with the
//! macros of [`declare`]; [`describe`] tells their JSON Schema.

pub mod declare;
pub mod describe;
pub(crate) mod grammar;
pub mod host;
pub mod inbound;
mod number;
pub mod outbound;
pub mod payload;
pub mod permission;
pub mod received;

pub use number::{Fraction, Money};
