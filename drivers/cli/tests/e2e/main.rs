//! Drives the binary over real pipes.

mod catalog;
mod demo;
mod discovery;
mod endings;
mod home;
mod hooks;
mod kept;
mod logs;
mod one_shot;
mod persistence;
mod providers;
mod schema;
mod server;
mod sessions;
mod settings;
mod stored;
mod support;
mod usage;
mod wire;
