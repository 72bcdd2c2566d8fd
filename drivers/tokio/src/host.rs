//! A host client under tokio: starts an agent and speaks the other end of the
//! wire.
//!
//! ```no_run
//! use agentx_tokio::host::{Agent, Callbacks, Decision, start};
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
//! aborted. Threads of [`agentx_pump`] read and write, so the runtime needs
//! neither IO nor time. `agentx_async_std::host` and `agentx_mio::host` have the
//! same names.

pub use agentx_pump::host::{
    Agent, Body, BoxFuture, CALL_TIMEOUT, CALLBACKS, Call, Callbacks, CanUseTool, Client, Decision,
    Elicitation, Ended, Error, Failure, HookCallback, HookEvent, HookOn, Initialize, McpMessage,
    McpReply, OnFailure, OtherCall, Outbound, PermissionMode, PermissionUpdate, Prompt, RawJson,
    Record, Records, STDERR_LINE_BYTES, STDERR_LINES, UNREAD_BYTES, UNREAD_OVERHEAD_BYTES,
    UNWRITTEN_BYTES,
};

use std::sync::Arc;
use tokio::runtime::Handle;

/// Starts an agent. Callbacks run on the runtime that this is called in.
///
/// # Errors
///
/// [`Error::NotFound`] and [`Error::NotStarted`]; nothing is left behind then.
///
/// # Panics
///
/// Outside of a runtime, as [`tokio::spawn`] does.
pub fn start(agent: Agent, callbacks: Callbacks) -> Result<Client, Error> {
    let runtime = Handle::current();
    let spawn = move |task| {
        let task = runtime.spawn(task).abort_handle();
        Box::new(move || task.abort()) as Box<dyn FnOnce() + Send>
    };
    agentx_pump::host::start(agent, callbacks, Arc::new(spawn))
}

/// The code of these documents, compiled.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../docs/hosts.md")]
    struct Hosts;
    #[doc = include_str!("../../../README.md")]
    struct Readme;
}
