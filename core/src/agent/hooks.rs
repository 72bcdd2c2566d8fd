//! Hooks at work: which run, for what, and what follows from their answers.
//!
//! ```text
//! begin -> hook_started, Start(Hook) or hook_callback for each hook of the event
//!       <- Done, or the host's answer  -> hook_response
//! the last answer, or a denial         -> what the occasion makes of it
//! ```
//!
//! Hooks of one event run side by side and speak as one ([`Gather`]). A hook
//! whose say is not needed any more runs to its end, and nothing follows from it.

use super::callbacks::Patterns;
use super::questions::Subject;
use super::queue::Prompt;
use super::{AgentSession, Stage, records};
use crate::agent_loop::LoopInput;
use crate::correlate::RequestId;
use crate::effect::{EffectId, Request};
use crate::hook::{
    Combined, Decision, Gather, Hook, HookEvent, HookFault, HookOutput, HookReport, HookRequest,
};
use crate::json::{RawJson, Writer};
use crate::lazy::Empty;
use crate::mark::mark;
use crate::plant::planted;
use crate::race::RaceEvent;
use crate::schema::outbound::{HookIdentity, HookOutcome, HookStarted, Outbound};
use crate::tool::{ToolCall, ToolContent, ToolOutcome};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
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
    /// Names runs.
    next_run: u64,
    pub(super) runs: BTreeMap<u64, Run>,
    gatherings: BTreeMap<u64, Gathering>,
    /// Runs of callbacks that nobody can be asked for, and why.
    pub(super) unsent: VecDeque<(u64, &'static str)>,
    /// Patterns that are being resolved.
    pub(super) matching: Option<Patterns>,
    /// Calls that wait for them before they are judged.
    pub(super) undecided: Vec<(usize, ToolCall)>,
    /// Whether the hooks of `SessionEnd` have been told.
    ended: bool,
}

impl Empty for HookBook {
    const EMPTY: &'static Self = &Self {
        next: 0,
        next_run: 0,
        runs: BTreeMap::new(),
        gatherings: BTreeMap::new(),
        unsent: VecDeque::new(),
        matching: None,
        undecided: Vec::new(),
        ended: false,
    };
}

/// One run of a hook.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) by: By,
    /// What waits for it; `None` once nobody does.
    group: Option<u64>,
    /// Its number there.
    nth: usize,
    pub(super) event: HookEvent,
    /// Whether its failure is no decision (DEC-33).
    failure_passes: bool,
    /// How records call it, where there are some.
    identity: Option<HookIdentity>,
}

