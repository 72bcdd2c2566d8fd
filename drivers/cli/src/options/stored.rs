//! Options and commands about stored sessions.

use crate::refusal::Refusal;
use agentx_core::store::is_session_id;
use clap::{Args, Subcommand};

/// Options that choose a session and say whether it is stored.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct StoredOptions {
    /// Go on with this stored session
    #[arg(long, value_name = "ID")]
    resume: Option<String>,

    /// Go on with the newest stored session of the working folder
    #[arg(long = "continue")]
    go_on: bool,

    /// With --resume or --continue: go on in a copy, under an id of its own
    #[arg(long)]
    fork_session: bool,

    /// Id of the new session, a UUID
    #[arg(long, value_name = "UUID", value_parser = session_id)]
    session_id: Option<String>,

    /// Store nothing of this session
    #[arg(long)]
    no_session_persistence: bool,
}

/// Which session is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// A new one that is not stored.
    Unstored {
        /// Its id; one is made where there is none.
        id: Option<String>,
    },
    /// A new one.
    New {
        /// Its id; one is made where there is none.
        id: Option<String>,
    },
    /// A stored one, under its own id.
    Resumed(Which),
    /// A copy of a stored one.
    Forked {
        /// The stored one.
        origin: Which,
        /// Id of the copy; one is made where there is none.
        id: Option<String>,
    },
}

/// Which stored session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// The one of this id.
    Id(String),
    /// The newest one of the working folder.
    Newest,
}

impl StoredOptions {
    /// The session these options ask for.
    ///
    /// # Errors
    ///
    /// Options that do not go together.
    pub(crate) fn wanted(self) -> Result<Wanted, Refusal> {
        let id = self.session_id;
        let which = match (self.resume, self.go_on) {
            (Some(_), true) => {
                return Err(Refusal::new(
                    "--resume and --continue name two sessions: expected one of them",
                ));
            }
            (Some(id), false) => Some(Which::Id(id)),
            (None, true) => Some(Which::Newest),
            (None, false) => None,
        };
        match (which, self.fork_session) {
            (Some(_), _) if self.no_session_persistence => Err(Refusal::new(
                "--no-session-persistence stores nothing, so no session can be resumed with it",
            )),
            (None, true) => Err(Refusal::new(
                "--fork-session needs --resume or --continue, which name what is copied",
            )),
            (Some(_), false) if id.is_some() => Err(Refusal::new(
                "--session-id is of a new session: expected --fork-session with it, to resume a copy",
            )),
            (Some(origin), true) => Ok(Wanted::Forked { origin, id }),
            (Some(which), false) => Ok(Wanted::Resumed(which)),
            (None, false) if self.no_session_persistence => Ok(Wanted::Unstored { id }),
            (None, false) => Ok(Wanted::New { id }),
        }
    }
}

fn session_id(text: &str) -> Result<String, String> {
    if is_session_id(text) {
        Ok(text.to_owned())
    } else {
        Err("expected a UUID, such as 5b0d3c9e-1f8a-4c55-8a8e-7f6d1c2b3a49".into())
    }
}

/// What is asked about stored sessions.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
#[command(disable_help_subcommand = true)]
pub(crate) enum Question {
    /// All of them, the one written last first
    List {
        /// text or json [default: text]
        #[arg(long, value_name = "FORMAT", value_parser = telling)]
        output_format: Option<Telling>,
    },
    /// What one of them holds
    Show {
        /// Its id
        #[arg(value_name = "ID")]
        id: String,
        /// text or json [default: text]
        #[arg(long, value_name = "FORMAT", value_parser = telling)]
        output_format: Option<Telling>,
    },
}

/// How it is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Telling {
    /// For people.
    #[default]
    Text,
    /// One document for programs.
    Json,
}

fn telling(word: &str) -> Result<Telling, String> {
    match word {
        "text" => Ok(Telling::Text),
        "json" => Ok(Telling::Json),
        _ => Err("expected text or json".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(change: impl FnOnce(&mut StoredOptions)) -> Result<Wanted, String> {
        let mut options = StoredOptions::default();
        change(&mut options);
        options.wanted().map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn options_of_one_session_go_together_or_are_refused() {
        let id = || Some("5b0d3c9e-1f8a-4c55-8a8e-7f6d1c2b3a49".to_owned());
        assert_eq!(wanted(|_| ()), Ok(Wanted::New { id: None }));
        assert_eq!(
            wanted(|o| (o.no_session_persistence, o.session_id) = (true, id())),
            Ok(Wanted::Unstored { id: id() })
        );
        assert_eq!(
            wanted(|o| (o.go_on, o.fork_session, o.session_id) = (true, true, id())),
            Ok(Wanted::Forked {
                origin: Which::Newest,
                id: id()
            })
        );
        assert_eq!(
            wanted(|o| o.resume = Some("x".into())),
            Ok(Wanted::Resumed(Which::Id("x".into())))
        );
        let refused = |change: fn(&mut StoredOptions)| wanted(change).unwrap_err();
        for (told, word) in [
            (
                refused(|o| (o.resume, o.go_on) = (Some("x".into()), true)),
                "two sessions",
            ),
            (refused(|o| o.fork_session = true), "needs --resume"),
            (
                refused(|o| (o.go_on, o.no_session_persistence) = (true, true)),
                "stores nothing",
            ),
            (
                refused(|o| (o.fork_session, o.no_session_persistence) = (true, true)),
                "needs --resume",
            ),
            (
                refused(|o| (o.go_on, o.session_id) = (true, Some(String::new()))),
                "expected --fork-session",
            ),
        ] {
            assert!(told.contains(word), "{told}");
        }
    }

    #[test]
    fn a_session_id_is_a_uuid() {
        assert!(session_id("5b0d3c9e-1f8a-4c55-8a8e-7f6d1c2b3a49").is_ok());
        for wrong in ["", "../../auth.json", "5b0d3c9e1f8a4c558a8e7f6d1c2b3a49"] {
            assert!(session_id(wrong).is_err(), "{wrong}");
        }
    }
}
