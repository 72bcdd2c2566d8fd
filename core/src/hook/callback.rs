//! What a callback of the host answers: the form of the official clients, read
//! into the same [`HookOutput`] (configuration, "hook command").
//!
//! Members that are not known change nothing, as with these clients. A member
//! that is known and cannot be understood is a failure of the callback, so that a
//! misspelled denial never passes.

use super::output::{HookLeave, updated_input, updates};
use super::{Decision, HookEvent, HookFault, HookOutput};
use crate::json::{Object, RawJson, ScanLimits, Scanner, Value};
use alloc::string::String;

#[cfg(test)]
mod tests;

/// What is expected of a flag.
const FLAG: &str = "true or false";

impl HookOutput {
    /// Reads the payload of a success; `{}` decides nothing.
    ///
    /// # Errors
    ///
    /// What is wrong with the answer, which then counts as a failure of the hook.
    pub fn of_callback(event: HookEvent, payload: Option<&RawJson>) -> Result<Self, HookFault> {
        let payload = payload.ok_or(HookFault::NoPayload)?;
        let mut scanner = Scanner::new();
        let answer = scanner
            .scan(payload.as_str().as_bytes(), &ScanLimits::DEFAULT)
            .ok()
            .and_then(Value::as_object)
            .ok_or(HookFault::NoPayload)?;
        let mut output = match answer.get("hookSpecificOutput") {
            None => Self::default(),
            Some(specific) => {
                let expected = HookFault::Member("hookSpecificOutput", "an object");
                specific_output(event, specific.as_object().ok_or(expected)?)?
            }
        };
        let reason = text(answer, "reason")?.unwrap_or_default();
        output.take_if_stronger(decision(event, answer, reason)?);
        output.notice = text(answer, "systemMessage")?.filter(|text| !text.trim().is_empty());
        if flag(answer, "continue")? == Some(false) {
            let reason = text(answer, "stopReason")?.unwrap_or_default();
            if event.failure_denies() {
                output.take_if_stronger(Decision::Deny(reason.clone()));
            }
            output.halt = Some(reason);
        }
        // One that goes on by itself has said all that counts.
        flag(answer, "async")?;
        Ok(output)
    }

    fn take_if_stronger(&mut self, decision: Decision) {
        if decision.rank() > self.decision.rank() {
            self.decision = decision;
        }
    }
}

/// `decision` beside everything else. Of its two words `approve` is about calls
/// that were not judged yet, and nothing anywhere else.
fn decision(event: HookEvent, answer: Object<'_>, reason: String) -> Result<Decision, HookFault> {
    Ok(match text(answer, "decision")?.as_deref() {
        None => Decision::Pass,
        Some("block") => Decision::Deny(reason),
        Some("approve") if event == HookEvent::PreToolUse => Decision::Allow(HookLeave(())),
        Some("approve") => Decision::Pass,
        Some(_) => return Err(HookFault::Member("decision", "one of approve, block")),
    })
}

/// What is special to the event.
fn specific_output(event: HookEvent, of: Object<'_>) -> Result<HookOutput, HookFault> {
    if text(of, "hookEventName")?.as_deref() != Some(event.as_str()) {
        return Err(HookFault::Member("hookEventName", "that of the event"));
    }
    let context = text(of, "additionalContext")?.filter(|text| !text.trim().is_empty());
    let mut output = match event {
        HookEvent::PreToolUse => HookOutput {
            decision: permission(of)?,
            updated_input: updated_input(of)?,
            ..HookOutput::default()
        },
        HookEvent::PermissionRequest => answer_to_question(of)?,
        HookEvent::PostToolUse => {
            let result = of.get("updatedToolOutput");
            let result = result.or_else(|| of.get("updatedMCPToolOutput"));
            HookOutput {
                result: result.map(RawJson::from_value),
                ..HookOutput::default()
            }
        }
        // What is said to the model here is said for it to act on.
        HookEvent::Stop => HookOutput {
            go_on: context.is_some(),
            ..HookOutput::default()
        },
        HookEvent::UserPromptSubmit
        | HookEvent::PreCompact
        | HookEvent::SessionStart
        | HookEvent::SessionEnd => HookOutput::default(),
    };
    output.context = context;
    Ok(output)
}

fn permission(of: Object<'_>) -> Result<Decision, HookFault> {
    let reason = text(of, "permissionDecisionReason")?.unwrap_or_default();
    Ok(match text(of, "permissionDecision")?.as_deref() {
        None => Decision::Pass,
        Some("allow") => Decision::Allow(HookLeave(())),
        Some("ask") => Decision::Ask(reason),
        Some("deny") => Decision::Deny(reason),
        Some(_) => {
            let expected = "one of allow, deny, ask";
            return Err(HookFault::Member("permissionDecision", expected));
        }
    })
}

/// `decision` of a hook that was told of a question: like the answer of a host.
fn answer_to_question(of: Object<'_>) -> Result<HookOutput, HookFault> {
    let decision = of.get("decision").and_then(Value::as_object);
    let decision = decision.ok_or(HookFault::Member("decision", "an object"))?;
    match text(decision, "behavior")?.as_deref() {
        Some("allow") => Ok(HookOutput {
            decision: Decision::Allow(HookLeave(())),
            updated_input: updated_input(decision)?,
            updates: updates(decision)?,
            ..HookOutput::default()
        }),
        Some("deny") => Ok(HookOutput {
            decision: Decision::Deny(text(decision, "message")?.unwrap_or_default()),
            interrupt: flag(decision, "interrupt")?.unwrap_or_default(),
            ..HookOutput::default()
        }),
        _ => Err(HookFault::Member("behavior", "one of allow, deny")),
    }
}

/// A text; half a surrogate pair in it counts as U+FFFD (DEC-04).
fn text(of: Object<'_>, name: &'static str) -> Result<Option<String>, HookFault> {
    let Some(value) = of.get(name) else {
        return Ok(None);
    };
    let text = value.as_str().ok_or(HookFault::Member(name, "a text"))?;
    Ok(Some(text.decode_lossy().into_owned()))
}

fn flag(of: Object<'_>, name: &'static str) -> Result<Option<bool>, HookFault> {
    let Some(value) = of.get(name) else {
        return Ok(None);
    };
    let flag = value.as_bool().ok_or(HookFault::Member(name, FLAG))?;
    Ok(Some(flag))
}
