//! The binary as a host sees it: a process, three pipes, an exit status.

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, PipeReader, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A wait that nobody should ever see; only a hang ends here.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Options of a duplex session.
pub(crate) const DUPLEX: [&str; 5] = [
    "--print",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
];

/// A home folder, a working folder and a temporary folder, gone afterwards.
pub(crate) struct World {
    root: tempfile::TempDir,
}

impl World {
    /// Folders without any configuration; not even the home folder exists.
    pub(crate) fn empty() -> Self {
        let world = Self {
            root: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(world.work()).unwrap();
        fs::create_dir(world.temporary()).unwrap();
        world
    }

    /// Providers as given.
    pub(crate) fn with(providers: &Value) -> Self {
        let world = Self::empty();
        world.make_home();
        world.write_private("auth.json", &auth(providers));
        world
    }

    /// The scripted provider that takes its script from the prompts.
    pub(crate) fn scripted() -> Self {
        Self::with(&json!([from_prompt("main", &json!({}))]))
    }

    pub(crate) fn make_home(&self) {
        let mut folder = fs::DirBuilder::new();
        folder.mode(0o700).create(self.home()).unwrap();
    }

    /// Writes a file of mode 0600 into the home folder.
    pub(crate) fn write_private(&self, name: &str, text: &str) {
        let mut file = fs::OpenOptions::new();
        let file = file.write(true).create_new(true).mode(0o600);
        let mut file = file.open(self.home().join(name)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// The folder that holds all others.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.root.path().join("tmp")
    }

    /// The binary with these arguments and an environment of nothing but the
    /// home folder and the temporary one.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let driver = driver(arguments);
        let driver: Vec<&str> = driver.iter().map(String::as_str).collect();
        let mut command = bare(&[&driver, arguments].concat());
        command
            .current_dir(self.work())
            .env("AGENTX_HOME", self.home())
            .env("TMPDIR", self.temporary());
        command
    }

    /// Runs the binary to its end with this on stdin.
    pub(crate) fn run(&self, arguments: &[&str], stdin: &str) -> Outcome {
        finish(self.command(arguments), stdin)
    }

    /// Starts a duplex session.
    pub(crate) fn duplex(&self, further: &[&str]) -> Agent {
        let arguments = [&DUPLEX[..], further].concat();
        Agent::start(self.command(&arguments))
    }
}

/// Options that put a session on the driver that `AGENTX_E2E_DRIVER` names, where
/// the arguments ask for a session and leave it open on which.
pub(crate) fn driver(arguments: &[&str]) -> Vec<String> {
    let others = ["demo", "schema", "sessions", "--list-providers", "--driver"];
    let is_other = |argument: &&str| others.iter().any(|other| argument.starts_with(other));
    match std::env::var("AGENTX_E2E_DRIVER") {
        Ok(driver) if !arguments.iter().any(is_other) => vec!["--driver".to_owned(), driver],
        _ => Vec::new(),
    }
}

/// The binary with these arguments and no environment at all.
pub(crate) fn bare(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentx"));
    command.args(arguments).env_clear();
    command
}

pub(crate) fn auth(providers: &Value) -> String {
    json!({"version": 2, "providers": providers}).to_string()
}

/// An entry of the scripted provider; `extra` are further members of it.
pub(crate) fn from_prompt(id: &str, extra: &Value) -> Value {
    let mut entry = json!({
        "id": id, "type": "scripted",
        "scripted": {"model": "fixture-model", "from_prompt": true}
    });
    let members = entry.as_object_mut().unwrap();
    members.extend(extra.as_object().unwrap().clone());
    entry
}

/// A prompt that scripts the answers to itself.
pub(crate) fn script(steps: &Value) -> String {
    format!("SCRIPT {}", json!({"steps": steps}))
}

/// A user record.
pub(crate) fn user(content: &str) -> String {
    let message = json!({"role": "user", "content": content});
    json!({"type": "user", "message": message, "parent_tool_use_id": null}).to_string()
}

/// A control request.
pub(crate) fn control(id: &str, subtype: &str) -> String {
    json!({"type": "control_request", "request_id": id, "request": {"subtype": subtype}})
        .to_string()
}

/// The answer to a permission question.
pub(crate) fn decide(question: &Value, decision: &Value) -> String {
    let response = json!({
        "subtype": "success", "request_id": question["request_id"], "response": decision
    });
    json!({"type": "control_response", "response": response}).to_string()
}

/// How a process ended and what it said.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Exit status; `None` after a death by signal.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// The records on stdout; fails unless every line is one.
    pub(crate) fn records(&self) -> Vec<Value> {
        assert!(self.stdout.is_empty() || self.stdout.ends_with('\n'));
        let lines = self.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Fails unless the run did not begin, for a reason that is no matter of
    /// usage, and said this on its one line.
    #[track_caller]
    pub(crate) fn failed(&self, text: &str) {
        assert_eq!(
            (self.status, self.stdout.as_str()),
            (Some(1), ""),
            "{}",
            self.stderr
        );
        let line = self.stderr.strip_prefix("agentx: error: ").unwrap();
        assert!(
            line.contains(text) && line.matches('\n').count() == 1,
            "{line}"
        );
    }

    /// Fails unless the run was refused with this one line.
    #[track_caller]
    pub(crate) fn refused(&self, text: &str) {
        let said = (self.status, self.stdout.as_str(), self.stderr.as_str());
        let expected = format!("agentx: error: {text}\n");
        assert_eq!(said, (Some(2), "", expected.as_str()));
    }
}

/// Runs a command to its end with this on stdin. One that does not read it all
/// is fine.
pub(crate) fn finish(mut command: Command, stdin: &str) -> Outcome {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let text = stdin.to_owned();
    let writer = thread::spawn(move || drop(input.write_all(text.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Outcome {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A session with a host: this.
pub(crate) struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    records: Receiver<Value>,
    /// All records that were looked at so far.
    pub(crate) seen: Vec<Value>,
    reader: Option<JoinHandle<String>>,
    /// Lines of stderr as they come.
    said: Receiver<String>,
    stderr: JoinHandle<String>,
}

impl Agent {
    pub(crate) fn start(mut command: Command) -> Self {
        let (reader, writer) = std::io::pipe().unwrap();
        command.stdin(Stdio::piped()).stdout(writer);
        command.stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        // The command still holds the write end of stdout.
        drop(command);
        let mut agent = Self::unread(child);
        agent.read(reader);
        agent
    }

    /// A session whose stdout nobody reads yet.
    pub(crate) fn start_unread(mut command: Command) -> (Self, PipeReader) {
        let (reader, writer) = std::io::pipe().unwrap();
        command.stdin(Stdio::piped()).stdout(writer);
        command.stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        drop(command);
        (Self::unread(child), reader)
    }

    fn unread(mut child: Child) -> Self {
        let stdin = child.stdin.take();
        let errors = child.stderr.take().unwrap();
        let (heard, said) = channel();
        let stderr = thread::spawn(move || {
            let mut text = String::new();
            for line in BufReader::new(errors).lines() {
                let line = line.unwrap();
                text.push_str(&line);
                text.push('\n');
                drop(heard.send(line));
            }
            text
        });
        Self {
            child,
            stdin,
            records: channel().1,
            seen: Vec::new(),
            reader: None,
            said,
            stderr,
        }
    }

    /// Reads stdout from here on.
    pub(crate) fn read(&mut self, stdout: PipeReader) {
        let (found, records) = channel();
        self.records = records;
        self.reader = Some(thread::spawn(move || {
            let mut all = String::new();
            for line in BufReader::new(stdout).lines() {
                let line = line.unwrap();
                all.push_str(&line);
                all.push('\n');
                let record = serde_json::from_str(&line).unwrap();
                drop(found.send(record));
            }
            all
        }));
    }

    pub(crate) fn send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Waits until a line on stderr holds this.
    #[track_caller]
    pub(crate) fn until_said(&self, text: &str) {
        loop {
            match self.said.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(text) => return,
                Ok(_) => {}
                Err(_) => panic!("stderr did not say {text:?}"),
            }
        }
    }

    /// Sends what the agent may no longer take.
    pub(crate) fn try_send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        drop(stdin.write_all(format!("{line}\n").as_bytes()));
    }

    /// The next record that fits.
    #[track_caller]
    pub(crate) fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let Ok(record) = self.records.recv_timeout(PATIENCE) else {
                panic!("no such record after {:#?}", self.seen)
            };
            self.seen.push(record.clone());
            if fits(&record) {
                return record;
            }
        }
    }

    /// The next record of this type, or system record of this subtype.
    #[track_caller]
    pub(crate) fn until_type(&mut self, word: &str) -> Value {
        self.until(|record| {
            record["type"] == word || record["type"] == "system" && record["subtype"] == word
        })
    }

    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Ends stdin and waits for the end of the process.
    pub(crate) fn end(mut self) -> Outcome {
        self.close_stdin();
        self.wait()
    }

    /// Waits for the end of the process, with stdin as it is.
    pub(crate) fn wait(mut self) -> Outcome {
        let status = self.child.wait().unwrap().code();
        let stdout = self.reader.take().map(|reader| reader.join().unwrap());
        Outcome {
            status,
            stdout: stdout.unwrap_or_default(),
            stderr: self.stderr.join().unwrap(),
        }
    }
}

pub(crate) use rustix::process::Signal;

/// The types of records, with subtype and state where they have one.
pub(crate) fn kinds(records: &[Value]) -> Vec<String> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = |record: &Value| match word(&record["subtype"]).as_str() {
        "session_state_changed" => word(&record["state"]),
        "" => word(&record["type"]),
        subtype => subtype.to_owned(),
    };
    records.iter().map(kind).collect()
}

/// The texts of all tool results.
pub(crate) fn tool_results(records: &[Value]) -> Vec<String> {
    let blocks = records
        .iter()
        .filter(|record| record["type"] == "user")
        .filter_map(|record| record["message"]["content"].as_array())
        .flatten()
        .filter(|block| block["type"] == "tool_result");
    let text = |block: &Value| block["content"][0]["text"].as_str().unwrap().to_owned();
    blocks.map(text).collect()
}

/// Whether this process still is.
pub(crate) fn runs(pid: &str) -> bool {
    Path::new("/proc").join(pid.trim()).exists()
}

/// Waits until this process has ended, whoever has to reap it.
#[track_caller]
pub(crate) fn until_gone(pid: &str) {
    let path = Path::new("/proc").join(pid).join("stat");
    let begun = Instant::now();
    while let Ok(stat) = fs::read_to_string(&path)
        && !stat.contains(") Z ")
    {
        assert!(begun.elapsed() < PATIENCE, "it still runs: {stat}");
        thread::yield_now();
    }
}
