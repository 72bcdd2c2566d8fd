//! Hooks at work: which run, for what, and what follows from their answers.
//!
//! ```text
//! begin -> hook_started, Start(Hook) for each hook of the event
//!       <- Done                        -> hook_response
//! the last answer, or a denial         -> what the occasion makes of it
//! ```
//!
//! Hooks of one event run side by side and speak as one ([`Gather`]). A hook
//! whose say is not needed any more runs to its end, and nothing follows from it.

use super::questions::Subject;
use super::queue::Prompt;
use super::{AgentSession, Stage, records};
use crate::agent_loop::LoopInput;
use crate::effect::{EffectId, Request};
use crate::hook::{Combined, Decision, Gather, HookEvent, HookReport, HookRequest};
use crate::json::{RawJson, Writer};
use crate::race::RaceEvent;
use crate::schema::outbound::{HookIdentity, HookOutcome, HookStarted, Outbound};
use crate::tool::{ToolCall, ToolContent, ToolOutcome};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// Hooks that run, and what waits for them.
#[derive(Debug, Default)]
pub(super) struct HookBook {
    /// Names groups of runs: gatherings and questions.
    next: u64,
    runs: BTreeMap<EffectId, Run>,
    gatherings: BTreeMap<u64, Gathering>,
    /// Whether the hooks of `SessionEnd` have been told.
    ended: bool,
}

/// One run of a hook.
#[derive(Debug)]
struct Run {
    /// What waits for it; `None` once nobody does.
    group: Option<u64>,
    /// Its number there.
    nth: usize,
    event: HookEvent,
    /// How records call it, where there are some.
    identity: Option<HookIdentity>,
}

#[derive(Debug)]
struct Gathering {
    occasion: Occasion,
    gather: Gather,
}

/// What several hooks are told of, and what is to go on after them.
#[derive(Debug)]
pub(super) enum Occasion {
    /// A call is about to be judged.
    Call { place: usize, call: ToolCall },
    /// A call has ended; its result is held back.
    Called { place: usize },
    /// A prompt is about to start its turn.
    Submit(Box<Prompt>),
    /// The turn is about to end.
    Stop,
    /// The session begins.
    Start,
    /// The session is about to end.
    End,
}

impl Occasion {
    const fn event(&self) -> HookEvent {
        match self {
            Self::Call { .. } => HookEvent::PreToolUse,
            Self::Called { .. } => HookEvent::PostToolUse,
            Self::Submit(_) => HookEvent::UserPromptSubmit,
            Self::Stop => HookEvent::Stop,
            Self::Start => HookEvent::SessionStart,
            Self::End => HookEvent::SessionEnd,
        }
    }
}

/// What hooks are told besides the session.
#[derive(Clone, Copy)]
pub(super) enum About<'a> {
    /// A call that waits.
    Call(&'a ToolCall),
    /// A call that has ended.
    Called(&'a ToolCall, &'a ToolOutcome),
    /// A prompt.
    Prompt(&'a str),
    /// The end of a turn, and whether hooks have kept it going before.
    Stop(bool),
    /// Nothing.
    Session,
}

impl<'a> About<'a> {
    fn tool(self) -> Option<&'a str> {
        match self {
            About::Call(call) | About::Called(call, _) => Some(&call.name),
            About::Prompt(_) | About::Stop(_) | About::Session => None,
        }
    }
}

/// What the model is told when a hook lets a turn go on and says nothing to it.
const GO_ON: &str = "A Stop hook asks to go on.";

/// What a denial says whose hook gave no reason.
pub(super) const DENIED: &str = "A hook denied this call.";

/// The same of a prompt.
const PROMPT_DENIED: &str = "a hook refused this prompt";

impl AgentSession {
    /// A fresh name for what hooks are waited for.
    pub(super) const fn next_group(&mut self) -> u64 {
        let group = self.hooks.next;
        self.hooks.next = group.saturating_add(1);
        group
    }

