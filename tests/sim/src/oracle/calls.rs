//! Calls: each is shown once, settled once, and runs once at most; a question about
//! one is ruled by the first decisive answer in the order of completion, and what
//! happens then is what that answer says (WIRE-PERM-001, 002, 010, 040, 060,
//! WIRE-EOF-001). No call runs again in a later life of the session (DEC-32).

use super::decision::{Decision, HookSays, same_json};
use super::json::{items, member, text_member};
use super::model::{Model, Standing};
use super::said::{Asked, Said};
use super::told::{self, Told};
use super::{Drained, Judged, Oracle, broken};
use crate::event::Event;
use crate::fault::Fault;
use agentx_core::agent::{Config, Input, Output};
use agentx_core::effect::{Answer, EffectId, Reply, Request};
use agentx_core::hook::{HookEvent, HookRequest};
use agentx_core::store::Beginning;
use agentx_core::tool::{NETWORK_TOOL, ToolCall};
use std::collections::{BTreeMap, BTreeSet};

/// How a question was ruled.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    /// The call runs, with this input where the host gave one.
    Allowed(Option<Vec<u8>>),
    /// The hooks allow; a rule may still forbid.
    HooksAllow(Option<Vec<u8>>),
    Denied(String),
    /// The hooks deny.
    HooksDeny,
    /// Nobody could say anything that counts.
    Failed,
    /// It was called off.
    CalledOff,
    /// More than one of these, and nobody can tell which.
    Unclear,
}

/// A question about a call, or about the network.
#[derive(Clone, Debug, Default)]
struct Matter {
    /// The request to the host.
    request: Option<String>,
    /// Whether it runs at a server of the host.
    remote: bool,
    /// The input that is asked about.
    input: Vec<u8>,
    hooks: Vec<(EffectId, Option<HookSays>)>,
    /// Whether hooks of the host race as well.
    callbacks: bool,
    verdict: Option<Verdict>,
    /// The step of the ruling.
    ruled: u64,
    /// Whether the input ended in that step.
    at_end: bool,
    /// Whether the host denies and wants the turn to end (WIRE-PERM-042).
    ends_turn: bool,
}

impl Matter {
    fn is_asked(&self) -> bool {
        self.request.is_some() || !self.hooks.is_empty() || self.callbacks
    }

    fn rule(&mut self, verdict: Verdict, step: u64) {
        if self.verdict.is_none() {
            self.verdict = Some(if self.callbacks {
                Verdict::Unclear
            } else {
                verdict
            });
            self.ruled = step;
        }
    }

    /// What the hooks say together: one denial decides, an allowance waits for all.
    fn hooks(&self) -> Option<Verdict> {
        let said = || self.hooks.iter().filter_map(|(_, said)| said.as_ref());
        if said().any(|said| *said == HookSays::Deny) {
            return Some(Verdict::HooksDeny);
        }
        let all_in = said().count() == self.hooks.len();
        let allows = said().any(|said| matches!(said, HookSays::Allow(_)));
        let input = said().rev().find_map(|said| match said {
            HookSays::Pass(input) | HookSays::Allow(input) => input.clone(),
            HookSays::Deny => None,
        });
        match (all_in, allows) {
            (true, true) => Some(Verdict::HooksAllow(input)),
            (true, false) if self.request.is_none() => Some(Verdict::Unclear),
            _ => None,
        }
    }
}

/// All calls of a session.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    matters: BTreeMap<String, Matter>,
    started: BTreeSet<String>,
    /// Runs that nothing may run beside.
    alone: BTreeSet<EffectId>,
    /// Calls of this and earlier lives that ran.
    ran: BTreeSet<String>,
    /// Calls of this turn that a question has denied.
    denied: Vec<String>,
    /// Calls that hooks of `PreToolUse` look at.
    looked_at: BTreeMap<EffectId, String>,
    /// Calls that one of them has denied.
    vetoed: BTreeSet<String>,
    /// Whether entries of the store were lost.
    lossy: bool,
    /// Hosts that a network question allows, by what was answered.
    networks: Vec<(String, String)>,
    /// The newest step in which an answer or the end may have ruled.
    ruled: u64,
}

