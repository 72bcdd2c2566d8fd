//! What must be seen nowhere, whatever a server, a model, a tool, a host or a
//! user does: the keys of a full registry, and its routes (DEC-30).

mod answers;
mod catalogue;
mod files;
mod hosts;
mod peer;
mod reach;
mod streams;
mod tools;
mod traces;
mod usage;
mod vault;