    /// Whether a prompt has to wait for hooks.
    pub(super) fn hooks_hold_prompts(&self) -> bool {
        let holds = |gathering: &Gathering| {
            matches!(gathering.occasion, Occasion::Submit(_) | Occasion::Start)
        };
        self.hooks.gatherings.values().any(holds)
    }

    /// Whether a prompt waits for its own hooks.
    pub(super) fn is_submitting(&self) -> bool {
        let submits = |gathering: &Gathering| matches!(gathering.occasion, Occasion::Submit(_));
        self.hooks.gatherings.values().any(submits)
    }

    /// Tells the hooks of an occasion, if there are some; else gives it back.
    pub(super) fn begin_hooks(
        &mut self,
        occasion: Occasion,
        about: About<'_>,
    ) -> Result<(), Occasion> {
        let event = occasion.event();
        let hooks = self.hooks_of(event, about.tool());
        if hooks.is_empty() {
            return Err(occasion);
        }
        let group = self.next_group();
        let gather = Gather::new(event, hooks.len());
        let gathering = Gathering { occasion, gather };
        self.hooks.gatherings.insert(group, gathering);
        self.run_hooks(group, event, &hooks, about);
        Ok(())
    }

    /// The hooks that are told of an event, by their places. A closed output
    /// begins nothing.
    pub(super) fn hooks_of(&self, event: HookEvent, tool: Option<&str>) -> Vec<usize> {
        if self.stage == Stage::Latched {
            return Vec::new();
        }
        self.config.hooks.of(event, tool).collect()
    }

    /// Starts these hooks for a group.
    pub(super) fn run_hooks(
        &mut self,
        group: u64,
        event: HookEvent,
        hooks: &[usize],
        about: About<'_>,
    ) {
        let input = self.hook_input(event, about);
        let closing = self.stage.is_closing();
        for (nth, hook) in hooks.iter().copied().enumerate() {
            let Some(configured) = self.config.hooks.list.get(hook).map(|hook| hook.timeout) else {
                continue;
            };
            let identity = (self.config.hooks.records && !closing).then(|| HookIdentity {
                hook_id: self.ids.uuid().into(),
                hook_name: match about.tool() {
                    Some(tool) => format!("{}:{tool}", event.as_str()).into(),
                    None => event.as_str().into(),
                },
                hook_event: event.as_str().into(),
            });
            if let Some(hook) = identity.clone() {
                self.send(&Outbound::HookStarted(HookStarted { hook }));
            }
            let id = self.start(Request::Hook(Box::new(HookRequest {
                hook,
                event,
                input: input.clone(),
                timeout: if closing {
                    configured.min(self.config.limits.closing_hook_timeout)
                } else {
                    configured
                },
                directory: self.config.cwd.as_str().into(),
                environment: Arc::clone(&self.environment),
            })));
            let run = Run {
                group: Some(group),
                nth,
                event,
                identity,
            };
            self.hooks.runs.insert(id, run);
        }
    }

    /// The object that hooks read (configuration, "hook command").
    fn hook_input(&self, event: HookEvent, about: About<'_>) -> RawJson {
        let mut w = Writer::new();
        w.begin_object();
        w.member_str("session_id", &self.session_id);
        w.member_str("transcript_path", &self.config.hooks.transcript_path);
        w.member_str("cwd", &self.config.cwd);
        w.member_str("permission_mode", self.policy.mode().as_str());
        w.member_str("hook_event_name", event.as_str());
        if let About::Call(call) | About::Called(call, _) = about {
            w.member_str("tool_name", &call.name);
            w.member_raw("tool_input", &call.input);
            w.member_str("tool_use_id", &call.id);
        }
        match about {
            About::Called(_, outcome) => {
                w.key("tool_response");
                self.write_response(&mut w, outcome);
            }
            About::Prompt(text) => w.member_str("prompt", &self.safe(text)),
            About::Stop(active) => w.member_bool("stop_hook_active", active),
            About::Call(_) | About::Session => {}
        }
        w.end_object();
        // An input is flat enough to be nested once more (`tool_input_depth`).
        RawJson::parse_bytes(&w.finish()).unwrap_or_else(|_| RawJson::empty_object())
    }

