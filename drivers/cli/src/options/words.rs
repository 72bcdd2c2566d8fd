//! Words that options and variables take, and what is said about others.

use agentx_core::schema::permission::PermissionMode;
use std::path::PathBuf;

/// What stdin carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum InputFormat {
    /// A prompt.
    #[default]
    Text,
    /// Records.
    StreamJson,
}

/// What stdout carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// Answers as text.
    #[default]
    Text,
    /// The result as one document.
    Json,
    /// Records.
    StreamJson,
}

/// A value that is JSON itself or names a file of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextOrFile {
    /// The JSON itself.
    Text(String),
    /// A file that holds it.
    File(PathBuf),
}

/// Which built-in tools are offered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ToolChoice {
    /// All there are.
    #[default]
    All,
    /// Those with these names.
    Only(Vec<String>),
}

impl ToolChoice {
    /// Whether the tool of this name is offered.
    pub(crate) fn offers(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.iter().any(|chosen| chosen == name),
        }
    }
}

/// Which control operations are installed (configuration, "Profiles").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Those of the wire protocol's own dispatcher.
    #[default]
    Standalone,
    /// Also those that hosts which already exist rely on.
    Reference,
}

/// What runs a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Driver {
    /// The tokio driver.
    #[default]
    Tokio,
    /// The async-std driver.
    AsyncStd,
    /// The blocking driver.
    Mio,
}

pub(super) fn input_format(word: &str) -> Result<InputFormat, String> {
    match word {
        "text" => Ok(InputFormat::Text),
        "stream-json" => Ok(InputFormat::StreamJson),
        _ => Err("expected text or stream-json".into()),
    }
}

pub(super) fn output_format(word: &str) -> Result<OutputFormat, String> {
    match word {
        "text" => Ok(OutputFormat::Text),
        "json" => Ok(OutputFormat::Json),
        "stream-json" => Ok(OutputFormat::StreamJson),
        _ => Err("expected text, json or stream-json".into()),
    }
}

/// The demo shows itself, so there is no one result of it.
pub(super) fn demo_format(word: &str) -> Result<OutputFormat, String> {
    match word {
        "text" => Ok(OutputFormat::Text),
        "stream-json" => Ok(OutputFormat::StreamJson),
        _ => Err("expected text or stream-json".into()),
    }
}

/// JSON starts with a brace, everything else is a path.
pub(super) fn text_or_file(value: &str) -> Result<TextOrFile, String> {
    if value.is_empty() {
        return Err("expected a file, or JSON that starts with {".into());
    }
    Ok(if value.trim_start().starts_with('{') {
        TextOrFile::Text(value.to_owned())
    } else {
        TextOrFile::File(value.into())
    })
}

/// Names of built-in tools, separated by commas.
pub(super) fn tools(value: &str) -> Result<ToolChoice, String> {
    let specs = agentx_tools::builtin_specs();
    let known: Vec<&str> = specs.iter().map(|spec| &*spec.name).collect();
    let mut names = Vec::new();
    for name in value.split(',').map(str::trim) {
        if !known.contains(&name) {
            let what = if name.is_empty() {
                "a name is missing".to_owned()
            } else {
                format!("there is no built-in tool {name:?}")
            };
            return Err(format!(
                "{what}; expected some of {}, or --no-tools",
                known.join(",")
            ));
        }
        names.push(name.to_owned());
    }
    Ok(ToolChoice::Only(names))
}

pub(crate) fn profile(word: &str) -> Result<Profile, String> {
    match word {
        "standalone" => Ok(Profile::Standalone),
        "reference" => Ok(Profile::Reference),
        _ => Err("expected standalone or reference".into()),
    }
}

pub(super) fn driver(word: &str) -> Result<Driver, String> {
    match word {
        "tokio" => Ok(Driver::Tokio),
        "async-std" => Ok(Driver::AsyncStd),
        "mio" => Ok(Driver::Mio),
        _ => Err("expected tokio, async-std or mio".into()),
    }
}

pub(super) fn permission_mode(word: &str) -> Result<PermissionMode, String> {
    word.parse().map_err(|_| {
        let known = PermissionMode::ALL.iter().map(|mode| mode.as_str());
        format!("expected one of {}", known.collect::<Vec<_>>().join(", "))
    })
}

/// A number of things of which there is at least one.
pub(super) fn count(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("expected a whole number from 1 to {}", u32::MAX)),
    }
}
