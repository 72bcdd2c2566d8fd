//! Which profile a process is of (configuration, "Profiles"): what the command
//! line says, else what `AGENTX_PROFILE` says, else the name it was started
//! under.

use super::{Options, Profile, reference, words};
use clap::{Arg, CommandFactory as _};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The name under which hosts of the profile `reference` look for a program.
const HOSTED_NAME: &str = "claude";

/// The option that chooses.
const PROFILE: &str = "profile";

/// What was known before the command line was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The profile whose command line it is.
    pub(crate) profile: Profile,
    /// Whether the file name of the program is `claude`.
    pub(crate) hosted_name: bool,
}

impl Launch {
    /// Looks at the arguments, the first of which is the program's name, and at
    /// `AGENTX_PROFILE`. A word that is no profile chooses nothing here; whoever
    /// reads the option or runs the session refuses it.
    pub(crate) fn find(arguments: &[OsString], environment: Option<&OsStr>) -> Self {
        let (program, words) = match arguments.split_first() {
            Some((program, words)) => (Some(program), words),
            None => (None, arguments),
        };
        let name = program.and_then(|program| Path::new(program).file_name());
        let hosted_name = name.is_some_and(|name| name == HOSTED_NAME);
        let told = environment.and_then(|word| words::profile(word.to_str()?.trim()).ok());
        let by_name = if hosted_name {
            Profile::Reference
        } else {
            Profile::Standalone
        };
        Self {
            profile: asked(words).or(told).unwrap_or(by_name),
            hosted_name,
        }
    }
}

/// The profile that the command line chooses. Values of other options are passed
/// over, so that a text which looks like the option is none.
fn asked(words: &[OsString]) -> Option<Profile> {
    let grammar = reference::command(Options::command());
    let valued = |name: &str| grammar.get_arguments().any(|known| takes(known, name));
    let mut words = words.iter().map(|word| word.to_string_lossy());
    let mut chosen = None;
    while let Some(word) = words.next() {
        let Some(word) = word.strip_prefix("--") else {
            continue;
        };
        if word.is_empty() {
            break;
        }
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None if valued(word) => (word, words.next().map(|value| value.into_owned())),
            None => (word, None),
        };
        if let (PROFILE, Some(value)) = (name, value) {
            chosen = words::profile(&value).ok();
        }
    }
    chosen
}

/// Whether this is the option of that name, and takes the next word.
fn takes(option: &Arg, name: &str) -> bool {
    reference::names(option, name) && reference::needs_value(option)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &[&str], environment: Option<&str>) -> Launch {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Launch::find(&words, environment.map(OsStr::new))
    }

    #[test]
    fn option_goes_before_variable_goes_before_name() {
        use Profile::{Reference, Standalone};
        for (words, environment, profile) in [
            (&["agentx"][..], None, Standalone),
            (&["claude"], None, Reference),
            (&["/usr/bin/claude", "-v"], None, Reference),
            (&["claude/agentx"], None, Standalone),
            (&["claude.sh"], None, Standalone),
            (&["agentx"], Some("reference"), Reference),
            (&["agentx"], Some(" reference\n"), Reference),
            (&["claude"], Some("standalone"), Standalone),
            (&["claude"], Some(""), Reference),
            (&["claude"], Some("other"), Reference),
            (
                &["claude", "--profile", "standalone"],
                Some("reference"),
                Standalone,
            ),
            (
                &["agentx", "--profile=reference"],
                Some("standalone"),
                Reference,
            ),
            (&["agentx", "--profile=other"], Some("reference"), Reference),
            (
                &["agentx", "--verbose", "--profile", "reference"],
                None,
                Reference,
            ),
            (
                &["agentx", "hello", "--profile", "reference"],
                None,
                Reference,
            ),
            (&["agentx", "--profile"], None, Standalone),
            (&[], None, Standalone),
        ] {
            assert_eq!(
                found(words, environment).profile,
                profile,
                "{words:?} {environment:?}"
            );
        }
    }

    #[test]
    fn a_value_that_looks_like_the_option_chooses_nothing() {
        for words in [
            &["agentx", "--provider", "--profile=reference"][..],
            &["agentx", "--system-prompt", "--profile", "reference"],
            &["agentx", "--allowed-tools", "--profile", "reference"],
            &["agentx", "--provider=--profile", "reference"],
            &["agentx", "--", "--profile=reference"],
            &["agentx", "-p", "x --profile=reference"],
        ] {
            assert_eq!(found(words, None).profile, Profile::Standalone, "{words:?}");
        }
        let words = ["agentx", "--debug", "--profile", "reference"];
        assert_eq!(found(&words, None).profile, Profile::Reference);
    }
}
