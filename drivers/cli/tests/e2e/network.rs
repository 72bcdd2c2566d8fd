//! A command tool of the settings asks whether it may connect somewhere. Its
//! program tells where its socket is, and prints what it reads then; in between
//! the test plays it, beside the host.

use crate::support::{Agent, World, decide, script, tool_results, user};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;

const PROGRAM: &str = "printf %s \"$AGENTX_NETWORK_SOCKET\" >told; cat said";

const YES: &str = "{\"allowed\":true}\n";
const NO: &str = "{\"allowed\":false}\n";

/// A running tool and its host.
struct Session {
    world: World,
    agent: Agent,
    socket: PathBuf,
}

impl Session {
    /// With these hooks in the settings, too.
    fn start(hooks: &Value) -> Self {
        let world = World::scripted();
        for fifo in ["told", "said"] {
            let made = Command::new("mkfifo").arg(world.work().join(fifo)).status();
            assert!(made.unwrap().success());
        }
        let tool = json!({
            "name": "fetch", "description": "Fetches.", "input_schema": {"type": "object"},
            "command": ["/bin/sh", "-c", PROGRAM], "permission": "allow"
        });
        let settings = json!({"tools": [tool], "hooks": hooks});
        world.write_private("settings.json", &settings.to_string());
        let mut agent = world.duplex(&[]);
        agent.send(&user(&script(&json!([
            {"tool_calls": [{"name": "fetch", "input": {}}]}, {"text": "done"}
        ]))));
        let socket = fs::read_to_string(world.work().join("told")).unwrap();
        Self {
            world,
            agent,
            socket: socket.into(),
        }
    }

    fn ask(&self, line: &str) -> BufReader<UnixStream> {
        let mut stream = UnixStream::connect(&self.socket).unwrap();
        stream.write_all(line.as_bytes()).unwrap();
        BufReader::new(stream)
    }

    fn ask_about(&self, host: &str) -> BufReader<UnixStream> {
        self.ask(&format!("{{\"host\":\"{host}\"}}\n"))
    }

    /// The question as it comes to the host.
    fn question(&mut self) -> Value {
        let asks = |record: &Value| record["request"]["tool_name"] == "SandboxNetworkAccess";
        self.agent.until(asks)
    }

    /// Lets the tool say this and end, and the session with it.
    #[track_caller]
    fn end(self, text: &str) {
        fs::write(self.world.work().join("said"), text).unwrap();
        let outcome = self.agent.end();
        assert_eq!(outcome.status, Some(0), "{outcome:?}");
        let results = tool_results(&outcome.records());
        assert_eq!(results, [text]);
        let folder = self.socket.parent().unwrap();
        assert!(!folder.exists(), "nothing is left");
    }
}

fn told(mut stream: BufReader<UnixStream>) -> String {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    line
}

// covers: WIRE-PERM-004, WIRE-PERM-080, WIRE-PERM-A07
#[test]
fn only_an_allow_of_the_host_lets_a_tool_connect() {
    let mut session = Session::start(&json!({}));
    for (decision, line) in [
        (json!({"behavior": "allow", "updatedInput": {}}), YES),
        (json!({"behavior": "deny", "message": "no"}), NO),
        (json!({"behavior": "allow"}), NO),
        (json!({"behavior": "perhaps", "updatedInput": {}}), NO),
        (json!({}), NO),
        (json!("allow"), NO),
    ] {
        let stream = session.ask_about("example.com");
        let question = session.question();
        let request = &question["request"];
        assert_eq!(request["input"], json!({"host": "example.com"}));
        assert_eq!(
            request["description"],
            "Allow network connection to example.com?"
        );
        session.agent.send(&decide(&question, &decision));
        assert_eq!(told(stream), line, "{decision}");
    }
    // What is no question comes to nobody.
    let stream = session.ask("{\"host\":\"\"}\n");
    let why = "{\"allowed\":false,\"error\":\"`host` is empty\"}\n";
    assert_eq!(told(stream), why);
    let seen = session.agent.seen.iter();
    let asked = seen.filter(|record| record["type"] == "control_request");
    assert_eq!(asked.count(), 6);
    session.end("fetched");
}

// covers: WIRE-PERM-004, WIRE-PERM-A07
#[test]
fn the_end_of_the_hosts_input_means_no() {
    let mut session = Session::start(&json!({}));
    let stream = session.ask_about("example.com");
    session.question();
    session.agent.close_stdin();
    assert_eq!(told(stream), NO);
    assert_eq!(told(session.ask_about("example.com")), NO);
    session.end("not fetched");
}

// covers: WIRE-PERM-001, WIRE-PERM-004
#[test]
fn a_hook_for_the_network_races_with_the_host() {
    let hook = |answer: &str| {
        let said = json!({"decision": answer, "message": "so it is"});
        let program = format!("printf %s '{said}'");
        json!({"PermissionRequest": [{"matcher": "SandboxNetworkAccess",
            "hooks": [{"type": "command", "command": ["/bin/sh", "-c", program]}]}]})
    };
    for (answer, line) in [("allow", YES), ("deny", NO)] {
        let mut session = Session::start(&hook(answer));
        let stream = session.ask_about("example.com");
        let question = session.question();
        assert_eq!(told(stream), line, "{answer}");
        let taken_back = session.agent.until_type("control_cancel_request");
        assert_eq!(taken_back["request_id"], question["request_id"]);
        session.end("over");
    }
}
