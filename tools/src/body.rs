//! The bodies of the tools, one module each.

pub(crate) mod bash;
pub(crate) mod command;
pub(crate) mod edit;
mod ending;
pub(crate) mod glob;
pub(crate) mod grep;
pub(crate) mod read;
pub(crate) mod time;
pub(crate) mod write;
