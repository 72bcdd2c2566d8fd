//! What a child of a tool gets to know: its environment, and that it may not
//! be pointed at `$AGENTX_HOME`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// The variable that no child gets (configuration, "Built-in tools").
const HOME_VARIABLE: &str = "AGENTX_HOME";

/// The variable that tells a command tool where it may ask about the network
/// (WIRE-PERM-080). Only the tool it was made for gets it.
pub(crate) const NETWORK_VARIABLE: &str = "AGENTX_NETWORK_SOCKET";

/// Where programs are looked up when the environment has no `PATH`
/// (configuration, "Environment").
pub(crate) const FALLBACK_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The environment of a child: the process's own, then the variables set for
/// later children (DEC-22), never `AGENTX_HOME` nor a socket of somebody else's
/// tool, always a `PATH`.
pub(crate) fn child_environment(
    base: &BTreeMap<OsString, OsString>,
    updates: &BTreeMap<String, String>,
    directory: &Path,
) -> BTreeMap<OsString, OsString> {
    let mut environment = base.clone();
    for (name, value) in updates {
        environment.insert(name.into(), value.into());
    }
    environment.remove(OsStr::new(HOME_VARIABLE));
    environment.remove(OsStr::new(NETWORK_VARIABLE));
    let path = environment.entry("PATH".into()).or_default();
    if path.is_empty() {
        *path = FALLBACK_PATH.into();
    }
    environment.insert("PWD".into(), directory.into());
    environment
}

/// The folders that a shell command may name others by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    /// `$AGENTX_HOME`.
    pub(crate) home: &'a Path,
    /// `~` and `$HOME`.
    pub(crate) user_home: Option<&'a Path>,
    /// Where the command runs.
    pub(crate) directory: &'a Path,
}

/// Whether a command names the folder `$AGENTX_HOME`: by the variable, or by its
/// path as configured or resolved, absolute, from the working directory, `~`,
/// `$HOME` or `$PWD`. Quotes, `.` and `..` and doubled slashes do not hide it.
/// This is a courtesy to a careless model, no wall: a command that builds the
/// name at run time is stopped by nothing but the operating system's permissions.
pub(crate) fn names_home(command: &str, known: Known<'_>) -> bool {
    let plain = without_quoting(command);
    let variables = [
        "$AGENTX_HOME",
        "${AGENTX_HOME",
        "${#AGENTX_HOME",
        "${!AGENTX_HOME",
    ];
    let is_identifier = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if variables
        .iter()
        .any(|name| stands_in(&plain, name, is_identifier))
    {
        return true;
    }
    let resolved = known.home.canonicalize().ok();
    let homes: Vec<&Path> = [Some(known.home), resolved.as_deref()]
        .into_iter()
        .flatten()
        .collect();
    let continues_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let stands = |home: &Path| {
        let text = home.to_str().map(|text| text.trim_end_matches('/'));
        text.filter(|text| !text.is_empty())
            .is_some_and(|text| stands_in(&plain, &without_quoting(text), continues_name))
    };
    let unbraced = plain.replace("${HOME}", "$HOME").replace("${PWD}", "$PWD");
    homes.iter().any(|home| stands(home))
        || unbraced.split(ends_word).any(|word| {
            let path = known.path(word);
            homes.iter().any(|home| path.starts_with(home))
        })
}

/// Whether a character ends a word of a shell command, or what may be a path in
/// one. Braces have been taken off the variables before.
const fn ends_word(c: char) -> bool {
    c.is_ascii_whitespace()
        || matches!(c, ';' | '|' | '&' | '<' | '>' | '(' | ')')
        || matches!(c, '`' | '=' | ':' | ',' | '{' | '}')
}

impl Known<'_> {
    /// Where a word of a command leads, if it is a path, by its spelling.
    fn path(&self, word: &str) -> PathBuf {
        let name = self.user_home.and_then(Path::file_name);
        let name = name.and_then(OsStr::to_str).unwrap_or_default();
        let starts = [
            ("$HOME", self.user_home),
            ("~", self.user_home),
            (&*format!("~{name}"), self.user_home),
            ("$PWD", Some(self.directory)),
        ];
        let below = starts.into_iter().find_map(|(start, folder)| {
            let rest = word.strip_prefix(start)?;
            let ends = rest.is_empty() || rest.starts_with('/');
            ends.then_some(folder?.join(rest.trim_start_matches('/')))
        });
        spelled_out(&below.unwrap_or_else(|| self.directory.join(word)))
    }
}

