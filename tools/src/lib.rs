//! Blocking, cancellable tool bodies of AgentX.
//!
//! [`builtin_specs`] and [`CommandTools::specs`] are what the model is told, [`Toolbox::run`] what runs on a
//! pool thread for one call, [`Toolbox::run_task`] for one that is a background task, and [`CancelToken`] what ends it early. A body
//! never panics on what a model, a file or the system gives it: every fault is
//! a [`ToolOutcome`](agentx_core::tool::ToolOutcome) that says what and where.
//!
//! ```
//! use agentx_core::json::RawJson;
//! use agentx_core::tool::{Access, ToolCall, ToolRequest};
//! use agentx_tools::{CancelToken, Toolbox, ToolboxConfig};
//! use std::collections::BTreeMap;
//!
//! let toolbox = Toolbox::new(ToolboxConfig::new("/nonexistent/home", BTreeMap::new()));
//! let request = ToolRequest {
//!     call: ToolCall {
//!         id: "toolu_1".into(),
//!         name: "CurrentTime".into(),
//!         input: RawJson::empty_object(),
//!     },
//!     access: Access::WorkingDirectories,
//!     directories: vec!["/tmp".to_owned()].into(),
//!     environment: Default::default(),
//!     bookkeeping: Default::default(),
//! };
//! assert!(!toolbox.run(&request, &CancelToken::new()).is_error);
//! ```
#![forbid(unsafe_code)]

mod body;
mod cancel;
mod change;
mod checkpoint;
mod command;
mod count;
mod environment;
mod folder;
mod hook;
mod ignore;
mod input;
mod limits;
mod matcher;
mod network;
mod place;
pub mod process;
mod replace;
mod rewind;
mod seen;
mod spec;
mod stop;
mod task;
#[cfg(test)]
mod testing;
mod text;
mod toolbox;
mod walk;

pub use cancel::CancelToken;
pub use command::{CommandFault, CommandTool, CommandTools};
pub use hook::{HookCommand, HookCommands};
pub use limits::{CheckpointLimits, EndingLimits, ToolLimits};
pub use matcher::resolve_matcher;
pub use network::{Network, NetworkAnswers};
pub use spec::builtin_specs;
pub use task::TaskHooks;
pub use text::Capture;
pub use toolbox::{Toolbox, ToolboxConfig};
