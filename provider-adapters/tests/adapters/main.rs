//! The adapters through their public face: a registry is read, a provider is
//! built, and its calls are fed by hand.

mod attempts;
mod binding;
mod damage;
mod laws;
mod messages;
mod registry;
mod requests;
mod rules;
mod scripts;
mod streams;
mod support;
