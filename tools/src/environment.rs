//! What a child of a tool gets to know: its environment, and that it may not
//! be pointed at `$AGENTX_HOME`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The variable that no child gets (configuration, "Built-in tools").
const HOME_VARIABLE: &str = "AGENTX_HOME";

/// Where programs are looked up when the environment has no `PATH`
/// (configuration, "Environment").
pub(crate) const FALLBACK_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The environment of a child: the process's own, then the variables set for
/// later children (DEC-22), never `AGENTX_HOME`, always a `PATH`.
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
    let path = environment.entry("PATH".into()).or_default();
    if path.is_empty() {
        *path = FALLBACK_PATH.into();
    }
    environment.insert("PWD".into(), directory.into());
    environment
}

/// Whether a command names the folder `$AGENTX_HOME`: by the variable, by its
/// path as configured or resolved, or by that path from `~` or `$HOME`. Quotes
/// and doubled slashes do not hide it. This is a courtesy to a careless model,
/// no wall: a command that builds the name at run time is stopped by nothing
/// but the operating system's permissions.
pub(crate) fn names_home(command: &str, home: &Path, user_home: Option<&Path>) -> bool {
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
    let resolved = home.canonicalize().ok();
    let continues_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    [Some(home), resolved.as_deref()]
        .into_iter()
        .flatten()
        .flat_map(|home| spellings(home, user_home))
        .any(|spelling| stands_in(&plain, &spelling, continues_name))
}

/// The ways in which a shell command may write the path of a folder.
fn spellings(folder: &Path, user_home: Option<&Path>) -> Vec<String> {
    let Some(text) = folder.to_str().map(|text| text.trim_end_matches('/')) else {
        return Vec::new();
    };
    if text.is_empty() {
        return Vec::new();
    }
    let mut all = vec![without_quoting(text)];
    let below = user_home.and_then(|user_home| folder.strip_prefix(user_home).ok());
    if let Some(rest) = below.and_then(Path::to_str).filter(|rest| !rest.is_empty()) {
        let rest = without_quoting(rest);
        all.extend(["~", "$HOME", "${HOME}"].map(|start| format!("{start}/{rest}")));
    }
    all
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
        let home = Path::new("/home/u/.agentx");
        names_home(command, home, Some(Path::new("/home/u")))
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
        ] {
            assert!(names(command), "{command}");
        }
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
            ("A".into(), "base".into()),
            ("B".into(), "base".into()),
        ]);
        let updates = BTreeMap::from([
            ("A".to_owned(), "new".to_owned()),
            ("AGENTX_HOME".to_owned(), "/other".to_owned()),
        ]);
        let made = child_environment(&base, &updates, Path::new("/work"));
        let text = |name: &str| {
            made.get(OsStr::new(name))
                .map(|value| value.to_str().unwrap())
        };
        assert_eq!(text("A"), Some("new"));
        assert_eq!(text("B"), Some("base"));
        assert_eq!(text("AGENTX_HOME"), None);
        assert_eq!(text("PATH"), Some("/usr/local/bin:/usr/bin:/bin"));
        assert_eq!(text("PWD"), Some("/work"));
        let kept = BTreeMap::from([("PATH".into(), "/opt".into())]);
        let made = child_environment(&kept, &BTreeMap::new(), Path::new("/work"));
        assert_eq!(made[OsStr::new("PATH")], "/opt");
    }
}
