//! The same binary on each of its drivers (configuration, "Commands").

use crate::server::{self, ModelServer, read_request};
use crate::support::{
    Signal, World, bare, control, decide, finish, kinds, script, tool_results, user,
};
use crate::terminal::{PROMPT, Terminal};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::thread;

const DRIVERS: [&str; 3] = ["tokio", "async-std", "mio"];

fn provider(origin: &str) -> Value {
    json!([{"id": "local", "type": "openai_compatible", "openai_compatible": {
        "base_url": format!("{origin}/v1"), "model": "m1", "api_key": "sk-local-4711",
        "api": "chat_completions"}}])
}

#[test]
fn each_driver_answers_one_prompt_in_every_form() {
    for driver in DRIVERS {
        let world = World::scripted();
        let text = world.run(&["-p", "--driver", driver, "hi"], "");
        let said = (text.status, text.stdout.as_str(), text.stderr.as_str());
        assert_eq!(said, (Some(0), "echo: hi\n", ""), "{driver}");
        let json = world.run(
            &["-p", "--driver", driver, "--output-format=json", "hi"],
            "",
        );
        assert_eq!(json.records()[0]["result"], "echo: hi", "{driver}");
        let records = world.run(
            &["--driver", driver, "--output-format=stream-json", "hi"],
            "",
        );
        let expected = ["init", "running", "assistant", "success", "idle"];
        assert_eq!(kinds(&records.records()), expected, "{driver}");
    }
}

#[test]
fn each_driver_shows_the_demo() {
    for driver in DRIVERS {
        let world = World::empty();
        let mut command = bare(&["demo", "--driver", driver]);
        command.env("TMPDIR", world.temporary());
        let shown = finish(command, "");
        let status = (shown.status, shown.stderr.as_str());
        assert_eq!(status, (Some(0), ""), "{driver}");
        let end = "success: 3 model requests";
        assert!(shown.stdout.contains(end), "{driver}: {}", shown.stdout);
    }
}

#[test]
fn each_driver_serves_a_terminal() {
    for driver in DRIVERS {
        let world = World::scripted();
        let mut terminal = Terminal::start(&world, &["--driver", driver], &[]);
        terminal.until(PROMPT);
        terminal.line("good day");
        terminal.until("echo: good day\r\n");
        terminal.until(PROMPT);
        terminal.line("/quit");
        assert_eq!(terminal.end().0, Some(0), "{driver}");
    }
}

// covers: WIRE-PERM-001
#[test]
fn each_driver_asks_runs_a_tool_and_is_interrupted() {
    for (driver, profile) in DRIVERS
        .iter()
        .flat_map(|driver| ["standalone", "reference"].map(|profile| (driver, profile)))
    {
        let world = World::scripted();
        let mut agent = world.duplex(&["--driver", driver, "--profile", profile]);
        let write = json!({"name": "Write", "input": {"file_path": "a", "content": "b"}});
        agent.send(&user(&script(
            &json!([{"tool_calls": [write]}, {"text": "done"}]),
        )));
        let question = agent.until(|record| record["request"]["subtype"] == "can_use_tool");
        assert!(!world.work().join("a").exists(), "{driver}");
        let input = &question["request"]["input"];
        let allowed = json!({"behavior": "allow", "updatedInput": input});
        agent.send(&decide(&question, &allowed));
        assert_eq!(agent.until_type("result")["result"], "done", "{driver}");
        assert!(world.work().join("a").exists(), "{driver}");
        agent.send(&user(&script(&json!([{"deltas": ["half"], "hold": true}]))));
        agent.until(|record| record["state"] == "running" || record["type"] == "init");
        agent.send(&control("stop", "interrupt"));
        let answer = agent.until_type("control_response");
        assert_eq!(answer["response"]["request_id"], "stop", "{driver}");
        let result = agent.until_type("result");
        assert_eq!(result["subtype"], "error_during_execution", "{driver}");
        let outcome = agent.end();
        assert_eq!(outcome.status, Some(1), "{driver}: {}", outcome.stderr);
        assert_eq!(tool_results(&outcome.records()).len(), 1, "{driver}");
    }
}

