//! Words that options and variables take, and what is said about others.

use agentx_core::schema::permission::PermissionMode;

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
    /// Records.
    StreamJson,
}

/// Which control operations are installed (configuration, "Profiles").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Those of the wire protocol's own dispatcher.
    #[default]
    Standalone,
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
        "stream-json" => Ok(OutputFormat::StreamJson),
        "json" => Err("json is not available yet; expected text or stream-json".into()),
        _ => Err("expected text or stream-json".into()),
    }
}

pub(crate) fn profile(word: &str) -> Result<Profile, String> {
    match word {
        "standalone" => Ok(Profile::Standalone),
        "reference" => Err("reference is not available yet; expected standalone".into()),
        _ => Err("expected standalone".into()),
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