/// The beginning of a denial that a failed question makes (WIRE-PERM-060).
const FAILED: &str = "Tool permission request failed:";

pub(super) fn content_text(content: &[u8]) -> String {
    let texts =
        items(content).filter_map(|item| text_member(item, "text").map(|text| text.into_owned()));
    texts.collect::<Vec<_>>().join("\n")
}

impl Calls {
    fn asked(&mut self, model: &Model, asked: &Asked<'_>) -> Judged {
        let call = &*asked.tool_use_id;
        let network = asked.tool_name == NETWORK_TOOL;
        let open = model.calls.get(call).filter(|known| !known.settled);
        if !network && open.is_none() {
            let what = format!("{call} is asked about and is not open");
            return broken("no question overtakes its call", "WIRE-003", what);
        }
        let matter = self.matters.entry(call.to_string()).or_default();
        if matter.request.is_some() {
            let what = format!("{call} is asked about twice");
            return broken("a call is asked about once", "WIRE-PERM-060", what);
        }
        matter.request = Some(asked.request.to_string());
        matter.remote = asked.tool_name.starts_with("mcp__");
        matter.input = asked.input.to_vec();
        if network && let Some(host) = text_member(asked.input, "host") {
            self.networks.push((call.to_string(), host.into_owned()));
        }
        Ok(())
    }

    fn hook_began(&mut self, id: EffectId, run: &HookRequest) {
        let input = run.input.as_str().as_bytes();
        if run.event == HookEvent::PreToolUse
            && let Some(call) = text_member(input, "tool_use_id")
        {
            self.looked_at.insert(id, call.into_owned());
        }
        if run.event != HookEvent::PermissionRequest {
            return;
        }
        if let Some(call) = text_member(input, "tool_use_id") {
            let matter = self.matters.entry(call.into_owned()).or_default();
            if matter.input.is_empty() {
                matter.input = member(input, "tool_input").unwrap_or_default().to_vec();
            }
            matter.hooks.push((id, None));
        }
    }

    fn hook_ended(&mut self, model: &Model, id: EffectId, said: HookSays) {
        let of = |matter: &&mut Matter| matter.hooks.iter().any(|(hook, _)| *hook == id);
        let Some(matter) = self.matters.values_mut().find(of) else {
            return;
        };
        if let Some((_, slot)) = matter.hooks.iter_mut().find(|(hook, _)| *hook == id) {
            *slot = Some(said);
        }
        if let Some(verdict) = matter.hooks() {
            matter.rule(verdict, model.step);
        }
    }

    fn answered(&mut self, model: &Model, answer: &told::Answer) {
        let request = model.request(&answer.id);
        let Some(request) = request.filter(|request| request.standing == Standing::Open) else {
            return;
        };
        let Some(matter) = request
            .call
            .as_ref()
            .and_then(|call| self.matters.get_mut(call))
        else {
            return;
        };
        let decision = Decision::of(&answer.body, model.rules.reference);
        let ends_turn = matches!(decision, Decision::Deny { interrupt, .. } if interrupt);
        let verdict = match decision {
            Decision::Allow { input, .. } => Verdict::Allowed(input),
            Decision::Deny { message, .. } => Verdict::Denied(message),
            Decision::Fault => Verdict::Failed,
        };
        let late = model.causes.ends_turn();
        let step = model.step;
        matter.ends_turn = ends_turn && !late && matter.verdict.is_none();
        matter.rule(if late { Verdict::Unclear } else { verdict }, step);
    }

    fn withdrawn(&mut self, model: &Model, id: &str) -> Judged {
        let call = model.request(id).and_then(|request| request.call.as_ref());
        let Some(matter) = call.and_then(|call| self.matters.get_mut(call)) else {
            return Ok(());
        };
        let causes = model.causes;
        let by_hook = causes.hook && !causes.ends_turn() && !causes.tool && !causes.other;
        if by_hook && matter.verdict.is_none() && !matter.callbacks && !model.lags() {
            let what = format!("{id} is withdrawn, and no hook has decided");
            return broken("a pass decides nothing", "WIRE-PERM-001", what);
        }
        // An answer in the same bytes came too late.
        if matter.ruled == model.step
            && matches!(
                matter.verdict,
                Some(Verdict::Allowed(_) | Verdict::Denied(_) | Verdict::Failed)
            )
        {
            matter.verdict = Some(Verdict::Unclear);
        }
        matter.rule(Verdict::CalledOff, model.step);
        Ok(())
    }

