//! The schema of structured output, as the command line names it
//! (configuration, `--json-schema`).

use crate::options::TextOrFile;
use crate::refusal::Refusal;
use agentx_core::guard::Guard;
use agentx_core::limits::Limits;
use agentx_core::structured::OutputSchema;
use agentx_pump::schema;
use rustix::fs::{CWD, Mode, OFlags, openat};
use std::fmt::Display;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Reads the schema and looks whether it can be used. `keys` must not show in
/// what is said about it.
///
/// # Errors
///
/// A file that cannot be read; a text that is no schema, or not one of an
/// object: what is wrong, and where.
pub(crate) fn read(flag: &TextOrFile, keys: &Guard) -> Result<OutputSchema, Refusal> {
    let name = match flag {
        TextOrFile::Text(_) => "--json-schema".to_owned(),
        TextOrFile::File(path) => format!("--json-schema {}", path.display()),
    };
    let refuse = |fault: &dyn Display| {
        let fault = fault.to_string();
        let fault: Vec<&str> = fault.split_whitespace().collect();
        Refusal::new(format_args!("{name}: {}", keys.redact(&fault.join(" "))))
    };
    let limits = Limits::DEFAULT;
    let schema = match flag {
        TextOrFile::Text(text) => OutputSchema::parse(text.as_bytes(), &limits),
        TextOrFile::File(path) => {
            let bytes = file(path, limits.schema_bytes).map_err(|fault| refuse(&fault))?;
            OutputSchema::parse(&bytes, &limits)
        }
    };
    let schema = schema.map_err(|fault| refuse(&fault))?;
    schema::check(&schema).map_err(|fault| refuse(&fault))?;
    Ok(schema)
}

/// The bytes of a regular file; one more than `most`, so that the excess is seen.
///
/// # Errors
///
/// A file that cannot be read, in words.
pub(crate) fn file(path: &Path, most: usize) -> Result<Vec<u8>, String> {
    // Not to wait for the other end, should it be a FIFO.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(CWD, path, flags, Mode::empty()).map_err(|errno| errno.to_string())?;
    let file = File::from(file);
    let facts = file.metadata().map_err(|error| error.to_string())?;
    if !facts.is_file() {
        return Err("not a regular file".into());
    }
    let mut bytes = Vec::new();
    let read = file.take(most as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    Ok(bytes)
}
