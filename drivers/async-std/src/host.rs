//! A host client under async-std: starts an agent and speaks the other end of the
//! wire.
//!
//! ```no_run
//! use agentx_async_std::host::{Agent, Callbacks, Decision, start};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let callbacks = Callbacks::new().can_use_tool(|question| async move {
//!     Ok(match &*question.tool_name {
//!         "Bash" => Decision::allow(),
//!         tool => Decision::deny(format!("{tool} may not run here")),
//!     })
//! });
//! let client = start(Agent::agentx("agentx").cwd("/tmp"), callbacks)?;
//! let uuid = client.prompt("What is in this folder?").await?;
//! while let Some(record) = client.next().await {
//!     let record = record?;
//!     if record.is_end_of(&uuid) {
//!         client.close();
//!     }
//! }
//! println!("{}", client.wait().await);
//! # Ok(())
//! # }
//! ```
//!
//! Callbacks run as tasks of the runtime; one that the agent takes back is
//! cancelled. [`Client::records`] is a stream for the combinators of
//! `async_std::stream`. Threads of [`agentx_pump`] read and write.
//! `agentx_tokio::host` and `agentx_mio::host` have the same names.

pub use agentx_pump::host::{
    Agent, Body, BoxFuture, CALL_TIMEOUT, CALLBACKS, Call, Callbacks, CanUseTool, Client, Decision,
    Elicitation, Ended, Error, Failure, HookCallback, HookEvent, HookOn, Initialize, McpMessage,
    McpReply, OnFailure, OtherCall, Outbound, PermissionMode, PermissionUpdate, Prompt, RawJson,
    Record, Records, STDERR_LINE_BYTES, STDERR_LINES, UNREAD_BYTES, UNREAD_OVERHEAD_BYTES,
    UNWRITTEN_BYTES,
};

/// Drives a future to its end on this thread, which works for the runtime meanwhile.
pub use async_std::task::block_on;

use async_std::task;
use std::sync::Arc;

/// Starts an agent. Callbacks run on the runtime of the process.
///
/// # Errors
///
/// [`Error::NotFound`] and [`Error::NotStarted`]; nothing is left behind then.
pub fn start(agent: Agent, callbacks: Callbacks) -> Result<Client, Error> {
    let spawn = |callback| {
        let running = task::spawn(callback);
        let stop = move || drop(task::spawn(running.cancel()));
        Box::new(stop) as Box<dyn FnOnce() + Send>
    };
    agentx_pump::host::start(agent, callbacks, Arc::new(spawn))
}