    fn write_response(&self, w: &mut Writer, outcome: &ToolOutcome) {
        w.begin_object();
        w.key("content");
        w.begin_array();
        for ToolContent::Text(text) in &outcome.content {
            w.begin_object();
            w.member_str("type", "text");
            w.member_str("text", &self.safe(text));
            w.end_object();
        }
        w.end_array();
        w.member_bool("is_error", outcome.is_error);
        w.end_object();
    }

    /// A hook has ended.
    pub(super) fn hook_done(&mut self, id: EffectId, report: HookReport) {
        let Some(run) = self.hooks.runs.remove(&id) else {
            return;
        };
        let said = report.output(run.event);
        if let Err(fault) = &said
            && !run.event.failure_denies()
        {
            let event = run.event.as_str();
            self.warn(format!("a {event} hook failed: {fault}; it has no say"));
        }
        if let Some(identity) = run.identity {
            let outcome = match said {
                Ok(_) => HookOutcome::Success,
                Err(_) => HookOutcome::Error,
            };
            self.tell_hook_ended(identity, &report, outcome);
        }
        let (Some(group), nth) = (run.group, run.nth) else {
            return;
        };
        if self.questions.contains_key(&group) {
            return self.race(group, RaceEvent::Hook { nth, said });
        }
        let gathering = self.hooks.gatherings.get_mut(&group);
        if let Some(combined) = gathering.and_then(|of| of.gather.take(nth, said)) {
            self.dismiss_hooks(group);
            if let Some(Gathering { occasion, .. }) = self.hooks.gatherings.remove(&group) {
                self.gathered(occasion, combined);
            }
        }
    }

    fn tell_hook_ended(&mut self, hook: HookIdentity, report: &HookReport, outcome: HookOutcome) {
        let record = records::hook_response(hook, report, outcome, |text| self.safe(text));
        self.send(&record);
    }

    /// Nobody waits for the hooks of this group any more; they run on.
    pub(super) fn dismiss_hooks(&mut self, group: u64) {
        for run in self.hooks.runs.values_mut() {
            if run.group == Some(group) {
                run.group = None;
            }
        }
    }

    /// All hooks of an occasion have spoken.
    fn gathered(&mut self, occasion: Occasion, mut said: Combined) {
        match occasion {
            Occasion::Call { place, call } => {
                self.tell_model(core::mem::take(&mut said.context));
                if let Some(input) = self.judge(place, &call, said) {
                    self.feed_loop(input);
                }
            }
            Occasion::Called { place } => {
                let mut context = said.context;
                // What has run cannot be denied; the reason is news for the model.
                if let Decision::Deny(reason) = said.decision {
                    context.push(reason);
                }
                self.tell_model(context);
                self.feed_loop(LoopInput::Release { place });
            }
            Occasion::Submit(prompt) => match said.decision {
                Decision::Deny(reason) if reason.trim().is_empty() => {
                    self.reject((*prompt).into(), PROMPT_DENIED.to_string());
                }
                Decision::Deny(reason) => self.reject((*prompt).into(), reason),
                Decision::Pass | Decision::Allow(_) | Decision::Ask(_) => {
                    self.tell_model(said.context);
                    self.run_prompt(*prompt);
                }
            },
            Occasion::Stop => self.stop_or_go_on(said),
            Occasion::Start => self.tell_model(said.context),
            Occasion::End => {}
        }
    }

    /// A turn goes on if a hook wants it to and it was not kept going too often.
    fn stop_or_go_on(&mut self, said: Combined) {
        let mut context = said.context;
        let mut go_on = said.go_on;
        if let Decision::Deny(reason) = said.decision {
            context.push(reason);
            go_on = true;
        }
        let most = self.config.limits.stop_continuations;
        if go_on
            && let Some(turn) = &mut self.turn
            && turn.continued < most
        {
            turn.continued = turn.continued.saturating_add(1);
            context.retain(|text| !text.trim().is_empty());
            if context.is_empty() {
                context.push(GO_ON.to_string());
            }
            self.tell_model(context);
            return self.feed_loop(LoopInput::GoOn);
        }
        if go_on {
            self.warn(format!(
                "a Stop hook wants more than {most} further model requests; the turn ends"
            ));
        }
        self.tell_model(context);
        self.feed_loop(LoopInput::Stop);
    }

