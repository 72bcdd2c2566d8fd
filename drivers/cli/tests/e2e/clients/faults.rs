//! Agents that do not behave.

use super::{Answers, Client, agent, for_each_driver, shell};
use crate::support::{World, runs, script};
use agentx_core::schema::host::Interrupt;
use agentx_pump::host::{Agent, Error, Prompt};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::os::unix::process::ExitStatusExt as _;
use std::sync::mpsc::channel;
use std::time::Duration;

for_each_driver! {
    #[test]
    fn a_program_that_is_not_there_is_told_by_its_name();
    // covers: WIRE-008
    #[test]
    fn an_agent_that_ends_is_told_with_its_status_and_its_last_words();
    // covers: WIRE-008
    #[test]
    fn an_agent_that_is_killed_in_a_turn_leaves_nobody_waiting();
    // covers: DEC-10
    #[test]
    fn an_agent_that_writes_garbage_is_ended();
    #[test]
    fn an_agent_that_does_not_answer_runs_out_of_time();
    #[test]
    fn an_agent_that_never_reads_is_sent_no_more();
}

fn a_program_that_is_not_there_is_told_by_its_name<C: Client>() {
    let start = |agent| C::start(agent, Answers::default()).err().unwrap();
    let missing = start(Agent::new("/nowhere/agent"));
    let program = "/nowhere/agent".to_owned();
    assert_eq!(missing, Error::NotFound { program });
    let folder = start(shell("exit").cwd("/nowhere/folder")).to_string();
    assert!(
        folder.contains("\"/nowhere/folder\"") && folder.contains("\"/bin/sh\""),
        "{folder}"
    );
    let denied = start(Agent::new("/etc/passwd")).to_string();
    assert!(denied.contains("Permission denied"), "{denied}");
}

fn an_agent_that_ends_is_told_with_its_status_and_its_last_words<C: Client>() {
    let agent = shell("echo one >&2; echo two >&2; exit 7");
    let client = C::start(agent, Answers::default()).unwrap();
    let told = client.call(Interrupt {}.into()).unwrap_err();
    let Error::Ended(ended) = &told else {
        panic!("{told:?}");
    };
    assert_eq!(ended.code(), Some(7));
    assert_eq!(*ended.stderr, ["one", "two"]);
    let words = "the agent ended with status 7; it said last:\n  one\n  two";
    assert_eq!(told.to_string(), words);
    assert_eq!(client.next(), Some(Err(told.clone())));
    assert_eq!(client.next(), None);
    // Nothing changes any more.
    assert_eq!(client.send(Prompt::text("hello")), Err(told.clone()));
    assert_eq!(client.wait(), client.kill());
}

fn an_agent_that_is_killed_in_a_turn_leaves_nobody_waiting<C: Client>() {
    let world = World::scripted();
    let (asked, questions) = channel();
    let answers = Answers::deciding(move |_| {
        asked.send(()).unwrap();
        // A callback that is taken back need not end by itself.
        async { Err(std::future::pending::<agentx_pump::host::Failure>().await) }
    });
    let client = C::start(agent(&world, &[]), answers).unwrap();
    let call = json!({"name": "Bash", "input": {"command": "touch file"}});
    client.prompt(&script(&json!([{"tool_calls": [call]}])));
    questions.recv().unwrap();
    let pid = Pid::from_raw(client.id().try_into().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    let told = loop {
        match client.next().unwrap() {
            Ok(_) => {}
            Err(told) => break told,
        }
    };
    let Error::Ended(ended) = &told else {
        panic!("{told:?}");
    };
    assert_eq!(ended.status.unwrap().signal(), Some(9));
    assert_eq!(client.next(), None);
    assert_eq!(client.interrupt(), Err(told));
    assert!(!runs(&client.id().to_string()));
}

fn an_agent_that_writes_garbage_is_ended<C: Client>() {
    let agent = shell("echo '{\"type\":\"keep_alive\"}'; echo nonsense; exec sleep 1000");
    let client = C::start(agent, Answers::default()).unwrap();
    let told = client.next().unwrap().unwrap_err();
    let Error::Protocol { message } = &told else {
        panic!("{told:?}");
    };
    assert!(
        message.starts_with("line 2 of its output, byte 2:"),
        "{message}"
    );
    assert!(!message.contains("nonsense"), "{message}");
    assert_eq!(client.next(), None);
    assert_eq!(client.call(Interrupt {}.into()), Err(told));
    assert_eq!(client.wait().status.unwrap().signal(), Some(15));
    assert!(!runs(&client.id().to_string()));
}

fn an_agent_that_does_not_answer_runs_out_of_time<C: Client>() {
    let after = Duration::from_millis(20);
    let agent = shell("while read -r line; do :; done").timeout(after);
    let client = C::start(agent, Answers::default()).unwrap();
    let operation = "interrupt".to_owned();
    let told = client.call(Interrupt {}.into());
    assert_eq!(told, Err(Error::TimedOut { operation, after }));
    // It is none the worse for it.
    client.close();
    assert!(client.wait().success());
    assert_eq!(client.next(), None);
    assert_eq!(client.call(Interrupt {}.into()), Err(Error::Closed));
}

fn an_agent_that_never_reads_is_sent_no_more<C: Client>() {
    let client = C::start(shell("exec sleep 1000"), Answers::default()).unwrap();
    let text = "x".repeat(1024 * 1024);
    let mut sent = 0;
    while client.send(Prompt::text(&*text)).is_ok() {
        sent += 1;
    }
    assert!((16..=17).contains(&sent), "{sent}");
    assert_eq!(client.send(Prompt::text("small")), Err(Error::Stalled));
    assert_eq!(client.kill().status.unwrap().signal(), Some(15));
    assert_eq!(client.next(), None);
}
