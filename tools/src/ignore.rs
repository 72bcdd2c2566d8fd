//! The rules of a `.gitignore`: what a project itself calls uninteresting.
//!
//! A rule without a slash is about a name at any depth, one with a slash about
//! the path below the folder of the `.gitignore`; a slash at the end makes it
//! about folders only, `!` takes an exclusion back, and the last rule that
//! matches decides. Rules of a folder further down come before those above it.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use std::path::Path;

/// The rules of one `.gitignore`.
#[derive(Debug)]
pub(crate) struct Rules {
    globs: GlobSet,
    /// What the glob of the same index says.
    rules: Vec<Rule>,
}

#[derive(Clone, Copy, Debug)]
struct Rule {
    excludes: bool,
    folders_only: bool,
}

impl Rules {
    /// Reads the rules; a line that is none is passed over, as git does.
    pub(crate) fn parse(text: &str) -> Self {
        let mut builder = GlobSetBuilder::new();
        let mut rules = Vec::new();
        for (rule, glob) in text.lines().filter_map(parse_line) {
            builder.add(glob);
            rules.push(rule);
        }
        match builder.build() {
            Ok(globs) => Self { globs, rules },
            // Too large to compile together: better no rules than wrong ones.
            Err(_) => Self {
                globs: GlobSet::empty(),
                rules: Vec::new(),
            },
        }
    }

    /// Whether a path below the folder of these rules is left out; `None` when
    /// they do not speak of it.
    pub(crate) fn exclude(&self, path: &Path, is_folder: bool) -> Option<bool> {
        let indices = self.globs.matches(path).into_iter();
        let applies = |rule: &Rule| is_folder || !rule.folders_only;
        let last = indices
            .filter(|index| self.rules.get(*index).is_some_and(applies))
            .max()?;
        self.rules.get(last).map(|rule| rule.excludes)
    }
}

fn parse_line(line: &str) -> Option<(Rule, Glob)> {
    let line = trim_end(line);
    if line.starts_with('#') {
        return None;
    }
    let (line, excludes) = match line.strip_prefix('!') {
        Some(line) => (line, false),
        None => (line, true),
    };
    let (path, folders_only) = match line.strip_suffix('/') {
        Some(path) => (path, true),
        None => (line, false),
    };
    let glob = match path.strip_prefix('/') {
        Some(path) => without_alternatives(path),
        None if path.contains('/') => without_alternatives(path),
        None => format!("**/{}", without_alternatives(path)),
    };
    if path.is_empty() || path == "/" {
        return None;
    }
    let glob = GlobBuilder::new(&glob)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .ok()?;
    let rule = Rule {
        excludes,
        folders_only,
    };
    Some((rule, glob))
}

/// Spaces at the end do not count, unless the last of them is escaped.
fn trim_end(line: &str) -> &str {
    let trimmed = line.trim_end_matches([' ', '\r']);
    let spaces = &line[trimmed.len()..];
    if trimmed.ends_with('\\') && spaces.starts_with(' ') {
        &line[..=trimmed.len()]
    } else {
        trimmed
    }
}

/// Braces and commas mean themselves in a `.gitignore`.
fn without_alternatives(path: &str) -> String {
    let mut glob = String::with_capacity(path.len());
    let mut escaped = false;
    for c in path.chars() {
        if matches!(c, '{' | '}') && !escaped {
            glob.push('\\');
        }
        escaped = c == '\\' && !escaped;
        glob.push(c);
    }
    glob
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excluded(rules: &str, path: &str) -> Option<bool> {
        let (path, is_folder) = match path.strip_suffix('/') {
            Some(path) => (path, true),
            None => (path, false),
        };
        Rules::parse(rules).exclude(Path::new(path), is_folder)
    }

    #[test]
    fn rules_mean_what_git_says_they_mean() {
        for (rules, path, expected) in [
            ("target", "target/", Some(true)),
            ("target", "a/b/target", Some(true)),
            ("target", "targets", None),
            ("target/", "target/", Some(true)),
            ("target/", "target", None),
            ("/target", "a/target", None),
            ("/target", "target", Some(true)),
            ("a/b", "a/b", Some(true)),
            ("a/b", "x/a/b", None),
            ("a/*", "a/b", Some(true)),
            ("a/*", "a/b/c", None),
            ("a/**", "a/b/c", Some(true)),
            ("a/**/c", "a/c", Some(true)),
            ("**/c", "a/b/c", Some(true)),
            ("*.log\n!keep.log", "x/keep.log", Some(false)),
            ("!keep.log\n*.log", "keep.log", Some(true)),
            ("*.log", "x/y.log", Some(true)),
            ("# comment\n\n  \n/\n!\n", "# comment", None),
            ("\\#x", "#x", Some(true)),
            ("\\!x", "!x", Some(true)),
            ("x  \r\n", "x", Some(true)),
            ("x\\ ", "x ", Some(true)),
            ("{a,b}", "a", None),
            ("{a,b}", "{a,b}", Some(true)),
            ("[ab].c", "b.c", Some(true)),
            ("[unclosed\nok", "ok", Some(true)),
        ] {
            assert_eq!(excluded(rules, path), expected, "{rules:?} on {path}");
        }
    }
}
