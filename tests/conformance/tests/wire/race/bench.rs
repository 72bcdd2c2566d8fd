//! A session that is told short, each record and effect as a word or two.

use super::oracle::{self, HOOK_DENIES, HOST_DENIES, RAN};
use super::orders::{Happens, Step};
use super::{Setup, TOOLS, Via};
use agentx_conformance::replay::{Logged, Session};
use agentx_conformance::session::printed_by_hook;
use agentx_core::agent::{AgentSession, Config, Input, Output};
use agentx_core::effect::{Answer, EffectId, Progress, Request};
use agentx_core::hook::HookReport;
use agentx_core::machine::Machine as _;
use agentx_core::model::{Delta, ModelOutcome, StopReason};
use agentx_core::time::Instant;
use agentx_core::tool::ToolOutcome;
use agentx_laws::Script;
use std::sync::Arc;

const PROMPT: &str =
    r#"{"type":"user","message":{"role":"user","content":"go"},"parent_tool_use_id":null}"#;
const INTERRUPT: &str =
    r#"{"type":"control_request","request_id":"i","request":{"subtype":"interrupt"}}"#;
const ALLOW: &str = r#"{"behavior":"allow","updatedInput":{}}"#;

/// Runs one order to its end and holds it against the oracle; where it is
/// `lawful` against the five laws, too.
pub(super) fn run(config: &Config, setup: &Setup, steps: &[Step], lawful: bool) {
    let mut s = Light::new(config, setup, lawful);
    let mut next: Vec<usize> = (0..setup.hooks.len()).map(|n| setup.first(n)).collect();
    let mut said = [None; 2];
    for (call, event) in steps.iter().copied() {
        match event {
            Happens::HostAllows | Happens::HostDenies => {
                said[call].get_or_insert(event);
                s.host(call, event);
            }
            Happens::HostAgain => s.host(call, said[call].expect("an answer to repeat")),
            Happens::Interrupt => s.line(INTERRUPT),
            Happens::End => s.end(),
            hook => {
                s.hook(next[call], hook);
                next[call] += 1;
            }
        }
    }
    s.finish();
    assert_eq!(s.told, oracle::tell(setup, steps));
    assert_eq!(s.session.pending_requests(), 0, "no waiter is left");
    assert!(s.open.is_empty(), "no effect is left");
    if let Some(script) = s.script
        && let Err(broken) = agentx_laws::check(&Session(config.clone()), &script, 0..2)
    {
        panic!("{broken}");
    }
}

