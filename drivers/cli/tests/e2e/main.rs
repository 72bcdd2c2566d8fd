//! Drives the binary over real pipes.

mod catalog;
mod demo;
mod endings;
mod home;
mod one_shot;
mod sessions;
mod support;
mod usage;
mod wire;