    /// What hooks tell the model; it reads that with its next request.
    pub(super) fn tell_model(&mut self, texts: Vec<String>) {
        let texts: Vec<String> = texts
            .iter()
            .filter(|text| !text.trim().is_empty())
            .map(|text| self.safe(text))
            .collect();
        if texts.is_empty() {
            return;
        }
        if self.journal.is_some() {
            let uuid = self.ids.uuid().into();
            self.context_uuids.push_back(uuid);
        }
        self.feed_loop(LoopInput::Context(texts));
    }

    // ---- occasions ------------------------------------------------------------------

    /// Tells hooks that the session begins.
    pub(super) fn begin_session_hooks(&mut self) {
        let _ = self.begin_hooks(Occasion::Start, About::Session);
    }

    /// Tells hooks that the session is about to end, once; whether there are some.
    pub(super) fn begin_end_hooks(&mut self) -> bool {
        !core::mem::replace(&mut self.hooks.ended, true)
            && self.begin_hooks(Occasion::End, About::Session).is_ok()
    }

    // ---- endings --------------------------------------------------------------------

    /// Stops the hooks that the turn waits for, or all of them.
    pub(super) fn stop_hooks(&mut self, all: bool) {
        let of_session = |occasion: &Occasion| matches!(occasion, Occasion::Start | Occasion::End);
        let kept: Vec<u64> = self
            .hooks
            .gatherings
            .iter()
            .filter(|(_, gathering)| !all && of_session(&gathering.occasion))
            .map(|(group, _)| *group)
            .collect();
        let stays = |run: &Run| match run.group {
            Some(group) => kept.contains(&group),
            None => !all,
        };
        let stopped: Vec<EffectId> = self
            .hooks
            .runs
            .iter()
            .filter(|(_, run)| !stays(run))
            .map(|(id, _)| *id)
            .collect();
        for id in stopped {
            self.cancel_effect(id);
            if let Some(identity) = self.hooks.runs.remove(&id).and_then(|run| run.identity) {
                let report = HookReport::failed("");
                self.tell_hook_ended(identity, &report, HookOutcome::Cancelled);
            }
        }
        self.hooks.gatherings.retain(|group, gathering| {
            kept.contains(group) || matches!(gathering.occasion, Occasion::Submit(_))
        });
    }

    /// Ends a prompt that waits for its own hooks, with the result of one that
    /// never ran.
    pub(super) fn cancel_submission(&mut self, text: &str) {
        let submits = |(group, gathering): (&u64, &Gathering)| {
            matches!(gathering.occasion, Occasion::Submit(_)).then_some(*group)
        };
        let Some(group) = self.hooks.gatherings.iter().find_map(submits) else {
            return;
        };
        self.stop_hooks(false);
        let gathering = self.hooks.gatherings.remove(&group);
        if let Some(Gathering {
            occasion: Occasion::Submit(prompt),
            ..
        }) = gathering
        {
            let result = records::never_ran(&self.config.provider, text, *prompt);
            self.books.last_ordinary_is_error = Some(true);
            self.send(&Outbound::Result(result));
            self.report_cancelled(vec![text.to_string()]);
        }
    }

    /// Forgets all hooks; a closed output has cancelled them.
    pub(super) fn forget_hooks(&mut self) {
        self.hooks.runs.clear();
        self.hooks.gatherings.clear();
        self.questions.clear();
        self.hooks.ended = true;
    }

    /// Takes back what a tool asked that has ended.
    pub(super) fn close_questions_of(&mut self, effect: EffectId) {
        let of = |(group, question): (&u64, &super::questions::Question)| {
            matches!(question.subject, Subject::Network { effect: of, .. } if of == effect)
                .then_some(*group)
        };
        let groups: Vec<u64> = self.questions.iter().filter_map(of).collect();
        for group in groups {
            self.race(group, RaceEvent::Abort);
        }
    }
}
