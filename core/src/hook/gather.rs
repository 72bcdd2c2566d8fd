//! The answers of all hooks that were told of one event, as one.

use super::output::failure;
use super::{Decision, HookEvent, HookFault, HookOutput};
use crate::json::RawJson;
use crate::schema::permission::PermissionUpdate;
use alloc::string::String;
use alloc::vec::Vec;

/// What several hooks say together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Combined {
    /// Deny over ask over allow; among equals the hook that stands first.
    pub decision: Decision,
    /// Whether the denial is the failure of a hook, whose text it is (DEC-33).
    pub failed: bool,
    /// The input to take in place of the one there was: that of the last hook
    /// that has one, since higher layers of settings stand behind lower ones.
    pub updated_input: Option<RawJson>,
    /// Permission updates of the hooks that allow, in order.
    pub updates: Vec<PermissionUpdate>,
    /// What the model is to be told besides, in order.
    pub context: Vec<String>,
    /// Whether one of them wants the turn to go on.
    pub go_on: bool,
    /// Why the turn is to end behind the step it is at, if one of them wants
    /// that; the first that does. The text may be empty.
    pub halt: Option<String>,
    /// Whether the denial ends the turn at once.
    pub interrupt: bool,
    /// What people are to be told, in order.
    pub notices: Vec<String>,
    /// What the model is to be told in place of what a tool said: that of the
    /// last hook that has something.
    pub result: Option<RawJson>,
}

/// Collects the answers of hooks that run side by side.
///
/// ```text
/// waiting --a denial, or the last answer--> settled
/// ```
#[derive(Clone, Debug)]
pub struct Gather {
    event: HookEvent,
    said: Vec<Option<Result<HookOutput, HookFault>>>,
    settled: bool,
}

impl Gather {
    /// Waits for `count` hooks, which go by their number, the first being 0.
    #[must_use]
    pub fn new(event: HookEvent, count: usize) -> Self {
        Self {
            event,
            said: (0..count).map(|_| None).collect(),
            settled: count == 0,
        }
    }

    /// The event.
    #[must_use]
    pub const fn event(&self) -> HookEvent {
        self.event
    }

    /// Whether nothing is waited for any more.
    #[must_use]
    pub const fn is_settled(&self) -> bool {
        self.settled
    }

    /// Takes the answer of one hook. Gives what all say together, once: when a
    /// denial settles it, or when nobody is left. A second answer of a hook, and
    /// one that comes after that, changes nothing.
    pub fn take(&mut self, nth: usize, said: Result<HookOutput, HookFault>) -> Option<Combined> {
        match self.said.get_mut(nth) {
            Some(slot @ None) if !self.settled => *slot = Some(said),
            _ => return None,
        }
        let combined = self.combined();
        let denied = matches!(combined.decision, Decision::Deny(_));
        let decides = self.event.failure_denies();
        let all_in = self.said.iter().all(Option::is_some);
        self.settled = all_in || (denied && decides);
        self.settled.then_some(combined)
    }

    fn combined(&self) -> Combined {
        let mut all = Combined::default();
        for said in self.said.iter().flatten() {
            let denial;
            let (output, failed) = match said {
                Ok(output) => (output, false),
                Err(fault) if self.event.failure_denies() => {
                    denial = HookOutput::denial(failure(self.event, fault));
                    (&denial, true)
                }
                Err(_) => continue,
            };
            if output.decision.rank() > all.decision.rank() {
                all.decision = output.decision.clone();
                all.failed = failed;
                all.interrupt = output.interrupt;
            }
            if let Some(input) = &output.updated_input {
                all.updated_input = Some(input.clone());
            }
            if matches!(output.decision, Decision::Allow(_)) {
                all.updates.extend(output.updates.iter().cloned());
            }
            all.context.extend(output.context.clone());
            all.go_on |= output.go_on;
            if all.halt.is_none() {
                all.halt.clone_from(&output.halt);
            }
            all.notices.extend(output.notice.clone());
            if let Some(result) = &output.result {
                all.result = Some(result.clone());
            }
        }
        all
    }
}
