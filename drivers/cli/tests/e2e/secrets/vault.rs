//! A registry of 32 entries over all types, each with values of its own.

use super::peer::certificate;
use super::traces::Traces;
use crate::support::{Agent, DUPLEX, Outcome, World, finish};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Entries of a full registry.
pub(crate) const ENTRIES: usize = 32;

/// Dialects with a network.
pub(crate) const DIALECTS: usize = 6;

/// The kinds of entry; entry `n` is of kind `n % KINDS.len()`, the last of which
/// is scripted.
pub(crate) const KINDS: [&str; DIALECTS + 1] = [
    "azure_openai",
    "openai responses",
    "openai chat_completions",
    "anthropic",
    "openai_compatible responses",
    "openai_compatible chat_completions",
    "scripted",
];

/// An entry that is scripted by its prompts.
pub(crate) const SCRIPTED: usize = DIALECTS;

/// Where groups of entries live: one entry of each kind in a group.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Origins of the first groups; all others have names that do not exist.
    pub(crate) origins: Vec<String>,
    /// What the group with this number trusts; the others trust somebody else.
    pub(crate) trusted: Option<(usize, String)>,
}

pub(crate) struct Vault {
    pub(crate) world: World,
    pub(crate) entries: Vec<Value>,
    pub(crate) keys: Vec<String>,
    traces: Traces,
    /// Files of certificates, one for each entry.
    _certificates: TempDir,
    /// Files that may hold keys: the tests wrote them.
    planted: Vec<PathBuf>,
}

/// A text of this many characters that no other seed gives, of letters, digits
/// and `marks`.
fn noise(seed: usize, length: usize, marks: &[u8]) -> String {
    let letters = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
    let alphabet = [letters, marks].concat();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed as u64 + 1);
    let letter = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let at = usize::try_from(state >> 33).unwrap() % alphabet.len();
        char::from(alphabet[at])
    };
    std::iter::repeat_with(letter).take(length).collect()
}

/// The key of an entry. Every third has characters that JSON, URLs or shells
/// spell in their own way.
fn key(n: usize) -> String {
    match n % 3 {
        0 => noise(n, 33, b""),
        1 => format!("{}\"\\{}", noise(n, 15, b""), noise(n + 100, 15, b"")),
        _ => format!("{}/={}", noise(n, 16, b"+%~;"), noise(n + 100, 15, b"")),
    }
}

impl Vault {
    pub(crate) fn new(places: &Places) -> Self {
        let mut routes = Vec::new();
        let certificates = tempfile::tempdir().unwrap();
        let (_, stranger) = certificate("nobody");
        let entries: Vec<Value> = (0..ENTRIES)
            .map(|n| {
                let folder = format!("c{n:02}-{}", noise(n + 400, 14, b""));
                let path = certificates.path().join(folder);
                std::fs::create_dir(&path).unwrap();
                let trusted = match &places.trusted {
                    Some((group, pem)) if n / KINDS.len() == *group => pem,
                    _ => &stranger,
                };
                let path = path.join("roots.pem");
                std::fs::write(&path, trusted).unwrap();
                entry(n, places, &path, &mut routes)
            })
            .collect();
        let world = World::with(&json!(entries));
        let keys: Vec<String> = (0..ENTRIES)
            .filter(|n| n % KINDS.len() != SCRIPTED)
            .map(key)
            .collect();
        Self {
            traces: Traces::new(&keys, &routes),
            world,
            entries,
            keys: (0..ENTRIES).map(key).collect(),
            _certificates: certificates,
            planted: Vec::new(),
        }
    }

    /// Without any server.
    pub(crate) fn offline() -> Self {
        Self::new(&Places::default())
    }

