//! The bodies of the built-in tools, one module each.

pub(crate) mod bash;
pub(crate) mod edit;
pub(crate) mod glob;
pub(crate) mod grep;
pub(crate) mod read;
pub(crate) mod time;
pub(crate) mod write;
