//! The dependency graph, as `cargo metadata` tells it, and what it may hold.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Licences that a dependency may come under.
pub const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// What the checks need of `cargo metadata --format-version 1`.
#[derive(Clone, Debug, Deserialize)]
pub struct Metadata {
    /// All packages of the graph.
    pub packages: Vec<Package>,
    /// Who depends on whom.
    pub resolve: Resolve,
}

/// One package.
#[derive(Clone, Debug, Deserialize)]
pub struct Package {
    /// Cargo's id of it.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// SPDX expression; absent where the package has only a licence file.
    pub license: Option<String>,
}

/// The resolved graph.
#[derive(Clone, Debug, Deserialize)]
pub struct Resolve {
    /// One node a package.
    pub nodes: Vec<Node>,
}

/// A package and what it depends on.
#[derive(Clone, Debug, Deserialize)]
pub struct Node {
    /// Cargo's id of the package.
    pub id: String,
    /// Its dependencies.
    pub deps: Vec<Dependency>,
}

/// One edge of the graph.
#[derive(Clone, Debug, Deserialize)]
pub struct Dependency {
    /// Cargo's id of the package depended on.
    pub pkg: String,
    /// In which roles.
    pub dep_kinds: Vec<DependencyKind>,
}

/// The role of a dependency.
#[derive(Clone, Debug, Deserialize)]
pub struct DependencyKind {
    /// `None` for an ordinary one, else `dev` or `build`.
    pub kind: Option<String>,
}

/// Asks cargo for the graph of the platform this runs on.
///
/// # Errors
///
/// What cargo or the reading of its answer says.
pub fn metadata() -> Result<Metadata, String> {
    let version = run("rustc", &["-vV"])?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .ok_or("rustc names no host")?;
    let arguments = ["metadata", "--format-version=1", "--filter-platform", host];
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let answer = run(&cargo, &arguments)?;
    serde_json::from_str(&answer).map_err(|e| format!("cargo metadata: {e}"))
}

fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(crate::tree::root())
        .output()
        .map_err(|e| format!("{program}: {e}"))?;
    if !output.status.success() {
        return Err(format!(
            "{program}: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    String::from_utf8(output.stdout).map_err(|e| format!("{program}: {e}"))
}

/// Packages whose licence is not on the list.
#[must_use]
pub fn licences(metadata: &Metadata) -> Vec<String> {
    let mut wrong = Vec::new();
    for package in &metadata.packages {
        let known = package.license.as_deref().is_some_and(allowed);
        if !known {
            let licence = package.license.as_deref().unwrap_or("none");
            wrong.push(format!(
                "{} {}: licence {licence}",
                package.name, package.version
            ));
        }
    }
    wrong
}

/// Whether an SPDX expression can be met with the licences of the list. A slash
/// counts as `OR`, as crates.io once took it.
#[must_use]
pub fn allowed(expression: &str) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace(" WITH ", "-WITH-");
    let mut words = spaced.split_whitespace().peekable();
    either(&mut words) == Some(true) && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn either(words: &mut Words<'_>) -> Option<bool> {
    let mut met = both(words)?;
    while words.next_if_eq(&"OR").is_some() {
        met |= both(words)?;
    }
    Some(met)
}

fn both(words: &mut Words<'_>) -> Option<bool> {
    let mut met = one(words)?;
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words)?;
    }
    Some(met)
}

fn one(words: &mut Words<'_>) -> Option<bool> {
    match words.next()? {
        "(" => {
            let met = either(words)?;
            words.next_if_eq(&")").map(|_| met)
        }
        name => Some(LICENCES.contains(&name.replace("-WITH-", " WITH ").as_str())),
    }
}

/// Crates that stand in the graph in several versions without a reason, and
/// reasons that nothing needs any more.
#[must_use]
pub fn duplicates(metadata: &Metadata, reasons: &[(&str, &str)]) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in &metadata.packages {
        let known = versions.entry(&package.name).or_default();
        known.insert(&package.version);
    }
    versions.retain(|_, known| known.len() > 1);
    let mut wrong = Vec::new();
    for (name, known) in &versions {
        if !reasons.iter().any(|(excused, _)| excused == name) {
            wrong.push(format!(
                "{name} stands in the graph in the versions {known:?}"
            ));
        }
    }
    for (excused, _) in reasons {
        if !versions.contains_key(excused) {
            wrong.push(format!("{excused} no longer needs its exception"));
        }
    }
    wrong
}

