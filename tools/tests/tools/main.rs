//! The built-in tools, each through `Toolbox::run` on a real file system.

mod bash;
mod bounds;
mod command;
mod edit;
mod glob;
mod grep;
mod hooks;
mod network;
mod process;
mod read;
mod rewind;
mod secrets;
mod tasks;
mod time;
mod world;
mod write;