    /// Tools that change something run one at a time (DEC-26).
    fn runs_alone(&mut self, id: EffectId, call: &ToolCall) -> Judged {
        if !matches!(&*call.name, "Do" | "Change") {
            return Ok(());
        }
        if !self.alone.is_empty() {
            let what = format!("{} runs beside another", call.id);
            return broken("what changes something runs alone", "DEC-26", what);
        }
        self.alone.insert(id);
        Ok(())
    }

    fn runs(&mut self, model: &Model, call: &ToolCall) -> Judged {
        let id = &*call.id;
        if !self.ran.insert(id.to_string()) {
            return broken("no call runs twice", "DEC-32", id);
        }
        self.started.insert(id.to_string());
        let shown = model.calls.get(id);
        if shown.is_some_and(|shown| shown.settled) {
            let what = format!("{id} runs and has its result");
            return broken("a call settles once", "WIRE-PERM-060", what);
        }
        if shown.is_none() && !model.lags() {
            let what = format!("{id} runs and was never shown");
            return broken("a call is shown before it runs", "WIRE-003", what);
        }
        if self.vetoed.contains(id) {
            let what = format!("{id} runs, and a hook of PreToolUse denies it");
            return broken("what a hook denies does not run", "DEC-31", what);
        }
        let matter = self.matters.get(id).filter(|matter| matter.is_asked());
        let Some(matter) = matter else { return Ok(()) };
        let input = match &matter.verdict {
            Some(Verdict::Allowed(input) | Verdict::HooksAllow(input)) => input.as_ref(),
            Some(Verdict::Unclear) => return Ok(()),
            Some(Verdict::CalledOff) => {
                let what = format!("{id} runs, and its question was called off");
                return broken("what was called off stays so", "WIRE-PERM-070", what);
            }
            verdict @ Some(Verdict::Denied(_) | Verdict::HooksDeny) => {
                let what = format!("{id} runs, and the ruling is {verdict:?}");
                return broken("the first decisive answer rules", "WIRE-PERM-001", what);
            }
            verdict @ (Some(Verdict::Failed) | None) => {
                let what = format!("{id} runs, and the ruling is {verdict:?}");
                return broken("only an allowance lets a call run", "WIRE-PERM-002", what);
            }
        };
        let expected = input.unwrap_or(&matter.input);
        if !matter.input.is_empty() && !same_json(call.input.as_str().as_bytes(), expected) {
            let what = format!(
                "{id} runs with {:?}, not {:?}",
                call.input,
                String::from_utf8_lossy(expected)
            );
            return broken(
                "a call runs with the input that was decided on",
                "WIRE-PERM-040",
                what,
            );
        }
        Ok(())
    }

