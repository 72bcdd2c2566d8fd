//! Drives the binary over real pipes.

mod demo;
mod endings;
mod home;
mod logs;
mod one_shot;
mod sessions;
mod support;
mod usage;
mod wire;
