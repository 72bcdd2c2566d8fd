//! `agentx schema`: the JSON Schema of the wire, from the types that read and
//! write it. Needs nothing configured.

use crate::refusal::Refusal;
use agentx_core::schema::describe;

/// The whole text that goes to stdout: one line, its newline included. Without
/// a record, the schemas of all of them.
///
/// # Errors
///
/// A record that has no schema; the text lists those that have one.
pub(crate) fn text(record: Option<&str>) -> Result<String, Refusal> {
    let schema = match record {
        None => describe::schema(),
        Some(name) => describe::record_schema(name).ok_or_else(|| unknown(name))?,
    };
    let mut text = String::from_utf8(schema).map_err(Refusal::new)?;
    text.push('\n');
    Ok(text)
}

fn unknown(name: &str) -> Refusal {
    Refusal::new(format_args!(
        "unknown record {name:?}: expected one of {}",
        describe::names().join(", ")
    ))
}

/// The end of `agentx schema --help`.
pub(crate) fn names() -> String {
    format!(
        "Records (what stands before the dot may be left out where that is clear):\n  {}",
        describe::names().join("\n  ")
    )
}
