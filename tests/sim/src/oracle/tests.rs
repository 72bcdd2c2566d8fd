//! Each oracle sees a sound sequence, and one that breaks its rule.

use super::Oracles;
use crate::event::{Event, Violation, Watch as _};
use crate::kit::{SECRET, kit};
use crate::plan::Plan;
use crate::tape::Tape;
use agentx_core::agent::{self, AgentSession, Config, Diagnostic, Input, Output, Severity};
use agentx_core::checkpoint::Bookkeeping;
use agentx_core::correlate::OrphanPolicy;
use agentx_core::effect::{Answer, EffectId, Request, Verdict};
use agentx_core::guard::Guard;
use agentx_core::hook::{HookEnd, HookEvent, HookReport, HookRequest};
use agentx_core::json::RawJson;
use agentx_core::limits::Limits;
use agentx_core::link::{Link, Outgoing};
use agentx_core::machine::{Machine as _, Misuse};
use agentx_core::model::{ModelOutcome, ModelRequest, ToolChoice};
use agentx_core::schema::permission::{
    Behavior, Destination, PermissionRule, PermissionUpdate, RulesAction, RulesUpdate,
};
use agentx_core::store::{Batch, Beginning, Entry, PromptEntry, Storing, TurnEntry};
use agentx_core::time::{Instant, WallTime};
use agentx_core::tool::{Access, ToolCall, ToolOutcome, ToolRequest};
use std::sync::Arc;
use std::time::Duration;

/// What a stage expects.
type Found = Result<(), &'static str>;

/// A stage on which a test plays an agent for the oracles.
struct Stage {
    oracles: Oracles,
    config: Config,
    link: Link,
    ended: bool,
    exited: bool,
    found: Option<Violation>,
}

/// The simplest configuration: no hooks, no store, nothing vetted, states told.
fn config() -> Config {
    Plan::draw(&mut Tape::of_bytes(Vec::new())).config
}

impl Stage {
    fn new() -> Self {
        Self::with(config())
    }

    fn with(config: Config) -> Self {
        let mut stage = Self {
            oracles: Oracles::new(),
            link: Link::new(&Limits::DEFAULT, "session".to_string(), false),
            config,
            ended: false,
            exited: false,
            found: None,
        };
        stage.begin();
        stage
    }

    fn begin(&mut self) {
        let (config, agent) = (
            self.config.clone(),
            AgentSession::new(self.config.clone(), Instant::ZERO),
        );
        self.see(&Event::Began {
            config: &config,
            agent: &agent,
        });
    }

    fn see(&mut self, event: &Event<'_>) {
        let seen = self.oracles.see(Instant::ZERO, event);
        if self.found.is_none() {
            self.found = seen.err();
        }
    }

    fn input(&mut self, input: &Input<'_>) -> &mut Self {
        self.ended |= matches!(input, Input::Eof);
        self.see(&Event::AgentInput(input));
        self
    }

    /// The host sends a line.
    fn host(&mut self, line: &str) -> &mut Self {
        let line = format!("{line}\n");
        self.input(&Input::Bytes(line.as_bytes()))
    }

    fn out(&mut self, output: &Output) -> &mut Self {
        self.exited |= matches!(output, Output::Exit(_));
        self.see(&Event::AgentOutput(output));
        self
    }

    /// The agent lets a record go.
    fn says(&mut self, line: &str) -> &mut Self {
        let queued = self.link.send_raw(&Guard::default(), line);
        assert_eq!(queued, Ok(()), "{line}");
        match self.link.poll() {
            Some(Outgoing::Transmit(record)) => self.out(&Output::Transmit(record)),
            other => panic!("{other:?}"),
        }
    }

    fn starts(&mut self, id: u64, request: Request) -> &mut Self {
        self.out(&Output::Start(EffectId(id), request))
    }

    fn ends(&mut self, id: u64, answer: Answer) -> &mut Self {
        self.input(&Input::Done(EffectId(id), answer))
    }

    /// The state of an agent that has nothing open.
    fn drained(&mut self) -> &mut Self {
        let mut agent = AgentSession::new(self.config.clone(), Instant::ZERO);
        if self.ended && !self.exited {
            // An agent that has something to do stays.
            let line = b"{\"type\":\"user\",\"message\":\"go\"}\n";
            assert_eq!(agent.handle(Instant::ZERO, Input::Bytes(line)), Ok(()));
        }
        if self.ended {
            assert_eq!(agent.handle(Instant::ZERO, Input::Eof), Ok(()));
        }
        while agent.poll().is_some() {}
        self.see(&Event::AgentDrained(&agent));
        self
    }

    /// What was found; `Ok` names nothing.
    fn verdict(&self) -> Found {
        match &self.found {
            None => Ok(()),
            Some(violation) => Err(violation.requirement),
        }
    }

