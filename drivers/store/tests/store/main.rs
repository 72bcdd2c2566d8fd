//! The store on a real disk.

mod claims;
mod faults;
mod sessions;
mod support;
