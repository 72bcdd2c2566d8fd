//! JSON as this project needs it: strict, unambiguous and kept as text.
//!
//! [`Scanner`] reads one text in one pass: RFC 8259 grammar, UTF-8, nesting
//! depth and duplicate member names at every depth, compared decoded (WIRE-014,
//! WIRE-021). What it hands out borrows the text: strings stay escaped until
//! [`Str::decode`], numbers keep their digits for ever. [`RawJson`] owns a
//! value that only passes through, and [`Writer`] makes compact records.
//!
//! ```
//! use agentx_core::json::{ScanLimits, Scanner};
//!
//! let mut scanner = Scanner::new();
//! let record = scanner.scan(br#"{"type":"user","n":1e2}"#, &ScanLimits::default())?;
//! let record = record.as_object().ok_or("not an object")?;
//! assert!(record.get("type").and_then(|v| v.as_str()).is_some_and(|s| s.eq("user")));
//! assert_eq!(record.get("n").and_then(|v| v.as_number()), Some("1e2"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod closed;
mod error;
mod names;
mod raw;
mod scan;
mod stops;
mod text;
mod token;
mod value;
mod writer;

pub use error::{Reason, ScanError, UnpairedSurrogate};
pub use raw::RawJson;
pub use scan::{ScanLimits, Scanner};
pub use text::{Str, without_unpaired};
pub use value::{Array, Elements, Kind, Members, Object, Value};
pub use writer::{Writer, escaped_bytes, escaped_len};

#[cfg(test)]
mod tests;
