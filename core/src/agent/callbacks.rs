//! Hooks that the host runs, and which hooks are for which tools.
//!
//! ```text
//! begin -> control_request hook_callback
//!       <- control_response               what the hook says, or a failure
//!       -- its time is over --> control_cancel_request, a failure (DEC-48)
//!       -- an interrupt ------> control_cancel_request, nobody waits (DEC-37)
//!       -- end of the input --> a failure (DEC-37)
//! ```
//!
//! What a failure means depends on the event (DEC-33); none becomes an allow.

use super::fit::ENVELOPE_BYTES;
use super::hooks::{By, Run};
use super::requests::Purpose;
use super::{AgentSession, Stage, records};
use crate::agent_loop::LoopInput;
use crate::correlate::RequestId;
use crate::effect::{EffectId, Request};
use crate::hook::{
    Callback, Combined, Hook, HookEvent, HookFault, HookOutput, HookReport, Matched, Matcher,
    Matching,
};
use crate::json::{RawJson, ScanLimits, Scanner, escaped_bytes};
use crate::schema::inbound::{ControlResponse, ResponseBody};
use crate::schema::outbound::{HookCallback, HostRequest};
use crate::tool::{ToolCall, ToolContent, ToolOutcome};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// Patterns that are being resolved.
#[derive(Debug)]
pub(super) struct Patterns {
    effect: EffectId,
    patterns: Vec<Arc<str>>,
}

/// Why a callback fails that can be put to nobody.
const CLOSED: &str = "the input has ended, and nobody can answer";

/// Why a callback fails whose input is too much.
const TOO_LARGE: &str = "what it would be told does not fit one record";

/// What people are told of a hook that ends a turn and does not say why.
const NO_REASON: &str = "it gives no reason";

/// What a pattern is told that was left without a result.
const UNRESOLVED: &str = "it could not be resolved";

impl AgentSession {
    /// Asks the host to run a hook.
    pub(super) fn call_back(
        &mut self,
        run: u64,
        hook: &Hook,
        callback: &Callback,
        input: &RawJson,
        call: Option<&ToolCall>,
    ) -> By {
        let unsent = if self.stage != Stage::Open {
            Some(CLOSED)
        } else if !self.fits_record(&callback.id, input) {
            Some(TOO_LARGE)
        } else {
            None
        };
        if let Some(why) = unsent {
            // It fails behind what is being done now.
            self.hooks.unsent.push_back((run, why));
            return By::Nobody;
        }
        let request = HostRequest::HookCallback(HookCallback {
            callback_id: Arc::clone(&callback.id),
            input: input.clone(),
            tool_use_id: call.map(|call| Arc::clone(&call.id)),
        });
        let due = self.now.after(hook.timeout);
        let id = self.register_request(request.clone(), Purpose::Hook(run), Some(due));
        self.send_request(&id, request);
        By::Host(id)
    }

    /// Whether this goes whole into one record that names it by this id (DEC-34).
    /// A hook is never shown a part: it could miss what it is there for. Nor is
    /// anything done whose answer could not be told.
    pub(super) fn fits_record(&self, id: &str, whole: &RawJson) -> bool {
        let around = escaped_bytes(id).saturating_add(ENVELOPE_BYTES);
        let bytes = around.saturating_add(whole.as_str().len());
        bytes <= self.config.limits.reference_record_bytes
    }

    /// The host has answered.
    pub(super) fn callback_answered(&mut self, run: u64, response: ControlResponse) {
        let Some(run) = self.hooks.runs.remove(&run) else {
            return;
        };
        let failed = |why: String| (Err(HookFault::Run(why)), String::new());
        let (said, shown) = match response.body {
            ResponseBody::Success { payload, .. } => {
                let shown = payload.as_ref().map_or("", RawJson::as_str);
                let said = HookOutput::of_callback(run.event, payload.as_ref());
                (said, self.cut_output(shown))
            }
            ResponseBody::Error { message, .. } => {
                failed(format!("the host answered with an error: {message}"))
            }
            ResponseBody::Invalid { reason } => failed(reason),
        };
        self.callback_ended(run, said, shown);
    }

    /// No answer will come.
    pub(super) fn callback_failed(&mut self, run: u64, why: &str) {
        if let Some(run) = self.hooks.runs.remove(&run) {
            let said = Err(HookFault::Run(why.to_string()));
            self.callback_ended(run, said, String::new());
        }
    }

    fn callback_ended(&mut self, run: Run, said: Result<HookOutput, HookFault>, stdout: String) {
        let stderr = said.as_ref().err().map(HookFault::to_string);
        let report = HookReport {
            stdout,
            stderr: stderr.unwrap_or_default(),
            // Without an exit status, which only a program has.
            ..HookReport::failed("")
        };
        self.hook_ended(run, said, &report);
    }

    /// Fails the callbacks that could be put to nobody. Not where they are begun,
    /// so that what they belong to is whole before it goes on.
    pub(super) fn fail_unsent_hooks(&mut self) {
        while let Some((run, why)) = self.hooks.made().and_then(|hooks| hooks.unsent.pop_front()) {
            self.callback_failed(run, why);
        }
    }

    /// Takes a callback back, unless that was done.
    pub(super) fn withdraw_callback(&mut self, request: &RequestId) {
        if self.waiters.abort(request).is_some() {
            self.send(&records::cancel_request(request.as_str()));
        }
    }

