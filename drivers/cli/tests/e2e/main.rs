//! Drives the binary over real pipes.

mod catalog;
mod demo;
mod discovery;
mod endings;
mod home;
mod hook_callbacks;
mod hooks;
mod hosted;
mod interactive;
mod kept;
mod logs;
mod one_shot;
mod persistence;
mod providers;
mod schema;
mod secrets;
mod server;
mod sessions;
mod settings;
mod stored;
mod structured;
mod support;
mod tasks;
mod terminal;
mod usage;
mod wire;
