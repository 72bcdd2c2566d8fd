//! The scripted model.

use super::effects::Job;
use super::{Step, What, World};
use crate::event::Watch;
use crate::fault::Fault;
use crate::kit::{ROUTE, SECRET};
use agentx_core::agent::Input;
use agentx_core::effect::{Answer, EffectId, Progress};
use agentx_core::machine::Machine as _;
use agentx_core::model::{
    Delta, ErrorCategory, ModelFailure, ModelOutcome, ModelRequest, StopReason, ToolChoice, Usage,
};

/// An answer on its way.
#[derive(Clone, Debug)]
pub(super) struct Answering {
    /// Deltas that are still to come before the end.
    left: usize,
    /// Calls that began.
    calls: u32,
    /// Whether the request offers a tool for structured output.
    structured: bool,
    /// Whether the model may call at all.
    may_call: bool,
    /// Whether anything of the answer has come.
    begun: bool,
}

/// Tools as a model calls them, name and input: nine that can run, three at servers,
/// and what goes wrong.
const CALLS: [(&str, &str); 16] = [
    ("Look", "{}"),
    ("Do", r#"{"command":"ls"}"#),
    ("Change", r#"{"file_path":"/repo/a"}"#),
    ("Do", "{}"),
    ("Do", r#"{"run_in_background":true}"#),
    ("Do", r#"{"run_in_background":true,"command":"wait"}"#),
    ("Time", "{}"),
    ("Look", r#"{"file_path":"/etc/passwd"}"#),
    ("Do", r#"{"x":"y"}"#),
    ("mcp__a__add", r#"{"n":1}"#),
    ("mcp__b__see", "{}"),
    ("mcp__a__see", r#"{"n":2}"#),
    ("Fly", "{}"),
    ("Do", r#"{"a":"#),
    ("Do", r#"{"a":[[[[[[[[[[[[1]]]]]]]]]]]]}"#),
    ("Change", r#"{"file_path":"/repo/.git/config"}"#),
];

/// What a submission of structured output looks like.
const SUBMISSIONS: [&str; 4] = [
    r#"{"n":1}"#,
    r#"{"n":"one"}"#,
    r#"{"n":[[[[1]]]]}"#,
    r#"{"n":1,"long":"................................................................"}"#,
];

impl<W: Watch> World<'_, W> {
    /// The model begins to answer.
    pub(super) fn answering(&mut self, request: &ModelRequest) -> Answering {
        let structured = request
            .tools
            .iter()
            .any(|tool| &*tool.name == agentx_core::structured::TOOL);
        let left = if self.calm { 0 } else { self.tape.below(6) };
        Answering {
            left,
            calls: 0,
            structured,
            may_call: request.tool_choice != ToolChoice::None && !request.tools.is_empty(),
            begun: false,
        }
    }

    /// The model goes on with its answer.
    pub(super) fn model(&mut self, place: usize) -> Step {
        let id = self.agent.running[place].id;
        if !self.agent.session.wants().progress {
            self.agent.paused.push(id);
            return Ok(());
        }
        let Job::Model(answering) = &self.agent.running[place].job else {
            return Ok(());
        };
        let mut answering = (**answering).clone();
        if !answering.begun && self.strikes(Fault::ProviderFailure, 16)? {
            return self.model_fails(id);
        }
        if answering.begun && self.strikes(Fault::ProviderCut, 24)? {
            return self.model_fails(id);
        }
        answering.begun = true;
        if answering.left == 0 || self.calm {
            return self.model_ends(id, &answering);
        }
        answering.left -= 1;
        let delay = self.delay();
        self.after(delay, What::Effect(id));
        let kind = self.tape.below(16);
        if kind >= 6 && answering.may_call {
            let index = answering.calls;
            answering.calls += 1;
            let structured = answering.structured;
            self.agent.running[place].job = Job::Model(Box::new(answering));
            return self.model_calls(id, index, structured);
        }
        self.agent.running[place].job = Job::Model(Box::new(answering));
        self.model_says(id, kind)
    }

    fn delta(&mut self, id: EffectId, delta: Delta) -> Step {
        // What the agent has just heard may have made it give the answer up.
        if self.agent.lives() && self.agent.session.is_open(id) {
            self.feed(Input::Progress(id, Progress::Delta(delta)))?;
        }
        Ok(())
    }

    fn model_says(&mut self, id: EffectId, kind: usize) -> Step {
        if self.strikes(Fault::Credential, 12)? {
            let cut = 1 + self.tape.below(SECRET.len() - 1);
            let (head, tail) = SECRET.split_at(cut);
            self.delta(id, Delta::Text(format!("the key is {head}")))?;
            return self.delta(id, Delta::Text(format!("{tail}, keep it")));
        }
        let delta = match kind {
            0 | 1 => Delta::Text("word ".to_string()),
            2 => Delta::Thinking("hm".to_string()),
            3 => Delta::Signature("sig".to_string()),
            4 => match self.tape.below(4) {
                0 => Delta::RedactedThinking("b3Bh".to_string()),
                1 => Delta::MessageId("msg_sim".to_string()),
                2 => Delta::RateLimited {
                    resets_at: Some(1_000),
                },
                _ => Delta::UsageUnknown,
            },
            _ => Delta::Text(
                "a longer line of text, \u{2028} and \"quotes\" ".repeat(1 + self.tape.below(8)),
            ),
        };
        self.delta(id, delta)
    }

    fn model_calls(&mut self, id: EffectId, index: u32, structured: bool) -> Step {
        let (name, input) = if structured && self.tape.one_in(2) {
            (
                agentx_core::structured::TOOL,
                SUBMISSIONS[self.tape.below(4)],
            )
        } else {
            self.some_call()
        };
        let call_id = match self.tape.below(8) {
            0 => String::new(),
            1 => "again".to_string(),
            n => format!("toolu_{}_{index}_{n}", id.0),
        };
        self.delta(
            id,
            Delta::CallStart {
                index,
                id: call_id,
                name: name.to_string(),
            },
        )?;
        if self.strikes(Fault::Credential, 12)? {
            let text = format!(r#"{{"key":"{SECRET}"}}"#);
            return self.delta(id, Delta::CallArguments { index, text });
        }
        let cut = input.len() / (1 + self.tape.below(2));
        let (head, tail) = input.split_at(cut);
        for text in [head, tail] {
            if !text.is_empty() {
                let text = text.to_string();
                self.delta(id, Delta::CallArguments { index, text })?;
            }
        }
        Ok(())
    }

    /// Mostly a call that can run.
    fn some_call(&mut self) -> (&'static str, &'static str) {
        let (plain, servers) = (&CALLS[..9], &CALLS[9..12]);
        match self.tape.below(16) {
            0..11 => plain[self.tape.below(plain.len())],
            11..14 if self.plan.config.profile.is_reference() => {
                servers[self.tape.below(servers.len())]
            }
            14 => CALLS[12 + self.tape.below(CALLS.len() - 12)],
            _ => plain[self.tape.below(3)],
        }
    }

    fn model_ends(&mut self, id: EffectId, answering: &Answering) -> Step {
        if answering.calls == 0 {
            self.delta(id, Delta::Text("done".to_string()))?;
        }
        let usage = Usage {
            input_tokens: 11,
            output_tokens: 4,
            ..Usage::ZERO
        };
        self.delta(id, Delta::Usage(usage))?;
        let natural = if answering.calls > 0 {
            StopReason::ToolUse
        } else {
            StopReason::EndTurn
        };
        let stop = match self.tape.below(64) {
            60 => StopReason::MaxTokens,
            61 => StopReason::Refusal,
            62 => StopReason::ContentFilter,
            63 => StopReason::StopSequence,
            _ => natural,
        };
        self.delta(id, Delta::Stop(stop))?;
        self.model_done(id, ModelOutcome::Finished)
    }

    fn model_fails(&mut self, id: EffectId) -> Step {
        const WAYS: [(ErrorCategory, Option<u16>); 4] = [
            (ErrorCategory::ServerError, Some(500)),
            (ErrorCategory::AuthenticationFailed, Some(401)),
            (ErrorCategory::RateLimit, Some(429)),
            (ErrorCategory::Unknown, None),
        ];
        let (category, status) = WAYS[self.tape.below(4)];
        let message = if self.strikes(Fault::Credential, 4)? {
            format!("the key {SECRET} is not known")
        } else {
            format!("it went wrong at {ROUTE}")
        };
        self.model_done(
            id,
            ModelOutcome::Failed(ModelFailure {
                category,
                status,
                message,
            }),
        )
    }

    fn model_done(&mut self, id: EffectId, outcome: ModelOutcome) -> Step {
        if self.agent.lives() && self.agent.session.is_open(id) {
            return self.done(id, Answer::Model(outcome));
        }
        Ok(())
    }
}