    /// A command with everything that makes a process talk.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.world.command(arguments);
        command
            .env("AGENTX_LOG", "trace")
            .env("RUST_BACKTRACE", "1");
        command
    }

    /// A talkative duplex session on entry `n`.
    pub(crate) fn session(&self, n: usize, further: &[&str]) -> Agent {
        self.session_on(&id(n), further)
    }

    /// The same on the entry with this id.
    pub(crate) fn session_on(&self, id: &str, further: &[&str]) -> Agent {
        let arguments = [
            &DUPLEX[..],
            &["--provider", id, "--include-partial-messages"],
            &["--permission-mode", "bypassPermissions"],
            further,
        ];
        Agent::start(self.command(&arguments.concat()))
    }

    /// Runs a talkative process to its end.
    pub(crate) fn run(&self, arguments: &[&str], stdin: &str) -> Outcome {
        finish(self.command(arguments), stdin)
    }

    /// Writes a file that holds or names a key on purpose.
    pub(crate) fn plant(&mut self, path: PathBuf, text: &str) {
        std::fs::write(&path, text).unwrap();
        self.planted.push(path);
    }

    /// Gives the last entry, under the id `script`, this script.
    pub(crate) fn script(&mut self, text: &str) {
        let own = json!({"model": "m", "script": "script.json"});
        let mut entries = self.entries.clone();
        entries[ENTRIES - 1] = json!({"id": "script", "type": "scripted", "scripted": own});
        let registry = json!({"version": 2, "providers": entries}).to_string();
        let home = self.world.home();
        std::fs::write(home.join("auth.json"), registry).unwrap();
        let path = home.join("script.json");
        if !path.exists() {
            self.world.write_private("script.json", "");
        }
        self.plant(path, text);
    }

    /// What a running process and its parent could tell to others.
    pub(crate) fn judge_process(&self, pid: u32) {
        for file in ["cmdline", "environ"] {
            let path = format!("/proc/{pid}/{file}");
            self.traces.judge(&path, &std::fs::read(&path).unwrap());
        }
    }

    /// Fails if a key or a route is in what a process said, or in a file below
    /// any of the folders it knows, other than `auth.json`.
    #[track_caller]
    pub(crate) fn judge(&self, what: &str, outcome: &Outcome) {
        self.traces
            .judge(&format!("{what}: stdout"), outcome.stdout.as_bytes());
        self.traces
            .judge(&format!("{what}: stderr"), outcome.stderr.as_bytes());
        self.judge_files(what);
    }

    /// The same for words of the test, such as an error.
    #[track_caller]
    pub(crate) fn judge_text(&self, what: &str, text: &str) {
        self.traces.judge(what, text.as_bytes());
    }

    #[track_caller]
    fn judge_files(&self, what: &str) {
        let spared = [self.world.home().join("auth.json")];
        let mut folders = vec![self.world.root().to_owned()];
        while let Some(folder) = folders.pop() {
            for item in std::fs::read_dir(folder).unwrap() {
                let item = item.unwrap();
                let path = item.path();
                if spared.contains(&path) || self.planted.contains(&path) {
                    continue;
                }
                let path_text = path.display().to_string();
                let told = format!("{what}: {path_text}");
                self.traces.judge(&told, path_text.as_bytes());
                let kind = item.file_type().unwrap();
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file() {
                    self.traces.judge(&told, &std::fs::read(&path).unwrap());
                }
            }
        }
    }
}

pub(crate) fn id(n: usize) -> String {
    format!("e{n:02}")
}

pub(crate) fn model(n: usize) -> String {
    format!("model-{n:02}")
}

/// Entry `n`; what must not be seen of its route goes to `routes`.
fn entry(n: usize, places: &Places, ca_file: &Path, routes: &mut Vec<String>) -> Value {
    let ca_file = ca_file.to_str().unwrap().to_owned();
    let group = n / KINDS.len();
    let path = format!("p{n:02}-{}", noise(n + 200, 14, b""));
    let origin = places.origins.get(group).cloned().unwrap_or_else(|| {
        // Names are the same in lower case, and are told so.
        let host = format!("h{n:02}-{}.invalid", noise(n + 300, 14, b"")).to_lowercase();
        routes.push(host.clone());
        format!("https://{host}")
    });
    let mut base = format!("{origin}/{path}");
    let (kind, api) = KINDS[n % KINDS.len()]
        .split_once(' ')
        .unwrap_or((KINDS[n % KINDS.len()], ""));
    let mut own = json!({"model": model(n)});
    let members = own.as_object_mut().unwrap();
    if kind == "scripted" {
        members.insert("from_prompt".into(), json!(true));
    } else {
        members.insert("api_key".into(), json!(key(n)));
        let folder = ca_file.rsplit('/').nth(1).unwrap();
        routes.extend([path, base.clone(), folder.to_owned()]);
        routes.push(origin.rsplit("://").next().unwrap().to_owned());
    }
    match kind {
        "azure_openai" => {
            let deployment = format!("d{n:02}-{}", noise(n + 500, 14, b""));
            let version = format!("2099-{}", noise(n + 600, 14, b""));
            routes.extend([deployment.clone(), version.clone()]);
            members.insert("endpoint".into(), json!(base));
            members.insert("deployment".into(), json!(deployment));
            members.insert("api_version".into(), json!(version));
        }
        "scripted" => {}
        _ => {
            if api.is_empty() {
                base.push('/');
            } else {
                members.insert("api".into(), json!(api));
            }
            members.insert("base_url".into(), json!(base));
        }
    }
    json!({"id": id(n), "type": kind, "default": n == SCRIPTED, "ca_file": ca_file, kind: own})
}

/// The path of an entry of the registry, as its server sees it.
pub(crate) fn path_of(entry: &Value) -> &str {
    let own = &entry[entry["type"].as_str().unwrap()];
    let url = ["endpoint", "base_url"].map(|name| own[name].as_str());
    let url = url.into_iter().flatten().next();
    Path::new(url.unwrap().trim_end_matches('/'))
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap()
}
