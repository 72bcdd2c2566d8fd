//! JSON as this project needs it.

mod raw;

pub use raw::RawJson;

/// A fault found while reading JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanError;
