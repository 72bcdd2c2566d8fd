mod agent;
mod error;
mod mailbox;
mod process;
mod tail;
pub use tail::*;
pub use agent::*;
pub use error::*;
