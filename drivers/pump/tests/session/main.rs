//! Whole sessions through the pump: its threads, streams and callbacks are
//! real; a loop without a runtime stands in for a driver.

mod callbacks;
mod hosts;
mod models;
mod network;
mod outputs;
mod persist;
mod store;
mod structured;
mod support;
mod tools;
mod validator;
