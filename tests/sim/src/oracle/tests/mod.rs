//! Each oracle sees a sound sequence, and one that breaks its rule.

mod calls;
mod host;
mod store;
mod turns;
mod wire;

use super::LATCHES;
use super::Oracles;
use crate::event::Event;
use crate::event::Violation;
use crate::event::Watch as _;
use crate::kit::kit;
use crate::plan::Plan;
use crate::tape::Tape;
use agentx_core::agent;
use agentx_core::agent::AgentSession;
use agentx_core::agent::Config;
use agentx_core::agent::Diagnostic;
use agentx_core::agent::Input;
use agentx_core::agent::Output;
use agentx_core::agent::Severity;
use agentx_core::checkpoint::Bookkeeping;
use agentx_core::effect::Answer;
use agentx_core::effect::EffectId;
use agentx_core::effect::Request;
use agentx_core::guard::Guard;
use agentx_core::hook::HookEvent;
use agentx_core::hook::HookRequest;
use agentx_core::json::RawJson;
use agentx_core::limits::Limits;
use agentx_core::link::Link;
use agentx_core::link::Outgoing;
use agentx_core::machine::Machine as _;
use agentx_core::model::Message;
use agentx_core::model::ModelRequest;
use agentx_core::model::ToolChoice;
use agentx_core::time::Instant;
use agentx_core::tool::Access;
use agentx_core::tool::ToolCall;
use agentx_core::tool::ToolOutcome;
use agentx_core::tool::ToolRequest;
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

    /// A result that tells of no model request: most sequences here make none.
    fn success(&mut self, n: u32) -> &mut Self {
        self.success_without(n, "")
    }

    /// The same of a turn in which these calls were denied.
    fn success_without(&mut self, n: u32, denials: &str) -> &mut Self {
        self.says(&format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"num_turns":0,"result":"","stop_reason":"end_turn","permission_denials":[{denials}],"prompt_uuid":"{}"}}"#,
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
        self.runs_tool(effect, call, "Do", input)
    }

    /// The result of a prompt that never ran.
    fn never_ran(&mut self, n: u32, stop: &str) -> &mut Self {
        self.says(&format!(
            r#"{{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"stop_reason":"{stop}","errors":["before this prompt ran"],"prompt_uuid":"{}"}}"#,
            uuid(n)
        ))
    }

    fn runs_tool(&mut self, effect: u64, call: &str, tool: &str, input: &str) -> &mut Self {
        let run = tool_request(call, tool, input);
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

fn tool_request(call: &str, tool: &str, input: &str) -> ToolRequest {
    ToolRequest {
        call: ToolCall {
            id: call.into(),
            name: tool.into(),
            input: RawJson::parse(input).expect("an input"),
        },
        access: Access::Granted,
        directories: Arc::new([]),
        environment: Arc::default(),
        bookkeeping: Bookkeeping::default(),
    }
}

fn hook_run(event: HookEvent, input: &str) -> Request {
    Request::Hook(Box::new(HookRequest {
        hook: 0,
        event,
        input: RawJson::parse(input).expect("an input"),
        timeout: Duration::from_secs(1),
        directory: "/repo".into(),
        environment: Arc::default(),
        watched: false,
    }))
}

fn model_request() -> Request {
    model_request_of(Vec::new())
}

fn model_request_of(history: Vec<Arc<Message>>) -> Request {
    Request::Model(Box::new(ModelRequest {
        system: None,
        history,
        prompt: 0,
        round: 0,
        tools: Arc::clone(&kit().tools),
        tool_choice: ToolChoice::Auto,
        max_output_tokens: 1,
        effort: None,
    }))
}

/// An output that is closed for good says so.
fn closed() -> Output {
    Output::Diagnostic(Diagnostic {
        severity: Severity::Error,
        text: format!("a record held a credential and was not written{LATCHES}"),
    })
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
