//! A working directory, a folder outside it and a home with a secret.

use agentx_core::checkpoint::Bookkeeping;
use agentx_core::json::RawJson;
use agentx_core::tool::{Access, Environment, ToolCall, ToolContent, ToolOutcome, ToolRequest};
use agentx_tools::{CancelToken, Toolbox, ToolboxConfig};
use rustix::fs::{CWD, Mode, mkfifoat};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

pub(crate) struct World {
    top: TempDir,
    pub(crate) config: ToolboxConfig,
    pub(crate) access: Access,
    pub(crate) environment: Environment,
}

impl World {
    pub(crate) fn new() -> Self {
        let top = TempDir::new().unwrap();
        for folder in ["work", "other", "home"] {
            fs::create_dir(top.path().join(folder)).unwrap();
        }
        fs::write(top.path().join("home/auth.json"), "the secret").unwrap();
        fs::write(top.path().join("other/file"), "outside\n").unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let environment = BTreeMap::from([("PATH".into(), path)]);
        let mut config = ToolboxConfig::new(top.path().join("home"), environment);
        config.limits.ending.term_grace = Duration::from_millis(50);
        config.limits.ending.aftermath = Duration::from_millis(50);
        Self {
            top,
            config,
            access: Access::WorkingDirectories,
            environment: Environment::default(),
        }
    }

    /// A path beside the working directory.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    /// A path in the working directory.
    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.top.path().join("work").join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn fifo(&self, name: &str) -> PathBuf {
        let path = self.work(name);
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
        path
    }

    pub(crate) fn toolbox(&self) -> Toolbox {
        Toolbox::new(self.config.clone())
    }

    pub(crate) fn request(&self, name: &str, input: &str) -> ToolRequest {
        ToolRequest {
            call: ToolCall {
                id: "toolu_1".into(),
                name: name.into(),
                input: RawJson::parse(input).unwrap(),
            },
            access: self.access,
            directories: vec![self.beside("work").to_str().unwrap().to_owned()].into(),
            environment: self.environment.clone().into(),
            bookkeeping: Bookkeeping::default(),
        }
    }

    pub(crate) fn run(&self, name: &str, input: &str) -> ToolOutcome {
        let request = self.request(name, input);
        self.toolbox().run(&request, &CancelToken::new())
    }

    /// The text of a call that must succeed.
    #[track_caller]
    pub(crate) fn ok(&self, name: &str, input: &str) -> String {
        let outcome = self.run(name, input);
        assert!(!outcome.is_error, "{outcome:?}");
        text(&outcome)
    }

    /// The text of a call that must fail.
    #[track_caller]
    pub(crate) fn fault(&self, name: &str, input: &str) -> String {
        let outcome = self.run(name, input);
        assert!(outcome.is_error, "{outcome:?}");
        text(&outcome)
    }

    /// A call that must fail with a text that contains `why`.
    #[track_caller]
    pub(crate) fn refused(&self, name: &str, input: &str, why: &str) {
        let text = self.fault(name, input);
        assert!(text.contains(why), "{text}");
        assert!(!text.contains("the secret"), "{text}");
    }

    /// Runs a shell command that must succeed.
    #[track_caller]
    pub(crate) fn sh(&self, command: &str) -> String {
        self.ok("Bash", &command_input(command))
    }
}

/// The input of `Bash` for a command.
pub(crate) fn command_input(command: &str) -> String {
    format!("{{\"command\":{}}}", quoted(command))
}

/// A text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out + "\""
}

pub(crate) fn text(outcome: &ToolOutcome) -> String {
    let [ToolContent::Text(text)] = &*outcome.content else {
        panic!("not one text: {outcome:?}");
    };
    text.clone()
}
