//! Questions of a tool about the network, on their way through the pump.

use crate::support::{Bench, Silent, Sink, channel_of_news, configured, duplex, script, world};
use agentx_core::agent::Config;
use agentx_core::json::RawJson;
use agentx_core::schema::permission::{Behavior, PermissionMode};
use agentx_core::tool::ToolDeclaration;
use agentx_pump::pump::{News, Streams};
use agentx_pump::world::World;
use agentx_tools::{CommandTool, CommandTools, Toolbox, ToolboxConfig};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// A tool that tells where its socket is, and prints what it reads then; in
/// between the test plays it.
fn tool(name: &str, background: bool) -> CommandTool {
    let program = "printf %s \"$AGENTX_NETWORK_SOCKET\" >told; cat said";
    let declared = ToolDeclaration {
        name: name.to_owned(),
        description: String::new(),
        input_schema: RawJson::parse(r#"{"type":"object"}"#).unwrap(),
        command: ["/bin/sh", "-c", program].map(str::to_owned).into(),
        timeout: Duration::from_secs(600),
        background,
        parallel: false,
        permission: Behavior::Ask,
    };
    CommandTool::new(declared).unwrap()
}

/// A session, and the folder that its tools work in.
struct Session {
    folder: TempDir,
    bench: Bench,
    output: Sink,
}

impl Session {
    /// One whose model calls this tool.
    fn calling(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for fifo in ["told", "said"] {
            let made = Command::new("mkfifo")
                .arg(folder.path().join(fifo))
                .status();
            assert!(made.unwrap().success());
        }
        let mut config = ToolboxConfig::new("/nonexistent/home", BTreeMap::new());
        config.commands = CommandTools::new([tool("Connect", false), tool("Later", true)]).unwrap();
        config.temp = folder.path().to_owned();
        let tools = config.specs().into();
        let world = World {
            toolbox: Arc::new(Toolbox::new(config)),
            ..world()
        };
        let config = Config {
            tools,
            cwd: folder.path().to_str().unwrap().to_owned(),
            permission_mode: PermissionMode::BypassPermissions,
            ..configured()
        };
        let output = Sink::default();
        let streams = Streams {
            input: Box::new(Silent),
            output: Box::new(output.clone()),
            errors: Box::new(Sink::default()),
        };
        let bench = Bench::start(config, world, duplex(), streams, channel_of_news());
        let mut session = Self {
            folder,
            bench,
            output,
        };
        let call = json!({"name": name, "input": {}});
        session.say(&script(
            &json!([{"tool_calls": [call]}, {"text": "done"}, {"text": "told"}]),
        ));
        session
    }

    fn say(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.bench.pump.take(News::Input(line.into_bytes()));
        self.bench.settle();
    }

    /// Asks as the tool would, once it runs.
    fn ask(&self) -> BufReader<UnixStream> {
        let socket = fs::read_to_string(self.folder.path().join("told")).unwrap();
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.write_all(b"{\"host\":\"example.org\"}\n").unwrap();
        BufReader::new(stream)
    }

    /// Lets the tool say this and end.
    fn end_tool(&self, text: &str) {
        fs::write(self.folder.path().join("said"), text).unwrap();
    }

    /// Goes on until there is a record of this type.
    fn until(&mut self, kind: &str) -> Value {
        loop {
            let records = self.output.records();
            if let Some(found) = records.iter().find(|record| record["type"] == kind) {
                return found.clone();
            }
            self.bench.step();
        }
    }
}

fn line(stream: &mut BufReader<UnixStream>) -> String {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    line
}

// covers: WIRE-PERM-004, WIRE-PERM-080
#[test]
fn a_question_of_a_tool_comes_to_the_host_and_its_answer_to_the_tool() {
    for (behavior, told) in [
        (
            json!({"behavior": "allow", "updatedInput": {}}),
            "{\"allowed\":true}\n",
        ),
        (
            json!({"behavior": "deny", "message": "no"}),
            "{\"allowed\":false}\n",
        ),
    ] {
        let mut session = Session::calling("Connect");
        let mut stream = session.ask();
        let question = session.until("control_request");
        let request = &question["request"];
        assert_eq!(request["tool_name"], "SandboxNetworkAccess");
        assert_eq!(request["input"], json!({"host": "example.org"}));
        let id = &question["request_id"];
        let response = json!({"subtype": "success", "request_id": id, "response": behavior});
        session.say(&json!({"type": "control_response", "response": response}).to_string());
        assert_eq!(line(&mut stream), told);
        session.end_tool("connected");
        session.until("result");
        let records = session.output.records();
        let result = records
            .iter()
            .find(|record| record["type"] == "user")
            .unwrap();
        assert!(result.to_string().contains("connected"), "{result}");
    }
}

// covers: WIRE-PERM-004
#[test]
fn a_question_that_is_open_when_its_call_is_cancelled_is_denied() {
    let mut session = Session::calling("Connect");
    let mut stream = session.ask();
    session.until("control_request");
    let interrupt =
        json!({"type": "control_request", "request_id": "c1", "request": {"subtype": "interrupt"}});
    session.say(&interrupt.to_string());
    let said = line(&mut stream);
    assert!(said.starts_with("{\"allowed\":false,"), "{said}");
    session.until("control_cancel_request");
    session.until("result");
}

// covers: WIRE-PERM-004
#[test]
fn a_background_task_is_denied_at_once() {
    let mut session = Session::calling("Later");
    let mut stream = session.ask();
    let why = "{\"allowed\":false,\"error\":\"a background task cannot ask\"}\n";
    assert_eq!(line(&mut stream), why);
    session.end_tool("later");
    session.until("result");
    let records = session.output.records();
    assert!(
        records
            .iter()
            .all(|record| record["type"] != "control_request")
    );
}
