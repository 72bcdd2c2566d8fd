//! Drives the binary over real pipes.

mod catalog;
mod demo;
mod discovery;
mod endings;
mod home;
mod one_shot;
mod providers;
mod secrets;
mod server;
mod sessions;
mod support;
mod usage;
mod wire;
