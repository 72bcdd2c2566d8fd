//! The command line of `--list-providers`, which is a grammar of its own
//! (WIRE-026).

use crate::refusal::Refusal;
use std::ffi::OsString;

const SELECTOR: &str = "--list-providers";
const FORMAT: &str = "--output-format";
const END: &str = "--";

/// What discovery prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListFormat {
    /// A line for each provider, for people.
    #[default]
    Text,
    /// One document, for programs.
    Json,
}

/// Reads the arguments behind the program's name, if one of them asks for
/// discovery. Beside that one, and once, the format may stand, and a `--` at
/// the end; nothing else, help and version included.
pub(super) fn read(arguments: &[OsString]) -> Option<Result<ListFormat, Refusal>> {
    let asked = arguments
        .iter()
        .take_while(|argument| *argument != END)
        .any(|argument| argument == SELECTOR);
    asked.then(|| format_of(arguments))
}

fn format_of(arguments: &[OsString]) -> Result<ListFormat, Refusal> {
    let mut selected = false;
    let mut format = None;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let argument = argument.to_string_lossy();
        let value = match argument.split_once('=') {
            Some((FORMAT, value)) => value.to_owned(),
            _ if argument == FORMAT => match rest.next() {
                Some(value) => value.to_string_lossy().into_owned(),
                None => return Err(unknown_format()),
            },
            _ if argument == SELECTOR => {
                once(SELECTOR, std::mem::replace(&mut selected, true))?;
                continue;
            }
            _ if argument == END && rest.len() == 0 => break,
            _ => return Err(unexpected(&argument)),
        };
        once(FORMAT, format.is_some())?;
        format = Some(match value.as_str() {
            "text" => ListFormat::Text,
            "json" => ListFormat::Json,
            _ => return Err(unknown_format()),
        });
    }
    Ok(format.unwrap_or_default())
}

fn once(name: &str, again: bool) -> Result<(), Refusal> {
    if again {
        return Err(Refusal::new(format_args!(
            "{SELECTOR}: {name} stands twice"
        )));
    }
    Ok(())
}

fn unknown_format() -> Refusal {
    Refusal::new(format_args!(
        "{SELECTOR}: expected {FORMAT} text or {FORMAT} json"
    ))
}

fn unexpected(argument: &str) -> Refusal {
    let name = argument.split('=').next().unwrap_or_default();
    Refusal::new(format_args!(
        "{SELECTOR}: unexpected argument {name:?}: nothing but {FORMAT} text or json may stand beside it"
    ))
}