    fn result(&self, model: &Model, id: &str, is_error: bool, content: &[u8]) -> Judged {
        match model.calls.get(id) {
            None => {
                let what = format!("{id} has a result and was never shown");
                return broken("each result is of a call", "WIRE-003", what);
            }
            Some(call) if call.settled => {
                let what = format!("{id} has a second result");
                return broken("a call settles once", "WIRE-PERM-060", what);
            }
            Some(_) => {}
        }
        let matter = self.matters.get(id).filter(|matter| matter.is_asked());
        let Some(matter) = matter else { return Ok(()) };
        let said = content_text(content);
        let wrong = |rule, requirement| {
            let what = format!(
                "{id}: the ruling is {:?}, and the result {said:?}",
                matter.verdict
            );
            broken(rule, requirement, what)
        };
        match &matter.verdict {
            Some(Verdict::Allowed(_)) if !self.started.contains(id) => {
                if said.starts_with(FAILED) && matter.at_end {
                    return wrong("the last record counts before the end", "WIRE-EOF-001");
                }
                if said.starts_with(FAILED) || (!is_error && !matter.remote) {
                    return wrong("an answer finds its request", "WIRE-PERM-010");
                }
            }
            Some(Verdict::Denied(message)) => {
                if !is_error {
                    return wrong("a denied call has failed", "WIRE-PERM-002");
                }
                let safe = !message.contains(crate::kit::SECRET);
                if safe && said != *message && !model.causes.ends_turn() && !model.lags() {
                    return wrong("the first decisive answer rules", "WIRE-PERM-001");
                }
            }
            Some(Verdict::Failed) => {
                if !is_error {
                    return wrong("a failure is a denial", "WIRE-PERM-002");
                }
                if !said.starts_with(FAILED) && !model.causes.ends_turn() && !model.lags() {
                    return wrong("a failure says that it is one", "WIRE-PERM-060");
                }
            }
            Some(Verdict::HooksDeny | Verdict::CalledOff) if !is_error => {
                return wrong("a denied call has failed", "WIRE-PERM-002");
            }
            None if !model.lags() && !model.rules.reference && matter.request.is_some() => {
                return wrong(
                    "a question is ruled before its call settles",
                    "WIRE-PERM-060",
                );
            }
            _ => {}
        }
        Ok(())
    }

    /// A result names what was denied in its turn (DEC-27). A record may be too short
    /// for all of it.
    fn names_denials(&mut self, model: &Model, line: &[u8]) -> Judged {
        let named = items(member(line, "permission_denials").unwrap_or_default());
        let named: Vec<_> = named
            .filter_map(|item| text_member(item, "tool_use_id"))
            .collect();
        let denied = std::mem::take(&mut self.denied);
        let lost = denied
            .iter()
            .find(|id| !named.contains(&id.as_str().into()));
        if let Some(id) = lost.filter(|_| !model.rules.reference) {
            let what = format!("{id} was denied, and {named:?} are named");
            return broken("a result names what was denied", "DEC-27", what);
        }
        Ok(())
    }

    /// A tool is told whether it may connect.
    fn connects(&self, host: &str) -> Judged {
        let allowed = |(call, asked): &(String, String)| {
            let verdict = self
                .matters
                .get(call)
                .and_then(|matter| matter.verdict.as_ref());
            asked == host
                && matches!(
                    verdict,
                    Some(Verdict::Allowed(_) | Verdict::HooksAllow(_) | Verdict::Unclear)
                )
        };
        let hooks = |matter: &Matter| matter.request.is_none() && !matter.hooks.is_empty();
        if self.networks.iter().any(allowed) || self.matters.values().any(hooks) {
            return Ok(());
        }
        let what = format!("a tool may connect to {host}, and nobody said so");
        broken("only an allowance opens the network", "WIRE-PERM-002", what)
    }
}

impl Oracle for Calls {
    fn began(&mut self, config: &Config) {
        let beginning = config.store.as_ref().map(|store| &store.beginning);
        // What a power cut has taken was never there.
        let resumes = matches!(beginning, Some(Beginning::Resumed(_))) && !self.lossy;
        let mut ran = std::mem::take(&mut self.ran);
        ran.retain(|_| resumes);
        *self = Self {
            ran,
            ..Self::default()
        };
    }

    fn input(&mut self, model: &Model, input: &Input<'_>) -> Judged {
        match input {
            Input::Done(id, Answer::Hook(report)) if !model.latched => {
                if let Some(call) = self.looked_at.remove(id)
                    && HookSays::denies(report)
                {
                    self.vetoed.insert(call);
                }
                self.hook_ended(model, *id, HookSays::of(report));
            }
            Input::Done(id, _) => {
                self.alone.remove(id);
            }
            _ => {}
        }
        Ok(())
    }

    fn told(&mut self, model: &Model, told: &Told) -> Judged {
        if let Told::Answer(answer) = told {
            self.ruled = model.step;
            self.answered(model, answer);
        }
        Ok(())
    }