/// The packages that depend on `name` themselves, in any role.
#[must_use]
pub fn users(metadata: &Metadata, name: &str) -> BTreeSet<String> {
    let id_of = |package: &Package| (package.name == name).then(|| package.id.clone());
    let named: BTreeSet<String> = metadata.packages.iter().filter_map(id_of).collect();
    let uses = |node: &&Node| node.deps.iter().any(|dep| named.contains(&dep.pkg));
    let nodes = metadata.resolve.nodes.iter().filter(uses);
    let users: BTreeSet<&str> = nodes.map(|node| node.id.as_str()).collect();
    let packages = metadata.packages.iter();
    let using = packages.filter(|package| users.contains(package.id.as_str()));
    using.map(|package| package.name.clone()).collect()
}

/// Everything that is built into `root`, itself not included.
#[must_use]
pub fn built_into(metadata: &Metadata, root: &str) -> BTreeSet<String> {
    let by_id: BTreeMap<&str, &Package> = metadata
        .packages
        .iter()
        .map(|package| (package.id.as_str(), package))
        .collect();
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = metadata
        .packages
        .iter()
        .filter(|package| package.name == root)
        .map(|package| package.id.as_str())
        .collect();
    while let Some(id) = open.pop() {
        for node in metadata.resolve.nodes.iter().filter(|node| node.id == id) {
            for dependency in &node.deps {
                let only_tests = dependency
                    .dep_kinds
                    .iter()
                    .all(|role| role.kind.as_deref() == Some("dev"));
                if let Some(package) = by_id.get(dependency.pkg.as_str())
                    && !only_tests
                    && seen.insert(package.name.clone())
                {
                    open.push(&package.id);
                }
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::{Metadata, allowed, built_into, duplicates, licences, users};

    const GRAPH: &str = r#"{"packages": [
        {"id": "r", "name": "root", "version": "1.0.0", "license": "MIT"},
        {"id": "a1", "name": "a", "version": "1.0.0", "license": "MIT/Apache-2.0"},
        {"id": "a2", "name": "a", "version": "2.0.0", "license": "GPL-3.0"},
        {"id": "b", "name": "b", "version": "1.0.0", "license": null},
        {"id": "t", "name": "t", "version": "1.0.0", "license": "ISC"}],
      "resolve": {"nodes": [
        {"id": "r", "deps": [{"pkg": "a1", "dep_kinds": [{"kind": null}]},
                             {"pkg": "t", "dep_kinds": [{"kind": "dev"}]}]},
        {"id": "a1", "deps": [{"pkg": "b", "dep_kinds": [{"kind": "dev"}, {"kind": "build"}]}]},
        {"id": "t", "deps": [{"pkg": "a2", "dep_kinds": [{"kind": null}]}]}]}}"#;

    fn graph() -> Metadata {
        serde_json::from_str(GRAPH).unwrap()
    }

    #[test]
    fn a_licence_is_met_or_told() {
        for good in [
            "MIT",
            "GPL-3.0 OR MIT",
            "(GPL-3.0 OR ISC) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
            "Unlicense/GPL-2.0",
        ] {
            assert!(allowed(good), "{good}");
        }
        for bad in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "(MIT",
            "MIT OR",
            "MIT ISC",
        ] {
            assert!(!allowed(bad), "{bad}");
        }
        assert_eq!(
            licences(&graph()),
            ["a 2.0.0: licence GPL-3.0", "b 1.0.0: licence none"]
        );
    }

    #[test]
    fn a_second_version_needs_a_reason_and_a_reason_a_second_version() {
        assert_eq!(duplicates(&graph(), &[("a", "why")]), [""; 0]);
        let wrong = duplicates(&graph(), &[("b", "why")]);
        assert!(wrong[0].starts_with("a stands in the graph"), "{wrong:?}");
        assert_eq!(wrong[1], "b no longer needs its exception");
    }

    #[test]
    fn tests_alone_build_nothing_in() {
        let names: Vec<String> = built_into(&graph(), "root").into_iter().collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn users_depend_on_a_crate_themselves() {
        let of = |name| users(&graph(), name).into_iter().collect::<Vec<_>>();
        assert_eq!(of("a"), ["root", "t"], "of either version");
        assert_eq!(of("t"), ["root"], "in tests, too");
        assert_eq!(of("root"), [""; 0]);
    }
}
