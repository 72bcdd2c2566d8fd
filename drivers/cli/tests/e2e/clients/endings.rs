//! Both orders of closing, and what is left behind: nothing.

use super::{Answers, Client, agent, for_each_driver, shell};
use crate::support::{World, runs, script, until_gone};
use agentx_pump::host::Decision;
use serde_json::json;
use std::sync::mpsc::channel;

for_each_driver! {
    // covers: WIRE-008
    #[test]
    fn a_closed_input_lets_the_agent_finish_and_its_records_be_read();
    #[test]
    fn an_agent_is_killed_with_its_tools_and_reaped();
    #[test]
    fn a_client_that_is_dropped_leaves_no_process();
    #[test]
    fn what_ignores_sigterm_is_killed_with_its_group();
    #[test]
    fn what_an_agent_leaves_in_its_group_ends_with_it();
}

/// A prompt whose model starts a command that writes its process id and stays.
fn lingering() -> String {
    let command = "echo $$ > pid.new; mv pid.new pid; exec sleep 1000";
    let call = json!({"name": "Bash", "input": {"command": command}});
    script(&json!([{"tool_calls": [call]}, {"text": "over"}]))
}

/// A client whose agent runs such a command, and the command's process id.
fn lingers<C: Client>(world: &World) -> (C, String) {
    let answers = Answers::deciding(|_| async { Ok(Decision::allow()) });
    let client = C::start(agent(world, &[]), answers).unwrap();
    client.prompt(&lingering());
    let file = world.work().join("pid");
    while !file.exists() {
        std::thread::yield_now();
    }
    let pid = std::fs::read_to_string(file).unwrap();
    (client, pid.trim().to_owned())
}

fn a_closed_input_lets_the_agent_finish_and_its_records_be_read<C: Client>() {
    let world = World::scripted();
    let client = C::start(agent(&world, &[]), Answers::default()).unwrap();
    let prompt = client.prompt(&script(&json!([{"text": "to the end"}])));
    client.close();
    assert_eq!(client.result(&prompt), "to the end");
    while let Some(record) = client.next() {
        record.unwrap();
    }
    assert!(client.wait().success());
    assert!(!runs(&client.id().to_string()));
}

fn an_agent_is_killed_with_its_tools_and_reaped<C: Client>() {
    let world = World::scripted();
    let (client, tool) = lingers::<C>(&world);
    // It takes SIGTERM as a reason to end in order.
    assert_eq!(client.kill().code(), Some(143));
    assert!(!runs(&client.id().to_string()));
    until_gone(&tool);
    while let Some(record) = client.next() {
        record.unwrap();
    }
}

fn a_client_that_is_dropped_leaves_no_process<C: Client>() {
    let world = World::scripted();
    let (client, tool) = lingers::<C>(&world);
    let agent = client.id().to_string();
    drop(client);
    assert!(!runs(&agent), "a zombie or worse");
    until_gone(&tool);
}

fn what_ignores_sigterm_is_killed_with_its_group<C: Client>() {
    let (heard, lines) = channel();
    let stubborn = "trap '' TERM; sleep 1000 & echo $! >&2; wait; wait; sleep 1000";
    let told = move |line: &str| heard.send(line.to_owned()).unwrap();
    let client = C::start(shell(stubborn).stderr(told), Answers::default()).unwrap();
    let child = lines.recv().unwrap();
    let agent = client.id().to_string();
    drop(client);
    assert!(!runs(&agent));
    until_gone(&child);
}

fn what_an_agent_leaves_in_its_group_ends_with_it<C: Client>() {
    let leaves = "sleep 1000 & echo $! >&2; exit 3";
    let client = C::start(shell(leaves), Answers::default()).unwrap();
    let ended = client.end();
    // The child held stdout and stderr open, too.
    assert_eq!(ended.code(), Some(3));
    until_gone(&ended.stderr[0]);
}