    /// What was found, with its words.
    fn told(&self) -> String {
        self.found
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default()
    }

    // ---- what is said often ---------------------------------------------------------

    fn running(&mut self) -> &mut Self {
        self.says(r#"{"type":"system","subtype":"session_state_changed","state":"running"}"#)
    }

    fn idle(&mut self) -> &mut Self {
        self.says(r#"{"type":"system","subtype":"session_state_changed","state":"idle"}"#)
    }

    fn prompt(&mut self, n: u32, priority: &str) -> &mut Self {
        self.host(&format!(
            r#"{{"type":"user","uuid":"{}","priority":"{priority}","message":{{"role":"user","content":"go"}}}}"#,
            uuid(n)
        ))
    }

    fn success(&mut self, n: u32) -> &mut Self {
        self.says(&format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"","stop_reason":"end_turn","prompt_uuid":"{}"}}"#,
            uuid(n)
        ))
    }

    fn cancelled(&mut self, n: u32) -> &mut Self {
        self.says(&format!(
            r#"{{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":1,"stop_reason":"cancelled","errors":["x"],"prompt_uuid":"{}"}}"#,
            uuid(n)
        ))
    }

    fn call(&mut self, id: &str, tool: &str) -> &mut Self {
        self.says(&format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"{id}","name":"{tool}","input":{{"a":1}}}}]}}}}"#
        ))
    }

    fn asks(&mut self, request: &str, call: &str) -> &mut Self {
        let about = format!(r#""tool_name":"Do","tool_use_id":"{call}","input":{{"a":1}}"#);
        self.says(&format!(
            r#"{{"type":"system","subtype":"session_state_changed","state":"requires_action","requires_action":{{"request_id":"{request}",{about}}}}}"#
        ))
        .says(&format!(
            r#"{{"type":"control_request","request_id":"{request}","request":{{"subtype":"can_use_tool",{about}}}}}"#
        ))
    }

    fn answers(&mut self, request: &str, payload: &str) -> &mut Self {
        self.host(&format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{request}","response":{payload}}}}}"#
        ))
    }

    fn withdraws(&mut self, request: &str) -> &mut Self {
        self.says(&format!(
            r#"{{"type":"control_cancel_request","request_id":"{request}"}}"#
        ))
    }

    fn result(&mut self, call: &str, is_error: bool, text: &str) -> &mut Self {
        self.says(&format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{call}","content":[{{"type":"text","text":"{text}"}}],"is_error":{is_error}}}]}}}}"#
        ))
    }

    fn interrupt(&mut self, id: &str) -> &mut Self {
        self.host(&format!(
            r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"interrupt"}}}}"#
        ))
    }

    fn acknowledges(&mut self, id: &str) -> &mut Self {
        self.says(&format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}"}}}}"#
        ))
    }

    fn runs(&mut self, effect: u64, call: &str, input: &str) -> &mut Self {
        let run = ToolRequest {
            call: ToolCall {
                id: call.into(),
                name: "Do".into(),
                input: RawJson::parse(input).expect("an input"),
            },
            access: Access::Granted,
            directories: Arc::new([]),
            environment: Arc::default(),
            bookkeeping: Bookkeeping::default(),
        };
        self.starts(effect, Request::Tool(Box::new(run)))
    }

    /// A turn with one question about the call `t`.
    fn question() -> Self {
        Self::question_of(config())
    }

    fn question_of(config: Config) -> Self {
        let mut stage = Self::with(config);
        stage
            .prompt(1, "next")
            .running()
            .call("t", "Do")
            .asks("r", "t");
        stage
    }
}

fn uuid(n: u32) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

fn model_request() -> Request {
    Request::Model(Box::new(ModelRequest {
        system: None,
        history: Vec::new(),
        prompt: 0,
        round: 0,
        tools: Arc::clone(&kit().tools),
        tool_choice: ToolChoice::Auto,
        max_output_tokens: 1,
        effort: None,
    }))
}

const ALLOW: &str = r#"{"behavior":"allow","updatedInput":{}}"#;
const DENY: &str = r#"{"behavior":"deny","message":"no"}"#;