    /// As much of a callback's answer as its record shows.
    fn cut_output(&self, text: &str) -> String {
        let most = self.config.limits.hook_output_chars;
        // Half a credential is none to the guard.
        self.safe(text).chars().take(most).collect()
    }

    // ---- what hooks say besides -----------------------------------------------------

    /// Tells what hooks have for people.
    pub(super) fn tell_people(&mut self, event: HookEvent, said: &Combined) {
        let name = event.as_str();
        for notice in &said.notices {
            self.warn(format!("a {name} hook says: {notice}"));
        }
        let Some(reason) = &said.halt else { return };
        match event {
            HookEvent::PermissionRequest
            | HookEvent::PreToolUse
            | HookEvent::PostToolUse
            | HookEvent::Stop => {
                let reason = if reason.is_empty() { NO_REASON } else { reason };
                self.warn(format!("a {name} hook ends the turn: {reason}"));
            }
            // Its result says so.
            HookEvent::UserPromptSubmit => {}
            HookEvent::PreCompact | HookEvent::SessionStart | HookEvent::SessionEnd => {
                self.warn(format!("a {name} hook wants to end a turn, and none runs"));
            }
        }
    }

    /// Lets the turn end behind the calls that are open, if a hook wants that.
    pub(super) fn halt(&mut self, said: &Combined) {
        if let Some(reason) = &said.halt {
            let reason = self.safe(reason);
            self.feed_loop(LoopInput::Halt { reason });
        }
    }

    /// Replaces what the model is to be told of a call that has ended.
    pub(super) fn replace_result(&mut self, place: usize, result: &RawJson) {
        let Some(ToolOutcome { is_error, .. }) = self.agent_loop.held(place) else {
            return;
        };
        let mut text = self.safe(&text_of(result));
        let most = self.config.limits.tool_output_chars;
        if let Some((end, _)) = text.char_indices().nth(most) {
            let cut = text.len().saturating_sub(end);
            text.truncate(end);
            text.push_str(&format!("\n[… {cut} bytes cut]"));
        }
        let outcome = ToolOutcome {
            content: vec![ToolContent::Text(text)],
            is_error,
        };
        self.feed_loop(LoopInput::Ended { place, outcome });
    }

    // ---- matchers -------------------------------------------------------------------

    /// Resolves the patterns of hooks against the tools that there are now. Until
    /// that is done no turn begins and no call is judged, so that none escapes a
    /// hook that is for it.
    pub(super) fn tools_changed(&mut self) {
        self.drop_matching();
        let hooks = self.config.hooks.list.iter();
        let patterns: BTreeSet<_> = hooks.filter_map(|hook| hook.pattern.clone()).collect();
        if patterns.is_empty() {
            return self.decide_all();
        }
        let patterns: Vec<_> = patterns.into_iter().collect();
        let tools = self.agent_loop.tools().iter();
        let names = tools.map(|tool| Arc::clone(&tool.name));
        let matching = Matching {
            patterns: patterns.clone(),
            names: names.chain([crate::tool::NETWORK_TOOL.into()]).collect(),
        };
        let effect = self.start(Request::Match(Box::new(matching)));
        self.hooks.matching = Some(Patterns { effect, patterns });
    }

    /// Nobody needs to know any more.
    pub(super) fn drop_matching(&mut self) {
        if let Some(Patterns { effect, .. }) = self.hooks.matching.take() {
            self.cancel_effect(effect);
        }
    }

    /// The patterns are resolved. One that is none matches everything from now on.
    pub(super) fn matched(&mut self, effect: EffectId, results: Vec<Matched>) {
        match &self.hooks.matching {
            Some(Patterns { effect: asked, .. }) if *asked == effect => {}
            _ => return,
        }
        let Some(Patterns { patterns, .. }) = self.hooks.matching.take() else {
            return;
        };
        let unresolved = || Err(UNRESOLVED.to_string());
        let results = results
            .into_iter()
            .chain(core::iter::repeat_with(unresolved));
        let mut hooks = self.config.hooks.list.to_vec();
        for (pattern, result) in patterns.iter().zip(results) {
            if let Err(fault) = &result {
                let pattern = self.placeless(pattern);
                self.warn(format!(
                    "the matcher {pattern:?} of a hook is {fault}; it matches every tool"
                ));
            }
            let of = |hook: &&mut Hook| hook.pattern.as_ref() == Some(pattern);
            for hook in hooks.iter_mut().filter(of) {
                match &result {
                    Ok(tools) => hook.matcher = Matcher::Tools(tools.clone()),
                    Err(_) => (hook.matcher, hook.pattern) = (Matcher::All, None),
                }
            }
        }
        Arc::make_mut(&mut self.config).hooks.list = hooks.into();
        self.go_on_initializing();
        self.decide_all();
    }

    /// Judges the calls that waited for that.
    fn decide_all(&mut self) {
        for (place, call) in core::mem::take(&mut self.hooks.undecided) {
            if let Some(input) = self.decide(place, &call) {
                self.feed_loop(input);
            }
        }
    }
}

/// A text as it is, anything else as JSON.
fn text_of(value: &RawJson) -> String {
    let mut scanner = Scanner::new();
    let scanned = scanner.scan(value.as_str().as_bytes(), &ScanLimits::DEFAULT);
    match scanned.ok().and_then(|value| value.as_str()) {
        Some(text) => text.decode_lossy().into_owned(),
        None => value.as_str().to_string(),
    }
}
