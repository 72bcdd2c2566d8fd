//! Paths as text. What a path resolves to on disk is checked where it is
//! opened; here only its spelling counts.

use alloc::string::String;
use alloc::vec::Vec;

/// `path` made absolute against `cwd`, with `.` and `..` taken out.
#[must_use]
pub fn resolve(cwd: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let base = if path.starts_with('/') { "" } else { cwd };
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut out = String::new();
    for part in &parts {
        out.push('/');
        out.push_str(part);
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}

/// Whether `path` is `directory` or lies below it; both resolved.
pub(super) fn contains(directory: &str, path: &str) -> bool {
    let directory = resolve("/", directory);
    if directory == "/" {
        return path.starts_with('/');
    }
    path.strip_prefix(directory.as_str())
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A path pattern of a rule, absolute; one that ends in `/` stands for the
/// folder and all in it.
fn pattern(cwd: &str, glob: &str) -> String {
    let mut pattern = resolve(cwd, glob);
    if glob.ends_with('/') {
        pattern.push_str(if pattern.ends_with('/') { "**" } else { "/**" });
    }
    pattern
}

/// Whether the pattern of a rule matches a resolved path.
pub(super) fn matches(cwd: &str, content: &str, path: &str) -> bool {
    glob(&pattern(cwd, content), path)
}

/// Whether it matches the path or a folder that the path lies in.
pub(super) fn matches_or_holds(cwd: &str, content: &str, path: &str) -> bool {
    let pattern = pattern(cwd, content);
    let ends = path.char_indices().filter(|(at, c)| *c == '/' && *at > 0);
    let folders = ends.filter_map(|(at, _)| path.get(..at));
    folders.chain([path]).any(|path| glob(&pattern, path))
}

/// The folder that everything a pattern matches lies in, or the one path it matches.
pub(super) fn base(cwd: &str, content: &str) -> String {
    let pattern = pattern(cwd, content);
    let literal = pattern
        .split('/')
        .take_while(|part| !part.contains(['*', '?']));
    let mut base = String::new();
    for part in literal.filter(|part| !part.is_empty()) {
        base.push('/');
        base.push_str(part);
    }
    if base.is_empty() {
        base.push('/');
    }
    base
}

/// Whether a path glob matches a resolved path: `*` and `?` within one name,
/// `**` over any number of names. Linear in the path for each `**`.
pub(super) fn glob(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    let names: Vec<&str> = path.split('/').collect();
    glob_names(&pattern, &names)
}

/// Greedy matching with one point to return to, the newest `**`.
fn glob_names(pattern: &[&str], names: &[&str]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < names.len() {
        match pattern.get(p) {
            Some(&"**") => {
                retry = Some((p + 1, n));
                p += 1;
            }
            Some(part) if names.get(n).is_some_and(|name| wildcard(part, name)) => {
                p += 1;
                n += 1;
            }
            _ => match &mut retry {
                Some((again, from)) => {
                    *from += 1;
                    (p, n) = (*again, *from);
                }
                None => return false,
            },
        }
    }
    pattern
        .get(p..)
        .is_some_and(|rest| rest.iter().all(|part| *part == "**"))
}

fn wildcard(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p + 1, n));
                p += 1;
            }
            Some(c) if *c == '?' || name.get(n) == Some(c) => {
                p += 1;
                n += 1;
            }
            _ => match &mut retry {
                Some((again, from)) => {
                    *from += 1;
                    (p, n) = (*again, *from);
                }
                None => return false,
            },
        }
    }
    pattern
        .get(p..)
        .is_some_and(|rest| rest.iter().all(|c| *c == '*'))
}
