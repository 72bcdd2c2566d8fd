//! Drives the binary over real pipes.

mod demo;
mod endings;
mod home;
mod one_shot;
mod persistence;
mod sessions;
mod stored;
mod support;
mod usage;
mod wire;