#[test]
fn a_whole_turn_breaks_nothing() {
    let mut stage = Stage::question();
    stage
        .answers("r", ALLOW)
        .running()
        .runs(1, "t", r#"{"a":1}"#)
        .ends(1, Answer::Tool(ToolOutcome::text("done")))
        .result("t", false, "done")
        .success(1)
        .out(&Output::Event(agent::Event::CommandClosed {
            uuid: String::new(),
        }))
        .idle();
    assert_eq!(stage.verdict(), Ok(()), "{}", stage.told());
    stage.drained();
    assert_eq!(stage.verdict(), Ok(()), "{}", stage.told());
}

#[test]
fn laws_are_seen_to_be_broken() {
    let told = |play: fn(&mut Stage)| {
        let mut stage = Stage::new();
        stage.drained();
        play(&mut stage);
        stage.verdict()
    };
    assert_eq!(
        told(|s| {
            s.input(&Input::Tick).drained();
        }),
        Ok(())
    );
    assert_eq!(
        told(|s| {
            s.input(&Input::Tick).running();
        }),
        Err("law 3")
    );
    assert_eq!(
        told(|s| {
            s.out(&Output::Cancel(EffectId(7)));
        }),
        Err("law 5")
    );
    let twice = |s: &mut Stage| {
        s.starts(1, Request::FlushRemote)
            .starts(1, Request::FlushRemote);
    };
    assert_eq!(told(twice), Err("law 5"));
    assert_eq!(
        told(|s| {
            s.out(&Output::Exit(0)).running();
        }),
        Err("law 5")
    );
    let open = |s: &mut Stage| {
        s.starts(1, Request::FlushRemote).out(&Output::Exit(0));
    };
    assert_eq!(told(open), Err("law 5"));
    let misuse = |s: &mut Stage| s.see(&Event::AgentRefused(Misuse::WrongState));
    assert_eq!(told(misuse), Err("law 5"));
}

// covers: WIRE-003
#[test]
fn records_out_of_order_are_seen() {
    let mut stage = Stage::new();
    stage.running();
    stage.see(&Event::HostRead(br#"{"type":"system","subtype":"ses"#));
    assert_eq!(stage.verdict(), Ok(()));
    stage.see(&Event::HostRead(b"another"));
    assert_eq!(stage.verdict(), Err("WIRE-003"));

    let mut stage = Stage::new();
    stage.running().asks("r", "t");
    assert_eq!(stage.verdict(), Err("WIRE-003"), "{}", stage.told());

    let mut stage = Stage::question();
    stage.says(r#"{"type":"nothing"}"#);
    assert_eq!(stage.verdict(), Ok(()));
    stage.says(r#"{"type":"system","subtype":"session_state_changed","state":"requires_action","requires_action":{"request_id":"q","tool_name":"Do","tool_use_id":"u","input":{}}}"#)
        .says(r#"{"type":"nothing"}"#);
    assert_eq!(stage.verdict(), Err("WIRE-003"));
}

// covers: WIRE-003, WIRE-015
#[test]
fn what_a_validator_saw_is_what_leaves_and_one_at_a_time() {
    let vetted = || {
        Stage::with(Config {
            vet_records: true,
            ..config()
        })
    };
    let line = r#"{"type":"nothing"}"#;
    let copy = || format!("{line}\n").into_bytes();
    let mut stage = vetted();
    stage
        .starts(1, Request::Vet(copy()))
        .ends(1, Answer::Vetted(Verdict::Passed))
        .says(line);
    assert_eq!(stage.verdict(), Ok(()));
    stage.says(line);
    assert_eq!(stage.verdict(), Err("WIRE-015"));

    let mut stage = vetted();
    stage
        .starts(1, Request::Vet(copy()))
        .starts(2, Request::Vet(copy()));
    assert_eq!(stage.verdict(), Err("WIRE-003"));

    let mut stage = vetted();
    stage
        .starts(1, Request::Vet(copy()))
        .ends(1, Answer::Vetted(Verdict::Failed))
        .starts(2, Request::Vet(copy()));
    assert_eq!(stage.verdict(), Err("WIRE-015"));
}

// covers: WIRE-013, WIRE-015
#[test]
fn credentials_and_records_behind_a_closed_output_are_seen() {
    let spelled = SECRET.replacen('s', "\\u0073", 1);
    for secret in [SECRET, &spelled] {
        let mut stage = Stage::new();
        stage.says(&format!(r#"{{"type":"nothing","x":"{secret}"}}"#));
        assert_eq!(stage.verdict(), Err("WIRE-013"));
    }
    let mut stage = Stage::new();
    for half in [&SECRET[..9], &SECRET[9..]] {
        assert_eq!(stage.verdict(), Ok(()));
        stage.says(&format!(
            r#"{{"type":"stream_event","event":{{"type":"content_block_delta","delta":{{"text":"{half}"}}}}}}"#
        ));
    }
    assert_eq!(stage.verdict(), Err("WIRE-013"));

    let mut stage = Stage::new();
    stage.input(&Input::WriteFailed);
    assert_eq!(stage.verdict(), Ok(()));
    stage.running();
    assert_eq!(stage.verdict(), Err("WIRE-015"));

    let mut stage = Stage::new();
    let text = "a record held a credential and was not written; the session ends".to_string();
    let severity = Severity::Error;
    stage
        .out(&Output::Diagnostic(Diagnostic { severity, text }))
        .running();
    assert_eq!(stage.verdict(), Err("WIRE-015"));
}

// covers: WIRE-006, WIRE-007, WIRE-008
#[test]
fn requests_that_are_closed_twice_or_never_are_seen() {
    let mut stage = Stage::question();
    stage.call("u", "Do").asks("r", "u");
    assert_eq!(stage.verdict(), Err("WIRE-006"));

    let mut stage = Stage::question();
    stage.withdraws("other");
    assert_eq!(stage.verdict(), Err("WIRE-006"));

    let mut stage = Stage::question();
    stage.drained();
    assert_eq!(
        stage.verdict(),
        Err("WIRE-006"),
        "nobody waits for the answer"
    );

    let mut stage = Stage::question();
    stage.input(&Input::Sent(1)).withdraws("r");
    assert_eq!(stage.verdict(), Err("WIRE-007"), "nothing took it back");

    let mut stage = Stage::question();
    stage.interrupt("i").withdraws("r");
    assert_eq!(stage.verdict(), Ok(()));
    stage.withdraws("r");
    assert_eq!(stage.verdict(), Err("WIRE-007"));

    let mut stage = Stage::question();
    stage.input(&Input::Eof).withdraws("r");
    assert_eq!(stage.verdict(), Err("WIRE-008"));

    let mut stage = Stage::question();
    stage
        .input(&Input::Eof)
        .input(&Input::Sent(1))
        .call("u", "Do")
        .asks("q", "u");
    assert_eq!(stage.verdict(), Err("WIRE-008"));
}

// covers: WIRE-PERM-071, WIRE-PERM-072
#[test]
fn stray_answers_are_judged_by_the_ledger() {
    let stray = |orphans, limit, play: fn(&mut Stage)| {
        let limits = Limits {
            resolved_tool_uses: limit,
            ..Limits::DEFAULT
        };
        let mut stage = Stage::with(Config {
            orphans,
            limits,
            ..config()
        });
        play(&mut stage);
        stage.drained();
        (stage.verdict(), stage.told())
    };
    let known = |s: &mut Stage| {
        resolve_two(s);
        s.answers(
            "x",
            r#"{"behavior":"allow","updatedInput":{},"toolUseID":"t1"}"#,
        );
    };
    assert_eq!(stray(OrphanPolicy::Ignore, 1_000, known).0, Ok(()));
    assert_eq!(
        stray(OrphanPolicy::Ignore, 1, known).0,
        Err("WIRE-PERM-071"),
        "it was forgotten, so it is told"
    );
    let told = |s: &mut Stage| {
        resolve_two(s);
        s.answers(
            "x",
            r#"{"behavior":"allow","updatedInput":{},"toolUseID":"t1"}"#,
        );
        warn(s);
    };
    assert_eq!(stray(OrphanPolicy::Ignore, 1, told).0, Ok(()));
    assert_eq!(
        stray(OrphanPolicy::Ignore, 1_000, told).0,
        Err("WIRE-PERM-071")
    );
    let offers = |s: &mut Stage| {
        s.answers(
            "x",
            r#"{"behavior":"allow","updatedInput":{},"toolUseID":"t9"}"#,
        );
        s.out(&Output::Event(agent::Event::OrphanAnswer {
            tool_use_id: "t9".to_string(),
            payload: RawJson::empty_object(),
        }));
    };
    assert_eq!(stray(OrphanPolicy::AdmitOnce, 9, offers).0, Ok(()));
    assert_eq!(
        stray(OrphanPolicy::Ignore, 9, offers).0,
        Err("WIRE-PERM-072")
    );
    let again = |s: &mut Stage| {
        for _ in 0..2 {
            s.drained();
            s.answers(
                "x",
                r#"{"behavior":"allow","updatedInput":{},"toolUseID":"t9"}"#,
            );
            s.out(&Output::Event(agent::Event::OrphanAnswer {
                tool_use_id: "t9".to_string(),
                payload: RawJson::empty_object(),
            }));
        }
    };
    assert_eq!(
        stray(OrphanPolicy::AdmitOnce, 9, again).0,
        Err("WIRE-PERM-072")
    );
}

fn warn(stage: &mut Stage) {
    let text = "a control response matches no open request and was ignored".to_string();
    let severity = Severity::Warning;
    stage.out(&Output::Diagnostic(Diagnostic { severity, text }));
}

fn resolve_two(stage: &mut Stage) {
    stage.prompt(1, "next").running();
    for n in ["1", "2"] {
        stage
            .call(&format!("t{n}"), "Do")
            .asks(&format!("r{n}"), &format!("t{n}"));
    }
    for n in ["1", "2"] {
        stage
            .answers(&format!("r{n}"), DENY)
            .result(&format!("t{n}"), true, "no");
    }
    stage.running().success(1).idle();
}

// covers: WIRE-PERM-001, WIRE-PERM-002, WIRE-PERM-010, WIRE-PERM-040, WIRE-PERM-060, WIRE-PERM-070
#[test]
fn calls_that_do_not_do_what_was_ruled_are_seen() {
    let ruled = |answer: &str, play: fn(&mut Stage)| {
        let mut stage = Stage::question();
        if !answer.is_empty() {
            stage.answers("r", answer).running();
        }
        play(&mut stage);
        stage.verdict()
    };
    let own: fn(&mut Stage) = |s| {
        s.runs(1, "t", r#"{"a":1}"#);
    };
    assert_eq!(ruled(ALLOW, own), Ok(()));
    assert_eq!(ruled(DENY, own), Err("WIRE-PERM-001"));
    assert_eq!(
        ruled("{}", own),
        Err("WIRE-PERM-002"),
        "what cannot be read denies"
    );
    assert_eq!(
        ruled("", own),
        Err("WIRE-PERM-002"),
        "nobody has said anything"
    );
    let other = r#"{"behavior":"allow","updatedInput":{"b":2}}"#;
    assert_eq!(ruled(other, own), Err("WIRE-PERM-040"));
    assert_eq!(
        ruled(other, |s| {
            s.runs(1, "t", r#"{"b":2}"#);
        }),
        Ok(())
    );
    let failed: fn(&mut Stage) = |s| {
        s.result(
            "t",
            true,
            "Tool permission request failed: the answer is for another.",
        );
    };
    assert_eq!(ruled(ALLOW, failed), Err("WIRE-PERM-010"));
    assert_eq!(ruled("[]", failed), Ok(()));
    assert_eq!(
        ruled("[]", |s| {
            s.result("t", true, "no");
        }),
        Err("WIRE-PERM-060")
    );
    assert_eq!(
        ruled(DENY, |s| {
            s.result("t", true, "no");
        }),
        Ok(())
    );
    assert_eq!(
        ruled(DENY, |s| {
            s.result("t", true, "never");
        }),
        Err("WIRE-PERM-001")
    );
    assert_eq!(
        ruled(DENY, |s| {
            s.result("t", false, "no");
        }),
        Err("WIRE-PERM-002")
    );
    let twice: fn(&mut Stage) = |s| {
        s.result("t", true, "no").result("t", true, "no");
    };
    assert_eq!(ruled(DENY, twice), Err("WIRE-PERM-060"));
    let again: fn(&mut Stage) = |s| {
        s.runs(1, "t", r#"{"a":1}"#)
            .ends(1, Answer::Tool(ToolOutcome::text("x")))
            .runs(2, "t", r#"{"a":1}"#);
    };
    assert_eq!(ruled(ALLOW, again), Err("DEC-32"));
    assert_eq!(
        ruled(DENY, |s| {
            s.drained();
        }),
        Err("WIRE-PERM-060"),
        "the call is stranded"
    );

    let mut stage = Stage::question();
    stage.interrupt("i").withdraws("r").runs(1, "t", "{}");
    assert_eq!(stage.verdict(), Err("WIRE-PERM-070"));
    let mut stage = Stage::new();
    stage.running().result("t", true, "no");
    assert_eq!(stage.verdict(), Err("WIRE-003"));
    let mut stage = Stage::new();
    stage
        .prompt(1, "next")
        .running()
        .call("t", "Look")
        .success(1);
    assert_eq!(stage.verdict(), Err("WIRE-PERM-060"), "{}", stage.told());
}

fn hook(call: &str) -> Request {
    let input = format!(r#"{{"tool_use_id":"{call}","tool_input":{{"a":1}}}}"#);
    Request::Hook(Box::new(HookRequest {
        hook: 0,
        event: HookEvent::PermissionRequest,
        input: RawJson::parse(&input).expect("an input"),
        timeout: Duration::from_secs(1),
        directory: "/repo".into(),
        environment: Arc::default(),
        watched: false,
    }))
}

fn hook_says(answer: &str) -> Answer {
    Answer::Hook(HookReport {
        end: HookEnd::Exited(0),
        answer: answer.to_string(),
        stdout: String::new(),
        stderr: String::new(),
    })
}

// covers: WIRE-PERM-001, WIRE-PERM-002
#[test]
fn the_first_decisive_answer_is_known_in_both_orders() {
    let race = |host_first: bool, host: &str, hook_answer: &str| {
        let mut stage = Stage::question();
        stage.starts(1, hook("t"));
        if host_first {
            stage.answers("r", host).ends(1, hook_says(hook_answer));
        } else {
            stage.ends(1, hook_says(hook_answer)).answers("r", host);
        }
        stage.runs(2, "t", r#"{"a":1}"#);
        stage.verdict()
    };
    let (allow, deny) = (r#"{"decision":"allow"}"#, r#"{"decision":"deny"}"#);
    assert_eq!(race(true, ALLOW, deny), Ok(()));
    assert_eq!(race(false, ALLOW, deny), Err("WIRE-PERM-001"));
    assert_eq!(race(true, DENY, allow), Err("WIRE-PERM-001"));
    assert_eq!(race(false, DENY, allow), Ok(()));
    assert_eq!(
        race(false, DENY, ""),
        Err("WIRE-PERM-001"),
        "a pass decides nothing"
    );
    assert_eq!(
        race(false, ALLOW, "garbage"),
        Err("WIRE-PERM-001"),
        "a failure denies"
    );
}

// covers: WIRE-EOF-001, WIRE-008
#[test]
fn an_answer_without_its_newline_counts() {
    let ended = |play: fn(&mut Stage)| {
        let mut stage = Stage::question();
        let line = format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"r","response":{ALLOW}}}}}"#
        );
        stage
            .input(&Input::Bytes(line.as_bytes()))
            .input(&Input::Eof);
        play(&mut stage);
        stage.verdict()
    };
    assert_eq!(
        ended(|s| {
            s.runs(1, "t", r#"{"a":1}"#);
        }),
        Ok(())
    );
    let closed: fn(&mut Stage) = |s| {
        s.result(
            "t",
            true,
            "Tool permission request failed: the permission stream closed.",
        );
    };
    assert_eq!(ended(closed), Err("WIRE-EOF-001"));

    let mut stage = Stage::question();
    stage.input(&Input::Eof).drained();
    assert_eq!(
        stage.verdict(),
        Err("WIRE-PERM-060"),
        "the call has no result: {}",
        stage.told()
    );
    let mut stage = Stage::question();
    stage.input(&Input::Eof);
    closed(&mut stage);
    stage.drained();
    assert_eq!(
        stage.verdict(),
        Err("WIRE-008"),
        "the state is left behind: {}",
        stage.told()
    );
}

// covers: WIRE-PERM-030
#[test]
fn updates_out_of_order_are_seen() {
    let rule = |action, destination| {
        PermissionUpdate::Rules(RulesUpdate {
            action,
            rules: vec![PermissionRule {
                tool_name: "Do".to_string(),
                rule_content: None,
            }],
            behavior: Behavior::Allow,
            destination,
        })
    };
    let text = |kind: &str, place: &str| {
        format!(
            r#"{{"type":"{kind}","rules":[{{"toolName":"Do"}}],"behavior":"allow","destination":"{place}"}}"#
        )
    };
    let answer = format!(
        r#"{{"behavior":"allow","updatedInput":{{}},"updatedPermissions":[{},{},{}]}}"#,
        text("addRules", "userSettings"),
        text("addRules", "session"),
        text("removeRules", "localSettings")
    );
    let add = rule(RulesAction::Add, Destination::UserSettings);
    let remove = rule(RulesAction::Remove, Destination::LocalSettings);
    let stored = |list: Vec<PermissionUpdate>| {
        let mut stage = Stage::question();
        stage
            .answers("r", &answer)
            .starts(1, Request::Persist(list));
        stage
    };
    let mut stage = stored(vec![add.clone(), remove.clone()]);
    assert_eq!(stage.verdict(), Ok(()), "{}", stage.told());
    assert_eq!(stored(vec![remove, add]).verdict(), Err("WIRE-PERM-030"));
    // The rule holds for the next call, which is not asked about.
    stage
        .running()
        .runs(2, "t", r#"{"a":1}"#)
        .ends(2, Answer::Tool(ToolOutcome::text("x")));
    stage.result("t", false, "x").call("u", "Do");
    assert_eq!(stage.verdict(), Ok(()), "{}", stage.told());
    stage.asks("q", "u");
    assert_eq!(stage.verdict(), Err("WIRE-PERM-030"));

    let mut stage = Stage::new();
    stage
        .prompt(1, "next")
        .running()
        .call("t", "Do")
        .runs(1, "t", r#"{"a":1}"#);
    assert_eq!(stage.verdict(), Err("WIRE-PERM-030"), "nobody was asked");
}

// covers: WIRE-010, WIRE-011
#[test]
fn an_interrupt_out_of_order_is_seen() {
    let after = |play: fn(&mut Stage)| {
        let mut stage = Stage::question();
        stage.call("u", "Do").asks("q", "u").interrupt("i");
        play(&mut stage);
        (stage.verdict(), stage.told())
    };
    let sound = |s: &mut Stage| {
        s.withdraws("r").withdraws("q").acknowledges("i").running();
        s.result("t", true, "x")
            .result("u", true, "x")
            .cancelled(1)
            .idle()
            .drained();
    };
    assert_eq!(after(sound), (Ok(()), String::new()));
    let early: fn(&mut Stage) = |s| {
        s.withdraws("r").acknowledges("i");
    };
    assert_eq!(after(early).0, Err("WIRE-011"));
    assert_eq!(
        after(|s| {
            s.withdraws("q").withdraws("r");
        })
        .0,
        Err("WIRE-011")
    );
    let payload: fn(&mut Stage) = |s| {
        s.withdraws("r").withdraws("q").says(
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"i","response":{}}}"#,
        );
    };
    assert_eq!(after(payload).0, Err("WIRE-010"));
    let late: fn(&mut Stage) = |s| {
        s.withdraws("r").withdraws("q").running();
    };
    assert_eq!(after(late).0, Err("WIRE-010"));
    let disorder: fn(&mut Stage) = |s| {
        s.withdraws("r").withdraws("q").acknowledges("i").running();
        s.result("u", true, "x").result("t", true, "x");
    };
    assert_eq!(after(disorder).0, Err("WIRE-010"));
    let well: fn(&mut Stage) = |s| {
        s.withdraws("r").withdraws("q").acknowledges("i").running();
        s.result("t", true, "x").result("u", true, "x").success(1);
    };
    assert_eq!(after(well).0, Err("WIRE-010"));
    let unsaid: fn(&mut Stage) = |s| {
        s.withdraws("r").withdraws("q").drained();
    };
    assert_eq!(after(unsaid).0, Err("WIRE-010"));

    let mut stage = Stage::new();
    stage.prompt(1, "next").running().starts(1, model_request());
    stage.interrupt("i").acknowledges("i").drained();
    assert_eq!(stage.verdict(), Err("WIRE-010"), "the model goes on");
}

// covers: WIRE-004
#[test]
fn states_that_are_not_so_are_seen() {
    let told = |play: fn(&mut Stage)| {
        let mut stage = Stage::new();
        stage.prompt(1, "next").running();
        play(&mut stage);
        stage.verdict()
    };
    assert_eq!(
        told(|s| {
            s.success(1).idle();
        }),
        Ok(())
    );
    assert_eq!(
        told(|s| {
            s.idle();
        }),
        Err("WIRE-004")
    );
    assert_eq!(
        told(|s| {
            s.running();
        }),
        Err("DEC-12")
    );
    assert_eq!(
        told(|s| {
            s.starts(1, model_request()).success(1);
        }),
        Err("WIRE-004")
    );
    let flush: fn(&mut Stage) = |s| {
        s.success(1).starts(1, Request::FlushRemote).idle();
    };
    assert_eq!(told(flush), Err("WIRE-004"));
    let task: fn(&mut Stage) = |s| {
        s.says(r#"{"type":"system","subtype":"task_started","task_id":"x"}"#)
            .success(1);
    };
    assert_eq!(told(task), Err("WIRE-004"));
    assert_eq!(
        told(|s| {
            s.call("t", "Do").asks("r", "t").running();
        }),
        Err("WIRE-PERM-060")
    );
    let ended = |s: &mut Stage| {
        s.starts(1, model_request());
        s.ends(1, Answer::Model(ModelOutcome::Finished))
            .success(1)
            .idle();
    };
    assert_eq!(told(ended), Ok(()));
}

// covers: WIRE-020, DEC-15, DEC-21
#[test]
fn prompts_without_one_result_each_are_seen() {
    let told = |play: fn(&mut Stage)| {
        let limits = Limits {
            queue_records: 1,
            ..Limits::DEFAULT
        };
        let mut stage = Stage::with(Config { limits, ..config() });
        stage.prompt(1, "next").running();
        play(&mut stage);
        (stage.verdict(), stage.told())
    };
    let one: fn(&mut Stage) = |s| {
        s.success(1)
            .idle()
            .input(&Input::Eof)
            .out(&Output::Exit(0))
            .drained();
    };
    assert_eq!(told(one), (Ok(()), String::new()));
    let none: fn(&mut Stage) = |s| {
        s.success(1)
            .prompt(2, "next")
            .input(&Input::Eof)
            .out(&Output::Exit(0))
            .drained();
    };
    assert_eq!(told(none).0, Err("DEC-21"));
    let well: fn(&mut Stage) = |s| {
        s.cancelled(1)
            .idle()
            .input(&Input::Eof)
            .out(&Output::Exit(0))
            .drained();
    };
    assert_eq!(told(well).0, Err("DEC-20"));
    assert_eq!(
        told(|s| {
            s.success(1).success(1);
        })
        .0,
        Err("DEC-21")
    );
    assert_eq!(
        told(|s| {
            s.success(2);
        })
        .0,
        Err("DEC-21")
    );
    let late: fn(&mut Stage) = |s| {
        s.prompt(2, "later").prompt(3, "next").success(1).idle();
        s.input(&Input::Sent(1)).running().success(2);
    };
    assert_eq!(told(late).0, Err("DEC-15"));
    let first: fn(&mut Stage) = |s| {
        s.prompt(2, "later").prompt(3, "next").success(1).idle();
        s.input(&Input::Sent(1)).running().success(3);
    };
    assert_eq!(told(first).0, Ok(()));
    let full: fn(&mut Stage) = |s| {
        s.prompt(2, "next").prompt(3, "next").drained();
    };
    assert_eq!(told(full).0, Err("WIRE-020"));
    let refused = |n: u32| {
        format!(
            r#"{{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"stop_reason":"input_error","errors":["input queue is full: 1 prompts are waiting"],"prompt_uuid":"{}"}}"#,
            uuid(n)
        )
    };
    let mut stage = Stage::new();
    stage
        .prompt(1, "next")
        .running()
        .prompt(2, "now")
        .says(&refused(2));
    assert_eq!(stage.verdict(), Err("WIRE-020"), "there was room");
    let limits = Limits {
        queue_records: 1,
        ..Limits::DEFAULT
    };
    let mut stage = Stage::with(Config { limits, ..config() });
    stage
        .prompt(1, "next")
        .running()
        .starts(1, model_request())
        .prompt(2, "next");
    stage.prompt(3, "now").says(&refused(3));
    assert_eq!(stage.verdict(), Ok(()), "{}", stage.told());
    stage.out(&Output::Cancel(EffectId(1))).drained();
    assert_eq!(stage.verdict(), Err("WIRE-020"), "it interrupts");
    let mut stage = Stage::new();
    stage.prompt(1, "next").running().starts(1, model_request());
    stage.prompt(2, "now").drained();
    assert_eq!(stage.verdict(), Err("DEC-15"), "it does not interrupt");
}

fn stored() -> Config {
    Config {
        store: Some(Storing {
            binding: kit().binding.clone(),
            epoch: WallTime(1),
            beginning: Beginning::New,
        }),
        ..config()
    }
}

fn batch(first: u64, entries: Vec<Entry>) -> Request {
    Request::Store(Batch {
        session_id: "s".into(),
        first,
        opening: None,
        entries: entries.into(),
        time: WallTime(1),
    })
}

fn prompt_entry() -> Entry {
    Entry::Prompt(PromptEntry {
        time_ms: 1,
        uuid: uuid(1).into(),
        content: vec!["go".to_string()],
    })
}

fn turn_entry() -> Entry {
    Entry::Turn(TurnEntry {
        time_ms: 1,
        prompt_uuid: uuid(1).into(),
        stop_reason: agentx_core::schema::outbound::ResultStop::EndTurn,
        is_error: false,
        num_turns: 1,
        usage: agentx_core::model::Usage::ZERO,
        dropped_calls: Vec::new(),
    })
}

// covers: DEC-32
#[test]
fn promises_that_the_store_does_not_hold_are_seen() {
    let told = |play: fn(&mut Stage)| {
        let mut stage = Stage::with(stored());
        stage.prompt(1, "next").running();
        play(&mut stage);
        (stage.verdict(), stage.told())
    };
    fn kept(stage: &mut Stage, id: u64, first: u64, entry: Entry) {
        stage.starts(id, batch(first, vec![entry.clone()]));
        stage.see(&Event::Stored(&[entry]));
        stage.ends(id, Answer::Stored(Verdict::Passed));
    }
    assert_eq!(
        told(|s| {
            s.starts(1, model_request());
        })
        .0,
        Err("DEC-32")
    );
    let sound: fn(&mut Stage) = |s| {
        kept(s, 1, 0, prompt_entry());
        s.starts(2, model_request())
            .ends(2, Answer::Model(ModelOutcome::Finished));
        kept(s, 3, 1, turn_entry());
        s.success(1).idle();
        s.see(&Event::Crashed { kept: 2 });
    };
    assert_eq!(told(sound), (Ok(()), String::new()));
    let early: fn(&mut Stage) = |s| {
        kept(s, 1, 0, prompt_entry());
        s.success(1);
    };
    assert_eq!(told(early).0, Err("DEC-32"));
    let gap: fn(&mut Stage) = |s| kept(s, 1, 1, prompt_entry());
    assert_eq!(told(gap).0, Err("DEC-32"));
    let lost: fn(&mut Stage) = |s| {
        kept(s, 1, 0, prompt_entry());
        s.see(&Event::Crashed { kept: 0 });
    };
    assert_eq!(told(lost).0, Err("DEC-32"));
    let unseen: fn(&mut Stage) = |s| {
        s.runs(1, "t", "{}");
    };
    assert!(told(unseen).0.is_err());
}