/// A path without `.` and `..`, as far as its spelling tells.
fn spelled_out(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// Whether `needle` stands in `text` and does not go on as a longer name.
fn stands_in(text: &str, needle: &str, continues: impl Fn(char) -> bool) -> bool {
    text.match_indices(needle).any(|(at, _)| {
        let after = text[at + needle.len()..].chars().next();
        !after.is_some_and(&continues)
    })
}

/// The text without quotes and backslashes, and with `//` and `/./` as `/`.
fn without_quoting(command: &str) -> String {
    let mut plain = String::with_capacity(command.len());
    let command = command.replace("\\\n", "");
    for c in command.chars() {
        match c {
            '"' | '\'' | '\\' => {}
            '/' => {
                if plain.ends_with("/.") {
                    plain.pop();
                } else if !plain.ends_with('/') {
                    plain.push('/');
                }
            }
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(command: &str) -> bool {
        names_from("/home/u/code", command)
    }

    fn names_from(directory: &str, command: &str) -> bool {
        let known = Known {
            home: Path::new("/home/u/.agentx"),
            user_home: Some(Path::new("/home/u")),
            directory: Path::new(directory),
        };
        names_home(command, known)
    }

    #[test]
    fn the_folder_is_known_in_its_usual_spellings() {
        for command in [
            "cat /home/u/.agentx/auth.json",
            "ls /home/u/.agentx",
            "cd /home/u//./.agentx; ls",
            "cat '/home/u'/\".agentx\"/auth.json",
            "cat /home/u/.agent\\x/auth.json",
            "cat ~/.agentx/auth.json",
            "cat \"$HOME\"/.agentx/auth.json",
            "cat ${HOME}/.agentx/*",
            "echo $AGENTX_HOME",
            "cat \"${AGENTX_HOME}/auth.json\"",
            "echo ${AGENTX_HOME:-x}",
            "cat /home/u/code/../.agentx/auth.json",
            "cat ../.agentx/auth.json",
            "cat <../.agentx/auth.json",
            "cp ./../.agentx/{auth.json,x} .",
            "HOMES=../.agentx; ls",
            "cat ~u/.agentx/auth.json",
            "cat ~/code/../.agentx/auth.json",
            "ls ${PWD}/../.agentx",
            "cat /proc/self/root/home/u/.agentx/auth.json",
            "cat /home/u/.age\\\nntx/auth.json",
        ] {
            assert!(names(command), "{command}");
        }
        assert!(names_from("/home/u", "cat .agentx/auth.json"));
        assert!(names_from("/home/u", "tar c ./.agentx"));
        assert!(names_from("/", "tar c home/u/.agentx"));
    }

    #[test]
    fn what_only_looks_like_it_passes() {
        for command in [
            "ls /home/u/.agentx-old",
            "ls /home/u/.agentx2",
            "grep -rn AGENTX_HOME src",
            "echo $AGENTX_HOMES",
            "ls /home/u",
            "cat .agentx/settings.json",
            "ls ../.agentx-old ~/.agentx2 ~v/.agentx",
            "ls $PWD/.agentx",
            "",
        ] {
            assert!(!names(command), "{command}");
        }
    }

    // covers: DEC-22
    #[test]
    fn the_environment_has_updates_a_path_and_no_home() {
        let base = BTreeMap::from([
            ("AGENTX_HOME".into(), "/secret".into()),
            ("AGENTX_NETWORK_SOCKET".into(), "/outer/socket".into()),
            ("A".into(), "base".into()),
            ("B".into(), "base".into()),
        ]);
        let updates = BTreeMap::from([
            ("A".to_owned(), "new".to_owned()),
            ("AGENTX_HOME".to_owned(), "/other".to_owned()),
            ("AGENTX_NETWORK_SOCKET".to_owned(), "/false".to_owned()),
        ]);
        let made = child_environment(&base, &updates, Path::new("/work"));
        let text = |name: &str| {
            made.get(OsStr::new(name))
                .map(|value| value.to_str().unwrap())
        };
        assert_eq!(text("A"), Some("new"));
        assert_eq!(text("B"), Some("base"));
        assert_eq!(text("AGENTX_HOME"), None);
        assert_eq!(text("AGENTX_NETWORK_SOCKET"), None);
        assert_eq!(text("PATH"), Some("/usr/local/bin:/usr/bin:/bin"));
        assert_eq!(text("PWD"), Some("/work"));
        let kept = BTreeMap::from([("PATH".into(), "/opt".into())]);
        let made = child_environment(&kept, &BTreeMap::new(), Path::new("/work"));
        assert_eq!(made[OsStr::new("PATH")], "/opt");
    }
}
