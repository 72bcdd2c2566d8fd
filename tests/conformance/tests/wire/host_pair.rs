//! Both ends of the wire together, with pipes that cut where they like.

use agentx_conformance::host::Pair;
use agentx_conformance::servers::{initialized, listed, with_servers};
use agentx_conformance::session::{brief, config, reference, uuid};
use agentx_core::host::{Answer, CallError, Command, Config, End, Event, Output, Request};
use agentx_core::ids::Seed;
use agentx_core::json::RawJson;
use agentx_core::schema::host::{Decision, HookMatcher, Initialize, Interrupt, McpStatus, Prompt};
use agentx_core::schema::outbound::{Outbound, ResultRecord, SessionState};
use serde_json::{Value, json};

const CUTS: core::ops::Range<u64> = 0..5;

fn raw(value: &Value) -> RawJson {
    RawJson::parse(&value.to_string()).expect("JSON")
}

fn pair(agent: agentx_core::agent::Config, cuts: u64) -> Pair {
    Pair::new(agent, Config::new(Seed::from_u64(1)), cuts)
}

fn briefs(p: &Pair) -> Vec<String> {
    p.agent.all_records().iter().map(brief).collect()
}

/// How prompts ended, as the host was told.
fn results(p: &Pair) -> Vec<(Option<&str>, bool)> {
    let results = p.host.told().filter_map(|record| match record {
        Outbound::Result(result) => {
            let uuid = result.prompt_uuid().map(|uuid| &**uuid);
            Some((uuid, matches!(result, ResultRecord::Success(_))))
        }
        _ => None,
    });
    results.collect()
}

fn states(p: &Pair) -> Vec<SessionState> {
    let states = p.host.told().filter_map(|record| match record {
        Outbound::StateChanged(changed) => Some(changed.state()),
        _ => None,
    });
    states.collect()
}