/// Who runs a hook.
#[derive(Debug)]
pub(super) enum By {
    /// A program of the settings.
    Program(EffectId),
    /// The host, which was asked to.
    Host(RequestId),
    /// The host, which cannot be asked any more.
    Nobody,
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
    const fn call(self) -> Option<&'a ToolCall> {
        match self {
            About::Call(call) | About::Called(call, _) => Some(call),
            About::Prompt(_) | About::Stop(_) | About::Session => None,
        }
    }

    fn tool(self) -> Option<&'a str> {
        self.call().map(|call| &*call.name)
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
    pub(super) fn next_group(&mut self) -> u64 {
        let group = self.hooks.next;
        self.hooks.next = group.saturating_add(1);
        group
    }

    /// Whether a prompt has to wait for hooks.
    pub(super) fn hooks_hold_prompts(&self) -> bool {
        let holds = |gathering: &Gathering| {
            matches!(gathering.occasion, Occasion::Submit(_) | Occasion::Start)
        };
        self.hooks.matching.is_some() || self.hooks.gatherings.values().any(holds)
    }

    /// Whether a prompt waits for its own hooks.
    pub(super) fn is_submitting(&self) -> bool {
        let submits = |gathering: &Gathering| matches!(gathering.occasion, Occasion::Submit(_));
        self.hooks.gatherings.values().any(submits)
    }

    /// Whether the prompt with this uuid waits for its own hooks.
    pub(super) fn is_submitted(&self, uuid: &str) -> bool {
        let submits = |gathering: &Gathering| match &gathering.occasion {
            Occasion::Submit(prompt) => &*prompt.uuid == uuid,
            Occasion::Call { .. }
            | Occasion::Called { .. }
            | Occasion::Stop
            | Occasion::Start
            | Occasion::End => false,
        };
        self.hooks.gatherings.values().any(submits)
    }

    /// Tells the hooks of an occasion, if there are some; else gives it back.
    pub(super) fn begin_hooks(
        &mut self,
        occasion: Occasion,
        about: About<'_>,
    ) -> Result<(), Occasion> {
        let hooks = self.hooks_of(occasion.event(), about.tool());
        self.begin_those(&hooks, occasion, about)
    }

    /// Tells these hooks of an occasion, if there are some; else gives it back.
    pub(super) fn begin_those(
        &mut self,
        hooks: &[usize],
        occasion: Occasion,
        about: About<'_>,
    ) -> Result<(), Occasion> {
        let event = occasion.event();
        if hooks.is_empty() {
            return Err(occasion);
        }
        let group = self.next_group();
        let gather = Gather::new(event, hooks.len());
        let gathering = Gathering { occasion, gather };
        self.hooks.gatherings.insert(group, gathering);
        self.run_hooks(group, event, hooks, about);
        Ok(())
    }

    /// The hooks that are told of an event, by their places. A closed output
    /// begins nothing.
    pub(super) fn hooks_of(&self, event: HookEvent, tool: Option<&str>) -> Vec<usize> {
        if self.stage == Stage::Latched {
            return Vec::new();
        }
        self.config.hooks.of(event, tool)
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
        for (nth, place) in hooks.iter().copied().enumerate() {
            let Some(hook) = self.config.hooks.list.get(place).cloned() else {
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
            let name = self.hooks.next_run;
            self.hooks.next_run = name.saturating_add(1);
            let by = match &hook.callback {
                Some(callback) => self.call_back(name, &hook, callback, &input, about.call()),
                None => self.run_program(place, &hook, input.clone(), identity.is_some()),
            };
            let run = Run {
                by,
                group: Some(group),
                nth,
                event,
                failure_passes: hook
                    .callback
                    .is_some_and(|callback| callback.failure_passes),
                identity,
            };
            self.hooks.runs.insert(name, run);
        }
    }

    fn run_program(&mut self, place: usize, hook: &Hook, input: RawJson, watched: bool) -> By {
        let timeout = if self.stage.is_closing() {
            hook.timeout.min(self.config.limits.closing_hook_timeout)
        } else {
            hook.timeout
        };
        By::Program(self.start(Request::Hook(Box::new(HookRequest {
            hook: place,
            event: hook.event,
            input,
            timeout,
            directory: self.config.cwd.as_str().into(),
            environment: Arc::clone(&self.environment),
            watched,
        }))))
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

    /// A hook that runs has written something. While the output is not read fast
    /// enough, that is left out (DEC-36).
    pub(super) fn hook_said(&mut self, id: EffectId, stdout: &str, stderr: &str) {
        let of = |run: &&Run| matches!(run.by, By::Program(effect) if effect == id);
        let run = self.hooks.runs.values().find(of);
        let identity = run.and_then(|run| run.identity.clone());
        if let Some(hook) = identity
            && self.progress_is_wanted()
        {
            let record = records::hook_progress(hook, stdout, stderr, |text| self.safe(text));
            self.send(&record);
        }
    }

    /// A program of the settings has ended.
    pub(super) fn hook_done(&mut self, id: EffectId, report: &HookReport) {
        let of = |(name, run): (&u64, &Run)| {
            matches!(run.by, By::Program(effect) if effect == id).then_some(*name)
        };
        let name = self.hooks.runs.iter().find_map(of);
        if let Some(run) = name.and_then(|name| self.hooks.runs.remove(&name)) {
            let said = report.output(run.event);
            self.hook_ended(run, said, report);
        }
    }

    /// A hook has ended, and has something to say or has failed.
    pub(super) fn hook_ended(
        &mut self,
        run: Run,
        mut said: Result<HookOutput, HookFault>,
        report: &HookReport,
    ) {
        let passes = run.failure_passes && run.event == HookEvent::PreToolUse
            || planted!(self.planted, WirePerm002);
        if said.is_err() {
            mark!(self.marks, DEC_33);
        }
        // The end of the input is what ends a session, and its hosts know that.
        let expected = run.event == HookEvent::SessionEnd
            && matches!(run.by, By::Nobody)
            && self.stage != Stage::Open;
        if let Err(fault) = &said
            && !expected
            && (passes || !run.event.failure_denies())
        {
            let event = run.event.as_str();
            let fault = fault.to_string();
            let fault = fault.trim_end_matches('.');
            self.warn(format!("a {event} hook failed: {fault}; it has no say"));
        }
        if let Some(identity) = run.identity {
            let outcome = match said {
                Ok(_) => HookOutcome::Success,
                Err(_) => HookOutcome::Error,
            };
            self.tell_hook_ended(identity, report, outcome);
        }
        if passes && said.is_err() {
            said = Ok(HookOutput::default());
        }
        if let Some(group) = run.group {
            self.heard(group, run.nth, said);
        }
    }

    /// Takes what a hook says to where it is waited for.
    fn heard(&mut self, group: u64, nth: usize, said: Result<HookOutput, HookFault>) {
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
        self.tell_people(occasion.event(), &said);
        match occasion {
            Occasion::Call { place, call } => {
                self.tell_model(core::mem::take(&mut said.context));
                self.halt(&said);
                if let Some(input) = self.judge(place, &call, said) {
                    self.feed_loop(input);
                }
            }
            Occasion::Called { place } => {
                self.halt(&said);
                let mut context = core::mem::take(&mut said.context);
                // What has run cannot be denied; the reason is news for the model.
                if let Decision::Deny(reason) = said.decision {
                    context.push(reason);
                }
                self.tell_model(context);
                if let Some(result) = &said.result {
                    self.replace_result(place, result);
                }
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
        // Whoever ends it has the last word.
        go_on &= said.halt.is_none();
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
        // Every request to the host ends with a turn (DEC-37).
        let stays = |run: &Run| match (&run.by, run.group) {
            (By::Host(_) | By::Nobody, _) => false,
            (By::Program(_), Some(group)) => kept.contains(&group),
            (By::Program(_), None) => !all,
        };
        let runs = self.hooks.runs.iter();
        let stopped: Vec<u64> = runs
            .filter(|(_, run)| !stays(run))
            .map(|(name, _)| *name)
            .collect();
        self.hooks.undecided.clear();
        self.hooks.unsent.clear();
        if all {
            self.drop_matching();
        }
        let mut waited = Vec::new();
        for name in stopped {
            let Some(run) = self.hooks.runs.remove(&name) else {
                continue;
            };
            match &run.by {
                By::Program(effect) => self.cancel_effect(*effect),
                By::Host(request) => self.withdraw_callback(request),
                By::Nobody => {}
            }
            if let Some(identity) = run.identity {
                let report = HookReport::failed("");
                self.tell_hook_ended(identity, &report, HookOutcome::Cancelled);
            }
            waited.extend(run.group.map(|group| (group, run.nth)));
        }
        // What goes on without them must not wait for them.
        for (group, nth) in waited {
            if kept.contains(&group) {
                self.heard(
                    group,
                    nth,
                    Err(HookFault::Run("it was cancelled".to_string())),
                );
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
        self.hooks.unsent.clear();
        self.hooks.undecided.clear();
        self.drop_matching();
        self.drop_initialize();
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