fn report(event: Happens) -> HookReport {
    match event {
        Happens::HookAllows => printed_by_hook(r#"{"decision":"allow"}"#),
        Happens::HookDenies => printed_by_hook(&format!(
            r#"{{"decision":"deny","message":"{HOOK_DENIES}"}}"#
        )),
        Happens::HookFails => HookReport::failed("it is gone"),
        _ => printed_by_hook(""),
    }
}

/// What the host answers for its callback, beside the request's id.
fn answer(event: Happens) -> String {
    let decision = match event {
        Happens::HookAllows => r#"{"behavior":"allow"}"#.to_string(),
        Happens::HookDenies => format!(r#"{{"behavior":"deny","message":"{HOOK_DENIES}"}}"#),
        Happens::HookFails => return r#""subtype":"error","error":"it is gone""#.to_string(),
        _ => return r#""subtype":"success","response":{}"#.to_string(),
    };
    format!(
        r#""subtype":"success","response":{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{decision}}}}}"#
    )
}

/// `initialize` with the callbacks of this setup; each goes by its number.
fn initialize(setup: &Setup) -> String {
    let group = |call: usize| {
        let first = setup.first(call);
        let ids = first..first + setup.hooks[call].callbacks;
        let ids: Vec<String> = ids.map(|id| format!("{:?}", id.to_string())).collect();
        let (tool, ids) = (TOOLS[call], ids.join(","));
        format!(r#"{{"matcher":"{tool}","hookCallbackIds":[{ids}]}}"#)
    };
    let groups: Vec<String> = (0..setup.hooks.len()).map(group).collect();
    format!(
        r#"{{"type":"control_request","request_id":"init","request":{{"subtype":"initialize","hooks":{{"PermissionRequest":[{}]}}}}}}"#,
        groups.join(",")
    )
}

/// Who runs a hook.
enum By {
    Program(EffectId),
    /// The host, under this request.
    Host(String),
}

struct Light {
    session: AgentSession,
    /// What was fed, where it is to be played again.
    script: Option<Script<Logged>>,
    told: Vec<String>,
    /// Questions in order: the request's id and the call's.
    questions: Vec<(String, String)>,
    open: Vec<(EffectId, Request)>,
    /// Who runs the hooks, by their number.
    hooks: Vec<By>,
    /// How records call the hooks.
    hook_ids: Vec<String>,
    /// Whether the input has ended.
    silent: bool,
    ended: bool,
}

impl Light {
    /// A session in which the model has called its tools.
    fn new(config: &Config, setup: &Setup, lawful: bool) -> Self {
        let mut light = Self {
            session: AgentSession::new(config.clone(), Instant::ZERO),
            script: lawful.then(Script::new),
            told: Vec::new(),
            questions: Vec::new(),
            open: Vec::new(),
            hooks: Vec::new(),
            hook_ids: Vec::new(),
            silent: false,
            ended: false,
        };
        light.drain();
        if setup.via != Via::Programs {
            light.line(&initialize(setup));
            if setup.hooks.iter().any(|of| of.callbacks > 0) {
                light.resolve_patterns();
            }
        }
        light.line(PROMPT);
        let [(id, Request::Model(_))] = light.open[..] else {
            panic!("the model is asked: {:?}", light.open)
        };
        light.told.clear();
        for (index, tool) in (0..).zip(&TOOLS[..setup.hooks.len()]) {
            let start = Delta::CallStart {
                index,
                id: format!("t{}", index + 1),
                name: (*tool).to_string(),
            };
            light.feed(Input::Progress(id, Progress::Delta(start)));
        }
        light.answer_model(id, StopReason::ToolUse);
        light
    }

    fn feed(&mut self, input: Input<'_>) {
        if let Some(script) = &mut self.script {
            script.push(Instant::ZERO, Logged::feed(&input));
        }
        self.session
            .handle(Instant::ZERO, input)
            .expect("the input fits");
        self.drain();
    }

    fn end(&mut self) {
        self.silent = true;
        self.feed(Input::Eof);
    }

    fn line(&mut self, line: &str) {
        self.feed(Input::Bytes(format!("{line}\n").as_bytes()));
    }

    fn host(&mut self, call: usize, answer: Happens) {
        let (id, _) = &self.questions[call];
        let payload = match answer {
            Happens::HostAllows => ALLOW.to_string(),
            _ => format!(r#"{{"behavior":"deny","message":"{HOST_DENIES}"}}"#),
        };
        self.line(&format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{payload}}}}}"#
        ));
    }

    /// Every pattern of these sessions is the name of a tool.
    fn resolve_patterns(&mut self) {
        let [(id, Request::Match(matching))] = &self.open[..] else {
            panic!("patterns are to be resolved: {:?}", self.open)
        };
        let names = matching.patterns.iter();
        let names = names.map(|pattern| Ok([Arc::clone(pattern)].into()));
        let (id, names) = (*id, names.collect());
        self.feed(Input::Done(id, Answer::Matched(names)));
    }

    /// A hook ends; after the session nobody is there to be told. A host says it
    /// twice, and nothing behind its last word.
    fn hook(&mut self, number: usize, event: Happens) {
        match &self.hooks[number] {
            By::Program(_) if self.ended => {}
            By::Program(id) => self.feed(Input::Done(*id, Answer::Hook(report(event)))),
            By::Host(_) if self.silent => {}
            By::Host(id) => {
                let answer = answer(event);
                let line = format!(
                    r#"{{"type":"control_response","response":{{"request_id":"{id}",{answer}}}}}"#
                );
                self.line(&line);
                self.line(&line);
            }
        }
    }

    fn answer_model(&mut self, id: EffectId, stop: StopReason) {
        self.feed(Input::Progress(id, Progress::Delta(Delta::Stop(stop))));
        self.feed(Input::Done(id, Answer::Model(ModelOutcome::Finished)));
    }

    /// Ends the input and what is open, the oldest first.
    fn finish(&mut self) {
        if !self.silent {
            self.end();
        }
        while let Some((id, request)) = self.open.first().cloned() {
            match request {
                Request::Model(_) => self.answer_model(id, StopReason::EndTurn),
                Request::Tool(_) => {
                    self.feed(Input::Done(id, Answer::Tool(ToolOutcome::text(RAN))));
                }
                Request::Hook(_) => self.feed(Input::Done(id, Answer::Hook(printed_by_hook("")))),
                other => panic!("nobody asked for {other:?}"),
            }
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.session.poll() {
            assert!(!self.ended, "nothing follows an exit");
            match output {
                Output::Transmit(record) => {
                    let record = std::str::from_utf8(record.as_bytes()).expect("UTF-8");
                    self.record(record);
                }
                Output::Start(id, request) => {
                    match &request {
                        Request::Hook(_) => self.hooks.push(By::Program(id)),
                        Request::Match(_) => {}
                        Request::Tool(tool) => self.told.push(format!("run {}", tool.call.id)),
                        Request::Model(_) => self.told.push("model".to_string()),
                        other => panic!("nobody asked for {other:?}"),
                    }
                    self.open.push((id, request));
                }
                Output::Cancel(id) => self.stopped(id),
                Output::Exit(status) => {
                    self.told.push(format!("exit {status}"));
                    self.ended = true;
                }
                Output::Diagnostic(diagnostic) => self.told.push(diagnostic.text),
                Output::Reply(..) | Output::Event(_) => {}
            }
        }
        let session = &self.session;
        self.open.retain(|(id, _)| session.is_open(*id));
    }

    fn stopped(&mut self, id: EffectId) {
        let at = self.open.iter().position(|(open, _)| *open == id);
        let (_, request) = self.open.remove(at.expect("what is cancelled is open"));
        self.told.push(match request {
            Request::Tool(tool) => format!("stop {}", tool.call.id),
            Request::Model(_) => "stop model".to_string(),
            _ => {
                let is = |hook: &By| matches!(hook, By::Program(of) if *of == id);
                let nth = self.hooks.iter().position(is);
                format!("stop hook {}", nth.expect("a hook"))
            }
        });
    }

    /// What a request was about: a call or a hook.
    fn asked(&self, request: &str) -> String {
        let mut questions = self.questions.iter();
        if let Some((_, call)) = questions.find(|(id, _)| id == request) {
            return call.clone();
        }
        let is = |hook: &By| matches!(hook, By::Host(of) if of == request);
        let number = self.hooks.iter().position(is);
        format!("hook {}", number.expect("a request of the session"))
    }

    /// The number of a hook.
    fn nth_hook(&self, id: &str) -> usize {
        let known = self.hook_ids.iter().position(|known| known == id);
        known.expect("a hook that has started")
    }

    /// A record, told short. Members stand in the order of their declaration, and
    /// no text of these sessions looks like one.
    fn record(&mut self, record: &str) {
        let after = |mark: &str| {
            let at = record.find(mark).unwrap_or_else(|| panic!("{record}"));
            let rest = &record[at + mark.len()..];
            &rest[..rest.find('"').expect("a string ends")]
        };
        let kind = after(r#""type":""#);
        let word = match kind {
            "system" => match after(r#""subtype":""#) {
                "init" => return,
                "hook_started" => {
                    self.hook_ids.push(after(r#""hook_id":""#).to_string());
                    format!("hook {} starts", self.hook_ids.len() - 1)
                }
                "hook_response" => {
                    let number = self.nth_hook(after(r#""hook_id":""#));
                    format!("hook {number} ends: {}", after(r#""outcome":""#))
                }
                "session_state_changed" => match after(r#""state":""#) {
                    state @ "requires_action" => {
                        format!("{state} {}", after(r#""tool_use_id":""#))
                    }
                    state => state.to_string(),
                },
                other => other.to_string(),
            },
            "assistant" => format!("call {}", after(r#""type":"tool_use","id":""#)),
            "control_request" if record.contains(r#""subtype":"hook_callback""#) => {
                let id = after(r#""request_id":""#).to_string();
                self.hooks.push(By::Host(id));
                format!("call back {}", after(r#""callback_id":""#))
            }
            "control_request" => {
                let call = after(r#""tool_use_id":""#).to_string();
                let id = after(r#""request_id":""#).to_string();
                let word = format!("ask {call}");
                self.questions.push((id, call));
                word
            }
            "control_cancel_request" => {
                format!("cancel {}", self.asked(after(r#""request_id":""#)))
            }
            "control_response" => match after(r#""request_id":""#) {
                "i" => "acknowledged".to_string(),
                "init" => return,
                id => format!("echo {}", self.asked(id)),
            },
            "user" if record.contains(r#""isReplay":true"#) => return,
            "user" => {
                let call = after(r#""tool_use_id":""#);
                format!("result of {call}: {}", after(r#""text":""#))
            }
            "result" => {
                let denied = record.matches(r#""tool_use_id""#).count();
                format!("result {}, {denied} denied", after(r#""subtype":""#))
            }
            other => other.to_string(),
        };
        self.told.push(word);
    }
}
