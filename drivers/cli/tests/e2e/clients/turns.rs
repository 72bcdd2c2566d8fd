//! Turns with callbacks.

use super::{Answers, Client, agent, callback, for_each_driver, json, value};
use crate::support::{World, script};
use agentx_core::schema::host::{GetContextUsage, SetModel};
use agentx_core::schema::outbound::Outbound;
use agentx_pump::host::{Decision, Error, HookEvent, HookOn};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::channel;
use tokio::sync::{Barrier, Notify};

for_each_driver! {
    // covers: WIRE-PERM-040, WIRE-PERM-042
    #[test]
    fn a_call_that_is_allowed_runs_and_one_that_is_denied_does_not();
    // covers: WIRE-PERM-041
    #[test]
    fn a_call_runs_with_the_input_that_the_host_gives_it();
    // covers: WIRE-PERM-002, WIRE-015
    #[test]
    fn a_callback_that_fails_in_any_way_allows_nothing();
    // covers: WIRE-007, WIRE-010, WIRE-PERM-070
    #[test]
    fn an_interrupt_takes_an_open_question_back_and_its_answer_goes_nowhere();
    #[test]
    fn callbacks_run_side_by_side_and_hold_up_nothing();
    // covers: DEC-31
    #[test]
    fn a_hook_of_the_host_decides_about_calls();
    // covers: RT-MCPS-015
    #[test]
    fn a_server_of_the_host_serves_its_tools();
    #[test]
    fn every_prompt_of_many_has_its_result();
    // covers: WIRE-006
    #[test]
    fn a_call_is_answered_or_refused_in_the_agent_s_words();
}

/// A prompt whose model runs these commands at once and says what came out.
fn commands(commands: &[&str]) -> String {
    let call = |command: &&str| json!({"name": "Bash", "input": {"command": command}});
    let calls: Vec<Value> = commands.iter().map(call).collect();
    script(&json!([{"tool_calls": calls}, {"text": "it said {results}"}]))
}

fn a_call_that_is_allowed_runs_and_one_that_is_denied_does_not<C: Client>() {
    let world = World::scripted();
    let answers = Answers::deciding(|question| async move {
        let allows = value(&question.input)["command"] == "echo first";
        Ok(match allows {
            true => Decision::allow(),
            false => Decision::deny("not that one"),
        })
    });
    let client = C::start(agent(&world, &[]), answers).unwrap();
    let about = value(&client.initialize().unwrap());
    assert_eq!(about["pid"], client.id());
    let prompt = client.prompt(&commands(&["echo first"]));
    assert_eq!(client.result(&prompt), "it said first\n");
    let prompt = client.prompt(&commands(&["touch second"]));
    assert_eq!(client.result(&prompt), "it said not that one");
    assert!(client.end().success());
    assert!(!world.work().join("second").exists());
}

fn a_call_runs_with_the_input_that_the_host_gives_it<C: Client>() {
    let world = World::scripted();
    let answers = Answers::deciding(|_| async {
        Ok(Decision::allow_with(json(
            &json!({"command": "echo changed"}),
        ))?)
    });
    let client = C::start(agent(&world, &[]), answers).unwrap();
    let prompt = client.prompt(&commands(&["touch original"]));
    assert_eq!(client.result(&prompt), "it said changed\n");
    assert!(client.end().success());
    assert!(!world.work().join("original").exists());
}

fn a_callback_that_fails_in_any_way_allows_nothing<C: Client>() {
    let failing = Answers::deciding(|_| async { Err("no idea".into()) });
    let panicking = Answers::deciding(|_| async { panic!("a callback of the test") });
    let early = Answers::deciding(|_| -> std::future::Ready<_> { panic!("before its future") });
    let failed = "the callback of the host failed";
    let cases = [
        (Answers::default(), "this host decides about no calls"),
        (failing, "no idea"),
        (panicking, failed),
        (early, failed),
    ];
    for (answers, words) in cases {
        let world = World::scripted();
        let client = C::start(agent(&world, &[]), answers).unwrap();
        let prompt = client.prompt(&commands(&["touch file"]));
        let result = client.result(&prompt);
        assert!(
            result.contains("Tool permission request failed:") && result.contains(words),
            "{result}"
        );
        assert!(client.end().success());
        assert!(!world.work().join("file").exists());
    }
}

fn an_interrupt_takes_an_open_question_back_and_its_answer_goes_nowhere<C: Client>() {
    let world = World::scripted();
    let (asked, questions) = channel();
    let release = Arc::new(Notify::new());
    let held = Arc::clone(&release);
    let answers = Answers::deciding(move |_| {
        asked.send(()).unwrap();
        let held = Arc::clone(&held);
        async move {
            held.notified().await;
            Ok(Decision::allow())
        }
    });
    let client = C::start(agent(&world, &[]), answers).unwrap();
    let prompt = client.prompt(&commands(&["touch file"]));
    questions.recv().unwrap();
    client.interrupt().unwrap();
    let (records, _) = client.records_until_result(&prompt);
    let denied = records.iter().any(|record| {
        matches!(record.known(), Some(Outbound::ToolResult(result))
            if result.message.content[0].is_error)
    });
    assert!(denied, "{records:?}");
    // Whoever still answers is late; one that was dropped does not.
    release.notify_waiters();
    let prompt = client.prompt(&script(&json!([{"text": "still here"}])));
    assert_eq!(client.result(&prompt), "still here");
    assert!(client.end().success());
    assert!(!world.work().join("file").exists());
}

