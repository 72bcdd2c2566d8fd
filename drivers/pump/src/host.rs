//! The runtime-free half of a host client: an agent's process, the host session
//! over its pipes, and the answers of callbacks.
//!
//! A driver adds what runs callbacks ([`Spawn`]) and its own way to wait. The
//! futures here need a waker and nothing else, so they are awaited under any
//! runtime, and [`wait`] drives one without any.
//!
//! A client has five threads: the loop, one for each of stdin, stdout and stderr,
//! and one that waits for the process.

mod agent;
mod callbacks;
mod calls;
mod client;
mod engine;
mod error;
mod mailbox;
mod news;
mod process;
mod requests;
mod slot;
mod tail;
mod task;
#[cfg(test)]
mod tests;

pub use agent::{Agent, CALL_TIMEOUT};
pub use agentx_core::hook::HookEvent;
pub use agentx_core::json::RawJson;
pub use agentx_core::mcp::McpReply;
pub use agentx_core::schema::host::{Call, Decision, Initialize, OnFailure, OtherCall, Prompt};
pub use agentx_core::schema::outbound::{
    CanUseTool, Elicitation, HookCallback, McpMessage, Outbound,
};
pub use agentx_core::schema::permission::{PermissionMode, PermissionUpdate};
pub use agentx_core::schema::received::{AgentRecord as Record, Body};
pub use callbacks::{Callbacks, HookOn};
pub use client::{Client, Records, start};
pub use engine::UNWRITTEN_BYTES;
pub use error::{Ended, Error};
pub use mailbox::wait;
pub use news::{UNREAD_BYTES, UNREAD_OVERHEAD_BYTES};
pub use tail::{STDERR_LINE_BYTES, STDERR_LINES};
pub use task::{BoxFuture, Failure, Spawn, Stop, threads};

/// Callbacks that run at once; a further request of the agent is refused.
pub const CALLBACKS: usize = 256;