#[test]
fn each_driver_asks_a_server() {
    for driver in DRIVERS {
        let server = ModelServer::start(vec![server::chat("said")]);
        let world = World::with(&provider(&server.origin()));
        let outcome = world.run(&["-p", "--driver", driver, "say it"], "");
        let said = (
            outcome.status,
            outcome.stdout.as_str(),
            outcome.stderr.as_str(),
        );
        assert_eq!(said, (Some(0), "said\n", ""), "{driver}");
        let body = &server.requests()[0].body;
        assert_eq!(body["messages"][1]["content"], "say it", "{driver}");
    }
}

/// The socket of an answer under way is closed by the interrupt, while the
/// session goes on.
#[test]
fn each_driver_drops_the_request_that_is_interrupted() {
    for driver in DRIVERS {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let serving = thread::spawn(move || {
            let (mut peer, _) = listener.accept().unwrap();
            read_request(&peer);
            let begin = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
                data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n";
            peer.write_all(begin.as_bytes()).unwrap();
            // The end, or a reset: what was sent may not have been read.
            let _ = peer.read(&mut [0]);
        });
        let world = World::with(&provider(&origin));
        let mut agent = world.duplex(&["--driver", driver, "--include-partial-messages"]);
        agent.send(&user("say it"));
        agent.until(|record| record["event"]["delta"]["text"] == "half");
        agent.send(&control("stop", "interrupt"));
        let result = agent.until_type("result");
        assert_eq!(result["subtype"], "error_during_execution", "{driver}");
        serving.join().unwrap();
        agent.send(&control("alive", "mcp_status"));
        agent.until(|record| record["response"]["request_id"] == "alive");
        let outcome = agent.end();
        assert_eq!(outcome.stderr, "", "{driver}");
    }
}

/// Where descriptors run out, the system's reason is told; no part of a driver breaks.
#[test]
fn each_driver_tells_that_descriptors_have_run_out() {
    let world = World::scripted();
    for driver in DRIVERS {
        let mut refused = 0;
        for limit in 5..32 {
            let arguments = ["-p", "--no-session-persistence", "--driver", driver, "hi"];
            let agent = world.command(&arguments);
            let mut command = Command::new("/bin/sh");
            let script = format!("ulimit -n {limit} && exec \"$0\" \"$@\"");
            command.args(["-c", &script]).arg(agent.get_program());
            command.args(agent.get_args()).current_dir(world.work());
            command.env_clear().env("AGENTX_HOME", world.home());
            let outcome = finish(command, "");
            if outcome.status == Some(0) {
                assert_eq!(outcome.stdout, "echo: hi\n", "{driver}, {limit}");
                continue;
            }
            refused += 1;
            let said = &outcome.stderr;
            assert!(
                said.contains("Too many open files"),
                "{driver}, {limit}: {said}"
            );
            assert!(!said.contains("fault"), "{driver}, {limit}: {said}");
        }
        assert!((1..27).contains(&refused), "{driver}: {refused}");
    }
}

// covers: DEC-20
#[test]
fn each_driver_ends_by_a_signal() {
    for driver in DRIVERS {
        let world = World::scripted();
        let mut agent = world.duplex(&["--driver", driver, "--include-partial-messages"]);
        let held = json!([{"deltas": ["begun"], "hold": true}]);
        agent.send(&user(&script(&held)));
        agent.until_type("stream_event");
        agent.signal(Signal::TERM);
        let outcome = agent.wait();
        assert_eq!(outcome.status, Some(143), "{driver}: {}", outcome.stderr);
        let kinds = kinds(&outcome.records());
        let settled = ["error_during_execution", "idle"].map(str::to_owned);
        assert!(kinds.ends_with(&settled), "{driver}: {kinds:?}");
    }
}