// covers: WIRE-PERM-010, WIRE-PERM-060
#[test]
fn a_prompt_with_a_tool_that_is_asked_about() {
    for cuts in CUTS {
        let mut p = pair(config(), cuts);
        p.host.prompt(Prompt::text("go").with_uuid(uuid(1)));
        p.run();
        p.agent.calls(&[("t1", "Do", r#"{"a":1}"#)]);
        p.run();
        let Request::Permit(asked) = &p.host.open[0].1 else {
            panic!("{:?}", p.host.open);
        };
        assert_eq!(
            (&*asked.tool_name, asked.input.as_str()),
            ("Do", r#"{"a":1}"#)
        );
        let other = Decision::allow_with(raw(&json!({"a": 2}))).expect("an object");
        p.host.settle(Answer::Permit(other));
        p.run();
        assert_eq!(p.agent.tool("t1").1.call.input.as_str(), r#"{"a":2}"#);
        p.agent.tool_says("t1", "done");
        p.agent.says("all done");
        p.host.command(Command::Close);
        p.run();
        assert_eq!(results(&p), [(Some(&*uuid(1)), true)]);
        assert_eq!(
            states(&p),
            [
                SessionState::Running,
                SessionState::RequiresAction,
                SessionState::Running,
                SessionState::Idle
            ]
        );
        let exit = p.host.exit.clone().expect("an end");
        assert_eq!((exit.end, exit.prompts.len()), (End::Stream, 0));
        assert_eq!(p.agent.exit, Some(0));
    }
}

// covers: WIRE-011, WIRE-PERM-070
#[test]
fn an_interrupt_with_two_questions_open() {
    for cuts in CUTS {
        let mut p = pair(config(), cuts);
        p.host.prompt(Prompt::text("go").with_uuid(uuid(1)));
        p.run();
        p.agent.calls(&[("t1", "Do", "{}"), ("t2", "Do", "{}")]);
        p.run();
        let open = p.host.open.clone();
        assert_eq!(open.len(), 2);
        let call = p.host.call(Interrupt);
        p.run();
        assert_eq!(p.host.answers_to(call), [&Ok(None)]);
        assert_eq!(p.host.open.len(), 0, "both were taken back");
        // Both cancellations were seen before the answer.
        let at = |wanted: fn(&Output) -> bool| {
            p.host
                .outputs
                .iter()
                .rposition(wanted)
                .expect("it was told")
        };
        let cancelled = at(|output| matches!(output, Output::Cancel(_)));
        let answered = at(|output| matches!(output, Output::Event(Event::Answered(..))));
        assert!(cancelled < answered);
        // An answer that was on its way means nothing.
        p.host.done(open[0].0, Answer::Permit(Decision::allow()));
        p.run();
        assert_eq!(results(&p), [(Some(&*uuid(1)), false)]);
        assert_eq!(states(&p).last(), Some(&SessionState::Idle));
        assert!(p.agent.running().is_empty());
        p.host.command(Command::Close);
        p.run();
        assert_eq!(p.host.exit.clone().map(|exit| exit.end), Some(End::Stream));
    }
}

#[test]
fn a_hook_of_the_host_is_called_back() {
    for cuts in CUTS {
        let mut p = pair(reference(), cuts);
        let group = HookMatcher {
            matcher: None,
            callbacks: vec!["h".into()],
            timeout: None,
            on_failure: None,
        };
        let call = p.host.call(Initialize {
            hooks: Some([("PreToolUse".into(), vec![group])].into()),
            ..Initialize::default()
        });
        p.host.prompt(Prompt::text("go").with_uuid(uuid(1)));
        p.run();
        assert!(p.host.answers_to(call)[0].is_ok());
        p.agent.calls(&[("t1", "Do", "{}"), ("t2", "Do", "{}")]);
        p.run();
        let denies = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
            "permissionDecision": "deny", "permissionDecisionReason": "not today"}});
        let open = p.host.open.clone();
        assert!(open.iter().all(
            |(_, request)| matches!(request, Request::Hook(hook) if &*hook.callback_id == "h")
        ));
        p.host.done(open[0].0, Answer::Hook(raw(&denies)));
        // A hook that fails where it decides is no leave either (DEC-33).
        p.host
            .done(open[1].0, Answer::Failed("it crashed".to_string()));
        p.run();
        assert!(p.agent.running().is_empty(), "{:?}", briefs(&p));
        p.agent.says("I may not");
        p.run();
        assert_eq!(results(&p), [(Some(&*uuid(1)), true)]);
    }
}

#[test]
fn a_server_of_the_host_is_spoken_to() {
    for cuts in CUTS {
        let agent = with_servers(&[], r#"{"permissions":{"allow":["mcp__calc"]}}"#);
        let mut p = pair(agent, cuts);
        p.host.call(Initialize {
            sdk_servers: Some(vec!["calc".into()]),
            ..Initialize::default()
        });
        p.run();
        serve(&mut p);
        p.host.prompt(Prompt::text("add").with_uuid(uuid(1)));
        p.run();
        p.agent.calls(&[("t1", "mcp__calc__add", r#"{"a":1}"#)]);
        p.run();
        serve(&mut p);
        p.agent.says("seven");
        p.host.command(Command::Close);
        p.run();
        assert_eq!(results(&p), [(Some(&*uuid(1)), true)]);
        assert!(briefs(&p).contains(&"tool_result t1".to_string()));
    }
}

/// Plays the server `calc` until it is asked nothing.
fn serve(p: &mut Pair) {
    loop {
        p.run();
        let Some((id, Request::Mcp(asked))) = p.host.open.first().cloned() else {
            return;
        };
        let message: Value = serde_json::from_str(asked.message.as_str()).expect("JSON");
        let result = match message["method"].as_str() {
            Some("initialize") => initialized(),
            Some("tools/list") => listed(&["add"]),
            Some("tools/call") => json!({"content": [{"type": "text", "text": "7"}]}),
            _ => Value::Null,
        };
        let answer = (!result.is_null())
            .then(|| raw(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result})));
        p.host.done(id, Answer::Mcp(answer));
    }
}

/// The host closes while the agent works: it is read to its end, question denied.
// covers: WIRE-008
#[test]
fn the_host_ends_first() {
    for cuts in CUTS {
        let mut p = pair(config(), cuts);
        p.host.prompt(Prompt::text("go").with_uuid(uuid(1)));
        p.run();
        p.agent.calls(&[("t1", "Do", "{}")]);
        p.run();
        let call = p.host.call(McpStatus);
        p.host.command(Command::Close);
        assert!(p.host.open.is_empty());
        p.run();
        assert!(
            p.host.answers_to(call)[0].is_ok(),
            "it was read before the end"
        );
        p.agent.says("I may not");
        p.run();
        assert_eq!(results(&p), [(Some(&*uuid(1)), true)]);
        let exit = p.host.exit.clone().expect("an end");
        assert_eq!((exit.end, exit.calls, exit.requests), (End::Stream, 0, 0));
    }
}

/// The agent is ended from outside, with a question and a call open.
#[test]
fn the_agent_ends_first() {
    for cuts in CUTS {
        let mut p = pair(config(), cuts);
        p.host.prompt(Prompt::text("go").with_uuid(uuid(1)));
        p.host.prompt(Prompt::text("more").with_uuid(uuid(2)));
        p.run();
        p.agent.calls(&[("t1", "Do", "{}")]);
        p.run();
        p.agent.shutdown(143);
        let call = p.host.call(McpStatus);
        p.run();
        assert_eq!(p.host.answers_to(call), [&Err(CallError::Closed)]);
        assert!(p.host.open.is_empty() && p.host.closed);
        let exit = p.host.exit.clone().expect("an end");
        assert_eq!(
            (exit.end, exit.calls, exit.prompts.len()),
            (End::Stream, 1, 0)
        );
        let ended = results(&p);
        assert_eq!(ended.len(), 2, "every prompt has its result");
    }
}

#[test]
fn what_a_host_repeats_is_known_to_it() {
    for cuts in CUTS {
        let agent = agentx_core::agent::Config {
            replay_user_messages: true,
            ..config()
        };
        let mut p = pair(agent, cuts);
        p.host.prompt(Prompt::text("go").with_uuid(uuid(1)));
        p.run();
        p.agent.calls(&[("t1", "Do", "{}")]);
        p.run();
        p.host.settle(Answer::Permit(Decision::deny("no")));
        p.run();
        p.agent.says("well");
        p.run();
        let echoes = p
            .host
            .told()
            .filter(|record| matches!(record, Outbound::UserReplay(_)));
        assert_eq!(echoes.count(), 1);
        assert_eq!(p.host.diagnostics(), Vec::<&str>::new());
        let repeated = p.agent.all_records();
        let repeated = repeated
            .iter()
            .filter(|record| record["type"] == "control_response");
        assert_eq!(repeated.count(), 1, "the answer came back");
    }
}