    fn ended(&mut self, model: &Model) -> Judged {
        self.ruled = model.step;
        for matter in self.matters.values_mut() {
            if matter.ruled == model.step {
                matter.at_end = true;
            }
            let id = matter.request.as_ref();
            let open = id.and_then(|id| model.request(id));
            if open.is_some_and(|request| request.standing == Standing::Open) {
                matter.rule(Verdict::Failed, model.step);
            }
        }
        Ok(())
    }

    fn output(&mut self, model: &Model, output: &Output) -> Judged {
        match output {
            Output::Start(id, Request::Tool(run)) => {
                self.runs_alone(*id, &run.call)?;
                self.runs(model, &run.call)
            }
            Output::Cancel(id) => {
                self.alone.remove(id);
                self.looked_at.remove(id);
                Ok(())
            }
            Output::Start(_, Request::Task(run)) => self.runs(model, &run.tool.call),
            Output::Start(id, Request::Hook(run)) => {
                self.hook_began(*id, run);
                Ok(())
            }
            Output::Reply(
                _,
                Reply::Network {
                    host,
                    allowed: true,
                },
            ) => self.connects(host),
            _ => Ok(()),
        }
    }

    fn said(&mut self, model: &Model, line: &[u8], said: &Said<'_>) -> Judged {
        match said {
            Said::Call(call)
                if model.calls.contains_key(&*call.id)
                    || (self.ran.contains(&*call.id) && !model.lags()) =>
            {
                return broken("a call has an id of its own", "DEC-35", &*call.id);
            }
            Said::ToolResult {
                call,
                is_error,
                content,
            } => {
                self.result(model, call, *is_error, content)?;
                let verdict = self.matters.get(&**call).map(|matter| &matter.verdict);
                let denied = matches!(verdict, Some(Some(Verdict::Denied(_) | Verdict::Failed)));
                // Where records lag, something else may have settled it before.
                if denied && !model.lags() {
                    self.denied.push(call.to_string());
                }
            }
            Said::Question(asked) => return self.asked(model, asked),
            Said::Request {
                races: Some(call), ..
            } => {
                let matter = self.matters.entry(call.to_string()).or_default();
                matter.callbacks = true;
                // The hooks that have ruled were not all there are.
                if model.lags() && matches!(matter.verdict, Some(Verdict::HooksAllow(_))) {
                    matter.verdict = Some(Verdict::Unclear);
                }
            }
            Said::Withdrawn { id } => return self.withdrawn(model, id),
            Said::Result(ending) if !ending.never_ran() => {
                if let Some(id) = model.unsettled.first() {
                    let what = format!("{id} has no result, and its turn has");
                    return broken("every call has a result", "WIRE-PERM-060", what);
                }
                return self.names_denials(model, line);
            }
            _ => {}
        }
        Ok(())
    }

    fn drained(&mut self, model: &Model, _drained: &Drained) -> Judged {
        if model.lags() || model.latched || self.ruled != model.step {
            return Ok(());
        }
        for (id, matter) in &self.matters {
            let denied = matches!(matter.verdict, Some(Verdict::Denied(_) | Verdict::Failed));
            let ruled = denied && matter.ruled == model.step;
            if ruled && model.calls.get(id).is_some_and(|call| !call.settled) {
                let what = format!("{id} was ruled on and has no result");
                return broken("no ruling strands a call", "WIRE-PERM-060", what);
            }
            if ruled && matter.ends_turn && model.is_single() {
                let runs = |id: &&EffectId| model.effects.contains_key(id);
                let open = model.unsettled.first().map(String::as_str);
                if open.is_some() || model.before.work.iter().any(|id| runs(&id)) {
                    let what = format!("the denial of {id} ends the turn, and it goes on");
                    return broken("a denial can end its turn", "WIRE-PERM-042", what);
                }
            }
        }
        Ok(())
    }

    fn event(&mut self, _model: &Model, event: &Event<'_>) -> Judged {
        self.lossy |= matches!(event, Event::Fault(Fault::SyncLoss));
        Ok(())
    }
}
