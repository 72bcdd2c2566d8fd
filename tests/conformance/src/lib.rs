//! Holds the tree of `AgentX` against its own rules.
//!
//! Every check is a function from text to a list of complaints, so that it can
//! be tested on a few lines made up for the purpose. `tests/tree` runs all of
//! them over the real tree.

pub mod compat;
pub mod graph;
pub mod host;
pub mod register;
pub mod replay;
pub mod rules;
pub mod schema;
pub mod servers;
pub mod session;
pub mod source;
pub mod stream;
pub mod tree;