fn callbacks_run_side_by_side_and_hold_up_nothing<C: Client>() {
    let world = World::scripted();
    let (asked, questions) = channel();
    let (both, release) = (Arc::new(Barrier::new(2)), Arc::new(Notify::new()));
    let held = Arc::clone(&release);
    let answers = Answers::deciding(move |_| {
        let (both, held, asked) = (Arc::clone(&both), Arc::clone(&held), asked.clone());
        async move {
            // Neither goes on before the other has begun.
            both.wait().await;
            let notified = held.notified();
            asked.send(())?;
            notified.await;
            Ok(Decision::allow())
        }
    });
    let client = C::start(agent(&world, &[]), answers).unwrap();
    let prompt = client.prompt(&commands(&["echo one", "echo two"]));
    questions.recv().unwrap();
    questions.recv().unwrap();
    // Both are open, and calls and records go on.
    assert!(client.call(GetContextUsage {}.into()).unwrap().is_some());
    let asks = |record: &Outbound| matches!(record, Outbound::StateChanged(state) if state.question().is_some());
    while !client.next().unwrap().unwrap().known().is_some_and(asks) {}
    release.notify_waiters();
    assert_eq!(client.result(&prompt), "it said one\n|two\n");
    assert!(client.end().success());
}

fn a_hook_of_the_host_decides_about_calls<C: Client>() {
    let world = World::scripted();
    let hook = callback(|event: agentx_pump::host::HookCallback| async move {
        let input = value(&event.input);
        let allows = input["tool_input"]["command"] == "echo fine";
        let word = if allows { "allow" } else { "deny" };
        Ok(json(&json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": word,
            "permissionDecisionReason": "the hook says so"}})))
    });
    let on = HookOn::event(HookEvent::PreToolUse)
        .tools("Ba.h")
        .timeout(60);
    let answers = Answers {
        hook: Some((on, hook)),
        ..Answers::default()
    };
    let client = C::start(agent(&world, &["--profile", "reference"]), answers).unwrap();
    client.initialize().unwrap();
    let prompt = client.prompt(&commands(&["echo fine"]));
    assert_eq!(client.result(&prompt), "it said fine\n");
    let prompt = client.prompt(&commands(&["touch file"]));
    assert_eq!(client.result(&prompt), "it said the hook says so");
    assert!(client.end().success());
    assert!(!world.work().join("file").exists());
}

fn a_server_of_the_host_serves_its_tools<C: Client>() {
    let world = World::scripted();
    let serve = callback(|message: agentx_pump::host::McpMessage| async move {
        let message = value(&message.message);
        let result = match message["method"].as_str() {
            Some("initialize") => json!({"protocolVersion": "2024-11-05",
                "capabilities": {"tools": {}}, "serverInfo": {"name": "calc", "version": "1"}}),
            Some("tools/list") => json!({"tools": [
                {"name": "add", "inputSchema": {"type": "object"}}]}),
            Some("tools/call") => {
                let sum = &message["params"]["arguments"];
                let sum = sum["a"].as_i64().unwrap() + sum["b"].as_i64().unwrap();
                json!({"content": [{"type": "text", "text": sum.to_string()}]})
            }
            _ => return Ok(None),
        };
        Ok(Some(json(
            &json!({"jsonrpc": "2.0", "id": message["id"], "result": result}),
        )))
    });
    let answers = Answers {
        server: Some(("calc", serve)),
        ..Answers::deciding(|_| async { Ok(Decision::allow()) })
    };
    let client = C::start(agent(&world, &["--profile", "reference"]), answers).unwrap();
    client.initialize().unwrap();
    let call = json!({"name": "mcp__calc__add", "input": {"a": 40, "b": 2}});
    let steps = json!([{"tool_calls": [call]}, {"text": "{results}"}]);
    let prompt = client.prompt(&script(&steps));
    assert_eq!(client.result(&prompt), "42");
    assert!(client.end().success());
}

fn every_prompt_of_many_has_its_result<C: Client>() {
    let world = World::scripted();
    let client = C::start(agent(&world, &[]), Answers::default()).unwrap();
    let text = |n: usize| format!("answer {n}");
    let say = |n| client.prompt(&script(&json!([{"text": text(n)}])));
    let prompts: Vec<Arc<str>> = (0..100).map(say).collect();
    assert_eq!(prompts.iter().collect::<BTreeSet<_>>().len(), 100);
    client.close();
    for (n, prompt) in prompts.iter().enumerate() {
        assert_eq!(client.result(prompt), text(n));
    }
    assert!(client.end().success());
}

fn a_call_is_answered_or_refused_in_the_agent_s_words<C: Client>() {
    let world = World::scripted();
    let client = C::start(agent(&world, &[]), Answers::default()).unwrap();
    let usage = client.call(GetContextUsage {}.into()).unwrap().unwrap();
    assert!(value(&usage)["maxTokens"].is_u64(), "{usage:?}");
    let model = Some("another".to_owned());
    let refused = client.call(SetModel { model }.into()).unwrap_err();
    let Error::Refused { operation, message } = &refused else {
        panic!("{refused:?}");
    };
    assert_eq!(operation, "set_model");
    assert!(message.contains("restart with --provider"), "{message}");
    assert!(client.end().success());
}
